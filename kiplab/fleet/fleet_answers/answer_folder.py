"""The folder of an answer: the study as TOML, and below it a folder for each way of sampling."""

from collections.abc import Mapping
from pathlib import Path

from ..parameters.fleet_study import FleetStudy, study_from
from ..parameters.parameter_errors import ParameterError
from ..parameters.study_text import written
from ..pipeline.folder_errors import StudyFolderError, check_is_folder, not_empty, written_to
from ..pipeline.study_folder import LOCK, alone_in, identity_in
from ..pipeline.wave_files import beside_of, write_durably
from ..pipeline.work_orders import METHODS

STUDY_FILE = "study.toml"


def begin_folder(folder: Path, study: FleetStudy, *, seed: int, resume: bool) -> None:
    """Make the folder of this study, or see that it is the one that is there.

    Raises StudyFolderError for a file, for a folder with something else in it, for one in which
    somebody else begins a study this very moment, and for one that has some of this study already
    unless `resume`; StudyNotKeptError where it cannot be written.
    """
    with written_to(folder):
        if not (folder / STUDY_FILE).exists():
            _check_empty(folder)
            folder.mkdir(parents=True, exist_ok=True)
    with alone_in(folder), written_to(folder):
        if (folder / STUDY_FILE).exists():
            _check_same(folder, study, seed=seed, resume=resume)
        else:
            _check_empty(folder)
            write_durably(folder / STUDY_FILE, written(study).encode())


def _check_empty(folder: Path) -> None:
    check_is_folder(folder)
    first = {LOCK, beside_of(folder / STUDY_FILE).name}
    if folder.exists() and {entry.name for entry in folder.iterdir()} - first:
        raise not_empty(folder)


def _check_same(folder: Path, study: FleetStudy, *, seed: int, resume: bool) -> None:
    differs = _differences(study_in(folder), study)
    identities = [identity_in(folder / method) for method in kept_methods(folder)]
    differs += ["the seed"] * any(kept.get("study_seed") != seed for kept in identities)
    if differs:
        mend = "Name another folder, or ask for the study that is there."
        other = f"{', '.join(differs)} {'is' if len(differs) == 1 else 'are'} not the same"
        raise StudyFolderError(f"{folder} holds another study: {other}.", mend)
    if kept_methods(folder) and not resume:
        mend = "Run it with --resume (resume=True) to go on with it, or name another folder."
        raise StudyFolderError(f"{folder} holds this study already.", mend)


def _differences(there: FleetStudy, here: FleetStudy) -> list[str]:
    """The differing keys, by their names in the file; what a study is about may change."""
    values = dict(there.values)
    names = [name for name, several in here.values if values[name] != several]
    return names + ["feature_sets"] * (there.feature_sets != here.feature_sets)


def study_in(folder: Path) -> FleetStudy:
    """The study that a folder holds. Raises StudyFolderError where it holds none, or a damaged one.

    What a folder says of its study must read back: a parameter that is new since has its default.
    """
    file = folder / STUDY_FILE
    try:
        return study_from(file.read_text("utf-8"), str(file))
    except OSError:
        mend = "Name the folder that `kiplab fleet run` was given with -o."
        raise StudyFolderError(f"{folder} holds no study.", mend) from None
    except (ParameterError, UnicodeDecodeError) as problem:
        mend = "Put it back as it was, or run the study anew in another folder."
        raise StudyFolderError(f"{file} cannot be read: {problem}.", mend) from None


def kept_methods(folder: Path) -> tuple[str, ...]:
    """The ways of sampling that a folder has anything of."""
    return tuple(method for method in METHODS if (folder / method / "study.json").exists())


def kept_sizes(folder: Path) -> Mapping[str, int]:
    """Replications of a block by scenario, where a folder of one way of sampling has blocks."""
    if not (folder / "study.json").exists():
        return {}
    scenarios = identity_in(folder).get("scenarios", {})
    return {name: int(sizes["block_replications"]) for name, sizes in scenarios.items()}
