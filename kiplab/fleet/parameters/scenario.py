"""One point of the parameter space, with a name made of its values; and as the world of the kernel:
whole microseconds, and means in place of rates. And the sets of KIPs that a fleet can have: those
of a release, or of a switch; a KIP stands for the guard that does its work in the fleet.
"""

from enum import StrEnum
from hashlib import sha256

import msgspec

from ...protocol.features import UnknownFeatureError, parse_features
from ...protocol.guards import GUARDS
from ...protocol.ids import CONTROLLER, BrokerId
from ...protocol.releases import RELEASES, Mode
from ..kernel.mirrored_guards import OF_TODAY
from ..kernel.world import SECOND, Constant, Exponential, LogNormal, Uniform, World, with_mean
from .parameter_checks import ParameterError, check_together, checked
from .parameter_table import Parameters

SECONDS_PER_YEAR = 365 * 86_400
"""Of 365 days, as the kernel has it."""
MICROSECONDS_PER_YEAR = SECONDS_PER_YEAR * SECOND
_DIGITS = 16


class Scenario(msgspec.Struct, frozen=True, kw_only=True):
    """A fleet: the feature sets it is seen under, a value for every parameter.

    Raises ParameterError for what no fleet can be.
    """

    feature_sets: tuple[str, ...]
    parameters: Parameters = Parameters()

    def __post_init__(self) -> None:
        if not self.feature_sets or len({*self.feature_sets}) < len(self.feature_sets):
            allowed = "name at least one, and each once"
            raise ParameterError("the list is wrong", allowed=allowed, key="feature_sets")
        for name in self.feature_sets:
            if name != check_kip_set(name):
                problem = f"{name!r} is not in order"
                raise ParameterError(problem, allowed=check_kip_set(name), key="feature_sets")
        values = msgspec.structs.asdict(self.parameters)
        for name, value in values.items():
            checked(name, value)
        check_together(values)

    @property
    def scenario_id(self) -> str:
        """16 hexadecimal digits: the same for equal scenarios, in every process."""
        values = msgspec.structs.asdict(self.parameters)
        columns = {
            "feature_sets": sorted(self.feature_sets),
            "parameters": {name: repr(checked(name, value)) for name, value in values.items()},
        }
        return sha256(msgspec.json.encode(columns, order="sorted")).hexdigest()[:_DIGITS]


# --- as the world of the kernel -------------------------------------------------------------------

_LONGEST_US = 1e30


def as_world(scenario: Scenario) -> World:
    """What one replica set of that fleet lives in."""
    p = scenario.parameters
    replaced = p.disk_failures_per_year / p.crashes_per_year if p.crashes_per_year else 0.0
    return World(
        replication_factor=p.replication_factor,
        # Partition.effectiveMinIsr
        min_insync_replicas=min(p.min_insync_replicas, p.replication_factor),
        unclean_elections=p.unclean_elections,
        bounces_wait=p.bounces_wait,
        racks=tuple(replica % p.racks for replica in range(p.replication_factor)),
        crash_mean_us=_mean_us(p.crashes_per_year),
        bounce_mean_us=_mean_us(p.bounces_per_year),
        cut_mean_us=_mean_us(p.network_cuts_per_year),
        failover_mean_us=_mean_us(p.controller_failovers_per_year),
        rack_shock_mean_us=_mean_us(p.rack_shocks_per_year),
        cluster_shock_mean_us=_mean_us(p.cluster_shocks_per_year),
        tail_lost=(1 - replaced) * p.tail_lost,
        disk_replaced=replaced,
        shock_tail_lost=p.shock_tail_lost,
        shock_fate_shared=p.shock_fate_shared,
        crash_restart=LogNormal(_us(p.crash_restart_s), p.crash_restart_sigma),
        clean_restart=with_mean(_us(p.clean_restart_s), p.clean_restart_sigma),
        shutdown=Constant(_us(p.shutdown_s)),
        ready=Exponential(_us(p.ready_s)),
        catch_up=Exponential(_us(p.catch_up_s)),
        cut_lasts=Exponential(_us(p.network_cut_s)),
        failover_lasts=_between(p.controller_failover_min_s, p.controller_failover_max_s),
        leader_recovery=Exponential(_us(p.leader_recovery_s)),
        alter_partition_fast=Exponential(_us(p.alter_partition_ms / 1000)),
        alter_partition_slow=Exponential(_us(p.slow_alter_partition_s)),
        alter_partition_slow_share=p.slow_alter_partition_share,
        heartbeat_age=_between(0, p.heartbeat_s),
        lag_check_phase=_between(0, p.lag_s / 2),
        flush_age=_between(0, p.unflushed_s),
        session_us=_us(p.session_s),
        heartbeat_interval_us=_us(p.heartbeat_s),
        lag_us=_us(p.lag_s),
        early_factor=p.early_crash_factor,
        early_within_us=_us(p.early_crash_within_s),
    )


def horizon_us(parameters: Parameters) -> int:
    """How long a replication lasts."""
    return round(parameters.horizon_years * MICROSECONDS_PER_YEAR)


def _us(seconds: float) -> int:
    return round(seconds * SECOND)


def _mean_us(per_year: float) -> int:
    """The time between two, on average; 0 is never. Draws end long before the longest."""
    return max(1, round(min(MICROSECONDS_PER_YEAR / per_year, _LONGEST_US))) if per_year else 0


def _between(low_s: float, high_s: float) -> Uniform:
    return Uniform(_us(low_s), _us(high_s))


# --- the sets of KIPs -----------------------------------------------------------------------------

GUARD_OF = {"841": "841.fenced", "903": "903.controller-epoch", "704": "704.leader-recovers"}
"""The KIPs in the order of names, each with the guard that stands for it."""
NONE_OF_THEM = "none"
"""The name of the set without any KIP."""
_FORMULAS = (
    "KIP-380 and KIP-343 are of ZooKeeper's era: kiplab.fleet.zookeeper_rates works them out"
)
_GONE = {
    "380": _FORMULAS,
    "343": _FORMULAS,
    "purge_on_register": "no Kafka purges the ISR on registration, and the kernel does not",
}


class KipStanding(StrEnum):
    """What a set of KIPs is in Kafka."""

    RELEASED = "as Kafka"
    """A release has exactly these."""
    SWITCHED = "as Kafka, switched by hand"
    """No release has exactly these."""
    SPECIFIED = "as specified"
    """One of them was written down, and no release does it."""


def standing_of(name: str) -> KipStanding:
    """Raises ParameterError for what is no set."""
    if name in OF_TODAY:
        return KipStanding.RELEASED
    kips = _parts(name, "feature_sets")
    guards = {kip: GUARDS[guard] for kip, guard in GUARD_OF.items()}
    if any(not guards[kip].built for kip in kips):
        return KipStanding.SPECIFIED
    for release in RELEASES.values():
        built = tuple(kip for kip, guard in guards.items() if guard.built_in(release))
        if release.mode is Mode.KRAFT and built == kips:
            return KipStanding.RELEASED
    return KipStanding.SWITCHED


def check_kip_set(name: str, *, key: str = "feature_sets") -> str:
    """The name with its KIPs in order, ``"841+903"``. Raises ParameterError for what is none."""
    return name if name in OF_TODAY else "+".join(_parts(name, key)) or NONE_OF_THEM


ELR, STRICT = "elr", "966.committed-with-min-isr"
OF_966 = frozenset((ELR, STRICT))
"""Beside KIPs: what of KIP-966 a set has."""


def kips_of(name: str) -> frozenset[str]:
    """The KIPs of a feature set by its name; of one of today ELR and STRICT, too."""
    if name not in OF_TODAY:
        return frozenset() if name == NONE_OF_THEM else frozenset(name.split("+"))
    acting = OF_TODAY[name].active(CONTROLLER)
    kips = {kip for kip, guard in {**GUARD_OF, STRICT: STRICT}.items() if guard in acting}
    return frozenset(kips | ({ELR} if OF_TODAY[name].has_elr else set()))


def _parts(name: str, key: str) -> tuple[str, ...]:
    """In their order. A release such as ``"3.6"`` or ``"3.5/3.4-IV0"`` stands for what it has."""
    if name.partition("/")[0] in RELEASES:
        return _of_release(name, key)
    parts = [] if name == NONE_OF_THEM else name.split("+")
    if len(set(parts)) < len(parts) or not {*parts} <= {*GUARD_OF}:
        several = f"{NONE_OF_THEM}, or some of {', '.join(GUARD_OF)} once each with + between them"
        allowed = f'{several}; or {" or ".join(OF_TODAY)}; or a release, as in "3.6"'
        gone = next((f": {_GONE[part]}" for part in parts if part in _GONE), "")
        raise ParameterError(f"there is no feature set {name!r}{gone}", allowed=allowed, key=key)
    return tuple(kip for kip in GUARD_OF if kip in parts)


def _of_release(kafka: str, key: str) -> tuple[str, ...]:
    try:
        features = parse_features(kafka)
    except UnknownFeatureError as unknown:
        raise ParameterError(str(unknown), allowed='as in "3.6"', key=key) from None
    if features.mode is not Mode.KRAFT or RELEASES[features.release].specified is not None:
        allowed = 'name a release of KRaft, as in "3.6"'
        raise ParameterError(f"a fleet does not play Kafka {kafka}", allowed=allowed, key=key)
    acting = features.active(CONTROLLER) | features.active(BrokerId(1))
    return tuple(kip for kip, guard in GUARD_OF.items() if guard in acting)
