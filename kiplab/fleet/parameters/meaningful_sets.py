"""The sets of KIPs that a fleet can have: those of a release, or of a switch.

A KIP stands for the guard that does its work in the fleet.
"""

from enum import StrEnum

from ...protocol.features import UnknownFeatureError, parse_features
from ...protocol.guards import GUARDS
from ...protocol.ids import CONTROLLER, BrokerId
from ...protocol.releases import RELEASES, Mode
from ..kernel.feature_sets import OF_TODAY
from .parameter_errors import ParameterError

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
