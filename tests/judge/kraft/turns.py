"""What a conversation consists of, turn by turn, and what a controller makes of each turn."""

from collections.abc import Iterator

import msgspec

from kiplab.judge.conversation.real_controller import record_texts
from kiplab.protocol import facts, ids, messages, registrations

from ..skeleton.sides import Parting, field_partings


class Asked(msgspec.Struct, frozen=True):
    """One request to the controller, `after_ms` after the turn before.

    With `checked` what it writes about silent brokers because of that belongs to the answer: up to
    3.9 a controller looks for them from the first request on that it gets.
    """

    request: messages.Request
    after_ms: int = 0
    checked: bool = False


class Checked(msgspec.Struct, frozen=True):
    """Whatever the controller has written about silent brokers by now is committed.

    With `is_last` Kafka had its time: whoever is silent for too long is fenced by now.
    """

    after_ms: int = 0
    is_last: bool = False


class Created(msgspec.Struct, frozen=True):
    """A topic is created, whose partitions have these replicas."""

    topic: str
    replicas: tuple[tuple[ids.BrokerId, ...], ...]
    unclean: bool = False
    min_insync: int | None = None
    """With it the topic has an entry of its own for each setting; else the cluster's is its own."""


class Reassigned(msgspec.Struct, frozen=True):
    """An operator moves a partition to these replicas; with None the reassignment is cancelled."""

    partition: str
    replicas: tuple[ids.BrokerId, ...] | None


class Waited(msgspec.Struct, frozen=True):
    """So much time passes."""

    ms: int


class TookOver(msgspec.Struct, frozen=True):
    """A new controller on the same log.

    `restarted` says that the old one was stopped; else it had resigned, by what it was asked.
    """

    restarted: bool


class Raised(msgspec.Struct, frozen=True):
    """The metadata version is raised."""

    metadata_version: str


class Configured(msgspec.Struct, frozen=True):
    """A setting of a topic gets a value, which it may have already; that of the cluster, whose name
    is "", is every topic's that has none of its own.
    """

    topic: str
    name: str
    value: str


class Switched(msgspec.Struct, frozen=True):
    """eligible.leader.replicas.version gets another level."""

    level: int


class Deleted(msgspec.Struct, frozen=True):
    """A topic is deleted."""

    topic: str


_OfTopics = Created | Reassigned
Turn = Asked | Checked | _OfTopics | Waited | TookOver | Raised | Configured | Switched | Deleted


class Answer(msgspec.Struct, frozen=True):
    """What a controller made of a turn; the fields that a turn has no use for stay empty.

    `refused` is why it was not done, empty if it was. It took `ms`, and the log ends at `end`.
    """

    response: messages.Response | None = None
    records: tuple[facts.RecordWritten, ...] = ()
    refused: str = ""
    end: ids.MetadataOffset = ids.MetadataOffset(0)
    ms: int = 0
    partitions: tuple[registrations.PartitionRegistration, ...] = ()


class Beginning(msgspec.Struct, frozen=True):
    """The controller before the first turn.

    Its log ends at `end`; only the quorum has written behind `last_record`, which is -1 where there
    is none. It speaks AlterPartition of the versions from `oldest` to `newest`.
    """

    metadata_version: str
    end: ids.MetadataOffset
    last_record: ids.MetadataOffset
    oldest: int
    newest: int


def fenced_in(records: tuple[facts.RecordWritten, ...]) -> tuple[ids.BrokerId, ...]:
    """The brokers that these records fence, in their order."""
    words = [record.text.split() for record in records if _fences(record)]
    return tuple(ids.BrokerId(int(word.removeprefix("broker="))) for _, word, *_ in words)


def _fences(record: facts.RecordWritten) -> bool:
    return "fenced=1" in record.text or record.record == "FenceBrokerRecord"


def partings(kafka: Answer, engine: Answer) -> tuple[Parting, ...]:
    """Where the two part; nothing if they agree.

    Records that change several partitions at once stand in an order that hangs on hash tables and
    on the random ids of topics: within such a run any order is the same. Of a refusal only that it
    is one is compared: its text is for people.
    """
    return tuple(_partings(kafka, engine))


def _partings(kafka: Answer, engine: Answer) -> Iterator[Parting]:
    if kafka.response is not None and engine.response is not None:
        yield from field_partings(kafka.response, engine.response)
    if bool(kafka.refused) != bool(engine.refused):
        yield Parting("refusal", kafka.refused or "none", engine.refused or "none")
    theirs, mine = record_texts(kafka.records), record_texts(engine.records)
    if theirs != mine:
        yield Parting("records", "; ".join(theirs) or "none", "; ".join(mine) or "none")
