"""A step player in the page itself: slider and buttons that move the mask without a kernel."""

from collections.abc import Sequence
from typing import Any

import msgspec

from ..figures.drawing.still_picture import rounded
from ..figures.drawing.svg import Json
from ..figures.timeline.mask import MASK_EDGE, PAD, shapes_at
from ..figures.timeline.sheet import axis_rows
from ..rows.columns import Rows
from .page_files import page_file

PLOTLY_SIZE = (700, 450)
"""Pixels of a figure that does not say how large it is."""
_BUTTONS = ("First", "Back", "Play", "Step", "Last")


class PlayerStep(msgspec.Struct, frozen=True):
    """A picture at one step: where the mask moves, the cursor's column, whether a verdict shows."""

    mask: dict[str, Any]
    x: float
    verdict: bool


class PlayerPicture(msgspec.Struct, frozen=True):
    """A picture `width` by `height` pixels: its steps, the traces of its verdicts, and plotly's
    data and layout. They are None for the first one, which stands in the page already; others
    borrow the words of their cards from it where they lack them.
    """

    width: int
    height: int
    steps: tuple[PlayerStep, ...] = ()
    verdicts: tuple[int, ...] = ()
    drawing: dict[str, Any] | None = None


class Carried(msgspec.Struct, frozen=True):
    """What the script is given: the same picture in several widths, the widest first; what happens
    at each step; the one shown at first; the number of the first, which is not 0 where a range was
    zoomed in on; what `held` measures with; a dark colour for each light one, None to stay light.
    """

    pictures: tuple[PlayerPicture, ...]
    labels: tuple[str, ...] = ()
    initial: int = 0
    first: int = 0
    edge: int = MASK_EDGE
    pad: int = PAD
    dark: dict[str, str] | None = None


def carried(
    drawings: Sequence[Json], runs: tuple[Rows, ...], dark: dict[str, str] | None = None
) -> Carried:
    """All that the script has to know of a run's picture, drawn in one width or more.

    What is shown at first is what the first shows: all of it, unless it was drawn with `until`.
    There are no labels, and nothing can be stepped, where the picture has no mask to be moved.
    """
    columns, shapes = _columns(drawings[0]), drawings[0]["layout"].get("shapes", ())
    cursor = next((shape for shape in shapes if shape.get("name") == "cursor"), None)
    if cursor is None or columns[0][0] == columns[-1][1]:
        return Carried(_pictures(drawings, range(0)), dark=dark)
    moments = range(columns[0][0], columns[-1][1] + 1)
    rows = axis_rows(runs)
    labels = {moment.x: moment.label for moment in rows.moments}
    if rows.meta.numbers:
        labels = {x: f"{rows.meta.numbers[x]} {label}" for x, label in labels.items()}
    return Carried(
        pictures=_pictures(drawings, moments),
        labels=tuple(labels.get(x, "") for x in moments),
        initial=columns[int(cursor["x0"])][1] if cursor["visible"] else moments[-1],
        first=moments[0],
        dark=dark,
    )


def _columns(drawing: Json) -> Sequence[Sequence[int]]:
    """The first and last moment in each column of a picture; one column for one that has none."""
    meta = drawing["layout"].get("meta") or {}
    return meta.get("columns") or [(x, x) for x in range(meta.get("end", 1))]


def _pictures(drawings: Sequence[Json], moments: range) -> tuple[PlayerPicture, ...]:
    first, *others = drawings
    pictures = [_picture(first, moments)]
    pictures += [
        _picture(other, moments, _without_cards(with_few_decimals(other), first))
        for other in others
    ]
    return tuple(pictures)


def _without_cards(drawing: Json, first: Json) -> Json:
    """Without the words of hover cards that the first picture, in the same order, has too."""
    texts = {trace.get("name"): trace.get("text") for trace in first["data"]}
    for trace in drawing["data"]:
        if trace["name"] == "cards" and trace["text"] == texts.get("cards"):
            del trace["text"]
    return drawing


def _picture(drawing: Json, moments: range, carried: Json | None = None) -> PlayerPicture:
    wide, high = size_of(drawing)
    return PlayerPicture(
        width=wide,
        height=high,
        steps=tuple(_step(drawing, x) for x in moments),
        verdicts=tuple(n for n, t in enumerate(drawing["data"]) if t.get("name") == "verdict"),
        drawing=carried,
    )


def size_of(drawing: Json) -> tuple[int, int]:
    layout = drawing["layout"]
    return int(layout.get("width") or PLOTLY_SIZE[0]), int(layout.get("height") or PLOTLY_SIZE[1])


def with_few_decimals(drawing: Json) -> Json:
    """Plotly's data and layout, with no more decimals than pixels need."""
    layout = {key: value for key, value in drawing["layout"].items() if key != "template"}
    drawing_rounded: Json = rounded({"data": drawing["data"], "layout": layout})
    return drawing_rounded


def _step(drawing: Json, moment: int) -> PlayerStep:
    """Where masks and cursors are at a moment: one each per column of panels."""
    moved = shapes_at(drawing, moment)
    mask = {
        f"shapes[{number}].{key}": rounded(value)
        for number, change in moved.items()
        for key, value in change.items()
    }
    shapes = drawing["layout"]["shapes"]
    cursor = next(change for n, change in moved.items() if shapes[n].get("name") == "cursor")
    return PlayerStep(mask, cursor["x0"], not cursor["visible"])


def player(carried: Carried, id: str) -> str:
    """Slider and buttons as HTML, to stand above the figure whose place is called ``{id}-plot``;
    empty where there are no steps. `id` must be a word safe in HTML.
    """
    if not carried.labels:
        return ""
    buttons = " ".join(
        f'<button type="button" data-do="{name.lower()}">{name}</button>' for name in _BUTTONS
    )
    last = carried.first + len(carried.labels) - 1
    about = {"first": carried.first, "last": last, "initial": carried.initial}
    return page_file("player.html").format(id=id, buttons=buttons, **about)


def player_script(carried: Carried, id: str, key: str) -> str:
    """What moves the mask, and fits the picture to the page: to stand below the figure.

    `key` names the step in the page's address: ``#key=6``. Both must be words safe in HTML.
    """
    script = page_file("player.js")
    return page_file("player_script.html").format(
        id=id, key=key, carried=script_safe(carried), script=script
    )


def script_safe(value: object) -> str:
    """JSON that can stand in a script element: its less-than signs are written by number."""
    return msgspec.json.encode(value).decode().replace("<", "\\u003c")
