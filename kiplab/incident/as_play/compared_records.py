"""Records in one form, whoever wrote them: a real controller or the engine.

What a record says is compared, not where it stands: offsets, broker epochs and incarnations of the
engine are others. Equal records from equal states lead to equal epochs of a partition.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ...engine.events import Event
from ...protocol.facts import RecordWritten
from ..records import LogRecord
from ..states import LogEvent, PartitionKey

FEATURES = {"metadata.version": "metadata", "eligible.leader.replicas.version": "elr"}
"""Features that the engine has, by what the verb `upgrade` calls them."""
SETTINGS = {
    "min.insync.replicas": "min-insync-replicas",
    "unclean.leader.election.enable": "unclean-leader-election",
}
"""Settings that the engine has, by what the verb `configure` calls them."""
_OF_PARTITION = {
    "isr": "isr",
    "leader": "leader",
    "replicas": "replicas",
    "removingReplicas": "removing",
    "addingReplicas": "adding",
    "leaderRecoveryState": "recovery",
    "eligibleLeaderReplicas": "elr",
    "lastKnownElr": "last_known",
}
_UNCHANGED = {"leader": -2, "leaderRecoveryState": -1}
"""What Kafka writes for "no change" where that is not null."""
_OF_BROKER = {"fenced": "fenced", "inControlledShutdown": "in_controlled_shutdown"}
_TOPIC, _BROKER = 2, 4
"""ConfigResource.Type of a ConfigRecord."""


class Said(NamedTuple):
    """What a record says: its name, whom it is about, and the fields that it sets, as text."""

    record: str
    about: str
    fields: frozenset[tuple[str, str]] = frozenset()

    def __str__(self) -> str:
        return " ".join((self.record, self.about, *(f"{k}={v}" for k, v in sorted(self.fields))))

    @property
    def broker(self) -> int | None:
        """The broker that it is about, if it is about one."""
        return int(self.about) if self.about.isdigit() and "Broker" in self.record else None

    def field(self, name: str) -> str | None:
        """The text of one field; None where the record leaves it as it is."""
        return dict(self.fields).get(name)


class Target(NamedTuple):
    """A record of the log that a play has to bring about."""

    said: Said
    event: LogEvent

    @property
    def is_silent(self) -> bool:
        """Whether the engine does it without a record: a feature's level."""
        return self.said.record == "FeatureLevelRecord"


def targets_of(events: Iterable[LogEvent], key: PartitionKey) -> tuple[Target, ...]:
    """The records about a partition, the brokers of its replicas, its settings and features, each
    once, in the order of the log; what the engine has no word for is left out.
    """
    kept = tuple(events)
    states = [e.partition for e in kept if e.partition and e.partition.key == key]
    brokers = {str(b) for state in states for b in state.replicas}
    topics = {"", *(state.topic for state in states)}
    targets: dict[int, Target] = {}
    for event in kept:
        if event.partition is not None and event.partition.key != key:
            continue
        said = said_by(event)
        if said.broker is not None and said.about not in brokers:
            continue
        if said.record in _OF_TOPICS and said.about.partition(":")[0] not in topics:
            continue
        if said.record in _ENGINE_HAS and said.about:
            targets.setdefault(event.record.offset, Target(said, event))
    return tuple(targets.values())


def said_by(event: LogEvent) -> Said:
    """What a record of the log says."""
    record = event.record
    name = "".join(word.capitalize() for word in record.type.split("_"))
    fields = record.fields
    if name in ("PartitionChangeRecord", "PartitionRecord"):
        about = event.partition.name if event.partition else ""
        return Said(name, about, frozenset(_partition_fields(record)))
    if "Broker" in name:
        about = str(fields.get("brokerId", fields.get("id", -1)))
        # A registration is another record, with all its fields; what it begins with is the same.
        pairs = () if name == "RegisterBrokerRecord" else _broker_fields(fields)
        return Said(name, about, frozenset(pairs))
    if name == "FeatureLevelRecord":
        known = str(fields.get("name", "")) if fields.get("name") in FEATURES else ""
        return Said(name, known, frozenset({("level", str(fields.get("featureLevel", 0)))}))
    return _of_topic(name, event)


def _of_topic(name: str, event: LogEvent) -> Said:
    fields = event.record.fields
    if name == "ConfigRecord":
        setting, of = str(fields.get("name")), fields.get("resourceType")
        is_cluster = of == _BROKER and not fields.get("resourceName")
        known = setting in SETTINGS and (of == _TOPIC or is_cluster)
        about = f"{fields.get('resourceName', '')}:{setting}" if known else ""
        return Said(name, about, frozenset({("value", str(fields.get("value")))}))
    if name == "ClearElrRecord":
        return Said(name, f"{fields.get('topicName', '')}:")
    return Said(name, f"{event.partition.topic}:" if event.partition else "")


_OF_TOPICS = ("ConfigRecord", "ClearElrRecord", "RemoveTopicRecord")
_OF_BROKERS = (
    "RegisterBrokerRecord",
    "UnregisterBrokerRecord",
    "FenceBrokerRecord",
    "UnfenceBrokerRecord",
    "BrokerRegistrationChangeRecord",
)
_ENGINE_HAS = ("PartitionChangeRecord", "FeatureLevelRecord", *_OF_BROKERS, *_OF_TOPICS)


def _partition_fields(record: LogRecord) -> Iterator[tuple[str, str]]:
    for field, ours in _OF_PARTITION.items():
        value = record.fields.get(field)
        if value is not None and value != _UNCHANGED.get(field):
            yield ours, _text(value)


def _broker_fields(fields: dict[str, Any]) -> Iterator[tuple[str, str]]:
    return ((ours, str(fields[field])) for field, ours in _OF_BROKER.items() if fields.get(field))


def _text(value: Any) -> str:
    return f"[{','.join(map(str, value))}]" if isinstance(value, list | tuple) else str(value)


def written_by_engine(events: Iterable[Event], partition: str, topic: str) -> Iterator[Said]:
    """What the engine's records say, of one partition, its topic and all brokers."""
    for event in events:
        if isinstance(event, RecordWritten):
            said = _engine_said(event)
            of_partition = said.record == "PartitionChangeRecord"
            of_topic = said.record in _OF_TOPICS
            if of_partition and said.about != partition:
                continue
            if of_topic and said.about.partition(":")[0] not in ("", topic):
                continue
            yield said


def _engine_said(written: RecordWritten) -> Said:
    """Read off the text of the record, which has all that it sets."""
    words = dict(word.partition("=")[::2] for word in written.text.split()[1:])
    name = written.record
    if name == "PartitionChangeRecord":
        return Said(name, words.pop("partition"), frozenset(words.items()))
    if name in _OF_BROKERS:
        kept = {k: v for k, v in words.items() if k in _OF_BROKER.values() and v != "0"}
        kept = {} if name == "RegisterBrokerRecord" else kept
        return Said(name, words["broker"], frozenset(kept.items()))
    about = f"{words.get('topic', '')}:{words.get('name', '')}"
    value = {("value", words["value"])} if name == "ConfigRecord" else frozenset[tuple[str, str]]()
    return Said(name, about, frozenset(value))
