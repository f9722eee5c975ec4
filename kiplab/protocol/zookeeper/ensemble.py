"""The ensemble: the whole state of ZooKeeper, as one node of the cluster.

It holds the znodes, the sessions, the watches and the zxid of its last transaction, and is
`Cluster.controller` in ZooKeeper mode. The leader and the registered brokers are read from its
znodes, not from the caches of controllers and brokers. The servers of an ensemble agree on every
transaction before they answer, so one state stands for all of them; only a session's id tells which
server opened it. `ensemble_writes` and `ensemble_sessions` change it, and have the reads too. A
read is cheap, and an unchanged ensemble is the same object.
"""

from bisect import bisect_left
from functools import lru_cache
from operator import attrgetter
from typing import ClassVar

import msgspec

from .. import ids
from ..registrations import PartitionRegistration, Registration, topic_of
from .znodes import (
    BROKER_IDS_PATH,
    CONTROLLER_EPOCH_PATH,
    CONTROLLER_PATH,
    ISR_CHANGES_PATH,
    ROOT,
    TOPIC_CONFIGS_PATH,
    TOPICS_PATH,
    BrokerZnode,
    ControllerEpochZnode,
    ControllerZnode,
    PartitionStateZnode,
    ReplicaAssignment,
    Stat,
    TopicConfigZnode,
    TopicZnode,
    WatchKind,
    Znode,
    parent_path,
    znode,
)

_PATH = attrgetter("path")
_SECTIONS = (BROKER_IDS_PATH, TOPICS_PATH, TOPIC_CONFIGS_PATH, ISR_CHANGES_PATH)


class ZooKeeperSession(msgspec.Struct, frozen=True, cache_hash=True):
    """That a process of a broker is connected: what its ephemeral znodes live and die with.

    `last_contact_ms` stays 0 in a run without a clock.
    """

    over: ClassVar[bool] = False
    """A session that is over is not there any more."""
    fenced: ClassVar[bool] = False
    """In ZooKeeper mode a broker is registered or it is not."""
    leaving: ClassVar[bool] = False
    """Who shuts down is known to the controller alone."""

    id: ids.SessionId
    owner: ids.BrokerId
    incarnation: ids.Incarnation
    last_contact_ms: ids.Milliseconds = 0

    @property
    def broker(self) -> ids.BrokerId:
        """Whose it is."""
        return self.owner


class Watch(msgspec.Struct, frozen=True, cache_hash=True):
    """A watch of a session; it fires once."""

    session: ids.SessionId
    path: str
    kind: WatchKind


class Ensemble(msgspec.Struct, frozen=True, cache_hash=True):
    """Znodes sorted by path, sessions by id, watches by path, kind and session."""

    zxid: ids.Zxid = ids.Zxid(0)
    """Of the last transaction, whether it did something or was refused."""
    znodes: tuple[Znode, ...] = (Znode(ROOT, None, Stat(ids.Zxid(0), ids.Zxid(0))),)
    sessions: tuple[ZooKeeperSession, ...] = ()
    watches: tuple[Watch, ...] = ()
    last_sessions: tuple[ids.SessionId, ...] = (ids.SessionId(0),)
    """The last id that each server gave out, by the server's number."""

    @property
    def next_offset(self) -> int:
        """The zxid of the next transaction."""
        return self.zxid + 1

    @property
    def controller_epoch(self) -> ids.ControllerEpoch:
        """The value of /controller_epoch; 0 before the first election."""
        znode = find(self, CONTROLLER_EPOCH_PATH)
        if znode is None or not isinstance(znode.data, ControllerEpochZnode):
            return ids.ControllerEpoch(0)
        return znode.data.epoch

    @property
    def registrations(self) -> tuple[Registration, ...]:
        """One for each znode below /brokers/ids."""
        return _registrations_of(self.znodes)

    @property
    def partitions(self) -> tuple[PartitionRegistration, ...]:
        """One for each partition that has a state."""
        return _partitions_of(self.znodes)


def empty_ensemble(servers: int = 1) -> Ensemble:
    """An ensemble whose servers have the numbers from 0 on, with the root alone.

    Source: DataTree (ZooKeeper 3.9.5), and SessionTrackerImpl.initializeNextSessionId (3.9.5) for
    the numbers of the servers; the time below them is left out.
    """
    root = Znode(ROOT, None, Stat(ids.Zxid(0), ids.Zxid(0)), children_created=0)
    return Ensemble(
        znodes=(root,),
        last_sessions=tuple(ids.SessionId(n * ids.SESSIONS_OF_A_SERVER) for n in range(servers)),
    )


def kafka_ensemble(servers: int = 1) -> Ensemble:
    """An ensemble with the persistent paths that Kafka needs before its first broker registers.

    Source: KafkaZkClient.createTopLevelPaths (3.5.0), as far as these rules read them.
    """
    stat = Stat(ids.Zxid(1), ids.Zxid(1))
    paths = {above for path in _SECTIONS for above in (path, parent_path(path))} - {ROOT}
    # Only ISR changes are sequential: elsewhere a count would tell states apart for nothing.
    below = [znode(p, None, stat, 0 if p == ISR_CHANGES_PATH else None) for p in sorted(paths)]
    empty = empty_ensemble(servers)
    root = Znode(ROOT, None, empty.znodes[0].stat)
    return msgspec.structs.replace(empty, zxid=ids.Zxid(1), znodes=(root, *below))


def find(ensemble: Ensemble, path: str) -> Znode | None:
    """The znode at `path`, or None. Source: DataTree.getNode (ZooKeeper 3.9.5)."""
    return at_path(ensemble.znodes, path)


def controller_named(ensemble: Ensemble) -> ids.BrokerId | None:
    """The broker that /controller names. Source: KafkaZkClient.getControllerId (2.1.1 to 3.4.1)."""
    znode = find(ensemble, CONTROLLER_PATH)
    if znode is None or not isinstance(znode.data, ControllerZnode):
        return None
    return znode.data.broker


def at_path(znodes: tuple[Znode, ...], path: str) -> Znode | None:
    """The one at `path` of these, sorted by path, or None. Source: stands for DataTree.nodes."""
    place = bisect_left(znodes, path, key=_PATH)
    return znodes[place] if place < len(znodes) and znodes[place].path == path else None


def below(znodes: tuple[Znode, ...], path: str) -> tuple[Znode, ...]:
    """The children of a znode, by path. Source: DataNode.getChildren (ZooKeeper 3.9.5)."""
    return tuple(z for z in znodes if parent_path(z.path) == path != z.path)


def session_of(ensemble: Ensemble, session: ids.SessionId) -> ZooKeeperSession | None:
    """An open session, or None. Source: SessionTrackerImpl.checkSession (ZooKeeper 3.9.5)."""
    return next((s for s in ensemble.sessions if s.id == session), None)


# --- what brokers and controllers read off the znodes -------------------------------------------


@lru_cache(maxsize=4096)
def _registrations_of(znodes: tuple[Znode, ...]) -> tuple[Registration, ...]:
    return _registered(tuple(z for z in znodes if isinstance(z.data, BrokerZnode)))


@lru_cache(maxsize=4096)
def _registered(brokers: tuple[Znode, ...]) -> tuple[Registration, ...]:
    """Asked again for the same brokers, it is the same object."""
    registrations = [
        Registration(
            broker=z.data.broker,
            epoch=ids.BrokerEpoch(z.stat.czxid),
            incarnation=z.data.incarnation,
            fenced=False,
        )
        for z in brokers
        if isinstance(z.data, BrokerZnode)
    ]
    return tuple(sorted(registrations, key=lambda r: r.broker))


_ABOUT_PARTITIONS = (PartitionStateZnode, TopicZnode, TopicConfigZnode)


@lru_cache(maxsize=4096)
def _partitions_of(znodes: tuple[Znode, ...]) -> tuple[PartitionRegistration, ...]:
    return _partitioned(tuple(z for z in znodes if isinstance(z.data, _ABOUT_PARTITIONS)))


@lru_cache(maxsize=4096)
def _partitioned(znodes: tuple[Znode, ...]) -> tuple[PartitionRegistration, ...]:
    """Asked again for the same znodes, it is the same object."""
    assigned = {
        a.partition: a for z in znodes if isinstance(z.data, TopicZnode) for a in z.data.assignments
    }
    configs = {z.data.topic: z.data for z in znodes if isinstance(z.data, TopicConfigZnode)}
    partitions = []
    for state in znodes:
        data = state.data
        if isinstance(data, PartitionStateZnode) and data.partition in assigned:
            topic = topic_of(data.partition)
            config = configs.get(topic, TopicConfigZnode(topic))
            partitions.append(_partition_from(data, state.stat, assigned[data.partition], config))
    return tuple(sorted(partitions, key=lambda p: p.name))


def _partition_from(
    data: PartitionStateZnode, stat: Stat, assigned: ReplicaAssignment, config: TopicConfigZnode
) -> PartitionRegistration:
    return PartitionRegistration(
        name=data.partition,
        replicas=assigned.replicas,
        isr=data.isr,
        leader=data.leader,
        leader_epoch=data.leader_epoch,
        partition_epoch=stat.version,
        recovery=data.recovery,
        adding=assigned.adding,
        removing=assigned.removing,
        min_insync_replicas=config.min_insync_replicas,
        unclean_leader_election=config.unclean_leader_election,
    )
