"""A process for one submission, from outside: started, watched, and ended with all that is left.

A fresh Python each time, on every system: it is told in arguments and files what to do, and its
answer is read as JSON, so nothing of a submission is ever run or unpacked in the process that
grades. It has an environment of its own, without the secrets of the instructor's.
"""

import os
import shutil
import site
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Event

import msgspec

from ... import __file__ as _OWN_FILE
from .inside import HANDED_IN, Said

FOLDER_MB, SAID_MB = 200, 2
"""What a submission may leave in its folder, and what is read of its answer."""
_STEP_S = 0.2


class Ended(msgspec.Struct, frozen=True):
    """What a process said, line by line, and `why` it was ended; empty if it ended by itself."""

    said: list[Said]
    why: str = ""


def in_own_process(kind: str, content: bytes, folder: Path, seconds: int, stop: Event) -> Ended:
    """Run one kind of process on `content`, in `folder`, until it ends, is too long, or `stop`.

    `seconds` are those of its CPU, and half of those by the clock.
    """
    (folder / HANDED_IN[kind]).write_bytes(content)
    answer = folder / "answer.jsonl"
    with answer.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", f"{__package__}.inside", kind, str(seconds)],
            cwd=folder,
            env=_environment(folder),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            why = _watched(process, folder, seconds, stop)
        finally:
            process.kill()
            process.wait()
    with answer.open("rb") as said:
        return Ended([*_lines(said.read(SAID_MB * 1_000_000))], why)


def _watched(process: subprocess.Popen[bytes], folder: Path, seconds: int, stop: Event) -> str:
    """Wait for its end; returns why it had to be ended, or how it ended itself."""
    latest = time.monotonic() + 2 * seconds
    while True:
        with suppress(subprocess.TimeoutExpired):
            code = process.wait(_STEP_S)
            if code in (-9, -24):  # killed by the kernel, or at the limit of its CPU
                return f"it was ended at its limit of {seconds} seconds, or of memory"
            return f"it ended with {code}" if code else ""
        if stop.is_set():
            return "grading was stopped before it ended"
        if time.monotonic() > latest:
            return f"it was ended at its limit of {2 * seconds} seconds"
        if _megabytes(folder) > FOLDER_MB:
            return f"it wrote more than {FOLDER_MB} MB"


def _megabytes(folder: Path) -> float:
    with suppress(OSError):  # what is being written may be gone by now
        return sum(entry.stat().st_size for entry in os.scandir(folder)) / 1_000_000
    return 0


def _environment(folder: Path) -> dict[str, str]:
    """What Python needs, and nothing that says who the instructor is or may do."""
    own = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "LANG") if name in os.environ}
    here = str(folder)
    return own | {
        **dict.fromkeys(("HOME", "TMPDIR", "TEMP", "TMP", "IPYTHONDIR"), here),
        "KIPLAB_WORK": str(folder / "kiplab-work.json"),
        "PYTHONPATH": str(Path(_OWN_FILE).parents[1]),
        "PYTHONUSERBASE": site.getuserbase(),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }


def _lines(said: bytes) -> Iterator[Said]:
    """What can be read of it: a notebook may have written into it, too."""
    for line in said.splitlines():
        with suppress(msgspec.DecodeError, RecursionError):
            yield msgspec.json.decode(line, type=dict)


def emptied(folder: Path) -> None:
    """Take a submission's folder away, whatever it has made of it."""
    shutil.rmtree(folder, ignore_errors=True)
