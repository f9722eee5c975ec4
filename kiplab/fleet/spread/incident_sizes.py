"""Partitions per incident: the possible number, and the numbers of the observed incidents."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec

from .counted_words import INCIDENTS, words_at
from .fate_groups import GROUP_OF, FateGroup, partitions_of_groups
from .partition_placement import placed

if TYPE_CHECKING:
    from ..parameters import Parameters

BIN_EDGES = (*(digit * 10**power for power in range(6) for digit in (1, 2, 5)), 10**6)
"""Bin k counts incidents of BIN_EDGES[k] partitions or more, and of fewer than BIN_EDGES[k + 1]."""


class IncidentSizes(msgspec.Struct, frozen=True):
    """How many partitions there are in each group that an incident may hit, ascending.

    Every group is as likely as any other. `sizes` is empty where nothing can be hit.
    """

    sizes: Any

    @property
    def groups(self) -> int:
        """How many there are."""
        return len(self.sizes)

    @property
    def mean(self) -> float:
        """Partitions of an incident, on average; 0 where nothing can be hit."""
        return float(self.sizes.mean()) if self.groups else 0.0

    @property
    def histogram(self) -> tuple[int, ...]:
        """Groups by their partitions, in the bins of BIN_EDGES."""
        return _binned(self.sizes)


class SeenIncidents(msgspec.Struct, frozen=True, kw_only=True):
    """What a block of replications saw: `partitions` of all its incidents together, and these by
    their partitions, in the bins of BIN_EDGES.
    """

    incidents: int
    partitions: int
    histogram: tuple[int, ...]


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


def seen_incidents(
    sizes: IncidentSizes, metric: str, counts: Sequence[int], *, first: int, seed: int
) -> SeenIncidents:
    """What incidents took, of which replication `first` saw counts[0], the next one counts[1], ...

    Which group one hits is drawn by (seed, replication, its number there): in whatever blocks the
    replications come, and whoever works them out, it is the same. Raises ValueError where nothing
    can be hit, and something was.
    """
    import numpy as np

    incidents = np.asarray(counts, dtype=np.int64)
    (hit_in,) = np.nonzero(incidents)
    if not len(hit_in):
        return SeenIncidents(incidents=0, partitions=0, histogram=_binned(hit_in))
    if not sizes.groups:
        raise ValueError(f"{incidents.sum()} incidents of {metric}, and no partitions to be hit")
    incidents, ends = incidents[hit_in], np.cumsum(incidents[hit_in])
    ordinals = np.arange(ends[-1]) - np.repeat(ends - incidents, incidents)
    subject = list(FateGroup).index(GROUP_OF[metric])
    words = words_at(seed, np.repeat(first + hit_in, incidents), ordinals, subject, INCIDENTS)[0]
    hit = sizes.sizes[(words * sizes.groups) >> 32]
    return SeenIncidents(incidents=len(hit), partitions=int(hit.sum()), histogram=_binned(hit))


def _binned(sizes: Any) -> tuple[int, ...]:
    import numpy as np

    bins = np.searchsorted(np.array(BIN_EDGES), sizes, side="right") - 1
    return tuple(np.bincount(bins, minlength=len(BIN_EDGES)).tolist())
