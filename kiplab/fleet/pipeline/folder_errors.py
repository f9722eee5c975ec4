"""Errors in the folder of a study: one sentence each, and the remedy."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ...machine import LackingError

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


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


def check_is_folder(path: Path) -> None:
    """Raises StudyFolderError where the path, or one above it, is a file."""
    for place in (path, *path.parents):
        if place.exists() and not place.is_dir():
            mend = "A study is kept in a folder; name another place."
            raise StudyFolderError(f"{place} is a file.", mend)


def not_empty(path: Path) -> StudyFolderError:
    """The error of a folder that holds something else than a study."""
    mend = "Name another folder, or an empty one."
    return StudyFolderError(f"{path} is not empty, and holds no study.", mend)


@contextmanager
def written_to(folder: Path) -> Iterator[None]:
    """What the operating system refuses in the body becomes a sentence.

    Raises StudyNotKeptError.
    """
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
