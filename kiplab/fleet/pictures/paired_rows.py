"""Every set of KIPs against the first on the same schedules, as the rows of a forest."""

from collections.abc import Sequence

from ...figures.how_often.paired_forest import PairedDifference
from ..estimators.forced_outages import left_out
from ..fleet_answers.fleet_answer import FleetAnswer
from ..fleet_answers.fleet_row import FleetRow
from ..pipeline.study_plan import FORCED, NAIVE
from ..pipeline.study_summary import SummaryRow
from ..statistics.block_means import paired_gap
from ..statistics.clustered_counts import count_gap, size_together
from .picture_rows import elsewhere


def differences_of(answer: FleetAnswer, metric: str) -> list[PairedDifference]:
    """Counts by what happened in only one of two sets; where plain sampling saw too little, forced
    samples block by block. One way for all of them.
    """
    rows = answer.comparable(metric, **elsewhere(answer))
    if not rows:
        return []
    base, *others = rows
    if base.method == NAIVE:
        sums = {row.features: answer.sums_of(row) for row in rows}
        return [_of_counts(row, sums[row.features], sums[base.features]) for row in others]
    return [_of_blocks(answer, row, base) for row in others]


def _of_counts(row: FleetRow, here: SummaryRow, base: SummaryRow) -> PairedDifference:
    only_here, only_there = here.events - here.cross, base.events - here.cross
    together = max(size_together(one.counted) for one in (here, base))
    difference = count_gap(only_here, only_there, row.exposure, together=together)
    return PairedDifference(
        features=row.features,
        label=row.label,
        against=base.features,
        gap=difference.gap,
        low=difference.low,
        high=difference.high,
        alike=only_here == only_there == 0,
        method=row.method,
    )


def _of_blocks(answer: FleetAnswer, row: FleetRow, base: FleetRow) -> PairedDifference:
    here, there = (_yearly(answer, one) for one in (row, base))
    difference, known_to = paired_gap(here, there), _left_out(answer, row, (here, there))
    return PairedDifference(
        features=row.features,
        label=row.label,
        against=base.features,
        gap=difference.gap,
        low=difference.low - known_to,
        high=difference.high + known_to,
        alike=here == there,
        gain=difference.gain,
        method=row.method,
    )


def _left_out(answer: FleetAnswer, row: FleetRow, rates: Sequence[Sequence[float]]) -> float:
    """What first order may leave out of both, where samples are forced."""
    if row.method != FORCED:
        return 0.0
    (point,) = (one for one in answer.study.scenarios if one.scenario_id == row.scenario_id)
    return left_out(point.parameters, row.metric) * sum(sum(some) / len(some) for some in rates)


def _yearly(answer: FleetAnswer, row: FleetRow) -> Sequence[float]:
    """The rate in each block."""
    blocks = answer.sums_of(row).weights
    return [block.total * len(blocks) / row.exposure for block in blocks]
