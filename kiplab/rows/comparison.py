"""The differences of runs, as sentences, as an accessible table, as a pandas table."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from .columns import Rows
from .difference import Difference, differences, first_difference
from .plain_table import table_of
from .run_titles import titles
from .sentences import html_table

if TYPE_CHECKING:
    import pandas as pd


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
