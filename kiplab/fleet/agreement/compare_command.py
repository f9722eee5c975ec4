"""``python -m kiplab.fleet.agreement.compare_command``: the long comparison of engine and kernel.

Pair `number` is a random schedule, or with ``--small`` a small one, and a feature set. It goes on
where it stopped: how far it is stands in a file, which is written anew every so often.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice, product
from pathlib import Path

import msgspec

from .compared_sets import COMPARED, compared_set
from .engine_run import engine_trace
from .kernel_run import EndlessTraceError, kernel_trace
from .outside_events import OutsideSchedule, from_json
from .random_outside import random_schedule
from .small_schedules import small_schedules
from .trace_comparison import COMMAND, first_difference, shrunk
from .trace_coverage import TraceCoverage, covered

EVERY = 500
ComparedPair = tuple[OutsideSchedule, str]


class ComparisonProgress(msgspec.Struct, kw_only=True):
    """How far a comparison is: pairs 0..next-1 of `seed` agree, and what they met. `small` is the
    most incidents of a small schedule, 0 for random ones; `endless` were left out.
    """

    seed: int
    small: int = 0
    next: int = 0
    endless: int = 0
    met: dict[str, dict[str, int]] = {}

    @property
    def sentence(self) -> str:
        """How far it is."""
        which = f"small schedules of up to {self.small} incidents" if self.small else "random"
        left_out = f", {self.endless} of them left out because a leader asks without end"
        return (
            f"{self.next} pairs ({which}, seed {self.seed}) agree{left_out * bool(self.endless)};"
            f" met {_coverage(self).sentence}"
        )


def _coverage(progress: ComparisonProgress) -> TraceCoverage:
    names = TraceCoverage.__struct_fields__
    return TraceCoverage(**{name: Counter(progress.met.get(name, {})) for name in names})


def compare_on(progress: ComparisonProgress, count: int, file: Path | None = None) -> str | None:
    """Compare up to pair `count`; None if all agree, else where the first pair parts, in words."""
    met = _coverage(progress)
    for schedule, name in islice(_pairs(progress), max(0, count - progress.next)):
        try:
            theirs = kernel_trace(schedule, COMPARED[name])
        except EndlessTraceError:
            progress.endless += 1
        else:
            ours = engine_trace(schedule, COMPARED[name])
            found = first_difference(schedule, name, ours, theirs)
            if found is not None:
                return f"pair {progress.next} of seed {progress.seed}: {shrunk(found).sentence}"
            met.add(covered([(schedule, theirs)]))
        progress.next += 1
        if progress.next % EVERY == 0:
            _keep(progress, met, file)
    _keep(progress, met, file)
    return None


def _pairs(progress: ComparisonProgress) -> Iterator[ComparedPair]:
    if progress.small:
        pairs = product(small_schedules(progress.small), COMPARED)
        return islice(pairs, progress.next, None)
    return random_pairs(progress.seed, progress.next)


def random_pairs(seed: int, first: int = 0) -> Iterator[ComparedPair]:
    """Random schedules, the sets taking turns; without end."""
    number = first
    while True:
        yield random_schedule(seed, number), compared_set(number)
        number += 1


def _keep(progress: ComparisonProgress, met: TraceCoverage, file: Path | None) -> None:
    progress.met = {name: dict(getattr(met, name)) for name in met.__struct_fields__}
    if file is None:
        return
    kept = file.with_suffix(".new")
    kept.write_bytes(msgspec.json.encode(progress))
    kept.replace(file)
    print(progress.sentence.partition(";")[0], file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command: 1 where a pair parts, 2 for what is no schedule, no set or no file of it."""
    given = _parser().parse_args(arguments)
    try:
        found = _compare_one(given) if given.schedule else _compare_many(given)
    except (msgspec.MsgspecError, OSError) as problem:
        print(f"{given.schedule or given.file}: {problem}", file=sys.stderr)
        return 2
    if found is not None:
        print(found, file=sys.stderr)
    return int(found is not None)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"python -m {COMMAND}", description="Schedules through engine and kernel."
    )
    parser.add_argument("--count", type=int, default=5_000, help="pairs in all")
    parser.add_argument("--seed", type=int, default=0, help="of random schedules")
    parser.add_argument("--small", type=int, default=0, metavar="N", choices=range(1, 6))
    parser.add_argument("--file", type=Path, default=Path("agreement.json"), help="how far it is")
    parser.add_argument("--schedule", help="compare this one alone, as JSON")
    parser.add_argument("--set", choices=list(COMPARED), default="none", help="its feature set")
    return parser


def _compare_many(given: argparse.Namespace) -> str | None:
    progress = ComparisonProgress(seed=given.seed, small=given.small)
    if given.file.exists():
        known = msgspec.json.decode(given.file.read_bytes(), type=ComparisonProgress)
        same = (known.seed, known.small) == (progress.seed, progress.small)
        progress = known if same else progress
    found = compare_on(progress, given.count, given.file)
    if found is None:
        print(progress.sentence)
    return found


def _compare_one(given: argparse.Namespace) -> str | None:
    """Both traces, line by line."""
    schedule, features = from_json(given.schedule), COMPARED[given.set]
    ours, theirs = engine_trace(schedule, features), kernel_trace(schedule, features)
    for line in ours:
        print(line.words)
    found = first_difference(schedule, given.set, ours, theirs)
    return None if found is None else found.sentence


if __name__ == "__main__":
    sys.exit(main())
