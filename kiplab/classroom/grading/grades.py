"""The grades of a class: `kiplab.grade`, its tables, its text, its page.

The page looks as the page of a class does, needs no network and runs no script. The number that a
bar shows stands above it.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from html import escape
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from textwrap import wrap
from typing import Any

import msgspec
from msgspec.structs import replace

from ...pages import page_files
from ...rows.columns import plural
from ...rows.sentences import html_table
from ..class_file import class_from, text_of
from ..exercise_table import EXERCISES, Exercise, require_lab
from ..exercises.check_result import LINE
from ..together.class_folder import printable
from ..together.class_page import bar, page_of_class, small
from ..together.class_work import ClassReport, harmless_csv
from ..together.handed_in import NO_FILE, Bundle, ClassFolderError, LeftOut, bundles
from ..work_on_disk import Work
from .alike import alike
from .graded import EMPTY, GRADED, STOPPED, GradedExercise, Grader, Submission

HEADS = (
    *("student", "file", "status", "lab", "exercise", "first", "best", "of", "attempts"),
    *("minutes", "date", "late", "answer", "rubric", "remarks"),
)
"""The columns of the long table: a row for each student and question."""
GradeRow = tuple[Any, ...]


class Grades(ClassReport):
    """The `submissions` of a class, graded, by name. Nothing of it changes.

    `labs` are those that count. `left_out` is what is nobody's. `wide` makes one row a student in
    a .csv. `stopped` says that there was no time to grade them all.
    """

    def __init__(
        self,
        submissions: Sequence[Submission],
        labs: Sequence[str],
        left_out: Sequence[LeftOut] = (),
        *,
        wide: bool = False,
        stopped: bool = False,
    ) -> None:
        self.labs, self.left_out = tuple(labs), tuple(left_out)
        self.wide, self.stopped = wide, stopped
        self.exercises = tuple(e for e in EXERCISES if e.check and e.lab in labs)
        self.submissions = tuple(_summed(submission, self.exercises) for submission in submissions)

    @property
    def sentence(self) -> str:
        """How many submissions, which labs, and how many rows are to be looked at."""
        doubtful = plural(sum(bool(one.remarks) for one in self.submissions), "row")
        labs = ", ".join(self.labs) or "none"
        count = plural(len(self.submissions), "submission")
        return f"{count}; labs that count: {labs}; {doubtful} with remarks."

    def report(self) -> dict[str, Any]:
        """Plain values: what `kiplab grade --json` prints.

        | key | holds |
        |---|---|
        | submissions | {student, file, status, points, of, exercises, predictions, written,
        remarks}, as `Submission` has them |
        | labs | those that count |
        | left_out | {file, why} of what is nobody's |
        """
        submissions = msgspec.to_builtins(self.submissions)
        left_out = msgspec.to_builtins(self.left_out)
        return {"submissions": submissions, "labs": [*self.labs], "left_out": left_out}

    def text(self) -> str:
        """For a terminal: a line a student, and below it what there is to know."""
        width = min(max([7, *(len(one.student) for one in self.submissions)]), 40)
        lines = [*wrap(self.sentence, LINE), "", f"{'student':<{width}}  {'points':>9}  status"]
        for one in self.submissions:
            points = f"{one.points}/{one.of}"
            lines.append(f"{one.student:<{width}}  {points:>9}  {one.status}")
            for remark in one.remarks:
                lines += wrap(remark, LINE, initial_indent="    ", subsequent_indent="      ")
        return "\n".join(lines) + "\n"

    def to_html(self, *, theme: str = page_files.AUTO) -> str:
        """A page of its own: points by student and exercise, remarks, texts beside their rubrics.

        Raises ValueError for a theme that there is none of.
        """
        return grades_page(self.sentence, self.submissions, self.exercises, theme)

    def csv(self) -> str:
        """A row a student if it is `wide`, else one for each of their questions."""
        wide = ("student", "status", "points", "of", *(e.id for e in self.exercises), "remarks")
        if not self.wide:
            return harmless_csv(HEADS, self._long())
        fronts = ((s, (s.student, s.status, s.points, s.of)) for s in self.submissions)
        rows = ((*f, *(e.best for e in s.exercises), "\n".join(s.remarks)) for s, f in fronts)
        return harmless_csv(wide, rows)

    def _long(self) -> Iterator[GradeRow]:
        """As HEADS says; a row for what could not be graded. Remarks are in a student's first."""
        for one in self.submissions:
            remarks = "\n".join(one.remarks)
            for row in _questions(one) or [("",) * 11]:
                yield (one.student, one.file, one.status, *row, remarks)
                remarks = ""


def _summed(one: Submission, asked: Sequence[Exercise]) -> Submission:
    """With an entry for all that counts, tried or not. Optional ones stand beside the sum. What
    else is answered is told of the same labs.
    """
    labs = {entry.lab for entry in asked}
    read = {
        name: tuple(entry for entry in getattr(one, name) if entry.lab in labs)
        for name in ("predictions", "written")
    }
    tried = {entry.id: entry for entry in one.exercises}
    none = (GradedExercise(e.id, e.lab, e.points, e.optional) for e in asked)
    listed = tuple(tried.get(entry.id, entry) for entry in none)
    counted = [entry for entry in listed if not entry.optional]
    points, of = sum(entry.best for entry in counted), sum(entry.of for entry in counted)
    return replace(one, points=points, of=of, exercises=listed, **read)


def _questions(one: Submission) -> list[GradeRow]:
    """HEADS from lab to rubric, for each question of a student's."""
    rows: list[GradeRow] = [
        (e.lab, e.id, e.first, e.best, e.of, e.attempts, e.minutes, e.date, "late" * e.late, "", "")
        for e in one.exercises
        if e.attempts
    ]
    for read in (*one.predictions, *one.written):
        right = {None: read.rubric, True: "a prediction: right", False: "a prediction: wrong"}
        of = read.of if read.right is None else ""
        front = (read.lab, read.id, "", "", of, "", "", read.date, "")
        rows.append((*front, read.answer, right[read.right]))
    return sorted(rows, key=lambda row: str(row[0]))


def grade(
    folder: str | os.PathLike[str],
    *,
    labs: Sequence[str] = (),
    of_class: str | None = None,
    seconds: int = 60,
    wide: bool = False,
    apart_from: str | os.PathLike[str] | None = None,
) -> Grades:
    """The work of a class graded: student by exercise, each answer judged again.

    Files are found as `class_work` finds them, or as a course system names them. A notebook without
    a work file, and a play, run in a process of their own, with limits. `labs` are the numbers of
    those that count; else those of the class, or those from which there is any answer. `of_class`
    is its class.toml, by path or URL: answers after a deadline are marked. `seconds` of CPU are
    each submission's. Ctrl-C ends it with what is graded so far.

    Raises ClassFolderError, a ValueError, when there is no such folder or nothing to grade in it,
    and ValueError for a lab that there is none of, or a wrong file of the class.
    """
    for lab in labs:
        require_lab(lab)
    text = text_of(of_class) if of_class else ""
    taken = class_from(text, str(of_class)) if of_class else None
    grader = Grader(taken, text, seconds)
    found, left_out = bundles(Path(folder), None if apart_from is None else Path(apart_from))
    empty = [Submission(left.file, left.file, EMPTY) for left in left_out if left.why == NO_FILE]
    if not (found or empty):
        wanted = "put each student's kiplab-work.zip there, or what your course system exports"
        raise ClassFolderError(f"there is nothing to grade in {folder}; {wanted}")
    graded = _all_graded(found, grader)
    remarks = alike([row.student for row, _ in graded], [work for _, work in graded])
    pairs = enumerate(row for row, _ in graded)
    looked = [replace(row, remarks=(*row.remarks, *remarks.get(at, ()))) for at, row in pairs]
    rows = sorted([*looked, *empty], key=lambda row: row.student.casefold())
    tried = {entry.lab for row in rows for entry in row.exercises}
    tried |= {entry.lab for row in rows for entry in row.predictions}
    others = [left for left in left_out if left.why != NO_FILE]
    counted = sorted({*labs} or {*(taken.labs if taken else ())} or tried)
    return Grades(rows, counted, others, wide=wide, stopped=grader.stop.is_set())


def _all_graded(found: Sequence[Bundle], grader: Grader) -> list[tuple[Submission, Work]]:
    """As many at a time as there are processors. Ctrl-C stops those that run, and the rest."""

    def row_of(bundle: Bundle) -> tuple[Submission, Work]:
        row, stopped = Submission(bundle.name, bundle.file, STOPPED), grader.stop.is_set()
        try:
            if not stopped:
                return grader(bundle)
        except Exception as problem:  # a full disk, or what nobody thought of: the others go on
            why = f"it cannot be graded: {printable(f'{type(problem).__name__}: {problem}')[:200]}"
            return replace(row, remarks=(why,)), Work()
        return replace(row, remarks=("grading was stopped before this one",)), Work()

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        rows = [pool.submit(row_of, bundle) for bundle in found]
        with suppress(KeyboardInterrupt):
            wait(rows)
            return [row.result() for row in rows]
        grader.stop.set()
    return [row.result() for row in rows]


# --- the page: points in tables, remarks, and each written answer beside its rubric ---------------

TITLE, NOT_TRIED = "Grades", "–"


def grades_page(
    sentence: str, rows: Sequence[Submission], exercises: Sequence[Exercise], theme: str
) -> str:
    """The whole page. Raises ValueError for a theme that there is none of."""
    parts = [f"<p>{escape(sentence)}</p>", _totals(rows)]
    parts += [_lab(lab, [*entries], rows) for lab, entries in groupby(exercises, attrgetter("lab"))]
    told = ((escape(row.student), [*map(escape, row.remarks)]) for row in rows if row.remarks)
    listed = "".join(f"<dt>{who}</dt><dd>{'</dd><dd>'.join(said)}</dd>" for who, said in told)
    parts.append(_part("Remarks", f"<dl>{listed}</dl>") if listed else "")
    return page_of_class(TITLE, "\n".join([*parts, *_written(rows)]), theme)


def _totals(rows: Sequence[Submission]) -> str:
    lines = ""
    for row in rows:
        status = "" if row.status == GRADED else f"<b>{escape(row.status)}</b>"
        cells = (f"<b>{row.points}</b>", f"{row.of}", f"{status}{' *' * bool(row.remarks)}")
        lines += _line(f"{escape(row.student)}{small(row.file)}{bar((row.points, row.of))}", cells)
    caption = "Best attempts. Optional exercises stand beside the sum. * see the remarks"
    table = html_table(caption, ("student", "points", "of", "status"), lines)
    return _part("All labs", table)


def _lab(lab: str, entries: Sequence[Exercise], rows: Sequence[Submission]) -> str:
    """A row a student, a column an exercise."""
    heads = [f"{number} (of {e.points})" for number, e in enumerate(entries, 1)]
    legend = "".join(f"<li>{escape(e.title)}{' (optional)' * e.optional}</li>" for e in entries)
    cells = ((row.student, (_cell(e) for e in row.exercises if e.lab == lab)) for row in rows)
    lines = (_line(escape(student), its) for student, its in cells)
    caption = (
        "In brackets, the points of an exercise. In a row, the best points, after those of the"
        " first attempt where they differ; below, attempts"
    )
    table = html_table(caption, ("student", *heads), "".join(lines))
    return _part(f"Lab {escape(lab)}", f"<ol>{legend}</ol>{table}")


def _cell(entry: GradedExercise) -> str:
    if not entry.attempts:
        return NOT_TRIED
    first = f"{entry.first} → " if entry.first != entry.best else ""
    about = f"{entry.attempts}×{' late' * entry.late}{' not judged again' * (not entry.judged)}"
    return f"{first}<b>{entry.best}</b>{bar((entry.best, entry.of))}{small(about)}"


def _written(rows: Sequence[Submission]) -> Iterator[str]:
    """Question by question: its rubric, and each student's text, to be marked."""
    texts = [(text, row.student) for row in rows for text in row.written]
    texts.sort(key=lambda t: (t[0].lab, t[0].id, t[1]))
    for _, group in groupby(texts, lambda t: t[0].id):
        entries = [*group]
        asked, points = entries[0][0], (f"&emsp; / {entries[0][0].of}",)
        told = (f"{escape(student)}<p>{escape(text.answer)}</p>" for text, student in entries)
        lines = "".join(_line(each, points) for each in told)
        table = html_table(f"Rubric: {asked.rubric}", ("answer", "points"), lines)
        yield _part(f"{asked.lab} · {escape(asked.question)}", table)


def _part(head: str, inside: str) -> str:
    return f'<section class="grades"><h2>{head}</h2>{inside}</section>'


def _line(head: str, cells: Iterable[str]) -> str:
    inside = "".join(f"<td>{cell}</td>" for cell in cells)
    return f'<tr><th scope="row">{head}</th>{inside}</tr>'
