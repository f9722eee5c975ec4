"""What a run begins with, and what of it the first cluster of every mode has."""

import msgspec

from ..protocol import ids, registrations
from ..protocol.clients.consumer import Consumer, Reset
from ..protocol.features import Features
from ..protocol.log import EMPTY, Log, append, flush, last_epoch, up_to
from ..protocol.replica.broker_state import Broker, Durable, DurableReplica, replica_of
from .cluster import Observed
from .truth import Truth


class BrokerSetup(msgspec.Struct, frozen=True, kw_only=True):
    """One registered broker; `up` says whether its process runs."""

    id: ids.BrokerId
    epoch: ids.BrokerEpoch
    fenced: bool = False
    in_controlled_shutdown: bool = False
    up: bool = True


class PartitionSetup(msgspec.Struct, frozen=True, kw_only=True):
    """One partition. `log` is what every replica has, but for those that `logs` names.

    `log` is (records, leader epoch) pairs in order; `flushed` the first offset not on disk, None
    when everything is. `high_watermark` None means: what the ISR has.
    """

    name: str
    replicas: tuple[ids.BrokerId, ...]
    isr: tuple[ids.BrokerId, ...]
    leader: ids.BrokerId
    leader_epoch: ids.LeaderEpoch = ids.LeaderEpoch(0)
    partition_epoch: ids.PartitionEpoch = ids.PartitionEpoch(0)
    recovery: registrations.LeaderRecoveryState = registrations.LeaderRecoveryState.RECOVERED
    adding: tuple[ids.BrokerId, ...] = ()
    removing: tuple[ids.BrokerId, ...] = ()
    min_insync_replicas: int = 1
    unclean_leader_election: bool = False
    log: tuple[tuple[int, ids.LeaderEpoch], ...] = ()
    logs: tuple[tuple[ids.BrokerId, tuple[tuple[int, ids.LeaderEpoch], ...]], ...] = ()
    flushed: ids.Offset | None = None


class ConsumerSetup(msgspec.Struct, frozen=True, kw_only=True):
    """One consumer. It has read the committed records below `position`. `nearest` is the replica
    that a leader would send it to (KIP-392).
    """

    name: str
    partition: str
    position: ids.Offset = ids.Offset(0)
    reset: Reset = Reset.LATEST
    nearest: ids.BrokerId = ids.NO_LEADER
    read_committed: bool = False


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a run begins with."""

    features: Features
    brokers: tuple[BrokerSetup, ...]
    partitions: tuple[PartitionSetup, ...]
    next_offset: ids.MetadataOffset | None = None
    timed: bool = False
    consumers: tuple[ConsumerSetup, ...] = ()
    auto_leader_rebalance: bool = False
    controller: ids.BrokerId | None = None
    """With ZooKeeper, the broker that is the controller; None: the first one that is up."""
    controller_epoch: ids.ControllerEpoch = ids.ControllerEpoch(1)
    zookeeper_servers: int = 1


# --- logs on disk, what was committed, consumers --------------------------------------------------


def first_disk(setup: Setup, broker: ids.BrokerId) -> Durable:
    """The logs that a broker has on its disk, sorted by partition."""
    partitions = sorted(setup.partitions, key=lambda p: p.name)
    return Durable(tuple(_durable(p, broker) for p in partitions if broker in p.replicas))


def first_consumers(
    setup: Setup, truth: Truth, observed: tuple[Observed, ...]
) -> tuple[Consumer, ...]:
    consumers = (_consumer(consumer, truth, observed) for consumer in setup.consumers)
    return tuple(sorted(consumers, key=lambda c: (c.name, c.partition)))


def _consumer(setup: ConsumerSetup, truth: Truth, observed: tuple[Observed, ...]) -> Consumer:
    """Below the high watermark a position has an epoch; beyond it, it is as after a seek."""
    committed = next(o.committed for o in observed if o.partition == setup.partition)
    known = setup.position <= committed.end
    read = up_to(committed, setup.position) if known else EMPTY
    state = registrations.partition(truth.partitions, setup.partition)
    led = state is not None and state.leader != ids.NO_LEADER
    return Consumer(
        name=setup.name,
        partition=setup.partition,
        position=setup.position,
        last_epoch=last_epoch(read),
        leader=state.leader if state is not None else ids.NO_LEADER,
        leader_epoch=state.leader_epoch if state is not None and led else ids.NO_LEADER_EPOCH,
        reset=setup.reset,
        nearest=setup.nearest,
        read_committed=setup.read_committed,
        observed=read,
    )


def first_free_offset(setup: Setup) -> ids.MetadataOffset:
    if setup.next_offset is not None:
        return setup.next_offset
    return ids.MetadataOffset(max((b.epoch for b in setup.brokers), default=0) + 10)


def _durable(setup: PartitionSetup, broker: ids.BrokerId) -> DurableReplica:
    runs = dict(setup.logs).get(broker, setup.log)
    log = flush(_log(runs))
    if setup.flushed is not None:
        log = Log(log.epochs, log.end, ids.Offset(min(setup.flushed, log.end)))
    shared = _committed_end(setup)
    return DurableReplica(setup.name, log, ids.Offset(min(shared, log.end)))


def _log(runs: tuple[tuple[int, ids.LeaderEpoch], ...]) -> Log:
    log = EMPTY
    for count, epoch in runs:
        log = append(log, epoch, count)
    return log


def _committed_end(setup: PartitionSetup) -> ids.Offset:
    """What every member of the ISR has is committed."""
    logs = dict(setup.logs)
    ends = [_log(logs.get(m, setup.log)).end for m in setup.isr]
    return ids.Offset(min(ends, default=0))


def first_observed(
    state: registrations.PartitionRegistration, truth: Truth, nodes: tuple[Broker, ...]
) -> Observed:
    epochs = []
    for member in state.isr:
        found = registrations.registration(truth.registrations, member)
        epochs.append((member, found.epoch if found else ids.BrokerEpoch(-1)))
    return Observed(state.name, _committed(state, nodes), tuple(epochs))


def _committed(state: registrations.PartitionRegistration, nodes: tuple[Broker, ...]) -> Log:
    """The leader's log up to its high watermark; of an offline partition, the last member's."""
    holder = state.leader if state.leader != ids.NO_LEADER else next(iter(state.isr), ids.NO_LEADER)
    node = next((n for n in nodes if n.id == holder), None)
    if node is None:
        return EMPTY
    kept = next((r for r in node.durable.replicas if r.partition == state.name), None)
    if kept is None:
        return EMPTY
    replica = replica_of(node, state.name)
    return up_to(kept.log, kept.checkpoint if replica is None else replica.high_watermark)
