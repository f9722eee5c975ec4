"""Two clusters as one, where they differ only in numbers that are mostly just passed on.

The annotations of the structs tell these numbers: the epochs of brokers, and the versions of
requests. Sets that differ in any other number would part again at once.
"""

from collections.abc import Callable
from functools import cache
from operator import attrgetter
from typing import Any, NamedTuple, get_args, get_type_hints

import msgspec
from msgspec.structs import replace

from ...engine.cluster import Cluster
from ...protocol.ids import ApiVersion, BrokerEpoch
from .varied_numbers import Asking, VariedNumber, joined

PASSED_ON = (BrokerEpoch, ApiVersion)
_APART: Any = object()
"""Of two values that differ in more than such numbers."""
_NUMBERS = (int, VariedNumber)

Members = tuple[int, ...]


def merged(
    asking: Asking, one: Cluster, ones: Members, other: Cluster, others: Members
) -> Cluster | None:
    """The cluster of `ones` and that of `others` as one, with the features of the first; None if
    they differ too much for that.
    """
    other = replace(other, features=one.features)
    whole = _Merger(asking, ones, others).value(one, other)
    return None if whole is _APART else whole


class _Merger:
    def __init__(self, asking: Asking, ones: Members, others: Members) -> None:
        self.asking, self.ones, self.others = asking, ones, others
        self.known: dict[tuple[int, int], Any] = {}

    def value(self, one: Any, other: Any) -> Any:
        if one is other:
            return one
        kind = type(one)
        if kind is not type(other):
            return _APART
        if kind is tuple:
            return self._tuple(one, other)
        if isinstance(one, msgspec.Struct):
            here = (id(one), id(other))
            whole = self.known.get(here)
            if whole is None:
                whole = self.known[here] = self._struct(one, other)
            return whole
        return one if one == other else _APART

    def _tuple(self, one: tuple[Any, ...], other: tuple[Any, ...]) -> Any:
        if len(one) != len(other):
            return _APART
        values, same = [], True
        for mine, theirs in zip(one, other, strict=True):
            value = mine if mine is theirs else self.value(mine, theirs)
            if value is _APART:
                return _APART
            same = same and value is mine
            values.append(value)
        return one if same else tuple(values)

    def _struct(self, one: msgspec.Struct, other: msgspec.Struct) -> Any:
        fields = fields_of(type(one))
        changed = {}
        for name, mine, theirs in zip(
            fields.names, fields.get(one), fields.get(other), strict=True
        ):
            if mine is theirs:
                continue
            value = self._field(mine, theirs, is_passed_on=name in fields.passed_on)
            if value is _APART:
                return _APART
            if value is not mine:
                changed[name] = value
        return replace(one, **changed) if changed else one

    def _field(self, mine: Any, theirs: Any, *, is_passed_on: bool) -> Any:
        if is_passed_on and type(mine) in _NUMBERS and type(theirs) in _NUMBERS:
            return joined(self.asking, ((mine, self.ones), (theirs, self.others)))
        return self.value(mine, theirs)


class _Fields(NamedTuple):
    names: tuple[str, ...]
    get: Callable[[Any], tuple[Any, ...]]
    passed_on: frozenset[str]


@cache
def fields_of(kind: type[msgspec.Struct]) -> _Fields:
    """The fields of a struct, and which of them are numbers that are mostly just passed on."""
    hints = get_type_hints(kind, include_extras=True)
    names = kind.__struct_fields__
    get = attrgetter(*names, "__class__")
    passed_on = (n for n in names if set(PASSED_ON) & {hints[n], *get_args(hints[n])})
    return _Fields((*names, "__class__"), get, frozenset(passed_on))
