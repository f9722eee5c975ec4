"""The answers of a class, counted: choices of predictions, attempts, misconceptions.

Every question of the labs is in it, in their order, also where nobody has answered yet; after it
answers to questions that no lab of this kiplab has, as in a lab of the teacher's own.
"""

from collections.abc import Sequence

import msgspec

from ..exercise_table import EXERCISES, LETTERS, WRITTEN, Exercise, WrittenQuestion
from ..work_on_disk import ExerciseWork
from .handed_in import StudentWork

OTHER_LAB = ""
"""The lab of what no lab of this kiplab asks."""


class ChoiceCount(msgspec.Struct, frozen=True):
    """How many locked a choice. `right` is None where nobody knows whether it is the right one.

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


class WrittenCount(msgspec.Struct, frozen=True):
    """A question that is answered in sentences: so many did; `who` wrote what, by name."""

    id: str
    lab: str
    question: str
    answered: int
    who: dict[str, str]


class ClassCounts(msgspec.Struct, frozen=True):
    """A class of so many students."""

    students: int
    predictions: tuple[PredictionCount, ...]
    exercises: tuple[ExerciseCount, ...]
    written: tuple[WrittenCount, ...]

    def labs(self) -> list[str]:
        """The labs from which there is any answer, in order."""
        labs = {p.lab for p in self.predictions if p.answered}
        labs |= {e.lab for e in self.exercises if e.tried}
        labs |= {w.lab for w in self.written if w.answered}
        return sorted(labs, key=lambda lab: (lab == OTHER_LAB, lab))

    def untouched(self) -> list[str]:
        """The labs from which there is none, in order."""
        return sorted({entry.lab for entry in EXERCISES} - {*self.labs()})

    def of_lab(self, lab: str) -> tuple[list[PredictionCount], list[ExerciseCount]]:
        predictions = [p for p in self.predictions if p.lab == lab]
        return predictions, [e for e in self.exercises if e.lab == lab]


def counted(students: Sequence[StudentWork]) -> ClassCounts:
    """The counts of a class, by the questions."""
    predictions = [entry for entry in EXERCISES if not entry.check]
    exercises = [entry for entry in EXERCISES if entry.check]
    answered = {id for student in students for id in student.work.predictions}
    tried = {id for student in students for id in student.work.exercises}
    return ClassCounts(
        len(students),
        tuple(_prediction(entry, students) for entry in _asked(predictions, answered)),
        tuple(_exercise(entry, students) for entry in _asked(exercises, tried)),
        tuple(_written(asked, students) for asked in WRITTEN.values()),
    )


def _written(asked: WrittenQuestion, students: Sequence[StudentWork]) -> WrittenCount:
    texts = ((student.name, student.work.written.get(asked.id, "")) for student in students)
    who = {name: text for name, text in texts if text.strip()}
    return WrittenCount(asked.id, asked.lab, asked.question, len(who), who)


def _asked(listed: Sequence[Exercise], answered: set[str]) -> list[Exercise]:
    """What the labs ask, and what is answered and nowhere asked, under its id."""
    new = answered - {entry.id for entry in listed}
    return [*listed, *(Exercise(id, OTHER_LAB, id) for id in sorted(new))]


def _prediction(entry: Exercise, students: Sequence[StudentWork]) -> PredictionCount:
    who: dict[str, list[str]] = {choice: [] for choice in entry.choices}
    for student in students:
        if entry.id in student.work.predictions:
            who.setdefault(student.work.predictions[entry.id], []).append(student.name)
    others = sorted({*who} - {*entry.choices})
    offered = zip(LETTERS, entry.choices, strict=False)
    choices = []
    for letter, choice in (*offered, *(("", other) for other in others)):
        right = choice == entry.comes_true if entry.right and letter else None
        took = tuple(who[choice])
        choices.append(ChoiceCount(letter, choice, len(took), right, took))
    about, answered = (entry.id, entry.lab, entry.title, entry.question), map(len, who.values())
    return PredictionCount(*about, sum(answered), tuple(choices))


def _exercise(entry: Exercise, students: Sequence[StudentWork]) -> ExerciseCount:
    kept = {student.name: student.work.exercises.get(entry.id) for student in students}
    tried = {name: work for name, work in kept.items() if work and work.attempts > 0}
    firsts = [(work.tries[0], work.of) for work in tried.values() if work.tries]
    wrong = [first for first, of in firsts if first.points < of]
    who = tuple(name for name, work in tried.items() if work.done)
    return ExerciseCount(
        *(entry.id, entry.lab, entry.title),
        tried=len(tried),
        solved=len(who),
        at_once=len(firsts) - len(wrong),
        attempts=sum(work.attempts for work in tried.values()),
        unexplained=sum(not first.misconception for first in wrong),
        misconceptions=tuple(_misconceptions(tried)),
        who=who,
        unsolved=tuple(name for name in tried if name not in who),
    )


def _misconceptions(tried: dict[str, ExerciseWork]) -> list[MisconceptionCount]:
    """The most frequent at a first attempt in front."""
    ever: dict[str, list[str]] = {}
    for name, exercise in tried.items():
        for idea in {attempt.misconception for attempt in exercise.tries} - {""}:
            ever.setdefault(idea, []).append(name)
    counts = []
    for idea, names in ever.items():
        first = tuple(name for name in names if tried[name].tries[0].misconception == idea)
        counts.append(MisconceptionCount(idea, len(first), len(names), first))
    return sorted(counts, key=lambda count: (-count.first, -count.ever, count.misconception))
