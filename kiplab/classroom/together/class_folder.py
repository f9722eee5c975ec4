"""The content of a teacher's folder: every piece of work, and every other file, with the reason.

Zips are read as if they were folders. Hidden files (``.DS_Store``, ``__MACOSX``, checkpoints of
notebooks) are skipped.
"""

import io
import lzma
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath

import msgspec
from msgspec.structs import replace

from ..work_on_disk import UNREADABLE, Work

BYTES_MAX = 50_000_000
"""Of a file inside a zip, or of a .json: more than any work has, and little enough to read."""
ZIPS_DEEP, FOLDERS_DEEP = 4, 50
"""So many zips inside one another are opened, and so many folders."""
UNPACKED_MAX, INSIDE_MAX = 1_000_000_000, 100_000_000
"""Bytes of a zip that lies in the folder; of one inside, which may be one student's of many."""
_TOO_DEEP = f"it lies in more than {FOLDERS_DEEP} folders"
RUNS = (".ipynb", ".play")
"""Endings of what may have to run to be judged."""
_BROKEN = (zipfile.BadZipFile, zlib.error, lzma.LZMAError)
_NO_ZIP = (*_BROKEN, EOFError, OSError, RuntimeError, ValueError)
"""What a damaged zip raises, or one that is packed in a way that Python does not know."""
_FIELDS = {*Work.__struct_fields__}
_LOCKED = 0x1
"""The flag of a file in a zip that asks for a password."""


class Piece(msgspec.Struct, frozen=True):
    """A file: its `work`, or `why` it has none; its `content` if it is one of RUNS.

    `place` are the names from the folder down, the file's own last; that is empty for a folder or
    a zip with nothing in it. `meant` is True for what was meant to be work, as its name or its
    content shows, and cannot be read; anything else without work may lie beside it by right.
    """

    place: tuple[str, ...]
    work: Work | None = None
    why: str = ""
    meant: bool = False
    content: bytes = b""


def pieces(folder: Path) -> Iterator[Piece]:
    """Everything in a folder, or in a zip, in the order of the names."""
    if folder.is_dir():
        yield from _in_folder(folder, ())
    else:
        yield from _in_zip(folder, (), 1, [UNPACKED_MAX])


def _in_folder(folder: Path, place: tuple[str, ...]) -> Iterator[Piece]:
    try:
        inside = sorted(path for path in folder.iterdir() if not _hidden(path.name))
    except OSError as problem:
        yield Piece((*place, ""), why=f"it cannot be read: {problem.strerror}", meant=True)
        return
    if len(place) > FOLDERS_DEEP:
        yield Piece(place, why=_TOO_DEEP, meant=True)
        return
    for path in inside:
        yield from _at(path, (*place, printable(path.name)))
    if place and not inside:
        yield Piece((*place, ""), why="there is nothing in it")


def _at(path: Path, place: tuple[str, ...]) -> Iterator[Piece]:
    if path.is_symlink():
        yield Piece(place, why="it is a link, and not followed", meant=True)
    elif path.is_dir():
        yield from _in_folder(path, place)
    elif not path.is_file():
        yield Piece(place, why="it is a pipe, a socket or a device, and no file", meant=True)
    elif _ending(place) == ".zip":
        yield from _in_zip(path, place, 1, [UNPACKED_MAX])
    elif _ending(place) not in (".json", *RUNS):
        yield _other(place)
    else:
        try:
            too_large = path.stat().st_size > BYTES_MAX
            yield _too_large(place) if too_large else _decoded(path.read_bytes(), place)
        except OSError as problem:
            yield Piece(place, why=f"it cannot be read: {problem.strerror}", meant=True)


def _in_zip(
    archive: Path | io.BytesIO, place: tuple[str, ...], deep: int, left: list[int]
) -> Iterator[Piece]:
    """`left` is how many bytes more may be unpacked, here and in every zip inside."""
    if deep > ZIPS_DEEP:
        yield Piece(place, why=f"zips in zips are opened {ZIPS_DEEP} deep, no deeper", meant=True)
        return
    try:
        with zipfile.ZipFile(archive) as opened:
            yield from _entries(opened, place, deep, left)
    except _NO_ZIP:
        yield Piece(place, why="it is no zip, or a damaged one", meant=True)


def _entries(
    opened: zipfile.ZipFile, place: tuple[str, ...], deep: int, left: list[int]
) -> Iterator[Piece]:
    empty = True
    for entry in sorted(opened.infolist(), key=lambda entry: entry.filename):
        name = entry.filename
        # Info-ZIP, the `zip` of Linux, writes UTF-8 and does not say so.
        with suppress(UnicodeError):
            name = name.encode("cp437").decode()
        parts = PurePosixPath(name.replace("\\", "/")).parts
        if entry.is_dir() or any(_hidden(part) for part in parts):
            continue
        empty = False
        if len(parts) > FOLDERS_DEEP:
            yield Piece((*place, printable(parts[-1])), why=_TOO_DEEP, meant=True)
            continue
        yield from _entry(opened, entry, (*place, *map(printable, parts)), deep, left)
    if empty:
        yield Piece((*place, ""), why="there is nothing in it")


def _entry(
    opened: zipfile.ZipFile,
    entry: zipfile.ZipInfo,
    place: tuple[str, ...],
    deep: int,
    left: list[int],
) -> Iterator[Piece]:
    if _ending(place) not in (".zip", ".json", *RUNS):
        yield _other(place)
    elif entry.flag_bits & _LOCKED:
        yield Piece(place, why="the zip asks for a password", meant=True)
    elif entry.file_size > BYTES_MAX:
        yield _too_large(place)
    elif entry.file_size > left[0]:
        yield Piece(place, why="its zip unpacks to more than any work has", meant=True)
    else:
        left[0] -= entry.file_size
        inside = [min(left[0], INSIDE_MAX)]
        try:
            content = opened.read(entry)
        except _NO_ZIP:
            yield Piece(place, why="it is damaged inside its zip", meant=True)
            return
        if _ending(place) == ".zip":
            left[0] -= inside[0]
            yield from _in_zip(io.BytesIO(content), place, deep + 1, inside)
            left[0] += inside[0]
        else:
            yield _decoded(content, place)


def _decoded(content: bytes, place: tuple[str, ...]) -> Piece:
    """The work in a .json. One that speaks of something else altogether is not meant to be any."""
    if _ending(place) in RUNS:
        return replace(_other(place), content=content)
    try:
        value = msgspec.json.decode(content)
    except UNREADABLE as problem:
        return Piece(place, why=f"it is damaged, no JSON any more ({problem})", meant=True)
    if not (isinstance(value, dict) and _FIELDS & {*value}):
        return Piece(place, why="it is JSON, but nobody's work: predictions and exercises lack")
    try:
        return Piece(place, msgspec.convert(value, Work))
    except msgspec.ValidationError as problem:
        return Piece(place, why=f"it is not written as work is ({problem})", meant=True)


def _other(place: tuple[str, ...]) -> Piece:
    if ".json.damaged" in place[-1]:
        reason = "it is earlier work that could not be read where it was written"
        return Piece(place, why=reason, meant=True)
    ending = _ending(place)
    reason = f"it ends in {ending}" if ending else "its name has no ending"
    return Piece(place, why=f"{reason}; work is a .zip or a .json")


def _too_large(place: tuple[str, ...]) -> Piece:
    reason = f"it is larger than {BYTES_MAX // 1_000_000} MB, which no work is"
    return Piece(place, why=reason, meant=True)


def _ending(place: tuple[str, ...]) -> str:
    return PurePosixPath(place[-1]).suffix.lower()


def _hidden(name: str) -> bool:
    return name.startswith(".") or name == "__MACOSX"


def printable(text: str) -> str:
    """A text as it can be shown and written: a zip may name a file anything."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)
