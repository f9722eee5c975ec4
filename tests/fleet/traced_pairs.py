"""Pairs of schedule and feature set with the kernel's trace, and what tests ask of them.

`python -m tests.fleet.traced_pairs` writes the numbers of the random pairs that the quick tests
take: some that tell each guard, come to each transition and are refused by each guard.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache, partial
from itertools import islice, product
from pathlib import Path

import msgspec

from kiplab.fleet.agreement.kernel_run import EndlessTraceError, OutsideSchedule, Trace
from kiplab.fleet.kernel.mirrored_guards import MIRRORED, guard_bits
from tests.fleet.agreement.compare_command import ComparedPair, random_pair
from tests.fleet.agreement.made_schedules import MADE
from tests.fleet.agreement.small_schedules import small_schedules
from tests.fleet.agreement.trace_comparison import COMPARED, kernel_trace, parting, shrunk
from tests.fleet.agreement.trace_coverage import covered

plainly = partial(kernel_trace, compiled=False)
Compared = tuple[OutsideSchedule, str, Trace]
SEED, PAIRS = 0, 5_000
"""Among so many random pairs those of the quick tests are looked for."""
LONG = 2_000
"""The long tests compare so many."""
FIRST, EACH = 100, 3
"""The quick tests compare so many, and for each guard and transition so many that meet it."""
PARTS = 5
"""Into so many parts the small schedules are divided, each with all of the feature sets."""
SMALL = 2
"""Small schedules of so many incidents are tried here, of up to five by `make fleet-long`."""
TELLING = Path(__file__).with_name("telling_pairs.json")


@cache
def quick_traces() -> tuple[Compared, ...]:
    """The first random pairs, and those that tell something; the made ones come last."""
    telling = msgspec.json.decode(TELLING.read_bytes(), type=list[int])
    numbers = sorted({*range(FIRST), *telling})
    return tuple(traced((*random_pairs(numbers), *MADE)))


@cache
def all_traces() -> tuple[Compared, ...]:
    """All random pairs of the long tests."""
    return tuple(traced(random_pairs(range(LONG))))


def random_pairs(numbers: Iterable[int]) -> Iterator[ComparedPair]:
    """Each a random schedule and the feature set whose turn it is."""
    return (random_pair(SEED, number) for number in numbers)


def traced(pairs: Iterable[tuple[OutsideSchedule, str]]) -> Iterator[Compared]:
    """Every pair whose trace ends."""
    for schedule, name in pairs:
        try:
            yield schedule, name, plainly(schedule, COMPARED[name])
        except EndlessTraceError:
            continue


def is_told(guard: str, pair: Compared) -> bool:
    """Whether the trace, which is the engine's, too, is another one without the guard."""
    schedule, name, trace = pair
    features, bit = COMPARED[name], 1 << MIRRORED.index(guard)
    if not guard_bits(features) & bit:
        return False
    try:
        return plainly(schedule, features, without=bit) != trace
    except EndlessTraceError:
        return True


def check_the_engine(pairs: Iterable[Compared], name: str) -> None:
    """The engine makes of each pair of a feature set what the kernel makes of it."""
    for schedule, its, trace in pairs:
        if its == name:
            found = parting(schedule, name, lambda *_, trace=trace: trace)
            assert found is None, shrunk(found, plainly).sentence


def check_small_schedules(part: int) -> None:
    """Every PARTS-th pair of one of them and a feature set agrees, from `part` on."""
    pairs = product(small_schedules(SMALL), COMPARED)
    for schedule, name in islice(pairs, part, None, PARTS):
        found = parting(schedule, name, plainly)
        assert found is None, found.sentence


def telling_numbers() -> list[int]:
    """The numbers of the pairs that are among the first EACH to meet something."""
    met: Counter[str] = Counter()
    numbers = []
    for number in range(PAIRS):
        for pair in traced(random_pairs((number,))):
            new = [what for what in _meets(pair, met) if met[what] < EACH]
            met.update(new)
            numbers += [number] if new else []
    return numbers


def _meets(pair: Compared, met: Counter[str]) -> set[str]:
    coverage = covered([(pair[0], pair[2])])
    guards = (g for g in MIRRORED if met[f"tells {g}"] < EACH)
    return {
        *coverage.transitions,
        *(f"refused by {guard}" for guard in coverage.guards),
        *(f"tells {guard}" for guard in guards if is_told(guard, pair)),
    }


if __name__ == "__main__":
    TELLING.write_bytes(msgspec.json.encode(telling_numbers()))
