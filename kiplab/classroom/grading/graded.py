"""A submission graded: its answers judged again, with their times, and what is to be looked at."""

import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from threading import Event
from time import monotonic

import msgspec
from msgspec.structs import replace

from ..class_file import FILE, ClassFile
from ..exercise_table import EXERCISES, WRITTEN, Exercise
from ..together.class_folder import Piece, printable
from ..together.handed_in import Bundle, together
from ..work_on_disk import TRIES_MAX, UNREADABLE, WRITTEN_MAX, ExerciseWork, Work, seed_of
from .inside import JUDGE, NOTEBOOK, PLAY
from .limited_process import Ended, can_be_held, in_own_process, own_folder

GRADED, NOT_AGAIN, NO_WORK = "graded", "not judged again", "unreadable"
EMPTY, RAN, NOT_RUN, STOPPED = "nothing in it", "run", "not run", "stopped"
"""What a row may be. Of one that is not judged again, or stopped, some points are the file's. What
has only run has left no answers.
"""
WORK_MAX = 10_000_000
"""Bytes of a work file that a notebook leaves: more than all attempts that are kept."""
_REMARKS_MAX, _LETTERS_MAX, _NAME_MAX = 12, 300, 100
"""So many remarks of a row are told, with so many letters each; and so many letters of a name."""
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


class GradedExercise(msgspec.Struct, frozen=True):
    """An exercise: points of the `first` attempt and the `best`, `of` so many.

    `minutes` are from the first attempt to the last, `since_prediction` from the first prediction
    of the lab. `date` is that of the best attempt, `last` of the last one, as `work_on_disk.now`
    says it. `judged` is False where points are the file's own.
    """

    id: str
    lab: str
    of: int
    optional: bool
    first: int = 0
    best: int = 0
    attempts: int = 0
    minutes: float | None = None
    since_prediction: float | None = None
    date: str = ""
    last: str = ""
    late: bool = False
    judged: bool = True


class AnswerToRead(msgspec.Struct, frozen=True):
    """A prediction, or a written answer beside its `rubric`, of so many points.

    A prediction earns none, as it is no exam: it is `right` or not.
    """

    id: str
    lab: str
    question: str
    answer: str
    right: bool | None = None
    rubric: str = ""
    of: int = 0
    date: str = ""


class Submission(msgspec.Struct, frozen=True):
    """A row: who, out of which file, `points` of `of`, how it went, and what is to be known."""

    student: str
    file: str
    status: str = GRADED
    points: int = 0
    of: int = 0
    exercises: tuple[GradedExercise, ...] = ()
    predictions: tuple[AnswerToRead, ...] = ()
    written: tuple[AnswerToRead, ...] = ()
    remarks: tuple[str, ...] = ()


class Grader:
    """Grades what was handed in by one student after another, each in processes of its own.

    `of_class` says what is late, and whose numbers are whose; `class_text` is its file, which a
    sealed kiplab needs. `seconds` of CPU are each process's; when a student's have taken four times
    as many by the clock, no other one begins. Set `stop` to end those that run.
    """

    def __init__(self, of_class: ClassFile | None, class_text: str, seconds: int) -> None:
        self.of_class, self.class_text = of_class, class_text
        self.seconds, self.stop = seconds, Event()

    def __call__(self, bundle: Bundle) -> tuple[Submission, Work]:
        """The row of a student, and the work that it is about."""
        remarks = ["the system for courses calls it late"] * bundle.late
        unread = (piece for piece in bundle.pieces if piece.work is None and not piece.content)
        remarks += [f"{'/'.join(filter(None, piece.place))}: {piece.why}" for piece in unread]
        status, work = GRADED, Work()
        works = [replace(p, work=_within_limits(p.work)) for p in bundle.pieces if p.work]
        runs = [piece for piece in bundle.pieces if piece.content]
        if works:
            work, contradicting = together(works)
            remarks += [f"{left.file}: {left.why}" for left in contradicting]
        elif runs:
            status, work = self._left_by(runs, remarks)
        else:
            status = NO_WORK
        row = Submission(self._name(bundle, work, remarks), bundle.file, status)
        if works or runs:
            row = self._judged(row, work, remarks)
        if row.status == EMPTY and runs:
            row = replace(row, status=RAN)
        told = [printable(remark[:_LETTERS_MAX]) for remark in remarks[:_REMARKS_MAX]]
        told += [f"and {more} more remarks"] if (more := len(remarks) - len(told)) else []
        return replace(row, remarks=tuple(told)), work

    def _process(self, kind: str, content: bytes, folder: Path) -> Ended:
        return in_own_process(kind, content, folder, self.seconds, self.stop)

    def _class_in(self, folder: Path) -> None:
        """Only in a folder in which nothing has run: there may be a link in the file's place."""
        if self.class_text:
            (folder / FILE).write_text(self.class_text, encoding="utf-8")

    def _name(self, bundle: Bundle, work: Work, remarks: list[str]) -> str:
        """The name of the file or, where that says nothing, the one in it."""
        own = " ".join((work.student or "").split())
        if own and bundle.named and _letters(own) != _letters(bundle.name):
            remarks.append(f"the work is signed by {own!r}: perhaps it is another student's file")
        if self.of_class and self.of_class.variants and work.exercises:
            if not work.seed:
                remarks.append("its exercises have the numbers of the text")
            elif work.seed != seed_of(self.of_class.code, own):
                remarks.append(f"its numbers are not those that {own!r} has in this class")
        return printable(own) if own and not bundle.named else bundle.name

    def _left_by(self, pieces: Sequence[Piece], remarks: list[str]) -> tuple[str, Work]:
        """How notebooks and plays went that were run in one folder, and the work that they left."""
        if not can_be_held():
            remarks.append("it is not run: only Linux can keep it from the network and from files")
            return NOT_RUN, Work()
        status, latest = GRADED, monotonic() + 4 * self.seconds
        with own_folder() as folder:
            self._class_in(folder)
            for piece in pieces:
                if monotonic() > latest:
                    status = STOPPED
                    remarks.append(f"{piece.place[-1]}: not run, as the others took too long")
                    continue
                kind = PLAY if piece.place[-1].lower().endswith(".play") else NOTEBOOK
                ended = self._process(kind, piece.content, folder)
                status = NO_WORK if any("unread" in line for line in ended.lines) else status
                status = STOPPED if ended.why else status
                remarks += [f"{piece.place[-1]}: {text}" for text in _of_run(ended)]
            return status, _left_in(folder / "kiplab-work.json", remarks)

    def _judged(self, row: Submission, work: Work, remarks: list[str]) -> Submission:
        """The row with its points, out of a process that nothing of the submission has run in."""
        with own_folder() as folder:
            self._class_in(folder)
            ended = self._process(JUDGE, msgspec.json.encode(work), folder)
        earned = {line["id"]: line["points"] for line in ended.lines if "points" in line}
        remarks += [f"judging it: {ended.why}"] * bool(ended.why)
        asked = {entry.id: entry for entry in EXERCISES if entry.check}
        other = [id for id, kept in work.exercises.items() if id not in asked or not kept.tries]
        if other:
            remarks.append(f"asked in no lab, or kept without attempt: {', '.join(other)[:200]}")
        tried = (e for id, e in asked.items() if id in work.exercises and id not in other)
        exercises = tuple(self._exercise(e, work, earned.get(e.id, []), remarks) for e in tried)
        status = STOPPED if ended.why else row.status
        if status == GRADED and not all(exercise.judged for exercise in exercises):
            status = NOT_AGAIN
        if status == GRADED and not (exercises or work.predictions or work.written):
            status = EMPTY
        read = {"predictions": _predictions(work), "written": _written(work)}
        return replace(row, status=status, exercises=exercises, **read)

    def _exercise(
        self, entry: Exercise, work: Work, earned: Sequence[int | None], remarks: list[str]
    ) -> GradedExercise:
        kept = work.exercises[entry.id]
        again = [*earned, *[None] * len(kept.tries)][: len(kept.tries)]
        pairs = [*zip((tried.points for tried in kept.tries), again, strict=True)]
        points = [max(0, min(own, entry.points)) if new is None else new for own, new in pairs]
        remarks += [f"{entry.id}: {doubt}" for doubt in _doubts(kept, pairs)]
        asked = (e.id for e in EXERCISES if e.lab == entry.lab and not e.check)
        locked = [work.at.get(id, "") for id in asked if id in work.predictions]
        times = [tried.at for tried in kept.tries if tried.at]
        date = kept.tries[points.index(max(points))].at
        due = self.of_class and self.of_class.rules(entry.lab).deadline
        if (date or due) and not _TIME.fullmatch(date):
            remarks.append(f"{entry.id}: its time cannot be read; nobody knows whether it is late")
        return GradedExercise(
            id=entry.id,
            lab=entry.lab,
            of=entry.points,
            optional=entry.optional,
            first=points[0],
            best=max(points),
            attempts=max(kept.attempts, len(kept.tries)),
            minutes=_minutes(times, times),
            since_prediction=_minutes([*filter(None, locked)], times),
            date=date,
            last=max(times, default=""),
            late=self.of_class is not None and self.of_class.is_late(entry.lab, date),
            judged=None not in again,
        )


def _within_limits(work: Work) -> Work:
    """No more of it than kiplab itself keeps: to compare more could take for ever."""
    tries = {id: e.tries[:1] + e.tries[1:][1 - TRIES_MAX :] for id, e in work.exercises.items()}
    exercises = {id: replace(kept, tries=tries[id]) for id, kept in work.exercises.items()}
    written = {id: text[:WRITTEN_MAX] for id, text in work.written.items()}
    name = work.student and work.student[:_NAME_MAX]
    return replace(work, exercises=exercises, written=written, student=name)


def _letters(name: str) -> list[str]:
    """By these the same name is known in another order: ``exampleanna``, ``Example, Anna``."""
    return sorted(letter for letter in name.casefold() if letter.isalnum())


def _of_run(ended: Ended) -> list[str]:
    """What a process says of a run. A notebook can write anything in its place, but no points."""
    says = (line.get("verdict") or line.get("unread") for line in ended.lines)
    texts = [f"{text}"[:200] for text in says if text]
    if failed := [line for line in ended.lines if "failed" in line]:
        first = f"cell {failed[0]['failed']}: {failed[0].get('why')}"
        texts.append(f"{len(failed)} of its cells failed; {first[:200]}")
    if any(line.get("files_held") is False for line in ended.lines):
        texts.append("this kernel has no Landlock: nothing kept it from reading and writing files")
    return [*texts, *filter(None, [ended.why])]


def _left_in(file: Path, remarks: list[str]) -> Work:
    """The work that cells have left, without times: they are those of the grading."""
    try:
        if file.is_symlink() or not file.is_file() or file.stat().st_size > WORK_MAX:
            return Work()
        work = msgspec.json.decode(file.read_bytes(), type=Work)
    except (OSError, *UNREADABLE):
        return Work()
    remarks.append("there was no work file, so its cells were run: what was clicked is not in them")
    tries = {i: tuple(replace(t, at="") for t in e.tries) for i, e in work.exercises.items()}
    undated = {id: replace(kept, tries=tries[id]) for id, kept in work.exercises.items()}
    return replace(work, exercises=undated, at={})


def _doubts(kept: ExerciseWork, pairs: Sequence[tuple[int, int | None]]) -> list[str]:
    """What the file says otherwise than the judge, or cannot be judged again."""
    differ = [pair for pair in pairs if pair[1] not in (None, pair[0])]
    doubts = [f"the file says {own} points, judged again {new}" for own, new in differ[:1]]
    if None in (new for _, new in pairs):
        doubts.append("an answer cannot be judged again; its points are the file's")
    if not doubts and kept.best > max(own for own, _ in pairs):
        more = "in an attempt that is" if kept.attempts > TRIES_MAX else "and such an attempt is"
        doubts.append(f"the file says {kept.best} at best, {more} not kept")
    return doubts


def _minutes(begun: Sequence[str], ended: Sequence[str]) -> float | None:
    try:
        first, last = map(datetime.fromisoformat, (min(begun), max(ended)))
        return round(max((last - first).total_seconds(), 0) / 60, 1)
    except (ValueError, TypeError):  # none, or what nobody's clock says
        return None


def _predictions(work: Work) -> tuple[AnswerToRead, ...]:
    asked = [e for e in EXERCISES if e.id in work.predictions and not e.check]
    answered = ((e, work.predictions[e.id], work.at.get(e.id, "")) for e in asked)
    return tuple(
        AnswerToRead(e.id, e.lab, e.question, choice, choice == e.comes_true, date=at)
        for e, choice, at in answered
    )


def _written(work: Work) -> tuple[AnswerToRead, ...]:
    texts = ((w, work.written.get(w.id, ""), work.at.get(w.id, "")) for w in WRITTEN.values())
    return tuple(
        AnswerToRead(w.id, w.lab, w.question, text, None, w.rubric, w.points, at)
        for w, text, at in texts
        if text.strip()
    )
