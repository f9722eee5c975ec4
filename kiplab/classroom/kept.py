"""Predictions on disk: written at once beside the notebook, and never changed afterwards."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import msgspec

FILE = "kiplab-work.json"
"""Beside the notebook copy; $KIPLAB_WORK names another place."""


class Work(msgspec.Struct, frozen=True):
    """What a student has committed to: the answer to each question, by its id."""

    predictions: dict[str, str] = {}


class LockedError(ValueError):
    """A prediction that was made already and says something else."""


def work_file() -> Path:
    """Where the student's work is kept."""
    return Path(os.environ.get("KIPLAB_WORK", FILE))


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

    Raises LockedError if another one was made before; the same one again changes nothing.
    """
    kept = read()
    before = kept.predictions.get(id, answer)
    if before != answer:
        raise LockedError(f"{id} is locked: you predicted {before!r}")
    _write(Work({**kept.predictions, id: answer}))


def _write(work: Work) -> None:
    """All or nothing: a crash while writing leaves the old file whole."""
    target = work_file()
    target.parent.mkdir(parents=True, exist_ok=True)
    content = msgspec.json.format(msgspec.json.encode(work), indent=1)
    with tempfile.NamedTemporaryFile(dir=target.parent, delete=False) as draft:
        draft.write(content)
    os.replace(draft.name, target)
