"""How answers to exercises are read, generously, and judged: the shapes of a check.

A check is called with its exercise in the table, an answer, and the release if the answer depends
on it: `TrueStatements` (the letters of what holds), `PartsInOrder` (parts, each judged for itself)
and `WholeAnswer`; a run of one's own is in `own_runs`. None of them keeps anything.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec

from ...engine.cluster import Cluster
from ...plays.stage import Performed, Stage
from ..exercise_table import LETTERS, Exercise, Idea, UnfitError
from .check_result import Checked

BLANK = "?"
"""What a lab has where an answer belongs."""
_NONES = ("-", "none", "no", "0")
"""Ways to say: none of them."""
PARTS_MAX = 1_000
"""More than any exercise has, and few enough to look at."""
_STILL_OPEN = Idea("", "One has no answer yet. If it is none of them, write -.")
"""A part that is BLANK among parts that are not."""
AskedRelease = Mapping[str, str | None]
"""``{"kafka": ...}`` where an answer depends on the release, else empty."""
Verdict = str | tuple[str, dict[str, Any]]
"""The key of an outcome of the exercise, and the values that its sentences name."""


# --- reading --------------------------------------------------------------------------------------


def parts(answer: object) -> list[str]:
    """The parts of an answer: words of a line, the letters of one word, items of anything else.

    What is in braces is one word: ``{1, 3}``.

    Whatever is no sequence is one part; nothing (None, ...) is one BLANK.
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


def demand_order(answer: object, given: Sequence[str], wanted: str) -> None:
    """Raises UnfitError for a set, where the order counts, and for parts empty or all BLANK.

    `wanted` is what an answer looks like: ``"six answers, in order"``.
    """
    if isinstance(answer, set | frozenset) and answer:
        raise UnfitError(f"A set has no order: give {wanted}, as a list or as one line of text.")
    _demand_answer(given, wanted)


def _demand_answer(given: Sequence[str], wanted: str) -> None:
    if not set(given) - {BLANK, ""}:
        raise UnfitError(f"Not answered yet: give {wanted}.")


def _in_order(answer: object, wanted: int, form: str) -> list[str]:
    """The parts of an answer whose order counts, BLANK where one is empty.

    Raises UnfitError if there is none yet, if there are not `wanted` of them, or for a set.
    """
    expected = f"{wanted} {form}, in order"
    given = [part or BLANK for part in parts(answer)]
    demand_order(answer, given, expected)
    if len(given) != wanted:
        raise UnfitError(f"Give {expected}. Here are {len(given)}.")
    return given


def letters_among(known: Collection[str], use: str) -> Callable[[list[str]], list[str]]:
    """Reads parts that are one letter each. Raises UnfitError for a letter that is not `known`."""

    def read(given: list[str]) -> list[str]:
        letters = [part.upper() for part in given]
        strange = sorted({part for part in letters if part not in (*known, BLANK)})
        if strange:
            named = ", ".join(part[:20] for part in strange[:5])
            raise UnfitError(f"There is no {named}. Use {use}.")
        return letters

    return read


def _letter_set(part: str) -> frozenset[str]:
    """The letters of one part, in capitals."""
    return frozenset() if is_none(part) else frozenset(c for c in part.upper() if c.isalnum())


def sets_among(
    known: Collection[str], what: str = "", use: str = ""
) -> Callable[[list[str]], list[str | frozenset[str]]]:
    """Reads parts that are several letters each, or none; BLANK stays what it is.

    `what` is what a letter stands for. Raises UnfitError for a letter that is not `known`.
    """
    use = use or f"{' '.join(known)}, or - for none"

    def read(given: list[str]) -> list[str | frozenset[str]]:
        strange = sorted(frozenset().union(*map(_letter_set, given)) - set(known))
        if strange:
            named = " ".join(filter(None, [what, ", ".join(strange[:5])]))
            raise UnfitError(f"There is no {named}. Use {use}.")
        return [part if part == BLANK else _letter_set(part) for part in given]

    return read


def _chosen_letters(answer: object, among: Sequence[str]) -> set[str]:
    """The letters chosen. Raises UnfitError if there is one that nothing stands for."""
    given = [answer] if isinstance(answer, str) and is_none(answer) else parts(answer)
    letters = " ".join(among)
    _demand_answer(given, f"the letters of those that are true, among {letters}, or - for none")
    if len(given) == 1 and is_none(given[0]):
        return set()
    chosen = {part.upper() for part in given if part}
    unknown = sorted(chosen - set(among))
    if unknown:
        named = ", ".join(word[:20] for word in unknown[:5])
        raise UnfitError(f"Choose among {letters}. There is no {named}.")
    return chosen


# --- judging --------------------------------------------------------------------------------------


class WholeAnswer(msgspec.Struct, frozen=True):
    """An answer that is judged as a whole: `judged` says which outcome it is."""

    judged: Callable[[Any], Verdict]

    def __call__(self, exercise: Exercise, answer: object, _release: AskedRelease) -> Checked:
        """That outcome. Raises UnfitError for what is no answer."""
        return outcome_of(exercise, self.judged(answer))


def outcome_of(exercise: Exercise, verdict: Verdict, **values: object) -> Checked:
    """The outcome that a verdict names."""
    key, named = (verdict, {}) if isinstance(verdict, str) else verdict
    return exercise.outcome(key, **values, **named)


class TrueStatements(msgspec.Struct, frozen=True):
    """Which of several statements hold: each that is chosen or left out rightly is a point.

    `true` says which do: the letters of the exercise's ideas.
    """

    true: Callable[..., Collection[str]]

    def __call__(self, exercise: Exercise, answer: object, release: AskedRelease) -> Checked:
        """Wrong is a letter that is chosen and does not hold, or the other way round.

        Raises UnfitError for what is no answer.
        """
        chosen = _chosen_letters(answer, tuple(exercise.ideas))
        wrong = chosen ^ set(self.true(**release))
        names = {letter: f"{exercise.parts} {letter}" for letter in sorted(wrong)}
        return _summed(exercise, names, {letter: exercise.ideas[letter] for letter in names})


class PartsInOrder(msgspec.Struct, frozen=True, kw_only=True):
    """Parts whose order counts: each that is right is a point.

    `plain` and then `read` bring an answer and its parts into the form of `true`. `keys` are those
    of the exercise's ideas that fit a wrong part, the best first, from (place from 0, what was
    answered, what is right); after them come the letter of the place with the answer, the letter,
    the group and "other". `name` is what a part is called, `token` the run that it is about.
    """

    true: Callable[..., Sequence[Any]]
    plain: Callable[[object], object] = lambda answer: answer
    read: Callable[[list[str]], Sequence[Any]] = list
    keys: Callable[..., tuple[str, ...]] = lambda *_, **__: ()
    name: Callable[[int], str] | None = None
    token: Callable[..., str] = lambda **_: ""

    def __call__(self, exercise: Exercise, answer: object, release: AskedRelease) -> Checked:
        """Wrong is each part that is not the one at its place in `true`.

        Raises UnfitError for what is no answer.
        """
        given = self.read(_in_order(self.plain(answer), exercise.points, exercise.form))
        pairs = enumerate(zip(given, self.true(**release), strict=True))
        wrong = {n: (mine, true) for n, (mine, true) in pairs if mine != true}
        names = {LETTERS[place]: self._name(exercise, place) for place in wrong}
        found = {
            LETTERS[place]: self._idea(exercise, place, *pair, release)
            for place, pair in wrong.items()
        }
        return _summed(exercise, names, found, self.token(**release))

    def _name(self, exercise: Exercise, place: int) -> str:
        if self.name is not None:
            return self.name(place)
        named = exercise.parts
        return f"{named} {place + 1}" if isinstance(named, str) else named[place]

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
    exercise: Exercise, names: Mapping[str, str], found: Mapping[str, Idea], token: str = ""
) -> Checked:
    """A point for each part that is not wrong; `names` and ideas of those that are, by letters.

    The part that is explained is the first with a known misconception. `message` says no more than
    how many are right; groups and parts are in `where` and `which`.
    """
    of = exercise.points
    if not names:
        return Checked(points=of, of=of, message=exercise.praise, token=token)
    wrong = [*found.values()]
    explained = next((idea for idea in wrong if idea.misconception), wrong[0])
    right = of - len(names)
    return Checked(
        points=right,
        of=of,
        message=f"{right or 'None'} of {of} {'is' if right < 2 else 'are'} right.",
        hint=explained.hint,
        where=_listed("Look again among", (_group_of(exercise, letter) for letter in names)),
        which=_listed("Look again at", names.values()),
        misconception=explained.misconception,
        token=token,
    )


def _listed(head: str, names: Iterable[str]) -> str:
    """``"Look again at: message 2, message 3."``."""
    return f"{head}: {', '.join(dict.fromkeys(names))}."


def moments(stage: Stage) -> Iterator[tuple[Performed, Cluster]]:
    """Each line that moved the cluster, with the situation after it."""
    cluster, before = stage.history.start, 0
    for performed in stage.performed:
        if performed.last > performed.first:
            cluster = stage.history.steps[performed.last - 1].cluster
        if performed.moment > before:
            yield performed, cluster
        before = performed.moment
