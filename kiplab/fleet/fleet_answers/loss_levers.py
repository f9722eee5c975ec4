"""How much a loss depends on each parameter: each is halved and doubled, as far as is allowed.

All rates are by forced samples of the same uniform numbers: they differ by the parameter alone.
"""

from collections.abc import Iterable, Iterator

import msgspec
from msgspec.structs import replace

from ..estimators.forced_outages import UNCLEAN_LOSS, outage_rates
from ..estimators.forced_windows import METRICS, forced_rates
from ..parameters.meaningful_sets import kips_of
from ..parameters.parameter_table import PARAMETERS, Parameters
from ..parameters.scenario import Scenario
from ..pipeline.study_plan import FORCED
from ..statistics.event_rates import FoundRate
from .assumed_share import fleet_with, rate_in, sampled
from .forced_scenarios import can_force
from .yearly_incidents import incidents_per_rate

TIMES = 2.0
"""How many times as much and as little a parameter is."""
_BLOCKS, _SAMPLES = 30, 250
_QUICK = 1_800
"""Samples where only the order of the parameters is asked for."""
_FORCED_LOSSES = ("race_loss", "last_replica_loss", UNCLEAN_LOSS)
OF_SHOCKS = ("cluster_shocks_per_year", "shock_tail_lost")


class LossLever(msgspec.Struct, frozen=True):
    """`losses`: how many times as many there are with so many times as much of a parameter, which
    is less than half or twice where its range ends sooner.
    """

    parameter: str
    losses: dict[float, float]

    @property
    def strength(self) -> float:
        """How much the most are above the fewest; 1 for not at all."""
        low, high = sorted(max(times, 1e-9) for times in self.losses.values())
        return high / low


def loss_levers(scenario: Scenario, features: str, shocks: float) -> list[LossLever]:
    """The parameters of a loss, the strongest first.

    `shocks` is how many losses a year shocks cost in the fleet. Raises MissingExtraError without
    numpy and scipy.
    """
    usual = _losses(scenario, features) + shocks
    levers, p = [], scenario.parameters
    for name, *ends in halved_and_doubled(p, PARAMETERS) if usual else ():
        times = [getattr(end, name) / getattr(p, name) for end in ends]
        if name in OF_SHOCKS:
            losses = [1 + (more - 1) * shocks / usual for more in times]
        else:
            changed = (_losses(replace(scenario, parameters=end), features) for end in ends)
            losses = [(lost + shocks) / usual for lost in changed]
        if losses[0] != losses[1]:
            levers.append(LossLever(name, dict(zip(times, losses, strict=True))))
    return sorted(levers, key=lambda lever: -lever.strength)


def _losses(scenario: Scenario, features: str) -> float:
    """A year, in all of the fleet, by the causes that can be forced."""
    forced = sampled(scenario, FORCED, _QUICK) if can_force(scenario) else {}
    return sum(
        rate_in(forced, features, cause)[0] * incidents_per_rate(scenario.parameters, cause)
        for cause in _FORCED_LOSSES
    )


def forced_rate(
    parameters: Parameters, features: str, metric: str, seed: int = 0, samples: int = _SAMPLES
) -> FoundRate:
    """How often by forced samples, per partition and year. Raises KeyError for another metric."""
    kips = kips_of(features)
    if metric not in (*METRICS, UNCLEAN_LOSS) or parameters.replication_factor > 2:
        return outage_rates(parameters, kips, seed=seed, blocks=_BLOCKS, samples=samples)[metric]
    return forced_rates(parameters, kips, seed=seed, blocks=_BLOCKS, samples=samples)[metric]


def halved_and_doubled(
    parameters: Parameters, names: Iterable[str]
) -> Iterator[tuple[str, Parameters, Parameters]]:
    """Each of these parameters that is a number, with the fleet where it is half as much and twice
    as much, as far as is allowed; none where both are the same. Raises KeyError for no parameter.
    """
    for name in names:
        about, value = PARAMETERS[name], getattr(parameters, name)
        wanted = (min(max(value * by, about.low), about.high) for by in (1 / TIMES, TIMES))
        if about.kind is float:
            lower, higher = (fleet_with(parameters, **{name: new}) for new in wanted)
            if lower != higher:
                yield name, lower, higher
