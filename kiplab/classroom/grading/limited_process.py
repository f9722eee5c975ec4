"""A process for one submission, from outside: started, watched, and ended with all that is left.

It is a fresh Python each time, on every system. What it has to do is told in arguments and a file,
and its answer is read as JSON: nothing of a submission is run or unpacked where the grading runs.
Its environment has nothing of the instructor's.
"""

import os
import site
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from threading import Event

import msgspec

from ... import __path__ as _package
from ..work_on_disk import UNREADABLE
from .inside import HANDED_IN, Said

FOLDER_MB, SAID_MB = 200, 2
"""What a submission may leave in its folder, and what is read of its answer."""
_STEP_S = 0.05


class Ended(msgspec.Struct, frozen=True):
    """What a process said, line by line, and `why` it was ended; empty if it ended by itself."""

    lines: list[Said]
    why: str = ""


def in_own_process(kind: str, content: bytes, folder: Path, seconds: int, stop: Event) -> Ended:
    """Run a process of a kind on `content`, in `folder`, until it ends, takes too long, or `stop`.

    `seconds` are those of its CPU; it has twice as many by the clock.
    """
    (folder / HANDED_IN[kind]).write_bytes(content)
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", f"{__package__}.inside", kind, str(seconds)],
            cwd=folder,
            env=_environment(folder),
            stdin=subprocess.DEVNULL,
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
            return f"it was ended when it had written {FOLDER_MB} MB"
    if process.returncode < 0:
        return f"it was ended at its limit of {seconds} seconds of CPU, or of memory"
    return f"it ended with exit code {process.returncode}" if process.returncode else ""


def _megabytes(folder: Path) -> float:
    with suppress(OSError):  # what is being written may be gone by now
        return sum(path.lstat().st_size for path in folder.rglob("*")) / 1_000_000
    return 0


def _environment(folder: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "LANG") if name in os.environ}
    own = dict.fromkeys(("HOME", "TMPDIR", "TEMP", "TMP", "IPYTHONDIR"), str(folder)) | {
        "KIPLAB_WORK": str(folder / "kiplab-work.json"),
        "PYTHONPATH": str(Path(_package[0]).parent),
        "PYTHONUSERBASE": site.getuserbase(),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    return kept | own


def _lines(said: bytes) -> list[Said]:
    """What can be read of it: a notebook may have written into it, too."""
    lines = list[Said]()
    for line in said.splitlines():
        with suppress(*UNREADABLE):
            lines.append(msgspec.json.decode(line, type=Said))
    return lines
