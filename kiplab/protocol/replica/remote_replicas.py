"""A leader's state of its followers, and which of them have recently been caught up with it.

The input is a leader's state and the id of a follower. An unknown follower has an unknown log end,
which no check takes for caught up. With a clock a follower is caught up if it was so within
replica.lag.time.max.ms; without one it has to be caught up now. The output is the follower as the
leader knows it, and the replica with another follower in place of the one of the same broker: the
same object where nothing is new.

The followers that a leader may propose for the ISR, however far they have come. By the leader's
metadata four things are judged, each if its guard is on: whether the follower is there at all,
whether it is fenced, whether it is shutting down, and whether its last fetch and the metadata name
one broker epoch. The output is the guard that bars it, with the comparison, or None; the controller
judges again by its own state.

The high watermark: the boundary of the committed records.

The input is a leader whose knowledge of the logs has changed, by a fetch, an append or another ISR.
All records are committed that lie below the lowest end among the leader, the larger of the
committed and the proposed ISR, and the followers that have caught up and are about to join. A
partition with fewer members in sync than min.insync.replicas may be left as it is (KIP-966). The
output is the replica with its new high watermark, and the fact that it moved. It never goes back;
where it stays the replica is the same object.
"""

from msgspec.structs import replace

from ..facts import Compared, HighWatermarkMoved
from ..ids import BrokerId, Offset, is_of_another_incarnation
from ..log import Log
from ..registrations import registration
from .broker_parts import Here, ReplicaEffect
from .broker_state import NEVER_MS, Leading, RemoteReplica, Replica

LAG_TIME_MAX_MS = 30_000
"""replica.lag.time.max.ms"""


def leading_of(replica: Replica) -> Leading:
    """The leader's state; a rule of the leader runs only where there is one.

    Source: none; it stands for the state of a kafka.cluster.Partition that leads.
    """
    assert replica.leading is not None, f"{replica.partition} is not led here"
    return replica.leading


def remote_of(leading: Leading, broker: BrokerId) -> RemoteReplica:
    """The state of a follower: if it is unknown, no log end, and no time at which it had caught
    up.

    Source: Partition.getReplica (3.5.0).
    """
    for remote in leading.remotes:
        if remote.broker == broker:
            return remote
    return RemoteReplica(broker, last_fetch_ms=NEVER_MS, last_caught_up_ms=NEVER_MS)


def with_remote(replica: Replica, leading: Leading, noted: RemoteReplica) -> Replica:
    """`replica` with another state of one of its followers; itself if nothing is new.

    Source: none; it stands for the update of a kafka.cluster.Replica.
    """
    if noted in leading.remotes:
        return replica
    remotes = tuple(noted if r.broker == noted.broker else r for r in leading.remotes)
    return replace(replica, leading=replace(leading, remotes=remotes))


def is_caught_up(here: Here, leading: Leading, broker: BrokerId, end: Offset) -> bool:
    """Whether a follower has been caught up with the leader within LAG_TIME_MAX_MS.

    Source: ReplicaState.isCaughtUp (3.5.0).
    """
    remote = remote_of(leading, broker)
    if remote.end == end:
        return True
    return here.now_ms is not None and here.now_ms - remote.last_caught_up_ms <= LAG_TIME_MAX_MS


def ineligible(here: Here, remote: RemoteReplica) -> tuple[str, Compared] | None:
    """The guard that bars a follower from being proposed, or None.

    Source: Partition.isReplicaIsrEligible and isBrokerEpochIsrEligible (3.5.0, 3.9.0-rc3);
    KIP-841, Proposed Changes; KIP-903, Proposed Design.
    """
    cached = registration(here.registrations, remote.broker)
    name = f"broker {remote.broker}"
    # In ZooKeeper mode, which KIP-841 does not speak of, a broker is alive or it is not, and only
    # the controller knows who shuts down: Partition.isReplicaIsrEligible (3.4.1).
    if cached is None and "zookeeper.leader-skips-absent" in here.active:
        return "zookeeper.leader-skips-absent", Compared(name, "caught up", "not alive")
    # KIP-841, Proposed Changes: the leader takes only active replicas for eligible, neither fenced
    # nor shutting down, as far as its metadata knows.
    if cached is not None and cached.fenced and "841.leader-skips-fenced" in here.active:
        return "841.leader-skips-fenced", Compared(name, "caught up", "fenced")
    leaving = cached is not None and cached.in_controlled_shutdown
    # KIP-841, Proposed Changes, has the controlled shutdown written to the metadata log for this
    # check. Version 6 of the page, a draft, named the fenced alone here.
    if leaving and "841.leader-skips-shutting-down" in here.active:
        return "841.leader-skips-shutting-down", Compared(name, "caught up", "shutting down")
    alive = cached.epoch if cached is not None and not cached.fenced else None
    fetched = remote.epoch
    if alive is not None and fetched is not None and not is_of_another_incarnation(fetched, alive):
        return None
    # KIP-903, Proposed Design, The new behaviors, 2 (Leader), its "precautions check": a follower
    # is proposed only when its last fetch and the metadata name one broker epoch. Who takes the
    # epoch from the metadata (a rejected alternative, see `_member`) has nothing to compare.
    if "903.leader-epoch" not in here.active or "903.epoch-from-metadata" in here.active:
        return None
    held = "none" if alive is None else str(alive)
    return "903.leader-epoch", Compared(f"{name} epoch", str(fetched), held)


# --- the high watermark ---------------------------------------------------------------------------


def move_high_watermark(here: Here, replica: Replica, log: Log) -> ReplicaEffect:
    """Commit what every replica that counts has. A high watermark never goes back.

    Source: Partition.maybeIncrementLeaderHW (3.5.0, 3.6.0, 3.7.0, 3.9.0-rc3); KIP-966, Additional
    High Watermark advancement requirement.
    """
    leading = leading_of(replica)
    state = leading.isr_state
    # KIP-966, Additional High Watermark advancement requirement (KAFKA-15583, "Enforce HWM advance
    # only if partition is not under-min-ISR"): who has left a full ISR has everything that was
    # committed since.
    too_few = len(state.isr) < wanted_in_sync(here, replica)
    if "966.committed-with-min-isr" in here.active and too_few:
        return replica, ()
    # KIP-497, Proposed Changes, in an early version of the page (4; 5 has other words), and
    # PendingExpandIsr.maximalIsr (3.2.0 to 3.9.0-rc3; KIP-497's own code, 2.7.0, has it too): while
    # an ISR is pending, the most conservative one counts, as either may turn out to hold.
    # A leader that writes to ZooKeeper by itself waits for it, and commits nothing meanwhile.
    pending_counts = "497.maximal-isr" in here.active or here.writes_isr
    counted = state.maximal if pending_counts else state.isr
    lowest = log.end
    for remote in leading.remotes:
        if remote.end < lowest and (
            remote.broker in counted or _waited_for(here, leading, remote, log.end)
        ):
            lowest = remote.end
    if lowest <= replica.high_watermark:
        return replica, ()
    fact = HighWatermarkMoved(
        here.id, replica.partition, before=replica.high_watermark, after=lowest
    )
    return replace(replica, high_watermark=lowest), (fact,)


def wanted_in_sync(here: Here, replica: Replica) -> int:
    """min.insync.replicas; from 3.7 on never more than there are replicas.

    Source: Partition.effectiveMinIsr (3.7.0); KAFKA-15583.
    """
    wanted = replica.min_insync_replicas
    # KIP-966, Additional High Watermark advancement requirement, came with it (KAFKA-15583): else a
    # partition with fewer replicas would never commit again.
    newer = here.code >= (3, 7) or "966.committed-with-min-isr" in here.active
    return min(wanted, len(replica.replicas)) if newer else wanted


def _waited_for(here: Here, leading: Leading, remote: RemoteReplica, end: Offset) -> bool:
    """Whether the high watermark waits for a follower outside the ISR that is about to join."""
    if not is_caught_up(here, leading, remote.broker, end):
        return False
    # KAFKA-15021, "Skip leader epoch bump on ISR shrink": a broker that shuts down fetches no more
    # and may not join, yet has caught up for replica.lag.time.max.ms; it does not count.
    if "kafka-15021.committed-without-ineligible" not in here.active:
        return True
    return ineligible(here, remote) is None
