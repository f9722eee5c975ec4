"""The instructor's file of a class: which labs, until when, and when answers open.

`KIPLAB_CLASS` names it by path or URL, or is the class's code alone; else it is `class.toml` beside
the notebooks. Of what a variable names a copy is kept beside the work, for when it cannot be had.
Without a class, and with a file that cannot be read, everything opens as a student earns it.
"""

import os
import re
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec.structs import replace

from ..extras import in_a_page
from . import work_on_disk
from .exercise_table import EXERCISES
from .work_on_disk import seed_of, stamp

FILE, VARIABLE, COPY = "class.toml", "KIPLAB_CLASS", "kiplab-class.toml"
"""The file's name beside the notebooks; the variable; the name of the copy beside the work."""
Answers = Literal["after-three", "after-deadline", "by-hand", "never"]
AFTER_THREE, AFTER_DEADLINE, BY_HAND, NEVER = get_args(Answers)
Opening = Literal["earned", "free", "shut"]
"""By the student's own answers; for everybody; not yet, whatever is answered."""
Deadline = Annotated[datetime, msgspec.Meta(tz=True)]
FETCH_S, SIZE_MAX = 5, 100_000
"""Seconds that a server has to answer, and bytes that a file may have."""
_LAB_OF = {entry.id: entry.lab for entry in EXERCISES}
_LABS = tuple(dict.fromkeys(_LAB_OF.values()))
_EXPECTED = {
    "code": 'a text, as in code = "systems-2026"',
    "title": 'a text, as in title = "Distributed systems"',
    "labs": f"numbers of labs, as in labs = [4, 7]; there are {', '.join(_LABS)}",
    "answers": " or ".join(f'"{mode}"' for mode in get_args(Answers)),
    "deadline": "date, time and offset from UTC, as in deadline = 2026-01-31T23:59:00+01:00",
    "opened": 'labs and exercises, as in opened = [4, "epochs/fences"]; of one lab true or false',
    "variants": "true or false",
    "lab": "a table for a lab of this class, as in [lab.04], with answers, deadline or opened",
}


class ClassFileError(ValueError):
    """What is wrong with a class's file: one sentence with file, line and what was expected."""


class LabRules(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is otherwise in one lab; None is what holds for the class."""

    answers: Answers | None = None
    deadline: Deadline | None = None
    opened: bool | None = None


class ClassFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A class. No `labs` are all labs. `answers` says when explanations, right choices and which
    parts are wrong open: as earned, after the `deadline`, when a lab or an exercise is in `opened`,
    or not at all. With `variants` each student's exercises have numbers of their own.
    """

    code: str
    title: str = ""
    labs: tuple[str, ...] = ()
    answers: Answers = AFTER_THREE
    deadline: Deadline | None = None
    opened: tuple[str, ...] = ()
    variants: bool = True
    lab: dict[str, LabRules] = {}

    def has(self, lab: str) -> bool:
        """Whether the class takes that lab."""
        return not self.labs or lab in self.labs

    def answers_of(self, lab: str) -> Answers:
        """When answers open in that lab."""
        return self.lab.get(lab, LabRules()).answers or self.answers

    def deadline_of(self, lab: str) -> datetime | None:
        """Until when that lab is to be done."""
        return self.lab.get(lab, LabRules()).deadline or self.deadline

    def is_late(self, lab: str, at: str) -> bool:
        """Whether a time, as `work_on_disk.now` says it, is after the lab's deadline."""
        deadline = self.deadline_of(lab)
        return deadline is not None and at > stamp(deadline)

    def is_opened(self, id: str) -> bool:
        """Whether the instructor has opened the question, or its lab, by hand."""
        lab = _LAB_OF[id]
        whole = self.lab.get(lab, LabRules()).opened
        return id in self.opened or (lab in self.opened if whole is None else whole)

    def opening(self, id: str, at: str) -> Opening:
        """How the answer to a question opens at that time."""
        lab = _LAB_OF.get(id)
        if lab is None or not self.has(lab):
            return "earned"
        answers = self.answers_of(lab)
        due = answers == AFTER_DEADLINE and self.is_late(lab, at)
        if due or self.is_opened(id):
            return "free"
        return "earned" if answers == AFTER_THREE else "shut"

    def shut_words(self, id: str) -> str:
        """What waits, and for what, while the answer to a question is shut."""
        lab = _LAB_OF[id]
        answers, deadline = self.answers_of(lab), self.deadline_of(lab)
        if answers == AFTER_DEADLINE and deadline is not None:
            return f"This opens after the deadline, {told(deadline)}. Run this cell again then."
        if answers == NEVER:
            return "This stays closed in your class. Ask your instructor."
        again = "Then restart the kernel, and run this cell again."
        return f"This opens when your instructor opens it. {again}"

    def has_begun(self, work: work_on_disk.Work) -> bool:
        """Whether an exercise of this class is answered in that work."""
        return any(self.has(_LAB_OF.get(id, "")) for id in work.exercises)

    def seed_for(self, work: work_on_disk.Work, student: str) -> str:
        """The seed of that student's numbers: empty for nobody's name, and for one who has begun
        with the numbers of the text.
        """
        own = self.variants and student and not self.has_begun(work)
        return seed_of(self.code, student) if own else ""


def told(moment: datetime) -> str:
    """A time for people: where they are, and in UTC."""
    local, common = moment.astimezone(), moment.astimezone(UTC)
    words = f"{common:%Y-%m-%d %H:%M} UTC"
    return f"{local:%Y-%m-%d %H:%M} ({words})" if local.utcoffset() else words


def current() -> ClassFile | None:
    """The class in which these notebooks are done; None without one."""
    return looked_up()[0]


def looked_up() -> tuple[ClassFile | None, str]:
    """The class, and in a sentence what is wrong with its file; an earlier copy may stand in."""
    named = os.environ.get(VARIABLE, "")
    if is_url(named):
        return _read(named, None)
    if named and not named.endswith(".toml"):
        return ClassFile(named), ""
    path = Path(named or FILE)
    with suppress(OSError):
        status = path.stat()
        return _read(str(path.absolute()), (status.st_mtime_ns, status.st_size))
    return _read(str(path.absolute()), None) if named else (None, "")


def is_url(named: str) -> bool:
    return bool(re.match(r"https?://", named))


@lru_cache(maxsize=8)
def _read(where: str, _as_of: object) -> tuple[ClassFile | None, str]:
    """Read once for all questions: a file until it changes, an address once in a kernel."""
    copy = work_on_disk.work_file().with_name(COPY)
    head = f"# A copy of {where}\n"
    try:
        text = text_of(where)
        found = class_from(text, where)
    except ClassFileError as problem:
        with suppress(OSError, ClassFileError):
            kept = copy.read_text("utf-8")
            if kept.startswith(head):
                return class_from(kept, str(copy)), f"{problem}. What holds is the copy in {copy}."
        return None, f"{problem}. Until then answers open as without a class."
    if os.environ.get(VARIABLE):
        with suppress(OSError):
            copy.write_text(head + text, "utf-8")
    return found, ""


def text_of(where: str | Path) -> str:
    """The text of a file, by path or URL. Raises ClassFileError where it cannot be had."""
    try:
        content = _fetched(where) if isinstance(where, str) and is_url(where) else None
        return (Path(where).read_bytes() if content is None else content).decode()
    except UnicodeDecodeError:
        raise ClassFileError(f"{where} is no text in UTF-8; a class's file is TOML") from None
    except (OSError, ValueError) as problem:
        why = getattr(problem, "strerror", None) or getattr(problem, "reason", None) or problem
        raise ClassFileError(f"{where} cannot be had: {why}; look at {VARIABLE}") from None


def _fetched(url: str) -> bytes:
    if in_a_page():
        from pyodide.http import open_url

        text: str = open_url(url).read()
        return text.encode()
    from urllib.request import urlopen

    with urlopen(url, timeout=FETCH_S) as answer:
        content: bytes = answer.read(SIZE_MAX)
        return content


def template() -> str:
    """A file to edit, with a comment on each field."""
    return files(__package__).joinpath("class_template.toml").read_text("utf-8")


# --- reading it -----------------------------------------------------------------------------------


def class_from(text: str, file: str) -> ClassFile:
    """The class that a TOML text describes. Raises ClassFileError, which calls it `file`."""
    try:
        fields = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise ClassFileError(f"{file}: {problem}; a class's file is TOML") from None
    tables = fields.get("lab", {})
    if not isinstance(tables, dict):
        raise _wrong(file, text, "lab", "")
    rules = {_number(n): _converted(file, text, t, LabRules, n) for n, t in tables.items()}
    plain = {**fields, "lab": {}}
    for name in ("labs", "opened"):
        if isinstance(fields.get(name), list):
            plain[name] = [_number(value) for value in fields[name]]
    found: ClassFile = replace(_converted(file, text, plain, ClassFile, ""), lab=rules)
    for name, lab in _mistakes(found):
        raise _wrong(file, text, name, lab)
    return found


def _number(lab: object) -> str:
    """The number of a lab with its two digits; anything else as it is."""
    text = str(lab)
    return text.zfill(2) if text.isdecimal() else text


def _converted(file: str, text: str, fields: Any, kind: type[Any], lab: str) -> Any:
    try:
        return msgspec.convert(fields, kind)
    except msgspec.ValidationError as problem:
        said = re.search(r"field `(\w+)`|at `\$\.(\w+)", str(problem))
        raise _wrong(file, text, said[1] or said[2] if said else "lab", lab) from None


def _mistakes(found: ClassFile) -> Iterator[tuple[str, str]]:
    """(field, lab) of each value that has the right form and cannot be meant; no lab is the top."""
    if not found.code.strip():
        yield "code", ""
    if not {*found.labs} <= {*_LABS}:
        yield "labs", ""
    if not {*found.opened} <= {*_LABS, *_LAB_OF}:
        yield "opened", ""
    for lab in found.lab:
        if lab not in _LABS or not found.has(lab):
            yield "lab", lab
    for id, lab in _LAB_OF.items():
        own = lab if lab in found.lab else ""
        answers = found.answers_of(lab)
        if found.has(lab) and answers == AFTER_DEADLINE and found.deadline_of(lab) is None:
            yield "deadline", own
        if found.has(lab) and answers == NEVER and found.is_opened(id):
            yield "opened", own


def _wrong(file: str, text: str, name: str, lab: str) -> ClassFileError:
    """The sentence about a field, at the top or of a lab."""
    head = f"[lab.{lab}] " if lab else ""
    line = _line_of(text, name, lab)
    where = f"{file}, line {line}" if line else file
    if name not in _EXPECTED:
        return ClassFileError(f"{where}: {head}{name} is no field; expected {', '.join(_EXPECTED)}")
    more = "" if name not in _WHY else f" ({_WHY[name]})"
    return ClassFileError(f"{where}: {head}{name}: expected {_EXPECTED[name]}{more}")


_WHY = {
    "deadline": f'answers = "{AFTER_DEADLINE}" needs one',
    "opened": f'nothing where answers = "{NEVER}"',
}


def _line_of(text: str, name: str, lab: str) -> int:
    """The number of the line of a field or a table; 0 for one that is not there."""
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[\s*lab\s*\.\s*[\"']?(\w+)", line):
            table = header[1]
        here = table == lab or _number(table) == _number(lab) != ""
        if here and (re.match(rf"\s*{name}\s*=", line) or (header and name == "lab")):
            return number
    return 0
