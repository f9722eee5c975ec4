"""The sets of KIPs that a fleet can have: those of a release, of a switch, or of a what-if only.

Everything is read off the guard table: a KIP stands for the guard that does its work in the fleet,
and has a role where that guard can be switched.
"""

from enum import StrEnum
from itertools import combinations

import msgspec

from ...protocol.features import UnknownFeatureError, parse_features
from ...protocol.guards import GUARDS
from ...protocol.ids import CONTROLLER, BrokerId
from ...protocol.releases import RELEASES, Mode
from ..kernel.mirrored_guards import PURGE, WRITES
from .parameter_errors import ParameterError

GUARD_OF = {
    "380": "380.control-request-epoch",
    "343": "343.fence-silent",
    "841": "841.fenced",
    "903": "903.controller-epoch",
    "704": "704.leader-recovers",
}
"""The KIPs in the order of names, each with the guard that stands for it."""
SWITCHES = (*GUARD_OF, PURGE)
"""What a set may name: the KIPs, and a controller that takes who registers anew out of the ISR."""
NONE_OF_THEM = "none"
"""The name of the set without any KIP."""


class KipStanding(StrEnum):
    """What a set of KIPs is in one mode."""

    RELEASED = "as Kafka"
    """A release has exactly these."""
    SWITCHED = "as Kafka, switched by hand"
    """Each of them has a role in this mode, and no release has exactly these."""
    SPECIFIED = "as specified"
    """One of them was written down for this mode, and no release does it."""
    COUNTERFACTUAL = "counterfactual"
    """One of them has no role in this mode, or is in no Kafka (`purge_on_register`)."""


class KipSet(msgspec.Struct, frozen=True):
    """Some KIPs in one mode; `releases` are those that have exactly these."""

    name: str
    kips: tuple[str, ...]
    standing: KipStanding
    releases: tuple[str, ...]

    @property
    def meaningful(self) -> bool:
        """Whether every one of them has a role in the mode."""
        return self.standing is not KipStanding.COUNTERFACTUAL


def kip_sets(mode: Mode) -> tuple[KipSet, ...]:
    """All 32 sets of KIPs: those with a meaning in this mode first, and the smaller first."""
    every = [
        _kip_set(kips, mode)
        for count in range(len(GUARD_OF) + 1)
        for kips in combinations(GUARD_OF, count)
    ]
    return tuple(sorted(every, key=lambda one: not one.meaningful))


def meaningful(mode: Mode) -> tuple[str, ...]:
    """The names of the sets in which every KIP has a role in this mode."""
    return tuple(one.name for one in kip_sets(mode) if one.meaningful)


def kip_set(name: str, mode: Mode) -> KipSet:
    """What one set is, also one that purges. Raises ParameterError for what is none."""
    return _kip_set(_parts(name, "feature_sets"), mode)


def check_kip_set(name: str, *, key: str = "feature_sets") -> str:
    """The name with its KIPs in order: ``"903+841"`` is ``"841+903"``.

    Raises ParameterError for what is none.
    """
    return _named(_parts(name, key))


def check_purge(name: str, mode: Mode) -> None:
    """Raises ParameterError for a set that purges where ZooKeeper keeps the registrations."""
    if mode is Mode.ZOOKEEPER and PURGE in name.split("+"):
        problem = (
            f"{name!r} is for KRaft: with ZooKeeper a controller handles who registers anew as gone"
            " and come back, so there is nothing to purge"
        )
        allowed = f'leave {PURGE} out, or say mode = "{Mode.KRAFT}"'
        raise ParameterError(problem, allowed=allowed, key="feature_sets")


def _parts(name: str, key: str) -> tuple[str, ...]:
    """In their order. A release such as ``"3.6"`` or ``"3.5/3.4-IV0"`` stands for what it has."""
    if name.partition("/")[0] in RELEASES:
        return _of_release(name, key)
    parts = [] if name == NONE_OF_THEM else name.split("+")
    if len(set(parts)) < len(parts) or not {*parts} <= {*SWITCHES}:
        if WRITES in parts:
            problem = f"{WRITES} (up to Kafka 2.6) is compared with the engine, not studied"
            allowed = "with ZooKeeper a study is of 2.7 to 3.2: leave it out"
            raise ParameterError(problem, allowed=allowed, key=key)
        several = f"{NONE_OF_THEM}, or some of {', '.join(SWITCHES)} once each with + between them"
        allowed = f'{several}; or a release, as in "3.6"'
        raise ParameterError(f"there is no feature set {name!r}", allowed=allowed, key=key)
    return tuple(switch for switch in SWITCHES if switch in parts)


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


def _kip_set(kips: tuple[str, ...], mode: Mode) -> KipSet:
    releases = _with_exactly(kips, mode)
    return KipSet(_named(kips), kips, _standing(kips, mode, releases), releases)


def _named(kips: tuple[str, ...]) -> str:
    return "+".join(kips) or NONE_OF_THEM


def _standing(kips: tuple[str, ...], mode: Mode, releases: tuple[str, ...]) -> KipStanding:
    if PURGE in kips:
        return KipStanding.COUNTERFACTUAL
    guards = [GUARDS[GUARD_OF[kip]] for kip in kips]
    if any(mode not in guard.modes for guard in guards):
        return KipStanding.COUNTERFACTUAL
    if any(not guard.built for guard in guards):
        return KipStanding.SPECIFIED
    return KipStanding.RELEASED if releases else KipStanding.SWITCHED


def _with_exactly(kips: tuple[str, ...], mode: Mode) -> tuple[str, ...]:
    built = {kip: GUARDS[guard] for kip, guard in GUARD_OF.items()}
    return tuple(
        name
        for name, release in RELEASES.items()
        if release.mode is mode
        and release.specified is None
        and kips == tuple(kip for kip, guard in built.items() if guard.built_in(release))
    )
