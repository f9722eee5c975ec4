"""The situation a run begins with: registered brokers, partitions, logs."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from msgspec.structs import replace

from ..protocol.clients.consumer import Consumer, Reset
from ..protocol.features import Features
from ..protocol.ids import (
    NO_LEADER,
    NO_LEADER_EPOCH,
    BrokerEpoch,
    BrokerId,
    Incarnation,
    LeaderEpoch,
    MetadataOffset,
    Offset,
    PartitionEpoch,
)
from ..protocol.kraft.broker_lifecycle import metadata_arrived
from ..protocol.kraft.contacts import carried_over
from ..protocol.kraft.controller_state import Controller, HeartbeatState
from ..protocol.kraft.periodic_elections import plan
from ..protocol.kraft.replay import image
from ..protocol.log import EMPTY, Log, append, flush, last_epoch, up_to
from ..protocol.messages import MetadataUpdate
from ..protocol.registrations import (
    LeaderRecoveryState,
    PartitionRegistration,
    Registration,
    partition,
    registration,
)
from ..protocol.releases import RELEASES, Mode
from ..protocol.replica.broker_state import (
    Broker,
    Durable,
    DurableReplica,
    Lifecycle,
    Volatile,
    replica_of,
)
from .cluster import Cluster, Observed


class BrokerSetup(msgspec.Struct, frozen=True, kw_only=True):
    """One registered broker; `up` says whether its process runs."""

    id: BrokerId
    epoch: BrokerEpoch
    fenced: bool = False
    in_controlled_shutdown: bool = False
    up: bool = True


class PartitionSetup(msgspec.Struct, frozen=True, kw_only=True):
    """One partition. `log` is what every replica has, but for those that `logs` names.

    `log` is (records, leader epoch) pairs in order; `flushed` the first offset not on disk, None
    when everything is. `high_watermark` None means: what the ISR has.
    """

    name: str
    replicas: tuple[BrokerId, ...]
    isr: tuple[BrokerId, ...]
    leader: BrokerId
    leader_epoch: LeaderEpoch = LeaderEpoch(0)
    partition_epoch: PartitionEpoch = PartitionEpoch(0)
    recovery: LeaderRecoveryState = LeaderRecoveryState.RECOVERED
    adding: tuple[BrokerId, ...] = ()
    removing: tuple[BrokerId, ...] = ()
    min_insync_replicas: int = 1
    unclean_leader_election: bool = False
    log: tuple[tuple[int, LeaderEpoch], ...] = ()
    logs: tuple[tuple[BrokerId, tuple[tuple[int, LeaderEpoch], ...]], ...] = ()
    flushed: Offset | None = None


class ConsumerSetup(msgspec.Struct, frozen=True, kw_only=True):
    """One consumer. It has read the committed records below `position`. `nearest` is the replica
    that a leader would send it to (KIP-392).
    """

    name: str
    partition: str
    position: Offset = Offset(0)
    reset: Reset = Reset.LATEST
    nearest: BrokerId = NO_LEADER
    read_committed: bool = False


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a run begins with."""

    features: Features
    brokers: tuple[BrokerSetup, ...]
    partitions: tuple[PartitionSetup, ...]
    next_offset: MetadataOffset | None = None
    timed: bool = False
    consumers: tuple[ConsumerSetup, ...] = ()
    auto_leader_rebalance: bool = False


def cluster_of(setup: Setup) -> Cluster:
    """The first cluster of a run: metadata replicated, roles played, nothing in flight."""
    return FIRST_CLUSTERS[RELEASES[setup.features.release].mode](setup)


def _in_kraft(setup: Setup) -> Cluster:
    brokers = tuple(sorted(setup.brokers, key=lambda b: b.id))
    controller = Controller(
        next_offset=_next_offset(setup),
        registrations=tuple(_registration(b) for b in brokers),
        partitions=tuple(_partition(p) for p in sorted(setup.partitions, key=lambda p: p.name)),
        heartbeats=tuple(_heartbeat(b, _next_offset(setup)) for b in brokers),
        auto_leader_rebalance=setup.auto_leader_rebalance,
    )
    controller = carried_over(controller, setup.features)
    if setup.timed:
        controller = plan(controller, setup.features, 0)
    update = image(controller)
    nodes = tuple(_broker(b, setup, update) for b in brokers)
    observed = tuple(_observed(p, controller, nodes) for p in controller.partitions)
    return Cluster(
        features=setup.features,
        controller=controller,
        brokers=nodes,
        observed=observed,
        timed=setup.timed,
        consumers=_consumers(setup, controller, observed),
    )


FIRST_CLUSTERS: dict[Mode, Callable[[Setup], Cluster]] = {Mode.KRAFT: _in_kraft}
"""How the cluster of each mode begins."""


def _consumers(
    setup: Setup, controller: Controller, observed: tuple[Observed, ...]
) -> tuple[Consumer, ...]:
    found = (_consumer(given, controller, observed) for given in setup.consumers)
    return tuple(sorted(found, key=lambda c: (c.name, c.partition)))


def _consumer(
    given: ConsumerSetup, controller: Controller, observed: tuple[Observed, ...]
) -> Consumer:
    """Below the high watermark a position has an epoch; beyond it, it is as after a seek."""
    committed = next(o.committed for o in observed if o.partition == given.partition)
    known = given.position <= committed.end
    read = up_to(committed, given.position) if known else EMPTY
    state = partition(controller.partitions, given.partition)
    led = state is not None and state.leader != NO_LEADER
    return Consumer(
        name=given.name,
        partition=given.partition,
        position=given.position,
        last_epoch=last_epoch(read),
        leader=state.leader if state is not None else NO_LEADER,
        leader_epoch=state.leader_epoch if state is not None and led else NO_LEADER_EPOCH,
        reset=given.reset,
        nearest=given.nearest,
        read_committed=given.read_committed,
        observed=read,
    )


def _next_offset(setup: Setup) -> MetadataOffset:
    if setup.next_offset is not None:
        return setup.next_offset
    return MetadataOffset(max((b.epoch for b in setup.brokers), default=0) + 10)


def _registration(given: BrokerSetup) -> Registration:
    return Registration(
        broker=given.id,
        epoch=given.epoch,
        incarnation=Incarnation(1),
        fenced=given.fenced,
        in_controlled_shutdown=given.in_controlled_shutdown,
        record_offset=MetadataOffset(given.epoch),
    )


def _heartbeat(given: BrokerSetup, next_offset: MetadataOffset) -> HeartbeatState:
    last = MetadataOffset(next_offset - 1)
    return HeartbeatState(given.id, fenced=given.fenced, metadata_offset=last)


def _partition(given: PartitionSetup) -> PartitionRegistration:
    return PartitionRegistration(
        name=given.name,
        replicas=given.replicas,
        isr=given.isr,
        leader=given.leader,
        leader_epoch=given.leader_epoch,
        partition_epoch=given.partition_epoch,
        recovery=given.recovery,
        adding=given.adding,
        removing=given.removing,
        min_insync_replicas=given.min_insync_replicas,
        unclean_leader_election=given.unclean_leader_election,
    )


def _broker(given: BrokerSetup, setup: Setup, update: MetadataUpdate) -> Broker:
    replicas = tuple(
        _durable(p, given.id)
        for p in sorted(setup.partitions, key=lambda p: p.name)
        if given.id in p.replicas
    )
    down = Broker(given.id, durable=Durable(replicas))
    if not given.up:
        return down
    ready = Volatile(
        lifecycle=Lifecycle.RECOVERY if given.fenced else Lifecycle.RUNNING,
        epoch=given.epoch,
        ready_to_unfence=not given.fenced,
        published=True,
    )
    clock = 0 if setup.timed else None
    running = replace(down, process=ready)
    node, _, _ = metadata_arrived(running, update, setup.features, clock)
    return node


def _durable(given: PartitionSetup, broker: BrokerId) -> DurableReplica:
    runs = dict(given.logs).get(broker, given.log)
    log = flush(_log(runs))
    if given.flushed is not None:
        log = Log(log.epochs, log.end, Offset(min(given.flushed, log.end)))
    shared = _committed_end(given)
    return DurableReplica(given.name, log, Offset(min(shared, log.end)))


def _log(runs: tuple[tuple[int, LeaderEpoch], ...]) -> Log:
    log = EMPTY
    for count, epoch in runs:
        log = append(log, epoch, count)
    return log


def _committed_end(given: PartitionSetup) -> Offset:
    """What every member of the ISR has is committed."""
    logs = dict(given.logs)
    ends = [_log(logs.get(m, given.log)).end for m in given.isr]
    return Offset(min(ends, default=0))


def _observed(
    state: PartitionRegistration, controller: Controller, nodes: tuple[Broker, ...]
) -> Observed:
    epochs = []
    for member in state.isr:
        found = registration(controller.registrations, member)
        epochs.append((member, found.epoch if found else BrokerEpoch(-1)))
    return Observed(state.name, _committed(state, nodes), tuple(epochs))


def _committed(state: PartitionRegistration, nodes: tuple[Broker, ...]) -> Log:
    """The leader's log up to its high watermark; of an offline partition, the last member's."""
    holder = state.leader if state.leader != NO_LEADER else next(iter(state.isr), NO_LEADER)
    node = next((n for n in nodes if n.id == holder), None)
    if node is None:
        return EMPTY
    found = next((r for r in node.durable.replicas if r.partition == state.name), None)
    if found is None:
        return EMPTY
    replica = replica_of(node, state.name)
    mark = replica.high_watermark if replica is not None else found.checkpoint
    return up_to(found.log, mark)
