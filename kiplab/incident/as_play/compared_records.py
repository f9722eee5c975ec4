"""Records in the engine's form, whoever wrote them.

What a record says is compared, not where it stands: offsets, broker epochs and incarnations of the
engine are others. Equal records from equal states lead to equal epochs of a partition.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from ...engine.events import Event
from ...protocol.facts import RecordWritten
from ...protocol.ids import NO_LEADER, BrokerEpoch, BrokerId, Incarnation
from ...protocol.kraft import records
from ..states import LogEvent, PartitionKey, PartitionState

FEATURES = {"metadata.version": "metadata", "eligible.leader.replicas.version": "elr"}
"""Features that the engine has, by what the verb `upgrade` calls them."""
SETTINGS = {
    "min.insync.replicas": "min-insync-replicas",
    "unclean.leader.election.enable": "unclean-leader-election",
}
"""Settings that the engine has, by what the verb `configure` calls them."""
_CHANGED = {
    **{name: name for name in ("isr", "leader", "replicas")},
    "removingReplicas": "removing",
    "addingReplicas": "adding",
    "leaderRecoveryState": "recovery",
    "eligibleLeaderReplicas": "elr",
    "lastKnownElr": "last_known",
}
_UNCHANGED = {"leader": -2, "leaderRecoveryState": -1}
"""What Kafka writes for "no change" where that is not null."""
_TOPIC, _NO_EPOCH = 2, BrokerEpoch(0)
"""ConfigResource.Type of a topic; and what stands for a broker epoch, which is not compared."""
_OF_THE_ENGINE = re.compile(r" (?:incarnation|epoch)=\d+")

_WITHOUT_FIELDS: dict[str, Callable[[BrokerId, BrokerEpoch], records.Record]] = {
    "UNREGISTER_BROKER_RECORD": records.UnregisterBrokerRecord,
    "FENCE_BROKER_RECORD": records.FenceBrokerRecord,
    "UNFENCE_BROKER_RECORD": records.UnfenceBrokerRecord,
}


class RecordTarget(NamedTuple):
    """A record of the log that a play has to bring about. `content` is None for a feature's level,
    of which the engine writes none; `after` is the partition, if the record is about it.
    """

    event: LogEvent
    content: records.Record | None
    after: PartitionState | None

    @property
    def text(self) -> str:
        """What is compared."""
        return "" if self.content is None else comparable(records.record_text(self.content))

    @property
    def broker(self) -> int | None:
        """The broker that it is about, if it is about one."""
        return getattr(self.content, "broker", None)

    @property
    def is_directories(self) -> bool:
        """Whether it sets directories only, which a play of a history leaves out."""
        changes = isinstance(self.content, records.PartitionChangeRecord)
        return changes and not dict(_changes(self.event.record.fields))


def comparable(text: str) -> str:
    """The text of a record without what is the engine's own."""
    return _OF_THE_ENGINE.sub("", text)


def targets_of(events: Sequence[LogEvent], key: PartitionKey) -> tuple[RecordTarget, ...]:
    """The records about a partition, the brokers of its replicas, its settings and features, each
    once, in the order of the log; what the engine has no word for is left out.
    """
    states = [e.partition for e in events if e.partition and e.partition.key == key]
    brokers = {None, *(b for state in states for b in state.replicas)}
    topics = {None, "", *(state.topic for state in states)}
    targets: dict[int, RecordTarget] = {}
    for event in events:
        is_mine = event.partition is None or event.partition.key == key
        target = RecordTarget(event, _content(event), event.after if is_mine else None)
        is_feature = event.record.fields.get("name") in FEATURES
        topic = getattr(target.content, "topic", None)
        if (target.content is None and not is_feature) or target.broker not in brokers:
            continue
        # A setting of several partitions is an event of each.
        is_first = topic is not None and event.record.offset not in targets
        if topic in topics and (is_mine or is_first):
            targets[event.record.offset] = target
    return tuple(targets.values())


def _content(event: LogEvent) -> records.Record | None:
    fields, state = event.record.fields, event.partition
    broker = BrokerId(fields.get("brokerId", fields.get("id", NO_LEADER)))
    match event.record.type:
        case "PARTITION_CHANGE_RECORD" if state is not None:
            return records.PartitionChangeRecord(partition=state.name, **dict(_changes(fields)))
        case "BROKER_REGISTRATION_CHANGE_RECORD":
            changes = fields.get("fenced", 0), fields.get("inControlledShutdown", 0)
            return records.BrokerRegistrationChangeRecord(broker, _NO_EPOCH, *changes)
        case "REGISTER_BROKER_RECORD":
            return records.RegisterBrokerRecord(broker, Incarnation(0), _NO_EPOCH)
        case type if type in _WITHOUT_FIELDS:
            return _WITHOUT_FIELDS[type](broker, _NO_EPOCH)
        case "CONFIG_RECORD" if fields["name"] in SETTINGS:
            topic, is_topic = fields["resourceName"], fields["resourceType"] == _TOPIC
            value = str(fields.get("value"))
            made = records.ConfigRecord(topic, fields["name"], value)
            return made if is_topic or not topic else None
        case "CLEAR_ELR_RECORD":
            return records.ClearElrRecord(fields.get("topicName", ""))
        case "REMOVE_TOPIC_RECORD" if state is not None:
            return records.RemoveTopicRecord(state.topic)
    return None


def _changes(fields: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for field, ours in _CHANGED.items():
        value = fields.get(field)
        if value is not None and value != _UNCHANGED.get(field):
            value = sorted(value) if ours == "elr" else value
            yield ours, tuple(value) if isinstance(value, list) else value


def written_by_engine(events: Iterable[Event], partition: str) -> Iterator[str]:
    """What the engine's records say, without those of other partitions."""
    for event in events:
        if isinstance(event, RecordWritten):
            text = comparable(event.text)
            is_change = event.record == records.PartitionChangeRecord.__name__
            if not is_change or text.split()[1] == f"partition={partition}":
                yield text
