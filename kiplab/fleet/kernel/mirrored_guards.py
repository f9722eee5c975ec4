"""Which guards of the protocol the kernel has, as bits; and the feature sets of the fleet by name.

Every guard of KRaft is either mirrored (MIRRORED: a bit, a check in the kernel, and schedules that
tell whether it is there) or without effect here (WITHOUT_EFFECT, with the reason): the TOML file
beside this one.

KIP-841, KIP-903 and KIP-704 can be there or not. A set is named after what it has: ``"841+903"``;
``"none"`` has nothing of it. ``"elr"`` is a release of today with eligible leader replicas
(KIP-966), ``"no-elr"`` the same one without them.
"""

import tomllib
from collections.abc import Iterable
from importlib.resources import files
from itertools import chain, combinations

from ...protocol.features import Features, parse_features
from ...protocol.ids import BrokerId

_FILE = tomllib.loads((files(__package__) / "mirrored_guards.toml").read_text("utf-8"))
MIRRORED: tuple[str, ...] = tuple(_FILE["mirrored"].values())
"""In the order of their bits."""
(
    REQUEST_EPOCH, LEADER_EPOCH_IS, SENDER_LEADS, PARTITION_EPOCH_IS, NOT_LEAVING, NOT_FENCED,
    EPOCHS_MATCH, SKIPS_FENCED, SKIPS_LEAVING, FETCH_EPOCH, LEADER_COMPARES, MAXIMAL_ISR,
    WITHOUT_INELIGIBLE, WITH_MIN_ISR, ONE_INCARNATION, ACTIVE_LEADER, SHRINK_KEEPS_EPOCH,
    UNCLEAN_BY_CONFIG, LEADER_RECOVERS, LEADER_REFUSES, UNCLEAN_AGAIN, ELR_MEMBERS, EMPTY_ISR,
    ELR_ELECTION, LAST_LEADER, STRIKES_UNCLEAN, CODE_OF_4_0,
) = (1 << bit for bit in range(len(MIRRORED) + 1))  # fmt: skip
"""The last one is no guard: from 4.0 on a session is a contact (KAFKA-17793), and a registration
takes the last incarnation out of the ISR. That sessions are looked at every 1.1 s is left out."""

_ANY_BROKER = BrokerId(1)
WITHOUT_EFFECT: dict[str, str] = {
    guard: because for because, several in _FILE["without_effect"].items() for guard in several
}


def guard_bits(features: Features) -> int:
    """The bits of the guards that are on; every node is taken to have the release of the first."""
    active = features.active(_ANY_BROKER)
    bits = sum(1 << bit for bit, guard in enumerate(MIRRORED) if guard in active)
    return bits | (CODE_OF_4_0 if features.code_of(_ANY_BROKER) >= (4, 0) else 0)


# --- feature sets ---------------------------------------------------------------------------------

SWITCHED = ("841", "903", "704")
"""What a feature set may name, in the order of names."""
FEATURE_SETS = tuple(
    "+".join(kips) or "none"
    for kips in chain(*(combinations(SWITCHED, size) for size in range(len(SWITCHED) + 1)))
)
"""Every set of KIPs, ``"none"`` first."""
TODAY = "4.3"
"""The release that a set with or without eligible leader replicas is of."""
OF_TODAY = {"no-elr": parse_features(TODAY), "elr": parse_features(TODAY, elr=1)}
"""The two of them, by name."""
EVERY_SET = (*FEATURE_SETS, *OF_TODAY)


def features_of(name: str) -> Features:
    """The engine's features for a set: a release of KRaft, with what the set has.

    Whether there are unclean elections depends on the world.

    Raises ValueError for a feature set that there is not.
    """
    if name in OF_TODAY:
        return OF_TODAY[name]
    on = () if name == "none" else tuple(name.split("+"))
    wrong = [kip for kip in on if kip not in SWITCHED]
    if wrong or len(set(on)) < len(on):
        example = f"'none', '841', '841+903'; or one of {', '.join(OF_TODAY)}"
        raise ValueError(f"no feature set {name!r}; one names each of {SWITCHED} once: {example}")
    off = tuple(kip for kip in ("841", "903") if kip not in on)
    specified = ("704.specified",) if "704" in on else ()
    return parse_features("3.5", off=off, on=("kafka-12670", *specified))


def most_of(names: Iterable[str]) -> str:
    """The set with the most KIPs: a release of today has more than any set of them."""
    return max(names, key=lambda name: (name in OF_TODAY, name == "elr", name.count("+")))


def mask_of(name: str) -> int:
    """Its bits for the kernel. Raises ValueError for a feature set that there is not."""
    return guard_bits(features_of(name))


def is_regular(mask: int) -> bool:
    """Whether an incident that meets no other is as simple as quiet time takes it for.

    Not where a leader asks again and again for what the controller refuses.
    """
    fenced = mask & NOT_FENCED == 0 or mask & (SKIPS_FENCED | LEADER_COMPARES) != 0
    return fenced and (mask & SKIPS_LEAVING == 0) == (mask & NOT_LEAVING == 0)
