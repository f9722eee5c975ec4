"""`python -m kiplab.judge controllers`: real controllers of the ZooKeeper era in each situation,
beside what was recorded of them, and beside the engine's. `make judge` runs it.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack

from kiplab.extras import MissingExtraError
from kiplab.judge.java_process.child_jvm import DeadKafkaError
from kiplab.judge.kafka_jars.missing_kafka import MissingKafkaError
from kiplab.judge.zookeeper_era.kafka_server import control_schemas
from kiplab.judge.zookeeper_era.real_mail import (
    CONTROLLER_RELEASES,
    recorded_sequences,
)
from kiplab.judge.zookeeper_era.sequences import Passage
from kiplab.judge.zookeeper_era.waiting import TooQuietError
from kiplab.judge.zookeeper_server.zookeeper_process import ZooKeeperProcess
from kiplab.protocol.features import parse_features
from tests.judge.zookeeper.control_coverage import ControlCoverage, coverage_lines
from tests.judge.zookeeper.engine_sequences import ENGINE_RELEASES, engine_differences
from tests.judge.zookeeper.judged_situations import SITUATIONS
from tests.judge.zookeeper.kept_sequences import keep_sequences
from tests.judge.zookeeper.live_situation import heard_live
from tests.judge.zookeeper.sequence_text import difference_lines, passage_lines
from tests.judge.zookeeper.situations import JudgedSituation

ALIKE, PARTED, LACKING = 0, 1, 3
"""Exit codes, as those of the commands."""

Hear = Callable[[JudgedSituation, str], tuple[Passage, ...]]
"""Tells a situation to the controller of a patch release."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Tell each situation to each controller, and say what came of it; the exit code."""
    given = _parser().parse_args(arguments)
    try:
        with ExitStack() as stack:
            hear = _from_recordings if given.recorded else live_controllers(stack)
            tried = {p: ControlCoverage() for p in given.release or CONTROLLER_RELEASES}
            wanted = _wanted(given)
            found = [_judged(patch, name, hear, given, tried[patch]) for patch, name in wanted]
    except (MissingKafkaError, MissingExtraError, DeadKafkaError, TooQuietError) as problem:
        print(f"judge: {problem}", file=sys.stderr)
        return LACKING
    features = {patch: parse_features(ENGINE_RELEASES[patch]) for patch in tried}
    hits = {patch: coverage.hits for patch, coverage in tried.items()}
    print("\n".join(coverage_lines(hits, features)))
    anew, apart = (sum(column) for column in zip(*found, strict=True)) if found else (0, 0)
    print(f"{len(found)} situations, {anew} not as recorded; in {apart} the engine does otherwise.")
    return PARTED if anew or apart else ALIKE


def _wanted(given: argparse.Namespace) -> Iterator[tuple[str, str]]:
    for patch in given.release or CONTROLLER_RELEASES:
        for name in given.situation or SITUATIONS:
            why_not = SITUATIONS[name].why_not(patch)
            if why_not:
                print(f"Kafka {patch}, {name}: {why_not}.")
            else:
                yield patch, name


def _judged(
    patch: str, name: str, hear: Hear, given: argparse.Namespace, coverage: ControlCoverage
) -> tuple[bool, bool]:
    """Whether what is heard is not what is recorded, and whether it is not what the engine does."""
    situation, began = SITUATIONS[name], time.monotonic()
    heard = hear(situation, patch)
    how = "recorded" if given.recorded else f"live, {time.monotonic() - began:.1f} s"
    print(f"Kafka {patch}, {name} ({how}): {situation.says}")
    print("\n".join(line for passage in heard for line in passage_lines(passage)))
    recorded = heard if given.record else recorded_sequences(patch).get(name, ())
    anew = list(difference_lines(recorded, heard, names=("recorded", "heard")))
    apart = list(engine_differences(situation, patch, heard, coverage))
    print("\n".join([*anew, *apart]), end="\n" if anew or apart else "", flush=True)
    if given.record:
        keep_sequences(patch, {name: heard})
    return bool(anew), bool(apart)


def _from_recordings(situation: JudgedSituation, patch: str) -> tuple[Passage, ...]:
    return recorded_sequences(patch).get(situation.name, ())


def live_controllers(stack: ExitStack) -> Hear:
    """What asks real controllers, until `stack` ends: one ZooKeeper for all of them.

    Raises MissingKafkaError without Java, PySpark or Kafka, DeadKafkaError where ZooKeeper does not
    start.
    """
    zookeeper = stack.enter_context(ZooKeeperProcess())
    port = int(zookeeper.addresses[0].rpartition(":")[2])
    schemas = control_schemas()
    return lambda situation, patch: heard_live(situation, patch, port, schemas)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="judge controllers",
        description="Tell situations to real controllers of ZooKeeper's years, among fake brokers,"
        " and say what each broker got, and where that is not what was recorded, or not what the"
        " engine's controller sends.",
    )
    parser.add_argument(
        "--release",
        action="append",
        choices=CONTROLLER_RELEASES,
        help="a patch release, or several; all of them unless given",
    )
    parser.add_argument(
        "--situation",
        action="append",
        choices=tuple(SITUATIONS),
        help="a situation, or several; all of them unless given",
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--recorded", action="store_true", help="show the recordings, without Java or ZooKeeper"
    )
    how.add_argument("--record", action="store_true", help="ask the controllers, and keep it")
    return parser


if __name__ == "__main__":
    sys.exit(main())
