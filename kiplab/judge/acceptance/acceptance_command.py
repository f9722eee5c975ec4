"""`python -m kiplab.judge.acceptance.acceptance_command`: what real brokers accept, release by
release. `make judge` runs it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence

from ...extras import MissingExtraError
from ..java_process.child_jvm import DeadKafkaError
from ..kafka_jars.missing_kafka import MissingKafkaError
from .acceptance_recordings import (
    ASKED_PATCHES,
    RecordedAcceptance,
    UnrecordedAcceptanceError,
    keep_acceptance,
    recorded_acceptance,
    versions_of,
)
from .asked_live import asked_live

AS_RECORDED, OTHERWISE, BAD_INPUT, LACKING = 0, 1, 2, 3
"""Exit codes, as those of the commands."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask, and say what came of it; the exit code."""
    given = _parser().parse_args(arguments)
    try:
        for patch in given.releases:
            versions_of(patch)
    except UnrecordedAcceptanceError as problem:
        print(f"judge: {problem}", file=sys.stderr)
        return BAD_INPUT
    try:
        return _ask(given.releases or ASKED_PATCHES, record=given.record)
    except (
        MissingKafkaError,
        MissingExtraError,
        DeadKafkaError,
        UnrecordedAcceptanceError,
    ) as problem:
        print(f"judge: {problem}", file=sys.stderr)
        return LACKING


def _ask(patches: Sequence[str], *, record: bool) -> int:
    changed = False
    for patch in patches:
        found = asked_live(patch)
        if record:
            print(f"{patch}: {len(found.answers)} cases -> {keep_acceptance(found)}", flush=True)
            continue
        differences = list(differences_of(recorded_acceptance(patch), found))
        print(f"{patch}: {len(found.answers)} cases, {len(differences)} otherwise than recorded")
        print("\n".join(differences), end="\n" if differences else "", flush=True)
        changed = changed or bool(differences)
    return OTHERWISE if changed else AS_RECORDED


def differences_of(before: RecordedAcceptance, now: RecordedAcceptance) -> Iterator[str]:
    """A line for each answer that is not what it was."""
    for name, answers in now.answers.items():
        for number, (old, new) in enumerate(zip(before.answers[name], answers, strict=True), 1):
            if old != new:
                yield f"# {name}, request {number}: recorded {old}, now {new}"
    if before.checkpoint != now.checkpoint:
        yield f"# checkpoint: recorded {before.checkpoint}, now {now.checkpoint}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="judge",
        description="Ask real brokers of ZooKeeper's years what they accept from a controller, and"
        " say where that is not what was recorded.",
    )
    parser.add_argument(
        "releases", nargs="*", metavar="RELEASE", help=f"without any: {', '.join(ASKED_PATCHES)}"
    )
    parser.add_argument("--record", action="store_true", help="keep what they say now")
    return parser


if __name__ == "__main__":
    sys.exit(main())
