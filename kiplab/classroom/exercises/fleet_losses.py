"""A loss that a simulated fleet has met, as a play: from a rate back to a story."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from ...extras import needed_by
from ...plays.play import Play

FLEET, KIPS = "small", "841+903"
CAUSES = ("shock_loss", "last_replica_loss", "unclean_loss")
"""What is frequent enough to be met, the most frequent first."""
_REPLICATIONS = 2_000


def loss_of(cause: str = CAUSES[0], **parameters: Any) -> Play:
    """The first loss by one of CAUSES in the small fleet with both KIPs, 200,000 partition-years.

    Parameters given by name replace those of the fleet. Raises ParameterError for a parameter,
    LookupError for no such cause and where none was met, MissingExtraError without numba.
    """
    if cause not in CAUSES:
        raise LookupError(f"there is no story of {cause!r}; there are {', '.join(CAUSES)}")
    with needed_by("a story of a fleet"):
        import numba  # noqa: F401
    return _told(cause, tuple(sorted(parameters.items())))


@cache
def _told(cause: str, parameters: tuple[tuple[str, Any], ...]) -> Play:
    from ...fleet.agreement.story import story
    from ...fleet.agreement.story_schedule import NoStoryError
    from ...fleet.fleet_answers.quick_estimate import changed
    from ...fleet.parameters.fleet_study import read_study

    (scenario,) = changed(read_study(FLEET), dict(parameters)).scenarios
    for replication in _met(scenario, cause):
        try:
            return story(scenario, seed=0, replication=replication, features=KIPS, metric=cause)
        except NoStoryError:
            continue
    raise LookupError(f"none of {_REPLICATIONS:,} replica sets met a {cause} that can be told")


def _met(scenario: Any, cause: str) -> Iterator[int]:
    """The replications that have counted one."""
    from ...fleet.kernel.simulation import simulate
    from ...fleet.parameters.as_world import as_world, horizon_us

    counts = simulate(
        as_world(scenario),
        seed=0,
        first=0,
        last=_REPLICATIONS,
        horizon_us=horizon_us(scenario.parameters),
        feature_sets=(KIPS,),
    )
    return (n for n in range(_REPLICATIONS) if counts.count(n, KIPS, cause))
