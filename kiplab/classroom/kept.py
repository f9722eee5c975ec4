"""Predictions on disk: written at once beside the notebook, and never changed afterwards."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

FILE, VARIABLE = "kiplab-work.json", "KIPLAB_WORK"
"""The file's name beside the notebook copy; the variable names another place."""


class Work(msgspec.Struct, frozen=True):
    """What a student has committed to: the answer to each question, by the question's id."""

    predictions: dict[str, str] = {}


class LockedError(ValueError):
    """A prediction that was made already and says something else."""


def work_file() -> Path:
    """Where the student's work is kept."""
    return Path(os.environ.get(VARIABLE) or FILE)


def read() -> Work:
    """What is kept; nothing if there is no readable file yet."""
    try:
        return msgspec.json.decode(work_file().read_bytes(), type=Work)
    except (OSError, msgspec.DecodeError):
        return Work()


def prediction(id: str) -> str | None:
    """The prediction made under `id`, or None."""
    return read().predictions.get(id)


def lock(id: str, answer: str) -> None:
    """Keep a prediction for good.

    Raises LockedError if another one was made before (the same one again changes nothing), and
    OSError where nothing can be written.
    """
    kept = read()
    before = kept.predictions.get(id)
    if before == answer:
        return
    if before is not None:
        raise LockedError(f"{id} is locked: you predicted {before!r}")
    _write(Work({**kept.predictions, id: answer}))


def _write(work: Work) -> None:
    """All or nothing: a crash while writing leaves the old file whole."""
    target = work_file()
    target.parent.mkdir(parents=True, exist_ok=True)
    _set_aside(target)
    draft = target.with_name(f"{target.name}.{os.getpid()}")
    draft.write_bytes(msgspec.json.format(msgspec.json.encode(work), indent=1) + b"\n")
    os.replace(draft, target)


def _set_aside(target: Path) -> None:
    """A file that cannot be read is somebody's work all the same: it is renamed, not replaced."""
    if not target.exists():
        return
    try:
        msgspec.json.decode(target.read_bytes(), type=Work)
    except msgspec.DecodeError:
        os.replace(target, target.with_name(f"{target.name}.damaged"))
