"""Incidents a year in a whole fleet, from a rate: simultaneous events are one incident.

A rate is a partition's. A shock hits many replica sets at once, an AlterPartition all partitions
that a leader and a follower share. The chance of a first one follows from the incidents.
"""

from collections.abc import Iterable, Sequence

from ..parameters.fleet_study import FleetStudy
from ..parameters.parameter_table import Parameters
from ..spread.fate_groups import LOSS_CAUSES, partitions_per_incident
from ..statistics.event_rates import (
    FoundRate,
    NeverHappens,
    NeverSeen,
    NothingWeighed,
    SeenRate,
    WeighedRate,
)
from .counted_metrics import COUNTED
from .fleet_row import FleetRow, best_rows

ALL_CAUSES = "committed_loss"
"""Its incidents are those of its causes, each of a size of its own."""
TOGETHER = "a shock takes many replica sets at once, and counts here once for each: at most so much"
_ALSO_BY_SHOCKS = ("offline", "unclean_loss")


class YearlyIncidents:
    """Of the rows of a study. Raises MissingExtraError without numpy."""

    def __init__(self, study: FleetStudy, rows: Sequence[FleetRow]) -> None:
        self.points = {point.scenario_id: point.parameters for point in study.scenarios}
        self._causes = {
            (row.scenario_id, row.features, cause): row
            for cause in LOSS_CAUSES
            for row in best_rows(rows, cause)
        }

    def of(self, row: FleetRow, *, without: str = "") -> FoundRate:
        """How many a year there are of a row's metric in all clusters, as sure as the row is; of a
        time its seconds, added up over all partitions.

        Of a loss by any cause, one cause can be left out. Raises ValueError for a metric that no
        incidents are known of.
        """
        if row.metric != ALL_CAUSES:
            return self._alone(row)
        causes = self.by_cause(row)
        return added([rate for cause, rate in causes.items() if cause != without])

    def by_cause(self, row: FleetRow) -> dict[str, FoundRate]:
        """How many losses a year each cause brings to all clusters, at a row's point and set."""
        return {one.metric: self._alone(one) for one in self.causes(row)}

    def causes(self, row: FleetRow) -> list[FleetRow]:
        """The rows of the causes of a loss by any cause; of another metric the row itself."""
        if row.metric != ALL_CAUSES:
            return [row]
        rows = (self._causes.get((row.scenario_id, row.features, c)) for c in LOSS_CAUSES)
        return [one for one in rows if one is not None]

    def _alone(self, row: FleetRow) -> FoundRate:
        p = self.points[row.scenario_id]
        if COUNTED[row.metric].is_time:
            return row.shown.times(p.clusters * p.partitions)
        return row.found.times(incidents_per_rate(p, row.metric))

    def remark(self, row: FleetRow) -> str:
        """Where incidents of a metric are counted apart that may fall together: so many at most."""
        p = self.points[row.scenario_id]
        causes = LOSS_CAUSES if row.metric == ALL_CAUSES else (row.metric,)
        return TOGETHER if any(_may_fall_together(p, cause) for cause in causes) else ""


def incidents_per_rate(p: Parameters, metric: str) -> float:
    """How many incidents there are a year in all clusters, for a rate of one a partition and year.

    Raises ValueError for a metric that no incidents are known of.
    """
    apart = metric == "shock_loss" and _may_fall_together(p, metric)
    mean = partitions_per_incident(p, "last_replica_loss" if apart else metric).mean
    return p.clusters * p.partitions / mean if mean else 0.0


def _may_fall_together(p: Parameters, metric: str) -> bool:
    """Also where a rack's shock takes only some of the single replicas."""
    if metric == "shock_loss":
        return p.replication_factor == 1 < p.racks and p.rack_shocks_per_year > 0
    if metric not in _ALSO_BY_SHOCKS or (metric == "unclean_loss" and not p.unclean_elections):
        return False
    return p.rack_shocks_per_year + p.cluster_shocks_per_year > 0


def added(parts: Sequence[FoundRate]) -> FoundRate:
    """All of them together; the ends of their intervals are added, which covers more than each."""
    unknown = [part for part in parts if isinstance(part, NothingWeighed)]
    if unknown or not parts:
        return unknown[0] if unknown else NothingWeighed(samples=0)
    bounded = [part for part in parts if part.because is None]
    if not bounded:
        return NeverHappens(because=_each(part.because for part in parts))
    high, method = sum(part.high or 0.0 for part in bounded), _each(p.method for p in bounded)
    rates = [part.rate for part in bounded if part.rate is not None]
    if not rates:
        return NeverSeen(high=high, method=method)
    low, alarms = sum(p.low for p in bounded), tuple(a for p in bounded for a in p.alarms)
    if not alarms:
        return SeenRate(rate=sum(rates), low=low, high=high, method=method)
    worth = min(p.effective_samples for p in bounded if p.effective_samples is not None)
    return WeighedRate(
        rate=sum(rates), low=low, high=high, method=method, alarms=alarms, effective_samples=worth
    )


def _each(words: Iterable[str | None]) -> str:
    return "; ".join(dict.fromkeys(filter(None, words)))
