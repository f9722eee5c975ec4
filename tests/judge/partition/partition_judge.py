"""The judge of the broker's side: generated turns, to Kafka's own Partition and the engine's."""

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

import msgspec

from kiplab.judge.partition import observed_broker, partition_process, second_proposal
from kiplab.judge.partition.partition_process import BrokerTurn
from kiplab.protocol.features import Features, parse_features

from ..skeleton import coverage, judging, recordings, sides
from ..skeleton.recordings import Recording
from . import leader_transitions, leader_turns, real_leader
from .engine_leader import EngineLeader

RECORDINGS = Path(__file__).parents[1] / "partition_recordings"
PARTITIONS = 2
"""Of a generated run: what waits for the AlterPartition manager waits for both."""
RUNS, TURNS = 60, 100
"""Of one release, and of one run."""

BrokerRun = sides.Run[BrokerTurn, observed_broker.ObservedBroker]


def side_by_side(
    real: sides.Side[BrokerTurn, observed_broker.ObservedBroker],
    features: Features,
    partitions: int = PARTITIONS,
    *,
    timed: bool,
) -> BrokerRun:
    """A fresh broker on both sides."""
    return sides.Run(
        real, EngineLeader(features, partitions, timed=timed), observed_broker.observed_partings
    )


def generated_turns(engine: EngineLeader, seed: int, turns: int) -> Iterator[BrokerTurn]:
    """Each when the one before has happened to `engine`."""
    source = leader_turns.LeaderTurns(seed, PARTITIONS, timed=is_timed(seed))
    yield source.first()
    for _ in range(turns - 1):
        yield source.next(engine)


def is_timed(seed: int) -> bool:
    """Whether the run that it generates has a clock: every other one."""
    return seed % 2 == 0


def generated_run(
    process: partition_process.PartitionProcess, features: Features, seed: int, turns: int
) -> BrokerRun:
    """What `seed` generates, so many turns, up to the one in which the two part."""
    timed = is_timed(seed)
    real = real_leader.RealLeader(process, PARTITIONS, timed=timed)
    run = side_by_side(real, features, timed=timed)
    assert isinstance(run.engine, EngineLeader)
    run.follow(generated_turns(run.engine, seed, turns))
    return run


def story_runs(process: partition_process.PartitionProcess) -> Iterator[BrokerRun]:
    """The second proposal that a leader forgets, in its four ways."""
    features = parse_features(process.release)
    for way in second_proposal.WAYS:
        run = side_by_side(real_leader.RealLeader(process, 1, timed=True), features, 1, timed=True)
        run.follow(second_proposal.story_turns(*way))
        yield run


# --- recordings -----------------------------------------------------------------------------------


class RecordedSight(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was observed after a turn; None for a partition that was as before."""

    partitions: tuple[observed_broker.SeenPartition | None, ...]
    error: int = 0
    read: observed_broker.SeenRead | None = None
    sent: tuple[observed_broker.SeenRequest, ...] = ()


class RecordedRun(msgspec.Struct, frozen=True):
    """One run: as many turns as sights."""

    seed: int
    timed: bool
    turns: tuple[BrokerTurn, ...]
    sights: tuple[RecordedSight, ...]

    def answers(self) -> Iterator[observed_broker.ObservedBroker]:
        """All that was observed, whole again."""
        known: tuple[observed_broker.SeenPartition, ...] = ()
        for sight in self.sights:
            kept = dict(enumerate(known))
            kept |= {index: new for index, new in enumerate(sight.partitions) if new is not None}
            known = tuple(kept.values())
            yield observed_broker.ObservedBroker(sight.error, sight.read, sight.sent, known)


class RunsHead(msgspec.Struct, frozen=True):
    """Where runs came from: the patch release that was run, and the release it stands for.

    `covering` are the places of the runs that meet every rule.
    """

    kafka: str
    release: str
    covering: tuple[int, ...] = ()


RecordedRuns = Recording[RunsHead]


def recorded_run(run: BrokerRun, seed: int) -> RecordedRun:
    """What is kept of a run."""
    before: tuple[observed_broker.SeenPartition | None, ...] = (None,) * PARTITIONS
    sights = []
    for seen in (done.real for done in run.done):
        both = zip(seen.partitions, before, strict=True)
        partitions = tuple(None if new == old else new for new, old in both)
        sights.append(RecordedSight(partitions, seen.error, seen.read, seen.sent))
        before = seen.partitions
    return RecordedRun(seed, is_timed(seed), tuple(d.turn for d in run.done), tuple(sights))


def load_runs(release: str, folder: Path = RECORDINGS) -> RecordedRuns:
    """Those of ``"3.5"``. Raises NoRecordingError without any, or for a file that is none."""
    return recordings.load(release, folder, RunsHead, "the Partition of Kafka")


def replayed(
    runs: RecordedRuns, features: Features | None = None, places: Iterable[int] | None = None
) -> Iterator[tuple[int, BrokerRun]]:
    """The engine beside each recorded run, or beside those at `places`; each with its seed.

    `features` are those of the release, unless others are tried.
    """
    under = features or parse_features(runs.head.release)
    for line in runs.at(places):
        kept = msgspec.convert(line, RecordedRun)
        run = side_by_side(sides.Recorded(kept.answers()), under, timed=kept.timed)
        run.follow(kept.turns)
        yield kept.seed, run


# --- the command ----------------------------------------------------------------------------------


class PartitionJudge(judging.Judge):
    """A subject is a release."""

    name = "partition"
    about = "Let the same happen to Kafka's own Partition and to the engine's broker."
    recordings = RECORDINGS
    enough = leader_transitions.OFTEN_ENOUGH
    whose = "Partition of Kafka"
    remedy = "let leader_turns.py or pretended_controller.py in tests/judge/partition ask for it"

    def subjects(self) -> tuple[str, ...]:
        """Every release from 3.3 on."""
        return partition_process.partition_releases()

    def live(self, subject: str, options: argparse.Namespace) -> judging.Judged:
        """Generated runs, and the four ways of the second proposal."""
        features = parse_features(subject)
        with partition_process.PartitionProcess(subject) as process:
            runs = [
                (s, generated_run(process, features, s, TURNS))
                for s in judging.seeds_of(options, RUNS)
            ]
            every = chain(runs, enumerate(story_runs(process)))
            judged = judging.judged(subject, process.patch, map(outcome, every), live=True)
        if options.record and not judged.differences:
            head = RunsHead(
                process.patch, subject, recordings.covering([hits(run) for _, run in runs])
            )
            kept = [recorded_run(run, seed) for seed, run in runs]
            recordings.save(subject, Recording(head, kept), options.recordings)
        return judged

    def recorded(self, subject: str, options: argparse.Namespace) -> judging.Judged:
        return judge_recording(subject, options.recordings)

    def rules(self, _subject: str, /) -> Sequence[coverage.Rule]:
        """Everything that a leader was seen to do, whatever the release."""
        return leader_transitions.RULES


def judge_recording(release: str, folder: Path = RECORDINGS) -> judging.Judged:
    """The runs that were recorded. Raises NoRecordingError where there are none."""
    kept = load_runs(release, folder)
    return judging.judged(release, kept.head.kafka, map(outcome, replayed(kept)), live=False)


def outcome(one: tuple[int, BrokerRun]) -> judging.Outcome:
    """What came of the run of a seed."""
    seed, run = one
    return judging.Outcome(len(run.done), run.difference(f"run {seed}"), hits(run))


def hits(run: BrokerRun) -> Counter[coverage.Rule]:
    """How often a run tries each rule."""
    return Counter(leader_transitions.rules_of((done.turn, done.real) for done in run.done))
