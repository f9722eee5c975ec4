"""What to say when a student's work cannot be read or written, and what to do about it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from .work_on_disk import FILE, UNREADABLE, VARIABLE, damaged_files, decoded, work_file


def set_aside_since(before: list[Path]) -> str:
    """What to say when a file that could not be read was set aside just now; else empty."""
    new = [path.name for path in damaged_files() if path not in before]
    if not new:
        return ""
    return f" Your earlier work could not be read; it is kept unchanged in {', '.join(new)}."


def unreadable() -> str:
    """What to say of a work file that cannot be read; empty if it can, or if there is none."""
    try:
        decoded()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as problem:
        return f"{work_file().absolute()} cannot be read: {problem.strerror}. {remedy()}"
    except UNREADABLE:
        return (
            f"{work_file().absolute()} cannot be read: it is damaged, or it is something else than"
            " your work. It stays as it is until you answer something; then it is kept, unchanged,"
            f" as {work_file().name}.damaged."
        )
    return ""


def nowhere(problem: OSError) -> str:
    """Where nothing can be written, and why: ``kept in /place/kiplab-work.json: No space``."""
    return f"kept in {work_file().absolute()}: {problem.strerror}"


def remedy() -> str:
    """What to do where nothing can be written; the last line is to be run, and so stands alone."""
    home = Path(os.path.expanduser("~"))
    folder = home if os.access(home, os.W_OK) else Path(tempfile.gettempdir())
    said = (
        "To have it kept, run this line in a cell of its own, now and after every restart, and"
        " then this cell again:"
    )
    return f"{said}\n%env {VARIABLE}={folder / FILE}"
