"""A recording: all that a real controller has said in the conversations of one pair.

Requests are not in it: the generator asks them again. A byte of each says whether it did.
"""

from __future__ import annotations

import lzma
from pathlib import Path
from typing import Any

import msgspec

from .judged_pairs import JudgedPair

SUFFIX = ".xz"
_STRONGEST = 9 | lzma.PRESET_EXTREME

Entry = list[Any]
"""What one call came to: ``["end", 17]``; of a question its byte, the answer, the records."""


class RecordingHead(msgspec.Struct, frozen=True, kw_only=True):
    """Where a recording came from. `generator` is `generator_mark()` of that time."""

    kafka: str
    """The patch release that answered."""
    release: str
    metadata_version: str
    first_seed: int
    questions: int
    """Of each conversation."""
    requests: int
    """Of all conversations."""
    generator: str

    @property
    def pair(self) -> JudgedPair:
        """Whose it is."""
        return JudgedPair(self.release, self.metadata_version)


class RecordedConversation(msgspec.Struct, frozen=True, array_like=True):
    """One conversation: what every call came to, in order."""

    metadata_version: str
    """Of its beginning: an earlier conversation may have raised it."""
    raises: bool
    entries: list[Entry]


class Recording(msgspec.Struct, frozen=True):
    """Conversations of seeds from `head.first_seed` on."""

    head: RecordingHead
    conversations: tuple[RecordedConversation, ...]


class NoRecordingError(Exception):
    """There is no recording of a pair, or it cannot be read; the message says what to do."""


def save(recording: Recording, folder: Path) -> Path:
    """Write it into `folder`, and say where."""
    lines = [msgspec.json.encode(part) for part in (recording.head, *recording.conversations)]
    file = _file(recording.head.pair, folder)
    folder.mkdir(parents=True, exist_ok=True)
    file.write_bytes(lzma.compress(b"\n".join(lines), preset=_STRONGEST))
    return file


def load(pair: JudgedPair, folder: Path) -> Recording:
    """The recording of `pair`. Raises NoRecordingError without one, or for a file that is none."""
    file = _file(pair, folder)
    try:
        first, *others = lzma.decompress(file.read_bytes()).split(b"\n")
        head = msgspec.json.decode(first, type=RecordingHead)
        decoder = msgspec.json.Decoder(RecordedConversation)
        return Recording(head, tuple(decoder.decode(line) for line in others))
    except FileNotFoundError:
        problem = f"Kafka {pair} was never recorded: there is no {file}"
    except (lzma.LZMAError, msgspec.MsgspecError, OSError) as unreadable:
        problem = f"{file} is no recording ({unreadable})"
    raise NoRecordingError(f"{problem}; `make judge-record` writes it.")


def recorded_pairs(folder: Path) -> tuple[JudgedPair, ...]:
    """The pairs that `folder` has recordings of."""
    names = sorted(file.name.removesuffix(SUFFIX) for file in folder.glob(f"*{SUFFIX}"))
    return tuple(JudgedPair(*name.split("_", 1)) for name in names)


def _file(pair: JudgedPair, folder: Path) -> Path:
    return folder / f"{pair.release}_{pair.metadata_version}{SUFFIX}"
