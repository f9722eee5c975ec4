"""What real brokers answered, kept with the package: a broker in a file, a case in a paragraph."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec

from .acceptance_cases import acceptance_cases
from .asked_brokers import asked_broker
from .checkpoint_story import CheckpointStory
from .control_bodies import SpokenVersions
from .control_questions import ControlAnswer

ACCEPTED = Path(__file__).parent / "accepted"
"""One file for each broker."""
RECORD_COMMAND = "python -m kiplab.judge.acceptance.acceptance_command --record"


class RecordedAcceptance(msgspec.Struct, frozen=True):
    """All that was seen of one broker, of which `kafka` is the name. `cases` marks the questions,
    which are not in it.
    """

    kafka: str
    versions: SpokenVersions
    cases: str
    answers: dict[str, tuple[ControlAnswer, ...]]
    checkpoint: CheckpointStory


class UnrecordedAcceptanceError(Exception):
    """A broker that was never asked, or was asked something else; the message says what to do."""


def cases_mark() -> str:
    """Eight hexadecimal digits of all that is asked."""
    return f"{zlib.crc32(msgspec.json.encode(acceptance_cases())):08x}"


@cache
def recorded_acceptance(name: str) -> RecordedAcceptance:
    """What was seen of ``"2.2.2"``. Raises UnrecordedAcceptanceError where there is nothing, or it
    answers other questions, UnaskedBrokerError for a broker that is not asked.
    """
    asked_broker(name)
    file = file_of(name)
    try:
        found = msgspec.json.decode(file.read_bytes(), type=RecordedAcceptance)
    except (OSError, msgspec.MsgspecError) as problem:
        raise UnrecordedAcceptanceError(
            f"{file} cannot be read ({problem}); `{RECORD_COMMAND} {name}` writes it"
        ) from None
    if found.cases != cases_mark():
        raise UnrecordedAcceptanceError(
            f"{file} answers other questions than are asked now; `{RECORD_COMMAND} {name}` asks"
            " these"
        )
    return found


def keep_acceptance(found: RecordedAcceptance) -> Path:
    """Write it to its file, and say where."""
    ACCEPTED.mkdir(exist_ok=True)
    file = file_of(found.kafka)
    file.write_text(_written(found))
    recorded_acceptance.cache_clear()
    return file


def file_of(name: str) -> Path:
    """Where the recording of a broker is, or would be."""
    return ACCEPTED / f"{name.replace('/', '_')}.json"


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
