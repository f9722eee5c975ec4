"""`FleetAnswer`: all rows of a study, as a table, as sentences, as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from ...extras import MissingExtraError
from ...figures.how_often.fleet_words import alike, listed
from ...rows.plain_table import table_of
from ..parameters.fleet_study import FleetStudy
from ..parameters.parameter_table import PARAMETERS
from ..parameters.scenario import MICROSECONDS_PER_YEAR
from ..pipeline.study_plan import FORCED, METHODS, SummaryRow
from ..statistics.event_rates import FoundRate, at_least_one
from .assumed_share import MOST_POINTS, WORK, AssumedShares
from .counted_metrics import forced_words
from .fleet_row import FleetRow, best_rows, fleet_rows, rank
from .yearly_incidents import YearlyIncidents, elr_prices

if TYPE_CHECKING:
    import pandas as pd


class FleetAnswer(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """What a study found.

    `partition_years` were lived through by the kernel, over all scenarios, under every feature set
    alike. `summary` has the sums that `rows` are made of. `seconds` is how long it took, None for
    what was read from a folder. Where `finished` is False it was stopped before.
    """

    study: FleetStudy
    rows: tuple[FleetRow, ...]
    summary: tuple[SummaryRow, ...]
    seconds: float | None
    partition_years: float
    finished: bool = True

    def row(
        self, features: str, metric: str, *, method: str | None = None, **swept: float | str
    ) -> FleetRow:
        """The one row of that, at the point with those swept values.

        Without a method it is the forced one where there is one. Raises LookupError where there is
        no such row, or more than one point.
        """
        rows = [
            row
            for row in self.rows
            if (row.features, row.metric) == (features, metric)
            and method in (None, row.method)
            and swept.items() <= {*row.swept}
        ]
        if not rows:
            raise LookupError(self._said(features, metric, swept, "there is no row"))
        if len({row.scenario_id for row in rows}) > 1:
            names = ", ".join(name for name in self.study.swept if name not in swept)
            problem = f"several rows; say which {names}"
            raise LookupError(self._said(features, metric, swept, problem))
        return min(rows, key=rank)

    def _said(self, features: str, metric: str, swept: dict[str, Any], problem: str) -> str:
        where = "".join(f", {name}={value}" for name, value in swept.items())
        sets = ", ".join(self.study.feature_sets)
        metrics = ", ".join(dict.fromkeys(row.metric for row in self.rows))
        what = f"{metric} under {features}{where}"
        return f"{what}: {problem}; feature sets are {sets}; metrics are {metrics}"

    def best(self, metric: str, **swept: float | str) -> tuple[FleetRow, ...]:
        """Of each scenario and feature set the row that says most, in the order of the rows, at the
        points with those swept values.
        """
        return best_rows([r for r in self.rows if swept.items() <= {*r.swept}], metric)

    def comparable(self, metric: str, **swept: float | str) -> tuple[FleetRow, ...]:
        """The rows of the points with those swept values, one of each feature set, all of one
        method: whoever draws a line through them, or compares them, is not led by the method.

        That is forced sampling where it has one of each and hit it, else plain sampling.
        """
        of = [row for row in self.rows if row.metric == metric and swept.items() <= {*row.swept}]
        ways = {name: [row for row in of if row.method == name] for name in METHODS}
        most = max(map(len, ways.values()))
        whole = [rows for rows in ways.values() if len(rows) == most]
        return tuple(min(whole, key=lambda rows: max(map(rank, rows), default=2)))

    def sums_of(self, row: FleetRow) -> SummaryRow:
        """The sums that a row was made of. Raises MissingExtraError for a recorded answer."""
        if not self.summary:
            raise MissingExtraError("What sets of KIPs change together", "numba", "fleet")
        key = row.scenario_id, row.features, row.metric, row.method
        return next(
            one
            for one in self.summary
            if (one.scenario_id, one.features, one.metric, one.method) == key
        )

    def sentence(self, metric: str) -> str:
        """What was found of one metric, in words; sets that came to the same stand together.

        Raises LookupError for a metric that is not there.
        """
        rows = self.best(metric)
        if not rows:
            raise LookupError(self._said("any", metric, {}, "there is no row"))
        same = alike(((row.swept, row.words), row.features) for row in rows)
        places = "; ".join(
            f"{', '.join([*sets, *(f'{name}={value}' for name, value in at)])}: {words}"
            for (at, words), sets in same.items()
        )
        return f"{metric}, {rows[0].shown_unit}: {places}."

    def frame(self) -> pd.DataFrame:
        """One line per row; swept parameters are columns. Raises MissingExtraError without scipy.

        What was never seen has no rate, and an upper bound.
        """
        lines = []
        for row in self.rows:
            line = row.report()
            lines.append({"scenario": line.pop("scenario"), **line.pop("swept"), **line})
        return table_of(lines[0], [tuple(line.values()) for line in lines])

    def report(self) -> dict[str, Any]:
        """As the object that `kiplab fleet run --json` prints.

        A loss has its chance too: that all clusters of the study together have at least one within
        so many years. Raises MissingExtraError without numpy.
        """
        prices = [price.report() for price in elr_prices(self)]
        return {
            **({"eligible_leader_replicas": prices} if prices else {}),
            "scenarios": len({row.scenario_id for row in self.rows}),
            "partition_years": self.partition_years,
            "seconds": self.seconds,
            "finished": self.finished,
            "rows": [*map(self._reported, self.rows)],
        }

    @property
    def sampling_words(self) -> str:
        """What was forced because it is rare, and that the rest was counted."""
        if any(row.method == FORCED for row in self.rows):
            return forced_words(self.study.scenarios)
        return "Nothing is forced: every rate is what was counted."

    @cached_property
    def incidents(self) -> YearlyIncidents:
        """How many incidents a year rows come to."""
        return YearlyIncidents(self.study, self.rows)

    @cached_property
    def _shares(self) -> dict[str, AssumedShares]:
        """By scenario, of the first dozen."""
        points = self.study.scenarios[:MOST_POINTS]
        return {one.scenario_id: AssumedShares(one, WORK / len(points)) for one in points}

    def assumed(self, row: FleetRow, rates: Mapping[str, FoundRate] | None = None) -> list[str]:
        """The assumed parameters that more than half of a number rests on, the strongest first:
        of a row's own, or of another at its point and set, with these rates by metric.
        """
        rates = rates or {one.metric: one.found for one in self.incidents.causes(row)}
        parts = {metric: found.rate or 0.0 for metric, found in rates.items()}
        if not any(parts.values()) or row.scenario_id not in self._shares:
            return []
        return self._shares[row.scenario_id].behind(row.features, parts)

    def assumed_words(self, row: FleetRow, rates: Mapping[str, FoundRate] | None = None) -> str:
        """``mostly assumed: hard crashes``; empty where less than half is."""
        names = [PARAMETERS[name].called for name in self.assumed(row, rates)]
        return f"mostly assumed: {listed(names)}" if names else ""

    def _reported(self, row: FleetRow) -> dict[str, Any]:
        fleet = self.incidents.of(row)
        ends = {name: getattr(fleet, name) for name in ("rate", "low", "high")}
        line = {**row.report(), "mostly_assumed": self.assumed(row)}
        line["fleet"] = {"unit": row.fleet_unit, **ends}
        if not row.metric.endswith("_loss"):
            return line
        chances = [msgspec.structs.asdict(one) for one in at_least_one(fleet)]
        return {**line, "at_least_one": chances, "remark": self.incidents.remark(row)}


def answer_of(study: FleetStudy, summary: Sequence[SummaryRow]) -> FleetAnswer:
    """From what each method found. The years are those that were sampled as it comes; where none
    were, those that the forced samples stand for. Raises MissingExtraError without scipy.
    """
    lived = {one.scenario_id: one.exposure_us for one in summary if one.method == summary[0].method}
    return FleetAnswer(
        study=study,
        rows=fleet_rows(study, summary),
        summary=tuple(summary),
        seconds=None,
        partition_years=sum(lived.values()) / MICROSECONDS_PER_YEAR,
    )
