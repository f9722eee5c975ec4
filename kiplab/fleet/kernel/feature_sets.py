"""The feature sets of the fleet: which KIPs hold, as bits of guards.

In KRaft mode KIP-841, KIP-903 and KIP-704 can be there or not, with ZooKeeper KIP-380, KIP-343 and
KIP-704. A set is named after what it has: ``"841+903"``; ``"none"`` has nothing of it. What KIP-380
and KIP-343 change is counted; the set itself goes on as without them.

``"purge_on_register"`` may be named, too: a new incarnation takes its earlier life out of the ISR
as it registers (as from Kafka 4.0 on), and does not wait for the end of its session (as no Kafka
does; apache/kafka pull request 18045 proposed it on the way to KIP-966). It is counterfactual.

So may ``"leaders_write_isr"``, for ZooKeeper: leaders write the ISR there by themselves, as up to
Kafka 2.6. The thread that wants it waits for the answer, so that in the kernel it takes no time.
"""

from itertools import chain, combinations

from msgspec.structs import replace

from ...protocol.features import Features, parse_features
from ...protocol.ids import CONTROLLER
from .mirrored_guards import (
    CONTROLLER_OF_4_0,
    LATER_WITH_ZOOKEEPER,
    LEADER_COMPARES,
    NOT_FENCED,
    NOT_LEAVING,
    ONE_INCARNATION,
    PURGE,
    SKIPS_FENCED,
    SKIPS_LEAVING,
    WRITES,
    guard_bits,
)
from .simulation_loop import KIP_343, KIP_380

SWITCHED = ("380", "343", "841", "903", "704", PURGE, WRITES)
"""What a feature set may name."""
IN_MODE = {"kraft": ("841", "903", "704"), "zookeeper": ("380", "343", "704")}
"""Which of them Kafka could have had in a mode; the rest is counterfactual there."""
_ALWAYS_ON = ("kafka-12670",)
"""Whether there are unclean elections is asked of the world."""


def feature_sets(mode: str) -> tuple[str, ...]:
    """Every meaningful set of a mode, ``"none"`` first. Raises KeyError for no mode."""
    kips = IN_MODE[mode]
    sizes = (combinations(kips, size) for size in range(len(kips) + 1))
    return tuple("+".join(kips_on) or "none" for kips_on in chain(*sizes))


def label_of(name: str, mode: str) -> str:
    """``"as Kafka"``, or ``"counterfactual"`` where a KIP is on that this mode does not know.

    Raises ValueError for a feature set that there is not.
    """
    as_in_kafka = {*IN_MODE[mode], *((WRITES,) if mode == "zookeeper" else ())}
    return "as Kafka" if as_in_kafka.issuperset(_parts(name)) else "counterfactual"


def features_of(name: str, zookeeper: bool = False) -> Features:
    """The engine's features for a set; KIP-343 is counted, not played, and whoever purges the ISR
    is a controller of 4.0 among brokers of 3.5 (what else is new about it there is said at
    CONTROLLER_OF_4_0).

    Raises ValueError for a feature set that there is not.
    """
    on = _parts(name)
    if zookeeper:
        return _features_with_zookeeper(on)
    off = tuple(kip for kip in ("841", "903") if kip not in on)
    off += ("631.one-live-incarnation",) if PURGE in on else ()
    specified = ("704.specified",) if "704" in on else ()
    features = parse_features("3.5", off=off, on=(*_ALWAYS_ON, *specified))
    return replace(features, nodes=((CONTROLLER, "4.0"),)) if PURGE in on else features


def _features_with_zookeeper(on: tuple[str, ...]) -> Features:
    """There is nothing of KIP-841 and KIP-903, named or not.

    Raises ValueError for KIP-704 among leaders that write the ISR.
    """
    without = () if "380" in on else ("380",)
    if WRITES in on:
        if "704" in on:
            raise ValueError(f"no Kafka has both {WRITES} and KIP-704: name one of them")
        return parse_features("zk-2.6", off=without)
    specified = ("704.specified",) if "704" in on else ()
    return parse_features("zk-3.4", off=(*LATER_WITH_ZOOKEEPER, *without), on=specified)


def mask_of(name: str, zookeeper: bool = False) -> int:
    """Its bits for the kernel. Raises ValueError for a feature set that there is not."""
    on = _parts(name)
    counted = (KIP_380 if "380" in on else 0) | (KIP_343 if "343" in on else 0)
    return guard_bits(features_of(name, zookeeper)) | counted


def _parts(name: str) -> tuple[str, ...]:
    parts = () if name == "none" else tuple(name.split("+"))
    wrong = [part for part in parts if part not in SWITCHED]
    if wrong or len(set(parts)) < len(parts):
        example = "'none', '841', '841+903'"
        raise ValueError(f"no feature set {name!r}; one names each of {SWITCHED} once: {example}")
    return parts


def is_regular(mask: int) -> bool:
    """Whether an incident that meets no other is as simple as quiet time takes it for.

    Not where a leader asks again and again for what the controller refuses.
    """
    fenced = mask & NOT_FENCED == 0 or mask & (SKIPS_FENCED | LEADER_COMPARES) != 0
    leaving = (mask & SKIPS_LEAVING == 0) == (mask & NOT_LEAVING == 0)
    return fenced and leaving and mask & (ONE_INCARNATION | CONTROLLER_OF_4_0) != 0
