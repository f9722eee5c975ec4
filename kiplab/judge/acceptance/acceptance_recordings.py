"""What real brokers answered, kept with the package: a release in a file, a case in a paragraph."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec

from .acceptance_cases import acceptance_cases
from .checkpoint_story import CheckpointStory
from .control_bodies import SPOKEN, SpokenVersions
from .control_questions import ControlAnswer

ACCEPTED = Path(__file__).parent / "accepted"
"""One file for each patch release."""
ASKED_PATCHES = ("2.1.1", "2.2.2", "2.5.0", "2.5.1", "2.6.3", "2.8.2", "3.4.0", "3.4.1")
"""Releases on both sides of every rule that changed: 2.5.1 takes a newer broker epoch, 3.4.1 an
equal leader epoch in StopReplica.
"""
RECORD_COMMAND = "python -m kiplab.judge.acceptance.acceptance_command --record"


class RecordedAcceptance(msgspec.Struct, frozen=True):
    """All that was seen of one release. `cases` marks the questions, which are not in it."""

    kafka: str
    versions: SpokenVersions
    cases: str
    answers: dict[str, tuple[ControlAnswer, ...]]
    checkpoint: CheckpointStory


class UnrecordedAcceptanceError(Exception):
    """A release that was never asked, or was asked something else; the message says what to do."""


def versions_of(patch: str) -> SpokenVersions:
    """The versions that a controller of this patch release sends.

    Raises UnrecordedAcceptanceError for a release that is none of `ASKED_PATCHES`.
    """
    if patch not in ASKED_PATCHES:
        known = ", ".join(ASKED_PATCHES)
        raise UnrecordedAcceptanceError(f"no broker of Kafka {patch!r} is asked; there are {known}")
    return SPOKEN[patch.rpartition(".")[0]]


def cases_mark() -> str:
    """Eight hexadecimal digits of all that is asked."""
    return f"{zlib.crc32(msgspec.json.encode(acceptance_cases())):08x}"


@cache
def recorded_acceptance(patch: str) -> RecordedAcceptance:
    """What was seen of ``"2.2.2"``. Raises UnrecordedAcceptanceError where there is nothing, or it
    answers other questions.
    """
    versions_of(patch)
    file = ACCEPTED / f"{patch}.json"
    try:
        found = msgspec.json.decode(file.read_bytes(), type=RecordedAcceptance)
    except (OSError, msgspec.MsgspecError) as problem:
        raise UnrecordedAcceptanceError(
            f"{file} cannot be read ({problem}); `{RECORD_COMMAND} {patch}` writes it"
        ) from None
    if found.cases != cases_mark():
        raise UnrecordedAcceptanceError(
            f"{file} answers other questions than are asked now; `{RECORD_COMMAND} {patch}` asks"
            " these"
        )
    return found


def keep_acceptance(found: RecordedAcceptance) -> Path:
    """Write it to its file, and say where."""
    ACCEPTED.mkdir(exist_ok=True)
    file = ACCEPTED / f"{found.kafka}.json"
    file.write_text(_written(found))
    recorded_acceptance.cache_clear()
    return file


def _written(found: RecordedAcceptance) -> str:
    """JSON with an answer in a line, so that a reader sees what another release changes."""
    plain = msgspec.to_builtins(found)
    answers: Mapping[str, list[object]] = plain.pop("answers")
    head = _json(plain)[1:-1]
    told = ",\n".join(
        f"{_json(name)}: [\n" + ",\n".join(map(_json, said)) + "\n]"
        for name, said in answers.items()
    )
    return f'{{{head},\n"answers": {{\n{told}\n}}}}\n'


def _json(plain: object) -> str:
    return msgspec.json.encode(plain).decode()
