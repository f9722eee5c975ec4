"""Back from what is seen of a real broker to the engine's broker, field by field.

What is seen the same stays the engine's own: it knows more, such as the order of an ISR, and what
an observer has noted.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from ...protocol import ids
from ...protocol.log import EpochStart, Log
from ...protocol.messages import AlterPartitionItem
from ...protocol.messages.replication_messages import IsrMember
from ...protocol.registrations import LeaderRecoveryState
from ...protocol.replica.broker_parts import with_log, with_replica
from ...protocol.replica.broker_state import (
    Broker,
    IsrState,
    Leading,
    RemoteReplica,
    log_of,
    replica_of,
)
from ..partition.engine_observation import EngineObservation
from ..partition.observed_broker import SeenPartition, SeenProposal, SeenRemote


def with_partition(
    broker: Broker, name: ids.PartitionName, seen: SeenPartition, observation: EngineObservation
) -> Broker:
    """`broker` with a partition that it plays as it is seen; itself where it is."""
    if observation.partition(broker, name) == seen:
        return broker
    replica, log = replica_of(broker, name), log_of(broker, name)
    assert replica is not None, f"{name} is not played"
    epochs = tuple(EpochStart(ids.LeaderEpoch(epoch), ids.Offset(at)) for epoch, at in seen.epochs)
    flushed = ids.Offset(min(log.flushed, seen.end))
    broker = with_log(broker, name, Log(epochs, ids.Offset(seen.end), flushed))
    played = replace(
        replica,
        leader=ids.BrokerId(ids.NO_LEADER if seen.leader is None else seen.leader),
        leader_epoch=ids.LeaderEpoch(seen.leader_epoch),
        partition_epoch=ids.PartitionEpoch(seen.partition_epoch),
        high_watermark=ids.Offset(seen.high_watermark),
        leading=None
        if seen.start_offset is None
        else _leading(replica.leading, name, seen, observation),
    )
    return with_replica(broker, played)


def _leading(
    mine: Leading | None,
    name: ids.PartitionName,
    seen: SeenPartition,
    observation: EngineObservation,
) -> Leading:
    known = {remote.broker: remote for remote in mine.remotes} if mine is not None else {}
    remotes = tuple(
        _remote(known.get(ids.BrokerId(r.broker)), r, observation) for r in seen.remotes
    )
    start = ids.Offset(seen.start_offset or 0)
    return Leading(start, _isr_state(mine, name, seen, observation), remotes)


def _isr_state(
    mine: Leading | None,
    name: ids.PartitionName,
    seen: SeenPartition,
    observation: EngineObservation,
) -> IsrState:
    known = mine.isr_state if mine is not None else IsrState(())
    same = tuple(sorted(known.isr)) == seen.isr
    sent = known.sent
    if seen.proposed is None:
        sent = None
    elif sent is None or observation.proposal(sent) != seen.proposed:
        sent = asked_item(name, seen.proposed)
    recovery = known.recovery if sent is not None else LeaderRecoveryState(seen.recovery)
    return IsrState(known.isr if same else _ids(seen.isr), sent, recovery)


def _remote(
    mine: RemoteReplica | None, seen: SeenRemote, observation: EngineObservation
) -> RemoteReplica:
    if mine is not None and observation.remote(mine) == seen:
        return mine
    # What a release has no field for is as the engine has it.
    epoch = mine.epoch if mine is not None and seen.epoch is None else seen.epoch
    return RemoteReplica(
        broker=ids.BrokerId(seen.broker),
        end=ids.Offset(seen.end),
        leader_end_at_last_fetch=ids.Offset(seen.leader_end_at_last_fetch),
        last_fetch_ms=seen.last_fetch_ms,
        last_caught_up_ms=seen.last_caught_up_ms,
        epoch=None if epoch is None else ids.BrokerEpoch(epoch),
        observed=mine.observed if mine is not None else ids.NO_BROKER_EPOCH,
    )


def asked_item(name: ids.PartitionName, seen: SeenProposal) -> AlterPartitionItem:
    """What a leader has asked for."""
    members = (
        IsrMember(ids.BrokerId(broker), ids.BrokerEpoch(max(epoch, ids.NO_BROKER_EPOCH)))
        for broker, epoch in seen.isr
    )
    return AlterPartitionItem(
        partition=name,
        leader_epoch=ids.LeaderEpoch(seen.leader_epoch),
        partition_epoch=ids.PartitionEpoch(seen.partition_epoch),
        isr=tuple(members),
        recovery=seen.recovery,
    )


def _ids(brokers: Iterable[int]) -> tuple[ids.BrokerId, ...]:
    return tuple(map(ids.BrokerId, brokers))
