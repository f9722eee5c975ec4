"""The grades as a page: points in tables, remarks, and each written answer beside its rubric.

It looks as the page of a class does, needs no network and runs no script. The number that a bar
shows stands above it.
"""

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import groupby
from operator import attrgetter

from ...rows.sentences import html_table
from ..exercise_table import Exercise
from ..together.class_page import bar, page_of_class, small
from .graded import GRADED, GradedExercise, Submission

TITLE, NOT_TRIED = "Grades", "–"


def grades_page(
    sentence: str, rows: Sequence[Submission], exercises: Sequence[Exercise], theme: str
) -> str:
    """The whole page. Raises ValueError for a theme that there is none of."""
    parts = [f"<p>{escape(sentence)}</p>", _totals(rows)]
    parts += [_lab(lab, [*entries], rows) for lab, entries in groupby(exercises, attrgetter("lab"))]
    listed = "".join(_remarks(row) for row in rows)
    parts.append(_part("Remarks", f"<dl>{listed}</dl>") if listed else "")
    return page_of_class(TITLE, "\n".join([*parts, *_written(rows)]), theme)


def _totals(rows: Sequence[Submission]) -> str:
    lines = (
        _line(
            f"{escape(row.student)}{small(row.file)}{bar((row.points, row.of))}",
            (f"<b>{row.points}</b>", f"{row.of}", _status(row)),
        )
        for row in rows
    )
    caption = "Best attempts. Optional exercises stand beside the sum. * see the remarks"
    return _part(
        "All labs", html_table(caption, ("student", "points", "of", "status"), "".join(lines))
    )


def _status(row: Submission) -> str:
    status = "" if row.status == GRADED else f"<b>{escape(row.status)}</b>"
    return f"{status}{' *' * bool(row.remarks)}"


def _lab(lab: str, entries: Sequence[Exercise], rows: Sequence[Submission]) -> str:
    """A row a student, a column an exercise."""
    heads = [f"{number} (of {e.points})" for number, e in enumerate(entries, 1)]
    legend = "".join(f"<li>{escape(e.title)}{' (optional)' * e.optional}</li>" for e in entries)
    lines = (
        _line(escape(row.student), (_cell(e) for e in row.exercises if e.lab == lab))
        for row in rows
    )
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


def _remarks(row: Submission) -> str:
    remarks = "".join(f"<dd>{escape(remark)}</dd>" for remark in row.remarks)
    return f"<dt>{escape(row.student)}</dt>{remarks}" if remarks else ""


def _written(rows: Sequence[Submission]) -> Iterator[str]:
    """Question by question: its rubric, and each student's text, to be marked."""
    texts = [(text, row.student) for row in rows for text in row.written]
    texts.sort(key=lambda t: (t[0].lab, t[0].id, t[1]))
    for _, group in groupby(texts, lambda t: t[0].id):
        entries = [*group]
        asked = entries[0][0]
        lines = (
            _line(f"{escape(student)}<p>{escape(text.answer)}</p>", (f"&emsp; / {text.of}",))
            for text, student in entries
        )
        table = html_table(f"Rubric: {asked.rubric}", ("answer", "points"), "".join(lines))
        yield _part(f"{asked.lab} · {escape(asked.question)}", table)


def _part(head: str, inside: str) -> str:
    return f'<section class="grades"><h2>{head}</h2>{inside}</section>'


def _line(head: str, cells: Iterable[str]) -> str:
    inside = "".join(f"<td>{cell}</td>" for cell in cells)
    return f'<tr><th scope="row">{head}</th>{inside}</tr>'
