"""`read_items`: files, folders and stdin to the items of one metadata log, in one pass."""

import re
import shutil
import sys
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Literal

from ..log_items import (
    UNKNOWN,
    FileRead,
    LogItem,
    LogRecord,
    Remark,
    SavedState,
    UnreadableInputError,
)
from .batches import LogBatch
from .dump_text import DumpReader
from .input_files import STDIN, InputPart, chunks_of, files_of, line_blocks, parts_of
from .joining import JoinedLog
from .segments import segment_batches

ByteProgress = Callable[[int, int], None]
"""Is called with (bytes read, bytes in all)."""


def read_items(paths: Iterable[str | Path], *, progress: ByteProgress | None = None) -> "LogItems":
    """The log that `paths` have: segments, checkpoints, dumps, packed with gzip or not, folders of
    them, ``"-"`` for stdin. Raises UnreadableInputError for what is none, here or on the way.
    """
    return LogItems(paths, progress)


class LogItems(Iterable[LogItem]):
    """The items of a log. Each iteration is one pass over the files, in bounded memory: one batch
    of each file, or one checkpoint. Raises UnreadableInputError, as `read_items` does.
    """

    def __init__(self, paths: Iterable[str | Path], progress: ByteProgress | None = None) -> None:
        self._spans: dict[str, list[int]] = {}
        self._progress, self._done = progress, 0
        named = [str(path) for path in paths]
        files = files_of([path for path in named if path != STDIN])
        self._parts = [part for file in files for part in parts_of(str(file), str(file))]
        if STDIN in named:
            self._parts += parts_of(self._spooled(), STDIN)
        self._total = sum(part.size for part in self._parts)
        if not self._parts:
            raise UnreadableInputError(f"{', '.join(named) or 'no files'}: nothing is in it.")
        _check_cluster(files)

    def __iter__(self) -> Iterator[LogItem]:
        self._done, self._spans = 0, {}
        return JoinedLog(self._parts, self._batches, self._checkpoint).items()

    @property
    def files_read(self) -> tuple[FileRead, ...]:
        """What was read so far, a line for each file, in the order of their offsets."""
        kinds: dict[str, Literal["segment", "checkpoint", "dump"]] = {
            part.file: "dump" if part.is_dump else "checkpoint" if part.place else "segment"
            for part in self._parts
        }
        spans = sorted(self._spans.items(), key=lambda named: named[1])
        return tuple(FileRead(file, kinds[file], *span) for file, span in spans)

    def _spooled(self) -> str:
        """Stdin in a file: it has to be read more than once. It is removed with this object."""
        with tempfile.NamedTemporaryFile(delete=False) as file:
            weakref.finalize(self, Path(file.name).unlink)
            shutil.copyfileobj(sys.stdin.buffer, file)
        return file.name

    def _chunks(self, part: InputPart) -> Iterator[bytes]:
        size = part.size if part.is_dump else sys.maxsize
        for chunk in chunks_of(part.path, part.start, size):
            self._done += len(chunk)
            yield chunk
            if self._progress:
                self._progress(min(self._done, self._total), self._total)

    def _batches(self, part: InputPart) -> Iterator[LogBatch | Remark]:
        for item in self._read(part):
            if isinstance(item, LogBatch):
                span = self._spans.setdefault(part.file, [item.base, item.end - 1])
                span[1] = max(span[1], item.end - 1)
            yield item

    def _read(self, part: InputPart) -> Iterator[LogBatch | Remark]:
        chunks = self._chunks(part)
        if part.is_dump:
            return DumpReader(part).batches(line_blocks(chunks))
        return segment_batches(chunks, part.file)

    def _checkpoint(self, part: InputPart) -> Iterator[LogItem]:
        """A SavedState, and what is to be said of it; none where something of it is missing."""
        assert part.place is not None
        records: list[LogRecord] = []
        is_whole = True
        for item in self._read(part):
            if isinstance(item, Remark):
                is_whole, _ = item.kind == "broken line", (yield item)
            elif item.damage or item.missing:
                is_whole = False
            else:
                records += item.records
        names = [record.type for record in records]
        if not is_whole or names[:1] != ["SNAPSHOT_HEADER"] or names[-1] != "SNAPSHOT_FOOTER":
            yield Remark("damaged", "the checkpoint is not whole, and was not used", part.file)
            return
        time = records[0].fields.get("lastContainedLogTimestamp", UNKNOWN)
        self._spans.setdefault(part.file, [part.base, part.base])
        yield SavedState(*part.place, time, tuple(records[1:-1]), part.file)


def _check_cluster(files: Iterable[Path]) -> None:
    """Refuses the logs of two clusters, where ``meta.properties`` beside them tell."""
    clusters: dict[str, Path] = {}
    for folder in {file.absolute().parent.parent for file in files}:
        with suppress(OSError):
            text = (folder / "meta.properties").read_text("utf-8", "replace")
            for cluster in re.findall(r"(?m)^[ \t]*cluster\.id[ \t]*=(.*)", text):
                clusters[cluster.strip()] = folder
    if len(clusters) > 1:
        told = ", ".join(f"{folder} of {cluster}" for cluster, folder in clusters.items())
        raise UnreadableInputError(f"logs of different clusters: {told}. Give the files of one.")
