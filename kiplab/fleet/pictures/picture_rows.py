"""Answers as the rows that pictures are drawn from."""

from collections.abc import Iterator, Mapping, Sequence

from ...figures.how_often import measured_rate
from ...figures.how_often.first_loss_survival import FleetOfSize
from ...figures.how_often.fleet_words import counted
from ...figures.how_often.losses_by_cause import CauseOfLoss
from ...figures.how_often.number_words import value_words
from ...figures.how_often.rates_by_reboots import RatePoint
from ..fleet_answers.fleet_answer import FleetAnswer
from ..fleet_answers.fleet_row import FleetRow, FoundRate
from ..spread.partition_placement import sets_in_use
from ..statistics.block_means import NothingWeighed, WeighedRate
from ..statistics.event_rates import NeverHappens, NeverSeen, SeenRate

REBOOTS = "bounces_per_year"
CAUSES = ("last_replica_loss", "shock_loss", "unclean_loss", "race_loss")
SLOW = ("slow_alter_partition_s", "slow_alter_partition_share", "alter_partition_ms")
"""What can go up on the map, the first that was swept."""


def measured(found_rate: FoundRate) -> measured_rate.MeasuredRate:
    """What is known of a rate, as pictures need it."""
    match found_rate:
        case SeenRate():
            return measured_rate.rate_of(found_rate.rate, found_rate.low, found_rate.high)
        case WeighedRate():
            return measured_rate.MeasuredRate(
                certainty=measured_rate.Certainty.SEEN,
                rate=found_rate.rate,
                low=max(found_rate.low, 0.0),
                high=found_rate.high,
                alarms=found_rate.alarms,
                effective=found_rate.effective_samples,
            )
        case NeverSeen():
            return measured_rate.unseen(found_rate.high)
        case NeverHappens():
            return measured_rate.never(found_rate.because)
        case NothingWeighed():
            return measured_rate.NOT_REACHED


def elsewhere(answer: FleetAnswer, *varied: str) -> dict[str, float | str]:
    """The first value of every other swept parameter: pictures show one point of it."""
    values = dict(answer.study.values)
    return {name: values[name][0] for name in answer.study.swept if name not in varied}


def where_of(answer: FleetAnswer, *varied: str) -> str:
    """The words of that point."""
    return where_words(elsewhere(answer, *varied))


def where_words(point: Mapping[str, float | str]) -> str:
    """``At tail_lost = 0.1``; empty where nothing else was swept."""
    settings = (f"{name} = {value_words(float(value))}" for name, value in point.items())
    return f"At {', '.join(settings)}" if point else ""


def at_point(rows: Sequence[FleetRow], point: Mapping[str, float | str]) -> Iterator[FleetRow]:
    """The rows of that point."""
    return (row for row in rows if point.items() <= dict(row.swept).items())


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
        for row in at_point(answer.best(metric), elsewhere(answer))
        if row.features == features
        for count in sorted({1, 10, 100, clusters})
    ]


def causes_of(answer: FleetAnswer, sets: Sequence[str]) -> list[CauseOfLoss]:
    """How much each cause takes, under each of these sets."""
    point = elsewhere(answer)
    return [
        CauseOfLoss(features=row.features, cause=cause, estimate=measured(row.found))
        for cause in CAUSES
        for row in at_point(answer.best(cause), point)
        if row.features in sets
    ]
