"""A prediction of a search's size before it starts, extrapolated from smaller searches.

The searches within smaller bounds run for as long as they are cheap; every further unit of a bound
multiplies by the growth that was measured for it (Bound.first, Bound.further). Another play grows
differently: the result is the right order of magnitude, no more.
"""

from collections.abc import Callable, Mapping

import msgspec
from msgspec.structs import replace

from ..levels.level_table import Level, Pace
from ..search_terms import PROVED, Halt, HaltReason, Model, Progress
from .breadth_first import search

COMPILED = Pace(
    400_000, 130, "for the compiled search, and up to a minute to compile, once on a machine"
)
"""Measured at the level "partition", as that level's own pace."""


class SizePrediction(msgspec.Struct, frozen=True):
    """About how many states there are, and at whose pace; `exact`: these very bounds were run."""

    states: int
    exact: bool
    pace: Pace

    @property
    def megabytes(self) -> int:
        """The memory that the states take."""
        return round(self.states * self.pace.state_bytes / 1_000_000)

    @property
    def seconds(self) -> int:
        """The time that they take."""
        return round(self.states / self.pace.states_per_s)

    @property
    def sentence(self) -> str:
        """For people, before the search begins."""
        states = f"{self.states:,}" if self.exact else f"about {_rounded(self.states):,}"
        if self.exact:
            return f"{states} states, as a smaller search has shown"
        taken = _time(self.seconds)
        return (
            f"{states} states are to be expected, give or take a factor of {self.pace.margin}:"
            f" {taken} and {_size(self.megabytes)} {self.pace.ending}"
        )

    def beyond(self, memory_mb: int, seconds: float | None, states: int | None) -> bool:
        """Whether that is more than these limits allow."""
        return (
            self.megabytes > memory_mb
            or (seconds is not None and self.seconds > seconds)
            or (states is not None and self.states > states)
        )


def predict(
    level: Level,
    model: Callable[[dict[str, int]], Model],
    bounds: Mapping[str, int],
    pace: Pace,
) -> SizePrediction:
    """Search within smaller bounds while that is cheap, then multiply. `model` makes one; `pace`
    is that of whoever will search. Where not even the smallest search is cheap, the level's own
    count of it stands for it."""
    small = dict.fromkeys(bounds, 0)
    states = _counted(model(small), pace)
    if states is None:
        return replace(_carried_on(level, small, level.smallest, bounds, pace), exact=False)
    asked = [b for b in level.bounds if b.name in bounds]
    for bound in sorted(asked, key=lambda b: (b.further, b.name)):
        while small[bound.name] < bounds[bound.name]:
            further = {**small, bound.name: small[bound.name] + 1}
            more_states = _counted(model(further), pace)
            if more_states is None:
                return _carried_on(level, small, states, bounds, pace)
            small, states = further, more_states
    return _carried_on(level, small, states, bounds, pace)


def rule_of_thumb(level: Level, bounds: Mapping[str, int]) -> float:
    """States by the rule alone, without any measurement."""
    return _carried_on(level, dict.fromkeys(bounds, 0), level.smallest, bounds, level.pace).states


def _counted(model: Model, pace: Pace) -> int | None:
    def cheap(progress: Progress) -> Halt | None:
        return Halt(HaltReason.NOT_CHEAP) if progress.states > pace.cheap else None

    outcome = search(model, (), cheap)
    return outcome.states if outcome.verdict == PROVED else None


def _carried_on(
    level: Level,
    small: Mapping[str, int],
    counted_states: int,
    bounds: Mapping[str, int],
    pace: Pace,
) -> SizePrediction:
    states = float(counted_states)
    for bound in level.bounds:
        for done in range(small.get(bound.name, 0), bounds.get(bound.name, 0)):
            states *= bound.further if done else bound.first
    return SizePrediction(round(states), dict(small) == dict(bounds), pace)


def _rounded(number: int) -> int:
    """One figure: more would be a lie."""
    size: int = 10 ** (len(str(number)) - 1)
    return round(number / size) * size


def _size(megabytes: int) -> str:
    return f"{max(megabytes, 1):,} MB" if megabytes < 5_000 else f"{megabytes // 1_000:,} GB"


def _time(seconds: int) -> str:
    if seconds < 60:
        return f"some {max(seconds, 1)} s"
    return f"some {seconds // 60:,} min" if seconds < 7200 else f"some {seconds // 3600:,} h"
