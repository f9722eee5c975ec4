"""The meaning of each metric of the kernel, in a sentence, and the unit of its rate; what the model
excludes, with the rule: zero by construction, not zero observed; and which have forced samples.

The kernel simulates replica sets, and follows one partition of each: losses and times are that
partition's, and a rate is per partition and year.
"""

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files

import msgspec

from ..estimators.forced_outages import ELR_METRICS, OUTAGE_METRICS
from ..estimators.forced_windows import METRICS as WINDOW_METRICS
from ..kernel.mirrored_guards import OF_TODAY
from ..parameters.scenario import Scenario, kips_of
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
TEXTS: dict[str, str] = _TOLD["texts"]
"""What is said beside the numbers."""
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


# --- what has forced samples ----------------------------------------------------------------------

WHAT_FOR: str = TEXTS["what_for"]
"""What can be forced, in a sentence's part."""


def can_force(scenario: Scenario) -> bool:
    """Whether windows or outages of that scenario can be forced."""
    return can_force_windows(scenario) or can_force_outages(scenario)


def can_force_windows(scenario: Scenario) -> bool:
    """Two replicas of which one suffices, that crash or restart, and no network is cut."""
    p = scenario.parameters
    two = (p.replication_factor, p.min_insync_replicas) == (2, 1)
    stops = p.crashes_per_year + p.bounces_per_year > 0
    return two and stops and p.network_cuts_per_year == 0


def can_force_outages(scenario: Scenario) -> bool:
    """Two replicas or more that crash, one by one; a single one needs no forcing.

    An unclean election gives the partition a leader that outages know nothing of.
    """
    p = scenario.parameters
    return (
        p.replication_factor > 1
        and p.bounces_wait
        and not p.unclean_elections
        and p.crashes_per_year > 0
        and p.network_cuts_per_year == 0
    )


def forced_metrics(scenario: Scenario) -> tuple[str, ...]:
    """What is forced there; where windows and outages give the same metric, windows do.

    How long an outage lasts, and what it marks, is asked for beside eligible leader replicas.
    """
    windows = WINDOW_METRICS if can_force_windows(scenario) else ()
    of_today = ELR_METRICS if {*OF_TODAY} & {*scenario.feature_sets} else ()
    outages = (*OUTAGE_METRICS, *of_today) if can_force_outages(scenario) else ()
    return tuple(dict.fromkeys((*windows, *outages)))


def forced_words(scenarios: Iterable[Scenario]) -> str:
    """What has a forced estimate in these scenarios, which have some, and what was only counted."""
    scenarios = tuple(scenarios)
    forced = [frozenset(forced_metrics(scenario)) for scenario in scenarios]
    names = ", ".join(
        name if all(name in f for f in forced) else f"{name} (at some points)"
        for name in dict.fromkeys((*WINDOW_METRICS, *OUTAGE_METRICS, *ELR_METRICS))
        if any(name in f for f in forced)
    )
    return (
        f"Forced, because they are rare: {names} ({FORCED_WITHOUT})."
        " Every other rate is what was counted."
    )
