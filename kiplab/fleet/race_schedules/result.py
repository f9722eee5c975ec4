"""The result of a study of schedules: counts with intervals, the schedules that lost, a picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from ...plays.library import encode
from ...protocol.features import Features
from ...rows.plain_table import table_of
from ..statistics.event_rates import METHOD, exact, in_words
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


class Schedules(msgspec.Struct, frozen=True, kw_only=True):
    """`n` schedules under each of several feature sets.

    `runs` has a row per schedule and feature set (the fields of Outcome, and `features` as the
    number of the set), by set and schedule; `sets` are the feature sets by name.
    """

    sets: Mapping[str, Features]
    window: Window
    seed: int
    n: int
    runs: list[dict[str, Any]]
    label: ClassVar[str] = CAVEAT

    def _of(self, column: str, name: str) -> list[Any]:
        """A column of the runs, for one feature set, in the order of the schedules."""
        first = list(self.sets).index(name) * self.n
        return [run[column] for run in self.runs[first : first + self.n]]

    @property
    def rows(self) -> list[Row]:
        """Counts with exact intervals, per feature set and metric."""
        return [self._row(name, metric) for name in self.sets for metric in METRICS]

    def _row(self, name: str, metric: str) -> Row:
        events = sum(self._of(METRICS[metric], name))
        interval = exact(events, self.n)
        return Row(
            features=name,
            metric=metric,
            events=events,
            excused=sum(self._of("excused", name)) if metric == LOSS else 0,
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
                token=encode(schedule(self.window, self.seed, index), features),
            )
            for name, features in self.sets.items()
            for index, (records, excused) in enumerate(
                zip(self._of("lost_records", name), self._of("excused", name), strict=True)
            )
            if records
        ]

    def table(self) -> pd.DataFrame:
        """`rows` as a table."""
        return table_of(Row.__struct_fields__, map(msgspec.structs.astuple, self.rows))

    def figure(self, *, theme: str = "light") -> Any:
        """A dot and its interval per feature set and metric (a plotly figure), for a "light" or a
        "dark" page. Raises ValueError for another theme.
        """
        from ...figures.schedule_counts import schedules_figure

        rows = [msgspec.structs.asdict(row) for row in self.rows]
        return schedules_figure(rows, self.label, theme=theme)

    def __str__(self) -> str:
        width = max(len(name) for name in self.sets)
        lines = [
            f"{row.features:<{width}}  {row.metric:<10}  {_count(row)}: {_share(row)}"
            for row in self.rows
        ]
        return "\n".join([f"{self.n:,} schedules per feature set: {self.label}", "", *lines])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from html import escape

        head = "".join(f"<th>{h}</th>" for h in ("feature set", "what", "how many", "share"))
        cells = ((escape(r.features), r.metric, _count(r), _share(r)) for r in self.rows)
        body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in cells)
        caption = f"{self.n:,} schedules per feature set: {self.label}. Intervals: {METHOD}."
        return f"<table><caption>{caption}</caption><tr>{head}</tr>{body}</table>"


def _count(row: Row) -> str:
    excused = f" ({row.excused:,} excused)" if row.excused else ""
    return f"{row.events:,} of {row.exposure:,}{excused}"


def _share(row: Row) -> str:
    return in_words(row.events, row.exposure, exact(row.events, row.exposure))
