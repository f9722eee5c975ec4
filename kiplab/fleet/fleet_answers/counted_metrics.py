"""The meaning of each metric of the kernel, in a sentence, and the unit of its rate; and what the
model excludes, with the rule: zero by construction, not zero observed.

The kernel simulates replica sets, and follows one partition of each: losses and times are that
partition's, and a rate is per partition and year.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import msgspec

from ..parameters.meaningful_sets import kips_of
from ..parameters.scenario import Scenario
from ..pipeline.study_plan import FORCED
from ..statistics.event_rates import NeverHappens

FORCED_WITHOUT = "without cuts, shocks and failovers of the controller"
"""What forced samples know nothing of."""
_PARTITION = "per partition and year"
_MICROSECONDS = "microseconds per partition and year"


class CountedMetric(msgspec.Struct, frozen=True, kw_only=True):
    """What is counted, in words, and what its rate is per."""

    name: str
    counts: str
    unit: str = _PARTITION

    @property
    def is_time(self) -> bool:
        """Whether its numbers are microseconds."""
        return self.unit.startswith("microseconds")


_TOLD = tomllib.loads((files(__package__) / "counted_metrics.toml").read_text("utf-8"))
_EVERY = (
    *(CountedMetric(name=name, counts=counts) for name, counts in _TOLD["events"].items()),
    *(CountedMetric(name=n, counts=what, unit=_MICROSECONDS) for n, what in _TOLD["times"].items()),
)
COUNTED = {counted.name: counted for counted in _EVERY}
"""By name; a test holds it to what the kernel and forced samples count."""


def counted_in(metric: str, method: str) -> str:
    """What a row of this metric counts, with what is left out.

    Raises KeyError for a metric that there is not.
    """
    without = f"; {FORCED_WITHOUT}" if method == FORCED else ""
    return f"{COUNTED[metric].counts}{without}"


@cache
def who_checks() -> Mapping[str, str]:
    """By metric, who ought to know its number.

    The tests write it: `tests/fleet/referees/test_referees.py --rewrite`.
    """
    return tomllib.loads(files(__package__).joinpath("who_checks.toml").read_text("utf-8"))


# --- what never happens ---------------------------------------------------------------------------


class NeverRule(msgspec.Struct, frozen=True, kw_only=True):
    """`metrics` stay 0 where these KIPs are on, others off, and parameters have these values."""

    because: str
    metrics: tuple[str, ...] = tuple(COUNTED)
    on: frozenset[str] = frozenset()
    off: frozenset[str] = frozenset()
    values: Mapping[str, bool | float] = {}

    def holds(self, scenario: Scenario, kips: frozenset[str]) -> bool:
        """Whether it does in this scenario with these KIPs."""
        p = scenario.parameters
        fits = self.on <= kips and not self.off & kips
        return fits and all(getattr(p, n) == value for n, value in self.values.items())


_FILE = (files(__package__) / "never_rules.toml").read_text("utf-8")
NEVER_RULES = msgspec.convert(tomllib.loads(_FILE)["rules"], tuple[NeverRule, ...])


def never_in(scenario: Scenario, features: str, metric: str) -> NeverHappens | None:
    """The first rule that makes this metric impossible there; None where it can happen."""
    kips = kips_of(features)
    for rule in NEVER_RULES:
        if metric in rule.metrics and rule.holds(scenario, kips):
            return NeverHappens(because=rule.because)
    return None
