"""`python -m kiplab.judge schedules`: situations by chance, told to real controllers of the
ZooKeeper era and to the engine. `make judge-long` runs many, and goes on where it stopped.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import msgspec

from kiplab.extras import MissingExtraError
from kiplab.judge.java_process.child_jvm import DeadKafkaError
from kiplab.judge.kafka_jars.missing_kafka import MissingKafkaError
from kiplab.judge.zookeeper_era.real_mail import CONTROLLER_RELEASES
from kiplab.judge.zookeeper_era.sequences import Passage
from kiplab.judge.zookeeper_era.waiting import TooQuietError
from kiplab.protocol.features import parse_features
from tests.judge.zookeeper.control_coverage import (
    ControlCoverage,
    ControlRule,
    Tried,
    coverage_table,
)
from tests.judge.zookeeper.controllers_command import Hear, live_controllers
from tests.judge.zookeeper.engine_sequences import ENGINE_RELEASES, engine_differences
from tests.judge.zookeeper.random_situations import GENERATOR, random_situation
from tests.judge.zookeeper.schedule_recordings import RecordedSchedule, save_schedules
from tests.judge.zookeeper.shorter_situations import shortest_situation
from tests.judge.zookeeper.situations import JudgedSituation

AS_KAFKA, APART, UNASKED = 0, 1, 3
"""Exit codes, as those of the commands."""


class ScheduleDone(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came of one seed: how much was heard, by kind, and a short way to where the two differ.

    `kinds` count requests by API and answer, as in ``"StopReplica 77"``; `tried` counts rules of
    the engine, as in ``"guard 380.shutdown-epoch"``.
    """

    kafka: str
    generator: int
    seed: int
    kinds: dict[str, int]
    apart: JudgedSituation | None = None
    tried: dict[str, int] = {}


def main(arguments: Sequence[str] | None = None) -> int:
    """Tell what is not told yet, and say what came of all; the exit code."""
    given = _parser().parse_args(arguments)
    done = list(_kept(given.into)) if given.into else []
    releases = given.release or CONTROLLER_RELEASES
    try:
        with ExitStack() as stack:
            hear = live_controllers(stack)
            for patch in releases:
                done += _run(patch, hear, given, {d.seed for d in done if d.kafka == patch})
    except (MissingKafkaError, MissingExtraError, DeadKafkaError) as problem:
        print(f"judge: {problem}", file=sys.stderr)
        return UNASKED
    print("\n".join(_summary(done)))
    if any(one.apart for one in done):
        return APART
    told = {(one.kafka, one.seed) for one in done}
    asked = {(patch, seed) for patch in releases for seed in _seeds(given)}
    return AS_KAFKA if asked <= told else UNASKED


def _seeds(given: argparse.Namespace) -> range:
    return range(given.first, given.first + given.count)


def _run(
    patch: str, hear: Hear, given: argparse.Namespace, known: set[int]
) -> Iterator[ScheduleDone]:
    recorded: list[RecordedSchedule] = []
    for seed in _seeds(given):
        if seed in known:
            continue
        try:
            one, heard = judged_schedule(patch, seed, hear)
        except (DeadKafkaError, TooQuietError, OSError) as problem:
            # The next run of the same command tells it again.
            print(f"Kafka {patch}, seed {seed}: not told to its end: {problem}", flush=True)
            continue
        print(
            f"Kafka {patch}, seed {seed}: {'differs' if one.apart else 'as the engine'}", flush=True
        )
        if given.into:
            _keep(one, given.into)
        recorded.append(RecordedSchedule(random_situation(seed), heard))
        yield one
    if given.record and recorded:
        save_schedules(patch, tuple(recorded), given.record)


def judged_schedule(patch: str, seed: int, hear: Hear) -> tuple[ScheduleDone, tuple[Passage, ...]]:
    """What comes of a seed, and what is heard. Raises what `hear` raises."""
    situation = random_situation(seed)
    heard = hear(situation, patch)

    def differs(shorter: JudgedSituation) -> bool:
        try:
            return any(True for _ in engine_differences(shorter, patch, hear(shorter, patch)))
        except TooQuietError:
            return False

    apart, coverage = None, ControlCoverage()
    if any(True for _ in engine_differences(situation, patch, heard, coverage)):
        apart = shortest_situation(situation, differs)
    kinds = dict(Counter(_kinds(heard)))
    tried = {str(rule): count for rule, count in coverage.hits.items()}
    return ScheduleDone(patch, GENERATOR, seed, kinds, apart, tried), heard


def _kinds(heard: Sequence[Passage]) -> Iterator[str]:
    for passage in heard:
        yield from (f"{sent.api} {sent.answer}" for sent in passage.requests)
        yield from (f"ControlledShutdown {answer.error}" for answer in passage.answers)


def _kept(file: Path) -> Iterator[ScheduleDone]:
    """What earlier runs of the same generator came to."""
    if file.exists():
        decoder = msgspec.json.Decoder(ScheduleDone)
        found = map(decoder.decode, file.read_bytes().splitlines())
        yield from (one for one in found if one.generator == GENERATOR)


def _keep(one: ScheduleDone, file: Path) -> None:
    with file.open("ab") as kept:
        kept.write(msgspec.json.encode(one) + b"\n")


def _summary(done: Sequence[ScheduleDone]) -> Iterator[str]:
    for patch in CONTROLLER_RELEASES:
        of_it = [one for one in done if one.kafka == patch]
        kinds = sum((Counter(one.kinds) for one in of_it), Counter[str]())
        if not of_it:
            continue
        apart = [one for one in of_it if one.apart]
        yield f"Kafka {patch}: {len(of_it)} schedules, {len(apart)} not as the engine"
        yield from (f"    {kind:<24} {count:>7,}" for kind, count in sorted(kinds.items()))
        yield from (f"    seed {one.seed}: {one.apart and one.apart.steps}" for one in apart)
    yield from _coverage(done)


def _coverage(done: Sequence[ScheduleDone]) -> Iterator[str]:
    """Of releases that have schedules, what those have tried; the rest is for `judge controllers`,
    which says why where nothing tries it.
    """
    hits: dict[str, Counter[ControlRule]] = {}
    for one in done:
        counted = {ControlRule(Tried(kind), name): n for (kind, name), n in _tried(one)}
        hits.setdefault(one.kafka, Counter()).update(counted)
    features = {patch: parse_features(ENGINE_RELEASES[patch]) for patch in hits}
    yield from coverage_table(hits, features)


def _tried(one: ScheduleDone) -> Iterator[tuple[tuple[str, str], int]]:
    for rule, count in one.tried.items():
        kind, _, name = rule.partition(" ")
        yield (kind, name), count


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="judge schedules",
        description="Tell situations by chance to real controllers of ZooKeeper's years and to the"
        " engine, and shorten those in which the two differ.",
    )
    parser.add_argument("--release", action="append", choices=CONTROLLER_RELEASES)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=20, help="how many seeds of each release")
    parser.add_argument(
        "--into", type=Path, metavar="FILE", help="where what is done is kept, and not done again"
    )
    parser.add_argument(
        "--record", type=Path, metavar="DIR", help="keep what is heard of new ones there"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
