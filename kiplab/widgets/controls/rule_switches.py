"""Which rules hold, as switches see them: a release, KIPs, single guards."""

from __future__ import annotations

from msgspec.structs import replace

from ...protocol.features import (
    Features,
    UnknownFeatureError,
    check_features,
    fitting,
    parse_features,
    switched,
)
from ...protocol.guards import GUARDS, SPECIFIED, Guard, GuardKind, named
from ...protocol.ids import CONTROLLER
from ...protocol.releases import Mode, of_mode

AS_SPECIFIED = f"704.{SPECIFIED}"
"""What KIP-704 wants, and no release does."""
SWITCHES = {Mode.KRAFT: ("841", "903", AS_SPECIFIED), Mode.ZOOKEEPER: ("380",)}
"""The KIPs with a switch of their own, in each mode."""


def is_on(features: Features, name: str) -> bool:
    """Whether a guard acts, or for a KIP whether it refuses what it was written to refuse. Guards
    of another mode than that of `features` do not count.
    """
    active = features.active(CONTROLLER)
    ids = _known(features, name)
    refusals = [id for id in ids if GUARDS[id].kind is GuardKind.REFUSAL]
    return all(id in active for id in refusals or ids)


def guards_of(mode: Mode) -> dict[str, Guard]:
    """The guards that can be switched in a mode, by id."""
    return {id: guard for id, guard in GUARDS.items() if mode in guard.modes}


def _known(features: Features, name: str) -> list[str]:
    return [id for id in named(name) if features.mode in GUARDS[id].modes]


def turned(features: Features, name: str, on: bool) -> Features:
    """`features` with a guard or a KIP on or off; what the release does by itself needs no word."""
    ids = named(name)
    rest = tuple((id, value) for id, value in features.overrides if id not in ids)
    natural = replace(features, overrides=rest)
    return natural if is_on(natural, name) is on else switched(natural, name, on)


def at_release(features: Features, release: str) -> Features:
    """Every node on `release` at its own metadata version; what was switched by hand stays, where
    it fits that release.
    """
    bare = parse_features(release)
    kept = tuple(override for override in features.overrides if _fits(bare, override))
    return replace(bare, overrides=kept)


def _fits(bare: Features, override: tuple[str, bool]) -> bool:
    try:
        fitting(check_features(replace(bare, overrides=(override,))))
    except UnknownFeatureError:
        return False
    return True


def left_behind(before: Features, after: Features) -> str:
    """A sentence about what was switched by hand and does not fit the release that came; empty for
    nothing.
    """
    if before.release == after.release:
        return ""
    bare = parse_features(after.release)
    lost = [id for id, on in before.overrides if not _fits(bare, (id, on))]
    if not lost:
        return ""
    one = len(lost) == 1
    verb, pronoun = ("does", "is") if one else ("do", "are")
    who = f"{', '.join(lost)}, switched by hand, {verb} not fit Kafka {after.release}"
    return f"{who}, and {pronoun} left out."


def switch_words(name: str, mode: Mode) -> str:
    """``"KIP-841 (Kafka 3.3 and later)"``, ``"KIP-704 as specified"``."""
    if name == AS_SPECIFIED:
        return "KIP-704 as specified"
    return f"KIP-{name} ({since_words(name, mode)})"


def since_words(kip: str, mode: Mode) -> str:
    """``"Kafka 3.3 and later"``: when a KIP's refusals came to the releases of a mode."""
    refusal = next(g for id, g in guards_of(mode).items() if id in named(kip) and g.error)
    first = next(release for release in of_mode(mode) if release in refusal.releases)
    return f"Kafka {first} and later"


def clauses_of(kip: str, mode: Mode) -> str:
    """What a KIP's switch turns, clause by clause, for a tooltip."""
    first = ("Never built: no release of Kafka does this.",) if kip == AS_SPECIFIED else ()
    found = (f"{id}: {g.clause}" for id, g in guards_of(mode).items() if id in named(kip))
    return "\n".join((*first, *found))


def hint_of(guard: Guard) -> str:
    """A guard's clause, its error, and what switching it on brings along."""
    error = f" Refuses with {guard.error.name}." if guard.error else ""
    needs = f" Needs {guard.requires}: switched on here, that comes with it."
    return f"{guard.clause}{error}{needs if guard.requires else ''}"
