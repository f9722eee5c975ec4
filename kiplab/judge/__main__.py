"""`python -m kiplab.judge`: real Kafka beside the engine, pair by pair. `make judge` runs it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..protocol.features import UnknownFeatureError
from .corpus import judge_report
from .corpus.judged_pairs import JudgedPair, judged_pairs, pair_named
from .corpus.judging import AnotherGeneratorError, Judged, judge_live, judge_recorded, seeds_for
from .corpus.recordings import NoRecordingError, save
from .java_process.child_jvm import DeadKafkaError
from .kafka_jars.missing_kafka import MissingKafkaError
from .zookeeper_era import controllers_command, schedules_command
from .zookeeper_server import zookeeper_command

DONE, PARTED, BAD_INPUT, LACKING = 0, 1, 2, 3
"""Exit codes, as those of the commands."""
OF_ZOOKEEPER = "zookeeper"
"""The word after which ZooKeeper itself is judged."""
OTHER_JUDGES = {
    "controllers": controllers_command.main,
    "schedules": schedules_command.main,
    OF_ZOOKEEPER: zookeeper_command.main,
}
"""By the word after which they judge: controllers of ZooKeeper's years, the same by chance."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Judge, and say what came of it; the exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words and words[0] in OTHER_JUDGES:
        return OTHER_JUDGES[words[0]](words[1:])
    given = _parser().parse_args(words)
    try:
        pairs = [pair_named(name) for name in given.pairs] or list(judged_pairs())
        found = list(_judged(pairs, given))
    except UnknownFeatureError as problem:
        print(f"judge: {problem}", file=sys.stderr)
        return BAD_INPUT
    except (MissingKafkaError, DeadKafkaError, NoRecordingError, AnotherGeneratorError) as problem:
        print(f"judge: {problem}", file=sys.stderr)
        return LACKING
    print(judge_report.summary(found))
    if given.coverage:
        print("\n".join(judge_report.coverage_table(found)))
    missing = [] if given.pairs else list(judge_report.untried(found))
    print("\n".join(missing), end="\n" if missing else "", file=sys.stderr)
    parted = any(judged.differences for judged in found)
    return PARTED if parted or missing else DONE


def _judged(pairs: Sequence[JudgedPair], given: argparse.Namespace) -> Iterator[Judged]:
    """One pair after the other, told as soon as it is done."""
    print(judge_report.HEADING, flush=True)
    for pair in pairs:
        judged = _recorded(pair, given) if given.recorded else _live(pair, given)
        print(judge_report.line_of(judged), flush=True)
        for difference in judged.differences:
            print(judge_report.difference_text(difference, judged.patch), flush=True)
        yield judged


def _recorded(pair: JudgedPair, given: argparse.Namespace) -> Judged:
    return judge_recorded(pair, given.recordings)


def _live(pair: JudgedPair, given: argparse.Namespace) -> Judged:
    judged, recording = judge_live(pair, seeds_for(pair, given.seed))
    if given.record and not judged.differences:
        save(recording, given.recordings)
    return judged


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="judge",
        description="Ask real Kafka and the engine the same, and say where they part. A run that"
        " cannot be live is an error; recorded answers are asked for by name.",
        epilog=f"judge {OF_ZOOKEEPER} asks a real ZooKeeper: see judge {OF_ZOOKEEPER} --help.",
    )
    parser.add_argument(
        "pairs",
        nargs="*",
        metavar="PAIR",
        help="3.7 or 3.7/3.5-IV2; without any: every release at every judged metadata version",
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--recorded", action="store_true", help="ask the recordings, without Java")
    how.add_argument("--record", action="store_true", help="ask Kafka, and keep what it says")
    parser.add_argument(
        "--recordings", type=Path, required=True, metavar="DIR", help="where the recordings are"
    )
    parser.add_argument(
        "--seed", type=int, help="the first conversation; each pair has its own unless given"
    )
    parser.add_argument("--coverage", action="store_true", help="print how often each rule was hit")
    return parser


if __name__ == "__main__":
    sys.exit(main())
