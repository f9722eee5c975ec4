"""Recordings: a head, a line for each conversation, compressed.

The turns are in a recording, so that it can be replayed whatever the generator does by now.
"""

import lzma
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

SUFFIX = ".xz"
_STRONGEST = 9 | lzma.PRESET_EXTREME
WRITTEN_BY = "`make judge-record` writes it."

HeadT = TypeVar("HeadT", bound=msgspec.Struct)
RuleT = TypeVar("RuleT")


class NoRecordingError(Exception):
    """There is no recording, or it cannot be read; the message says what to do."""


class Recording(NamedTuple, Generic[HeadT]):
    """A head, and one plain JSON value for each conversation: see `rows.py`."""

    head: HeadT
    lines: Sequence[Any]

    def at(self, places: Iterable[int] | None) -> Iterable[Any]:
        """The lines at these places, or all."""
        return self.lines if places is None else (self.lines[place] for place in places)


class _Lines(Sequence[Any]):
    """Lines that are decoded when they are asked for: a quick test asks for few."""

    def __init__(self, encoded: Sequence[bytes]) -> None:
        self._encoded = encoded

    def __len__(self) -> int:
        return len(self._encoded)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return _Lines(self._encoded[place])
        return msgspec.json.decode(self._encoded[place])


def file_of(subject: str, folder: Path) -> Path:
    """Where the recording of a subject is, or would be."""
    return folder / f"{subject.replace('/', '_')}{SUFFIX}"


def save(subject: str, recording: Recording[Any], folder: Path) -> Path:
    """Write it, and return where."""
    file = file_of(subject, folder)
    lines = b"\n".join(msgspec.json.encode(part) for part in (recording.head, *recording.lines))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(lzma.compress(lines, preset=_STRONGEST))
    return file


def load(subject: str, folder: Path, head: type[HeadT], whose: str = "Kafka") -> Recording[HeadT]:
    """The recording of a subject; `whose` goes before it where there is none.

    Raises NoRecordingError without one, or for a file that is none.
    """
    file = file_of(subject, folder)
    try:
        first, *others = lzma.decompress(file.read_bytes()).split(b"\n")
        decoded = msgspec.json.decode(first, type=head)
        return Recording(decoded, _Lines(others))
    except FileNotFoundError:
        problem = f"{whose} {subject} was never recorded: there is no {file}"
    except (lzma.LZMAError, msgspec.MsgspecError, OSError) as unreadable:
        problem = f"{file} is no recording ({unreadable})"
    raise NoRecordingError(f"{problem}; {WRITTEN_BY}")


def covering(rules: Sequence[Iterable[RuleT]]) -> tuple[int, ...]:
    """The fewest conversations, found greedily, that meet every rule that any of them meets.
    `rules[n]` are the rules that conversation `n` meets.
    """
    met = [set(each) for each in rules]
    left, chosen = {rule for each in met for rule in each}, list[int]()
    while left:
        chosen.append(max(range(len(met)), key=lambda n: (len(met[n] & left), -n)))
        left -= met[chosen[-1]]
    return tuple(sorted(chosen))


def names_in(folder: Path) -> tuple[str, ...]:
    """The names of the recordings in `folder`, sorted."""
    return tuple(sorted(file.name.removesuffix(SUFFIX) for file in folder.glob(f"*{SUFFIX}")))
