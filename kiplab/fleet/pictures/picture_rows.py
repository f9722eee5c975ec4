"""Answers as the rows that pictures are drawn from."""

from collections.abc import Mapping, Sequence
from math import isclose

from msgspec.structs import replace

from ...figures.how_often.delay_map import MapCell
from ...figures.how_often.first_loss_survival import FleetOfSize
from ...figures.how_often.fleet_words import counted, value_words
from ...figures.how_often.losses_by_cause import CauseOfLoss
from ...figures.how_often.measured_rate import NOT_REACHED, Certainty, MeasuredRate, rate_of
from ...figures.how_often.paired_forest import PairedDifference
from ...figures.how_often.rates_by_reboots import RatePoint
from ...figures.how_often.tornado_chart import Leverage
from ..estimators.forced_outages import left_out
from ..fleet_answers.assumed_share import OF_SHOCKS, forced_rate, halved_and_doubled
from ..fleet_answers.fleet_answer import FleetAnswer
from ..fleet_answers.fleet_row import FleetRow
from ..fleet_answers.yearly_incidents import added, incidents_per_rate
from ..parameters.parameter_table import PARAMETERS, Parameters
from ..pipeline.study_plan import NAIVE
from ..spread.partition_placement import sets_in_use
from ..statistics.block_means import count_gap, paired_gap, paired_ratio, size_together
from ..statistics.event_rates import FoundRate, NeverHappens, NeverSeen, NothingWeighed

REBOOTS = "bounces_per_year"
CAUSES = ("last_replica_loss", "shock_loss", "unclean_loss", "race_loss")
SLOW = ("slow_alter_partition_s", "slow_alter_partition_share", "alter_partition_ms")
"""What can go up on the map, the first that was swept."""


_CERTAINTIES = {
    NeverSeen: Certainty.UNSEEN,
    NeverHappens: Certainty.NEVER,
    NothingWeighed: Certainty.NOT_REACHED,
}


def measured(rate: FoundRate) -> MeasuredRate:
    """What is known of it, as pictures need it."""
    return MeasuredRate(
        certainty=_CERTAINTIES.get(type(rate), Certainty.SEEN),
        rate=rate.rate or 0.0,
        low=max(rate.low, 0.0),
        high=rate.high or 0.0,
        because=rate.because or "",
        alarms=rate.alarms,
        effective=rate.effective_samples,
    )


def elsewhere(answer: FleetAnswer, *varied: str) -> dict[str, float | str]:
    """The first value of every other swept parameter: pictures show one point of it."""
    values = dict(answer.study.values)
    return {name: values[name][0] for name in answer.study.swept if name not in varied}


def where_words(point: Mapping[str, float | str]) -> str:
    """``At tail_lost = 0.1``; empty where nothing else was swept."""
    settings = (f"{name} = {value_words(float(value))}" for name, value in point.items())
    return f"At {', '.join(settings)}" if point else ""


def at_reboots(row: FleetRow) -> bool:
    """Whether it has a place on an axis of reboots by powers of ten: no reboots have none."""
    return dict(row.swept).get(REBOOTS, 0) != 0


def rate_points_of(answer: FleetAnswer, metrics: Sequence[str]) -> list[RatePoint]:
    """A point for each reboot rate above 0."""
    point = elsewhere(answer, REBOOTS)
    return [
        RatePoint(
            metric=metric,
            features=row.features,
            label=row.label,
            reboots=float(dict(row.swept)[REBOOTS]),
            estimate=measured(row.found),
            method=row.method,
        )
        for metric in metrics
        for row in answer.comparable(metric, **point)
        if at_reboots(row)
    ]


def fleets_of(answer: FleetAnswer, metric: str, features: str) -> list[FleetOfSize]:
    """One, ten and a hundred of its clusters, and as many as it has; none of what it has no row."""
    fleet = answer.study.scenarios[0].parameters
    sets, clusters = sets_in_use(fleet), fleet.clusters
    return [
        FleetOfSize(
            name=f"{counted(count, 'cluster')}, {count * sets:,} replica sets",
            yearly=measured(answer.incidents.of(row)).times(count / clusters),
            remark=answer.incidents.remark(row),
        )
        for row in answer.best(metric, **elsewhere(answer))
        if row.features == features
        for count in sorted({1, 10, 100, clusters})
    ]


def causes_of(answer: FleetAnswer, sets: Sequence[str]) -> list[CauseOfLoss]:
    """How much each cause takes, under each of these sets."""
    point = elsewhere(answer)
    return [
        CauseOfLoss(features=row.features, cause=cause, estimate=measured(row.found))
        for cause in CAUSES
        for row in answer.best(cause, **point)
        if row.features in sets
    ]


def map_cells_of(
    answer: FleetAnswer, metric: str, features: str, slow: str, against: str | None = None
) -> list[MapCell]:
    """A cell for each pair of reboots and delays; rates are incidents in all clusters of the study.

    With a metric to hold it `against` a cell has the ratio, too: of the same samples where both
    were weighed.
    """
    point = elsewhere(answer, REBOOTS, slow)
    compared = answer.comparable(against, **point) if against else ()
    bases = {row.scenario_id: row for row in compared if row.features == features}
    return [
        MapCell(
            reboots=float(dict(row.swept)[REBOOTS]),
            delay=float(dict(row.swept)[slow]),
            estimate=measured(answer.incidents.of(row)),
            ratio=_ratio(answer, row, bases[row.scenario_id]) if bases else None,
            method=row.method,
            remark=answer.incidents.remark(row),
        )
        for row in answer.comparable(metric, **point)
        if row.features == features and at_reboots(row)
    ]


def _ratio(answer: FleetAnswer, row: FleetRow, base: FleetRow) -> MeasuredRate:
    """By blocks with the same samples, where both were weighed; else from both intervals."""
    here, there = measured(row.found), measured(base.found)
    if here.certainty is Certainty.NEVER:
        return here
    if not there.is_seen or here.certainty is Certainty.NOT_REACHED:
        return NOT_REACHED
    if here.is_seen and NAIVE not in (row.method, base.method):
        ours, theirs = ([b.total for b in answer.sums_of(one).weights] for one in (row, base))
        bounds, years = paired_ratio(ours, theirs), base.exposure / row.exposure
        return rate_of(sum(ours) / sum(theirs), bounds.low, bounds.high).times(years)
    if there.low <= 0:
        return NOT_REACHED
    ends = {"low": here.low / there.high, "high": here.high / there.low}
    return replace(here, rate=here.rate / there.rate, alarms=(), effective=None, **ends)


def differences_of(answer: FleetAnswer, metric: str) -> list[PairedDifference]:
    """Counts of what only one of two sets saw; where that is too little, forced samples."""
    rows = answer.comparable(metric, **elsewhere(answer))
    return [_difference(answer, row, rows[0]) for row in rows[1:]]


def _difference(answer: FleetAnswer, row: FleetRow, base: FleetRow) -> PairedDifference:
    here, there = answer.sums_of(row), answer.sums_of(base)
    spare = 0.0
    if row.method == NAIVE:
        only = here.events - here.cross, there.events - here.cross
        together = max(size_together(one.counted) for one in (here, there))
        gap, alike = count_gap(*only, row.exposure, together=together), only == (0, 0)
    else:
        ours, theirs = (
            [block.total * len(one.weights) / row.exposure for block in one.weights]
            for one in (here, there)
        )
        gap, alike = paired_gap(ours, theirs), ours == theirs
        # What first order may leave out of both.
        share = left_out(answer.incidents.points[row.scenario_id], row.metric)
        spare = share * (sum(ours) + sum(theirs)) / len(ours)
    return PairedDifference(
        features=row.features,
        label=row.label,
        against=base.features,
        gap=gap.gap,
        low=gap.low - spare,
        high=gap.high + spare,
        alike=alike,
        gain=gap.gain,
        method=row.method,
    )


def levers_of(
    parameters: Parameters,
    names: Sequence[str],
    features: str,
    metric: str,
    seed: int,
    shocks: FoundRate | None = None,
) -> list[Leverage]:
    """A lever for each of these parameters that moves the rate at all, by forced samples.

    With `shocks`, how many losses they cost a year in all clusters, the rate is of incidents a year
    there, those of shocks among them.
    """

    def rate_at(p: Parameters, name: str) -> MeasuredRate:
        alone = forced_rate(p, features, metric, seed)
        if shocks is None:
            return measured(alone)
        times = getattr(p, name) / getattr(parameters, name) if name in OF_SHOCKS else 1.0
        return measured(added([alone.times(incidents_per_rate(p, metric)), shocks.times(times)]))

    usual, levers = rate_at(parameters, metric), []
    for name, *ends in halved_and_doubled(parameters, names):
        lower, higher = (rate_at(end, name) for end in ends)
        least, value, most = (float(getattr(p, name)) for p in (ends[0], parameters, ends[1]))
        lever = Leverage(
            parameter=PARAMETERS[name].called,
            lower_value=value_words(least),
            usual_value=f"{name} = {value_words(value)} {PARAMETERS[name].unit}",
            higher_value=value_words(most),
            factor=most / least,
            lower=lower,
            usual=usual,
            higher=higher,
        )
        if not (_same(lower, usual) and _same(higher, usual)):
            levers.append(lever)
    return levers


def _same(one: MeasuredRate, other: MeasuredRate) -> bool:
    return one.certainty is other.certainty and isclose(one.rate, other.rate, rel_tol=1e-9)
