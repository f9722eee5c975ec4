"""Answers to exercises with several parts: read generously, judged part by part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from ..engine.cluster import Cluster
from ..plays.stage import Performed, Stage
from .checked import Checked


class Slip(msgspec.Struct, frozen=True):
    """One part that is wrong: what to call it, where to look, the idea behind it if known."""

    part: str
    hint: str
    misconception: str = ""


def parts(answer: str | Sequence[object]) -> list[str]:
    """The parts of an answer: the letters of one word, or a sequence of anything printable."""
    return [str(part).strip() for part in answer]


def uncounted(given: Sequence[str], wanted: int, what: str) -> Checked | None:
    """The verdict on an answer with too few or too many parts; None if the number is right."""
    if len(given) == wanted:
        return None
    return Checked(
        points=0, of=wanted, message=f"Give {wanted} {what}, in order. Here are {len(given)}."
    )


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


def chosen(answer: str | Sequence[object], among: Sequence[str]) -> set[str] | Checked:
    """The letters chosen; a Checked that says so if there is one that nothing stands for."""
    given = {part.upper() for part in parts(answer) if part not in ("", ",")}
    unknown = sorted(given - set(among))
    if not unknown:
        return given
    message = f"Choose among {' '.join(among)}. There is no {', '.join(unknown)}."
    return Checked(points=0, of=len(among), message=message)


def moments(stage: Stage) -> Iterator[tuple[Performed, Cluster]]:
    """Each line that moved the cluster, with the situation after it."""
    cluster, before = stage.history.start, 0
    for performed in stage.performed:
        if performed.last > performed.first:
            cluster = stage.history.steps[performed.last - 1].cluster
        if performed.moment > before:
            yield performed, cluster
        before = performed.moment
