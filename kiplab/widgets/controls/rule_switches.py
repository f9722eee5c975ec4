"""Which rules hold, as switches see them: a release, KIPs, single guards."""

from __future__ import annotations

from msgspec.structs import replace

from ...protocol.features import Features, parse_features, switched
from ...protocol.guards import GUARDS, SPECIFIED, Guard, GuardKind, named, releases_of
from ...protocol.ids import CONTROLLER
from ...protocol.releases import RELEASES

AS_SPECIFIED = f"704.{SPECIFIED}"
"""What KIP-704 wants, and no release does."""
SWITCHES = ("841", "903", AS_SPECIFIED)
"""The KIPs with a switch of their own."""
EVERY_RELEASE = tuple(RELEASES)


def is_on(features: Features, name: str) -> bool:
    """Whether a guard acts, or for a KIP whether it refuses what it was written to refuse."""
    active = features.active(CONTROLLER)
    refusals = [id for id in named(name) if GUARDS[id].kind is GuardKind.REFUSAL]
    return all(id in active for id in refusals or named(name))


def turned(features: Features, name: str, on: bool) -> Features:
    """`features` with a guard or a KIP on or off; what the release does by itself needs no word."""
    ids = named(name)
    rest = tuple((id, value) for id, value in features.overrides if id not in ids)
    natural = replace(features, overrides=rest)
    return natural if is_on(natural, name) is on else switched(natural, name, on)


def at_release(features: Features, release: str) -> Features:
    """Every node on `release` at its own metadata version; what was switched by hand stays."""
    return replace(parse_features(release), overrides=features.overrides)


def switch_words(name: str) -> str:
    """``"KIP-841 (Kafka 3.3 and later)"``, ``"KIP-704 as specified"``."""
    if name == AS_SPECIFIED:
        return "KIP-704 as specified"
    return f"KIP-{name} ({since_words(name)})"


def since_words(kip: str) -> str:
    """``"Kafka 3.3 and later"``: when a KIP's refusals came."""
    refusal = next(g for id, g in GUARDS.items() if id in named(kip) and g.error)
    return f"Kafka {releases_of(refusal)}"


def clauses_of(kip: str) -> str:
    """What a KIP's switch turns, clause by clause, for a tooltip."""
    first = ("Never built: no release of Kafka does this.",) if kip == AS_SPECIFIED else ()
    return "\n".join((*first, *(f"{id}: {GUARDS[id].clause}" for id in named(kip))))


def hint_of(guard: Guard) -> str:
    """A guard's clause, its error, and what switching it on brings along."""
    error = f" Refuses with {guard.error.name}." if guard.error else ""
    needs = f" Needs {guard.requires}: switched on here, that comes with it."
    return f"{guard.clause}{error}{needs if guard.requires else ''}"
