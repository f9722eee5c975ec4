"""Which followers a leader may propose for the ISR, however far they have come.

In comes a follower as its leader knows it, and the metadata that the leader has. Four things are
judged, each if its guard is on: whether the follower is there at all, whether it is fenced, whether
it is shutting down, and whether its last fetch and the metadata name one broker epoch. Out goes the
guard that bars it, with what was compared, or None. Nothing is changed here; the controller judges
once more by what it knows itself.
"""

from __future__ import annotations

from ..epochs_on_wire import is_of_another_life
from ..facts import Compared
from ..registrations import registration
from .broker_parts import Here
from .broker_state import RemoteReplica


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
    if alive is not None and fetched is not None and not is_of_another_life(fetched, alive):
        return None
    # KIP-903, Proposed Design, The new behaviors, 2 (Leader), its "precautions check": a follower
    # is proposed only when its last fetch and the metadata name one broker epoch. Who takes the
    # epoch from the metadata (a rejected alternative, see `_member`) has nothing to compare.
    if "903.leader-epoch" not in here.active or "903.epoch-from-metadata" in here.active:
        return None
    held = "none" if alive is None else str(alive)
    return "903.leader-epoch", Compared(f"{name} epoch", str(fetched), held)
