"""Answers to exercises with several parts: read generously, judged part by part."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

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


class Slip(msgspec.Struct, frozen=True):
    """One part that is wrong: what to call it, where to look, the idea behind it if known.

    `group` is what this part shares with others, but not with all.
    """

    part: str
    hint: str
    misconception: str = ""
    group: str = ""


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


def is_none(said: str) -> bool:
    """Whether this part of an answer says: none of them. An empty one says nothing at all."""
    return said.strip().lower() in _NONES


def unanswered(given: Sequence[str], of: int, wanted: str) -> Checked | None:
    """The verdict on an answer that is empty or all BLANK; None if there is something to judge.

    `wanted` is what an answer looks like: ``"six answers, in order"``.
    """
    if set(given) - {BLANK, ""}:
        return None
    return unfit(of, f"Not answered yet: give {wanted}.")


def unordered(answer: object, of: int, wanted: str) -> Checked | None:
    """The verdict on a set where the order counts; None for anything that has an order."""
    if not isinstance(answer, set | frozenset) or not answer:
        return None
    return unfit(of, f"A set has no order: give {wanted}, as a list or as one line of text.")


def unfit(of: int, message: str) -> Checked:
    """The verdict on something that is no answer to this question: no point, and no attempt."""
    return Checked(points=0, of=of, message=message, attempted=False)


def in_order(answer: object, wanted: int, what: str) -> list[str] | Checked:
    """The parts of an answer whose order counts, BLANK where one is empty.

    A Checked says so if there is none yet, if there are not `wanted` of them, or if it is a set.
    """
    asked = f"{wanted} {what}, in order"
    given = [part or BLANK for part in parts(answer)]
    wrong = unordered(answer, wanted, asked) or unanswered(given, wanted, asked)
    if wrong is not None:
        return wrong
    if len(given) == wanted:
        return given
    return unfit(wanted, f"Give {asked}. Here are {len(given)}.")


def still_open(part: str, group: str) -> Slip:
    """The slip of a part that is BLANK among parts that are not."""
    hint = "One has no answer yet. If it is none of them, write -."
    return Slip(part, hint, group=group)


def summed(of: int, slips: Sequence[Slip], praise: str, token: str = "") -> Checked:
    """A point for each part without a slip. The slip that is explained is one with a known idea.

    `message` says no more than how many are right; groups and parts are in `where` and `which`.
    """
    if not slips:
        return Checked(points=of, of=of, message=praise, token=token)
    told = next((slip for slip in slips if slip.misconception), slips[0])
    right = of - len(slips)
    return Checked(
        points=right,
        of=of,
        message=f"{right or 'None'} of {of} {'is' if right < 2 else 'are'} right.",
        hint=told.hint,
        where=_listed("Look again among", (slip.group for slip in slips)),
        which=_listed("Look again at", (slip.part for slip in slips)),
        misconception=told.misconception,
        token=token,
    )


def _listed(head: str, names: Iterable[str]) -> str:
    """``"Look again at: message 2, message 3."``; empty without a name."""
    told = ", ".join(dict.fromkeys(name for name in names if name))
    return f"{head}: {told}." if told else ""


def half(place: int, of: int, what: str) -> str:
    """The group of a part, counted from 1, where they have but their order: ``"steps 1 to 4"``."""
    middle = of // 2
    first, last = (1, middle) if place <= middle else (middle + 1, of)
    return f"{what} {first} to {last}"


def chosen_letters(answer: object, among: Sequence[str]) -> set[str] | Checked:
    """The letters chosen; a Checked that says so if there is one that nothing stands for."""
    given = [answer] if isinstance(answer, str) and is_none(answer) else parts(answer)
    wanted = f"the letters of those that are true, among {' '.join(among)}, or - for none"
    missing = unanswered(given, len(among), wanted)
    if missing is not None:
        return missing
    if len(given) == 1 and is_none(given[0]):
        return set()
    letters = {part.upper() for part in given if part}
    unknown = sorted(letters - set(among))
    if not unknown:
        return letters
    named = ", ".join(word[:20] for word in unknown[:5])
    return unfit(len(among), f"Choose among {' '.join(among)}. There is no {named}.")


def moments(stage: Stage) -> Iterator[tuple[Performed, Cluster]]:
    """Each line that moved the cluster, with the situation after it."""
    cluster, before = stage.history.start, 0
    for performed in stage.performed:
        if performed.last > performed.first:
            cluster = stage.history.steps[performed.last - 1].cluster
        if performed.moment > before:
            yield performed, cluster
        before = performed.moment
