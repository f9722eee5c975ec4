"""The state of a broker: the part that survives a crash, and the part that dies with the process.

`Durable` is logs and checkpoints. `Volatile` is one process: its epoch, its image of the metadata,
the roles of its replicas, its requests to the controller, its timers. A leader keeps more
(`Leading`): the start of its epoch, the ISR, and the state of each follower. The rules of this
package take a Broker and return one: the same object if nothing changed.

A process has a few timers under every control plane: the check for followers that lag, the
checkpoint of high watermarks, the operating system's flush, the fetchers, the pause before a
request is sent again. In a timed run each has the time at which it is due next. Without a clock all
of them are 0, so that equal situations are equal states, and a move makes a round.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from .. import ids
from ..log import EMPTY, Log
from ..messages import AlterPartitionItem, MembershipState, MetadataUpdate
from ..registrations import ONE_DIRECTORY, LeaderRecoveryState

UNKNOWN_OFFSET = ids.Offset(-1)


class Loss(StrEnum):
    """The loss in a crash."""

    NOTHING = "nothing"
    """The process died; the operating system still has the page cache."""
    UNFLUSHED = "unflushed"
    """The machine lost power: records that were not flushed are gone."""
    DISK = "disk"
    """The disk was replaced."""


class DurableReplica(msgspec.Struct, frozen=True, cache_hash=True):
    """A log and the checkpointed high watermark (replication-offset-checkpoint)."""

    partition: ids.PartitionName
    log: Log = EMPTY
    checkpoint: ids.Offset = ids.Offset(0)
    directory: ids.Count = ONE_DIRECTORY[0]
    """The log directory that it is in."""


class Durable(msgspec.Struct, frozen=True, cache_hash=True):
    """The state that a broker reads when it starts again: replicas sorted by partition.

    `clean_epoch` is in the file .kafka_cleanshutdown: the broker epoch of a process that stopped in
    order. It is -1 while one runs, after a crash, and where no cluster asks for it. Kafka has such
    a file in each log directory; the `directories` that are configured have the same one.
    """

    replicas: tuple[DurableReplica, ...] = ()
    clean_epoch: ids.BrokerEpoch = ids.NO_BROKER_EPOCH
    directories: tuple[ids.Count, ...] = ONE_DIRECTORY


NEVER_MS = -1_000_000_000
"""Kafka has 0 there, the year 1970; here a run begins at 0."""


class RemoteReplica(msgspec.Struct, frozen=True, cache_hash=True):
    """A follower as its leader sees it (kafka.cluster.Replica). Times are 0 without a clock, and
    NEVER_MS with one for what has not happened.

    `epoch` is the broker epoch of the last fetch: None before any, -1 when the fetch had none.
    """

    broker: ids.BrokerId
    end: ids.Offset = UNKNOWN_OFFSET
    leader_end_at_last_fetch: ids.Offset = ids.Offset(0)
    last_fetch_ms: ids.Milliseconds = 0
    last_caught_up_ms: ids.Milliseconds = 0
    epoch: ids.BrokerEpoch | None = None
    observed: ids.BrokerEpoch = ids.NO_BROKER_EPOCH


class IsrState(msgspec.Struct, frozen=True, cache_hash=True):
    """CommittedPartitionState, PendingExpandIsr or PendingShrinkIsr: `sent` is None when committed.

    `isr` and `recovery` are always the committed ones; what a pending change proposes, RECOVERED
    with it, is in the item that was sent.
    """

    isr: tuple[ids.BrokerId, ...]
    sent: AlterPartitionItem | None = None
    recovery: LeaderRecoveryState = LeaderRecoveryState.RECOVERED

    @property
    def committed(self) -> IsrState:
        """The state to go back to when the pending change is given up."""
        return IsrState(self.isr, recovery=self.recovery)

    @property
    def proposed(self) -> tuple[ids.BrokerId, ...]:
        """The ISR asked for, or the committed one when nothing is."""
        return self.isr if self.sent is None else self.sent.members

    @property
    def maximal(self) -> tuple[ids.BrokerId, ...]:
        """The larger of the two sets: a record is committed when all of these have it."""
        return (*self.isr, *(b for b in self.proposed if b not in self.isr))


class Leading(msgspec.Struct, frozen=True, cache_hash=True):
    """The state that only the leader of a partition keeps."""

    start_offset: ids.Offset
    """The start of the current leader epoch in the leader's log."""
    isr_state: IsrState
    remotes: tuple[RemoteReplica, ...]
    controller_epoch: ids.ControllerEpoch | None = None
    """Of the controller that made this one leader: written to ZooKeeper. None in KRaft."""


class Replica(msgspec.Struct, frozen=True, cache_hash=True):
    """A partition as one broker process plays it; `leading` is None on a follower."""

    partition: ids.PartitionName
    leader: ids.BrokerId
    leader_epoch: ids.LeaderEpoch
    partition_epoch: ids.PartitionEpoch
    replicas: tuple[ids.BrokerId, ...]
    high_watermark: ids.Offset = ids.Offset(0)
    min_insync_replicas: ids.Count = 1
    leading: Leading | None = None


class Lifecycle(StrEnum):
    """BrokerState of a process."""

    STARTING = "STARTING"
    RECOVERY = "RECOVERY"
    RUNNING = "RUNNING"
    PENDING_CONTROLLED_SHUTDOWN = "PENDING_CONTROLLED_SHUTDOWN"


class Timers(msgspec.Struct, frozen=True, cache_hash=True):
    """The next due time of each periodic task, in milliseconds; all 0 without a clock."""

    heartbeat: ids.Milliseconds = 0
    fetch: ids.Milliseconds = 0
    lag_check: ids.Milliseconds = 0
    retry: ids.Milliseconds = 0
    checkpoint: ids.Milliseconds = 0
    flush: ids.Milliseconds = 0
    announce_isr: ids.Milliseconds = 0


class Volatile(msgspec.Struct, frozen=True, cache_hash=True):
    """One broker process: gone when it crashes.

    `items` are the ISR changes handed to the AlterPartition manager and not answered yet,
    `in_flight` those of them that are on their way. `published` says whether the process has
    replicated the metadata up to its own registration; before that it plays no replica.

    `controller` is the node that this process takes for the controller, and None while it knows
    of none; in KRaft that is always CONTROLLER. A mode whose controllers live on brokers keeps one
    in `control_plane`, with whatever it has queued for others and not sent; and `controller_epoch`
    is then the highest that this process has heard of. These two are None in KRaft, and so are
    `session` (the one with ZooKeeper) and whatever comes after it.
    """

    lifecycle: Lifecycle = Lifecycle.STARTING
    epoch: ids.BrokerEpoch = ids.NO_BROKER_EPOCH
    previous_epoch: ids.BrokerEpoch = ids.NO_BROKER_EPOCH
    """Of the last process, if it stopped in order; until this one is registered."""
    ready_to_unfence: bool = False
    image: MetadataUpdate | None = None
    published: bool = False
    replicas: tuple[Replica, ...] = ()
    items: tuple[AlterPartitionItem, ...] = ()
    in_flight: tuple[AlterPartitionItem, ...] = ()
    timers: Timers = Timers()
    controller: ids.BrokerId | None = ids.CONTROLLER
    controller_epoch: ids.ControllerEpoch | None = None
    control_plane: msgspec.Struct | None = None
    session: ids.SessionId | None = None
    checkpoints: bool = True
    """Whether high watermarks are checkpointed: with ZooKeeper from the first LeaderAndIsr on."""
    stopped: tuple[ids.PartitionName, ...] = ()
    """Followed partitions whose fetcher a StopReplica has stopped, sorted: the replica stays."""
    shutdown_tries: ids.Count = 0
    """The number of this process's ControlledShutdown requests to a controller on a broker."""
    isr_changes: tuple[ids.PartitionName, ...] = ()
    """Partitions whose ISR this process has written to ZooKeeper and not announced yet, sorted."""
    state: MembershipState | None = None
    """With MetadataHeartbeats (KIP-343), the last answered or self-chosen state; else None."""


class Broker(msgspec.Struct, frozen=True, cache_hash=True):
    """A broker: `incarnation` counts its processes; `process` is None while it is down."""

    id: ids.BrokerId
    incarnation: ids.Incarnation = ids.Incarnation(1)
    durable: Durable = Durable()
    process: Volatile | None = None

    @property
    def up(self) -> bool:
        """Whether a process runs."""
        return self.process is not None


def log_of(broker: Broker, partition: str) -> Log:
    """The replica's log, empty if there is none. Source: LogManager.getLog (3.5.0)."""
    for replica in broker.durable.replicas:
        if replica.partition == partition:
            return replica.log
    return EMPTY


def replica_of(broker: Broker, partition: str) -> Replica | None:
    """The process's replica, or None. Source: ReplicaManager.onlinePartition (3.5.0)."""
    if broker.process is None:
        return None
    for replica in broker.process.replicas:
        if replica.partition == partition:
            return replica
    return None


LAG_CHECK_MS = 15_000
"""Half of replica.lag.time.max.ms."""
CHECKPOINT_MS = 5_000
"""replica.high.watermark.checkpoint.interval.ms"""
FLUSH_MS = 30_000
"""The default time for dirty pages in a Linux page cache; Kafka itself does not force it."""


def first_timers(now_ms: int | None) -> Timers:
    """The times of the first rounds of a process that starts now; all 0 without a clock.

    Source: ReplicaManager.startup and startHighWatermarkCheckPointThread (3.5.0).
    """
    if now_ms is None:
        return Timers()
    return Timers(
        fetch=now_ms,
        lag_check=now_ms + LAG_CHECK_MS,
        retry=now_ms,
        checkpoint=now_ms + CHECKPOINT_MS,
        flush=now_ms + FLUSH_MS,
    )
