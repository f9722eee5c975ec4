"""Who checks which metric: told by the claims, and nothing of them is worked out for it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import msgspec

from ...protocol.releases import Mode
from .refereed import Claim
from .verified import claims


class CheckedMetric(msgspec.Struct, frozen=True, kw_only=True):
    """How many comparisons there are of a metric in a mode, by whom and in which regimes; none is
    said as such: then `elsewhere` are the modes in which there are some.
    """

    metric: str
    comparisons: int
    referees: tuple[str, ...]
    regimes: tuple[str, ...]
    elsewhere: tuple[str, ...]


def who_checks(metrics: Sequence[str], mode: Mode) -> tuple[CheckedMetric, ...]:
    """Of each of these metrics who its referees are, in their order."""
    return tuple(_checked(metric, mode) for metric in dict.fromkeys(metrics))


def _checked(metric: str, mode: Mode) -> CheckedMetric:
    of_it = [claim for claim in _claims() if claim.metric == metric]
    here = [claim for claim in of_it if claim.mode is mode]
    there = [claim for claim in of_it if claim.mode is not mode]
    return CheckedMetric(
        metric=metric,
        comparisons=len(here),
        referees=tuple(dict.fromkeys(str(claim.referee) for claim in here)),
        regimes=tuple(dict.fromkeys(claim.regime for claim in here)),
        elsewhere=tuple(dict.fromkeys(str(claim.mode) for claim in there)),
    )


@cache
def _claims() -> tuple[Claim, ...]:
    return tuple(claims())
