"""Arithmetic that a processor does in one instruction, and Python in its own way: the same numbers.

numba promises its compiler that no whole number ever outgrows 63 bits; the product of two words
may. So here the compiler is given the instructions themselves, which make no promise.
"""

from collections.abc import Callable
from typing import Any

from .machine_code import has_compiler

WORD = 0xFFFFFFFF


def upper_product(one: int, other: int) -> int:
    """The upper word of the product of two words."""
    return one * other >> 32


def lower_product(one: int, other: int) -> int:
    """The lower word of the product of two words."""
    return one * other & WORD


def bit_length(number: int) -> int:
    """How many bits a number has, which is above 0."""
    return number.bit_length()


def _upper(build: Any, one: Any, other: Any) -> Any:
    return build.lshr(build.mul(one, other), one.type(32))


def _lower(build: Any, one: Any, other: Any) -> Any:
    return build.and_(build.mul(one, other), one.type(WORD))


def _bits(build: Any, number: Any, _: Any) -> Any:
    from numba.core.cgutils import true_bit

    zeros = build.ctlz(number, true_bit)
    return build.sub(number.type(64), zeros)


def _compiles_as(emit: Callable[[Any, Any, Any], Any]) -> Any:
    """What compiled code calls: `emit` writes its instructions."""
    from numba.core import types
    from numba.extending import intrinsic

    def typed(_: Any, one: Any, other: Any) -> Any:  # noqa: ARG001
        def write(_: Any, build: Any, __: Any, arguments: Any) -> Any:
            return emit(build, *arguments)

        return types.int64(types.int64, types.int64), write

    return intrinsic(typed)


def _teach() -> None:
    """Tell the compiler what stands for each of these functions."""
    from numba.extending import overload

    upper, lower, bits = map(_compiles_as, (_upper, _lower, _bits))

    # What numba takes has no annotations, and the names of what it stands for.
    overload(upper_product)(lambda one, other: lambda one, other: upper(one, other))  # noqa: ARG005
    overload(lower_product)(lambda one, other: lambda one, other: lower(one, other))  # noqa: ARG005
    overload(bit_length)(lambda number: lambda number: bits(number, 0))  # noqa: ARG005


if has_compiler():
    _teach()
