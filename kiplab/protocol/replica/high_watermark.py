"""The high watermark: the boundary of the committed records.

The input is a leader whose knowledge of the logs has changed, by a fetch, an append or another ISR.
All records are committed that lie below the lowest end among the leader, the larger of the
committed and the proposed ISR, and the followers that have caught up and are about to join. A
partition with fewer members in sync than min.insync.replicas may be left as it is (KIP-966). The
output is the replica with its new high watermark, and the fact that it moved. It never goes back;
where it stays the replica is the same object.
"""

from msgspec.structs import replace

from ..facts import HighWatermarkMoved
from ..ids import Offset
from ..log import Log
from .broker_parts import Here, ReplicaEffect
from .broker_state import Leading, RemoteReplica, Replica
from .remote_replicas import ineligible, is_caught_up, leading_of


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
