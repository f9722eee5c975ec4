"""Ways in which events follow on the first one: the truth, and some in which more goes wrong.

In truth next to nothing comes within a window. Other ways have crashes of the brokers that are
still there, of any, or something of every kind (balanced failure biasing). Samples are of all ways
by turns, the truth among them, and weighed with how likely they are in truth over how likely they
are by all ways together: so no weight is more than the number of ways.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, factorial, perm
from typing import Any, Protocol

import msgspec

MOST = 10
"""Events in a window."""
_NEARER = 6
"""Half of the events of a way come in about so small a part of the window."""
_FEWEST = 1e-4
"""So rarely may there be more than MOST events in truth."""
_SOON, _WHEN, _WHICH = range(3)
"""Uniform numbers of an event."""


class HasBrokers(Protocol):
    """A clock: what it brings, and to whom."""

    @property
    def kind(self) -> str:
        """Such as ``"crash"``."""

    @property
    def brokers(self) -> tuple[int, ...]:
        """To all of them at once."""


class Follow(msgspec.Struct, frozen=True):
    """Arrays (samples, MOST): of which clock, -1 where there is no event; where in the window."""

    kinds: Any
    at: Any


class Way(Protocol):
    """Densities are per unit of the window, for events in any order."""

    def draw(self, first: Any, u: Any, /) -> Follow:
        """From (samples, 3, MOST) uniform numbers, behind the events of these clocks."""

    def density(self, first: Any, follow: Follow, /) -> Any:
        """How likely that is."""


def ways_of(clocks: Sequence[HasBrokers], means: Any, replicas: int) -> list[Way]:
    """The truth first. `means` are how many events of each clock are expected within a window.

    Raises ValueError where so much happens that plain sampling sees it.
    """
    kinds = [clock.kind for clock in clocks]
    found: list[Way] = [_Truth(means)]
    if "crash" in kinds:
        found += [_Others(clocks, many) for many in range(1, replicas)]
        found.append(_Several(_alike([kind == "crash" for kind in kinds]), 2))
    return [*found, *(_Several(balanced(kinds), many) for many in (1, 2))]


def balanced(kinds: Sequence[str]) -> Any:
    """Every kind as often as any other."""
    from numpy import array

    return array([1 / kinds.count(kind) / len(set(kinds)) for kind in kinds])


def _alike(those: Sequence[bool]) -> Any:
    from numpy import array

    return array(those) / sum(those)


def picked(shares: Any, u: Any) -> Any:
    """(samples, shares) and (samples, n) numbers: which share each of these falls into."""
    from numpy import cumsum, minimum

    ends = cumsum(shares, axis=1)
    last = shares.shape[1] - 1
    return minimum((u[:, :, None] * ends[:, None, -1:] > ends[:, None, :]).sum(axis=2), last)


class _Truth:
    """As many as come, evenly over the window."""

    def __init__(self, means: Any) -> None:
        from scipy.stats import poisson

        self._mean, self._shares = float(means.sum()), means / means.sum()
        if poisson.sf(MOST, self._mean) > _FEWEST:
            raise ValueError(
                f"{self._mean:.3g} events are expected while one is being dealt with, too many for"
                " failure biasing; plain sampling sees what comes of so many"
            )
        self._whole = float(poisson.cdf(MOST, self._mean))
        self._up_to = poisson.cdf(range(MOST), self._mean) / self._whole

    def draw(self, _first: Any, u: Any) -> Follow:
        from numpy import arange, where

        # How many there are is told by the last number, which an event has for nothing.
        count = (u[:, _SOON, -1:] > self._up_to).sum(axis=1)
        kinds = picked(self._shares[None, :], u[:, _WHICH])
        return Follow(where(arange(MOST) < count[:, None], kinds, -1), u[:, _WHEN])

    def density(self, _first: Any, follow: Follow) -> Any:
        from numpy import where

        each = where(follow.kinds < 0, 1.0, self._mean * self._shares[follow.kinds])
        return each.prod(axis=1) * exp(-self._mean) / self._whole


class _Several:
    """So many, of the clocks in these shares, most of them soon."""

    def __init__(self, shares: Any, many: int) -> None:
        self._shares, self._many = shares, many

    def draw(self, _first: Any, u: Any) -> Follow:
        from numpy import arange, where

        kinds = picked(self._shares[None, :], u[:, _WHICH])
        return Follow(where(arange(MOST) < self._many, kinds, -1), _soon(u))

    def density(self, _first: Any, follow: Follow) -> Any:
        from numpy import where

        there = follow.kinds >= 0
        each = where(there, self._shares[follow.kinds] * _density_soon(follow.at), 1.0)
        right = there.sum(axis=1) == self._many
        return right * factorial(self._many) * each.prod(axis=1)


class _Others:
    """So many crashes of brokers that the first event did not hit, each of another one."""

    def __init__(self, clocks: Sequence[HasBrokers], many: int) -> None:
        from numpy import array

        self._many, crash = many, [clock.kind == "crash" for clock in clocks]
        self._any = _Several(_alike(crash), many)
        self._crash = array(crash)
        self._hit = array([[c in one.brokers for c in _brokers(clocks)] for one in clocks])
        of = [one.brokers[0] if is_one else -1 for one, is_one in zip(clocks, crash, strict=True)]
        self._broker = array(of)
        self._clock_of = array([of.index(b) for b in _brokers(clocks)])

    def draw(self, first: Any, u: Any) -> Follow:
        """Where too few are left, of any."""
        from numpy import argsort, where

        hit, follow = self._hit[first], self._any.draw(first, u)
        # Those that were hit come last.
        order = argsort(u[:, _WHICH, : hit.shape[1]] + hit, axis=1)
        others, there = self._clock_of[order[:, : self._many]], slice(self._many)
        follow.kinds[:, there] = where(self._enough(hit), others, follow.kinds[:, there])
        return follow

    def density(self, first: Any, follow: Follow) -> Any:
        from numpy import arange, array, where

        hit, there = self._hit[first], follow.kinds >= 0
        brokers = where(there, self._broker[follow.kinds], -1)
        times = (brokers[:, :, None] == arange(hit.shape[1])).sum(axis=1)
        right = there.sum(axis=1) == self._many
        right &= (times.sum(axis=1) == self._many) & (times + hit <= 1).all(axis=1)
        each = where(there, _density_soon(follow.at), 1.0).prod(axis=1)
        orders = array([max(1, perm(n, self._many)) for n in range(hit.shape[1] + 1)])
        chosen = right * factorial(self._many) * each / orders[(~hit).sum(axis=1)]
        return where(self._enough(hit)[:, 0], chosen, self._any.density(first, follow))

    def _enough(self, hit: Any) -> Any:
        return (~hit).sum(axis=1)[:, None] >= self._many


def _brokers(clocks: Sequence[HasBrokers]) -> list[int]:
    return sorted(one.brokers[0] for one in clocks if one.kind == "crash")


def _soon(u: Any) -> Any:
    """Half of them near the first event, half anywhere in the window."""
    from numpy import expm1, log1p, where

    near = -log1p(u[:, _WHEN] * expm1(-_NEARER)) / _NEARER
    return where(u[:, _SOON] < 0.5, near, u[:, _WHEN])


def _density_soon(at: Any) -> Any:
    from numpy import exp as exps
    from numpy import expm1

    return (1 + _NEARER * exps(-_NEARER * at) / -expm1(-_NEARER)) / 2
