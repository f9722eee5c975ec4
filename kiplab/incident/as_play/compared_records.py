"""Records in the engine's form, whoever wrote them.

What a record says is compared, not where it stands: offsets, broker epochs and incarnations of the
engine are others. Equal records from equal states lead to equal epochs of a partition.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from ...engine.events import Event
from ...protocol.facts import RecordWritten
from ...protocol.ids import NO_LEADER, BrokerEpoch, BrokerId, Incarnation
from ...protocol.kraft import records
from ..replayed_log.partitions import LISTS
from ..states import LogEvent, PartitionState
from .numbered_directories import OTHERS, UuidNumbers, homes_of, registered

FEATURES = {"metadata.version": "metadata", "eligible.leader.replicas.version": "elr"}
"""Features that the engine has, by what the verb `upgrade` calls them."""
SETTINGS = {
    "min.insync.replicas": "min-insync-replicas",
    "unclean.leader.election.enable": "unclean-leader-election",
}
"""Settings that the engine has, by what the verb `configure` calls them."""
_CHANGED = {"leader": "leader", "leaderRecoveryState": "recovery"} | LISTS
"""What the engine calls fields; directories have other names there, too."""
_UNCHANGED = {"leader": -2, "leaderRecoveryState": -1}
"""What Kafka writes for "no change" where that is not null."""
_TOPIC, _NO_EPOCH = 2, BrokerEpoch(0)
"""ConfigResource.Type of a topic; and what stands for a broker epoch, which is not compared."""
_OF_THE_ENGINE = re.compile(r" (?:incarnation|epoch)=\d+")


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


def comparable(text: str) -> str:
    """The text of a record without what is the engine's own."""
    return _OF_THE_ENGINE.sub("", text)


def targets_of(
    events: Sequence[LogEvent], states: Sequence[PartitionState], numbers: UuidNumbers
) -> tuple[RecordTarget, ...]:
    """The records about the partition of `states`, the brokers of its replicas, its settings and
    features, each once, in the order of the log; without what the engine has no word for, and
    without directories that the header has from the beginning.
    """
    key, brokers, topics = states[0].key, {None, *numbers}, {None, "", *(s.topic for s in states)}
    targets: dict[int, RecordTarget] = {}
    for event in events:
        is_mine = event.partition is None or event.partition.key == key
        target = RecordTarget(event, _content(event, numbers), event.after if is_mine else None)
        is_feature = event.record.fields.get("name") in FEATURES
        topic = getattr(target.content, "topic", None)
        if (target.content is None and not is_feature) or target.broker not in brokers:
            continue
        # A setting of several partitions is an event of each.
        is_first = topic is not None and event.record.offset not in targets
        if topic in topics and (is_mine or is_first):
            targets[event.record.offset] = target
    return tuple(targets.values())


def _content(event: LogEvent, numbers: UuidNumbers) -> records.Record | None:
    fields, state = event.record.fields, event.partition
    broker = BrokerId(fields.get("brokerId", fields.get("id", NO_LEADER)))
    match event.record.type:
        case "PARTITION_CHANGE_RECORD" if state is not None:
            changed, homes = dict(_changes(fields)), homes_of(numbers, state)
            if homes != homes_of(numbers, event.before or state):
                changed["directories"] = tuple(number for _, number in homes)
            return (
                records.PartitionChangeRecord(partition=state.name, **changed) if changed else None
            )
        case "BROKER_REGISTRATION_CHANGE_RECORD":
            changes = fields.get("fenced", 0), fields.get("inControlledShutdown", 0)
            own = {uuid: at for uuid, at in numbers.get(broker, {}).items() if uuid != OTHERS}
            left = {own.get(uuid) for uuid in fields.get("logDirs") or own}
            if any(changes) or {*own.values()} - left:
                return records.BrokerRegistrationChangeRecord(broker, _NO_EPOCH, *changes)
        case "REGISTER_BROKER_RECORD":
            found = registered(numbers, broker, fields.get("logDirs") or ())
            return records.RegisterBrokerRecord(broker, Incarnation(0), _NO_EPOCH, log_dirs=found)
        case "UNREGISTER_BROKER_RECORD":
            return records.UnregisterBrokerRecord(broker, _NO_EPOCH)
        case "FENCE_BROKER_RECORD":
            return records.FenceBrokerRecord(broker, _NO_EPOCH)
        case "UNFENCE_BROKER_RECORD":
            return records.UnfenceBrokerRecord(broker, _NO_EPOCH)
        case "CONFIG_RECORD" if fields["name"] in SETTINGS:
            topic, is_topic = fields["resourceName"], fields["resourceType"] == _TOPIC
            value = str(fields.get("value"))
            if is_topic or not topic:
                return records.ConfigRecord(topic, fields["name"], value)
        case "CLEAR_ELR_RECORD":
            return records.ClearElrRecord(fields.get("topicName", ""))
        case "REMOVE_TOPIC_RECORD" if state is not None:
            return records.RemoveTopicRecord(state.topic)
    return None


def _changes(fields: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for field, ours in _CHANGED.items():
        value = fields.get(field)
        if value is not None and value != _UNCHANGED.get(field) and field != "directories":
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
