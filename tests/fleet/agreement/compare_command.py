"""``python -m tests.fleet.agreement.compare_command``: the long comparison of engine and kernel.

Pair `number` is a random schedule, with ``--races`` one around the race, or with ``--small`` a
small one, and a feature set.
It goes on where it stopped: how far it is stands in a file, which is written anew every so often.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count, islice, product
from pathlib import Path

import msgspec

from kiplab.fleet.agreement.engine_run import EngineRun
from kiplab.fleet.agreement.kernel_run import EndlessTraceError, OutsideSchedule
from tests.fleet.agreement import trace_comparison
from tests.fleet.agreement.random_outside import racing_schedule, random_schedule
from tests.fleet.agreement.small_schedules import small_schedules
from tests.fleet.agreement.trace_comparison import COMPARED, in_words, kernel_trace, parting
from tests.fleet.agreement.trace_coverage import TraceCoverage, covered

EVERY = 500
ComparedPair = tuple[OutsideSchedule, str]


class ComparisonProgress(msgspec.Struct, kw_only=True):
    """How far a comparison is: pairs 0..next-1 of `seed` agree, and what they met. `small` is the
    most incidents of a small schedule, 0 for random ones, and those are of a race if `races`;
    `endless` were left out.
    """

    seed: int
    small: int = 0
    races: bool = False
    next: int = 0
    endless: int = 0
    met: dict[str, dict[str, int]] = {}

    def is_of(self, other: ComparisonProgress) -> bool:
        """Whether both are about the same pairs."""
        question = (other.seed, other.small, other.races)
        return (self.seed, self.small, self.races) == question

    @property
    def sentence(self) -> str:
        """How far it is."""
        which = f"small schedules of up to {self.small} incidents" if self.small else "random"
        which = "races" if self.races else which
        left_out = f", {self.endless} of them left out because a leader asks without end"
        return (
            f"{self.next} pairs ({which}, seed {self.seed}) agree{left_out * bool(self.endless)};"
            f" met {_coverage(self).sentence}"
        )


def _coverage(progress: ComparisonProgress) -> TraceCoverage:
    names = TraceCoverage.__struct_fields__
    return TraceCoverage(**{name: Counter(progress.met.get(name, {})) for name in names})


def compare_on(progress: ComparisonProgress, until: int, file: Path | None = None) -> str | None:
    """Compare up to pair `until`; None if all agree, else where the first pair parts, in words."""
    met = _coverage(progress)
    for schedule, name in islice(_pairs(progress), max(0, until - progress.next)):
        try:
            theirs = kernel_trace(schedule, COMPARED[name])
        except EndlessTraceError:
            progress.endless += 1
        else:
            ours = EngineRun(schedule, COMPARED[name]).run()
            difference = trace_comparison.first_difference(ours, theirs)
            if difference is not None:
                found = trace_comparison.TraceParting(schedule, name, *difference)
                short = trace_comparison.shrunk(found)
                return f"pair {progress.next} of seed {progress.seed}: {short.sentence}"
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
    drawn = racing_pair if progress.races else random_pair
    return (drawn(progress.seed, number) for number in count(progress.next))


def racing_pair(seed: int, number: int) -> ComparedPair:
    """A schedule in which a stale replica may come to lead; the sets take turns."""
    return racing_schedule(seed, number), _turn_of(number)


def random_pair(seed: int, number: int) -> ComparedPair:
    """A random schedule."""
    return random_schedule(seed, number), _turn_of(number)


def _turn_of(number: int) -> str:
    return [*COMPARED][number % len(COMPARED)]


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
    options = _parser().parse_args(arguments)
    if options.set not in COMPARED:
        print(f"--set {options.set}: the sets are {', '.join(COMPARED)}", file=sys.stderr)
        return 2
    try:
        sentence = _compare_one(options) if options.schedule else _compare_many(options)
    except (msgspec.MsgspecError, OSError) as problem:
        print(f"{options.schedule or options.file}: {problem}", file=sys.stderr)
        return 2
    if sentence is not None:
        print(sentence, file=sys.stderr)
    return int(sentence is not None)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"python -m {trace_comparison.COMMAND}",
        description="Schedules through engine and kernel.",
    )
    parser.add_argument("--count", type=int, default=5_000, help="pairs in all")
    parser.add_argument("--seed", type=int, default=0, help="of random schedules")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--small",
        type=int,
        default=0,
        metavar="N",
        choices=range(1, 6),
        help="all of up to N incidents, instead of random ones",
    )
    which.add_argument("--races", action="store_true", help="random ones around the race")
    parser.add_argument("--file", type=Path, default=Path("agreement.json"), help="how far it is")
    parser.add_argument("--schedule", help="compare this one alone, as JSON")
    parser.add_argument("--set", default="none", help="its feature set")
    return parser


def _compare_many(options: argparse.Namespace) -> str | None:
    begun = ComparisonProgress(seed=options.seed, small=options.small, races=options.races)
    progress = begun
    if options.file.exists():
        kept = msgspec.json.decode(options.file.read_bytes(), type=ComparisonProgress)
        progress = kept if kept.is_of(begun) else begun
    sentence = compare_on(progress, options.count, options.file)
    if sentence is None:
        print(progress.sentence)
    return sentence


def _compare_one(options: argparse.Namespace) -> str | None:
    """The engine's trace, line by line, and where the kernel parts from it."""
    schedule = msgspec.json.decode(options.schedule, type=OutsideSchedule)
    for line in EngineRun(schedule, COMPARED[options.set]).run():
        print(in_words(line))
    found = parting(schedule, options.set, kernel_trace)
    return None if found is None else found.sentence


if __name__ == "__main__":
    sys.exit(main())
