"""How much a loss depends on each parameter: each is halved and doubled, rates by forced samples.

All rates use the same uniform numbers, so that they differ by the parameter alone.
"""

from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec.structs import asdict, replace

from ..estimators.forced_outages import outage_rates
from ..estimators.forced_windows import METRICS, forced_rates
from ..parameters.parameter_checks import check_together
from ..parameters.parameter_errors import ParameterError
from ..parameters.parameter_table import PARAMETERS, Parameters
from ..parameters.scenario import Scenario
from ..statistics.event_rates import FoundRate
from .forced_scenarios import forced_metrics
from .never_rules import kips_of, never_in
from .yearly_incidents import incidents_per_rate

TIMES = 2.0
"""How many times as much and as little a parameter is."""
_BLOCKS, _SAMPLES = 30, 250
_QUICK = 60
"""Samples of a block where only the order of the parameters is asked for."""
_FORCED_LOSSES = ("race_loss", "last_replica_loss")
OF_SHOCKS = ("cluster_shocks_per_year", "shock_tail_lost")


class LossLever(msgspec.Struct, frozen=True):
    """How many times as many losses there are with half and with twice as much of a parameter."""

    parameter: str
    halved: float
    doubled: float

    @property
    def strength(self) -> float:
        """How much the one is above the other, or the other above the one; 1 for not at all."""
        low, high = sorted((max(self.halved, 1e-9), max(self.doubled, 1e-9)))
        return high / low


def loss_levers(scenario: Scenario, features: str, shocks: float) -> list[LossLever]:
    """The parameters of a loss, the strongest first.

    `shocks` is how many losses a year shocks cost in the fleet. Raises MissingExtraError without
    numpy and scipy.
    """
    usual = _losses(scenario, features) + shocks
    levers = [*_of_forced(scenario, features, shocks, usual)] if usual > shocks else []
    if shocks:
        by = [1 + (times - 1) * shocks / usual for times in (1 / TIMES, TIMES)]
        levers += [LossLever(name, *by) for name in OF_SHOCKS]
    return sorted(levers, key=lambda lever: -lever.strength)


def _of_forced(
    scenario: Scenario, features: str, shocks: float, usual: float
) -> Iterator[LossLever]:
    names = [name for name in PARAMETERS if name not in OF_SHOCKS]
    for name, *ends in halved_and_doubled(scenario.parameters, names):
        halved, doubled = (
            (_losses(replace(scenario, parameters=end), features) + shocks) / usual for end in ends
        )
        if halved != doubled:
            yield LossLever(name, halved, doubled)


def _losses(scenario: Scenario, features: str) -> float:
    """A year, in all of the fleet, by the causes that can be forced."""
    forced = forced_metrics(scenario)
    causes = [c for c in _FORCED_LOSSES if c in forced and not never_in(scenario, features, c)]
    rates = (forced_rate(scenario.parameters, features, c, samples=_QUICK) for c in causes)
    p = scenario.parameters
    return sum(
        (rate.rate or 0.0) * incidents_per_rate(p, cause)
        for cause, rate in zip(causes, rates, strict=True)
    )


def forced_rate(
    parameters: Parameters, features: str, metric: str, seed: int = 0, samples: int = _SAMPLES
) -> FoundRate:
    """How often by forced samples, per partition and year. Raises KeyError for another metric."""
    if metric not in METRICS or parameters.replication_factor > 2:
        return outage_rates(parameters, seed=seed, blocks=_BLOCKS, samples=samples)[metric]
    kips = kips_of(features)
    return forced_rates(parameters, kips, seed=seed, blocks=_BLOCKS, samples=samples)[metric]


def halved_and_doubled(
    parameters: Parameters, names: Iterable[str]
) -> Iterator[tuple[str, Parameters, Parameters]]:
    """Each of these parameters that is a number, with the fleet where it is half as much and twice
    as much, as far as is allowed; none where either is no fleet. Raises KeyError for no parameter.
    """
    for name in names:
        lower, higher = (_changed(parameters, name, by) for by in (1 / TIMES, TIMES))
        if PARAMETERS[name].kind is float and lower is not None and higher is not None:
            yield name, lower, higher


def _changed(parameters: Parameters, name: str, times: float) -> Parameters | None:
    """The parameters with one changed, as far as is allowed; None where that is no fleet."""
    about, value = PARAMETERS[name], float(getattr(parameters, name))
    new = min(max(value * times, about.low), about.high)
    if new == value:
        return None
    parameters_with = replace(parameters, **{name: new})
    try:
        check_together(asdict(parameters_with))
    except ParameterError:
        return None
    return parameters_with


def assumed(levers: Sequence[LossLever]) -> list[str]:
    """The parameters of which most of a number hangs, and which nobody has published."""
    strong = (lever.parameter for lever in levers if lever.strength > TIMES)
    return [name for name in strong if PARAMETERS[name].basis == "assumed"]
