"""A checkpoint beside what the records before it lead to: they must be the same."""

from collections.abc import Sequence
from typing import Any, TypeVar

from ..states import PartitionState, RegisteredIncarnation

_State = TypeVar("_State", PartitionState, RegisteredIncarnation)
_WORDS = {
    PartitionState: (
        *("replicas", "isr", "leader", "leader_epoch", "partition_epoch", "recovering"),
        *("adding", "removing"),
    ),
    RegisteredIncarnation: ("epoch", "incarnation_id", "fenced"),
}
_LISTS_OF_ELR = ("elr", "last_known")
"""Compared as sets: their order is that of a Java HashSet. A cluster without eligible leader
replicas saves neither (PartitionRegistration.toRecord, 4.3.1).
"""


def agreed(replayed: _State | None, saved: _State, *, has_elr: bool = False) -> tuple[_State, str]:
    """What was replayed, which knows more, where it is the same; else what was saved, and why."""
    if replayed is None:
        return saved, ", which no record before it made"
    names: Sequence[str] = _WORDS[type(saved)]
    sides = [{name: getattr(state, name) for name in names} for state in (saved, replayed)]
    if has_elr:
        for side, state in zip(sides, (saved, replayed), strict=True):
            side |= {name: tuple(sorted(getattr(state, name))) for name in _LISTS_OF_ELR}
    unlike = [name for name, value in sides[0].items() if value != sides[1][name]]
    if not unlike:
        return replayed, ""
    words = (", ".join(_words(name, side[name]) for name in unlike) for side in sides)
    return saved, " with " + "; the records before it lead to ".join(words)


def _words(name: str, value: Any) -> str:
    shown = list(value) if isinstance(value, tuple) else value
    return f"{name.replace('_', ' ').replace('isr', 'ISR').replace('elr', 'ELR')} {shown}"
