"""A student's work on disk, beside the notebook: predictions, and every attempt at an exercise.

It is written at once. A prediction never changes afterwards; where nothing can be written it lasts
as long as the kernel. Notebooks that are open at the same time write to one file: each change reads
it, adds to it and replaces it while others wait. A file that cannot be read is kept under another
name.
"""

import errno
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from time import sleep
from typing import Any

import msgspec
from msgspec.structs import replace

from .. import __version__
from ..extras import in_a_page

FILE, VARIABLE = "kiplab-work.json", "KIPLAB_WORK"
"""The file's name beside the notebook copy; the variable names another place."""
TRIES_MAX, ANSWER_MAX, WRITTEN_MAX = 20, 2_000, 10_000
"""So many attempts are kept, first and latest, with so many characters; and of a text so many."""
UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""The error for a file that is no work."""


class Try(msgspec.Struct, frozen=True):
    """One attempt: what was answered, what it earned, and what was said about it.

    `at` is when, as `now` says it; empty in files of versions before 1.0.
    """

    answer: str
    points: int
    hint: str = ""
    misconception: str = ""
    at: str = ""


class ExerciseWork(msgspec.Struct, frozen=True):
    """Attempts at an exercise: how many, the first and the latest; `best` of `of` points."""

    attempts: int = 0
    best: int = 0
    of: int = 1
    tries: tuple[Try, ...] = ()

    @property
    def different(self) -> int:
        """How many different answers were tried."""
        return len({attempt.answer for attempt in self.tries})

    @property
    def done(self) -> bool:
        """Whether all points were earned once."""
        return self.attempts > 0 and self.best >= self.of


class Work(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a student committed to, by the ids of questions and exercises, and own texts.

    `at` is when a prediction was locked, or a text was last changed, by id and as `now` says it.
    `student` is a name or a number for the instructor, None before anybody has asked for it.
    `seed` says whose numbers the exercises have: those of the text where it is empty. `version` is
    the kiplab that wrote the file last.
    """

    predictions: dict[str, str] = {}
    exercises: dict[str, ExerciseWork] = {}
    written: dict[str, str] = {}
    at: dict[str, str] = {}
    student: str | None = None
    seed: str = ""
    version: str = ""


class LockedError(ValueError):
    """A prediction that was made already and says something else."""


_here = {name: dict[str, Any]() for name in ("predictions", "exercises", "written", "at")}
"""Attempts that could not be written: this kernel remembers them, as checkers count attempts."""


def work_file() -> Path:
    return Path(os.environ.get(VARIABLE) or FILE)


def damaged_files() -> list[Path]:
    """Work files that could not be read, and were set aside."""
    target = work_file()
    return sorted(target.parent.glob(f"{target.name}.damaged*"))


def decoded() -> Work:
    """The work file. Raises OSError where it cannot be read, and UNREADABLE where it is no work."""
    return msgspec.json.decode(work_file().read_bytes(), type=Work)


def read() -> Work:
    """What is kept, and what this kernel remembers; nothing if there is no readable file yet."""
    try:
        work = decoded()
    except (OSError, *UNREADABLE):
        work = Work()
    both = {name: {**kept, **getattr(work, name)} for name, kept in _here.items()}
    return replace(work, **both)


def unwritten() -> bool:
    """Whether there are predictions or attempts that only this kernel remembers."""
    return any(_here.values())


def now() -> str:
    """The time, to the second: ``"2026-01-31T23:59:59Z"``."""
    return stamp(datetime.now(UTC))


def stamp(moment: datetime) -> str:
    """A time as work files have it. As texts, too, earlier ones are less."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def seed_of(code: str, student: str) -> str:
    """The seed of a student's numbers: of the class's code and the name, however it is written."""
    return sha256(f"{code}\n{' '.join(student.casefold().split())}".encode()).hexdigest()[:12]


def introduce(student: str) -> None:
    """Keep who the work is from. Raises OSError where nothing can be written."""
    _change(lambda fields: {**fields, "student": student})


def keep_seed(seed: str) -> None:
    """Keep whose numbers the exercises have, from now on. Raises OSError as `introduce`."""
    if seed and seed != read().seed:
        _change(lambda fields: {**fields, "seed": fields.get("seed") or seed})


def prediction(id: str) -> str | None:
    return read().predictions.get(id)


def lock(id: str, answer: str) -> None:
    """Keep a prediction for good.

    Raises LockedError if another one was made before (the same one again changes nothing). Raises
    OSError where nothing can be written: then it is locked all the same, while this kernel runs.
    """

    def locked(before: str | None) -> str:
        if before not in (None, answer):
            raise LockedError(f"{id} is locked: you predicted {before!r}")
        return answer

    locked(prediction(id))
    if id in _here["predictions"] or prediction(id) is None:
        _keep("predictions", id, locked)


def note(id: str, tried: Try, of: int) -> ExerciseWork:
    """Keep an attempt at an exercise, with its time, and answer what there is now.

    Raises OSError as `lock`: then it counts all the same, while this kernel runs.
    """
    dated = replace(tried, at=now())

    def noted(before: ExerciseWork | None) -> ExerciseWork:
        earlier = before or ExerciseWork()
        # The first one tells what was thought before any hint.
        tries = (*earlier.tries[:1], *earlier.tries[1:][2 - TRIES_MAX :], dated)
        best = max(earlier.best, tried.points)
        return ExerciseWork(earlier.attempts + 1, best, of, tries)

    kept: ExerciseWork = _keep("exercises", id, noted)
    return kept


def write(id: str, text: str) -> None:
    """Keep what was written, in place of what was there. Raises OSError as `lock`."""
    _keep("written", id, lambda _: text)


def set_aside_since(before: list[Path]) -> str:
    """What to say when a file that could not be read was set aside just now; else empty."""
    new = ", ".join(path.name for path in damaged_files() if path not in before)
    return f" Your earlier work could not be read; it is kept unchanged in {new}." if new else ""


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
    if in_a_page():
        return "kept in this browser: its storage is full, or closed to this page"
    return f"kept in {work_file().absolute()}: {problem.strerror}"


def remedy() -> str:
    """What to do where nothing can be written; a line that is to be run stands alone, and last."""
    if in_a_page():
        return (
            "To have it kept, delete what you do not need from the list of files on the left, or"
            " open this page in a window that is not private; then run this cell again."
        )
    home = Path(os.path.expanduser("~"))
    folder = home if os.access(home, os.W_OK) else Path(tempfile.gettempdir())
    return (
        "To have it kept, run this line in a cell of its own, now and after every restart, and"
        f" then this cell again:\n%env {VARIABLE}={folder / FILE}"
    )


def _keep(field: str, id: str, changed: Callable[[Any], Any]) -> Any:
    """Keep under `id` what `changed` makes of what there is. Raises OSError as `lock`."""
    kept: list[Any] = []

    def with_it(fields: dict[str, Any]) -> dict[str, Any]:
        on_disk = msgspec.convert(fields, Work)
        kept.append(changed({**_here[field], **getattr(on_disk, field)}.get(id)))
        new = {**getattr(on_disk, field), id: kept[0]}
        fields = {**fields, field: msgspec.to_builtins(new)}
        if field != "exercises":
            fields["at"] = {**on_disk.at, id: _here["at"].get(id, now())}
        return fields

    try:
        _change(with_it)
    except OSError:
        kept = [changed(getattr(read(), field).get(id))]
        _here[field][id] = kept[0]
        if field != "exercises":
            _here["at"].setdefault(id, now())
        raise
    _here[field].pop(id, None)
    _here["at"].pop(id, None)
    return kept[0]


def _change(changed: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Write the file as `changed` makes it. Raises OSError where nothing can be written.

    What a newer kiplab has added to the file stays in it.
    """
    target = work_file()
    if in_a_page() and not target.absolute().is_relative_to(_STORAGE):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))
    target.parent.mkdir(parents=True, exist_ok=True)
    with _alone_in(target.parent):
        _write(target, {**changed(_fields(target)), "version": __version__})


def _fields(target: Path) -> dict[str, Any]:
    """The file as plain values. One that cannot be read is somebody's work all the same."""
    try:
        content = target.read_bytes()
    except FileNotFoundError:
        return {}
    try:
        msgspec.json.decode(content, type=Work)
        fields: dict[str, Any] = msgspec.json.decode(content)
    except UNREADABLE:
        # Renamed, never replaced, and never over an earlier one.
        number, aside = 1, target.with_name(f"{target.name}.damaged")
        while aside.exists():
            number += 1
            aside = target.with_name(f"{target.name}.damaged-{number}")
        os.replace(target, aside)
        return {}
    return fields


def _write(target: Path, fields: dict[str, Any]) -> None:
    """All or nothing: a crash while writing leaves the old file whole."""
    draft = target.with_name(f"{target.name}.{os.getpid()}")
    draft.write_bytes(msgspec.json.format(msgspec.json.encode(fields), indent=1) + b"\n")
    try:
        # On Windows a file that somebody reads, as a virus scanner does, is not replaced meanwhile.
        for wait_s in (0.05, 0.1, 0.2, 0.4):
            with suppress(PermissionError):
                os.replace(draft, target)
                return
            sleep(wait_s)
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)


# --- in a web page --------------------------------------------------------------------------------

_STORAGE = "/drive"
"""Where JupyterLite shows a kernel what the browser keeps; anything else is gone with the page."""
_ANSWER_S = 5
_HEAR_OF_FAILURES = """
const { open, send } = XMLHttpRequest.prototype;
XMLHttpRequest.prototype.open = function (method, url, ...more) {
  open.call(this, method, url, ...more);
  if (more[0] === false && url.endsWith('/api/drive')) this.timeout = %d;
};
XMLHttpRequest.prototype.send = function (body) {
  try {
    send.call(this, body);
  } catch (error) {
    if (!this.timeout) throw error;
    Object.defineProperty(this, 'status', { value: 507 });
  }
};
"""


def hear_of_a_full_storage() -> None:
    """JupyterLite's page answers nothing when it cannot write, and the kernel would wait for ever.

    From now on that is an OSError after five seconds.
    """
    from pyodide.code import run_js

    run_js(_HEAR_OF_FAILURES % (1_000 * _ANSWER_S))


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """While others who want to write there wait. No file is left behind in the folder."""
    handle = _lock_of(folder)
    try:
        yield
    finally:
        if handle is not None:
            os.close(handle)


def _lock_of(folder: Path) -> int | None:
    """What holds the lock until it is closed. Some network folders have no locks."""
    try:
        # By name: in a browser, where nobody else writes, the module is there and empty.
        from fcntl import LOCK_EX, flock
    except ImportError:
        return _lock_on_windows(folder)
    handle = os.open(folder, os.O_RDONLY)
    with suppress(OSError):
        flock(handle, LOCK_EX)
    return handle


def _lock_on_windows(folder: Path) -> int | None:
    """Of a file in the user's folder for such files: Windows locks no folder."""
    try:
        import msvcrt
    except ImportError:
        return None
    name = sha256(str(folder.resolve()).encode()).hexdigest()[:16]
    handle = os.open(Path(tempfile.gettempdir(), f"kiplab-{name}.lock"), os.O_RDWR | os.O_CREAT)
    with suppress(OSError):
        msvcrt.locking(handle, msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined]
    return handle
