"""A mapping that is never changed: one with another value shares most of what it has."""

from collections.abc import Iterator, Mapping
from typing import TypeVar

KeyT = TypeVar("KeyT")
ValueT = TypeVar("ValueT")


class OverlaidMapping(Mapping[KeyT, ValueT]):
    """`late` lies over `base`. An empty value stands for none.

    Where each of n values is put into a copy, n² are copied; here about √n for each.
    """

    __slots__ = ("_base", "_late")

    def __init__(self, base: Mapping[KeyT, ValueT] = {}, late: Mapping[KeyT, ValueT] = {}) -> None:
        self._base, self._late = base, late

    def __getitem__(self, key: KeyT) -> ValueT:
        return self._late[key] if key in self._late else self._base[key]

    def __iter__(self) -> Iterator[KeyT]:
        return iter(self._together())

    def __len__(self) -> int:
        return len(self._together())

    def with_value(self, key: KeyT, value: ValueT) -> "OverlaidMapping[KeyT, ValueT]":
        """One that has this value, in the place of another one."""
        one = OverlaidMapping(self._base, {**self._late, key: value})
        is_long = len(one._late) ** 2 > 8 * len(self._base)
        return OverlaidMapping(one._together()) if is_long else one

    def _together(self) -> dict[KeyT, ValueT]:
        return {key: value for key, value in {**self._base, **self._late}.items() if value}
