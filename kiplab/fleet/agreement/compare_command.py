"""``python -m kiplab.fleet.agreement.compare_command --count 100000``: the long comparison.

It goes on where it stopped: how far it is stands in a file, which is written anew every so often.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec

from .compared_sets import compared_set
from .kernel_run import EndlessTraceError, kernel_trace
from .random_outside import random_schedule
from .trace_comparison import covered, parting, shrunk

EVERY = 100
LEFT_OUT = "left out: the leader asks without end"


class ComparisonProgress(msgspec.Struct, kw_only=True):
    """How far a comparison is: pairs 0..next-1 of `seed` agree, and what they met."""

    seed: int
    next: int = 0
    met: dict[str, int] = {}


def compare_on(progress: ComparisonProgress, count: int, file: Path | None = None) -> str | None:
    """Compare up to pair `count`; None if all agree, else where the first pair parts, in words."""
    met: Counter[str] = Counter(progress.met)
    while progress.next < count:
        schedule = random_schedule(progress.seed, progress.next)
        name, features = compared_set(progress.next)
        try:
            found = parting(schedule, features)
        except EndlessTraceError:
            met[LEFT_OUT] += 1
        else:
            if found is not None:
                return f"pair {progress.next} ({name}): {shrunk(found).sentence}"
            met.update(covered([kernel_trace(schedule, features)]))
        progress.next, progress.met = progress.next + 1, dict(met)
        if file is not None and (progress.next % EVERY == 0 or progress.next == count):
            kept = file.with_suffix(".new")
            kept.write_bytes(msgspec.json.encode(progress))
            kept.replace(file)
    return None


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; 1 where a pair parts."""
    parser = argparse.ArgumentParser(description="Random schedules through engine and kernel.")
    parser.add_argument("--count", type=int, default=5_000, help="pairs in all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--file", type=Path, default=Path("agreement.json"), help="how far it is")
    given = parser.parse_args(arguments)
    progress = ComparisonProgress(seed=given.seed)
    if given.file.exists():
        known = msgspec.json.decode(given.file.read_bytes(), type=ComparisonProgress)
        progress = known if known.seed == given.seed else progress
    found = compare_on(progress, given.count, given.file)
    if found is not None:
        print(found, file=sys.stderr)
        return 1
    print(f"{progress.next} pairs agree; met: {dict(sorted(progress.met.items()))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
