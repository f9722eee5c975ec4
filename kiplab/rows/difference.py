"""Two runs of one play, moment by moment: where they part, and how their states differ there, as
sentences, as an accessible table, as a pandas table.

It reads rows, and decides nothing.
"""

from __future__ import annotations

import html
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

import msgspec

from .columns import (
    CONTROLLER_EPOCH,
    STRIPS,
    STRIPS_OF_ELR,
    MessageRow,
    Rows,
    api_name,
    broker_lane,
)
from .log_blocks import LEADS
from .plain_table import table_of
from .run_titles import titles
from .sentences import html_table

if TYPE_CHECKING:
    import pandas as pd


NOTHING = "none"
_STRIPS = (*STRIPS, *STRIPS_OF_ELR)
State = dict[tuple[str, str], str]
"""Words by (node, field)."""


class Difference(msgspec.Struct, frozen=True):
    """At moment `x`, `field` of `node` is `one` in the first run and `other` in the second.

    Nodes are partitions, ``"broker 2"``, ``"controller"`` and ``"the run"``. Fields of a partition:
    leader, leader epoch, partition epoch, ISR, ELR, last known leader, committed records; of a
    broker: process, broker epoch, fenced, and per partition its role, log end offset and high
    watermark; of the controller: its epoch, and its answers to the messages that arrive at that
    moment; of the run: verdict.
    """

    x: int
    node: str
    field: str
    one: str
    other: str


def first_difference(one: Rows, other: Rows) -> int | None:
    """The first moment at which the two pictures are not the same, or None.

    What requests carry is not compared, nor whether a broker knows its epoch: that differs long
    before it makes a difference.
    """
    moments = range(max(one.meta.end, other.meta.end))
    return next((x for x in moments if _seen(one, x) != _seen(other, x)), None)


def _seen(rows: Rows, x: int) -> set[Hashable]:
    spans = (s for s in rows.spans if s.x0 <= x < s.x1)
    requests = (m for m in rows.clients if m.x_sent == x)
    return {
        *(
            (s.lane, s.track, s.partition, s.value, frozenset(s.flags) - {"not told"})
            for s in spans
        ),
        *(("tick", t.short) for t in rows.ticks if t.x == x),
        *(("mark", m.lane, m.kind, m.text) for m in rows.marks if m.x == x),
        *((m.sender, m.label, m.fate, m.error, m.outcome) for m in requests),
        *((m.name, m.fate, m.error) for m in rows.messages if m.x_arrived == x),
    }


def differences(one: Rows, other: Rows, *, at: int | None = None) -> tuple[Difference, ...]:
    """The differences at moment `at`; without one, where the runs part and how they end.

    A run that ended before `at` stays as it ended. Raises ValueError for a moment that neither
    run has.
    """
    end = max(one.meta.end, other.meta.end)
    if at is not None:
        if not 0 <= at < end:
            raise ValueError(f"there is no moment {at} in these runs; they go from 0 to {end - 1}")
        return _at(one, other, at)
    first = first_difference(one, other)
    if first is None:
        return ()
    moments = dict.fromkeys((first, end - 1))
    return tuple(difference for x in moments for difference in _at(one, other, x))


def _at(one: Rows, other: Rows, x: int) -> tuple[Difference, ...]:
    sides = [state(run, x) for run in (one, other)]
    keys = dict.fromkeys(key for side in sides for key in side)
    pairs = {key: tuple(side.get(key, NOTHING) for side in sides) for key in keys}
    return tuple(Difference(x, *key, a, b) for key, (a, b) in pairs.items() if a != b)


# --- the state at a moment ----------------------------------------------------------------------


def state(rows: Rows, x: int) -> State:
    """All that is compared, in words, as it is at `x` or was when the run ended before that."""
    here = min(x, rows.meta.end - 1)
    values: State = {}
    for name in rows.meta.partitions:
        values |= _partition(rows, name, here)
    for id in rows.meta.brokers:
        values |= _broker(rows, broker_lane(id), here)
    values[CONTROLLER_EPOCH] = rows.value(*CONTROLLER_EPOCH, here) or NOTHING
    if here == x:
        values |= _answers(rows, x)
    if x >= rows.meta.end - 1:
        values["the run", "verdict"] = f"{rows.meta.verdict}: {rows.meta.sentence}"
    return values


def _partition(rows: Rows, name: str, x: int) -> State:
    return {
        (name, "leader"): _leader(rows, name, x),
        **{(name, t): rows.value("partition", t, x, name) or NOTHING for t in _STRIPS},
        (name, "committed records"): rows.text("records", "state", x, name) or NOTHING,
    }


def _leader(rows: Rows, name: str, x: int) -> str:
    """Whom the controller has as leader: what a broker only believes does not count."""
    for id in rows.meta.brokers:
        if rows.value(broker_lane(id), "role", x, name) in LEADS:
            return broker_lane(id)
    standing = rows.text("partition", "leader epoch", x, name)
    return NOTHING if "no leader" in standing else "a broker that is down"


def _broker(rows: Rows, lane: str, x: int) -> State:
    up = rows.text(lane, "uptime", x)
    standing = rows.value("controller", lane, x)
    values = {
        (lane, "process"): "running" if up else rows.text(lane, "down", x) or NOTHING,
        (lane, "broker epoch"): up.removeprefix("broker epoch ") or NOTHING,
        (lane, "fenced"): {"fenced": "yes", "absent": "not registered"}.get(standing, "no"),
    }
    several = len(rows.meta.partitions) > 1
    for name in rows.meta.partitions:
        of = f" of {name}" if several else ""
        values[lane, f"role{of}"] = rows.text(lane, "role", x, name) or NOTHING
        end, _, mark = rows.text(lane, "log", x, name).partition(", high watermark ")
        values[lane, f"log end offset{of}"] = end.removeprefix("log ends at offset ") or NOTHING
        values[lane, f"high watermark{of}"] = mark or NOTHING
    return values


def _answers(rows: Rows, x: int) -> State:
    """The fates of messages and clients' requests that arrive at `x`, by kind and sender."""
    requests = [(m, m.label) for m in rows.clients]
    requests += [(m, api_name(m.kind)) for m in rows.messages if m.outcome or m.error]
    return {
        (m.receiver, f"answer to {label} of {m.sender}"): _answer(m)
        for m, label in requests
        if m.x_arrived == x and m.fate != "in flight"
    }


def _answer(message: MessageRow) -> str:
    if not message.error:
        return message.outcome
    why = f" ({'; '.join(message.compared)})" if message.compared else ""
    return f"refused: {message.error}{why}"


class Comparison(msgspec.Struct, frozen=True):
    """The run at place `run` (the first is 0) beside the first one."""

    run: int
    first_difference: int | None
    differences: tuple[Difference, ...]


def comparisons(runs: Sequence[Rows]) -> tuple[Comparison, ...]:
    """Every run but the first, compared with the first."""
    first = runs[0]
    return tuple(
        Comparison(place, first_difference(first, run), differences(first, run))
        for place, run in enumerate(runs[1:], 1)
    )


def differences_text(one: Rows, other: Rows) -> list[str]:
    """A sentence on where the runs part, then one per moment and node that differs."""
    by_node: dict[tuple[int, str], list[str]] = {}
    for d in differences(one, other):
        by_node.setdefault((d.x, d.node), []).append(f"{d.field} {d.one} against {d.other}")
    told = (f"At {x}, {node}: {'; '.join(of)}." for (x, node), of in by_node.items())
    return [_opening(one, other, titles((one, other))), *told]


def _opening(one: Rows, other: Rows, names: tuple[str, ...]) -> str:
    first = first_difference(one, other)
    if first is None:
        return f"{names[0]} and {names[1]} do not differ at any moment."
    # What happens there, in the words of a run in which it is applicable.
    here = (m for run in (one, other) for m in run.moments if m.x == first and not m.was_left_out)
    label = next((f" ({m.label})" for m in here if m.label), "")
    return f"{names[0]} and {names[1]} first differ at {first}{label}."


def differences_html(one: Rows, other: Rows, *, names: tuple[str, ...] = ()) -> str:
    """An accessible table, all escaped, or a sentence for an empty one. `names` as for `titles`."""
    shown, called = differences(one, other), titles((one, other), names)
    opening = _opening(one, other, called)
    if not shown:
        return f"<p>{html.escape(opening)}</p>"
    return html_table(opening, _heads(called), "".join(map(_line, shown)))


def _heads(names: tuple[str, ...]) -> tuple[str, ...]:
    """The columns of the tables: moment, node, what, and the two runs by their titles."""
    if names[0] == names[1]:
        names = (f"first, {names[0]}", f"second, {names[1]}")
    return ("moment", "where", "what", *names)


def _line(difference: Difference) -> str:
    x, *words = msgspec.structs.astuple(difference)
    node, field, one, other = map(html.escape, words)
    place = f'<td>{x}</td><td>{node}</td><th scope="row">{field}</th>'
    return f"<tr>{place}<td>{one}</td><td>{other}</td></tr>"


def differences_frame(one: Rows, other: Rows, *, at: int | None = None) -> pd.DataFrame:
    """The same as a pandas table; a plain one without pandas; `at` as for `differences`."""
    records = [msgspec.structs.astuple(d) for d in differences(one, other, at=at)]
    heads = _heads(titles((one, other)))
    try:
        from .sentence_table import Sentences
    except ImportError:
        return table_of(heads, records)
    return Sentences.from_records(records, columns=list(heads))
