"""A metric over a whole cluster, as a dashboard sums it: per moment, and which of them move."""

from collections.abc import Iterable, Sequence

from .columns import Rows
from .metrics import METRICS

MetricChoice = bool | str | Iterable[str]
"""Which metrics a picture shows: none (False), those that move (True), ``"all"``, or by name."""
ALL = "all"


def totals(rows: Rows, name: str) -> tuple[int | None, ...]:
    """What all nodes report together at each x; None where nobody does."""
    found: list[int | None] = [None] * rows.meta.end
    for row in rows.metrics:
        if row.metric == name:
            for x in range(row.x0, row.x1):
                found[x] = (found[x] or 0) + row.value
    return tuple(found)


def reports(rows: Rows, name: str, x: int) -> list[tuple[str, int]]:
    """(node, value) of everyone who reports it at x."""
    return [(r.node, r.value) for r in rows.metrics if r.metric == name and r.x0 <= x < r.x1]


def first_move(rows: Rows, name: str) -> int | None:
    """The first x at which the total is another than the one before; None if it never is."""
    known: int | None = None
    for x, value in enumerate(totals(rows, name)):
        if known is not None and value is not None and value != known:
            return x
        known = value if value is not None else known
    return None


def moves(runs: Sequence[Rows]) -> dict[str, int]:
    """The metrics that move in any of these runs, and at which x first: the earliest come first."""
    first: dict[str, int] = {}
    for name in METRICS:
        found = [x for x in (first_move(run, name) for run in runs) if x is not None]
        if found:
            first[name] = min(found)
    return dict(sorted(first.items(), key=lambda item: item[1]))


def chosen(runs: Sequence[Rows], metrics: MetricChoice) -> tuple[str, ...]:
    """The names of the metrics to show: of those that move, the first to move first; ``"all"`` are
    those that any of the runs reports. Raises ValueError, naming those there are, for another name.
    """
    if isinstance(metrics, bool):
        return tuple(moves(runs)) if metrics else ()
    if metrics == ALL:
        found = {row.metric for run in runs for row in run.metrics}
        return tuple(name for name in METRICS if name in found)
    names = (metrics,) if isinstance(metrics, str) else tuple(metrics)
    unknown = [name for name in names if name not in METRICS]
    if unknown:
        known = ", ".join(METRICS)
        raise ValueError(f"there is no metric {unknown[0]!r}; there are {known}")
    return names


def metrics_told(rows: Rows, names: Sequence[str]) -> str:
    """The same in a sentence: ``Metrics: OfflinePartitionsCount 0, 1 at 8, 0 at 10.``"""
    said = "; ".join(f"{name} {_told(rows, name)}" for name in names)
    return f" Metrics: {said}." if said else ""


def _told(rows: Rows, name: str) -> str:
    values = totals(rows, name)
    changes = [x for x, value in enumerate(values) if x == 0 or values[x - 1] != value]
    words = ("not reported" if values[x] is None else str(values[x]) for x in changes)
    places = ("" if x == 0 else f" at {rows.meta.number(x)}" for x in changes)
    return ", ".join(f"{word}{place}" for word, place in zip(words, places, strict=True))
