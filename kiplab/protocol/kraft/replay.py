"""Replaying metadata records: their effect on the image, and the epochs that they create.

The input is the records of a rule, in order. Each takes the next offset of the metadata log and is
replayed at once: a broker's registration is replaced, changed or removed, a partition is merged
with the fields that the record names. Replaying creates every epoch of this protocol but one. The
partition epoch rises with each record, and the leader epoch with each record that names a leader. A
new registration's broker epoch is its offset. Only the controller epoch comes from a failover.
The output is one image of the log up to its end, for every broker, and facts about the records and
their changes. Without records the controller stays the same object and nothing is sent.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, get_args

from msgspec.structs import asdict, replace

from .. import ids
from ..facts import (
    BrokerChange,
    BrokerChanged,
    ElrChanged,
    Fact,
    IsrChanged,
    LastKnownLeaderChanged,
    LeaderElected,
    RecordWritten,
    RecoveryStateChanged,
    Replayed,
    TopicDeleted,
)
from ..features import Features
from ..messages import MetadataUpdate, Send
from ..registrations import (
    ONE_DIRECTORY,
    LeaderRecoveryState,
    PartitionRegistration,
    Registration,
    partition,
    registration,
    topic_of,
    with_directories,
)
from ..releases import METADATA_VERSIONS
from . import brokers_to_elrs
from .controller_state import Controller
from .records import (
    ChangeOfBroker,
    ClearElrRecord,
    ConfigRecord,
    FenceBrokerRecord,
    PartitionChangeRecord,
    Record,
    RegisterBrokerRecord,
    RemoveTopicRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
    record_text,
)

ControllerEffect = tuple[Controller, tuple[Send, ...], tuple[Fact, ...]]
"""The controller after a rule, what it sends, what it reports."""


def commit(
    controller: Controller, records: Sequence[Record], features: Features
) -> ControllerEffect:
    """Append `records` to the metadata log, replay them, and let the brokers have the new image.

    Without records the controller is returned as the same object.

    Source: QuorumController.ControllerWriteEvent.run (3.5.0), which also replays what it appends.
    """
    if not records:
        return controller, (), ()
    facts: list[Fact] = []
    at = METADATA_VERSIONS[features.metadata_version]
    for record in records:
        name, text = type(record).__name__, record_text(record)
        facts.append(RecordWritten(controller.next_offset, name, text, record.version(at)))
        after = replay(controller, record)
        facts += _reported(controller, after, record)
        controller = after
    return controller, (Send(ids.ALL_BROKERS, image(controller)),), tuple(facts)


def finalize(controller: Controller) -> ControllerEffect:
    """The metadata version, or the level of another feature, changes: records say so, which a log
    here does not count. Its controller has written something, and knows where its log ends.

    Source: FeatureControlManager.updateMetadataVersion (3.3.0, 3.5.0).
    """
    if controller.write_offset is None:
        return controller, (), ()
    return replace(controller, write_offset=None), (), ()


def delete_topic(controller: Controller, topic: str, features: Features) -> ControllerEffect:
    """An operator deletes a topic: one record says so.

    Source: ReplicationControlManager.deleteTopics (3.5.0, 4.3.1).
    """
    controller, sends, facts = commit(controller, (RemoveTopicRecord(topic),), features)
    return controller, sends, (*facts, TopicDeleted(topic))


def image(controller: Controller) -> MetadataUpdate:
    """The metadata log up to its end, as brokers replicate it.

    Source: stands for MetadataImage (3.5.0), which each broker builds from the log by itself.
    """
    return MetadataUpdate(
        offset=ids.MetadataOffset(controller.next_offset - 1),
        registrations=controller.registrations,
        partitions=controller.partitions,
    )


def replay(controller: Controller, record: Record) -> Controller:
    """`controller` after one more record of the metadata log.

    Source: QuorumController.replay, ClusterControlManager.replay and
    ReplicationControlManager.replay (3.5.0).
    """
    after = _REPLAYED[type(record)](controller, record)
    offset = ids.MetadataOffset(controller.next_offset + 1)
    return replace(after, next_offset=offset, write_offset=None)


def merge(state: PartitionRegistration, record: PartitionChangeRecord) -> PartitionRegistration:
    """A partition after a PartitionChangeRecord.

    The partition epoch rises with every record. The leader epoch rises whenever the leader field
    is set, even to the sitting leader: writing the unchanged leader is how an epoch is bumped.

    Source: PartitionRegistration.merge (3.2.0, 3.5.0, 3.9.0-rc3).
    """
    changes = {k: v for k, v in asdict(record).items() if v is not None and k != "partition"}
    if record.directories is not None:
        state = with_directories(state, changes.pop("directories"))
    return replace(
        state,
        **changes,
        leader_epoch=ids.LeaderEpoch(state.leader_epoch + (record.leader is not None)),
        partition_epoch=ids.PartitionEpoch(state.partition_epoch + 1),
    )


def _partition_changed(controller: Controller, record: PartitionChangeRecord) -> Controller:
    after = replace(
        controller,
        partitions=tuple(
            merge(p, record) if p.name == record.partition else p for p in controller.partitions
        ),
    )
    return after if record.elr is None else brokers_to_elrs.followed(controller, after)


CLUSTER = ""
"""What a record names instead of a topic when it is about all."""
UNCLEAN, MIN_INSYNC = "unclean.leader.election.enable", "min.insync.replicas"
SETTINGS: dict[str, Callable[[str], dict[str, Any]]] = {
    UNCLEAN: lambda value: {"unclean_leader_election": value == "true"},
    MIN_INSYNC: lambda value: {"min_insync_replicas": int(value)},
}
"""A topic's settings, by Kafka's names, as fields of its partitions."""


def _configured(controller: Controller, record: ConfigRecord) -> Controller:
    """No epoch rises: brokers play on, and the controller reads the setting when it elects."""
    fields, own = SETTINGS[record.name](record.value), {*controller.topics_with_min_insync}
    topics = {topic_of(p.name) for p in controller.partitions} - own
    if record.topic == CLUSTER:
        controller = replace(controller, cluster_min_insync_replicas=int(record.value))
    else:
        topics = {record.topic}
        if record.name == MIN_INSYNC:
            controller = replace(controller, topics_with_min_insync=tuple(sorted(own | topics)))
    partitions = tuple(
        replace(p, **fields) if topic_of(p.name) in topics else p for p in controller.partitions
    )
    return replace(controller, partitions=partitions)


def _elrs_cleared(controller: Controller, record: ClearElrRecord) -> Controller:
    """A change of each partition that has either list: its partition epoch rises (KAFKA-18649).

    Source: ReplicationControlManager.removeTopicElrs (4.0.2, 4.3.1).
    """
    partitions = tuple(
        merge(p, PartitionChangeRecord(partition=p.name, elr=(), last_known=()))
        if record.topic in (CLUSTER, topic_of(p.name)) and (p.elr or p.last_known)
        else p
        for p in controller.partitions
    )
    after = replace(controller, partitions=partitions)
    return brokers_to_elrs.followed(controller, after, clearing=True)


def _topic_removed(controller: Controller, record: RemoveTopicRecord) -> Controller:
    left = tuple(p for p in controller.partitions if topic_of(p.name) != record.topic)
    own = tuple(t for t in controller.topics_with_min_insync if t != record.topic)
    after = replace(controller, partitions=left, topics_with_min_insync=own)
    return brokers_to_elrs.without_topic(controller, after)


def _registered(controller: Controller, record: RegisterBrokerRecord) -> Controller:
    registration = Registration(
        broker=record.broker,
        epoch=record.epoch,
        incarnation=record.incarnation,
        fenced=record.fenced,
        in_controlled_shutdown=record.in_controlled_shutdown,
        record_offset=controller.next_offset,
        log_dirs=record.log_dirs or ONE_DIRECTORY,
    )
    return _with(controller, registration)


def _unregistered(controller: Controller, record: UnregisterBrokerRecord) -> Controller:
    left = (r for r in controller.registrations if r.broker != record.broker)
    return replace(controller, registrations=tuple(left))


def _registration_changed(controller: Controller, record: ChangeOfBroker) -> Controller:
    registered = registration(controller.registrations, record.broker)
    if registered is None or registered.epoch != record.epoch:
        # Fatal for a real controller; nothing here writes such a record.
        raise AssertionError(f"{record_text(record)} does not fit {registered}")
    return _with(controller, _changed(registered, record))


def _changed(registration: Registration, record: ChangeOfBroker) -> Registration:
    if isinstance(record, FenceBrokerRecord | UnfenceBrokerRecord):
        return replace(registration, fenced=isinstance(record, FenceBrokerRecord))
    fenced = registration.fenced if record.fenced == 0 else record.fenced == 1
    leaving = registration.in_controlled_shutdown or record.in_controlled_shutdown == 1
    return replace(registration, fenced=fenced, in_controlled_shutdown=leaving)


def _with(controller: Controller, changed: Registration) -> Controller:
    others = [r for r in controller.registrations if r.broker != changed.broker]
    everybody = sorted([*others, changed], key=lambda r: r.broker)
    return replace(controller, registrations=tuple(everybody))


def _reported(before: Controller, after: Controller, record: Record) -> Iterator[Replayed]:
    if isinstance(record, ConfigRecord | RemoveTopicRecord):
        return
    if isinstance(record, PartitionChangeRecord):
        old = partition(before.partitions, record.partition)
        new = partition(after.partitions, record.partition)
        yield from _partition_changes(old, new, record) if old and new else ()
        return
    if isinstance(record, ClearElrRecord):
        for old, new in zip(before.partitions, after.partitions, strict=True):
            yield from _changes_of_elr(old, new)
        return
    changes: Iterable[BrokerChange] = (BrokerChange.REGISTERED,)
    if not isinstance(record, RegisterBrokerRecord):
        registered = registration(before.registrations, record.broker)
        now = registration(after.registrations, record.broker)
        changes = _changes_of_broker(registered, now)
    for change in changes:
        yield BrokerChanged(record.broker, change, record.epoch)


def _partition_changes(
    old: PartitionRegistration, new: PartitionRegistration, record: PartitionChangeRecord
) -> Iterator[Replayed]:
    if new.isr != old.isr:
        yield IsrChanged(new.name, old.isr, new.isr, new.partition_epoch)
    yield from _changes_of_elr(old, new)
    if record.leader is not None:
        unclean = _is_unclean(old, record)
        from_elr = not unclean and record.leader in old.elr and record.isr == (record.leader,)
        yield LeaderElected.of(old, new, unclean=unclean, from_elr=from_elr)
    if new.recovery is not old.recovery:
        yield RecoveryStateChanged(new.name, old.recovery, new.recovery)


def _changes_of_elr(old: PartitionRegistration, new: PartitionRegistration) -> Iterator[Replayed]:
    if new.elr != old.elr:
        yield ElrChanged(new.name, old.elr, new.elr)
    if new.last_known != old.last_known:
        yield LastKnownLeaderChanged(new.name, old.last_known, new.last_known)


def _is_unclean(old: PartitionRegistration, record: PartitionChangeRecord) -> bool:
    """A partition that is RECOVERING already does not become so by another unclean election.

    A completed reassignment may also leave a lone new member, but it changes the replicas; and so
    may an election from the ELR.
    """
    if record.recovery is LeaderRecoveryState.RECOVERING:
        return True
    lone = record.isr == (record.leader,) and record.leader not in old.isr
    return lone and record.replicas is None and record.leader not in old.elr


def _changes_of_broker(
    old: Registration | None, new: Registration | None
) -> Iterator[BrokerChange]:
    if old is None or new is None:
        yield BrokerChange.UNREGISTERED
        return
    if new.in_controlled_shutdown and not old.in_controlled_shutdown:
        yield BrokerChange.SHUTTING_DOWN
    if new.fenced != old.fenced:
        yield BrokerChange.FENCED if new.fenced else BrokerChange.UNFENCED


_REPLAYED: dict[type, Callable[[Controller, Any], Controller]] = {
    **dict.fromkeys(get_args(ChangeOfBroker), _registration_changed),
    RegisterBrokerRecord: _registered,
    UnregisterBrokerRecord: _unregistered,
    PartitionChangeRecord: _partition_changed,
    ClearElrRecord: _elrs_cleared,
    RemoveTopicRecord: _topic_removed,
    ConfigRecord: _configured,
}
