"""Rules under which searches are held to `step`: taken from the tables of guards and releases.

Each guard that KRaft knows is switched off where Kafka has it, and on where it does not, by itself:
also those that are declared to be without effect at the level "partition", because a declaration
can be wrong, and together they could hide one another. Each release of KRaft's is run as it is.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from kiplab.explore.compiled.fitting import WITHOUT_EFFECT
from kiplab.protocol.features import parse_features
from kiplab.protocol.guards import GUARDS, GuardKind
from kiplab.protocol.ids import CONTROLLER
from kiplab.protocol.releases import Mode, of_mode
from tests.repeated import in_long

Rules = dict[str, Any]
"""Keywords of `begun`."""
WITH_ELR: Rules = {"kafka": "4.3", "elr": 1}
"""Eligible leader replicas: a feature of the cluster, and its guards are of a kind of their own."""
_ALONE = {(id,) for id in WITHOUT_EFFECT}
OF_KRAFT = tuple(id for id, guard in GUARDS.items() if Mode.KRAFT in guard.modes)
"""The guards that may be switched where the level begins."""
FAR_REACHING: list[Rules] = [
    {},
    {"off": ("903", "841")},
    {"off": ("497.leader-epoch", "497.sender-is-leader", "497.partition-epoch")},
    {"off": ("631.one-live-incarnation",)},
    {"on": ("497.pending-outlives-metadata",)},
    {"on": ("903.bump-leader-epochs",)},
    {"on": ("903.epoch-from-metadata",)},
]
"""Beside the tables: what leads to states that no single guard leads to."""
TOGETHER: list[Rules] = [
    *FAR_REACHING[1:3],
    {"off": ("497.request-broker-epoch", "497.leader-in-isr", "497.partition-epoch")},
    {"off": ("kafka-7128.epoch-start", "320")},
    {"kafka": "3.5/3.5-IV0"},
]
USUAL = "3.5"
WORDLESS = {
    GuardKind.RULE: "somebody behaves otherwise, which no fact tells; some do say so (_SAYS_SO)",
    GuardKind.ALTERNATIVE: "as of a rule",
    GuardKind.AS_SPECIFIED: "as of a rule",
    GuardKind.FEATURE: "as of a rule; who is eligible, facts tell",
}
"""Kinds of guards that a search does not watch (explored._WATCHED), and why."""
NEVER_NATIVE = {
    GuardKind.ALTERNATIVE: "a KIP rejected it",
    GuardKind.AS_SPECIFIED: "no release does it",
    GuardKind.FEATURE: "the level of the feature brings it",
}
"""Kinds of guards that no release brings (guards.NATIVE), and why."""
NOT_IN_ITS_PLACE = {
    GuardKind.REFUSAL: "it is part of what was chosen",
    GuardKind.RULE: "it is part of what was chosen",
    GuardKind.AS_SPECIFIED: "it goes with each of them: as_specified",
    GuardKind.FEATURE: "it is about who is elected, and about no request",
}
"""Kinds that are not tried in the place of KIP-903 (alternatives._IN_ITS_PLACE), and why."""


def rules_of_the_tables(first: str, *, has_elr: bool = True) -> list[Rules]:
    """Every guard off and on at least once, and every release, from the release `first` on; without
    `has_elr` no cluster with eligible leader replicas.
    """
    releases = list(of_mode(Mode.KRAFT))
    releases = releases[releases.index(first) :]
    found: list[Rules] = [*({"kafka": release} for release in releases), WITH_ELR]
    found += [one for id in OF_KRAFT for one in _off_and_on(id, releases)]
    found += [
        {"kafka": releases[-1], "off": tuple(WITHOUT_EFFECT)},
        {"kafka": releases[0], "on": tuple(WITHOUT_EFFECT)},
        {"kafka": releases[-1], "on": tuple(WITHOUT_EFFECT)},
        *TOGETHER,
    ]
    return [rules for rules in found if has_elr or "elr" not in rules]


def tried(first: str, quick: str, *, has_elr: bool = True) -> list[Any]:
    """The rules of the tables for one test, `quick`. To the long run it leaves two of three guards,
    and those that are said to be without effect, each by itself: together they are tried at once.
    """
    rules = rules_of_the_tables(first, has_elr=has_elr)
    others = with_effect(rules)
    alone = [one for one in others if len((*one.get("off", ()), *one.get("on", ()))) == 1]
    now = [one for one in others if one not in alone or not alone.index(one) % 3]
    return [*now, *in_long((one for one in rules if one not in now), quick)]


def with_effect(rules: Iterable[Rules]) -> list[Rules]:
    """Without the guards that are said to be without effect, each by itself."""
    return [one for one in rules if (*one.get("off", ()), *one.get("on", ())) not in _ALONE]


def _off_and_on(id: str, releases: list[str]) -> Iterator[Rules]:
    if GUARDS[id].kind is GuardKind.FEATURE:
        yield {**WITH_ELR, "off": (id,)}
        return
    having = [release for release in releases if _has(release, id)]
    lacking = [release for release in releases if release not in having]
    if having:
        yield {"kafka": USUAL if USUAL in having else having[0], "off": (id,)}
    if lacking:
        yield {"kafka": USUAL if USUAL in lacking else lacking[-1], "on": (id,)}


def _has(release: str, id: str) -> bool:
    return id in parse_features(release).active(CONTROLLER)


def switched_on(rules: Iterable[Rules]) -> set[str]:
    """Guards that are on under some of these rules."""
    return set[str]().union(*(_active(one) for one in rules))


def switched_off(rules: Iterable[Rules]) -> set[str]:
    """Guards that are off under some of these rules."""
    return set[str]().union(*(set(OF_KRAFT) - _active(one) for one in rules))


def _active(rules: Rules) -> frozenset[str]:
    kafka = rules.get("kafka", USUAL)
    switches = {name: rules.get(name, ()) for name in ("off", "on")}
    return parse_features(kafka, **switches, elr=rules.get("elr", 0)).active(CONTROLLER)
