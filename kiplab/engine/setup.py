"""The situation at the start of a run: registered brokers, partitions, logs.

With ZooKeeper this file makes the znodes, sessions and logs. The rules themselves then elect the
controller and deliver its requests to the brokers; so caches, watches and roles are those of a
cluster that has come up and is at rest.
"""

from collections.abc import Callable, Iterator
from operator import attrgetter

import msgspec
from msgspec.structs import replace

from ..protocol import ids, registrations, releases
from ..protocol.clients.consumer import Consumer, Reset
from ..protocol.features import Features
from ..protocol.kip343.broker_with_heartbeats import control_plane, first_state
from ..protocol.kraft import broker_lifecycle, elections, replay
from ..protocol.kraft.controller_state import Controller, HeartbeatState
from ..protocol.kraft.sessions import carried_over
from ..protocol.log import EMPTY, Log, append, flush, last_epoch, up_to
from ..protocol.messages import MembershipState, MetadataUpdate
from ..protocol.registrations import PartitionRegistration, Registration, directory_of
from ..protocol.replica import broker_state
from ..protocol.replica.broker_state import Broker, Lifecycle
from ..protocol.zookeeper import broker_in_zookeeper, controller_election, znodes
from ..protocol.zookeeper.ensemble import Ensemble, kafka_ensemble
from ..protocol.zookeeper.ensemble_sessions import open_session
from . import channels
from .cluster import Cluster, Observed
from .enabled import deliver_all
from .nodes import ensemble_of, state_of, with_state
from .truth import Truth, truth


class BrokerSetup(msgspec.Struct, frozen=True, kw_only=True):
    """One registered broker; `up` says whether its process runs."""

    id: ids.BrokerId
    epoch: ids.BrokerEpoch
    fenced: bool = False
    in_controlled_shutdown: bool = False
    up: bool = True
    log_dirs: tuple[ids.Count, ...] = registrations.ONE_DIRECTORY


LogRuns = tuple[tuple[int, ids.LeaderEpoch], ...]
"""The content of a log: (records, leader epoch) pairs in order."""


class PartitionSetup(PartitionRegistration, frozen=True, kw_only=True):
    """One partition. `log` is what every replica has, but for those that `logs` names.

    `directories` are where the logs are, which the metadata does not say before 3.7-IV2. `flushed`
    is the first offset not on disk, None when everything is.
    """

    log: LogRuns = ()
    logs: tuple[tuple[ids.BrokerId, LogRuns], ...] = ()
    flushed: ids.Offset | None = None


class ConsumerSetup(msgspec.Struct, frozen=True, kw_only=True):
    """One consumer, which has read up to `position`. `nearest` is the replica near it (KIP-392)."""

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
    static_min_insync_replicas: ids.Count = ids.Count(1)
    """The controller's."""
    topics_with_min_insync: tuple[str, ...] = ()
    controller: ids.BrokerId | None = None
    """With ZooKeeper, the broker that is the controller; None: the first one that is up."""
    controller_epoch: ids.ControllerEpoch = ids.ControllerEpoch(1)
    zookeeper_servers: int = 1


def cluster_of(setup: Setup) -> Cluster:
    """The first cluster of a run: metadata replicated, roles played, nothing in flight."""
    return FIRST_CLUSTERS[releases.RELEASES[setup.features.release].mode](setup)


def _in_kraft(setup: Setup) -> Cluster:
    brokers, has_elr = sorted(setup.brokers, key=attrgetter("id")), setup.features.has_elr
    next_offset = _first_free_offset(setup)
    last = ids.MetadataOffset(next_offset - 1)
    controller = Controller(
        next_offset=next_offset,
        registrations=tuple(_registration(b, setup.features) for b in brokers),
        partitions=tuple(
            _partition(p, setup.features) for p in sorted(setup.partitions, key=attrgetter("name"))
        ),
        heartbeats=tuple(
            HeartbeatState(b.id, fenced=b.fenced, metadata_offset=last) for b in brokers
        ),
        auto_leader_rebalance=setup.auto_leader_rebalance,
        static_min_insync_replicas=setup.static_min_insync_replicas,
        cluster_min_insync_replicas=setup.static_min_insync_replicas if has_elr else None,
        topics_with_min_insync=setup.topics_with_min_insync,
    )
    controller = carried_over(controller, setup.features)
    if setup.timed:
        controller = elections.plan(controller, setup.features, 0)
    update = replay.image(controller)
    nodes = tuple(_broker(b, setup, update) for b in brokers)
    begun = Cluster(
        features=setup.features, controller=controller, brokers=nodes, timed=setup.timed
    )
    return _with_observer(begun, setup)


def _registration(setup: BrokerSetup, features: Features) -> Registration:
    one = registrations.ONE_DIRECTORY
    return Registration(
        broker=setup.id,
        epoch=setup.epoch,
        incarnation=ids.Incarnation(1),
        fenced=setup.fenced,
        in_controlled_shutdown=setup.in_controlled_shutdown,
        record_offset=ids.MetadataOffset(setup.epoch),
        log_dirs=setup.log_dirs if features.assigns_directories() else one,
    )


def _partition(setup: PartitionSetup, features: Features) -> PartitionRegistration:
    fields = PartitionRegistration.__struct_fields__
    state = PartitionRegistration(**{field: getattr(setup, field) for field in fields})
    return state if features.assigns_directories() else replace(state, directories=())


def _broker(broker_setup: BrokerSetup, setup: Setup, update: MetadataUpdate) -> Broker:
    down = Broker(broker_setup.id, durable=_first_disk(setup, broker_setup.id))
    if not broker_setup.up:
        return down
    ready = broker_state.Volatile(
        lifecycle=Lifecycle.RECOVERY if broker_setup.fenced else Lifecycle.RUNNING,
        epoch=broker_setup.epoch,
        ready_to_unfence=not broker_setup.fenced,
        published=True,
    )
    clock = 0 if setup.timed else None
    running = replace(down, process=ready)
    node, _, _ = broker_lifecycle.metadata_arrived(running, update, setup.features, clock)
    return node


_FIRST = ids.Incarnation(1)
_STAT = znodes.Stat(ids.Zxid(1), ids.Zxid(1))


def first_with_zookeeper(setup: Setup) -> Cluster:
    """Brokers registered under the epochs given, partitions as given, a broker elected."""
    setups = tuple(sorted(setup.brokers, key=attrgetter("id")))
    ensemble, sessions = _with_sessions(setup, setups)
    ensemble = _with_znodes(ensemble, _znodes(setup, setups, sessions))
    ensemble = replace(ensemble, zxid=ids.Zxid(max([ensemble.zxid, *(b.epoch for b in setups)])))
    brokers = tuple(_broker_with_session(b, setup, sessions.get(b.id)) for b in setups)
    cluster = Cluster(features=setup.features, controller=ensemble, brokers=brokers)
    # Who tries to become the controller: the first of them with success.
    for id in sorted((b.id for b in setups if b.up), key=lambda id: id != setup.controller):
        cluster = _elected(cluster, id)
    cluster, _ = channels.threads_go_on(cluster, [], lambda world, _: (world, []))
    cluster = deliver_all(cluster)
    # Message names begin anew, and the next transaction has the number that was asked for.
    last = ids.Zxid(max(ensemble_of(cluster).zxid, _first_free_offset(setup) - 1))
    ensemble = replace(ensemble_of(cluster), zxid=last)
    return _with_observer(replace(cluster, controller=ensemble, sent=(), broken=()), setup)


def _elected(cluster: Cluster, id: ids.BrokerId) -> Cluster:
    address, process = ids.controller_on(id), state_of(cluster, id).process
    plane, ensemble = process.control_plane, ensemble_of(cluster)
    done = controller_election.elect(plane, ensemble, process.session, cluster.features)
    cluster = with_state(with_state(cluster, ids.ZOOKEEPER, done.ensemble), address, done.node)
    cluster, _ = channels.post(cluster, address, done.sends)
    return channels.post(cluster, ids.ZOOKEEPER, done.fired)[0]


def _with_sessions(
    setup: Setup, setups: tuple[BrokerSetup, ...]
) -> tuple[Ensemble, dict[ids.BrokerId, ids.SessionId]]:
    ensemble = kafka_ensemble(setup.zookeeper_servers)
    sessions = {}
    for broker in setups:
        if broker.up:
            ensemble, sessions[broker.id] = open_session(ensemble, broker.id, _FIRST)
    return ensemble, sessions


def _with_znodes(ensemble: Ensemble, added: Iterator[znodes.Znode]) -> Ensemble:
    """With these and whatever is above them."""
    by_path = {z.path: z for z in ensemble.znodes}
    for new in added:
        path = znodes.parent_path(new.path)
        while path not in by_path:
            by_path[path] = znodes.znode(path, None, znodes.Stat(new.stat.czxid, new.stat.czxid))
            path = znodes.parent_path(path)
        by_path[new.path] = new
    return replace(ensemble, znodes=tuple(by_path[path] for path in sorted(by_path)))


def _znodes(
    setup: Setup, setups: tuple[BrokerSetup, ...], sessions: dict[ids.BrokerId, ids.SessionId]
) -> Iterator[znodes.Znode]:
    # What the election to come writes over.
    epoch = ids.ControllerEpoch(setup.controller_epoch - 1)
    before = replace(_STAT, version=ids.PartitionEpoch(epoch))
    yield znodes.znode(znodes.CONTROLLER_EPOCH_PATH, znodes.ControllerEpochZnode(epoch), before)
    for broker in (b for b in setups if b.up):
        epoch_of = ids.Zxid(broker.epoch)
        # KIP-380, Broker generation: the second operation of the multi writes the data.
        version = ids.PartitionEpoch(1 if setup.features.code_of(broker.id) >= (2, 2) else 0)
        stat = znodes.Stat(epoch_of, epoch_of, version, sessions[broker.id])
        info_version = broker_in_zookeeper.broker_info_version(broker.id, setup.features)
        data = znodes.BrokerZnode(broker.id, _FIRST, info_version)
        yield znodes.znode(znodes.broker_path(broker.id), data, stat)
    topics = {p: registrations.topic_of(p.name) for p in setup.partitions}
    for topic in dict.fromkeys(topics.values()):
        yield from _topic(topic, [p for p in setup.partitions if topics[p] == topic])
    for partition in setup.partitions:
        state = znodes.PartitionStateZnode.of(partition, setup.controller_epoch)
        stat = replace(_STAT, version=partition.partition_epoch)
        yield znodes.znode(znodes.partition_state_path(partition.name), state, stat)


def _topic(topic: str, partitions: list[PartitionSetup]) -> Iterator[znodes.Znode]:
    assigned = tuple(
        znodes.ReplicaAssignment(p.name, p.replicas, p.adding, p.removing)
        for p in sorted(partitions, key=attrgetter("name"))
    )
    yield znodes.znode(znodes.topic_path(topic), znodes.TopicZnode(topic, assigned), _STAT)
    least, unclean = partitions[0].min_insync_replicas, partitions[0].unclean_leader_election
    config = znodes.TopicConfigZnode(topic, least, unclean)
    yield znodes.znode(znodes.topic_config_path(topic), config, _STAT)


def _broker_with_session(
    broker_setup: BrokerSetup, setup: Setup, session: ids.SessionId | None
) -> Broker:
    id = broker_setup.id
    down = Broker(id, durable=_first_disk(setup, id))
    if session is None:
        return down
    process = broker_state.Volatile(
        lifecycle=Lifecycle.RUNNING,
        epoch=_generation(broker_setup, setup, session),
        ready_to_unfence=True,
        published=True,
        controller=None,
        controller_epoch=None,
        control_plane=control_plane(id, setup.features),
        state=None if first_state(id, setup.features) is None else MembershipState.ACTIVE,
        session=session,
        checkpoints=False,
    )
    return replace(down, process=process)


def _generation(broker: BrokerSetup, setup: Setup, session: ids.SessionId) -> ids.BrokerEpoch:
    """What the process took for its generation when it registered."""
    if setup.features.code_of(broker.id) < (2, 2):
        return ids.NO_BROKER_EPOCH
    # KIP-380, Rejected Alternatives: the session's id in place of the czxid.
    by_session = "380.session-id" in setup.features.active(broker.id)
    return ids.BrokerEpoch(session) if by_session else broker.epoch


FIRST_CLUSTERS: dict[releases.Mode, Callable[[Setup], Cluster]] = {
    releases.Mode.KRAFT: _in_kraft,
    releases.Mode.ZOOKEEPER: first_with_zookeeper,
}
"""The first cluster of each mode."""


# --- logs on disk, what was committed, consumers --------------------------------------------------


def _first_disk(setup: Setup, broker: ids.BrokerId) -> broker_state.Durable:
    partitions = sorted(setup.partitions, key=lambda p: p.name)
    (directories,) = (b.log_dirs for b in setup.brokers if b.id == broker)
    return broker_state.Durable(
        tuple(_durable(p, broker) for p in partitions if broker in p.replicas),
        directories=directories,
    )


def _with_observer(cluster: Cluster, setup: Setup) -> Cluster:
    metadata = truth(cluster)
    epochs = {r.broker: r.epoch for r in metadata.registrations}
    observed = tuple(
        Observed(
            *(p.name, _committed(p, cluster.brokers)),
            tuple((member, epochs.get(member, ids.NO_BROKER_EPOCH)) for member in p.isr),
        )
        for p in metadata.partitions
    )
    consumers = [_consumer(consumer, metadata, observed) for consumer in setup.consumers]
    consumers.sort(key=attrgetter("name", "partition"))
    return replace(cluster, observed=observed, consumers=tuple(consumers))


def _consumer(setup: ConsumerSetup, metadata: Truth, observed: tuple[Observed, ...]) -> Consumer:
    """Below the high watermark a position has an epoch; beyond it, it is as after a seek."""
    committed = next(o.committed for o in observed if o.partition == setup.partition)
    known = setup.position <= committed.end
    read = up_to(committed, setup.position) if known else EMPTY
    state = registrations.partition(metadata.partitions, setup.partition)
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


def _first_free_offset(setup: Setup) -> ids.MetadataOffset:
    if setup.next_offset is not None:
        return setup.next_offset
    return ids.MetadataOffset(max((b.epoch for b in setup.brokers), default=0) + 10)


def _durable(setup: PartitionSetup, broker: ids.BrokerId) -> broker_state.DurableReplica:
    runs = dict(setup.logs).get(broker, setup.log)
    log = flush(_log(runs))
    if setup.flushed is not None:
        log = Log(log.epochs, log.end, ids.Offset(min(setup.flushed, log.end)))
    # What every member of ISR and ELR has is committed.
    logs = [dict(setup.logs).get(m, setup.log) for m in (*setup.isr, *setup.elr)]
    shared = ids.Offset(min((_log(runs).end for runs in logs), default=0))
    checkpoint, directory = ids.Offset(min(shared, log.end)), directory_of(setup, broker)
    return broker_state.DurableReplica(setup.name, log, checkpoint, directory)


def _log(runs: LogRuns) -> Log:
    log = EMPTY
    for count, epoch in runs:
        log = append(log, epoch, count)
    return log


def _committed(state: PartitionRegistration, nodes: tuple[Broker, ...]) -> Log:
    """The leader's log up to its high watermark; of an offline partition, the last member's."""
    members = [m for m in (state.leader, *state.isr, *state.elr) if m != ids.NO_LEADER]
    holder = next(iter(members), ids.NO_LEADER)
    node = next((n for n in nodes if n.id == holder), None)
    kept = [r for r in node.durable.replicas if r.partition == state.name] if node else []
    if node is None or not kept:
        return EMPTY
    replica = broker_state.replica_of(node, state.name)
    return up_to(kept[0].log, kept[0].checkpoint if replica is None else replica.high_watermark)
