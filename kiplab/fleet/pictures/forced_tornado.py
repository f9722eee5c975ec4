"""The strongest parameters: every parameter halved and doubled, the rate by forced samples.

All rates use the same uniform numbers, so that they differ by the parameter alone.
"""

from collections.abc import Sequence
from math import isclose

from msgspec.structs import asdict, replace

from ...figures.how_often import tornado_chart
from ...figures.how_often.fleet_words import metric_words, set_words
from ...figures.how_often.measured_rate import MeasuredRate
from ...figures.how_often.number_words import value_words
from ..estimators.forced_outages import outage_rates
from ..estimators.forced_windows import METRICS, forced_rates
from ..fleet_answers.forced_scenarios import WHAT_FOR, forced_metrics
from ..fleet_answers.never_rules import kips_of
from ..parameters.parameter_checks import check_together
from ..parameters.parameter_errors import ParameterError
from ..parameters.parameter_table import PARAMETERS, Parameters
from ..parameters.scenario import Scenario
from .fleet_picture import FleetPicture
from .picture_rows import measured

TIMES = 2.0
"""How many times as much and as little a parameter is."""
_BLOCKS, _SAMPLES = 30, 250


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
        lower, higher = (_with(parameters, name, by) for by in (1 / TIMES, TIMES))
        if PARAMETERS[name].kind is not float or lower is None or higher is None:
            continue
        ends = [_rate(changed, features, metric, seed) for changed in (lower, higher)]
        if not all(_same(end, usual) for end in ends):
            levers.append(_lever(name, (lower, parameters, higher), (ends[0], usual, ends[1])))
    return levers


def _rate(parameters: Parameters, features: str, metric: str, seed: int) -> MeasuredRate:
    if metric not in METRICS or parameters.replication_factor > 2:
        rates = outage_rates(parameters, seed=seed, blocks=_BLOCKS, samples=_SAMPLES)
        return measured(rates[metric])
    kips = kips_of(features)
    of_windows = forced_rates(parameters, kips, seed=seed, blocks=_BLOCKS, samples=_SAMPLES)
    return measured(of_windows[metric])


def _with(parameters: Parameters, name: str, times: float) -> Parameters | None:
    """The parameters with one changed, as far as is allowed; None where that is no fleet."""
    about, value = PARAMETERS[name], float(getattr(parameters, name))
    changed = min(max(value * times, about.low), about.high)
    if changed == value:
        return None
    parameters_with = replace(parameters, **{name: changed})
    try:
        check_together(asdict(parameters_with))
    except ParameterError:
        return None
    return parameters_with


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
