"""The questions of the labs, in order: the predictions and exercises of exercises.toml, by id."""

from difflib import get_close_matches
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

import msgspec
from msgspec.structs import replace

from ..plays import grammar, library
from ..plays.play import Play
from . import variants
from .exercises.check_result import Checked
from .sealed_texts import read_text

LETTERS = "ABCDEFGHIJKL"
"""What choices, and the parts of an answer, are called in their order."""
_SHUFFLED = "o"
"""Begins every seed: with it the right choice stands at each place about as often."""
MORE, LESS, SAME, NEVER = "MLSN"
WAYS = {
    MORE: "More: at least twice as much.",
    LESS: "Less: at most half as much.",
    SAME: "About the same: by less than a factor of two.",
    NEVER: "It cannot happen, before or after.",
}
"""The fates of a rate; their words are the choices of every question."""
YOURS = "These numbers are yours, and count instead of those in the text:"
NOT_YOURS = "Stories and explanations in the lab have the numbers of the text."
MANY_ARE_RIGHT = "More than one answer is right: the engine judges each."
Verdict = str | tuple[str, dict[str, Any]]
"""The key of an outcome of the exercise, and the values that its sentences name."""


class WhatIf(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`metric` under the KIPs of `features`, with the parameters `before` and `after` the change.

    `features` are two where the KIPs are what changes. `about` is what is asked for, `names` are
    those of the fleet before and after, `comes` is one of WAYS, and `reason` says why. `ideas` are
    what may be behind another of WAYS.
    """

    change: str
    about: str
    names: tuple[str, str]
    metric: str
    features: tuple[str, str]
    before: dict[str, Any] = {}
    after: dict[str, Any] = {}
    comes: str
    reason: str
    ideas: dict[str, str]

    @property
    def question(self) -> str:
        """Change and rate, as a question."""
        return f"{self.change}: what becomes of {self.about}?"


class ExerciseIdError(ValueError):
    """An id that the labs ask nothing by, or not in that way. Notebooks show the sentence alone."""

    def _render_traceback_(self) -> list[str]:
        return [f"{self}."]


class Idea(msgspec.Struct, frozen=True, array_like=True):
    """What may be behind a wrong part, empty where nothing is known, and a hint where to look."""

    misconception: str
    hint: str = ""


class AnswerOutcome(msgspec.Struct, frozen=True, array_like=True):
    """The feedback to an answer that is judged as a whole."""

    points: int
    message: str
    hint: str = ""
    misconception: str = ""


class ChangeOfPlay(msgspec.Struct, frozen=True):
    """One thing that is otherwise: what it is, and what stands in the play in place of what.

    It runs as `kafka`, or, where that is empty, under the features that the play then names.
    """

    text: str
    instead: tuple[tuple[str, str], ...] = ()
    kafka: str = "3.5"
    play: str = "hole-never-level"


class UnfitError(ValueError):
    """Something that is no answer to this question: no point, and no attempt."""


class Exercise(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One question of a lab: a prediction, or an exercise with a check that judges its answers.

    An `optional` one stands in a section that a lab can leave out. A prediction has its `question`,
    its `choices` and the letter of the one that comes true, `right`. A `what_if` is a prediction
    about a fleet.

    `check` is the check's name in a module of `exercises/`: ``"race.check_window"``. It is loaded
    when it is first used. The right answer earns `points`. `by_release` says that the answer
    depends on the release, and may be judged under another one. `form` is what the parts of an
    answer look like; `parts` are their names, or what each is called with its number; `fields` are
    what a form has for each of them, or for all (`forms.check_panels.SheetRow`); `groups` the
    letters of the parts that are named together. At the places `blank_is_wrong` a part left open
    has an idea like any other. `begins` is the play of an answer that is a run, `forbidden` are
    lines, or their beginnings, that would make it too easy.

    `situation` is the text of a play, or how each of `plays` begins, whose lines have ; between;
    `changes` are changes of one; `letters` are those of plays or rules. The exercise asks about
    these, or about the play of the library that `about` names.

    `numbers` and `varies` say what a student has otherwise than the text (`variants`), and `asks`
    says it to the student, with ``<play>`` in place of the play. `drawn` are a student's numbers.
    """

    id: str
    lab: str
    title: str
    optional: bool = False
    question: str = ""
    choices: tuple[str, ...] = ()
    right: str = ""
    check: str = ""
    what_if: WhatIf | None = None
    points: int = 0
    by_release: bool = False
    form: str = ""
    parts: str | tuple[str, ...] = ""
    fields: tuple[str, ...] = ()
    groups: dict[str, str] = {}
    blank_is_wrong: str = ""
    praise: str = ""
    ideas: dict[str, Idea] = {}
    begins: str = ""
    forbidden: tuple[str, ...] = ()
    outcomes: dict[str, AnswerOutcome] = {}
    situation: str = ""
    plays: dict[str, str] = {}
    changes: dict[str, ChangeOfPlay] = {}
    letters: dict[str, str] = {}
    about: str = ""
    numbers: variants.Candidates = {}
    varies: tuple[str, ...] = ()
    asks: str = ""
    drawn: variants.NamedValues = {}

    @property
    def values(self) -> variants.NamedValues:
        """What is drawn, or else the numbers of the text."""
        return self.drawn or variants.values_of(self.numbers)

    @property
    def source(self) -> str:
        """The play that it is about, as `kiplab.run` takes it: its text, or its name."""
        return self.situation or self.about

    @property
    def own_play(self) -> Play:
        """That play as a value. Raises ExerciseIdError for an exercise about no one play."""
        if self.plays or not self.source:
            raise ExerciseIdError(f"{self.id!r} is not about one play, so there is none to run")
        name = f"kiplab.variant({self.id!r})"
        return grammar.parse(self.situation, name) if self.situation else library.load(self.about)

    @property
    def notice(self) -> str:
        """What a student has to know whose numbers are not those of the text; else empty."""
        said = self.asks.replace("<play>", self.situation.strip())
        return f"{YOURS}\n{said}\n{NOT_YOURS}" if self.drawn else ""

    @property
    def solution(self) -> str:
        """A right answer as text, as the engine finds it; a sentence where there are many.

        Raises MissingExtraError where a package is missing.
        """
        found = getattr(self._judging, "solution", None) if self.check else None
        either = MANY_ARE_RIGHT if self.check else self.comes_true
        return str(found(self, self._release(None))) if found else either

    def _release(self, kafka: str | None) -> dict[str, str | None]:
        return {"kafka": kafka} if self.by_release else {}

    @property
    def _judging(self) -> Any:
        module, _, name = self.check.partition(".")
        return getattr(import_module(f".exercises.{module}", __package__), name, None)

    @property
    def comes_true(self) -> str:
        """The choice that is right; empty for an exercise."""
        return self.choices[LETTERS.index(self.right)] if self.right else ""

    @property
    def offered(self) -> tuple[str, ...]:
        """The choices in the order in which a reader sees them: by chance, and always the same."""
        if self.what_if is not None:
            return self.choices
        return tuple(Random(f"{_SHUFFLED}{self.id}").sample(self.choices, len(self.choices)))

    @property
    def names(self) -> tuple[str, ...]:
        """What each part of an answer is called."""
        if isinstance(self.parts, tuple):
            return self.parts
        return tuple(f"{self.parts} {number}" for number in range(1, self.points + 1))

    def letter_of(self, choice: str | None) -> str:
        """The letter of one of the choices; empty for anything else."""
        return LETTERS[self.choices.index(choice)] if choice in self.choices else ""

    def judge(self, answer: object, kafka: str | None = None) -> Checked:
        """All there is to say about an answer; nothing is kept. What is no answer gets a sentence.

        `kafka` is a release, perhaps with a metadata version: ``"3.6/3.5-IV2"``; without one the
        exercise's own. Raises ExerciseIdError for a prediction, MissingExtraError where a package
        is missing, and ValueError for a release where the answer does not depend on it.
        """
        if not self.check:
            way = f"ask it by kiplab.predict({self.id!r})"
            raise ExerciseIdError(f"{self.id!r} is a prediction: {way}")
        if kafka is not None and not self.by_release:
            raise ValueError("this exercise is about one release only; leave kafka= out")
        try:
            checked: Checked = self._judging(self, answer, self._release(kafka))
        except UnfitError as problem:
            return Checked(points=0, of=self.points, message=str(problem), attempted=False)
        return checked

    def play(self, key: str, **values: str) -> str:
        """The text of one of `plays`, with these values in it."""
        lines = self.plays[key].replace("; ", "\n")
        return f"{self.situation}{lines}\n".format(**values)

    def outcome(self, verdict: Verdict, **values: Any) -> Checked:
        """The outcome of a verdict: its sentences with these values in them, or a field's value."""
        key, named = (verdict, {}) if isinstance(verdict, str) else verdict
        values |= named
        fields = msgspec.structs.asdict(self.outcomes[key])
        fields |= {name: v for name, v in values.items() if name in Checked.__struct_fields__}
        message = fields.pop("message").format(**values)
        return Checked(of=self.points, message=message, **fields)


class WrittenQuestion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question that is answered in sentences. Nobody judges them but the instructor: the `rubric`
    says what each of the `points` is given for.
    """

    id: str
    lab: str
    question: str
    rubric: str
    points: int = 2

    @property
    def name(self) -> str:
        """What a grader calls it."""
        return self.id.partition("/")[2]


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    exercise: tuple[Exercise, ...]
    written: tuple[WrittenQuestion, ...]


def _worded(exercise: Exercise) -> Exercise:
    """An entry; a what-if as the prediction that it is."""
    if exercise.what_if is None:
        return exercise
    question = f"{exercise.title[-1]} · {exercise.what_if.question}"
    right = LETTERS[[*WAYS].index(exercise.what_if.comes)]
    return replace(exercise, question=question, choices=tuple(WAYS.values()), right=right)


_TEXT = read_text(Path(__file__).with_name("exercises.toml"))
_TABLE = msgspec.toml.decode(_TEXT, type=_Table)
EXERCISES = tuple(map(_worded, _TABLE.exercise))
"""In the order of the labs."""
WRITTEN = {question.id: question for question in _TABLE.written}
WHAT_IFS = {e.title[-1]: e.what_if for e in EXERCISES if e.what_if is not None}
ALL_WHAT_IFS = tuple(e.id for e in EXERCISES if e.what_if is not None)
"""The ids of the what-ifs, in order."""
_BY_ID = {exercise.id: exercise for exercise in EXERCISES}


def exercise(id: str, seed: str = "") -> Exercise:
    """The entry of an id; with a seed, and if it varies, with the numbers of one student.

    Raises ExerciseIdError, with the nearest id, where there is none.
    """
    if id in _BY_ID:
        entry = _BY_ID[id]
        return _of_student(id, seed) if seed and entry.numbers else entry
    ids = {one.partition("/")[2]: one for one in reversed(_BY_ID)} | {one: one for one in _BY_ID}
    near = get_close_matches(id, _BY_ID, n=1) or get_close_matches(id, ids, n=1)
    expected = f"did you mean {ids[near[0]]!r}?" if near else f"they ask {', '.join(_BY_ID)}"
    raise ExerciseIdError(f"the labs ask no {id!r}; {expected}")


@lru_cache(maxsize=1_000)
def _of_student(id: str, seed: str) -> Exercise:
    varied = variants.varied(msgspec.to_builtins(_BY_ID[id]), f"{seed}{id}")
    return msgspec.convert(varied, Exercise)


def require_lab(lab: str) -> None:
    """Raises ValueError for the number of no lab."""
    labs = dict.fromkeys(entry.lab for entry in EXERCISES)
    if lab not in labs:
        raise ValueError(f"there is no lab {lab!r}; there are {', '.join(labs)}")


def what_if_id(letter: str) -> str:
    """The key of a prediction of a what-if."""
    return f"fleet/what-if-{letter.lower()}"


def id_of_check(name: str) -> str | None:
    """The id of the exercise that a check judges, by the check's name; None if there is none."""
    return next((e.id for e in EXERCISES if e.check.endswith(f".{name}")), None)
