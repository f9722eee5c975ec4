"""A wave of finished blocks on disk: Parquet files, and a manifest that says they are all there.

`waves/wave=000001/scenario_id=.../features=.../partials.parquet`: any Spark reads `waves` as one
table. Everything is written beside, under a name that readers pass over, and then renamed: a wave
is there as a whole or not at all, whenever its writer was killed.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import msgspec

from .folder_errors import StudyFolderError
from .study_plan import BlockKey
from .work_orders import partials_schema

if TYPE_CHECKING:
    import pyarrow as pa

_MANIFEST = "_manifest.json"
_FILE = "partials.parquet"
_UNFINISHED = "-unfinished"
_WAITING = 16
_NAME = re.compile(r"wave=\d+")
_SPLIT = ("scenario_id", "features")
"""Columns that are folders, not columns of the files."""
_ORDER = [("metric", "ascending"), ("block", "ascending")]


class FileOfWave(msgspec.Struct, frozen=True):
    """One Parquet file: what all its rows share, where it is, what its bytes come to."""

    scenario_id: str
    features: str
    path: str
    sha256: str


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """Which blocks a wave holds, and the files with their partials."""

    blocks: tuple[BlockKey, ...]
    files: tuple[FileOfWave, ...]


class KeptWave(msgspec.Struct, frozen=True):
    """A finished wave of a folder."""

    folder: Path
    manifest: Manifest


def write_wave(waves: Path, blocks: Collection[BlockKey], partials: pa.Table) -> KeptWave:
    """Keep the partials of `blocks` in a new wave below `waves`.

    Raises OSError when the disk does not take it; then nothing of it is left behind.
    """
    folder = _next_name(waves)
    beside = beside_of(folder)
    beside.mkdir(parents=True)
    try:
        files = tuple(_written(beside, partials))
        manifest = Manifest(blocks=tuple(sorted(blocks)), files=files)
        (beside / _MANIFEST).write_bytes(msgspec.json.format(msgspec.json.encode(manifest)))
        _all_to_disk(beside)
        os.rename(beside, folder)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise
    _to_disk(waves)
    return KeptWave(folder, manifest)


def _next_name(waves: Path) -> Path:
    taken = [int(path.name.partition("=")[2]) for path in _named(waves)]
    return waves / f"wave={max(taken, default=0) + 1:06}"


def _named(waves: Path) -> list[Path]:
    """In order; a copy that somebody keeps beside them, under a name like theirs, is no wave."""
    return sorted(path for path in waves.glob("wave=*") if _NAME.fullmatch(path.name))


def _written(wave: Path, partials: pa.Table) -> Iterator[FileOfWave]:
    for shared, rows in _split(partials):
        folders = [f"{name}={quote(value, safe='')}" for name, value in shared.items()]
        path = wave.joinpath(*folders, _FILE)
        path.parent.mkdir(parents=True)
        content = _parquet(rows)
        path.write_bytes(content)
        digest = sha256(content).hexdigest()
        yield FileOfWave(**shared, path=path.relative_to(wave).as_posix(), sha256=digest)


def _split(partials: pa.Table) -> Iterator[tuple[dict[str, str], pa.Table]]:
    """The rows of each file, and what they share."""
    every = partials.sort_by([*((name, "ascending") for name in _SPLIT), *_ORDER])
    counted = partials.group_by(list(_SPLIT)).aggregate([([], "count_all")]).to_pylist()
    first = 0
    for pair in sorted(counted, key=lambda row: [row[name] for name in _SPLIT]):
        rows = every.slice(first, pair["count_all"]).drop_columns(list(_SPLIT))
        first += rows.num_rows
        yield {name: pair[name] for name in _SPLIT}, rows


def _parquet(rows: pa.Table) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(rows, sink)
    return bytes(sink.getvalue())


def beside_of(path: Path) -> Path:
    """Where something is written before it gets its name: readers pass over it."""
    return path.with_name(f".{path.name}{_UNFINISHED}")


def write_durably(path: Path, content: bytes) -> None:
    """`content` under `path`, whole or not at all, and on the disk when this returns.

    Raises OSError when the disk does not take it.
    """
    beside = beside_of(path)
    try:
        with open(beside, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    _to_disk(path.parent)


def _all_to_disk(folder: Path) -> None:
    """Beside each other: a large grid has thousands of files in a wave, and a disk takes those that
    wait for it together.
    """
    with ThreadPoolExecutor(_WAITING) as pool:
        for _ in pool.map(_to_disk, (*folder.rglob("*"), folder)):
            pass


def _to_disk(path: Path) -> None:
    """A file, or a folder: names are kept by the folder they are in."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def kept_waves(waves: Path) -> list[KeptWave]:
    """The finished waves below `waves`, in order; what is half written is passed over.

    Raises StudyFolderError for a manifest that cannot be read.
    """
    return [KeptWave(path, _manifest(path)) for path in _named(waves)]


def _manifest(wave: Path) -> Manifest:
    try:
        return msgspec.json.decode((wave / _MANIFEST).read_bytes(), type=Manifest)
    except (OSError, msgspec.MsgspecError) as problem:
        raise _damaged(wave, f"its manifest cannot be read ({problem})") from None


def read_wave(wave: KeptWave) -> pa.Table:
    """The partials of a wave, with all their columns.

    Raises StudyFolderError when a file is not what was written.
    """
    import pyarrow as pa

    tables = [_read(wave.folder, file) for file in wave.manifest.files]
    return pa.concat_tables([partials_schema().empty_table(), *tables])


def _read(wave: Path, file: FileOfWave) -> pa.Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        content = (wave / file.path).read_bytes()
    except OSError as problem:
        raise _damaged(wave, f"{file.path} cannot be read ({problem.strerror})") from None
    if sha256(content).hexdigest() != file.sha256:
        raise _damaged(wave, f"{file.path} is not what was written")
    rows = pq.read_table(pa.BufferReader(content))
    for name in _SPLIT:
        shared = pa.array([getattr(file, name)] * rows.num_rows, pa.string())
        rows = rows.append_column(name, shared)
    schema = partials_schema()
    return rows.select(schema.names).cast(schema)


def _damaged(wave: Path, what: str) -> StudyFolderError:
    mend = "Remove that folder and run the study again with resume: its blocks are worked out anew."
    return StudyFolderError(f"{wave} is damaged: {what}.", mend)


def remove_unfinished(waves: Path) -> None:
    """Files of killed writers. Only for the one writer."""
    for path in waves.glob(f".wave=*{_UNFINISHED}"):
        shutil.rmtree(path, ignore_errors=True)
