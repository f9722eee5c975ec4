"""What a picture shows at a step: what comes later lies under a mask, its words are not there, and
what lasts is named in the part that is seen.

Every word carries a row in its trace's `customdata`, from which `mask_until` and the player's
script, `player.js`, work out the same: ``[since, x]``, and for a word about something that lasts
``[since, x, until, centred, [[text, pixels], ...]]``, its versions from long to short. The first
is the one of the whole picture, at `x`.
"""

from collections.abc import Sequence
from math import floor
from typing import Any, NamedTuple

from ...rows.columns import column_of
from ..drawing import Json
from ..drawing.text_width import width_of

MASK_EDGE = 12
"""Pixels before a moment that the mask covers too: heads of arrows, diamonds."""
PAD = 8
"""Pixels that words of something that lasts keep free in it, both sides together."""
DECIMALS = 4
_FROM = " from "


class Lasting(NamedTuple):
    """What a word is about, from moment `since` to `until`; `texts` are shorter ones for it."""

    since: float
    until: float
    texts: Sequence[str]


def from_moment(name: str, x: float) -> str:
    """The name of a shape that is there from moment `x` on: ``callout from 6``."""
    return f"{name}{_FROM}{x:g}"


def since(name: str | None) -> float | None:
    """From when on a shape of this name is there; None for one that is there all the time."""
    _, separator, x = (name or "").partition(_FROM)
    return float(x) if separator else None


def row_of(
    x: float, text: str, size: float, anchor: str, since: float | Lasting | None
) -> list[Any]:
    """The row of a word that stands at `x`; without `since` it is known from its place on."""
    at = round(x, DECIMALS)
    if not isinstance(since, Lasting):
        return [max(floor(x + 0.001), -1) if since is None else since, at]
    versions = [[t, round(width_of(t, size))] for t in dict.fromkeys((text, *since.texts))]
    return [since.since, at, since.until, int(anchor == "center"), versions]


def seen_until(step: int, unit: float) -> float:
    """Where the mask begins at a step; `unit` are the pixels of a moment."""
    return step + max(1 - MASK_EDGE / unit, 0.5)


def placed(row: Sequence[Any], step: int, unit: float) -> tuple[float | None, str | None]:
    """Where a row's word stands at a step (None: nowhere), and its text (None: the whole one's)."""
    start, x, *lasting = row
    if start > step:
        return None, None
    if not lasting or lasting[0] <= step + 1:
        return x, None
    _, centred, versions = lasting
    room = (seen_until(step, unit) - start) * unit
    text, wide = next((v for v in versions if v[1] + PAD <= room), versions[-1])
    return (start + max(room, wide + PAD) / 2 / unit if centred else x), text


def mask_until(drawing: Json, until: int | None) -> Json:
    """`drawing` itself, what comes after moment `until` masked in it; nothing where that is None.

    `until` is the play's own number also where moments are folded or left out. The last moment has
    nothing after it, and so no mask.
    """
    for number, change in shapes_at(drawing, until).items():
        drawing["layout"]["shapes"][number].update(change)
    for number, change in traces_at(drawing, until).items():
        drawing["data"][number].update(change)
    return drawing


def shapes_at(drawing: Json, until: int | None) -> dict[int, Json]:
    """By the number of a shape that moves: whether it shows at a moment, and between which x."""
    layout = drawing["layout"]
    x, is_masked = _column(layout["meta"], until)
    changes: dict[int, Json] = {}
    for number, shape in enumerate(layout.get("shapes", ())):
        name = shape.get("name")
        start = since(name)
        if start is not None:
            changes[number] = {"visible": start <= x}
        elif name == "cursor":
            changes[number] = {"visible": is_masked, "x0": x, "x1": x}
        elif name == "mask":
            unit = _unit(layout, shape.get("xref"))
            ends = {"x0": seen_until(x, unit), "x1": layout["meta"]["end"] + 2 / unit}
            changes[number] = {"visible": is_masked, **ends}
    return changes


def _column(meta: Json, until: int | None) -> tuple[int, bool]:
    """Where moment `until` stands, and whether anything comes after it."""
    end = meta["end"]
    x = end if until is None else max(column_of(meta.get("columns", ()), end, until), 0)
    return x, x < end - 1


def traces_at(drawing: Json, until: int | None) -> dict[int, Json]:
    """By the number of a trace: its words as they are at a moment; no verdict under a mask."""
    layout = drawing["layout"]
    x, is_masked = _column(layout["meta"], until)
    at = x if is_masked else layout["meta"]["end"]
    changes: dict[int, Json] = {}
    for number, trace in enumerate(drawing["data"]):
        if trace.get("customdata") is not None:
            unit, xs, texts = _unit(layout, trace.get("xaxis")), [], []
            for row, text in zip(trace["customdata"], trace["text"], strict=True):
                place, version = placed(row, at, unit)
                xs.append(place)
                texts.append(version or (row[4][0][0] if len(row) > 2 else None) or text)
            changes[number] = {"x": xs, "text": texts}
        elif trace.get("name") == "verdict":
            changes[number] = {"visible": not is_masked}
    return changes


def _unit(layout: Json, reference: Any) -> float:
    """Pixels of a moment on the x axis of that name, the first if None."""
    axis = layout[(reference or "x").replace("x", "xaxis", 1)]
    (left, right), (start, stop) = axis["range"], axis.get("domain") or (0, 1)
    return float(layout["width"] * (stop - start) / (right - left))
