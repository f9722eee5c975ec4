"""A study's cells of the map: how often, and how many times as often as something else."""

from ...figures.how_often.delay_map import MapCell
from ...figures.how_often.measured_rate import NOT_REACHED, Certainty, MeasuredRate, rate_of, unseen
from ..fleet_answers.fleet_answer import FleetAnswer
from ..fleet_answers.fleet_row import FleetRow
from ..pipeline.study_plan import NAIVE
from ..statistics.resampling import ratio_interval
from .picture_rows import REBOOTS, at_reboots, elsewhere, measured


def map_cells_of(
    answer: FleetAnswer, metric: str, features: str, slow: str, against: str | None = None
) -> list[MapCell]:
    """A cell for each pair of reboots and delays; rates are incidents in all clusters of the study.

    With a metric to hold it `against` a cell has the ratio, too: of the same samples where both
    were weighed.
    """
    point = elsewhere(answer, REBOOTS, slow)
    rows = answer.comparable(metric, **point)
    bases = {row.scenario_id: row for row in _bases(answer, against, features, rows)}
    return [
        MapCell(
            reboots=float(dict(row.swept)[REBOOTS]),
            delay=float(dict(row.swept)[slow]),
            estimate=measured(answer.incidents.of(row)),
            ratio=_ratio(answer, row, bases[row.scenario_id]) if bases else None,
            method=row.method,
            remark=answer.incidents.remark(row),
        )
        for row in rows
        if row.features == features and at_reboots(row)
    ]


def _bases(
    answer: FleetAnswer, against: str | None, features: str, rows: tuple[FleetRow, ...]
) -> list[FleetRow]:
    """What is held against, found in the same way where it can be."""
    if against is None:
        return []
    points, methods = {row.scenario_id for row in rows}, {row.method for row in rows}
    of = [
        row
        for row in answer.rows
        if (row.metric, row.features) == (against, features) and row.scenario_id in points
    ]
    same = [row for row in of if row.method in methods]
    return same if len(same) == len(points) else [row for row in of if row.method == NAIVE]


def _ratio(answer: FleetAnswer, row: FleetRow, base: FleetRow) -> MeasuredRate:
    here, there = measured(row.found), measured(base.found)
    if here.certainty is Certainty.NEVER:
        return here
    if not there.is_seen or here.certainty is Certainty.NOT_REACHED:
        return NOT_REACHED
    if not here.is_seen:
        return unseen(here.high / there.low) if there.low > 0 else NOT_REACHED
    paired = None if NAIVE in (row.method, base.method) else _of_pairs(answer, row, base)
    return paired or _of_intervals(here, there)


def _of_intervals(here: MeasuredRate, there: MeasuredRate) -> MeasuredRate:
    """As wide as both intervals together make it."""
    if there.low <= 0:
        return NOT_REACHED
    return rate_of(here.rate / there.rate, here.low / there.high, here.high / there.low)


def _of_pairs(answer: FleetAnswer, row: FleetRow, base: FleetRow) -> MeasuredRate | None:
    """By blocks that had the same samples, drawn as pairs; None where they are too few, or most of
    them saw nothing.
    """
    here, there = ([block.total for block in answer.sums_of(one).weights] for one in (row, base))
    try:
        bounds = ratio_interval(here, there)
    except ValueError:
        return None
    years = base.exposure / row.exposure
    ratio = sum(here) / sum(there) * years
    return rate_of(ratio, bounds.low * years, bounds.high * years)
