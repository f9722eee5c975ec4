"""`python -m kiplab.judge zookeeper`: a real ZooKeeper beside the engine's, script by script, and
two lives of one broker. `make judge` runs it.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence

from kiplab.extras import MissingExtraError
from kiplab.judge.java_process.child_jvm import DeadKafkaError
from kiplab.judge.kafka_jars.missing_kafka import MissingKafkaError
from kiplab.judge.zookeeper_server.two_lives import two_lives
from kiplab.judge.zookeeper_server.zookeeper_process import ZooKeeperProcess
from tests.judge.zookeeper_server.script_comparing import compared, parting_text
from tests.judge.zookeeper_server.script_coverage import tried_table, untried

AGREED, PARTED, LACKING = 0, 1, 3
"""Exit codes, as those of the commands."""
TICK_MS = 200
"""So that sessions may expire soon."""


def main(arguments: Sequence[str]) -> int:
    """Compare, and say what came of it; the exit code."""
    given = _parser().parse_args(arguments)
    seeds = range(given.seed, given.seed + given.scripts)
    try:
        with ZooKeeperProcess(tick_ms=TICK_MS) as zookeeper:
            parted = _compare(zookeeper.addresses[0], seeds)
        print(two_lives(live=True))
    except (MissingKafkaError, MissingExtraError, DeadKafkaError) as problem:
        print(f"judge: {problem}", file=sys.stderr)
        return LACKING
    return PARTED if parted else AGREED


def _compare(address: str, seeds: Sequence[int]) -> bool:
    """Print what the scripts came to; whether they parted anywhere, or left something untried."""
    began, steps, partings = time.perf_counter(), 0, 0
    found: Counter[str] = Counter()
    for one in compared(address, seeds):
        steps += one.steps
        found += one.tried
        if one.parting is not None:
            partings += 1
            print(parting_text(one.parting), flush=True)
    print("\n".join(tried_table(found)))
    seconds = time.perf_counter() - began
    print(
        f"ZooKeeper: {len(seeds)} scripts, {steps:,} steps, {partings} differences, {seconds:.1f} s"
    )
    missing = untried(found)
    if missing:
        print(f"judge: nothing has tried {', '.join(missing)}", file=sys.stderr)
    return bool(partings or missing)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="judge zookeeper",
        description="Tell a real ZooKeeper and the engine's the same scripts, and say where they"
        " part.",
    )
    parser.add_argument("--scripts", type=_count, default=500, help="how many; 500 unless given")
    parser.add_argument("--seed", type=int, default=0, help="the first script; 0 unless given")
    return parser


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of scripts; ask for 1 or more")
    return int(text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
