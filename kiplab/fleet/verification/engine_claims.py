"""The kernel's counts of random schedules, beside the engine's of the same ones."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial

from ...protocol.releases import Mode
from ..agreement.compared_sets import COMPARED_IN
from ..agreement.engine_run import engine_trace
from ..agreement.kernel_run import kernel_run
from ..agreement.outside_events import OutsideSchedule
from ..agreement.racing_outside import racing_schedule
from ..agreement.random_outside import random_schedule
from ..agreement.trace_lines import trace_counts
from ..agreement.zookeeper_run import zookeeper_trace
from .refereed import Certain, Claim, Referee

_OFTEN = (
    *("stale_join", "committed_loss", "last_replica_loss", "unclean_loss", "refused"),
    *("offline", "expansions", "offline_us", "under_min_us", "recovery_us"),
)
_RACING = ("stale_join", "race_loss")
_FEWEST = 30
"""Schedules, however small the effort: everything happens in so many."""
CountedLines = Callable[[], Counter[str]]


def engine_claims(effort: float, seed: int) -> Iterator[Claim]:
    """Schedules in proportion to `effort`; the same number of each, or it is a disagreement."""
    for features in ("none", "841+903", "841+903+704"):
        yield from _random(Mode.KRAFT, features, _many(300, effort), seed)
    for features in ("none", "704"):
        yield from _random(Mode.ZOOKEEPER, features, _many(100, effort), seed)
    for features in ("none", "841"):
        yield from _races(Mode.KRAFT, features, _many(60, effort), seed)
    yield from _races(Mode.ZOOKEEPER, "none", _many(80, effort), seed)


def _many(usual: int, effort: float) -> int:
    return max(_FEWEST, round(usual * effort))


def _random(mode: Mode, features: str, many: int, seed: int) -> Iterator[Claim]:
    schedules = [partial(random_schedule, seed, number) for number in range(many)]
    regime = f"{many} random schedules, counted in both"
    yield from _told(mode, features, schedules, _OFTEN, regime)


def _races(mode: Mode, features: str, many: int, seed: int) -> Iterator[Claim]:
    schedules = [partial(racing_schedule, seed, number) for number in range(many)]
    regime = f"{many} random schedules of the race, counted in both"
    yield from _told(mode, features, schedules, _RACING, regime)


def _told(
    mode: Mode,
    features: str,
    schedules: Sequence[Callable[[], OutsideSchedule]],
    metrics: Sequence[str],
    regime: str,
) -> Iterator[Claim]:
    """By the kernel and by the engine, each when it is first asked."""
    compared = COMPARED_IN[mode][features]
    trace = zookeeper_trace if mode is Mode.ZOOKEEPER else engine_trace

    @cache
    def kernel() -> Counter[str]:
        counts: Counter[str] = Counter()
        for made in schedules:
            # Uncompiled it is the same, and there is no second kernel to compile.
            counts.update(kernel_run(made(), compared, compiled=False).counts)
        return counts

    @cache
    def engine() -> Counter[str]:
        counts: Counter[str] = Counter()
        for made in schedules:
            schedule = made()
            counts.update(trace_counts(trace(schedule, compared), schedule))
        return counts

    def certain(lines: CountedLines, metric: str) -> Certain:
        return Certain(lines()[metric])

    for metric in metrics:
        ours, theirs = (partial(certain, lines, metric) for lines in (kernel, engine))
        yield Claim(metric, features, Referee.ENGINE, regime, ours, theirs, mode=mode)
