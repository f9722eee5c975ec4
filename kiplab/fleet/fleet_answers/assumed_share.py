"""What a number of an answer rests on that nobody has published; how a loss depends on a parameter.

A number rests on a parameter for as much of it as another value changes: a rate or a share of 0, a
time or a spread as small as is allowed. It is mostly assumed where that is more than half of it,
the table calls the parameter assumed, and the study has no value of its own. Where no parameter
alone does that, all assumed ones are taken away at once. Whole numbers and switches say which fleet
it is, and are no assumptions about it.

Both numbers are sampled anew, by the same uniform numbers: what is forced by forced samples, the
rest by fewer years. What chance could have changed as well does not count.

For the second question each parameter is halved and doubled, as far as is allowed. All rates are by
forced samples of the same uniform numbers: they differ by the parameter alone.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import sqrt
from typing import Any

import msgspec
from msgspec.structs import asdict, replace

from ..estimators.forced_outages import UNCLEAN_LOSS, outage_rates
from ..estimators.forced_windows import METRICS, forced_rates
from ..parameters.parameter_checks import ORDERED
from ..parameters.parameter_table import PARAMETERS, Basis, Parameters
from ..parameters.scenario import MICROSECONDS_PER_YEAR, Scenario, as_world, kips_of
from ..pipeline.study_plan import FORCED, NAIVE, FleetOrder, Partial
from ..statistics.event_rates import FoundRate
from .counted_metrics import TEXTS, can_force, never_in
from .work_block import kernel_work, work_block
from .yearly_incidents import incidents_per_rate

WORK = 600_000.0
"""Of the kernel for each parameter, over all scenarios together: a tenth of a second."""
MOST_POINTS = 12
_MOST_REPLICATIONS = 1_000
MOSTLY_ASSUMED = TEXTS["mostly_assumed"].format(MOST_POINTS)
_SAMPLES, _SHORTEST = 2_500, PARAMETERS["horizon_years"].low
_HALF = 0.5
_ERRORS = 2.0
"""Standard errors that chance may make."""
Sampled = dict[tuple[str, str], Partial]
"""By feature set and metric."""


class AssumedShares:
    """Of the numbers of one scenario. Raises MissingExtraError without numpy and numba."""

    def __init__(self, scenario: Scenario, work: float) -> None:
        share, world = work / kernel_work(scenario), as_world(scenario)
        wanted = int(share) or share
        # Many short replications become fewer long ones: each is counted apart.
        self.replications = min(max(1, int(wanted)), _MOST_REPLICATIONS)
        horizon = wanted / self.replications * scenario.parameters.horizon_years
        shorter = fleet_with(scenario.parameters, horizon_years=max(horizon, _SHORTEST))
        self.scenario = replace(scenario, parameters=shorter)
        self.names = [
            name
            for name, about in PARAMETERS.items()
            if about.kind is float and about.basis is Basis.ASSUMED
            if getattr(scenario.parameters, name) == about.default
            if as_world(without(scenario, [name])) != world
        ]
        self._changed: dict[tuple[str, ...], tuple[Scenario, Sampled]] = {}
        _, self._usual = self._without(())

    def behind(self, features: str, rates: Mapping[str, float]) -> list[str]:
        """The assumed parameters on which more than half of a number rests, the strongest first;
        `rates` are its parts, by metric. Empty where less rests on all of them.
        """
        whole = sum(rates.values())
        rates = {metric: rate / whole for metric, rate in rates.items()}
        shares = {name: self._share(features, rates, name) for name in self.names}
        names = sorted(shares, key=lambda name: -shares[name])
        strong = [name for name in names if shares[name] > _HALF]
        if strong or self._share(features, rates, *names) <= _HALF:
            return strong
        shown = [name for name in names if shares[name]]
        return [name for n, name in enumerate(shown) if sum(shares[m] for m in shown[:n]) <= _HALF]

    def _share(self, features: str, rates: Mapping[str, float], *names: str) -> float:
        return sum(share * self._changed_by(names, features, m) for m, share in rates.items())

    def _changed_by(self, names: tuple[str, ...], features: str, metric: str) -> float:
        other, found = self._without(names)
        if never_in(other, features, metric) is not None:
            return 1.0
        (rate, error), (now, its) = (rate_in(f, features, metric) for f in (self._usual, found))
        gap = abs(rate - now)
        return min(gap / rate, 1.0) if rate and gap > _ERRORS * sqrt(error**2 + its**2) else 0.0

    def _without(self, names: tuple[str, ...]) -> tuple[Scenario, Sampled]:
        if names not in self._changed:
            other = without(self.scenario, names)
            found = sampled(other, NAIVE, self.replications)
            found |= sampled(other, FORCED, _SAMPLES) if can_force(other) else {}
            self._changed[names] = other, found
        return self._changed[names]


def without(scenario: Scenario, names: Sequence[str]) -> Scenario:
    """The same fleet with these parameters as low as is allowed."""
    lowest = {name: PARAMETERS[name].low for name in names}
    return replace(scenario, parameters=fleet_with(scenario.parameters, **lowest))


def fleet_with(parameters: Parameters, **values: float) -> Parameters:
    """The fleet with other values; what may not be above another is lowered to it."""
    every = asdict(parameters) | values
    for less, more, _ in ORDERED:
        every[less] = min(every[less], every[more])
    return Parameters(**every)


def sampled(scenario: Scenario, method: str, replications: int) -> Sampled:
    """One block of a scenario by a method that can do it, always the same."""
    about: Any = {"feature_sets": scenario.feature_sets, "method": method, "study_seed": 0}
    order = FleetOrder(scenario=scenario, block=0, first=0, last=replications, **about)
    return {(one.features, one.metric): one for one in work_block(order)}


def rate_in(partials: Sampled, features: str, metric: str) -> tuple[float, float]:
    """The rate a year, and its standard error; 0 where nothing was sampled."""
    one = partials.get((features, metric))
    years = one.exposure_us / MICROSECONDS_PER_YEAR if one else 1.0
    return (one.sum_w / years, sqrt(one.sum_w2) / years) if one else (0.0, 0.0)


# --- levers ---------------------------------------------------------------------------------------

TIMES = 2.0
"""How many times as much and as little a parameter is."""
_LEVER_BLOCKS, _LEVER_SAMPLES = 30, 250
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


def forced_rate(parameters: Parameters, features: str, metric: str, seed: int) -> FoundRate:
    """How often by forced samples, per partition and year. Raises KeyError for another metric."""
    by_windows = metric in (*METRICS, UNCLEAN_LOSS) and parameters.replication_factor <= 2
    rates, kips = forced_rates if by_windows else outage_rates, kips_of(features)
    return rates(parameters, kips, seed=seed, blocks=_LEVER_BLOCKS, samples=_LEVER_SAMPLES)[metric]


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
