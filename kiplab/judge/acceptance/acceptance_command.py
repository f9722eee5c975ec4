"""`python -m kiplab.judge.acceptance.acceptance_command`: what real brokers and the engine's accept
from a controller, release by release. `make judge` runs it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence

import msgspec

from ...extras import MissingExtraError
from ..java_process.child_jvm import DeadKafkaError
from ..kafka_jars.missing_kafka import MissingKafkaError
from .acceptance_recordings import (
    RecordedAcceptance,
    UnrecordedAcceptanceError,
    keep_acceptance,
    recorded_acceptance,
)
from .accepting_engine import engine_answers
from .asked_brokers import ASKED, UnaskedBrokerError, asked_broker
from .asked_live import asked_live
from .control_questions import ControlAnswer, ReplicaSight
from .engine_checkpoint import engine_checkpoint

_EMPTY = ReplicaSight("follower", -1)
AGREED, PARTED, BAD_INPUT, LACKING = 0, 1, 2, 3
"""Exit codes, as those of the commands."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask, and say what came of it; the exit code."""
    given = _parser().parse_args(arguments)
    try:
        for name in given.brokers:
            asked_broker(name)
    except UnaskedBrokerError as problem:
        print(f"judge: {problem}", file=sys.stderr)
        return BAD_INPUT
    try:
        return _judge(given.brokers or ASKED, record=given.record, recorded=given.recorded)
    except (
        MissingKafkaError,
        MissingExtraError,
        DeadKafkaError,
        UnrecordedAcceptanceError,
    ) as problem:
        print(f"judge: {problem}", file=sys.stderr)
        return LACKING


def _judge(names: Sequence[str], *, record: bool, recorded: bool) -> int:
    parted = False
    for name in names:
        found = recorded_acceptance(name) if recorded else asked_live(name)
        differences = list(partings_of(found))
        how = "recorded" if recorded else "live"
        print(f"{name}, {how}: {len(found.answers)} cases, {len(differences)} differences")
        print("\n".join(differences), end="\n" if differences else "", flush=True)
        if record:
            keep_acceptance(found)
        parted = parted or bool(differences)
    return PARTED if parted else AGREED


def partings_of(found: RecordedAcceptance) -> Iterator[str]:
    """A line for each request to which the engine's broker says or does something else."""
    engine = engine_answers(found.kafka)
    for name, answers in found.answers.items():
        for number, (kafka, ours) in enumerate(zip(answers, engine[name], strict=True), 1):
            if as_compared(kafka) != ours:
                yield f"# {name}, request {number}: Kafka {kafka}, the engine {ours}"
    told = engine_checkpoint(found.kafka)
    if found.checkpoint != told:
        yield f"# checkpoint: Kafka {found.checkpoint}, the engine {told}"


def as_compared(answer: ControlAnswer) -> ControlAnswer:
    """Without partitions that have neither a log nor a leader epoch: from 3.x on Kafka keeps an
    object for one that it refused to have, which shows in nothing else.
    """
    both = zip(answer.replicas, answer.on_disk, strict=True)
    kept = tuple(None if seen == _EMPTY and not on_disk else seen for seen, on_disk in both)
    return msgspec.structs.replace(answer, replicas=kept)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="judge",
        description="Ask real brokers of ZooKeeper's years and the engine's what they accept from a"
        " controller, and say where they part. A run that cannot be live is an error; recorded"
        " answers are asked for by name.",
    )
    parser.add_argument(
        "brokers", nargs="*", metavar="BROKER", help=f"without any: {', '.join(ASKED)}"
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--recorded", action="store_true", help="ask the recordings, without Java")
    how.add_argument("--record", action="store_true", help="ask Kafka, and keep what it says")
    return parser


if __name__ == "__main__":
    sys.exit(main())
