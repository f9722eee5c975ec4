"""The part of a run that a picture shows: quiet stretches folded, kinds of messages, a range.

A view is rows again, whose x counts columns rather than moments; `Meta.columns` says which of the
play's own moments stand in each column.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple, TypedDict, TypeVar

import msgspec
from msgspec.structs import replace

from ..protocol.messages import api_kinds, asked_by
from .columns import (
    Columns,
    EventRow,
    LogRow,
    MarkRow,
    MessageRow,
    Meta,
    MetricRow,
    MomentRow,
    Rows,
    SpanRow,
    TickRow,
)
from .metric_readings import MetricChoice

QUIET_MIN = 3
"""So many moments in which nothing happens are worth folding."""
_QUIET_TRACKS, _QUIET_MARKS = ("log",), ("appended",)
_KNOWN_AT_ONCE = ("partition", "sent_by", "fields", "duplicate", "began", "meant_for")
_LATER = {
    field.name: field.default
    for field in msgspec.structs.fields(MessageRow)
    if field.default is not msgspec.NODEFAULT and field.name not in _KNOWN_AT_ONCE
}
"""What a message's row says before its fate is known."""


class ViewOptions(TypedDict, total=False):
    """What a figure can be told to show: the partition that it follows, and what `views` takes."""

    fold: bool | None
    kinds: Iterable[str] | None
    between: tuple[int, int] | None
    partition: str | None
    metrics: MetricChoice


def views(
    runs: Sequence[Rows],
    *,
    fold: bool | None = True,
    kinds: Iterable[str] | None = None,
    between: tuple[int, int] | None = None,
    room: int | None = None,
) -> tuple[Rows, ...]:
    """The rows that a picture of these runs is drawn from, in columns that all of them share.

    With `fold`, moments in which logs grow and nothing else happens in any run become one column if
    there are at least QUIET_MIN of them in a row; None folds only where there are more moments than
    a figure has `room` for (None: room for all). `kinds` are the requests that get arrows, their
    replies with them, by the names that plays use; None for all. `between` shows the moments from
    the first number to the last, both included. Raises ValueError for a kind that there is none of,
    or a range outside the runs.
    """
    rowses = [with_kinds(run, kinds) for run in runs]
    first, last = _range(max(rowses, key=lambda run: run.meta.end).meta, between)
    columns = tuple((x, x) for x in range(first, last + 1))
    if fold or (fold is None and room is not None and len(columns) > room):
        loud = set[int]().union(*map(busy, rowses))
        columns = tuple(_folded(columns, loud))
    return tuple(through(run, columns) for run in rowses)


def with_kinds(rows: Rows, kinds: Iterable[str] | None) -> Rows:
    """Without the messages of other kinds. Raises ValueError, naming the kinds that there are."""
    if kinds is None:
        return rows
    wanted = (kinds,) if isinstance(kinds, str) else tuple(kinds)
    unknown = [kind for kind in wanted if kind not in api_kinds()]
    if unknown:
        there_are = f"there are {', '.join(api_kinds())}"
        raise ValueError(f"there are no messages called {unknown[0]!r}; {there_are}")
    return replace(rows, messages=tuple(m for m in rows.messages if asked_by(m.kind) in wanted))


def kinds_in(rows: Rows) -> tuple[str, ...]:
    """The kinds of request that get arrows in this run, in the order of `api_kinds`."""
    shown = {asked_by(m.kind) for m in rows.messages if m.is_telling}
    return tuple(kind for kind in api_kinds() if kind in shown)


# --- which columns ------------------------------------------------------------------------------


def _range(meta: Meta, between: tuple[int, int] | None) -> tuple[int, int]:
    if between is None:
        return 0, meta.end - 1
    start, stop = between
    first, last = meta.own(0)[0], meta.own(meta.end - 1)[1]
    if not first <= start < stop <= last:
        raise ValueError(
            f"there is no range from {start} to {stop} in this run: "
            f"take two moments from {first} to {last}, the earlier one first"
        )
    return meta.place(start), meta.place(stop)


def _folded(singly: Columns, loud: set[int]) -> Iterator[tuple[int, int]]:
    for is_loud, group in groupby(singly, lambda column: column[0] in loud):
        stretch = tuple(group)
        if is_loud or len(stretch) < QUIET_MIN:
            yield from stretch
        else:
            yield stretch[0][0], stretch[-1][1]


def busy(rows: Rows) -> set[int]:
    """Where something happens that a reader of the picture would look at; the start is one."""
    places = {0}
    for span in rows.spans:
        if span.track not in _QUIET_TRACKS:
            places |= {span.x0, span.x1}
    places |= {tick.x for tick in rows.ticks}
    places |= {mark.x for mark in rows.marks if mark.kind not in _QUIET_MARKS}
    places |= {request.x_sent for request in rows.clients if request.fate != "delivered"}
    for message in rows.messages:
        if message.is_telling:
            places.add(message.x_sent)
            places.add(message.x_sent if message.x_arrived is None else message.x_arrived)
    return places


# --- rows through columns -----------------------------------------------------------------------


class Columned(NamedTuple):
    """Columns, and where each x of the rows has come to stand."""

    columns: Columns
    places: dict[int, int]

    def at(self, x: int) -> int:
        """Its column; what is before the first is at -1, what is after the last, beyond it."""
        if not self.columns or x < self.columns[0][0]:
            return -1
        return self.places.get(x, len(self.columns))


def through(rows: Rows, columns: Columns) -> Rows:
    """The rows, with x in these columns; what lies outside them is left out or cut at the edge.

    A column shows the state after its last moment. Rows of a run that has not got as far as the
    columns end where it does, or are empty.
    """
    end = rows.meta.end
    if not columns or columns[:end] == tuple((x, x) for x in range(end)):
        return rows
    mine = tuple((a, min(b, end - 1)) for a, b in columns if a < end)
    places = {x: place for place, (a, b) in enumerate(mine) for x in range(a, b + 1)}
    to = Columned(mine, places)
    numbers = tuple((rows.meta.own(a)[0], rows.meta.own(b)[1]) for a, b in mine)
    return Rows(
        meta=replace(rows.meta, end=len(mine), columns=numbers),
        moments=tuple(_moments(rows.moments, to, numbers)),
        spans=tuple(_spans(rows.spans, to)),
        ticks=tuple(_moved(rows.ticks, to)),
        messages=tuple(_messages(rows.messages, to)),
        marks=tuple(_moved(_marks(rows.marks, to), to)),
        events=tuple(_moved(rows.events, to)),
        metrics=tuple(_spans(rows.metrics, to)),
        clients=tuple(_messages(rows.clients, to)),
        logs=tuple(_spans(rows.logs, to)),
    )


def until(rows: Rows, moment: int) -> Rows:
    """The rows as after `moment`, when nobody knew what comes; its verdict stays."""
    if moment >= rows.meta.end - 1:
        return rows
    cut = through(rows, tuple((x, x) for x in range(moment + 1)))
    return replace(cut, meta=replace(cut.meta, columns=()))


_Moved = TypeVar("_Moved", TickRow, MarkRow, EventRow)


def _moved(rows: Iterable[_Moved], to: Columned) -> Iterator[_Moved]:
    return (replace(row, x=to.places[row.x]) for row in rows if row.x in to.places)


def _moments(moments: Sequence[MomentRow], to: Columned, own: Columns) -> Iterator[MomentRow]:
    by_x = {moment.x: moment for moment in moments}
    for place, ((a, b), (first, last)) in enumerate(zip(to.columns, own, strict=True)):
        quiet = MomentRow(place, by_x[a].line, "", f"{last - first + 1} quiet steps")
        yield replace(by_x[a], x=place) if a == b else quiet


_Lasting = TypeVar("_Lasting", SpanRow, MetricRow, LogRow)


def _spans(spans: Iterable[_Lasting], to: Columned) -> Iterator[_Lasting]:
    for span in spans:
        x0, x1 = max(to.at(span.x0), 0), max(to.at(span.x1), 0)
        if x0 < x1:
            yield replace(span, x0=x0, x1=x1)


def _marks(marks: Iterable[MarkRow], to: Columned) -> Iterator[MarkRow]:
    """What is quiet has no mark in a folded column: there would be a dozen, one on the other."""
    folded = {x for a, b in to.columns if a < b for x in range(a, b + 1)}
    return (mark for mark in marks if mark.x not in folded or mark.kind not in _QUIET_MARKS)


def _messages(messages: Iterable[MessageRow], to: Columned) -> Iterator[MessageRow]:
    """A message sent before the range comes from -1; one that arrives after it is on its way."""
    beyond = len(to.columns)
    for message in messages:
        x_sent = to.at(message.x_sent)
        x_arrived = beyond if message.x_arrived is None else to.at(message.x_arrived)
        if x_sent >= beyond or x_arrived < 0 or not beyond:
            continue
        if x_arrived < beyond:
            yield replace(message, x_sent=x_sent, x_arrived=x_arrived)
        else:
            yield replace(under_way(message), x_sent=x_sent)


def under_way(message: MessageRow) -> MessageRow:
    """The same message before its fate is known."""
    return replace(message, x_arrived=None, fate="in flight", **_LATER)
