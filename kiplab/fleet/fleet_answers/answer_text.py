"""An answer as text for a terminal: by point and metric, a line for all that came to the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from ..pipeline.work_orders import NAIVE
from .fleet_answer import FleetAnswer
from .fleet_row import FleetRow
from .sampling_words import sampling_words


def answer_text(found: FleetAnswer) -> str:
    """What was asked, then every rate with its interval; never a bare zero."""
    return "\n".join([*_head(found), *_points(found.rows)]) + "\n"


def _head(found: FleetAnswer) -> Iterator[str]:
    if found.study.about:
        yield found.study.about
    scenarios = len({row.scenario_id for row in found.rows})
    where = "1 scenario" if scenarios == 1 else f"{scenarios:,} scenarios"
    took = "" if found.seconds is None else f", in {found.seconds:.1f} s"
    yield f"{found.partition_years:,.0f} partition-years over {where}{took}."
    labels = dict.fromkeys((row.features, row.label) for row in found.rows)
    yield sampling_words(found)
    yield f"Feature sets: {', '.join(f'{name} ({label})' for name, label in labels)}."


def _points(rows: Sequence[FleetRow]) -> Iterator[str]:
    for swept, point in groupby(rows, lambda row: row.swept):
        if swept:
            yield ""
            yield ", ".join(f"{name} = {value}" for name, value in swept)
        yield from _metrics(list(point))


def _metrics(point: Sequence[FleetRow]) -> Iterator[str]:
    for metric in dict.fromkeys(row.metric for row in point):
        rows = [row for row in point if row.metric == metric]
        yield ""
        yield f"{metric}: {rows[0].counts} ({rows[0].unit})"
        lines = list(_lines(rows))
        width = max(len(sets) for sets, _ in lines)
        yield from (f"  {sets:<{width}}  {words}" for sets, words in lines)


def _lines(rows: Iterable[FleetRow]) -> Iterator[tuple[str, str]]:
    """Feature sets that came to the same stand together."""
    same: dict[str, list[str]] = {}
    for row in rows:
        same.setdefault(_words(row), []).append(row.features)
    for words, sets in same.items():
        yield ", ".join(dict.fromkeys(sets)), words


def _words(row: FleetRow) -> str:
    alarms = "".join(f"; {sentence}" for sentence in row.alarms)
    if row.method == NAIVE or row.why_never is not None:
        return row.words
    effective = ""
    if row.effective_samples is not None:
        effective = f", {row.effective_samples:,.0f} effective samples"
    return f"{row.words}, {row.method}{effective}{alarms}"
