"""All runs of one release, with Kafka's own Partition or as they were recorded: where they part."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ...protocol.features import parse_features
from .broker_runs import TurnDone, generated_run, is_timed
from .forgotten_proposal import ProposalStory, stories_of
from .partition_process import PartitionProcess
from .run_recordings import RecordedRun, RecordedRuns, RunsHead, load_runs, recorded, replayed

RUNS, TURNS = 60, 100
"""Of one release, and of one run."""


class PartedRun(NamedTuple):
    """A run that parted in its last turn, `number`."""

    seed: int
    number: int
    last: TurnDone


class PartitionJudged(NamedTuple):
    """What came of one release. `stories` are told live only."""

    release: str
    patch: str
    live: bool
    runs: int
    turns: int
    parted: tuple[PartedRun, ...]
    stories: tuple[ProposalStory, ...]
    seconds: float

    @property
    def differences(self) -> int:
        """Runs that parted, and stories that the engine tells otherwise."""
        return len(self.parted) + sum(1 for story in self.stories if story.partings)


def judge_partition_live(
    release: str, first_seed: int = 0, runs: int = RUNS
) -> tuple[PartitionJudged, RecordedRuns]:
    """So many generated runs, and the four stories of the forgotten proposal.

    Raises MissingKafkaError where none can be run, DeadKafkaError where one ends by itself.
    """
    begun, features = time.perf_counter(), parse_features(release)
    kept: list[RecordedRun] = []
    parted: list[PartedRun] = []
    with PartitionProcess(release) as process:
        for seed in range(first_seed, first_seed + runs):
            run, last = generated_run(process, features, seed, TURNS)
            kept.append(recorded(run, seed, timed=is_timed(seed)))
            parted += [] if last is None else [PartedRun(seed, len(run.done), last)]
        stories = stories_of(process)
        patch = process.patch
    told = RecordedRuns(RunsHead(patch, release), tuple(kept))
    return _judged(told, parted, stories, begun, live=True), told


def judge_partition_recorded(release: str, folder: Path) -> PartitionJudged:
    """The runs that were recorded. Raises NoRecordingError where there are none."""
    begun, told = time.perf_counter(), load_runs(release, folder)
    parted = [
        PartedRun(run.seed, number, last)
        for run, number, last in replayed(told)
        if last is not None
    ]
    return _judged(told, parted, (), begun, live=False)


def _judged(
    told: RecordedRuns,
    parted: Sequence[PartedRun],
    stories: tuple[ProposalStory, ...],
    begun: float,
    *,
    live: bool,
) -> PartitionJudged:
    return PartitionJudged(
        told.head.release,
        told.head.kafka,
        live,
        len(told.runs),
        told.turns,
        tuple(parted),
        stories,
        time.perf_counter() - begun,
    )
