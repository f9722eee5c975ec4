"""The result of a study of schedules: counts with intervals, the schedules that lost, a picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from ...extras import needed_by
from ...plays.tokens import encode
from ...protocol.features import Features
from ..statistics.intervals import METHOD, exact, in_words
from .random_schedule import Window, schedule

if TYPE_CHECKING:
    import pandas as pd

CAVEAT = "given a crash in this window; not a rate"
STALE_JOIN, LOSS = "stale join", "loss"
METRICS = {STALE_JOIN: "stale_join", LOSS: "lost"}
"""Each metric and the column that counts it."""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One metric under one feature set: `events` of `exposure` schedules; shares from 0 to 1.

    `excused`: how many of the losses came after every member of the ISR had died without the
    records, which Kafka does not promise to survive.
    """

    features: str
    metric: str
    events: int
    excused: int
    exposure: int
    rate: float
    low: float
    high: float
    method: str = METHOD


class Losing(msgspec.Struct, frozen=True, kw_only=True):
    """A schedule that lost committed records; `token` opens wherever a play does."""

    features: str
    schedule: int
    lost_records: int
    excused: bool
    token: str


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """The same schedules under two feature sets: in how many the metric happened where."""

    metric: str
    features: str
    against: str
    both: int
    only_features: int
    only_against: int


class Schedules:
    """`n` schedules under each of several feature sets.

    `runs` is an Arrow table with one row per schedule and feature set (the columns of Outcome, and
    `features` as the number of the set); `sets` are the feature sets by name.
    """

    label = CAVEAT

    def __init__(
        self, *, sets: Mapping[str, Features], window: Window, seed: int, n: int, runs: Any
    ) -> None:
        self.sets, self.window, self.seed, self.n = dict(sets), window, seed, n
        self.runs = runs
        self._columns: dict[str, list[Any]] = {}

    def _of(self, column: str, number: int) -> list[Any]:
        """A column of the runs, for one feature set, in the order of the schedules."""
        if column not in self._columns:
            self._columns[column] = self.runs[column].to_pylist()
        return self._columns[column][number * self.n : (number + 1) * self.n]

    @property
    def rows(self) -> list[Row]:
        """Counts with exact intervals, per feature set and metric."""
        return [
            self._row(number, name, metric)
            for number, name in enumerate(self.sets)
            for metric in METRICS
        ]

    def _row(self, number: int, name: str, metric: str) -> Row:
        events = sum(self._of(METRICS[metric], number))
        interval = exact(events, self.n)
        return Row(
            features=name,
            metric=metric,
            events=events,
            excused=sum(self._of("excused", number)) if metric == LOSS else 0,
            exposure=self.n,
            rate=events / self.n,
            low=interval.low,
            high=interval.high,
        )

    @property
    def losing(self) -> list[Losing]:
        """Every losing schedule of each feature set, with a token that opens as a timeline."""
        return [
            Losing(
                features=name,
                schedule=index,
                lost_records=records,
                excused=excused,
                token=encode(schedule(self.window, self.seed, index), self.sets[name]),
            )
            for number, name in enumerate(self.sets)
            for index, (lost, records, excused) in enumerate(self._ends(number))
            if lost
        ]

    def _ends(self, number: int) -> Iterator[tuple[bool, int, bool]]:
        return zip(*(self._of(c, number) for c in ("lost", "lost_records", "excused")), strict=True)

    def paired(self, against: str | None = None) -> list[Pair]:
        """Schedule by schedule: every feature set compared with one of them (default: the first).

        What a rule prevents is in `only_against`; were there anything it caused, it would be in
        `only_features`. Raises ValueError for a name that is not among the feature sets.
        """
        names = list(self.sets)
        base = names[0] if against is None else against
        if base not in names:
            raise ValueError(f"there is no feature set {base!r}; there are {', '.join(names)}")
        return [
            self._pair(metric, number, name, base)
            for number, name in enumerate(names)
            if name != base
            for metric in METRICS
        ]

    def _pair(self, metric: str, number: int, name: str, base: str) -> Pair:
        column = METRICS[metric]
        here = self._of(column, number)
        there = self._of(column, list(self.sets).index(base))
        seen = list(zip(here, there, strict=True))
        return Pair(
            metric=metric,
            features=name,
            against=base,
            both=seen.count((True, True)),
            only_features=seen.count((True, False)),
            only_against=seen.count((False, True)),
        )

    def table(self) -> pd.DataFrame:
        """`rows` as a table."""
        with needed_by("a table"):
            import pandas as pd

        return pd.DataFrame([msgspec.structs.asdict(row) for row in self.rows])

    def figure(self, *, theme: str = "light") -> Any:
        """A dot and its interval per feature set and metric (a plotly figure), for a "light" or a
        "dark" page. Raises ValueError for another theme.
        """
        from ...figures.schedule_counts import schedules_figure

        rows = [msgspec.structs.asdict(row) for row in self.rows]
        return schedules_figure(rows, self.label, theme=theme)

    def __str__(self) -> str:
        width = max(len(name) for name in self.sets)
        lines = [f"{self.n:,} schedules per feature set: {self.label}", ""]
        for row in self.rows:
            what = f"{row.features:<{width}}  {row.metric:<10}"
            lines.append(f"{what}  {_count(row)}: {_share(row)}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        from html import escape

        head = "".join(f"<th>{h}</th>" for h in ("feature set", "what", "how many", "share"))
        body = "".join(
            f"<tr><td>{escape(row.features)}</td><td>{row.metric}</td><td>{_count(row)}</td>"
            f"<td>{_share(row)}</td></tr>"
            for row in self.rows
        )
        caption = f"{self.n:,} schedules per feature set: {self.label}. Intervals: {METHOD}."
        return f"<table><caption>{caption}</caption><tr>{head}</tr>{body}</table>"


def _count(row: Row) -> str:
    excused = f" ({row.excused:,} excused)" if row.excused else ""
    return f"{row.events:,} of {row.exposure:,}{excused}"


def _share(row: Row) -> str:
    return in_words(row.events, row.exposure, exact(row.events, row.exposure))
