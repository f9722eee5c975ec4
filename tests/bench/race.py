"""The random schedules of lab 04: CPU seconds of this code beside those of an older one.

git worktree add --detach /tmp/older COMMIT
python tests/bench/race.py /tmp/older [schedules]

Both in processes of their own, by turns, without Spark, which costs both the same.
"""

import os
import subprocess
import sys
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parents[2]
ROUNDS = 3
PROGRAM = """
import hashlib, sys, time
import kiplab
kiplab.fleet.schedules(2, spark=False)
began = time.process_time()
found = kiplab.fleet.schedules(int(sys.argv[1]), seed=int(sys.argv[2]), spark=False)
took = time.process_time() - began
print(took, hashlib.sha256(repr(found.runs.to_pylist()).encode()).hexdigest())
"""


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    older, schedules = Path(sys.argv[1]).resolve(), sys.argv[2] if sys.argv[2:] else "200"
    took: dict[Path, list[float]] = {older: [], HERE: []}
    for seed in range(ROUNDS):
        said = {place: _run(place, schedules, seed) for place in took}
        for place, (seconds, _) in said.items():
            took[place].append(seconds)
        if len({rows for _, rows in said.values()}) > 1:
            sys.exit(f"the rows of seed {seed} are not the same")
    before, now = (median(took[place]) for place in (older, HERE))
    for name, seconds in (("older", before), ("this code", now)):
        print(f"{name:<12}{1e3 * seconds / int(schedules):>8.2f} ms CPU a schedule, 4 feature sets")
    print(
        f"{before / now:.1f} times as fast, the same rows ({schedules} schedules, {ROUNDS} seeds)"
    )


def _run(place: Path, schedules: str, seed: int) -> tuple[float, str]:
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, schedules, str(seed)],
        cwd=place,
        env={**os.environ, "PYTHONPATH": str(place)},
        check=True,
        capture_output=True,
        text=True,
    )
    seconds, rows = ran.stdout.split()
    return float(seconds), rows


if __name__ == "__main__":
    main()
