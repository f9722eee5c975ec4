"""The work of a class for teachers: `kiplab.class_work`, its tables, its page."""

import csv
import io
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ...pages import browser_picture, page_files
from ...rows.plain_table import table_of
from .class_counts import ClassCounts, ExerciseCount, PredictionCount, counted
from .class_page import class_fragment, class_page, class_text, summary
from .handed_in import ClassFolderError, HandedIn, LeftOut, handed_in

if TYPE_CHECKING:
    import pandas as pd

HEADS = ("lab", "id", "title", "kind", "what", "count", "of", "right")
_OF_STUDENTS = ("who", "unsolved", "file")
ClassRow = tuple[Any, ...]
_FORMULA = re.compile(r"(^|[;\t\r\n])(?=[\s\"]*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20])")
"""What a spreadsheet works out, and could do harm: where it begins, also for one that parts cells
by ; or by tabs. The last four are as wide as a Chinese letter.
"""


class ClassReport:
    """What is known of a class; a subclass gives plain values, text, a page and rows of it."""

    report: Any
    text: Any
    to_html: Any
    csv: Any

    def write(self, path: str | os.PathLike[str], *, theme: str = page_files.AUTO) -> Path:
        """Write it to a file ending in .html .json .csv or .txt, and return the path.

        Raises ExportError for another ending, OSError for a path that cannot be written, and
        ValueError for a theme that there is none of.
        """
        target = Path(path)
        writers: dict[str, Callable[[], str]] = {
            ".html": lambda: self.to_html(theme=theme),
            ".json": lambda: f"{msgspec.json.encode(self.report()).decode()}\n",
            ".csv": self.csv,
            ".txt": self.text,
        }
        if (writer := writers.get(target.suffix.lower())) is None:
            expected = f"let its name end in one of {' '.join(writers)}"
            raise browser_picture.ExportError(f"cannot write {target.name!r}", expected)
        target.write_text(writer(), encoding="utf-8")
        return target

    def __repr__(self) -> str:
        return str(self.text())


class ClassWork(ClassReport):
    """What a class has answered, as `counts`, and ways to look at it. Nothing about it changes.

    Students have no names in what it shows, unless it was made with `names`.
    """

    def __init__(self, handed: HandedIn, *, names: bool = False) -> None:
        self.counts: ClassCounts = counted(handed.students)
        self.left_out: tuple[LeftOut, ...] = handed.left_out
        self.names = names

    @property
    def students(self) -> int:
        """The number of students with readable work."""
        return self.counts.students

    @property
    def sentence(self) -> str:
        """How many students, and the labs from which there is nothing yet."""
        return summary(self.counts)

    def report(self) -> dict[str, Any]:
        """Plain values: what `kiplab class --json` prints.

        | key | holds |
        |---|---|
        | students | how many |
        | left_out | {why} of each file that is not counted |
        | predictions | {id, lab, title, question, answered, choices}; each of the choices is
        {letter, choice, students, right}, `right` null where nobody knows |
        | exercises | {id, lab, title, tried, solved, at_once, attempts, unexplained,
        misconceptions}; each of the misconceptions is {misconception, first, ever}: how many
        students had it at their first attempt, and at any |
        | written | {id, lab, question, answered}; with names {who}: what each has written |

        All that the labs ask, in their order, also where nobody has answered; then, with an empty
        `lab`, what none of them asks. With names there is {file} of what is left out, {who} of a
        choice, of an exercise (it is solved) and of a misconception (at first), and {unsolved} of
        an exercise (it is only tried).
        """
        left_out = msgspec.to_builtins(self.left_out)
        whole = {"students": self.students, "left_out": left_out}
        whole |= msgspec.to_builtins(self.counts)
        return whole if self.names else _anonymous(whole)

    def table(self) -> "pd.DataFrame":
        """A row per number: lab, id, title, kind, what, count, of, right; with names also who.

        `kind` is choice (`what` are its words, `of` those who answered, `right` True, False or
        None), tried, solved, solved at once, attempts, first misconception or misconception ever
        (`what` are its words, `of` those who tried).
        """
        return table_of(*self._rows())

    def text(self) -> str:
        """For a terminal: per lab, each prediction's choices, the exercises, the misconceptions."""
        return class_text(self.counts, self.left_out, names=self.names)

    def to_html(self, *, theme: str = page_files.AUTO) -> str:
        """A page of its own, to be shown before the discussion: it keeps the right choices back.

        `theme` is "light", "dark" or "auto": what its reader's system asks for. Raises ValueError
        for another one.
        """
        return class_page(self.counts, self.left_out, names=self.names, theme=theme)

    def html(self) -> str:
        """The same for a notebook."""
        return class_fragment(self.counts, self.left_out, names=self.names)

    def csv(self) -> str:
        """The table for a spreadsheet."""
        return harmless_csv(*self._rows())

    def _rows(self) -> tuple[tuple[str, ...], list[ClassRow]]:
        """(heads, a row for everything that is counted), as `table` documents them."""
        rows = [row for entry in self.counts.predictions for row in _of_prediction(entry)]
        rows += [row for entry in self.counts.exercises for row in _of_exercise(entry)]
        if self.names:
            return (*HEADS, "who"), [(*row, ", ".join(who)) for row, who in rows]
        return HEADS, [row for row, _ in rows]

    def _repr_html_(self) -> str:
        return self.html()


def harmless_csv(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A file for a spreadsheet, which works out nothing that a student wrote."""
    text = io.StringIO()
    harmless = ([_FORMULA.sub(r"\1'", c) if isinstance(c, str) else c for c in row] for row in rows)
    csv.writer(text, lineterminator="\n").writerows([heads, *harmless])
    return text.getvalue()


def class_work(
    folder: str | os.PathLike[str],
    *,
    names: bool = False,
    apart_from: str | os.PathLike[str] | None = None,
) -> ClassWork:
    """The work of a class, out of a folder with what each student has downloaded or kept.

    A student is a file (``anna.zip``, ``anna.json``) or a folder of that name with
    ``kiplab-work.json`` or ``kiplab-work.zip`` in it; a zip of all of them will do, too. What
    cannot be read is in `left_out`, with the reason. `names` shows who answered what. `apart_from`
    is a file of the teacher's own in that folder, to be passed over.

    Raises ClassFolderError, a ValueError, when there is no such folder or no work in it.
    """
    handed = handed_in(Path(folder), None if apart_from is None else Path(apart_from))
    if not handed.students:
        raise ClassFolderError(_nobodys(Path(folder), handed))
    return ClassWork(handed, names=names)


def _nobodys(folder: Path, handed: HandedIn) -> str:
    wanted = (
        "put each student's kiplab-work.zip there (the button under `kiplab.my_work()`), renamed,"
        " or in a folder with the student's name"
    )
    why = "; ".join(f"{left.file}: {left.why}" for left in handed.left_out[:3])
    more = len(handed.left_out) - 3
    why += f"; and {more} more" if more > 0 else ""
    return f"there is no student's work in {folder}{f' ({why})' if why else ''}; {wanted}"


def _anonymous(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _anonymous(of) for key, of in value.items() if key not in _OF_STUDENTS}
    return [_anonymous(of) for of in value] if isinstance(value, list | tuple) else value


def _of_prediction(entry: PredictionCount) -> Iterator[tuple[ClassRow, tuple[str, ...]]]:
    front = (entry.lab, entry.id, entry.title, "choice")
    for one in entry.choices:
        yield (*front, one.choice, one.students, entry.answered, one.right), one.who


def _of_exercise(entry: ExerciseCount) -> Iterator[tuple[ClassRow, tuple[str, ...]]]:
    front = (entry.lab, entry.id, entry.title)
    yield (*front, "tried", "", entry.tried, None, None), (*entry.who, *entry.unsolved)
    yield (*front, "solved", "", entry.solved, entry.tried, None), entry.who
    yield (*front, "solved at once", "", entry.at_once, entry.tried, None), ()
    yield (*front, "attempts", "", entry.attempts, None, None), ()
    for idea in entry.misconceptions:
        words = idea.misconception
        yield (*front, "first misconception", words, idea.first, entry.tried, None), idea.who
        yield (*front, "misconception ever", words, idea.ever, entry.tried, None), ()
