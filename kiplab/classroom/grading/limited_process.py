"""A process for one submission, from outside: started, watched, and ended with all that is left.

It is a fresh Python each time, on every system. What it has to do is told in arguments and a file,
and its answer is read as JSON: nothing of a submission is run or unpacked where the grading runs.
Its environment has nothing of the instructor's.
"""

import math
import os
import site
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import rmtree
from threading import Event

import msgspec

from ... import __path__ as _package
from ..class_file import VARIABLE, code_here
from ..sealed_texts import is_sealed
from ..work_on_disk import UNREADABLE
from .inside import Said

FOLDER_MB, SAID_MB, _BLOCK = 200, 2, 4_096
"""What a submission may leave in its folder, and what is read of its answer; bytes of any file."""
_Line = dict[str, str | int | bool | list[int | None] | None]
"""What a line may be: a notebook that writes into it writes deeper ones."""
_STEP_S = 0.05


class Ended(msgspec.Struct, frozen=True):
    """What a process said, line by line, and `why` it was ended; empty if it ended by itself."""

    lines: list[Said]
    why: str = ""


def in_own_process(kind: str, content: bytes, folder: Path, seconds: int, stop: Event) -> Ended:
    """Run a process of a kind on `content`, in `folder`, until it ends, takes too long, or `stop`.

    `seconds` are those of its CPU; it has twice as many by the clock.
    """
    # No file in the folder: an earlier process may have put a link in its place.
    with tempfile.TemporaryFile() as handed_in, tempfile.TemporaryFile() as said:
        handed_in.write(content)
        handed_in.seek(0)
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", f"{__package__}.inside", kind, str(seconds)],
            cwd=folder,
            env=_environment(folder),
            stdin=handed_in,
            stdout=said,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            why = _watched(process, folder, seconds, stop)
        finally:
            process.kill()
            process.wait()
        said.seek(0)
        return Ended(_lines(said.read(SAID_MB * 1_000_000)), why)


def _watched(process: subprocess.Popen[bytes], folder: Path, seconds: int, stop: Event) -> str:
    """Wait for its end; returns why it has to be ended, or what it ended of; else empty."""
    latest = time.monotonic() + 2 * seconds
    while process.poll() is None:
        if stop.wait(_STEP_S):
            return "grading was stopped"
        if time.monotonic() > latest:
            return f"it was ended after {2 * seconds} seconds"
        if _megabytes(folder) > FOLDER_MB:
            return f"it was ended when it had written {FOLDER_MB} MB, or too deep a folder"
    if process.returncode < 0:
        return f"it was ended at its limit of {seconds} seconds of CPU, or of memory"
    return f"it ended with exit code {process.returncode}" if process.returncode else ""


@contextmanager
def own_folder() -> Iterator[Path]:
    """A folder for processes, which is gone afterwards, whatever they have left in it."""
    folder = tempfile.mkdtemp(prefix="kiplab-grade-")
    try:
        yield Path(folder)
    finally:
        with suppress(RecursionError):
            rmtree(folder, ignore_errors=True)
        if os.path.exists(folder):  # it is too deep for Python, or closed to its owner
            subprocess.run(["sh", "-c", 'chmod -R u+rwX "$0"; rm -rf "$0"', folder], check=False)


def _megabytes(folder: Path) -> float:
    """What is in it; no end of it where it is too deep to be looked at, or closed to its owner."""
    total = 0
    try:
        for inside, _, names in os.walk(folder, onerror=_unless_gone):
            total += _BLOCK
            for name in names:
                with suppress(FileNotFoundError):
                    total += max(os.lstat(os.path.join(inside, name)).st_size, _BLOCK)
    except (OSError, RecursionError):
        return math.inf
    return total / 1_000_000


def _unless_gone(problem: OSError) -> None:
    if not isinstance(problem, FileNotFoundError):
        raise problem


def _environment(folder: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "LANG") if name in os.environ}
    own = dict.fromkeys(("HOME", "TMPDIR", "TEMP", "TMP", "IPYTHONDIR"), str(folder)) | {
        "KIPLAB_WORK": str(folder / "kiplab-work.json"),
        "PYTHONPATH": str(Path(_package[0]).parent),
        "PYTHONUSERBASE": site.getuserbase(),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    # Sealed exercises cannot be judged without the code.
    return kept | own | ({VARIABLE: code_here()} if is_sealed() else {})


def _lines(said: bytes) -> list[Said]:
    """What can be read of it: a notebook may have written into it, too."""
    lines = list[Said]()
    for line in said.splitlines():
        with suppress(*UNREADABLE):
            lines.append(msgspec.json.decode(line, type=_Line))
    return lines
