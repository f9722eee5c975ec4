"""Reading answers to exercises, generously, and judging them: the shapes of a check.

A check is called with its exercise in the table, an answer, and the release if the answer depends
on it, and keeps nothing. It raises UnfitError for a value that is no answer. The table has the
number of points of an answer.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec

from ...engine.cluster import Cluster
from ...plays.stage import Performed, Stage
from ..exercise_table import LETTERS, MANY_ARE_RIGHT, Exercise, Idea, UnfitError
from ..exercise_table import Verdict as Verdict
from .check_result import Checked

BLANK = "?"
"""What a lab has where an answer belongs."""
_NONES = ("-", "none", "no", "0")
PARTS_MAX = 1_000
"""More than any exercise has, and few enough to look at."""
_STILL_OPEN = Idea("", "One has no answer yet. If it is none of them, write -.")
"""A part that is BLANK among parts that are not."""
AskedRelease = Mapping[str, str | None]
"""``{"kafka": ...}`` where an answer depends on the release, else empty."""


def parts(answer: object) -> list[str]:
    """The parts of an answer: words of a line, the letters of one word, items of anything else.

    What is in braces is one word: ``{1, 3}``. Whatever is no sequence is one part; nothing (None,
    ...) is one BLANK.
    """
    if answer is None or answer is ...:
        return [BLANK]
    if isinstance(answer, str):
        words = re.findall(r"\{[^}]*\}|[^\s,;]+", answer)
        return list(words[0]) if len(words) == 1 else words
    if isinstance(answer, Mapping):
        answer = answer.values()
    if isinstance(answer, set | frozenset):
        return sorted(str(part).strip() for part in answer)
    if isinstance(answer, Iterable) and not isinstance(answer, bytes):
        return [str(part).strip() for part in islice(answer, PARTS_MAX)]
    return [str(answer)]


def is_none(part: str) -> bool:
    """Whether this part of an answer says: none of them. An empty one says nothing at all."""
    return part.strip().lower() in _NONES


def demand_order(answer: object, words: Sequence[str], form: str) -> None:
    """Raises UnfitError for a set, where the order counts, and for parts empty or all BLANK.

    `form` is what an answer looks like: ``"six answers, in order"``.
    """
    if isinstance(answer, set | frozenset) and answer:
        raise UnfitError(f"A set has no order: give {form}, as a list or as one line of text.")
    if not set(words) - {BLANK, ""}:
        raise UnfitError(f"Not answered yet: give {form}.")


def letters_among(letters: Collection[str], use: str) -> Callable[[list[str]], list[str]]:
    """Reads parts that are one letter each. Raises UnfitError for another letter."""

    def read(words: list[str]) -> list[str]:
        capitals = [word.upper() for word in words]
        _demand_known({*capitals} - {BLANK}, letters, "There is no {}. Use " + f"{use}.")
        return capitals

    return read


def sets_among(
    letters: Collection[str], what: str = "", use: str = ""
) -> Callable[[list[str]], list[str | frozenset[str]]]:
    """Reads parts that are several letters each, or none; BLANK stays what it is.

    `what` is what a letter stands for. Raises UnfitError for another letter.
    """
    named = f"{what} {{}}" if what else "{}"
    problem = f"There is no {named}. Use {use or ' '.join(letters) + ', or - for none'}."

    def read(words: list[str]) -> list[str | frozenset[str]]:
        _demand_known(frozenset().union(*map(_letter_set, words)), letters, problem)
        return [word if word == BLANK else _letter_set(word) for word in words]

    return read


def _letter_set(word: str) -> frozenset[str]:
    """The letters of one part, in capitals."""
    return frozenset() if is_none(word) else frozenset(c for c in word.upper() if c.isalnum())


def _demand_known(words: Collection[str], letters: Collection[str], problem: str) -> None:
    """Raises UnfitError for words that are none of these letters: a problem that names them."""
    unknown = sorted({*words} - {*letters})
    if unknown:
        raise UnfitError(problem.format(", ".join(word[:20] for word in unknown[:5])))


class OfExercise(msgspec.Struct, frozen=True):
    """A check that depends on the numbers of its exercise: `shape` is one of those below."""

    shape: Callable[[Exercise], "TrueStatements | PartsInOrder | WholeAnswer"]

    def __call__(self, exercise: Exercise, answer: object, release: AskedRelease) -> Checked:
        return self.shape(exercise)(exercise, answer, release)

    def solution(self, exercise: Exercise, release: AskedRelease) -> str:
        return self.shape(exercise).solution(exercise, release)


class WholeAnswer(msgspec.Struct, frozen=True):
    """An answer that is judged as a whole: `judged` says which outcome it is, `right` is a right
    answer where there is but one.
    """

    judged: Callable[[Any], Verdict]
    right: Callable[[], str] = lambda: MANY_ARE_RIGHT

    def __call__(self, exercise: Exercise, answer: object, _release: AskedRelease) -> Checked:
        return exercise.outcome(self.judged(answer))

    def solution(self, _exercise: Exercise, _release: AskedRelease) -> str:
        return self.right()


class TrueStatements(msgspec.Struct, frozen=True):
    """Which of several statements hold: each that is chosen or left out rightly is a point.

    `true` says which do: the letters of the exercise's ideas.
    """

    true: Callable[..., Collection[str]]

    def solution(self, _exercise: Exercise, release: AskedRelease) -> str:
        """The letters as one word."""
        return "".join(sorted(self.true(**release))) or "-"

    def __call__(self, exercise: Exercise, answer: object, release: AskedRelease) -> Checked:
        """Wrong is a letter that is chosen and does not hold, or the other way round."""
        words = [answer] if isinstance(answer, str) and is_none(answer) else parts(answer)
        among = " ".join(exercise.ideas)
        form = f"the letters of those that are true, among {among}, or - for none"
        demand_order(None, words, form)
        nothing = len(words) == 1 and is_none(words[0])
        chosen = set[str]() if nothing else {word.upper() for word in words if word}
        _demand_known(chosen, exercise.ideas, f"Choose among {among}. There is no {{}}.")
        wrong = chosen ^ set(self.true(**release))
        names = {letter: f"{exercise.parts} {letter}" for letter in sorted(wrong)}
        return _summed(exercise, names, {letter: exercise.ideas[letter] for letter in names})


class PartsInOrder(msgspec.Struct, frozen=True, kw_only=True):
    """Parts whose order counts: each that is right is a point.

    `plain` and then `read` bring an answer and its parts into the form of `true`. `keys` are those
    of the exercise's ideas that fit a wrong part, the best first, from (place from 0, what was
    answered, what is right); after them come the letter of the place with the answer, the letter,
    the group and "other". `name` is what a part is called, `token` the run that it is about.
    `solved` is what is written for the parts, where `true` is something else.
    """

    true: Callable[..., Sequence[Any]]
    plain: Callable[[object], object] = lambda answer: answer
    read: Callable[[list[str]], Sequence[Any]] = list
    keys: Callable[..., tuple[str, ...]] = lambda *_, **__: ()
    name: Callable[[int], str] | None = None
    token: Callable[..., str] = lambda **_: ""
    solved: Callable[..., Sequence[str]] | None = None

    def solution(self, _exercise: Exercise, release: AskedRelease) -> str:
        """A right answer, with ; between its parts: ``"LP"`` for a set of letters."""
        right = (self.solved or self.true)(**release)
        words = ("".join(sorted(p)) if isinstance(p, frozenset) else str(p) for p in right)
        return "; ".join(word or "-" for word in words)

    def __call__(self, exercise: Exercise, answer: object, release: AskedRelease) -> Checked:
        """Wrong is each part that is not the one at its place in `true`.

        Raises UnfitError for another number of parts than the exercise has.
        """
        plain, form = self.plain(answer), f"{exercise.points} {exercise.form}, in order"
        words = [part or BLANK for part in parts(plain)]
        demand_order(plain, words, form)
        if len(words) != exercise.points:
            raise UnfitError(f"Give {form}. Here are {len(words)}.")
        pairs = enumerate(zip(self.read(words), self.true(**release), strict=True))
        wrong = {n: (mine, true) for n, (mine, true) in pairs if mine != true}
        called = exercise.names if self.name is None else [*map(self.name, range(len(words)))]
        names = {LETTERS[place]: called[place] for place in wrong}
        ideas = {LETTERS[n]: self._idea(exercise, n, *pair, release) for n, pair in wrong.items()}
        return _summed(exercise, names, ideas, self.token(**release))

    def _idea(
        self, exercise: Exercise, place: int, mine: object, true: object, release: AskedRelease
    ) -> Idea:
        letter = LETTERS[place]
        if mine == BLANK and letter not in exercise.blank_is_wrong:
            return _STILL_OPEN
        keys = (*self.keys(place, mine, true, **release), f"{letter} {mine}", letter)
        listed = (*keys, _group_of(exercise, letter), "other")
        fitting = [exercise.ideas[key] for key in listed if key in exercise.ideas]
        hint = next(idea.hint for idea in fitting if idea.hint)
        return Idea(fitting[0].misconception, hint)


def _group_of(exercise: Exercise, letter: str) -> str:
    return next(group for group, letters in exercise.groups.items() if letter in letters)


def _summed(
    exercise: Exercise, names: Mapping[str, str], ideas: Mapping[str, Idea], token: str = ""
) -> Checked:
    """A point for each part that is not wrong; `names` and ideas of those that are, by letters.

    The part that is explained is the first with a known misconception. `message` says no more than
    how many are right; groups and parts are in `where` and `which`.
    """
    of = exercise.points
    if not names:
        return Checked(points=of, of=of, message=exercise.praise, token=token)
    explained = next((i for i in ideas.values() if i.misconception), next(iter(ideas.values())))
    right, groups = of - len(names), dict.fromkeys(_group_of(exercise, letter) for letter in names)
    return Checked(
        points=right,
        of=of,
        message=f"{right or 'None'} of {of} {'is' if right < 2 else 'are'} right.",
        hint=explained.hint,
        where=f"Look again among: {', '.join(groups)}.",
        which=f"Look again at: {', '.join(dict.fromkeys(names.values()))}.",
        wrong="".join(names),
        misconception=explained.misconception,
        token=token,
    )


def moments(stage: Stage) -> Iterator[tuple[Performed, Cluster]]:
    """Each line that moved the cluster, with the situation after it."""
    cluster, before = stage.history.start, 0
    for performed in stage.performed:
        if performed.last > performed.first:
            cluster = stage.history.steps[performed.last - 1].cluster
        if performed.moment > before:
            yield performed, cluster
        before = performed.moment
