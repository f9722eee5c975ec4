"""A process for one submission. From outside: started, watched, and ended with all that is left.
From inside: what it may not do, which it sets itself, for good.

It is a fresh Python each time, on every system. What it has to do is told in arguments and a file,
and its answer is read as JSON: nothing of a submission is run or unpacked where the grading runs.
Its environment has nothing of the instructor's.

Linux alone has limits, and `enter` says nothing to another system. The process that calls it has
read all of kiplab that it needs, and nothing of the submission yet. `setrlimit` holds time, memory
and the size of files; a filter of system calls (seccomp) holds the network and new processes;
Landlock holds files. Their numbers come from Linux's own headers: ``unistd_64.h``,
``asm-generic/unistd.h``, ``linux/seccomp.h``, ``linux/landlock.h``.
"""

import ctypes
import errno
import math
import os
import platform
import site
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from shutil import rmtree
from threading import Event
from typing import Any

import msgspec

from ... import __path__ as _package
from ..class_file import VARIABLE, code_here
from ..sealed_texts import is_sealed
from ..work_on_disk import UNREADABLE

Said = dict[str, Any]
"""A line that the process says."""
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


# --- from inside ----------------------------------------------------------------------------------

MEMORY_MB, FILE_MB, FILES_OPEN = 2_000, 50, 256
"""Of one submission: memory by address, of which libraries reserve a lot; a file; open files."""
_CALLS = files(__package__).joinpath("system_calls.txt").read_text("utf-8")
_CLONE, _SECCOMP, _THREAD = (56, 220), (317, 277), 0x10000
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""Which of the numbers, and how a filter calls the machine."""
_CREATE_RULES, _ADD_RULE, _RESTRICT = 444, 445, 446
_WRITE, _READ, _READ_FOLDER, _TRUNCATE, _SPECIAL = 0x2, 0x4, 0x8, 0x4000, 0xE40
"""Rights over files; the last are those to make devices, sockets and pipes."""
_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""How many rights over files each version of Landlock knows; later ones know 16."""


def can_be_held() -> bool:
    """Whether this machine can refuse network and new processes to a process."""
    return sys.platform == "linux" and platform.machine() in _MACHINES


def enter(folder: Path, seconds: int) -> bool:
    """Limit this process, and all of its threads: it writes in `folder` alone, reads no other file
    than Python's, for so many seconds of CPU. Returns whether files are held too.

    Raises OSError where the rest cannot be held.
    """
    import resource

    most = (MEMORY_MB * 1_000_000, FILE_MB * 1_000_000, FILES_OPEN, seconds, 0)
    for name, limit in zip(("AS", "FSIZE", "NOFILE", "CPU", "CORE"), most, strict=True):
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (limit, limit))
    libc = ctypes.CDLL(None, use_errno=True)
    # Without new privileges (38), a process may restrict itself.
    _called(libc.prctl(38, 1, 0, 0, 0))
    held = _hold_files(libc, folder)
    _hold_calls(libc)
    return held


def _called(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def _numbers(what: str, machine: int) -> list[int]:
    """The calls of a heading of system_calls.txt, as a machine numbers them."""
    _, _, below = _CALLS.partition(f"\n[{what}]")
    lines = (line.split() for line in below.partition("\n[")[0].splitlines()[1:])
    return [int(numbers[machine]) for _, *numbers in filter(None, lines) if numbers[machine] != "-"]


def _hold_calls(libc: ctypes.CDLL) -> None:
    """The filter: steps of (what it does, steps if true, steps if false, number)."""
    load, equal, at_least, any_bit, end = 0x20, 0x15, 0x35, 0x45, 0x06
    machine, name = _MACHINES[platform.machine()]
    kill, allow, refuse = 0x80000000, 0x7FFF0000, 0x50000
    steps = [(load, 0, 0, 4), (equal, 1, 0, name), (end, 0, 0, kill), (load, 0, 0, 0)]
    if machine == 0:  # the calls of x32 have other numbers for the same
        steps += [(at_least, 0, 1, 0x40000000), (end, 0, 0, kill)]
    for what, number in (("refused", errno.EPERM), ("unknown", errno.ENOSYS), ("idle", 0)):
        for call in _numbers(what, machine):
            steps += [(equal, 0, 1, call), (end, 0, 0, refuse | number)]
    permitted = [(end, 0, 0, allow), (end, 0, 0, refuse | errno.EPERM)]
    steps += [(equal, 0, 4, _CLONE[machine]), (load, 0, 0, 16), (any_bit, 0, 1, _THREAD)]
    steps += permitted
    for call in _numbers("own", machine):
        steps += [(equal, 0, 5, call), (load, 0, 0, 16), (equal, 1, 0, os.getpid())]
        steps += [(equal, 0, 1, 0), *permitted]
    steps.append((end, 0, 0, allow))
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code))
    # Set a filter (1), for every thread (1).
    _called(libc.syscall(_SECCOMP[machine], 1, 1, ctypes.c_char_p(program)))


def _hold_files(libc: ctypes.CDLL, folder: Path) -> bool:
    """Rules for files; False where the kernel has no Landlock."""
    version = libc.syscall(_CREATE_RULES, None, ctypes.c_size_t(0), 1)
    if version < 1:
        return False
    every = (1 << _RIGHTS.get(version, 16)) - 1
    # Files; TCP, to bind and to connect, from version 4 on; signals to others from version 6 on.
    size = 8 if version < 4 else 16 if version < 6 else 24
    rules = struct.pack("QQQ", every, 3, 3)[:size]
    ruleset = _called(libc.syscall(_CREATE_RULES, rules, ctypes.c_size_t(size), 0))
    for path in _readable():
        _allow(libc, ruleset, path, every & (_READ | _READ_FOLDER))
    _allow(libc, ruleset, Path("/dev/null"), every & (_READ | _WRITE | _TRUNCATE))
    _allow(libc, ruleset, folder, every & ~_SPECIAL)
    _called(libc.syscall(_RESTRICT, ruleset, 0))
    os.close(ruleset)
    return True


def _readable() -> Iterable[Path]:
    """Python, its packages, and what they ask the system for; nobody's home, no other work."""
    # The folder of a checkout is in sys.path too; the work of the class may be in it.
    packages = (path for path in sys.path if path.endswith("-packages"))
    python = (sys.prefix, sys.base_prefix, sys.exec_prefix, *packages, *_package)
    # Of /proc its own part: that of another process has its environment.
    proc = ("/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat")
    system = ("/usr", "/lib", "/lib64", "/etc", "/sys", "/dev", *proc)
    return (Path(path) for path in (*python, *system) if path and Path(path).exists())


def _allow(libc: ctypes.CDLL, ruleset: int, path: Path, rights: int) -> None:
    handle = os.open(path, os.O_PATH)
    if not path.is_dir():
        rights &= _WRITE | _READ | _TRUNCATE
    _called(libc.syscall(_ADD_RULE, ruleset, 1, struct.pack("=Qi", rights, handle), 0))
    os.close(handle)
