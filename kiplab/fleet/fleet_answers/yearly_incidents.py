"""Incidents a year in a whole fleet, from a rate: simultaneous events are one incident.

A rate is a partition's. A shock hits many replica sets at once, an AlterPartition all partitions
that a leader and a follower share. The chance of a first one follows from the incidents.

What eligible leader replicas (KIP-966) save and what they cost is said of a whole fleet and year,
too: records that are lost with the last replica, and hours without a leader, with and without them,
beside each other. Without them a loss of the last replica is unmarked. With them the last leader
leads uncleanly, RECOVERING: the loss is marked, and counted as one by an unclean election. In a
shock all have crashed: with them that loss is marked, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from ...figures.how_often.fleet_words import set_words
from ..estimators.forced_outages import ALL_GONE_US, UNCLEAN_LOSS
from ..estimators.forced_windows import LAST_REPLICA_LOSS
from ..kernel.mirrored_guards import OF_TODAY
from ..parameters.fleet_study import FleetStudy
from ..parameters.parameter_table import Parameters
from ..parameters.scenario import ELR
from ..spread.fate_groups import LOSS_CAUSES, partitions_per_incident
from ..statistics import event_rates
from ..statistics.event_rates import FoundRate, NeverHappens, NothingWeighed
from .counted_metrics import COUNTED, TEXTS
from .fleet_row import FleetRow, SweptValues, best_rows, found_words

if TYPE_CHECKING:
    from .fleet_answer import FleetAnswer

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
        return event_rates.NeverSeen(high=high, method=method)
    low, alarms = sum(p.low for p in bounded), tuple(a for p in bounded for a in p.alarms)
    if not alarms:
        return event_rates.SeenRate(rate=sum(rates), low=low, high=high, method=method)
    worth = min(p.effective_samples for p in bounded if p.effective_samples is not None)
    return event_rates.WeighedRate(
        rate=sum(rates), low=low, high=high, method=method, alarms=alarms, effective_samples=worth
    )


def _each(words: Iterable[str | None]) -> str:
    return "; ".join(dict.fromkeys(filter(None, words)))


# --- what eligible leader replicas save and cost --------------------------------------------------

_OFFLINE, _SHOCKS = "offline_us", "shock_loss"
_COUNTED = (LAST_REPLICA_LOSS, UNCLEAN_LOSS, _SHOCKS, _OFFLINE)
_HOUR_S = 3_600.0
LEFT_OUT: tuple[str, ...] = (TEXTS["elr_crashes"], TEXTS["elr_left_out"])


class ElrSide(msgspec.Struct, frozen=True, kw_only=True):
    """Of one of the two sets, a year in all clusters: losses in incidents, by the last replica
    (`unmarked` and `marked`) and in shocks; hours of partitions without a leader, of every cause
    (`hours`), and after the replicas went one by one (`outage_hours`, None where nothing is
    forced).
    """

    features: str
    unmarked: FoundRate
    marked: FoundRate
    shocks: FoundRate
    hours: FoundRate
    outage_hours: FoundRate | None

    @property
    def sentences(self) -> Iterator[str]:
        """Both numbers with their intervals; never a bare zero."""
        mark = "marked" if self.features == ELR else "unmarked"
        losses = (
            f"by the last replica, unmarked: {_words(self.unmarked)}",
            f"by the last replica, marked (RECOVERING): {_words(self.marked)}",
            f"in shocks, {mark}: {_words(self.shocks)}",
        )
        yield f"{set_words(self.features)}, losses a year in the fleet: {'; '.join(losses)}."
        hours = [f"of every cause, as counted: {_words(self.hours)}"]
        if self.outage_hours is not None:
            hours.append(f"after all replicas went one by one: {_words(self.outage_hours)}")
        without = "partition-hours a year in the fleet without a leader"
        yield f"{set_words(self.features)}, {without}: {'; '.join(hours)}."

    def report(self) -> dict[str, Any]:
        """As an object of JSON."""
        rates = {name: getattr(self, name) for name in self.__struct_fields__[1:]}
        ends = ("rate", "low", "high", "because")
        return {
            name: found and {end: getattr(found, end) for end in ends}
            for name, found in rates.items()
        }


def _words(found: FoundRate) -> str:
    """Why something cannot happen is said where the rate is."""
    return "cannot happen" if found.because is not None else found_words(found)


class ElrPrice(msgspec.Struct, frozen=True, kw_only=True):
    """The two sides at one point of a study."""

    scenario_id: str
    swept: SweptValues
    min_insync_replicas: int
    sides: tuple[ElrSide, ...]

    @property
    def sentences(self) -> Iterator[str]:
        """Those of each side; with min.insync.replicas = 1 what that means."""
        for side in self.sides:
            yield from side.sentences
        if self.min_insync_replicas == 1:
            yield TEXTS["elr_alone"]

    def report(self) -> dict[str, Any]:
        """As an object of JSON, the sides by the names of their sets."""
        sides = {side.features: side.report() for side in self.sides}
        return {"scenario": self.scenario_id, "swept": dict(self.swept), **sides}


def elr_prices(answer: FleetAnswer) -> tuple[ElrPrice, ...]:
    """Of each point where both sets were seen, in the order of the study; none without both.

    Raises MissingExtraError without numpy.
    """
    if not {*OF_TODAY} <= {*answer.study.feature_sets}:
        return ()
    rows = {
        (row.scenario_id, row.features, metric): row
        for metric in (*_COUNTED, ALL_GONE_US)
        for row in answer.best(metric)
    }
    found = []
    for scenario in answer.study.scenarios:
        keys = [(scenario.scenario_id, name) for name in OF_TODAY]
        if all((*key, metric) in rows for key in keys for metric in _COUNTED):
            sides = tuple(_side(answer, rows, key) for key in keys)
            found.append(
                ElrPrice(
                    scenario_id=scenario.scenario_id,
                    swept=rows[*keys[0], _OFFLINE].swept,
                    min_insync_replicas=scenario.parameters.min_insync_replicas,
                    sides=sides,
                )
            )
    return tuple(found)


def _side(
    answer: FleetAnswer, rows: dict[tuple[str, str, str], FleetRow], key: tuple[str, str]
) -> ElrSide:
    yearly = {
        metric: answer.incidents.of(rows[*key, metric])
        for metric in (*_COUNTED, ALL_GONE_US)
        if (*key, metric) in rows
    }
    outage = yearly.get(ALL_GONE_US)
    return ElrSide(
        features=key[1],
        unmarked=yearly[LAST_REPLICA_LOSS],
        marked=yearly[UNCLEAN_LOSS],
        shocks=yearly[_SHOCKS],
        hours=yearly[_OFFLINE].times(1 / _HOUR_S),
        outage_hours=outage and outage.times(1 / _HOUR_S),
    )
