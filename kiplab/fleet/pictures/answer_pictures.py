"""The pictures that an answer can feed: each a function of the answer, with its table."""

from collections import Counter
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from ...figures.how_often import first_loss_survival
from ...figures.how_often.delay_map import DelayScale, map_chart
from ...figures.how_often.fleet_words import metric_words, set_words
from ...figures.how_often.incident_chart import KindOfIncident, incident_chart
from ...figures.how_often.losses_by_cause import causes_chart
from ...figures.how_often.paired_forest import forest_chart
from ...figures.how_often.plot_sheet import Chart
from ...figures.how_often.rates_by_reboots import rates_chart
from ...figures.how_often.tornado_chart import tornado_chart
from ..fleet_answers.counted_metrics import WHAT_FOR, forced_metrics
from ..fleet_answers.fleet_answer import FleetAnswer
from ..kernel.mirrored_guards import most_of
from ..parameters.parameter_checks import ParameterError
from ..parameters.parameter_table import PARAMETERS, Parameters
from ..parameters.scenario import ELR, Scenario, kips_of
from ..spread.fate_groups import GROUP_OF, FateGroup, partitions_per_incident
from . import picture_rows
from .picture_rows import REBOOTS, elsewhere, where_words

LAST, MARKED = "last_replica_loss", "unclean_loss"
"""With eligible leader replicas the loss of the last one is marked, as an unclean election."""
LOSSES, RACE = "committed_loss", "race_loss"
AFTER_CRASH = "stale_join_after_crash"
"""The stale joins that can cost records: the others end with their leader's controlled shutdown."""
SHOCKS = "shock_loss"
HIT = ("stale_join", LAST, SHOCKS)
_NOUNS = {
    FateGroup.PAIR: "leader-follower pair",
    FateGroup.SET: "replica set",
    FateGroup.BROKER: "broker",
    FateGroup.CLUSTER: "shock",
}


def _at(answer: FleetAnswer, chart: Chart, *varied: str) -> Chart:
    """At the first value of whatever else was swept."""
    return replace(chart, where=where_words(elsewhere(answer, *varied)))


def rates_by_reboots(answer: FleetAnswer, metrics: Sequence[str] = (AFTER_CRASH, RACE)) -> Chart:
    """How often, for how many reboots: a line for every set of KIPs, a panel for each metric.

    Of whatever else was swept the first value is taken.
    """
    return _at(answer, rates_chart(picture_rows.rate_points_of(answer, metrics)), REBOOTS)


def survival(answer: FleetAnswer, metric: str = LOSSES, features: str | None = None) -> Chart:
    """How long until the first loss, in one, ten and a hundred clusters of the study.

    `features` is one of the study's, its first by default. Raises ValueError for another one.
    """
    named = _set(answer, features)
    fleets = picture_rows.fleets_of(answer, metric, named)
    return _at(answer, first_loss_survival.survival_chart(fleets, _under(metric, named)))


def delay_map(
    answer: FleetAnswer,
    metric: str = AFTER_CRASH,
    features: str | None = None,
    *,
    against: str | None = LAST,
) -> Chart:
    """How slow requests are by how often brokers are rebooted: how many times as often as the
    metric that it is held `against`, with a line where it is once a year in all clusters of the
    study. Without such a metric its rates.

    `features` is one of the study's, its first by default. Raises ValueError for another one.
    """
    named, slow = _set(answer, features), slow_parameter(answer)
    cells = picture_rows.map_cells_of(answer, metric, named, slow, against) if slow else []
    slow = slow or picture_rows.SLOW[0]
    unit = PARAMETERS[slow].unit
    short = {"seconds (mean)": "s", "milliseconds (mean)": "ms"}.get(unit, "")
    beside = "" if against is None else metric_words(against)
    chart = map_chart(cells, _under(metric, named), DelayScale(f"{slow}: {unit}", short), beside)
    return _at(answer, chart, REBOOTS, slow)


def losses_by_cause(answer: FleetAnswer, sets: Sequence[str] | None = None) -> Chart:
    """What is lost, and by what: under the first of the study's sets and that with the most KIPs.

    Raises ValueError for a set that the study does not have, and for more than three.
    """
    names = [_set(answer, name) for name in sets or (None, most_of(answer.study.feature_sets))]
    rows = picture_rows.causes_of(answer, [*dict.fromkeys(names)])
    return _at(answer, causes_chart(rows))


def forest(answer: FleetAnswer, metric: str = AFTER_CRASH) -> Chart:
    """What each set of KIPs changes against the first, on the same schedules."""
    rows = picture_rows.differences_of(answer, metric)
    return _at(answer, forest_chart(rows, metric_words(metric)))


def incident_sizes(answer: FleetAnswer, metrics: Sequence[str] = HIT) -> Chart:
    """How many partitions one incident takes, by how partitions are placed.

    Raises ValueError for a metric without incidents and for more than six kinds of them,
    MissingExtraError without numpy.
    """
    kinds = [_kind(answer.study.scenarios[0].parameters, metric) for metric in metrics]
    return _at(answer, incident_chart(kinds))


def _kind(parameters: Parameters, metric: str) -> KindOfIncident:
    """Every group that an incident may hit, as likely as any other, by its partitions."""
    counts = Counter(partitions_per_incident(parameters, metric).sizes.tolist())
    sizes, noun = tuple(sorted(counts.items())), _NOUNS[GROUP_OF[metric]]
    return KindOfIncident(name=metric_words(metric), sizes=sizes, noun=noun)


def tornado(
    scenario: Scenario,
    *,
    features: str = "none",
    metric: str = RACE,
    names: Sequence[str] = tuple(PARAMETERS),
    seed: int = 0,
) -> Chart:
    """How much the rate of `metric` depends on each of the parameters: with two replicas the race
    and more, with more of them the loss of the last one. Each is halved and doubled; all rates use
    the same uniform numbers, so that they differ by the parameter alone.

    A tenth of a second each. Raises ValueError for a metric that is not forced in such a fleet,
    KeyError for a parameter that there is none of; MissingExtraError without numpy and scipy.
    """
    if metric not in forced_metrics(scenario):
        raise ValueError(f"{metric} cannot be forced in this fleet: {WHAT_FOR}")
    levers = picture_rows.levers_of(scenario.parameters, names, features, metric, seed)
    return tornado_chart(levers, f"{_under(metric, features)}: how often")


def strongest(answer: FleetAnswer) -> Chart:
    """What moves the loss that matters, under the set with the most KIPs: that of the last replica
    and by shocks, in incidents a year; by the race where only that can be forced.

    Raises ValueError where no loss is forced, MissingExtraError without numpy and scipy.
    """
    scenario, features = answer.study.scenarios[0], most_of(answer.study.feature_sets)
    forced = forced_metrics(scenario)
    if LAST not in forced:
        return tornado(scenario, features=features, metric=RACE)
    shocks = next(r for r in answer.best(SHOCKS, **elsewhere(answer)) if r.features == features)
    yearly = answer.incidents.of(shocks)
    names = tuple(PARAMETERS)
    last = MARKED if ELR in kips_of(features) else LAST
    levers = picture_rows.levers_of(scenario.parameters, names, features, last, 0, yearly)
    what = f"{metric_words(last)} or in a shock ({set_words(features)})"
    return tornado_chart(levers, f"{what}: how often in all clusters")


def pictures_of(answer: FleetAnswer) -> tuple[Chart, ...]:
    """All pictures of this study, broadest first. Raises MissingExtraError without numpy, scipy."""
    values = dict(answer.study.values)[REBOOTS]
    rebooted = len([value for value in values if value > 0]) > 1
    scenario = answer.study.scenarios[0]
    forced = {LAST, RACE} & {*forced_metrics(scenario)}
    drawings: list[tuple[bool, Callable[[FleetAnswer], Chart]]] = [
        (bool(answer.best(LOSSES)), survival),
        (all(map(answer.best, picture_rows.CAUSES)), losses_by_cause),
        (rebooted, rates_by_reboots),
        (rebooted and slow_parameter(answer) is not None, delay_map),
        (True, incident_sizes),
        (len(answer.study.feature_sets) > 1, forest),
        (bool(forced), strongest),
    ]
    return tuple(draw(answer) for can, draw in drawings if can)


def slow_parameter(answer: FleetAnswer) -> str | None:
    """The swept parameter that makes requests slow, None where none of them was."""
    return next((name for name in picture_rows.SLOW if name in answer.study.swept), None)


def _under(metric: str, features: str) -> str:
    return f"{metric_words(metric)} ({set_words(features)})"


def _set(answer: FleetAnswer, features: str | None) -> str:
    sets = answer.study.feature_sets
    if features is not None and features not in sets:
        problem = f"the study has no feature set {features!r}"
        raise ParameterError(problem, allowed=", ".join(sets), key="features")
    return sets[0] if features is None else features
