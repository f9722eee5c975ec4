"""Stories of a study: the replications that have counted something, each as a play if it can be."""

from collections.abc import Callable, Iterator
from math import ceil

import msgspec

from ...plays.play import Play
from ..kernel.simulation import simulate
from ..parameters.as_world import as_world, horizon_us
from ..parameters.scenario import Scenario
from ..parameters.years import MICROSECONDS_PER_YEAR
from .story import story
from .story_schedule import NoStoryError, check_playable

_AT_ONCE = 500
"""So many replications are simulated in a block; mostly the first one is enough."""


class FoundStory(msgspec.Struct, frozen=True):
    """A play, and the replication that it shows."""

    play: Play
    replication: int


def stories(
    scenario: Scenario,
    *,
    seed: int,
    features: str,
    metric: str,
    years: float,
    passed_over: Callable[[NoStoryError], object] | None = None,
) -> Iterator[FoundStory]:
    """The first `metric` of every replication that has one, in their order, over so many
    partition-years. One that no play can show is passed over: `passed_over` gets the reason.

    Raises NoStoryError at once if no play can show such a study, ValueError for an unknown metric
    or feature set, and for no years.
    """
    if not 0 < years < float("inf"):
        raise ValueError(f"years is {years:g}; expected partition-years, more than 0")
    check_playable(as_world(scenario), metric)
    for replication in _met(scenario, seed, features, metric, years):
        try:
            play = story(
                scenario, seed=seed, replication=replication, features=features, metric=metric
            )
        except NoStoryError as reason:
            if passed_over is not None:
                passed_over(reason)
            continue
        yield FoundStory(play, replication)


def _met(scenario: Scenario, seed: int, features: str, metric: str, years: float) -> Iterator[int]:
    """The replications that have counted at least one."""
    horizon = horizon_us(scenario.parameters)
    wanted = ceil(years * MICROSECONDS_PER_YEAR / horizon)
    for first in range(0, wanted, _AT_ONCE):
        last = min(first + _AT_ONCE, wanted)
        counts = simulate(
            as_world(scenario),
            seed=seed,
            first=first,
            last=last,
            horizon_us=horizon,
            feature_sets=(features,),
        )
        yield from (n for n in range(first, last) if counts.count(n, features, metric))
