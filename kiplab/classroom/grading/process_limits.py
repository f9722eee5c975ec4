"""What the process of a submission may not do: limits of its own, set from inside, for good.

Linux alone has them, and this file says nothing to another system. The process that calls `enter`
has read all of kiplab that it needs, and nothing of the submission yet. `setrlimit` holds time,
memory and the size of files; a filter of system calls (seccomp) holds the network and new
processes; Landlock holds files. Their numbers come from Linux's own headers: ``unistd_64.h``,
``asm-generic/unistd.h``, ``linux/seccomp.h``, ``linux/landlock.h``.
"""

import ctypes
import errno
import os
import platform
import struct
import sys
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path

from ... import __path__ as _package

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
