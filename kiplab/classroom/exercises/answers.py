"""How answers to exercises are read, generously, and judged: the shapes of a check.

A check is a value that is called with an answer: `TrueStatements` (the letters of what holds),
`PartsInOrder` (parts, each judged for itself) and `WholeAnswer`; a run of one's own is in
`own_runs`. None of them keeps anything.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec

from ...engine.cluster import Cluster
from ...plays.stage import Performed, Stage
from .check_result import Checked

BLANK = "?"
"""What a lab has where an answer belongs."""
_NONES = ("-", "none", "no", "0")
"""Ways to say: none of them."""
PARTS_MAX = 1_000
"""More than any exercise has, and few enough to look at."""
Idea = tuple[str, str]
"""(the idea behind a wrong answer, empty where none is known; a hint where to look)."""
_IDEA = re.compile(r"^(\S[^:\n]*):(.*)\n((?:[ ]+.*\n)+)", re.MULTILINE)
STILL_OPEN: Idea = ("", "One has no answer yet. If it is none of them, write -.")
"""A part that is BLANK among parts that are not."""


def ideas(text: str) -> dict[str, Idea]:
    """Ideas by their keys, from a text: a line ``key: the idea``, and below it, indented, the hint.

    A key with nothing behind it has a hint alone.
    """
    entries: list[tuple[str, str, str]] = _IDEA.findall(text)
    return {key: (idea.strip(), " ".join(hint.split())) for key, idea, hint in entries}


class UnfitError(ValueError):
    """Something that is no answer to this question: no point, and no attempt."""


class AnswerCheck(msgspec.Struct, frozen=True, kw_only=True):
    """How the answers to one exercise are judged. `of` are the points that the right one earns.

    `by_release` says that the answer depends on the release, and may be judged under another one.
    """

    of: int
    by_release: bool = False

    def __call__(self, answer: object, kafka: str | None = None) -> Checked:
        """Judge `answer`; one that is no answer at all gets a sentence, and never an error.

        `kafka` is a release, perhaps with a metadata version: ``"3.6/3.5-IV2"``; without one the
        exercise's own. Raises ValueError for a release where the answer does not depend on it.
        """
        if kafka is not None and not self.by_release:
            raise ValueError("this exercise is about one release only; leave kafka= out")
        try:
            return self.judge(answer, {"kafka": kafka} if self.by_release else {})
        except UnfitError as problem:
            return Checked(points=0, of=self.of, message=str(problem), attempted=False)

    def judge(self, answer: object, release: Mapping[str, str | None]) -> Checked:
        """The verdict. Raises UnfitError for what is no answer."""
        raise NotImplementedError


class WholeAnswer(AnswerCheck, frozen=True, kw_only=True):
    """An answer that is judged as a whole."""

    judged: Callable[[object], Checked]

    def judge(self, answer: object, _release: Mapping[str, str | None]) -> Checked:
        """What `judged` says."""
        return self.judged(answer)


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


def demand_answer(given: Sequence[str], wanted: str) -> None:
    """Raises UnfitError for an answer that is empty or all BLANK.

    `wanted` is what an answer looks like: ``"six answers, in order"``.
    """
    if not set(given) - {BLANK, ""}:
        raise UnfitError(f"Not answered yet: give {wanted}.")


def demand_order(answer: object, wanted: str) -> None:
    """Raises UnfitError for a set, where the order counts."""
    if isinstance(answer, set | frozenset) and answer:
        raise UnfitError(f"A set has no order: give {wanted}, as a list or as one line of text.")


def in_order(answer: object, wanted: int, form: str) -> list[str]:
    """The parts of an answer whose order counts, BLANK where one is empty.

    Raises UnfitError if there is none yet, if there are not `wanted` of them, or for a set.
    """
    expected = f"{wanted} {form}, in order"
    given = [part or BLANK for part in parts(answer)]
    demand_order(answer, expected)
    demand_answer(given, expected)
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


def letter_set(part: str) -> frozenset[str]:
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
        strange = sorted(frozenset().union(*map(letter_set, given)) - set(known))
        if strange:
            named = " ".join(filter(None, [what, ", ".join(strange[:5])]))
            raise UnfitError(f"There is no {named}. Use {use}.")
        return [part if part == BLANK else letter_set(part) for part in given]

    return read


def chosen_letters(answer: object, among: Sequence[str]) -> set[str]:
    """The letters chosen. Raises UnfitError if there is one that nothing stands for."""
    given = [answer] if isinstance(answer, str) and is_none(answer) else parts(answer)
    letters = " ".join(among)
    demand_answer(given, f"the letters of those that are true, among {letters}, or - for none")
    if len(given) == 1 and is_none(given[0]):
        return set()
    chosen = {part.upper() for part in given if part}
    unknown = sorted(chosen - set(among))
    if unknown:
        named = ", ".join(word[:20] for word in unknown[:5])
        raise UnfitError(f"Choose among {letters}. There is no {named}.")
    return chosen


# --- judging part by part -------------------------------------------------------------------------


class Slip(msgspec.Struct, frozen=True):
    """One part that is wrong: what to call it, the idea behind it and where to look.

    `group` is what this part shares with others, but not with all.
    """

    part: str
    idea: Idea
    group: str


class TrueStatements(AnswerCheck, frozen=True, kw_only=True):
    """Which of several statements hold: each that is chosen or left out rightly is a point.

    `true` says which do, `ideas` has the idea behind a wrong choice by the statement's letter,
    `groups` the letters of each group. `what` is what a statement is called.
    """

    what: str
    true: Callable[..., Collection[str]]
    ideas: Mapping[str, Idea]
    groups: Mapping[str, str]
    praise: str

    def judge(self, answer: object, release: Mapping[str, str | None]) -> Checked:
        """A slip for each letter that is chosen and does not hold, or the other way round."""
        chosen = chosen_letters(answer, tuple(self.ideas))
        wrong = sorted(chosen ^ set(self.true(**release)))
        return summed(self.of, [self._slip(letter) for letter in wrong], self.praise)

    def _slip(self, letter: str) -> Slip:
        group = next(name for name, letters in self.groups.items() if letter in letters)
        return Slip(f"{self.what} {letter}", self.ideas[letter], group)


class PartsInOrder(AnswerCheck, frozen=True, kw_only=True):
    """Parts whose order counts: each that is right is a point.

    `form` is what they look like, `read` brings them into the form of `true`, `idea` has the idea
    behind a wrong one: (place from 0, what was answered, what is right). `part` and `group` name
    the part at a place. `open_is_wrong` says that a part left BLANK has an idea like any other.
    """

    form: str
    read: Callable[[list[str]], Sequence[Any]] = list
    true: Callable[..., Sequence[Any]]
    idea: Callable[..., Idea]
    part: Callable[[int], str]
    group: Callable[[int], str]
    praise: str
    token: Callable[..., str] = lambda **_: ""
    open_is_wrong: bool = False

    def judge(self, answer: object, release: Mapping[str, str | None]) -> Checked:
        """A slip for each part that is not the one at its place in `true`."""
        given = self.read(in_order(answer, self.of, self.form))
        pairs = enumerate(zip(given, self.true(**release), strict=True))
        slips = [
            Slip(self.part(place), self._idea(place, mine, true, release), self.group(place))
            for place, (mine, true) in pairs
            if mine != true
        ]
        return summed(self.of, slips, self.praise, self.token(**release))

    def _idea(
        self, place: int, mine: object, true: object, release: Mapping[str, str | None]
    ) -> Idea:
        if mine == BLANK and not self.open_is_wrong:
            return STILL_OPEN
        return self.idea(place, mine, true, **release)


def numbered(what: str) -> Callable[[int], str]:
    """Names parts by their number, counted from 1: ``"message 3"``."""
    return lambda place: f"{what} {place + 1}"


def halves(what: str, of: int) -> Callable[[int], str]:
    """Groups parts that have but their order: ``"steps 1 to 4"``, ``"steps 5 to 8"``."""
    middle = of // 2
    first, second = f"{what} 1 to {middle}", f"{what} {middle + 1} to {of}"
    return lambda place: first if place < middle else second


def summed(of: int, slips: Sequence[Slip], praise: str, token: str = "") -> Checked:
    """A point for each part without a slip. The slip that is explained is one with a known idea.

    `message` says no more than how many are right; groups and parts are in `where` and `which`.
    """
    if not slips:
        return Checked(points=of, of=of, message=praise, token=token)
    misconception, hint = next((slip.idea for slip in slips if slip.idea[0]), slips[0].idea)
    right = of - len(slips)
    return Checked(
        points=right,
        of=of,
        message=f"{right or 'None'} of {of} {'is' if right < 2 else 'are'} right.",
        hint=hint,
        where=_listed("Look again among", (slip.group for slip in slips)),
        which=_listed("Look again at", (slip.part for slip in slips)),
        misconception=misconception,
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
