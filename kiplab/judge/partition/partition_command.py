"""`python -m kiplab.judge.partition.partition_command`: Kafka's own Partition beside the engine's
broker, release by release, and the proposal that it forgets. `make judge` runs it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from ..corpus.recordings import NoRecordingError
from ..java_process.child_jvm import DeadKafkaError
from ..kafka_jars.judged_releases import UnjudgedReleaseError, patch_release
from ..kafka_jars.missing_kafka import MissingKafkaError
from .forgotten_proposal import ProposalStory, stories_of
from .partition_judging import (
    PartitionJudged,
    judge_partition_live,
    judge_partition_recorded,
)
from .partition_process import PartitionProcess, partition_releases
from .run_recordings import save_runs

AGREED, PARTED, BAD_INPUT, LACKING = 0, 1, 2, 3
"""Exit codes, as those of the commands."""
_RUNS = "{:<8} {:<15} {:>5} {:>7} {:>12} {:>8}"
_STORIES = "{:<7} {:<9} {:<12} {:<10} {:>14} {:>13} {:>9}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Judge, and say what came of it; the exit code."""
    given = _parser().parse_args(arguments)
    try:
        releases = _releases(given.releases)
        if given.forgotten:
            return _tell_forgotten(releases, as_json=given.json)
        return _judge(releases, given)
    except UnjudgedReleaseError as problem:
        print(f"judge: {problem}", file=sys.stderr)
        return BAD_INPUT
    except (MissingKafkaError, DeadKafkaError, NoRecordingError) as problem:
        print(f"judge: {problem}", file=sys.stderr)
        return LACKING


def _releases(names: Sequence[str]) -> tuple[str, ...]:
    known = partition_releases()
    for name in names:
        if name not in known:
            patch_release(name)
            raise UnjudgedReleaseError(
                f"the Partition of Kafka {name!r} is not judged; there are {', '.join(known)}"
            )
    return tuple(names) or known


def _judge(releases: Sequence[str], given: argparse.Namespace) -> int:
    print(_RUNS.format("release", "Partition", "runs", "turns", "differences", "seconds"))
    differences, stories = 0, list[ProposalStory]()
    for judged in _each(releases, given):
        how = f"{'live' if judged.live else 'recorded'} {judged.patch}"
        counts = (judged.runs, f"{judged.turns:,}", judged.differences, f"{judged.seconds:.1f}")
        print(_RUNS.format(judged.release, how, *counts), flush=True)
        print("\n".join(_told(judged)), end="\n" if judged.parted else "")
        differences += judged.differences
        stories += judged.stories
    if stories:
        print("\n".join(forgotten_table(stories)))
    return PARTED if differences else AGREED


def _each(releases: Sequence[str], given: argparse.Namespace) -> Iterator[PartitionJudged]:
    for release in releases:
        if given.recorded:
            yield judge_partition_recorded(release, given.recordings)
            continue
        judged, told = judge_partition_live(release, given.seed)
        if given.record and not judged.differences:
            save_runs(told, given.recordings)
        yield judged


def _told(judged: PartitionJudged) -> Iterator[str]:
    for parted in judged.parted:
        yield f"# run {parted.seed}, turn {parted.number}: {parted.last.turn}"
        yield from (f"#   {parting}" for parting in parted.last.partings)


def _tell_forgotten(releases: Sequence[str], *, as_json: bool) -> int:
    stories: list[ProposalStory] = []
    for release in releases:
        with PartitionProcess(release) as process:
            stories += stories_of(process)
    if as_json:
        print(msgspec.json.format(msgspec.json.encode(stories)).decode())
    else:
        print("\n".join(forgotten_table(stories)))
    return PARTED if any(story.partings for story in stories) else AGREED


def forgotten_table(stories: Sequence[ProposalStory]) -> Iterator[str]:
    """What each release made of the four ways, one in a line."""
    yield "The second proposal of a leader; the metadata of its first comes in order, or late:"
    heading = ("Kafka", "metadata", "3 was level", "waits for", "committed then")
    yield _STORIES.format(*heading, "31 s later", "3 lacks")
    for story in stories:
        yield _STORIES.format(
            story.kafka,
            "late" if story.came_late else "in order",
            "yes" if story.was_level else "never",
            ",".join(map(str, story.waits_for)),
            story.within_the_lag,
            story.at_the_end,
            story.missing,
        )
        yield from (f"#   {parting}" for parting in story.partings)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="judge",
        description="Let the same happen to Kafka's own Partition and to the engine's broker, and"
        " say where they part. A run that cannot be live is an error; recorded runs are asked for"
        " by name.",
    )
    parser.add_argument(
        "releases", nargs="*", metavar="RELEASE", help="3.7; without any: every release from 3.3"
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--recorded", action="store_true", help="ask the recordings, without Java")
    how.add_argument("--record", action="store_true", help="ask Kafka, and keep what it says")
    how.add_argument(
        "--forgotten", action="store_true", help="only show the proposal that Kafka forgets"
    )
    parser.add_argument(
        "--recordings", type=Path, required=True, metavar="DIR", help="where the recordings are"
    )
    parser.add_argument("--seed", type=int, default=0, help="the first run (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="with --forgotten: as JSON")
    return parser


if __name__ == "__main__":
    sys.exit(main())
