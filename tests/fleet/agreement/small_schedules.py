"""Every small schedule: five incidents of two replicas, each at most once, in every order.

One comes with the one before, or as soon as the session of who fell silent then is over. The bound:
at most so many incidents, two gaps, one set of lengths for each incident, unclean elections allowed
or not. Orders that come to the same schedule, because everything is at one moment, are tried once.
"""

from collections.abc import Iterator
from itertools import permutations, product

from msgspec.structs import replace

from kiplab.fleet.agreement.kernel_run import Outside, OutsideSchedule, ordered

INCIDENTS = (
    Outside(at=3_000, kind="crash", broker=1, restart=1_000, level=2, delays=(10_000,)),
    Outside(at=3_000, kind="crash", broker=2, fate="replaced", restart=9_002, delays=(9_000,)),
    Outside(at=3_000, kind="bounce", broker=1, restart=2_000, shutdown=2_000, delays=(3_000,)),
    Outside(at=3_000, kind="cut", broker=2, lasts=12_000, level=1_000),
    Outside(at=3_000, kind="outage", lasts=10_000),
)
GAPS = (0, 9_001)
REST_MS = 60_000
PATIENCE_MS = 9_000


def small_schedules(most: int) -> Iterator[OutsideSchedule]:
    """Those of one to `most` incidents, the shorter first; none comes twice."""
    schedules: set[OutsideSchedule] = set()
    for count in range(1, most + 1):
        for events, unclean in product(permutations(INCIDENTS, count), (False, True)):
            for gaps in product(GAPS, repeat=count - 1):
                schedule = _one_after_another(events, gaps, unclean)
                if schedule not in schedules:
                    schedules.add(schedule)
                    yield schedule


def _one_after_another(
    events: tuple[Outside, ...], gaps: tuple[int, ...], unclean: bool
) -> OutsideSchedule:
    later = tuple(replace(e, at=e.at + sum(gaps[:n])) for n, e in enumerate(events))
    return ordered(
        OutsideSchedule(
            end=later[-1].at + REST_MS, events=later, unclean=unclean, patience=PATIENCE_MS
        )
    )
