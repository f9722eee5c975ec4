"""The instructor's file of a class: which labs, until when, and when answers open.

`KIPLAB_CLASS` names it by path or URL, or is the class's code alone. Else it is class.toml beside
the notebooks, or one folder higher, where they are handed out. Of what a variable names a copy is
kept beside the work, for when it cannot be had. Without a class, and with a file that cannot be
read, everything opens as a student earns it.
"""

import os
import re
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache, lru_cache
from http.client import HTTPException
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal, get_args

import msgspec

from ..extras import in_a_page
from . import work_on_disk
from .work_on_disk import seed_of, stamp

FILE, VARIABLE, COPY = "class.toml", "KIPLAB_CLASS", "kiplab-class.toml"
Answers = Literal["after-three", "after-deadline", "by-hand", "never"]
_, AFTER_DEADLINE, _, NEVER = get_args(Answers)
Opening = Literal["earned", "free", "shut"]
"""By the student's own answers; for everybody; not yet, whatever is answered."""
Deadline = Annotated[datetime, msgspec.Meta(tz=True)]
_FETCH_S, _SIZE_MAX = 5, 100_000
TEMPLATE = files(__package__).joinpath("class_template.toml").read_text("utf-8")
"""A file to edit. Of each field it says in a line what is expected."""
_EXPECTED = dict(re.findall(r"(?m)^# (\w+): (.*)$", TEMPLATE))


class ClassFileError(ValueError):
    """What is wrong with a class's file: one sentence with file, line and what was expected."""


class LabRules(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What holds in one lab; `opened` means all of it."""

    answers: Answers
    deadline: Deadline | None
    opened: bool


class ClassFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A class. No `labs` are all labs. `answers` says when explanations, right choices and which
    parts are wrong open: as earned, after the `deadline`, when a lab or a question is in `opened`,
    or not at all. With `variants` each student's exercises have numbers of their own. The addresses
    are of its repository, JupyterHub and site, for the page that it is handed out with.
    """

    code: Annotated[str, msgspec.Meta(pattern=r"\S")]
    title: str = ""
    labs: tuple[str, ...] = ()
    answers: Answers = "after-three"
    deadline: Deadline | None = None
    opened: tuple[str, ...] = ()
    variants: bool = True
    lab: dict[str, LabRules] = {}
    address: str = ""
    hub: str = ""
    site: str = ""

    def has(self, lab: str) -> bool:
        """Whether the class takes that lab."""
        return not self.labs or lab in self.labs

    def rules(self, lab: str) -> LabRules:
        """What holds in that lab."""
        return self.lab.get(lab, LabRules(self.answers, self.deadline, lab in self.opened))

    def is_late(self, lab: str, at: str) -> bool:
        """Whether a time, as `work_on_disk.now` says it, is after the lab's deadline."""
        deadline = self.rules(lab).deadline
        return deadline is not None and at > stamp(deadline)

    def opening(self, id: str, at: str) -> Opening:
        """How the answer to a question opens at that time."""
        lab = _lab_of().get(id)
        if lab is None or not self.has(lab):
            return "earned"
        rules = self.rules(lab)
        due = rules.answers == AFTER_DEADLINE and self.is_late(lab, at)
        if due or rules.opened or id in self.opened:
            return "free"
        return "shut" if rules.answers != "after-three" else "earned"

    def shut_words(self, id: str) -> str:
        """What waits, and for what, while the answer to a question is shut."""
        rules = self.rules(_lab_of()[id])
        if rules.answers == AFTER_DEADLINE and rules.deadline is not None:
            until = time_words(rules.deadline)
            return f"This opens after the deadline: {until}. Then run this cell again."
        if rules.answers == NEVER:
            return "This stays closed in your class. Ask your instructor."
        until = "your instructor says so. Then restart the kernel, and run this cell."
        return f"This opens when {until}"

    def words(self, lab: str = "") -> str:
        """What class it is, and until when that lab is to be done, or all without their own."""
        deadline = self.rules(lab).deadline if self.has(lab) or not lab else None
        until = f" · deadline {time_words(deadline)}" if deadline else ""
        return f"{self.title or self.code}{until}"

    def has_begun(self, work: work_on_disk.Work) -> bool:
        """Whether an exercise of this class is answered in that work."""
        return any(self.has(_lab_of().get(id, "")) for id in work.exercises)

    def seed_for(self, work: work_on_disk.Work) -> str:
        """Whose numbers that work has: a seed that is kept stays; who began without has none."""
        is_new = self.variants and not self.has_begun(work)
        return work.seed or (seed_of(self.code, work.student or "") if is_new else "")


def time_words(moment: datetime) -> str:
    """A time for people: where they are, and in UTC."""
    local, words = moment.astimezone(), f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    return f"{local:%Y-%m-%d %H:%M} ({words})" if local.utcoffset() else words


def current() -> ClassFile | None:
    """The class in which these notebooks are done; None without one."""
    return looked_up()[0]


def looked_up(folder: Path | None = None) -> tuple[ClassFile | None, str]:
    """The class of the notebooks here, or in that folder, and in a sentence what is wrong with its
    file; then an earlier copy may stand in.
    """
    here = Path(folder or "").absolute()
    where = _place(here)
    if not _is_file(where):
        return ClassFile(where) if where else None, ""
    as_of = None
    with suppress(OSError):
        as_of = (status := Path(where).stat()).st_mtime_ns, status.st_size
    return _read(where, as_of, here / work_on_disk.work_file())


def code_here() -> str:
    """The code of the class alone, empty without one: sealed exercises are read with it."""
    where, copy = _place(Path().absolute()), work_on_disk.work_file().with_name(COPY)
    if not _is_file(where):
        return where
    for source in (where, str(copy)):
        with suppress(ClassFileError, tomllib.TOMLDecodeError):
            return str(tomllib.loads(text_of(source)).get("code", ""))
    return ""


def _place(here: Path) -> str:
    """Path or URL of the class's file, or the code alone; empty without a class."""
    named = os.environ.get(VARIABLE, "")
    if named:
        return str(here / named) if named.endswith(".toml") and not is_url(named) else named
    return next((str(f) for f in (here / FILE, here.parent / FILE) if f.is_file()), "")


@cache
def _lab_of() -> dict[str, str]:
    """The lab of each question. That table is read late: it may be sealed with the class's code."""
    from .exercise_table import EXERCISES

    return {entry.id: entry.lab for entry in EXERCISES}


def _is_file(where: str) -> bool:
    """Whether that names a file, and is no code."""
    return is_url(where) or where.endswith(".toml") or Path(where).is_absolute()


def is_url(where: str) -> bool:
    return where.startswith(("https://", "http://"))


@lru_cache(maxsize=8)
def _read(where: str, _as_of: object, work: Path) -> tuple[ClassFile | None, str]:
    """Read once for all questions: a file until it changes, an address once in a kernel."""
    copy, head = work.with_name(COPY), f"# A copy of {where}\n"
    try:
        text = text_of(where)
        found = class_from(text, where)
    except ClassFileError as problem:
        with suppress(OSError, ClassFileError):
            if (kept := copy.read_text("utf-8")).startswith(head):
                return class_from(kept, str(copy)), f"{problem}. What holds is the copy in {copy}."
        return None, f"{problem}. Until then answers open as without a class."
    if os.environ.get(VARIABLE):
        with suppress(OSError):
            copy.write_text(head + text, "utf-8")
    return found, ""


def text_of(where: str) -> str:
    """The text of a file, by path or URL. Raises ClassFileError where it cannot be had."""
    try:
        return _fetched(where) if is_url(where) else Path(where).read_text("utf-8-sig")
    except (OSError, ValueError, HTTPException) as problem:
        why = getattr(problem, "strerror", None) or getattr(problem, "reason", problem)
        raise ClassFileError(f"{where} cannot be had ({why}); look at {VARIABLE}") from None


def _fetched(url: str) -> str:
    """The text behind a URL. A server that sends it little by little is too slow as well."""
    if in_a_page():
        from pyodide.http import open_url

        return str(open_url(url).read())
    from time import monotonic
    from urllib.request import urlopen

    with urlopen(url, timeout=_FETCH_S) as answer:
        latest, content = monotonic() + _FETCH_S, b""
        while len(content) < _SIZE_MAX and (more := answer.read1(_SIZE_MAX)):
            content += more
            if monotonic() > latest:
                raise TimeoutError("timed out")
        return content.decode("utf-8-sig")


# --- reading it -----------------------------------------------------------------------------------


def class_from(text: str, file: str) -> ClassFile:
    """The class that a TOML text describes. Raises ClassFileError, which calls it `file`."""
    name = lab = ""
    try:
        fields = tomllib.loads(text)
        for name in ("labs", "opened"):
            if isinstance(fields.get(name), list):
                fields[name] = [*map(_number, fields[name])]
        tables, name = fields.pop("lab", {}), "lab"
        found = msgspec.convert(fields, ClassFile)
        for key in tables:
            whole = msgspec.structs.asdict(found.rules(lab := _number(key)))
            found.lab[lab] = msgspec.convert({**whole, **tables[key]}, LabRules)
    except tomllib.TOMLDecodeError as problem:
        raise ClassFileError(f"{file}: {problem}; a class's file is TOML") from None
    except (msgspec.ValidationError, TypeError) as problem:
        said = re.search(r"(?:field `|at `\$\.)(\w+)", str(problem))
        raise _mistake_in(file, text, said[1] if said else name, lab) from None
    for name, lab in _mistakes(found):
        raise _mistake_in(file, text, name, lab)
    return found


def _number(lab: object) -> str:
    """The number of a lab with its two digits; anything else as it is."""
    return str(lab).zfill(2) if str(lab).isdecimal() else str(lab)


def _mistakes(found: ClassFile) -> Iterator[tuple[str, str]]:
    """(field, lab) of each value that has the right form and cannot be meant; no lab is the top."""
    labs = {*_lab_of().values()}
    if not {*found.labs} <= labs:
        yield "labs", ""
    if not {*found.opened} <= {*labs, *_lab_of()}:
        yield "opened", ""
    yield from (("lab", lab) for lab in found.lab if lab not in labs or not found.has(lab))
    for id, lab in _lab_of().items():
        rules, own = found.rules(lab), lab if lab in found.lab else ""
        if rules.answers == AFTER_DEADLINE and found.has(lab) and rules.deadline is None:
            yield "deadline", own
        if rules.answers == NEVER and found.has(lab) and (rules.opened or id in found.opened):
            yield "opened", own


def _mistake_in(file: str, text: str, name: str, lab: str) -> ClassFileError:
    """The sentence about a field, at the top or of a lab, with its line where only one has it."""
    begins = r"\s*\[?lab\b" if name == "lab" else rf"\s*{name}\s*="
    lines = [n for n, line in enumerate(text.splitlines(), 1) if re.match(begins, line)]
    where = f"{file}, line {lines[0]}: " if len(lines) == 1 else f"{file}: "
    if name not in _EXPECTED:
        return ClassFileError(f"{where}there is no {name}; expected {', '.join(_EXPECTED)}")
    of_lab = f" of lab {lab}" if lab else ""
    return ClassFileError(f"{where}{name}{of_lab}: expected {_EXPECTED[name]}")
