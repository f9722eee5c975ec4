"""The referees of each metric: read off the claims, without computing them."""

from collections.abc import Sequence
from functools import cache

import msgspec

from .refereed import Claim
from .verified import claims


class CheckedMetric(msgspec.Struct, frozen=True, kw_only=True):
    """How many comparisons there are of a metric, and by whom."""

    metric: str
    comparisons: int
    referees: tuple[str, ...]

    @property
    def words(self) -> str:
        """``exact chain; engine``."""
        return "; ".join(self.referees)


def who_checks(metrics: Sequence[str]) -> tuple[CheckedMetric, ...]:
    """Of each of these metrics who its referees are, in their order."""
    return tuple(_checked(metric) for metric in dict.fromkeys(metrics))


def _checked(metric: str) -> CheckedMetric:
    of_it = [claim for claim in _claims() if claim.metric == metric]
    return CheckedMetric(
        metric=metric,
        comparisons=len(of_it),
        referees=tuple(dict.fromkeys(str(claim.referee) for claim in of_it)),
    )


@cache
def _claims() -> tuple[Claim, ...]:
    return tuple(claims())
