"""What a class has answered, counted: choices of predictions, attempts, misconceptions.

Everything that the labs ask is in it, in their order, also where nobody has answered yet; after it
what students have answered that no lab of this kiplab asks, as in a lab of the teacher's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from ..exercise_table import EXERCISES, LETTERS_OF_CHOICES, Exercise
from ..work_on_disk import ExerciseWork
from .handed_in import StudentWork

OTHER_LAB = ""
"""The lab of what no lab of this kiplab asks."""


class ChoiceCount(msgspec.Struct, frozen=True):
    """How many locked a choice. `right` is None where nobody knows which choice comes true.

    `letter` is empty for words that the lab doesn't offer, as another version of it may.
    """

    letter: str
    choice: str
    students: int
    right: bool | None
    who: tuple[str, ...]


class PredictionCount(msgspec.Struct, frozen=True):
    """A prediction: of `answered` students so many took each choice."""

    id: str
    lab: str
    title: str
    question: str
    answered: int
    choices: tuple[ChoiceCount, ...]

    @property
    def right(self) -> ChoiceCount | None:
        """The choice that comes true, where it is known."""
        return next((choice for choice in self.choices if choice.right), None)


class MisconceptionCount(msgspec.Struct, frozen=True):
    """An idea behind wrong answers: so many had it at their `first` attempt, so many `ever`.

    `who` are the first of them. Of many attempts, the first and the latest are known.
    """

    misconception: str
    first: int
    ever: int
    who: tuple[str, ...]


class ExerciseCount(msgspec.Struct, frozen=True):
    """An exercise: students who `tried`, who `solved` it, and who did `at_once`.

    `attempts` are those of all together. So many first attempts were wrong and `unexplained`: no
    known idea is behind them. `who` has solved it, `unsolved` has only tried.
    """

    id: str
    lab: str
    title: str
    tried: int
    solved: int
    at_once: int
    attempts: int
    unexplained: int
    misconceptions: tuple[MisconceptionCount, ...]
    who: tuple[str, ...]
    unsolved: tuple[str, ...]


class ClassCounts(msgspec.Struct, frozen=True):
    """A class of so many students."""

    students: int
    predictions: tuple[PredictionCount, ...]
    exercises: tuple[ExerciseCount, ...]

    def labs(self) -> list[str]:
        """The labs from which there is any answer, in order."""
        found = [*(p.lab for p in self.predictions if p.answered)]
        found += [e.lab for e in self.exercises if e.tried]
        return sorted({*found}, key=lambda lab: (lab == OTHER_LAB, lab))

    def untouched(self) -> list[str]:
        """The labs from which there is none, in order."""
        return sorted({asked.lab for asked in EXERCISES} - {*self.labs()})

    def of_lab(self, lab: str) -> tuple[list[PredictionCount], list[ExerciseCount]]:
        """What a lab asks."""
        predictions = [p for p in self.predictions if p.lab == lab]
        return predictions, [e for e in self.exercises if e.lab == lab]


def counted(students: Sequence[StudentWork]) -> ClassCounts:
    """The counts of a class, by the questions."""
    return ClassCounts(len(students), tuple(_predictions(students)), tuple(_exercises(students)))


def _predictions(students: Sequence[StudentWork]) -> Iterator[PredictionCount]:
    listed = [asked for asked in EXERCISES if not asked.check]
    answered = {id for student in students for id in student.work.predictions}
    for asked in [*listed, *_unlisted(answered, listed)]:
        yield _prediction(asked, students)


def _exercises(students: Sequence[StudentWork]) -> Iterator[ExerciseCount]:
    listed = [asked for asked in EXERCISES if asked.check]
    tried = {id for student in students for id in student.work.exercises}
    for asked in [*listed, *_unlisted(tried, listed)]:
        yield _exercise(asked, students)


def _unlisted(ids: Iterable[str], listed: Iterable[Exercise]) -> list[Exercise]:
    """What is answered and nowhere asked, under its id."""
    new = {*ids} - {asked.id for asked in listed}
    return [Exercise(id, OTHER_LAB, id) for id in sorted(new)]


def _prediction(asked: Exercise, students: Sequence[StudentWork]) -> PredictionCount:
    who: dict[str, list[str]] = {choice: [] for choice in asked.choices}
    for student in students:
        if asked.id in student.work.predictions:
            who.setdefault(student.work.predictions[asked.id], []).append(student.name)
    others = sorted({*who} - {*asked.choices})
    offered = zip(LETTERS_OF_CHOICES, asked.choices, strict=False)
    return PredictionCount(
        id=asked.id,
        lab=asked.lab,
        title=asked.title,
        question=asked.question,
        answered=sum(map(len, who.values())),
        choices=tuple(
            ChoiceCount(letter, choice, len(who[choice]), _right(asked, choice), tuple(who[choice]))
            for letter, choice in (*offered, *(("", other) for other in others))
        ),
    )


def _right(asked: Exercise, choice: str) -> bool | None:
    return choice == asked.comes_true if asked.right else None


def _exercise(asked: Exercise, students: Sequence[StudentWork]) -> ExerciseCount:
    kept = {student.name: student.work.exercises.get(asked.id) for student in students}
    tried = {name: found for name, found in kept.items() if found and found.attempts > 0}
    firsts = [(found.tries[0], found.of) for found in tried.values() if found.tries]
    wrong = [first for first, of in firsts if first.points < of]
    return ExerciseCount(
        id=asked.id,
        lab=asked.lab,
        title=asked.title,
        tried=len(tried),
        solved=sum(found.done for found in tried.values()),
        at_once=len(firsts) - len(wrong),
        attempts=sum(found.attempts for found in tried.values()),
        unexplained=sum(not first.misconception for first in wrong),
        misconceptions=tuple(_misconceptions(tried)),
        who=tuple(name for name, found in tried.items() if found.done),
        unsolved=tuple(name for name, found in tried.items() if not found.done),
    )


def _misconceptions(tried: dict[str, ExerciseWork]) -> list[MisconceptionCount]:
    """The most frequent at a first attempt in front."""
    ever: dict[str, list[str]] = {}
    for name, exercise in tried.items():
        for idea in {found.misconception for found in exercise.tries} - {""}:
            ever.setdefault(idea, []).append(name)
    counts = []
    for idea, names in ever.items():
        first = tuple(name for name in names if tried[name].tries[0].misconception == idea)
        counts.append(MisconceptionCount(idea, len(first), len(names), first))
    return sorted(counts, key=lambda count: (-count.first, -count.ever, count.misconception))
