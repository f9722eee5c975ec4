"""What tells runs apart, as sentences, as an accessible table, as a pandas table."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from ..extras import needed_by
from .columns import Rows
from .difference import Difference, differences, first_difference
from .run_titles import titles

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


def differences_text(one: Rows, other: Rows, *, at: int | None = None) -> list[str]:
    """A sentence on where the runs part, then one per moment and node that differs, in which the
    first run's words come first. `at` as for `differences`, also below.
    """
    found = differences(one, other, at=at)
    opening = [_opening(one, other, titles((one, other)))] if at is None else []
    if not found:
        return opening or [f"At {at}, the two runs are in the same state."]
    by_node: dict[tuple[int, str], list[Difference]] = {}
    for difference in found:
        by_node.setdefault((difference.x, difference.node), []).append(difference)
    return opening + [_sentence(x, node, by_node[x, node]) for x, node in by_node]


def _opening(one: Rows, other: Rows, names: tuple[str, ...]) -> str:
    first = first_difference(one, other)
    if first is None:
        return f"{names[0]} and {names[1]} do not differ at any moment."
    return f"{names[0]} and {names[1]} first differ at {first}{_label(one, other, first)}."


def _label(one: Rows, other: Rows, x: int) -> str:
    """What happens at `x`, in the words of the run that has it applicable."""
    labels = [m.label for run in (one, other) for m in run.moments if m.x == x]
    told = next((label for label in labels if "not applicable" not in label), "")
    return f" ({told})" if told else ""


def _sentence(x: int, node: str, differences: list[Difference]) -> str:
    told = (f"{d.field} {d.one} against {d.other}" for d in differences)
    return f"At {x}, {node}: {'; '.join(told)}."


def differences_html(
    one: Rows, other: Rows, *, at: int | None = None, names: tuple[str, ...] = ()
) -> str:
    """A table with a caption and scoped headers, everything escaped; a sentence if there is
    nothing to list. `names` as for `titles`.
    """
    found, called = differences(one, other, at=at), titles((one, other), names)
    if at is not None and not found:
        return f"<p>{html.escape(differences_text(one, other, at=at)[0])}</p>"
    when = f"What differs at {at}." if at is not None else _opening(one, other, called)
    if not found:
        return f"<p>{html.escape(when)}</p>"
    heads = "".join(f'<th scope="col">{html.escape(h)}</th>' for h in _heads(called))
    body = "".join(_line(difference) for difference in found)
    return (
        f"<table><caption>{html.escape(when)}</caption><thead><tr>{heads}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )


def heads_of(one: Rows, other: Rows) -> tuple[str, ...]:
    """The columns of the tables: moment, node, what, and the two runs by their titles."""
    return _heads(titles((one, other)))


def _heads(names: tuple[str, ...]) -> tuple[str, ...]:
    if names[0] == names[1]:
        names = (f"first, {names[0]}", f"second, {names[1]}")
    return ("moment", "where", "what", *names)


def _line(difference: Difference) -> str:
    node, field, one, other = (
        html.escape(cell)
        for cell in (difference.node, difference.field, difference.one, difference.other)
    )
    return (
        f'<tr><td>{difference.x}</td><td>{node}</td><th scope="row">{field}</th>'
        f"<td>{one}</td><td>{other}</td></tr>"
    )


def differences_frame(one: Rows, other: Rows, *, at: int | None = None) -> pd.DataFrame:
    """The same as a pandas DataFrame, which shows its cells whole; columns as of `heads_of`.

    Raises MissingExtraError without pandas.
    """
    with needed_by("a table"):
        from .sentence_table import Sentences

    records: list[tuple[Any, ...]] = [
        msgspec.structs.astuple(found) for found in differences(one, other, at=at)
    ]
    return Sentences.from_records(records, columns=list(heads_of(one, other)))
