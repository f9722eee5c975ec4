"""Draws in whole microseconds: random words, and inverse distribution functions as tables.

A table has two halves, for the words below and above the middle. A half is cut where the
probability that is left halves, 32 times, and each of these octaves into `CELLS` equal cells; in
between it goes along the straight line. So the tails are as fine as the middle, the longest draw
is known (`longest`), and a draw needs no logarithm: it is the same on every machine.

The knots are worked out with decimal numbers of 40 digits. The normal quantile, which Python has as
a float, is rounded to 2^-20 first: no library's last bit is left in it.

The words are Philox4x32-10 of Salmon, Moraes, Dror and Shaw (SC 2011): random numbers by counting.
A block of four words is a function of a key and a counter. The key is (study seed, replication);
the counter says what the numbers are for. So nothing depends on the order in which they are asked
for, and all feature sets meet the same world. All words have 32 bits, in whole numbers of 64.

Arithmetic that a processor does in one instruction, Python does in its own way: the same numbers.
numba promises its compiler that no whole number ever outgrows 63 bits; the product of two words
may. So the compiler is given the instructions themselves, which make no promise.
"""

from collections.abc import Callable, Iterable
from decimal import Decimal, localcontext
from functools import lru_cache
from itertools import chain
from statistics import NormalDist
from typing import Any

from .machine_code import Longs, fast, has_compiler

CELLS = 128
_CELL_BITS = 7
OCTAVES = 32
HALF = OCTAVES * CELLS + 1
TABLE = 2 * HALF
"""Words in a table."""
BEYOND = 1 << 56
"""The longest draw in microseconds, 2,285 years: longer than any horizon, and its steps fit."""
_DIGITS = 40
_Z_GRID = 1 << 20


@fast
def drawn(tables: Longs, start: int, word: int) -> int:
    """The draw of a 32-bit word from the table that begins at `start`, in microseconds."""
    # No question that the processor would have to guess the answer to.
    side = word >> 31
    tail = word ^ (side * WORD)
    # 2 * tail + 1 of 2^33: never 0, never a knot.
    rest = 2 * tail + 1
    length = bit_length(rest)
    rest <<= 32 - length
    at = start + side * HALF + (length - 1) * CELLS
    at += (rest >> (31 - _CELL_BITS)) & (CELLS - 1)
    part = rest & ((1 << (31 - _CELL_BITS)) - 1)
    step = tables[at + 1] - tables[at]
    # In two parts, as the product of a step of years and 24 bits has more than 64.
    return tables[at] + ((step * (part >> 12)) >> 12) + ((step * (part & 0xFFF)) >> 24)


@lru_cache(maxsize=128)
def exponential(mean_us: int) -> tuple[int, ...]:
    """The table of an exponential distribution with this mean."""
    return _bounded((mean_us * unit + (1 << 63)) >> 64 for unit in _unit_exponential())


def log_normal(median_us: int, sigma: Decimal) -> tuple[int, ...]:
    """The table of a log-normal distribution; `sigma` is its spread on the scale of logarithms."""
    if not sigma:
        return constant(median_us)

    def low(tail: Decimal) -> Decimal:
        return median_us * (-sigma * _normal(tail)).exp()

    def high(tail: Decimal) -> Decimal:
        return median_us * (sigma * _normal(tail)).exp()

    return _bounded(_table(low, high))


def uniform(low_us: int, high_us: int) -> tuple[int, ...]:
    """The table of the times between two."""
    width = high_us - low_us
    return _table(lambda tail: low_us + width * tail, lambda tail: high_us - width * tail)


def constant(us: int) -> tuple[int, ...]:
    """The table of one time."""
    return (us,) * TABLE


def _bounded(draws: Iterable[int]) -> tuple[int, ...]:
    return tuple(min(draw, BEYOND) for draw in draws)


def longest(table: tuple[int, ...]) -> int:
    """The longest time that can come out."""
    return max(table[0], table[HALF], table[HALF - 1], table[-1])


@lru_cache(maxsize=1)
def _unit_exponential() -> tuple[int, ...]:
    """With mean 1, in units of 2^-64."""
    scale = 1 << 64
    return _table(lambda tail: -scale * (1 - tail).ln(), lambda tail: -scale * tail.ln())


Quantile = Callable[[Decimal], Decimal]
"""Of the probability that is left on one side, at most 1/2."""


def _table(low: Quantile, high: Quantile) -> tuple[int, ...]:
    with localcontext(prec=_DIGITS):
        halves = ([side(tail) for tail in _tails()] for side in (low, high))
        return tuple(int(value.to_integral_value()) for value in chain(*halves))


@lru_cache(maxsize=1)
def _tails() -> tuple[Decimal, ...]:
    """The probability at each knot of a half: 2^-33 first, 1/2 last."""
    knots = ((octave, cell) for octave in range(OCTAVES) for cell in range(CELLS))
    each = [Decimal((CELLS + c) << o) / Decimal(CELLS << (OCTAVES + 1)) for o, c in knots]
    return (*each, Decimal("0.5"))


@lru_cache(maxsize=HALF)
def _normal(tail: Decimal) -> Decimal:
    """How many standard deviations leave so much on one side."""
    return Decimal(round(-NormalDist().inv_cdf(float(tail)) * _Z_GRID)) / _Z_GRID


# --- random words ---------------------------------------------------------------------------------

_MULTIPLIER_0, _MULTIPLIER_1 = 0xD2511F53, 0xCD9E8D57
_WEYL_0, _WEYL_1 = 0x9E3779B9, 0xBB67AE85
ROUNDS = 10
WORD = 0xFFFFFFFF


@fast
def philox(key0: int, key1: int, c0: int, c1: int, c2: int, c3: int) -> tuple[int, int, int, int]:
    """The block of the counter (c0, c1, c2, c3) under the key (key0, key1)."""
    for _ in range(ROUNDS):
        high0, low0 = upper_product(_MULTIPLIER_0, c0), lower_product(_MULTIPLIER_0, c0)
        high1, low1 = upper_product(_MULTIPLIER_1, c2), lower_product(_MULTIPLIER_1, c2)
        c0, c1, c2, c3 = high1 ^ c1 ^ key0, low1, high0 ^ c3 ^ key1, low0
        key0, key1 = (key0 + _WEYL_0) & WORD, (key1 + _WEYL_1) & WORD
    return c0, c1, c2, c3


# --- arithmetic -----------------------------------------------------------------------------------


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
