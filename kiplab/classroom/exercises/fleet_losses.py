"""A loss that a simulated fleet has met, as a play: from a rate back to a story."""

from __future__ import annotations

from functools import cache
from typing import Any

from ...extras import needed_by
from ...plays.play import Play

FLEET, KIPS = "small", "841+903"
CAUSES = ("shock_loss", "last_replica_loss", "unclean_loss")
"""What is frequent enough to be met, the most frequent first."""
_YEARS = 200_000


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
    from ...fleet.agreement.story_search import stories
    from ...fleet.fleet_answers.quick_estimate import changed
    from ...fleet.parameters.fleet_study import read_study

    (scenario,) = changed(read_study(FLEET), dict(parameters)).scenarios
    for found in stories(scenario, seed=0, features=KIPS, metric=cause, years=_YEARS):
        return found.play
    raise LookupError(f"{_YEARS:,} partition-years have no {cause} that can be told")
