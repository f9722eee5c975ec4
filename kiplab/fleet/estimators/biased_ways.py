"""The time of the next failure: as in truth, or forced into one of the open windows.

Forced failures hit a replica for which it may matter (`_WAYS`), or are events of every kind. The
probability of each of these is known for every outcome. So a sample is weighted with its
probability in truth over that by all ways together (the balance heuristic), and no way can make a
weight large where another one would have come there as well.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from ..kernel.windows_behind import IN_SYNC, IS_ASKED_FOR, IS_UP, LEADS_THE_STALE, MAY_STOP
from .biased_clocks import Clock

_WAY, _WINDOW, _WHEN, _WHICH = range(4)
CHOICES = 4
"""Uniform numbers of an event."""


class OpenWindows(msgspec.Struct, frozen=True, kw_only=True):
    """Arrays (samples, windows): when each begins, how long it lasts (0: there is none); (samples,
    windows, 4) whom to hit there, bits in the order of the kernel's words; (samples): what came
    last, when all is at rest if nothing more does.
    """

    begins: Any
    lasts: Any
    whom: Any
    since: Any
    rests: Any


class NextEvents(msgspec.Struct, frozen=True, kw_only=True):
    """Arrays (samples): of which clock the next event is, -1 where none comes; when; and how much
    likelier that is if it is forced than in truth.
    """

    clock: Any
    at: Any
    forced: Any


class _Way(msgspec.Struct, frozen=True):
    """How often it is taken, what comes and whom it hits; at any time alike, or else in any window
    alike, as races are in short ones.
    """

    share: float
    kind: str
    whom: int
    evenly: bool = True


_WAYS = (
    _Way(0.5, "crash", IN_SYNC),
    _Way(0.1, "crash", IN_SYNC, evenly=False),
    _Way(0.05, "crash", IS_UP, evenly=False),
    _Way(0.15, "crash", IS_ASKED_FOR),
    _Way(0.1, "crash", LEADS_THE_STALE),
    _Way(0.15, "bounce", MAY_STOP),
)
_ANY_KIND = 0.06
"""Every kind alike; all next events where no broker can be hit."""
_MOMENT = 0.001
"""Of the time until all is at rest: nothing is aimed at what takes less, as fast requests do."""


def balanced(kinds: Sequence[str]) -> Any:
    """Every kind as often as any other."""
    from numpy import array

    return array([1 / kinds.count(kind) / len(set(kinds)) for kind in kinds])


def picked(shares: Any, u: Any) -> Any:
    """(samples, shares) and (samples) numbers: which share each of these falls into."""
    from numpy import cumsum, minimum

    ends = cumsum(shares, axis=1)
    return minimum((u[:, None] * ends[:, -1:] >= ends).sum(axis=1), shares.shape[1] - 1)


class NextWays:
    """Draws the next event of one world, by true or by biased rates."""

    def __init__(self, clocks: Sequence[Clock], window_us: int) -> None:
        from numpy import array

        kinds = [clock.kind for clock in clocks]
        self._rates, self._balanced = array([clock.rate for clock in clocks]), balanced(kinds)
        self._rate, self._look_back = float(self._rates.sum()), window_us
        self._ways = tuple(_WayHere(way, clocks) for way in _WAYS if way.kind in kinds)

    def draw(self, open_now: OpenWindows, is_forced: Any, u: Any) -> NextEvents:
        """From (samples, CHOICES) uniform numbers. Where nothing can be forced, as in truth."""
        from numpy import where

        shares = self._shares(open_now)
        is_forced = is_forced & (open_now.lasts.sum(axis=1) > 0)
        clock, at = self._in_truth(open_now, u)
        put, put_at = self._forced(open_now, shares, u)
        clock, at = where(is_forced, put, clock), where(is_forced, put_at, at)
        return NextEvents(clock=clock, at=at, forced=self._likelier(open_now, shares, clock, at))

    def _shares(self, open_now: OpenWindows) -> Any:
        """(samples, ways): how often each way is taken, the last one for something of any kind."""
        from numpy import column_stack, ones

        some = [way.share * way.can(open_now) for way in self._ways]
        shares = column_stack([*some, _ANY_KIND * ones(len(open_now.since))])
        return shares / shares.sum(axis=1)[:, None]

    def _in_truth(self, open_now: OpenWindows, u: Any) -> tuple[Any, Any]:
        from numpy import log1p, where

        at = open_now.since + 1 - (log1p(-u[:, _WHEN]) / self._rate).astype("int64")
        clock = picked(self._rates[None, :], u[:, _WHICH])
        return where(at < open_now.rests + self._look_back, clock, -1), at

    def _forced(self, open_now: OpenWindows, shares: Any, u: Any) -> tuple[Any, Any]:
        from numpy import where

        chosen = picked(shares, u[:, _WAY])
        clock, at = picked(self._balanced[None, :], u[:, _WHICH]), _within(open_now, None, u)
        for number, way in enumerate(self._ways):
            mine = chosen == number
            here = way.draw(open_now, u)
            clock, at = where(mine, here[0], clock), where(mine, here[1], at)
        return clock, at

    def _likelier(self, open_now: OpenWindows, shares: Any, clock: Any, at: Any) -> Any:
        """1 where nothing can be forced, 0 where nothing came, or came too late for that."""
        from numpy import exp, maximum, where

        whole = open_now.lasts.sum(axis=1)
        window = (open_now.begins <= at[:, None]).sum(axis=1) - 1
        density = shares[:, -1] * self._balanced[clock] / maximum(whole, 1)
        for number, way in enumerate(self._ways):
            density = density + shares[:, number] * way.density(open_now, clock, window)
        truth = self._rates[clock] * exp(-self._rate * (at - open_now.since))
        there = (clock >= 0) & (at < open_now.rests)
        return where(whole > 0, where(there, density / truth, 0.0), 1.0)


class _WayHere:
    """A way in a world where there is such a kind of event."""

    def __init__(self, way: _Way, clocks: Sequence[Clock]) -> None:
        from numpy import array

        self.share, self._evenly, self._whom = way.share, way.evenly, way.whom - IN_SYNC
        of = {one.brokers[0]: n for n, one in enumerate(clocks) if one.kind == way.kind}
        self._clocks = array([of[b] for b in sorted(of)])
        self._is_mine = array([one.kind == way.kind for one in clocks])
        self._bit = array([1 << one.brokers[0] for one in clocks])

    def can(self, open_now: OpenWindows) -> Any:
        """For each sample, whether a broker can be hit, for more than a moment."""
        weights = self._weights(open_now)
        return weights.sum(axis=1) > _MOMENT * open_now.lasts.sum(axis=1) * self._evenly

    def draw(self, open_now: OpenWindows, u: Any) -> tuple[Any, Any]:
        """Clocks and times."""
        from numpy import arange

        weights = self._weights(open_now)
        window = picked(weights, u[:, _WINDOW])
        bits = self._hit(open_now, window)[:, None] >> arange(len(self._clocks)) & 1
        return self._clocks[picked(bits, u[:, _WHICH])], _within(open_now, weights, u)

    def density(self, open_now: OpenWindows, clock: Any, window: Any) -> Any:
        """Of that clock at a moment of that window, per microsecond."""
        from numpy import arange, maximum

        hit, weights = self._hit(open_now, window), self._weights(open_now)
        many = ((hit[:, None] >> arange(len(self._clocks))) & 1).sum(axis=1)
        rows = arange(len(window))
        lasts = maximum(open_now.lasts[rows, window], 1)
        when = weights[rows, window] / lasts / maximum(weights.sum(axis=1), 1)
        return self._is_mine[clock] * ((hit & self._bit[clock]) > 0) / maximum(many, 1) * when

    def _weights(self, open_now: OpenWindows) -> Any:
        lasts = open_now.lasts if self._evenly else open_now.lasts > 0
        return lasts * (open_now.whom[:, :, self._whom] > 0)

    def _hit(self, open_now: OpenWindows, window: Any) -> Any:
        from numpy import arange

        return open_now.whom[arange(len(window)), window, self._whom]


def _within(open_now: OpenWindows, weights: Any, u: Any) -> Any:
    """A moment in one of the windows, by weight."""
    from numpy import arange

    window = picked(open_now.lasts if weights is None else weights, u[:, _WINDOW])
    rows = arange(len(window))
    return open_now.begins[rows, window] + (u[:, _WHEN] * open_now.lasts[rows, window]).astype(
        "int64"
    )
