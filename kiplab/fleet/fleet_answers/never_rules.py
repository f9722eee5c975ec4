"""Events that the model excludes, with the rule: zero by construction, not zero observed."""

from collections.abc import Mapping

import msgspec

from ..parameters.meaningful_sets import NONE_OF_THEM
from ..parameters.scenario import Scenario
from ..statistics.event_rates import NeverHappens
from .counted_metrics import COUNTED


class NeverRule(msgspec.Struct, frozen=True, kw_only=True):
    """`metrics` stay 0 where these KIPs are on and the parameters have these values."""

    metrics: tuple[str, ...]
    because: str
    on: frozenset[str] = frozenset()
    values: Mapping[str, float] = {}

    def holds(self, scenario: Scenario, kips: frozenset[str]) -> bool:
        """Whether it does in this scenario with these KIPs."""
        p = scenario.parameters
        return self.on <= kips and all(getattr(p, n) == value for n, value in self.values.items())


_RATES = (
    *("crashes_per_year", "bounces_per_year", "network_cuts_per_year"),
    *("rack_shocks_per_year", "cluster_shocks_per_year"),
)
_STALE_JOINS = ("stale_join", "stale_join_after_crash", "race_loss")
NEVER_RULES = (
    NeverRule(
        metrics=_STALE_JOINS,
        because="KIP-841 refuses the join while the broker is fenced, KIP-903 once it is back",
        on=frozenset({"841", "903"}),
    ),
    NeverRule(
        metrics=(*_STALE_JOINS, "expansions"),
        because="a single replica has nobody to take back into the ISR",
        values={"replication_factor": 1},
    ),
    NeverRule(
        metrics=("unclean_loss", "recovery_us"),
        because="unclean elections are off (unclean_elections)",
        values={"unclean_elections": False},
    ),
    NeverRule(
        metrics=("shock_loss",),
        because="there are no shocks (rack_shocks_per_year and cluster_shocks_per_year are 0)",
        values={"rack_shocks_per_year": 0, "cluster_shocks_per_year": 0},
    ),
    NeverRule(
        metrics=("shock_loss",),
        because="a shock loses no records (shock_tail_lost is 0) and replaces no disk",
        values={"shock_tail_lost": 0},
    ),
    NeverRule(
        metrics=("last_replica_loss", "race_loss"),
        because="no crash loses records (tail_lost and disk_failures_per_year are 0)",
        values={
            **{"tail_lost": 0, "disk_failures_per_year": 0, "shock_tail_lost": 0},
            "unclean_elections": False,
        },
    ),
    NeverRule(
        metrics=tuple(COUNTED),
        because="no broker ever stops or is cut off: all these rates are 0",
        values=dict.fromkeys(_RATES, 0),
    ),
    NeverRule(
        metrics=("under_min_us",),
        because="min.insync.replicas is 1, and the ISR keeps its last member",
        values={"min_insync_replicas": 1},
    ),
)


def never_in(scenario: Scenario, features: str, metric: str) -> NeverHappens | None:
    """The first rule that makes this metric impossible there; None where it can happen."""
    kips = kips_of(features)
    for rule in NEVER_RULES:
        if metric in rule.metrics and rule.holds(scenario, kips):
            return NeverHappens(because=rule.because)
    return None


def kips_of(features: str) -> frozenset[str]:
    """The KIPs of a feature set by its name."""
    return frozenset() if features == NONE_OF_THEM else frozenset(features.split("+"))
