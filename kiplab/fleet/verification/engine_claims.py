"""The kernel's counts of random schedules, beside the engine's of the same ones."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial

from ..agreement.engine_run import engine_trace
from ..agreement.kernel_run import kernel_run
from ..agreement.outside_events import OutsideSchedule
from ..agreement.racing_outside import racing_schedule
from ..agreement.random_outside import random_schedule
from ..agreement.trace_lines import trace_counts
from ..kernel.feature_sets import COMPARED
from .refereed import Certain, Claim, Referee

_OFTEN = (
    *("stale_join", "committed_loss", "last_replica_loss", "unclean_loss", "refused"),
    *("offline", "expansions", "offline_us", "under_min_us", "recovery_us"),
)
_RANDOM = random_schedule, _OFTEN, "random schedules"
_RACES = racing_schedule, ("stale_join", "race_loss"), "random schedules of the race"
"""How a schedule is made, what is counted in both, and how it is called."""
_FEWEST = 30
"""Schedules, however small the effort: everything happens in so many."""
CountedLines = Callable[[], Counter[str]]


def engine_claims(effort: float, seed: int) -> Iterator[Claim]:
    """Schedules in proportion to `effort`; the same number of each, or it is a disagreement."""
    for features in ("none", "841+903", "841+903+704"):
        yield from _told(features, _RANDOM, _many(300, effort), seed)
    for features in ("none", "841"):
        yield from _told(features, _RACES, _many(60, effort), seed)


def _many(usual: int, effort: float) -> int:
    return max(_FEWEST, round(usual * effort))


def _told(
    features: str,
    kind: tuple[Callable[[int, int], OutsideSchedule], tuple[str, ...], str],
    many: int,
    seed: int,
) -> Iterator[Claim]:
    """By the kernel and by the engine, each when it is first asked."""
    (made, metrics, words), compared = kind, COMPARED[features]

    def counted(counts: Callable[[OutsideSchedule], Mapping[str, int]]) -> CountedLines:
        schedules = (made(seed, number) for number in range(many))
        return cache(lambda: sum((Counter(counts(one)) for one in schedules), Counter[str]()))

    # Uncompiled it is the same, and there is no second kernel to compile.
    kernel = counted(lambda one: kernel_run(one, compared, compiled=False).counts)
    engine = counted(lambda one: trace_counts(engine_trace(one, compared), one))

    def certain(lines: CountedLines, metric: str) -> Certain:
        return Certain(lines()[metric])

    for metric in metrics:
        ours, theirs = (partial(certain, lines, metric) for lines in (kernel, engine))
        regime = f"{many} {words}, counted in both"
        yield Claim(metric, features, Referee.ENGINE, regime, ours, theirs)
