"""What is counted of a class as plain values: an object for programs, and rows for a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import asdict

from .class_counts import ClassCounts, ExerciseCount, PredictionCount
from .handed_in import LeftOut

HEADS = ("lab", "id", "title", "kind", "what", "count", "of", "right")
WHO = "who"
"""The column with names, where names are asked for."""
_OF_STUDENTS = ("who", "unsolved", "file")
"""The fields that name somebody."""
ClassRow = tuple[Any, ...]


def class_report(
    counts: ClassCounts, left_out: Sequence[LeftOut], *, names: bool
) -> dict[str, Any]:
    """What `kiplab class --json` prints, as documented at `ClassWork.report`."""
    whole = {
        "students": counts.students,
        "left_out": [asdict(left) for left in left_out],
        "predictions": [
            {**asdict(asked), "choices": [asdict(choice) for choice in asked.choices]}
            for asked in counts.predictions
        ],
        "exercises": [
            {**asdict(asked), "misconceptions": [asdict(idea) for idea in asked.misconceptions]}
            for asked in counts.exercises
        ],
    }
    return whole if names else _anonymous(whole)


def _anonymous(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _anonymous(of) for key, of in value.items() if key not in _OF_STUDENTS}
    return [_anonymous(of) for of in value] if isinstance(value, list) else value


def class_rows(counts: ClassCounts, *, names: bool) -> tuple[tuple[str, ...], list[ClassRow]]:
    """(heads, a row for everything that is counted), documented at `ClassWork.table`."""
    rows = [*(row for asked in counts.predictions for row in _of_prediction(asked))]
    rows += [row for asked in counts.exercises for row in _of_exercise(asked)]
    if names:
        return (*HEADS, WHO), [(*row, ", ".join(who)) for row, who in rows]
    return HEADS, [row for row, _ in rows]


def _of_prediction(asked: PredictionCount) -> Iterator[tuple[ClassRow, tuple[str, ...]]]:
    front = (asked.lab, asked.id, asked.title, "choice")
    for choice in asked.choices:
        counted = (choice.choice, choice.students, asked.answered, choice.right)
        yield (*front, *counted), choice.who


def _of_exercise(asked: ExerciseCount) -> Iterator[tuple[ClassRow, tuple[str, ...]]]:
    front = (asked.lab, asked.id, asked.title)
    yield (*front, "tried", "", asked.tried, None, None), (*asked.who, *asked.unsolved)
    yield (*front, "solved", "", asked.solved, asked.tried, None), asked.who
    yield (*front, "solved at once", "", asked.at_once, asked.tried, None), ()
    yield (*front, "attempts", "", asked.attempts, None, None), ()
    for idea in asked.misconceptions:
        words = idea.misconception
        yield (*front, "first misconception", words, idea.first, asked.tried, None), idea.who
        yield (*front, "misconception ever", words, idea.ever, asked.tried, None), ()
