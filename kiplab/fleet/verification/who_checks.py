"""The referees of each metric: read off the claims, without computing them."""

from collections.abc import Sequence
from functools import cache

import msgspec

from ...protocol.releases import Mode
from ..fleet_answers.counted_metrics import COUNTED
from ..fleet_answers.never_rules import never_in_mode
from ..kernel.simulation import METRIC_NAMES
from .refereed import Claim
from .verified import claims


class CheckedMetric(msgspec.Struct, frozen=True, kw_only=True):
    """How many comparisons there are of a metric in a mode, and by whom.

    `never` is why it cannot happen in that mode, "" where it can; `elsewhere` are the other modes
    in which there are comparisons.
    """

    metric: str
    comparisons: int
    referees: tuple[str, ...]
    elsewhere: tuple[str, ...]
    never: str

    @property
    def words(self) -> str:
        """``exact chain; engine``; ``never, by construction: ...``."""
        if self.referees:
            return "; ".join(self.referees)
        if self.never:
            return f"never, by construction: {self.never}"
        return f"nobody in this mode; in {', '.join(self.elsewhere)} mode it is checked"


def metrics_of(mode: Mode) -> tuple[str, ...]:
    """What the rows of a mode can be about: what the kernel counts, and what samples estimate."""
    metrics = (
        one for one in COUNTED.values() if one.mode in (None, mode) or one.name in METRIC_NAMES
    )
    return tuple(one.name for one in metrics)


def who_checks(metrics: Sequence[str], mode: Mode) -> tuple[CheckedMetric, ...]:
    """Of each of these metrics who its referees are, in their order."""
    return tuple(_checked(metric, mode) for metric in dict.fromkeys(metrics))


def _checked(metric: str, mode: Mode) -> CheckedMetric:
    of_it = [claim for claim in _claims() if claim.metric == metric]
    here = [claim for claim in of_it if claim.mode is mode]
    there = [claim for claim in of_it if claim.mode is not mode]
    never = never_in_mode(metric, mode)
    return CheckedMetric(
        metric=metric,
        comparisons=len(here),
        referees=tuple(dict.fromkeys(str(claim.referee) for claim in here)),
        elsewhere=tuple(dict.fromkeys(str(claim.mode) for claim in there)),
        never="" if never is None else never.because,
    )


@cache
def _claims() -> tuple[Claim, ...]:
    return tuple(claims())
