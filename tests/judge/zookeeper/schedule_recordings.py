"""Situations by chance, with what real controllers did in them: each can be told again, whatever
the generator does by now.
"""

from __future__ import annotations

import lzma
from pathlib import Path

import msgspec

from kiplab.judge.zookeeper_era.sequences import Passage
from tests.judge.skeleton.recordings import SUFFIX, NoRecordingError
from tests.judge.zookeeper.situations import JudgedSituation

_STRONGEST = 9 | lzma.PRESET_EXTREME


class RecordedSchedule(msgspec.Struct, frozen=True):
    """One situation, and what was heard."""

    situation: JudgedSituation
    heard: tuple[Passage, ...]


def save_schedules(patch: str, schedules: tuple[RecordedSchedule, ...], folder: Path) -> Path:
    """Write those of a patch release into `folder`, and say where."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{patch}{SUFFIX}"
    lines = b"\n".join(map(msgspec.json.encode, schedules))
    file.write_bytes(lzma.compress(lines, preset=_STRONGEST))
    return file


def load_schedules(patch: str, folder: Path) -> tuple[RecordedSchedule, ...]:
    """Those of a patch release. Raises NoRecordingError without any, or for a file that is none."""
    file = folder / f"{patch}{SUFFIX}"
    decoder = msgspec.json.Decoder(RecordedSchedule)
    try:
        return tuple(map(decoder.decode, lzma.decompress(file.read_bytes()).split(b"\n")))
    except FileNotFoundError:
        problem = f"no schedules of Kafka {patch} were recorded: there is no {file}"
    except (lzma.LZMAError, msgspec.MsgspecError, OSError) as unreadable:
        problem = f"{file} is no recording of schedules ({unreadable})"
    raise NoRecordingError(f"{problem}; `make judge-record` writes it.")
