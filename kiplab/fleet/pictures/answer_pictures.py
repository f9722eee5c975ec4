"""The pictures that an answer can feed: each a function of the answer, with its table."""

from collections.abc import Callable, Sequence

from ...figures.how_often import first_loss_survival
from ...figures.how_often.delay_map import DelayScale, map_chart
from ...figures.how_often.fleet_words import metric_words, set_words
from ...figures.how_often.losses_by_cause import causes_chart
from ...figures.how_often.paired_forest import forest_chart
from ...figures.how_often.rates_by_reboots import rates_chart
from ..fleet_answers.fleet_answer import FleetAnswer
from ..fleet_answers.forced_scenarios import forced_metrics
from ..parameters.parameter_errors import ParameterError
from ..parameters.parameter_table import PARAMETERS
from . import picture_rows
from .fleet_picture import FleetPicture
from .forced_tornado import tornado
from .incident_picture import incident_sizes
from .map_rows import map_cells_of
from .paired_rows import differences_of
from .picture_rows import where_of

LAST = "last_replica_loss"
LOSSES, RACE = "committed_loss", "race_loss"
AFTER_CRASH = "stale_join_after_crash"
"""The stale joins that can cost records: the others end with their leader's controlled shutdown."""


def rates_by_reboots(
    answer: FleetAnswer, metrics: Sequence[str] = (AFTER_CRASH, RACE)
) -> FleetPicture:
    """How often, for how many reboots: a line for every set of KIPs, a panel for each metric.

    Of whatever else was swept the first value is taken.
    """
    points = picture_rows.rate_points_of(answer, metrics)
    return FleetPicture(chart=rates_chart(points), where=where_of(answer, picture_rows.REBOOTS))


def survival(
    answer: FleetAnswer, metric: str = LOSSES, features: str | None = None
) -> FleetPicture:
    """How long until the first loss, in one, ten and a hundred clusters of the study.

    `features` is one of the study's, its first by default. Raises ValueError for another one.
    """
    named = _set(answer, features)
    fleets = picture_rows.fleets_of(answer, metric, named)
    what = f"{metric_words(metric)} ({set_words(named)})"
    return FleetPicture(
        chart=first_loss_survival.survival_chart(fleets, what), where=where_of(answer)
    )


def delay_map(
    answer: FleetAnswer,
    metric: str = AFTER_CRASH,
    features: str | None = None,
    *,
    against: str | None = LAST,
) -> FleetPicture:
    """How slow requests are by how often brokers are rebooted: how many times as often as the
    metric that it is held `against`, with a line where it is once a year in all clusters of the
    study. Without such a metric its rates.

    `features` is one of the study's, its first by default. Raises ValueError for another one.
    """
    named = _set(answer, features)
    slow = slow_parameter(answer) or picture_rows.SLOW[0]
    cells = map_cells_of(answer, metric, named, slow, against) if slow_parameter(answer) else []
    what, scale = f"{metric_words(metric)} ({set_words(named)})", _scale(slow)
    beside = "" if against is None else metric_words(against)
    return FleetPicture(
        chart=map_chart(cells, what, scale, beside),
        where=where_of(answer, picture_rows.REBOOTS, slow),
    )


def losses_by_cause(answer: FleetAnswer, sets: Sequence[str] | None = None) -> FleetPicture:
    """What is lost, and by what: under the first of the study's sets and that with the most KIPs.

    Raises ValueError for a set that the study does not have, and for more than three.
    """
    names = [_set(answer, name) for name in sets] if sets is not None else _first_and_most(answer)
    rows = picture_rows.causes_of(answer, names)
    return FleetPicture(chart=causes_chart(rows), where=where_of(answer))


def forest(answer: FleetAnswer, metric: str = AFTER_CRASH) -> FleetPicture:
    """What each set of KIPs changes against the first, on the same schedules."""
    rows, what = differences_of(answer, metric), metric_words(metric)
    return FleetPicture(chart=forest_chart(rows, what), where=where_of(answer))


def pictures_of(answer: FleetAnswer) -> tuple[FleetPicture, ...]:
    """Every picture that this study can feed, the broadest question first.

    Raises MissingExtraError without numpy and scipy.
    """
    drawings: list[tuple[bool, Callable[[FleetAnswer], FleetPicture]]] = [
        (bool(answer.best(LOSSES)), survival),
        (all(map(answer.best, picture_rows.CAUSES)), losses_by_cause),
        (_rebooted(answer), rates_by_reboots),
        (_rebooted(answer) and slow_parameter(answer) is not None, delay_map),
        (True, incident_sizes),
        (len(answer.study.feature_sets) > 1, forest),
        (_lever_metric(answer) is not None, _tornado),
    ]
    return tuple(draw(answer) for can, draw in drawings if can)


def _tornado(answer: FleetAnswer) -> FleetPicture:
    metric = _lever_metric(answer) or LAST
    return tornado(answer.study.scenarios[0], features=_most(answer), metric=metric)


def _lever_metric(answer: FleetAnswer) -> str | None:
    """The loss that matters: of the last replica, or by the race where only that can be forced."""
    forced = forced_metrics(answer.study.scenarios[0])
    return next((metric for metric in (LAST, RACE) if metric in forced), None)


def _rebooted(answer: FleetAnswer) -> bool:
    values = dict(answer.study.values)[picture_rows.REBOOTS]
    return len([value for value in values if value > 0]) > 1


def slow_parameter(answer: FleetAnswer) -> str | None:
    """The swept parameter that makes requests slow, None where none of them was."""
    return next((name for name in picture_rows.SLOW if name in answer.study.swept), None)


def _scale(name: str) -> DelayScale:
    unit = PARAMETERS[name].unit
    short = {"seconds (mean)": "s", "milliseconds (mean)": "ms"}.get(unit, "")
    return DelayScale(f"{name}: {unit}", short)


def _set(answer: FleetAnswer, features: str | None) -> str:
    sets = answer.study.feature_sets
    if features is not None and features not in sets:
        raise ParameterError(
            f"the study has no feature set {features!r}", allowed=", ".join(sets), key="features"
        )
    return sets[0] if features is None else features


def _first_and_most(answer: FleetAnswer) -> list[str]:
    return list(dict.fromkeys((answer.study.feature_sets[0], _most(answer))))


def _most(answer: FleetAnswer) -> str:
    """The set with the most KIPs."""
    return max(answer.study.feature_sets, key=lambda name: name.count("+"))
