"""The strongest parameters: every parameter halved and doubled, the rate by forced samples.

All rates use the same uniform numbers, so that they differ by the parameter alone.
"""

from collections.abc import Sequence
from math import isclose

from ...figures.how_often import tornado_chart
from ...figures.how_often.fleet_words import metric_words, set_words
from ...figures.how_often.measured_rate import MeasuredRate
from ...figures.how_often.number_words import value_words
from ..fleet_answers.forced_scenarios import WHAT_FOR, forced_metrics
from ..fleet_answers.loss_levers import TIMES, changed, forced_rate
from ..parameters.parameter_table import PARAMETERS, Parameters
from ..parameters.scenario import Scenario
from .fleet_picture import FleetPicture
from .picture_rows import measured


def tornado(
    scenario: Scenario,
    *,
    features: str = "none",
    metric: str = "race_loss",
    names: Sequence[str] = tuple(PARAMETERS),
    seed: int = 0,
) -> FleetPicture:
    """How much the rate of `metric` depends on each of the parameters: with two replicas the race
    and more, with more of them the loss of the last one.

    A tenth of a second each. Raises ValueError for a metric that is not forced in such a fleet,
    KeyError for a parameter that there is none of; MissingExtraError without numpy and scipy.
    """
    if metric not in forced_metrics(scenario):
        raise ValueError(f"{metric} cannot be forced in this fleet: {WHAT_FOR}")
    levers = levers_of(scenario.parameters, names, features, metric, seed)
    what = f"{metric_words(metric)} ({set_words(features)}): how often"
    return FleetPicture(chart=tornado_chart.tornado_chart(levers, what))


def levers_of(
    parameters: Parameters, names: Sequence[str], features: str, metric: str, seed: int
) -> list[tornado_chart.Leverage]:
    """A lever for each of these parameters that moves the rate at all. Raises as `tornado`."""
    usual = _rate(parameters, features, metric, seed)
    levers = []
    for name in names:
        lower, higher = (changed(parameters, name, by) for by in (1 / TIMES, TIMES))
        if PARAMETERS[name].kind is not float or lower is None or higher is None:
            continue
        ends = [_rate(end, features, metric, seed) for end in (lower, higher)]
        if not all(_same(end, usual) for end in ends):
            levers.append(_lever(name, (lower, parameters, higher), (ends[0], usual, ends[1])))
    return levers


def _rate(parameters: Parameters, features: str, metric: str, seed: int) -> MeasuredRate:
    return measured(forced_rate(parameters, features, metric, seed))


def _same(one: MeasuredRate, other: MeasuredRate) -> bool:
    return one.certainty is other.certainty and isclose(one.rate, other.rate, rel_tol=1e-9)


def _lever(
    name: str,
    values: tuple[Parameters, Parameters, Parameters],
    rates: tuple[MeasuredRate, MeasuredRate, MeasuredRate],
) -> tornado_chart.Leverage:
    lower, usual, higher = (float(getattr(one, name)) for one in values)
    return tornado_chart.Leverage(
        parameter=name,
        lower_value=value_words(lower),
        usual_value=f"{value_words(usual)} {PARAMETERS[name].unit}",
        higher_value=value_words(higher),
        factor=higher / lower,
        lower=rates[0],
        usual=rates[1],
        higher=rates[2],
    )
