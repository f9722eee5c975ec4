"""A wave of finished blocks on disk: a Parquet file, and a manifest that says which blocks it has.

`waves/wave=000001/partials.parquet`: any Spark reads `waves` as one table. Both are written beside,
under a name that readers pass over, and then renamed: a wave is there as a whole or not at all,
whenever its writer was killed.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Collection
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from .folder_errors import StudyFolderError
from .study_plan import BlockKey
from .work_orders import partials_schema

if TYPE_CHECKING:
    import pyarrow as pa

_MANIFEST = "_manifest.json"
_FILE = "partials.parquet"
_UNFINISHED = "-unfinished"
_NAME = re.compile(r"wave=\d+")
_ORDER = [(name, "ascending") for name in ("scenario_id", "features", "metric", "block")]


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """Which blocks a wave holds, and what the bytes of their partials come to."""

    blocks: tuple[BlockKey, ...]
    sha256: str


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
        content = _parquet(partials.sort_by(_ORDER))
        manifest = Manifest(blocks=tuple(sorted(blocks)), sha256=sha256(content).hexdigest())
        write_durably(beside / _FILE, content)
        write_durably(beside / _MANIFEST, msgspec.json.format(msgspec.json.encode(manifest)))
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
        raise _damaged_wave(wave, f"its manifest cannot be read ({problem})") from None


def read_wave(wave: KeptWave) -> pa.Table:
    """The partials of a wave.

    Raises StudyFolderError when they are not what was written, or not those of its blocks.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        content = (wave.folder / _FILE).read_bytes()
    except OSError as problem:
        raise _damaged_wave(wave.folder, f"{_FILE} cannot be read ({problem.strerror})") from None
    if sha256(content).hexdigest() != wave.manifest.sha256:
        raise _damaged_wave(wave.folder, f"{_FILE} is not what was written")
    rows = pq.read_table(pa.BufferReader(content)).cast(partials_schema())
    pairs = zip(rows["scenario_id"].to_pylist(), rows["block"].to_pylist(), strict=True)
    if {(scenario, int(block)) for scenario, block in pairs} != {*wave.manifest.blocks}:
        raise _damaged_wave(wave.folder, "its manifest names other blocks than it has")
    return rows


def _damaged_wave(wave: Path, what: str) -> StudyFolderError:
    mend = "Remove that folder and run the study again with resume: its blocks are worked out anew."
    return StudyFolderError(f"{wave} is damaged: {what}.", mend)


def remove_unfinished(waves: Path) -> None:
    """Files of killed writers. Only for the one writer."""
    for path in waves.glob(f".wave=*{_UNFINISHED}"):
        shutil.rmtree(path, ignore_errors=True)
