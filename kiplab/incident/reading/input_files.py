"""Files, folders and stdin to the parts of a log, whose kinds are seen by their content."""

import gzip
import re
import sys
import zlib
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import msgspec

from ..log_items import UNKNOWN, UnreadableInputError
from .batches import HEADER_SIZE, header_at, record_places
from .message_bytes import INT16
from .segments import SNAPSHOT_HEADER

CHUNK = 1 << 20
STDIN = "-"
LOG_FOLDER = "__cluster_metadata-0"
_GZIP, _SUFFIXES = b"\x1f\x8b", (".log", ".checkpoint")
_CHECKPOINT = re.compile(r"(\d{20})-(\d{10})\.checkpoint")
_BOOTSTRAP = "bootstrap.checkpoint"
_TITLES = (b"tarting offset: ", b"Snapshot end offset: ", b"KRaft bootstrap snapshot")
_FIRST = re.compile(rb"(?:baseOffset|\| ?offset): *(\d+)|payload: ")
_END = re.compile(rb"Snapshot end offset: (\d+), epoch: (\d+)")
_DUMP = re.compile(
    rb"(?m)^.{0,200}?(?:Dumping |baseOffset: |\| ?offset: |payload: \{|tarting offset: )"
)
_LONGEST_LINE = 1 << 23
_ADVICE = "Give a segment or a checkpoint of __cluster_metadata-0, or what kafka-dump-log prints."


class CheckpointPlace(NamedTuple):
    """Before which offset a checkpoint ends, and the controller epoch of the record before it."""

    end: int
    controller_epoch: int


class InputPart(msgspec.Struct, frozen=True):
    """A segment or a checkpoint, or one of those whose dumps are in one file.

    `base` is its first offset, of a checkpoint (`place`) that at which it ends. A dump's part is
    `size` bytes from `start`, and begins in `line`.
    """

    path: str
    file: str
    is_dump: bool
    base: int
    size: int
    place: CheckpointPlace | None = None
    start: int = 0
    line: int = 1


def files_of(paths: Iterable[str | Path]) -> list[Path]:
    """The files that `paths` name; of a folder its segments and checkpoints, never its indexes.

    Raises UnreadableInputError for a folder without them, and for a path that may not be read.
    """
    files: list[Path] = []
    for path in map(Path, paths):
        try:
            folder = next((p for p in (path / LOG_FOLDER, path) if p.is_dir()), None)
            inside = sorted(folder.iterdir()) if folder else [path]
        except OSError as problem:
            raise UnreadableInputError(f"{path}: {problem.strerror}.") from None
        found = [one for one in inside if not folder or one.suffix in _SUFFIXES]
        if not found:
            raise UnreadableInputError(
                f"{path}: a folder without segments and checkpoints. Give a folder {LOG_FOLDER}."
            )
        files += found
    return list(dict.fromkeys(files))


def chunks_of(path: str, start: int = 0, size: int = sys.maxsize) -> Iterator[bytes]:
    """`size` bytes of a file from `start` on, unpacked if it is one of gzip's. One that is cut off
    or damaged ends where it cannot be read further. Raises UnreadableInputError.
    """
    try:
        with Path(path).open("rb") as plain:
            is_packed = plain.peek(len(_GZIP)).startswith(_GZIP)
            file = gzip.GzipFile(fileobj=plain) if is_packed else plain
            file.seek(start)
            while size > 0 and (chunk := file.read1(min(CHUNK, size))):
                yield chunk
                size -= len(chunk)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        return
    except OSError as problem:
        raise UnreadableInputError(f"{path}: {problem.strerror or problem}.") from None


def line_blocks(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes cut behind a line's end; a line longer than 8 MB is cut as well."""
    rest = b""
    for chunk in chunks:
        cut = chunk.rfind(b"\n") + 1
        if cut:
            yield rest + chunk[:cut]
            rest = chunk[cut:]
        else:
            rest += chunk
        if len(rest) > _LONGEST_LINE:
            yield rest
            rest = b""
    if rest:
        yield rest


def parts_of(path: str, name: str) -> list[InputPart]:
    """What a file has in it; nothing where it is empty. Raises UnreadableInputError for anything
    that is no part of a metadata log. `name` is what the user calls it.
    """
    head = next(chunks_of(path), b"")
    if not head:
        return []
    if len(head) >= HEADER_SIZE and header_at(head).is_sane:
        return _binary_part(path, name, head)
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UnreadableInputError(f"{name}: a text in UTF-16. Save it as UTF-8.")
    if b"\0" in head[:HEADER_SIZE] or not _DUMP.search(head):
        raise UnreadableInputError(
            f"{name}: neither a segment or checkpoint, nor the text of a dump. {_ADVICE}"
        )
    return list(_dump_parts(path, name))


def _binary_part(path: str, name: str, head: bytes) -> list[InputPart]:
    size, base = Path(path).stat().st_size, header_at(head).base
    if not _is_checkpoint(head):
        return [InputPart(path, name, False, base, size)]
    if found := _CHECKPOINT.search(name):
        place = CheckpointPlace(int(found[1]), int(found[2]))
        return [InputPart(path, name, False, place.end, size, place)]
    if Path(name).name.startswith(_BOOTSTRAP):
        return []
    raise UnreadableInputError(
        f"{name}: a checkpoint under another name. Call it as it was, OFFSET-EPOCH.checkpoint:"
        " its name tells where it ends."
    )


def _is_checkpoint(head: bytes) -> bool:
    header = header_at(head)
    try:
        place = next(record_places(head, 1))
        (number,) = INT16.unpack_from(head, place.key + INT16.size)
    except (IndexError, ValueError):
        return False
    return header.is_control and header.base == 0 and number == SNAPSHOT_HEADER


def _dump_parts(path: str, name: str) -> list[InputPart]:
    """One part for each title in the text, and one for what stands before the first."""
    parts: list[InputPart] = []
    for start, line, is_title, text in _pieces(path):
        if is_title or not parts:
            place = _place(text.partition(b"\n")[0]) if is_title else None
            base = place.end if place else UNKNOWN
            parts.append(InputPart(path, name, True, base, 0, place, start, line))
        part = parts[-1]
        found = _FIRST.search(text) if part.base == UNKNOWN and not part.place else None
        base = int(found[1] or 0) if found else part.base
        parts[-1] = msgspec.structs.replace(part, base=base, size=part.size + len(text))
    return [part for part in parts if part.base != UNKNOWN]


def _place(title: bytes) -> CheckpointPlace | None:
    """Of a checkpoint. That of a bootstrap checkpoint is left out: the log begins with the same."""
    if _TITLES[-1] in title:
        return CheckpointPlace(UNKNOWN, UNKNOWN)
    found = _END.search(title)
    return CheckpointPlace(int(found[1]), int(found[2])) if found else None


def _pieces(path: str) -> Iterator[tuple[int, int, bool, bytes]]:
    """(place, line, whether it begins with a title, text) up to the next title or block."""
    at, line = 0, 1
    for block in line_blocks(chunks_of(path)):
        titles = set(_titles(block))
        for begin, end in pairwise(sorted({0, *titles, len(block)})):
            text = block[begin:end]
            yield at + begin, line, begin in titles, text
            line += text.count(b"\n")
        at += len(block)


def _titles(block: bytes) -> Iterator[int]:
    for title in _TITLES:
        at = block.find(title)
        while at >= 0:
            yield block.rfind(b"\n", 0, at) + 1
            at = block.find(title, at + 1)
