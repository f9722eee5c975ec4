"""The folder of a study: what it is in JSON, and a Parquet file for each finished wave of blocks.

Any Spark reads `waves` as one table. A file is written beside, under a name that readers pass over,
and then renamed: it is there as a whole or not at all, whenever its writer was killed. Its pages
have checksums.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

import msgspec

from ...extras import Deferred
from ...machine import LackingError
from .study_plan import FORMAT, BlockKey, StudyPlan, partials_schema

if TYPE_CHECKING:
    import pyarrow as pa
else:
    pa = Deferred("pyarrow", "a study of fleets")
pq = Deferred("pyarrow.parquet", "a study of fleets")

STUDY, _WAVES, _LOCK = "study.json", "waves", ".lock"
_WAVE = re.compile(r"wave-(\d+)\.parquet")
_ORDER = [(name, "ascending") for name in ("scenario_id", "features", "metric", "block")]
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_CALLED = {
    "code": "the version of the code that worked it out",
    "study_seed": "the seed",
    "method": "the method",
    "feature_sets": "the feature sets",
    "scenarios": "the scenarios, or the size of their blocks,",
}
_T = TypeVar("_T")


class StudyFolderError(ValueError):
    """A folder that is not what was asked for: no folder, or that of another study.

    `sentence` says what is wrong, `mend` what to do about it; the text is both.
    """

    def __init__(self, sentence: str, mend: str) -> None:
        super().__init__(sentence, mend)
        self.sentence, self.mend = sentence, mend

    def __str__(self) -> str:
        return f"{self.sentence} {self.mend}"


class StudyNotKeptError(LackingError):
    """This machine did not let a study be written down. What was there before is there still."""


class KeptBlocks:
    """Partials in memory: `done` are their blocks, each with the place where it is kept."""

    def __init__(self) -> None:
        self.done: dict[BlockKey, str] = {}
        self._tables: list[pa.Table] = []

    def keep(self, partials: pa.Table) -> None:
        """Those of some blocks more."""
        self._tables.append(partials)
        self._note("memory", partials)

    def partials(self) -> pa.Table:
        """Every partial of every block, by scenario, feature set, metric and block."""

        return pa.concat_tables([partials_schema().empty_table(), *self._read()]).sort_by(_ORDER)

    def _read(self) -> Iterator[pa.Table]:
        yield from self._tables

    def _note(self, place: str, partials: pa.Table) -> None:
        """Raises StudyFolderError for a block that is kept already."""
        for row in partials.group_by(["scenario_id", "block"]).aggregate([]).to_pylist():
            key = row["scenario_id"], int(row["block"])
            first = self.done.setdefault(key, place)
            if first != place:
                raise StudyFolderError(
                    f"Block {key[1]} of scenario {key[0]} is in {first} and in {place}.",
                    "Remove one of these files, and run the study again with resume.",
                )


class StudyFolder(KeptBlocks):
    """A folder that holds one study. Raises StudyFolderError for a file that is damaged."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        for file in self._files():
            self._note(str(file), _partials_of(file))

    def keep(self, partials: pa.Table) -> None:
        """One wave more. Raises StudyNotKeptError when the disk does not take it."""

        last = [int(match[1]) for file in self._files() if (match := _WAVE.fullmatch(file.name))]
        file = self.path / _WAVES / f"wave-{max(last, default=0) + 1:06}.parquet"
        sink = pa.BufferOutputStream()
        pq.write_table(partials.sort_by(_ORDER), sink, write_page_checksum=True)
        with _written_to(self.path):
            _write_durably(file, bytes(sink.getvalue()))
        self._note(str(file), partials)

    def _files(self) -> list[Path]:
        """In order; a copy that somebody keeps beside them, under a name like theirs, is none."""
        waves = (self.path / _WAVES).glob("wave-*.parquet")
        return sorted(path for path in waves if _WAVE.fullmatch(path.name))

    def _read(self) -> Iterator[pa.Table]:
        return map(_partials_of, self._files())


def _partials_of(file: Path) -> pa.Table:

    try:
        rows = pq.read_table(pa.BufferReader(file.read_bytes()), page_checksum_verification=True)
        return rows.cast(partials_schema())
    except (OSError, ValueError) as problem:
        reason = str(problem).partition("\n")[0].rstrip(".")
        mend = "Remove that file and run the study again with resume: its blocks are computed anew."
        raise StudyFolderError(f"{file} is damaged: {reason}.", mend) from None


def partials_in(folder: str | Path) -> pa.Table:
    """The partials that a folder holds, finished or not.

    Raises StudyFolderError when it holds no study, or a damaged one.
    """
    identity_in(folder)
    return StudyFolder(Path(folder)).partials()


def identity_in(folder: str | Path) -> dict[str, Any]:
    """What a folder says of its study: code, seed, method, feature sets, scenarios.

    Raises StudyFolderError when it holds none, a damaged one, or one of another kiplab.
    """
    decoder = msgspec.json.Decoder(dict[str, Any])
    identity = read_as(Path(folder) / STUDY, decoder.decode)
    if identity.get("format") != FORMAT:
        mend = "Read it with that version, or run the study anew in another folder."
        raise StudyFolderError(f"Another version of kiplab has written {folder}.", mend)
    return identity


def read_as(file: Path, decode: Callable[[bytes], _T]) -> _T:
    """What a file of a study says. Raises StudyFolderError where it is not there, or damaged."""
    try:
        return decode(file.read_bytes())
    except OSError:
        mend = "Name the folder that `kiplab fleet run` was given with -o."
        raise StudyFolderError(f"{file.parent} holds no study.", mend) from None
    except ValueError as problem:
        mend = "Put it back as it was, or run the study anew in another folder."
        raise StudyFolderError(f"{file} cannot be read: {problem}.", mend) from None


@contextmanager
def opened(folder: str | Path, plan: StudyPlan, *, resume: bool) -> Iterator[StudyFolder]:
    """The folder for this study, made if it is not there, to be written by the body alone.

    Raises as `begun`. Files that were there stay as they were.
    """
    path, said = Path(folder), msgspec.json.encode(plan.identity)

    def differs() -> list[str]:
        there, here = identity_in(path), msgspec.json.decode(said)
        return [called for name, called in _CALLED.items() if there.get(name) != here[name]]

    with begun(path, STUDY, msgspec.json.format(said, indent=1), differs, resume=resume):
        with _written_to(path):
            (path / _WAVES).mkdir(exist_ok=True)
        yield StudyFolder(path)


@contextmanager
def begun(
    path: Path, name: str, content: bytes, differs: Callable[[], list[str]], *, resume: bool
) -> Iterator[None]:
    """The folder that `content` describes under `name`, for the body alone. `differs` says what of
    it is another way in a folder that is there.

    Raises StudyFolderError for a file, for a folder that holds something else or that somebody
    writes to, and for one that has some of this study already unless `resume`; StudyNotKeptError
    where it cannot be written.
    """
    with _written_to(path):
        _is_there(path, name, differs, resume)
        path.mkdir(parents=True, exist_ok=True)
    with _alone_in(path):
        with _written_to(path):
            # Once more: another process may have begun a study there since.
            if not _is_there(path, name, differs, resume):
                _write_durably(path / name, content)
        yield


def _is_there(path: Path, name: str, differs: Callable[[], list[str]], resume: bool) -> bool:
    for place in (path, *path.parents):
        if place.exists() and not place.is_dir():
            mend = "A study is kept in a folder; name another place."
            raise StudyFolderError(f"{place} is a file.", mend)
    if not (path / name).exists():
        first = {_LOCK, _beside(path / name).name}
        if path.exists() and {entry.name for entry in path.iterdir()} - first:
            mend = "Name another folder, or an empty one."
            raise StudyFolderError(f"{path} is not empty, and holds no study.", mend)
        return False
    if others := differs():
        mend = "Name another folder, or ask for the study that is there."
        said = f"{', '.join(others)} {'is' if len(others) == 1 else 'are'} not the same"
        raise StudyFolderError(f"{path} holds another study: {said}.", mend)
    if not resume and any(path.rglob("wave-*.parquet")):
        mend = "Run it with --resume (resume=True) to go on with it, or name another folder."
        raise StudyFolderError(f"{path} holds this study already.", mend)
    return True


@contextmanager
def _alone_in(path: Path) -> Iterator[None]:
    """A lock that the operating system opens by itself when its holder is killed.

    Raises StudyFolderError while another process has it, StudyNotKeptError where it cannot be made.
    """
    with _written_to(path):
        file = open(path / _LOCK, "wb")  # noqa: SIM115 - held by the with below
    with file:
        if not _locked(file):
            raise StudyFolderError(
                f"Somebody else is writing to {path} just now.",
                "Wait until they are done, or name another folder.",
            )
        yield


def _locked(file: IO[bytes]) -> bool:
    """Where there are no such locks, what two writers at once keep twice is refused afterwards."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError) as problem:
        return not isinstance(problem, BlockingIOError)
    return True


@contextmanager
def _written_to(folder: Path) -> Iterator[None]:
    """What the system refuses in the body becomes a sentence. Raises StudyNotKeptError."""
    try:
        yield
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        mend = (
            "Free some space and run it again with resume: what is done is kept."
            if problem.errno in _NO_ROOM
            else "Name a folder that may be written."
        )
        raise StudyNotKeptError(f"{folder} cannot be written: {reason}.", mend) from None


def _beside(path: Path) -> Path:
    """The name of an unfinished file: readers pass over it, and a later run writes over it."""
    return path.with_name(f".{path.name}-unfinished")


def _write_durably(path: Path, content: bytes) -> None:
    """`content` under `path`, whole or not at all, on the disk. Raises OSError if that fails."""
    beside = _beside(path)
    try:
        with open(beside, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
