"""Answers to exercises with several parts: read generously, judged part by part."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

import msgspec

from ..engine.cluster import Cluster
from ..plays.stage import Performed, Stage
from .checked import Checked

BLANK = "?"
"""What a lab has where an answer belongs."""
PARTS_MAX = 1_000
"""More than any exercise has, and few enough to look at."""


class Slip(msgspec.Struct, frozen=True):
    """One part that is wrong: what to call it, where to look, the idea behind it if known."""

    part: str
    hint: str
    misconception: str = ""


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


def unanswered(given: Sequence[str], of: int, wanted: str) -> Checked | None:
    """The verdict on an answer that is all BLANK; None if there is something to judge.

    `wanted` is what an answer looks like: ``"six answers, in order"``.
    """
    if set(given) != {BLANK}:
        return None
    return unfit(of, f"Not answered yet: give {wanted}.")


def uncounted(given: Sequence[str], wanted: int, what: str) -> Checked | None:
    """The verdict on an answer with too few or too many parts; None if the number is right."""
    if len(given) == wanted:
        return None
    return unfit(wanted, f"Give {wanted} {what}, in order. Here are {len(given)}.")


def unfit(of: int, message: str) -> Checked:
    """The verdict on something that is no answer to this question: no point, and no attempt."""
    return Checked(points=0, of=of, message=message, attempted=False)


def misfit(given: Sequence[str], wanted: int, what: str) -> Checked | None:
    """The verdict on an answer that is all BLANK, or has another number of parts than `wanted`."""
    missing = unanswered(given, wanted, f"{wanted} {what}, in order")
    return missing or uncounted(given, wanted, what)


def summed(of: int, slips: Sequence[Slip], praise: str, token: str = "") -> Checked:
    """A point for each part without a slip. The slip that is explained is one with a known idea."""
    if not slips:
        return Checked(points=of, of=of, message=praise, token=token)
    told = next((slip for slip in slips if slip.misconception), slips[0])
    names = ", ".join(slip.part for slip in slips)
    return Checked(
        points=of - len(slips),
        of=of,
        message=f"Look again at: {names}.",
        hint=told.hint,
        misconception=told.misconception,
        token=token,
    )


def chosen(answer: object, among: Sequence[str]) -> set[str] | Checked:
    """The letters chosen; a Checked that says so if there is one that nothing stands for."""
    given = parts(answer)
    wanted = f"the letters of those that are true, among {' '.join(among)}"
    missing = unanswered(given, len(among), wanted)
    if missing is not None:
        return missing
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
