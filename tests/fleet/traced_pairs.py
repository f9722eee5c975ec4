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

from kiplab.fleet.agreement.kernel_run import EndlessTraceError
from kiplab.fleet.agreement.outside_events import OutsideSchedule
from kiplab.fleet.agreement.trace_lines import Trace
from kiplab.fleet.kernel.mirrored_guards import MIRRORED, guard_bits, mirrored_in
from kiplab.protocol.releases import Mode
from tests.fleet.agreement.compare_command import ComparedPair, random_pair
from tests.fleet.agreement.compared_sets import COMPARED_IN
from tests.fleet.agreement.made_schedules import MADE
from tests.fleet.agreement.small_schedules import small_schedules
from tests.fleet.agreement.trace_comparison import kernel_trace, parting, shrunk
from tests.fleet.agreement.trace_coverage import covered

plainly = partial(kernel_trace, compiled=False)
Compared = tuple[OutsideSchedule, str, Trace]
SEED = {Mode.KRAFT: 0, Mode.ZOOKEEPER: 6}
PAIRS = {Mode.KRAFT: 5_000, Mode.ZOOKEEPER: 1_200}
"""The long tests compare so many random pairs."""
FIRST, EACH = 100, 3
"""The quick tests compare so many, and for each guard and transition so many that meet it."""
PARTS = 5
"""Into so many parts the small schedules are divided, each with all of the feature sets."""
SMALL = 2
"""Small schedules of so many incidents are tried here, of up to five by `make fleet-long`."""
TELLING = Path(__file__).with_name("telling_pairs.json")


@cache
def quick_traces(mode: Mode) -> tuple[Compared, ...]:
    """The first random pairs, and those that tell something; the made ones come last."""
    telling = msgspec.json.decode(TELLING.read_bytes(), type=dict[str, list[int]])[mode.value]
    numbers = sorted({*range(FIRST), *telling})
    return tuple(traced((*random_pairs(mode, numbers), *MADE[mode]), mode))


@cache
def all_traces(mode: Mode) -> tuple[Compared, ...]:
    """All random pairs of the long tests."""
    return tuple(traced(random_pairs(mode, range(PAIRS[mode])), mode))


def random_pairs(mode: Mode, numbers: Iterable[int]) -> Iterator[ComparedPair]:
    """Each a random schedule and the feature set whose turn it is."""
    return (random_pair(SEED[mode], number, mode) for number in numbers)


def traced(pairs: Iterable[tuple[OutsideSchedule, str]], mode: Mode) -> Iterator[Compared]:
    """Every pair whose trace ends."""
    for schedule, name in pairs:
        try:
            yield schedule, name, plainly(schedule, COMPARED_IN[mode][name])
        except EndlessTraceError:
            continue


def is_told(guard: str, pair: Compared, mode: Mode) -> bool:
    """Whether the trace, which is the engine's, too, is another one without the guard."""
    schedule, name, trace = pair
    features, bit = COMPARED_IN[mode][name], 1 << MIRRORED.index(guard)
    if not guard_bits(features) & bit:
        return False
    try:
        return plainly(schedule, features, without=bit) != trace
    except EndlessTraceError:
        return True


def check_the_engine(pairs: Iterable[Compared], mode: Mode, name: str) -> None:
    """The engine makes of each pair of a feature set what the kernel makes of it."""
    for schedule, its, trace in pairs:
        if its == name:
            found = parting(schedule, name, lambda *_, trace=trace: trace, mode)
            assert found is None, shrunk(found, plainly).sentence


def check_small_schedules(mode: Mode, part: int) -> None:
    """Every PARTS-th pair of one of them and a feature set of the mode agrees, from `part` on."""
    pairs = product(small_schedules(SMALL), COMPARED_IN[mode])
    for schedule, name in islice(pairs, part, None, PARTS):
        found = parting(schedule, name, plainly, mode)
        assert found is None, found.sentence


def telling_numbers(mode: Mode) -> list[int]:
    """The numbers of the pairs that are among the first EACH to meet something."""
    met: Counter[str] = Counter()
    numbers = []
    for number in range(PAIRS[mode]):
        for pair in traced(random_pairs(mode, (number,)), mode):
            new = [what for what in _meets(pair, mode, met) if met[what] < EACH]
            met.update(new)
            numbers += [number] if new else []
    return numbers


def _meets(pair: Compared, mode: Mode, met: Counter[str]) -> set[str]:
    coverage = covered([(pair[0], pair[2])])
    guards = (g for g in mirrored_in(mode) if met[f"tells {g}"] < EACH)
    return {
        *coverage.transitions,
        *(f"refused by {guard}" for guard in coverage.guards),
        *(f"tells {guard}" for guard in guards if is_told(guard, pair, mode)),
    }


if __name__ == "__main__":
    TELLING.write_bytes(msgspec.json.encode({mode.value: telling_numbers(mode) for mode in PAIRS}))
