"""The partitions that an incident hits together, by its kind."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec

from ...extras import Deferred
from .partition_placement import SHOCKS, Placement, counted_words, placed

if TYPE_CHECKING:
    from ..parameters import Parameters

np = Deferred("numpy", "a placement of partitions")
_SHOCKS, _FEWEST = 500, 100
"""So many shocks say how large they are, of which so many have to take something."""


class FateGroup(StrEnum):
    """What partitions have in common that are hit at once."""

    PAIR = "leader and follower"
    """One AlterPartition of a leader carries all partitions in which a follower came back."""
    SET = "replica set"
    """Nobody is left of it, or one with a right to lead."""
    BROKER = "broker"
    """What one broker is told, or not told, it is told of all its partitions."""
    CLUSTER = "cluster"
    """A shock takes all brokers at once."""


_METRICS = {
    FateGroup.BROKER: ("incidents",),
    FateGroup.PAIR: ("expansions", "stale_join", "stale_join_after_crash", "race_loss", "refused"),
    FateGroup.SET: (
        *("last_replica_loss", "unclean_loss", "all_replicas_gone", "offline"),
        *("offline_us", "all_gone_us", "under_min_us", "recovery_us"),
    ),
    FateGroup.CLUSTER: ("shock_loss",),
}
GROUP_OF = {metric: group for group, metrics in _METRICS.items() for metric in metrics}
"""By metric. `committed_loss` is its causes together: whoever wants it adds them up."""
LOSS_CAUSES = ("race_loss", "last_replica_loss", "unclean_loss", "shock_loss")


class IncidentSizes(msgspec.Struct, frozen=True):
    """How many partitions there are in each group that an incident may hit, ascending.

    Every group is as likely as any other. `sizes` is empty where nothing can be hit.
    """

    sizes: Any

    @property
    def mean(self) -> float:
        """Partitions of an incident, on average; 0 where nothing can be hit."""
        return float(self.sizes.mean()) if len(self.sizes) else 0.0


def partitions_per_incident(parameters: Parameters, metric: str, seed: int = 0) -> IncidentSizes:
    """How many partitions of a cluster an incident takes.

    Raises ValueError for a metric that is none, MissingExtraError without numpy.
    """
    if metric not in GROUP_OF:
        raise ValueError(f"no incidents are known of {metric!r}; there are {', '.join(GROUP_OF)}")
    p = parameters
    shape = (p.brokers, p.partitions, p.replication_factor, p.replica_sets, p.racks)
    tail_lost = 1.0 if p.shock_fate_shared else p.shock_tail_lost
    return _sizes(shape, tail_lost, GROUP_OF[metric], seed)


@lru_cache(maxsize=64)
def _sizes(
    shape: tuple[int, int, int, int, int], tail_lost: float, group: FateGroup, seed: int
) -> IncidentSizes:
    names = ("brokers", "partitions", "replication_factor", "replica_sets", "racks")
    placement = placed(seed=seed, **dict(zip(names, shape, strict=True)))
    sizes = partitions_of_groups(placement, group, shock_tail_lost=tail_lost, seed=seed)
    return IncidentSizes(sizes)


def partitions_of_groups(
    placement: Placement, group: FateGroup, *, shock_tail_lost: float, seed: int
) -> Any:
    """For each group that has any, how many partitions it has, ascending; an array, empty if none.

    Every group is as likely to be hit as any other. Raises MissingExtraError without numpy.
    """
    if group is FateGroup.CLUSTER:
        counts = _lost_by_shocks(placement, shock_tail_lost, seed)
    else:
        counts = _COUNTED[group](placement)
    return np.sort(counts[counts > 0])


def _by_set(placement: Placement) -> Any:
    return np.bincount(placement.set_of)


def _by_pair(placement: Placement) -> Any:
    replicas = placement.sets[placement.set_of]
    leaders = np.take_along_axis(replicas, placement.leader[:, None], axis=1)
    pairs = (leaders * placement.brokers + replicas)[replicas != leaders]
    return np.bincount(pairs.reshape(-1), minlength=1)


def _lost_by_shocks(placement: Placement, tail_lost: float, seed: int) -> Any:
    """A set is left to the broker that is fenced last, and lost if that one lost its tail.

    Where tails are lost so seldom that few shocks take anything, one broker loses its tail in each
    of the others; where none ever is, what a shock makes worse is one set's loss.
    """
    held = _by_set(placement)
    if tail_lost <= 0:
        return held
    if tail_lost >= 1:
        return np.array([held.sum()])
    shape = (_SHOCKS, placement.brokers)
    words = counted_words(seed, SHOCKS, 2 * _SHOCKS * placement.brokers)
    fenced, fates = words[::2].reshape(shape), words[1::2].reshape(shape)
    lost = fates < tail_lost * 2**32
    if lost.any(axis=1).sum() < _FEWEST:
        lost |= ~lost.any(axis=1, keepdims=True) & (fates == fates.min(axis=1, keepdims=True))
    last = [np.argmax(order[placement.sets], axis=1, keepdims=True) for order in fenced]
    left_to = [np.take_along_axis(placement.sets, at, axis=1)[:, 0] for at in last]
    return np.array([held[gone[by]].sum() for gone, by in zip(lost, left_to, strict=True)])


_COUNTED: dict[FateGroup, Callable[[Placement], Any]] = {
    FateGroup.PAIR: _by_pair,
    FateGroup.SET: _by_set,
    FateGroup.BROKER: lambda p: np.bincount(p.sets[p.set_of].reshape(-1), minlength=p.brokers),
}
