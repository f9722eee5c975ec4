"""A checkpoint beside what the records before it lead to: they must be the same."""

from typing import Any

from ..states import BrokerLife, PartitionState

_EXACT = {
    "replicas": "replicas",
    "isr": "ISR",
    "leader": "leader",
    "leader_epoch": "leader epoch",
    "partition_epoch": "partition epoch",
    "recovering": "recovering",
    "adding": "adding",
    "removing": "removing",
}
_ELR = {"elr": "ELR", "last_known": "last known leader"}
"""Compared as sets: their order is that of a Java HashSet. A cluster without eligible leader
replicas saves neither (PartitionRegistration.toRecord, 4.3.1).
"""
_LIFE = {"epoch": "broker epoch", "incarnation": "incarnation", "fenced": "fenced"}


def partition_differs(told: PartitionState, saved: PartitionState, *, has_elr: bool) -> str:
    """In which fields two states of one partition differ; empty where in none."""
    sides = [{name: getattr(state, name) for name in _EXACT} for state in (told, saved)]
    for side, state in zip(sides, (told, saved), strict=True):
        side.update((name, tuple(sorted(getattr(state, name)))) for name in _ELR if has_elr)
    return _difference(*sides)


def life_differs(told: BrokerLife, saved: BrokerLife) -> str:
    """In which fields two registrations of one broker differ; empty where in none."""
    return _difference(*({name: getattr(life, name) for name in _LIFE} for life in (told, saved)))


def _difference(told: dict[str, Any], saved: dict[str, Any]) -> str:
    unlike = [name for name, value in told.items() if value != saved[name]]
    words = _EXACT | _ELR | _LIFE
    sides = [", ".join(f"{words[n]} {_shown(s[n])}" for n in unlike) for s in (saved, told)]
    return "; the records before it lead to ".join(sides) if unlike else ""


def _shown(value: Any) -> str:
    return str(list(value)) if isinstance(value, tuple) else str(value)
