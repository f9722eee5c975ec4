"""The folder of a study: the study itself, and the finished waves of blocks."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import msgspec

from . import wave_files
from .folder_errors import StudyFolderError, check_is_folder, not_empty, written_to
from .study_plan import BlockKey, StudyPlan
from .work_orders import partials_schema

if TYPE_CHECKING:
    import pyarrow as pa

_STUDY, _WAVES, LOCK = "study.json", "waves", ".lock"
_CALLED = {
    "format": "the format of its files",
    "code": "the version of the code that worked it out",
    "study_seed": "the seed",
    "method": "the method",
    "feature_sets": "the feature sets",
    "scenarios": "the scenarios",
}


class StudyFolder:
    """A folder that holds one study; `done` are the blocks that are kept in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.waves: list[wave_files.KeptWave] = wave_files.kept_waves(path / _WAVES)
        self.done: set[BlockKey] = {key for wave in self.waves for key in wave.manifest.blocks}

    def keep(self, blocks: Collection[BlockKey], partials: pa.Table) -> None:
        """One wave more. Raises StudyNotKeptError when the disk does not take it."""
        with written_to(self.path):
            wave = wave_files.write_wave(self.path / _WAVES, blocks, partials)
        self.waves.append(wave)
        self.done.update(blocks)

    def partials(self) -> pa.Table:
        """Every partial of every block, once, by scenario, feature set, metric and block.

        Raises StudyFolderError where two waves say different things of one block, or where a file
        is not what was written.
        """
        import pyarrow as pa

        first: dict[BlockKey, wave_files.KeptWave] = {}
        tables = [partials_schema().empty_table()]
        for wave in self.waves:
            rows = wave_files.read_wave(wave)
            again = {key for key in wave.manifest.blocks if key in first}
            for key in sorted(again):
                _check_equal(key, first[key], wave)
            first |= {key: wave for key in wave.manifest.blocks if key not in again}
            tables.append(_without(rows, again) if again else rows)
        order = ("scenario_id", "features", "metric", "block")
        return pa.concat_tables(tables).sort_by([(name, "ascending") for name in order])


def _check_equal(key: BlockKey, one: wave_files.KeptWave, other: wave_files.KeptWave) -> None:
    """What was worked out twice has to be the same: that is what makes it repeatable."""
    if _of_block(wave_files.read_wave(one), key) != _of_block(wave_files.read_wave(other), key):
        scenario, block = key
        raise StudyFolderError(
            f"Block {block} of scenario {scenario} is one thing in {one.folder} and another in"
            f" {other.folder}.",
            "One of them is wrong; remove that one and run the study again with resume.",
        )


def _of_block(rows: pa.Table, key: BlockKey) -> list[dict[str, Any]]:
    import pyarrow.compute as pc

    scenario, block = key
    mine = pc.and_(pc.equal(rows["scenario_id"], scenario), pc.equal(rows["block"], block))
    kept = rows.filter(mine).sort_by([("features", "ascending"), ("metric", "ascending")])
    rows_of_block: list[dict[str, Any]] = kept.to_pylist()
    return rows_of_block


def _without(rows: pa.Table, keys: set[BlockKey]) -> pa.Table:
    import pyarrow as pa

    pairs = zip(rows["scenario_id"].to_pylist(), rows["block"].to_pylist(), strict=True)
    return rows.filter(pa.array([pair not in keys for pair in pairs], pa.bool_()))


def partials_in(folder: str | Path) -> pa.Table:
    """The partials that a folder holds, finished or not.

    Raises StudyFolderError when it holds no study, or a damaged one.
    """
    path = Path(folder)
    identity_in(path)
    return StudyFolder(path).partials()


def identity_in(folder: str | Path) -> dict[str, Any]:
    """What a folder says of its study: code, seed, method, feature sets, scenarios.

    Raises StudyFolderError when it holds none, or a damaged one.
    """
    path = Path(folder)
    try:
        return msgspec.json.decode((path / _STUDY).read_bytes(), type=dict[str, Any])
    except OSError:
        mend = "Name the folder that `kiplab fleet run` was given."
        raise StudyFolderError(f"{path} holds no study.", mend) from None
    except msgspec.DecodeError as problem:
        mend = "Put it back as it was, or run the study anew in another folder."
        raise StudyFolderError(f"{path / _STUDY} cannot be read: {problem}.", mend) from None


@contextmanager
def opened(folder: str | Path, plan: StudyPlan, *, resume: bool) -> Iterator[StudyFolder]:
    """The folder for this study, made if it is not there, to be written by the body alone.

    Raises StudyFolderError for a file, for a folder that holds something else or that somebody
    writes to, and for one that holds this study already unless `resume`; StudyNotKeptError where
    it cannot be written. Files that were there stay as they were.
    """
    path = Path(folder)
    with written_to(path):
        _check(path, plan, resume=True)
        (path / _WAVES).mkdir(parents=True, exist_ok=True)
    with alone_in(path):
        with written_to(path):
            # Once more: another process may have begun a study there since.
            _check(path, plan, resume=resume)
            if not (path / _STUDY).exists():
                identity = msgspec.json.format(msgspec.json.encode(plan.identity), indent=1)
                wave_files.write_durably(path / _STUDY, identity)
            wave_files.remove_unfinished(path / _WAVES)
        yield StudyFolder(path)


def _check(path: Path, plan: StudyPlan, *, resume: bool) -> None:
    check_is_folder(path)
    if (path / _STUDY).exists():
        _check_same(path, plan)
        if not resume:
            raise _there_already(path)
    elif path.exists() and not _is_only_begun(path):
        raise not_empty(path)


def _is_only_begun(path: Path) -> bool:
    """Whether it only has files that come before the study's description."""
    waves = path / _WAVES
    first = {_WAVES, LOCK, wave_files.beside_of(path / _STUDY).name}
    return {entry.name for entry in path.iterdir()} <= first and not (
        waves.exists() and any(waves.iterdir())
    )


def _check_same(path: Path, plan: StudyPlan) -> None:
    there, here = identity_in(path), msgspec.json.decode(msgspec.json.encode(plan.identity))
    for name, called in _CALLED.items():
        if there.get(name) != here[name]:
            raise StudyFolderError(
                f"{path} holds another study:"
                f" {called} there {_differs(there.get(name), here[name])}.",
                "Name another folder, or ask for the study that is there.",
            )


def _differs(there: Any, here: Any) -> str:
    if isinstance(here, dict) and isinstance(there, dict):
        lacking, more = len(here.keys() - there.keys()), len(there.keys() - here.keys())
        if lacking or more:
            return f"are others ({lacking} of those asked for are not there, {more} more are)"
        return "have blocks of another size"
    both = (", ".join(map(str, x)) if isinstance(x, list) else str(x) for x in (there, here))
    return "is {}, and {} was asked for".format(*both)


def _there_already(path: Path) -> StudyFolderError:
    done = len(StudyFolder(path).done)
    blocks = "1 block" if done == 1 else f"{done:,} blocks"
    mend = "Run it with resume to go on with it, or name another folder."
    return StudyFolderError(f"{path} holds this study already, with {blocks} done.", mend)


@contextmanager
def alone_in(path: Path) -> Iterator[None]:
    """A lock that the operating system opens by itself when its holder is killed.

    Raises StudyFolderError while another process has it, StudyNotKeptError where it cannot be made.
    """
    with written_to(path):
        file = open(path / LOCK, "wb")  # noqa: SIM115 - held by the with below
    with file:
        if not _locked(file):
            raise StudyFolderError(
                f"Somebody else is writing to {path} just now.",
                "Wait until they are done, or name another folder.",
            )
        yield


def _locked(file: IO[bytes]) -> bool:
    """Where there are no such locks, two writers at once end in equal blocks, kept twice."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        return True
    return True
