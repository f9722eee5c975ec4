"""What a picture's words say at a step: those of later are not there, and what lasts stands in
the part that is seen.

Every word carries a row in its trace's `customdata`, from which `moving_veil` and the player's
script, `player.js`, work out the same: ``[since, x]``, and for a word about something that lasts
``[since, x, until, centred, [[text, pixels], ...]]``, its versions from long to short. The first
is the one of the whole picture, at `x`.
"""

from collections.abc import Sequence
from math import floor
from typing import Any, NamedTuple

from ..drawing.text_width import width_of

VEIL_EDGE = 12
"""Pixels before a moment that the veil covers too: heads of arrows, diamonds."""
PAD = 8
"""Pixels that words of something that lasts keep free in it, both sides together."""
DECIMALS = 4
_FROM = " from "


class Lasting(NamedTuple):
    """What a word is about: from moment `since` to `until`, or from `since` on; `texts` are what
    may stand for the word where there is less room, from long to short.
    """

    since: float
    until: float | None = None
    texts: Sequence[str] = ()


def from_moment(name: str, x: float) -> str:
    """The name of a shape that is there from moment `x` on: ``callout from 6``."""
    return f"{name}{_FROM}{x:g}"


def since(name: str | None) -> float | None:
    """From when on a shape of this name is there; None for one that is there all the time."""
    _, said, x = (name or "").partition(_FROM)
    return float(x) if said else None


def row_of(x: float, text: str, size: float, anchor: str, lasting: Lasting | None) -> list[Any]:
    """The row of a word that stands at `x`; without `lasting` it is known from its place on."""
    at = round(x, DECIMALS)
    if lasting is None:
        return [max(floor(x + 0.001), -1), at]
    if lasting.until is None:
        return [lasting.since, at]
    versions = [[t, round(width_of(t, size))] for t in dict.fromkeys((text, *lasting.texts))]
    return [lasting.since, at, lasting.until, int(anchor == "center"), versions]


def seen_until(step: int, unit: float) -> float:
    """Where the veil begins at a step; `unit` are the pixels of a moment."""
    return step + max(1 - VEIL_EDGE / unit, 0.5)


def placed(row: Sequence[Any], step: int, unit: float) -> tuple[float | None, str | None]:
    """Where the word of a row stands at a step, None for nowhere, and what it says, None for what
    it says in the whole picture.
    """
    start, x, *lasting = row
    if start > step:
        return None, None
    if not lasting or lasting[0] <= step + 1:
        return x, None
    _, centred, versions = lasting
    room = (seen_until(step, unit) - start) * unit
    text, wide = next((v for v in versions if v[1] + PAD <= room), versions[-1])
    return (start + max(room, wide + PAD) / 2 / unit if centred else x), text
