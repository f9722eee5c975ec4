"""What a leader knows of its followers, and which of them have been level with it of late.

In come what a leader keeps and the id of a follower. A follower of which nothing is known has an
unknown log end, which no check takes for level. With a clock a follower is caught up if it was
level with the leader within replica.lag.time.max.ms; without one it has to be level now. Out go the
follower as the leader knows it, and the replica with another follower in place of the one of the
same broker: the same object where nothing is new.
"""

from __future__ import annotations

from msgspec.structs import replace

from ..ids import BrokerId, Offset
from .broker_parts import Here
from .broker_state import NEVER_MS, Leading, RemoteReplica, Replica

LAG_TIME_MAX_MS = 30_000
"""replica.lag.time.max.ms"""


def leading_of(replica: Replica) -> Leading:
    """What a leader keeps; a rule of the leader is asked only where there is one.

    Source: none; it stands for the state of a kafka.cluster.Partition that leads.
    """
    assert replica.leading is not None, f"{replica.partition} is not led here"
    return replica.leading


def remote_of(leading: Leading, broker: BrokerId) -> RemoteReplica:
    """What is known of a follower: if nothing is, no log end, and no time at which it was level.

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
    """Whether a follower has been level with the leader within LAG_TIME_MAX_MS.

    Source: ReplicaState.isCaughtUp (3.5.0).
    """
    remote = remote_of(leading, broker)
    if remote.end == end:
        return True
    return here.now_ms is not None and here.now_ms - remote.last_caught_up_ms <= LAG_TIME_MAX_MS
