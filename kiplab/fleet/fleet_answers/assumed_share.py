"""What a number of an answer rests on that nobody has published.

A number rests on a parameter for as much of it as another value changes: a rate or a share of 0, a
time or a spread as small as is allowed. It is mostly assumed where that is more than half of it,
the table calls the parameter assumed, and the study has no value of its own. Where no parameter
alone does that, all assumed ones are taken away at once. Whole numbers and switches say which fleet
it is, and are no assumptions about it.

Both numbers are sampled anew, by the same uniform numbers: what is forced by forced samples, the
rest by fewer years. What chance could have changed as well does not count.
"""

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any

from msgspec.structs import asdict, replace

from ..parameters.as_world import as_world
from ..parameters.parameter_checks import ORDERED
from ..parameters.parameter_table import PARAMETERS, Basis, Parameters
from ..parameters.scenario import Scenario
from ..parameters.years import MICROSECONDS_PER_YEAR
from ..pipeline.study_plan import FORCED, NAIVE, FleetOrder, Partial
from .block_sizes import kernel_work
from .counted_metrics import never_in
from .forced_scenarios import can_force
from .work_block import work_block

WORK = 600_000.0
"""Of the kernel for each parameter, over all scenarios together: a tenth of a second."""
MOST_POINTS = 12
_MOST_REPLICATIONS = 1_000
MOSTLY_ASSUMED = (
    "Mostly assumed: another value of these parameters (rates and shares of 0, times as short as is"
    " allowed) changes more than half of the number, and nobody has published theirs. What the"
    f" study sets is taken as known. Of a sweep it is said of the first {MOST_POINTS} points."
)
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
    about: dict[str, Any] = {"feature_sets": scenario.feature_sets, "method": method}
    order = FleetOrder(
        scenario=scenario, study_seed=0, block=0, first=0, last=replications, **about
    )
    return {(one.features, one.metric): one for one in work_block(order)}


def rate_in(partials: Sampled, features: str, metric: str) -> tuple[float, float]:
    """The rate a year, and its standard error; 0 where nothing was sampled."""
    one = partials.get((features, metric))
    years = one.exposure_us / MICROSECONDS_PER_YEAR if one else 1.0
    return (one.sum_w / years, sqrt(one.sum_w2) / years) if one else (0.0, 0.0)
