"""Records in one form, whoever wrote them: a real controller or the engine.

What a record says is compared, not where it stands: offsets, broker epochs and incarnations of the
engine are others. Equal records from equal states lead to equal epochs of a partition.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, get_args

from ...engine.events import Event
from ...protocol.facts import RecordWritten
from ...protocol.kraft import records
from ..records import LogRecord
from ..states import LogEvent, PartitionKey, PartitionState

FEATURES = {"metadata.version": "metadata", "eligible.leader.replicas.version": "elr"}
"""Features that the engine has, by what the verb `upgrade` calls them."""
SETTINGS = {
    "min.insync.replicas": "min-insync-replicas",
    "unclean.leader.election.enable": "unclean-leader-election",
}
"""Settings that the engine has, by what the verb `configure` calls them."""
_OF_BROKER = {"fenced": "fenced", "inControlledShutdown": "in_controlled_shutdown"}
_OF_PARTITION = {
    **{name: name for name in ("isr", "leader", "replicas")},
    "removingReplicas": "removing",
    "addingReplicas": "adding",
    "leaderRecoveryState": "recovery",
    "eligibleLeaderReplicas": "elr",
    "lastKnownElr": "last_known",
}
_UNCHANGED = {"leader": -2, "leaderRecoveryState": -1}
"""What Kafka writes for "no change" where that is not null."""
_BROKERS, _TOPICS = (
    frozenset(record.__name__ for record in get_args(union))
    for union in (records.RecordOfBroker, records.RecordOfTopic)
)
_TOPIC, _BROKER = 2, 4
"""ConfigResource.Type in a ConfigRecord."""


class Said(NamedTuple):
    """What a record says: its name, whom it is about, and the fields that it sets, as text. The
    name of a setting stands behind its topic and a colon.
    """

    record: str
    about: str
    fields: frozenset[tuple[str, str]] = frozenset()

    def __str__(self) -> str:
        return " ".join((self.record, self.about, *(f"{k}={v}" for k, v in sorted(self.fields))))

    @property
    def broker(self) -> int | None:
        """The broker that it is about, if it is about one."""
        return int(self.about) if self.record in _BROKERS else None

    @property
    def topic(self) -> str | None:
        """The topic that it is about, if it is about one; of a setting of the cluster it is ""."""
        return self.about.partition(":")[0] if self.record in _TOPICS else None

    def field(self, name: str) -> str | None:
        """The text of one field; None where the record leaves it as it is."""
        return dict(self.fields).get(name)


class Target(NamedTuple):
    """A record of the log that a play has to bring about."""

    said: Said
    event: LogEvent
    after: PartitionState | None
    """The partition, if the record is about it and leaves it."""

    @property
    def is_silent(self) -> bool:
        """Whether the engine does it without a record: a feature's level."""
        return self.said.record == "FeatureLevelRecord"

    @property
    def is_directories(self) -> bool:
        """Whether a change of the partition sets directories only, of which the engine has none."""
        changes = self.said.record == "PartitionChangeRecord"
        return changes and not self.said.fields and "directories" in self.event.record.fields


def targets_of(events: Sequence[LogEvent], key: PartitionKey) -> tuple[Target, ...]:
    """The records about a partition, the brokers of its replicas, its settings and features, each
    once, in the order of the log; what the engine has no word for is left out.
    """
    states = [e.partition for e in events if e.partition and e.partition.key == key]
    brokers = {None, *(b for state in states for b in state.replicas)}
    topics = {None, "", *(state.topic for state in states)}
    targets: dict[int, Target] = {}
    for event in events:
        is_other = event.partition is not None and event.partition.key != key
        said = said_by(event)
        if said is None or said.broker not in brokers or said.topic not in topics:
            continue
        # A setting of several partitions is an event of each.
        if not is_other or (said.record in _TOPICS and event.record.offset not in targets):
            after = None if is_other else event.after
            targets[event.record.offset] = Target(said, event, after)
    return tuple(targets.values())


def said_by(event: LogEvent) -> Said | None:
    """What a record of the log says; None where the engine has no word for it."""
    record, state = event.record, event.partition
    name = "".join(word.capitalize() for word in record.type.split("_"))
    fields = record.fields
    if name == "PartitionChangeRecord" and state is not None:
        return Said(name, state.name, frozenset(_partition_fields(record)))
    if name in _BROKERS:
        id = fields.get("brokerId", fields.get("id"))
        # A registration is another record, with all its fields; what it begins with is the same.
        pairs = () if name == "RegisterBrokerRecord" else _OF_BROKER.items()
        kept = ((ours, str(fields[field])) for field, ours in pairs if fields.get(field))
        return Said(name, str(id), frozenset(kept))
    if name == "FeatureLevelRecord" and fields.get("name") in FEATURES:
        return Said(name, fields["name"], frozenset({("level", str(fields.get("featureLevel")))}))
    if name == "ConfigRecord" and fields.get("name") in SETTINGS:
        topic, of = fields.get("resourceName", ""), fields.get("resourceType")
        if of == _TOPIC or (of == _BROKER and not topic):
            value = frozenset({("value", str(fields.get("value")))})
            return Said(name, f"{topic}:{fields['name']}", value)
    if name == "ClearElrRecord":
        return Said(name, f"{fields.get('topicName', '')}:")
    return Said(name, f"{state.topic}:") if name == "RemoveTopicRecord" and state else None


def _partition_fields(record: LogRecord) -> Iterator[tuple[str, str]]:
    for field, ours in _OF_PARTITION.items():
        value: Any = record.fields.get(field)
        if value is not None and value != _UNCHANGED.get(field):
            value = sorted(value) if ours == "elr" else value
            is_list = isinstance(value, list | tuple)
            yield ours, f"[{','.join(map(str, value))}]" if is_list else str(value)


def written_by_engine(events: Iterable[Event], of: PartitionState) -> Iterator[Said]:
    """What the engine's records say, of one partition, its topic and all brokers."""
    for event in events:
        if isinstance(event, RecordWritten):
            said = _engine_said(event)
            is_other = said.record == "PartitionChangeRecord" and said.about != of.name
            if not is_other and said.topic in (None, "", of.topic):
                yield said


def _engine_said(written: RecordWritten) -> Said:
    """Read off the text of the record, which has all that it sets."""
    words = dict(word.partition("=")[::2] for word in written.text.split()[1:])
    name = written.record
    if name == "PartitionChangeRecord":
        return Said(name, words.pop("partition"), frozenset(words.items()))
    if name in _BROKERS:
        kept = {k: v for k, v in words.items() if k in _OF_BROKER.values() and v != "0"}
        kept = {} if name == "RegisterBrokerRecord" else kept
        return Said(name, words["broker"], frozenset(kept.items()))
    value = frozenset({("value", words["value"])}) if "value" in words else frozenset()
    return Said(name, f"{words.get('topic', '')}:{words.get('name', '')}", value)
