"""Axes: from values to shares of a length, and the places of the ticks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, floor, log10
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from .fleet_words import number_words, power_words

_STEPS = (1, 2, 5, 10)
_MANTISSAS = (1, 2, 5)
_FEW_DECADES = 2
_NARROW = 6
"""Between the ends of a logarithmic axis, up to which even ticks do."""
_EDGE = 0.08
"""How much farther than its values a logarithmic axis reaches, in decades."""
_MOST_DECADES = 40.0


class PlotTick(NamedTuple):
    """A value and what stands beside it."""

    value: float
    text: str


class PlotAxis(msgspec.Struct, frozen=True):
    """Values from `low` to `high`, perhaps by powers of ten; `marks` are ticks, `line` its edge."""

    low: float
    high: float
    log: bool = False
    marks: tuple[PlotTick, ...] = ()
    title: str = ""
    line: bool = False
    outside: bool = False
    """Whether ticks stick out of the edge."""

    def share(self, value: float) -> float:
        """How far along the axis a value is, from 0 to 1; what lies beyond is at its edge."""
        share = (self._scaled(value) - self._scaled(self.low)) / self._length()
        return min(max(share, 0.0), 1.0)

    def value_at(self, share: float) -> float:
        """The value so far along the axis, from 0 to 1."""
        scaled = self._scaled(self.low) + share * self._length()
        return float(10.0**scaled) if self.log else float(scaled)

    def nearest(self, value: float) -> float:
        """The value itself, or the end of the axis that it is beyond."""
        return min(max(value, self.low), self.high)

    def ticks(self, most: int = 6) -> list[PlotTick]:
        """At most about so many, at round values."""
        return (_log_ticks if self.log else _even_ticks)(self.low, self.high, most)

    def ticked(self, pixels: float, apart: float) -> PlotAxis:
        """With as many ticks as stand so far apart on so many pixels."""
        return replace(self, marks=tuple(self.ticks(max(int(pixels / apart), 2))))

    def range(self) -> list[float]:
        """As plotly has it: powers of ten."""
        return [self._scaled(self.low), self._scaled(self.high)]

    def _scaled(self, value: float) -> float:
        if not self.log:
            return value
        return log10(value) if value > 0 else -_MOST_DECADES * 10

    def _length(self) -> float:
        return self._scaled(self.high) - self._scaled(self.low)


def log_range(values: Iterable[float], *, decades: float = 1.0) -> tuple[float, float]:
    """What a logarithmic axis of these values has to reach, `decades` at least; those that are not
    above 0 have no place on it. 0.1 to 10 where there is none.
    """
    exponents = [log10(value) for value in values if value > 0]
    if not exponents:
        return 0.1, 10.0
    low, high = min(exponents) - _EDGE, max(exponents) + _EDGE
    spare = max(decades - (high - low), 0.0) / 2
    low = max(low - spare, high + spare - _MOST_DECADES)
    return float(10.0**low), float(10.0 ** (high + spare))


def _log_ticks(low: float, high: float, most: int) -> list[PlotTick]:
    first, last = ceil(log10(low) - 1e-9), floor(log10(high) + 1e-9)
    if high / low < _NARROW:
        return _even_ticks(low, high, most)
    if log10(high) - log10(low) < _FEW_DECADES:
        exponents = range(floor(log10(low)), ceil(log10(high)) + 1)
        values = [m * 10.0**n for n in exponents for m in _MANTISSAS]
        return [PlotTick(v, number_words(v, 1)) for v in values if low <= v <= high]
    step = max(ceil((last - first + 1) / most), 1)
    return [PlotTick(10.0**n, power_words(n)) for n in range(first, last + 1) if n % step == 0]


def _even_ticks(low: float, high: float, most: int) -> list[PlotTick]:
    least = (high - low) / most
    size = 10.0 ** floor(log10(least))
    step = next(step * size for step in _STEPS if step * size >= least * (1 - 1e-9))
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    return [PlotTick(n * step, number_words(n * step)) for n in range(first, last + 1)]


def pushed_apart(ideal: Sequence[float], distance: float, low: float, high: float) -> list[float]:
    """Places in [low, high], as near to the wanted ones as can be, in their order and at least
    `distance` from each other; closer where there is no room.
    """
    if not ideal:
        return []
    room = (high - low) / max(len(ideal) - 1, 1)
    apart = min(distance, room)
    order = sorted(range(len(ideal)), key=lambda n: ideal[n])
    places = [0.0] * len(ideal)
    edge = low
    for n in order:
        places[n] = edge = max(ideal[n], edge)
        edge += apart
    edge = high
    for n in reversed(order):
        places[n] = edge = min(places[n], edge)
        edge -= apart
    return places
