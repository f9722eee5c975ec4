"""Where the veil of a picture is at a moment, and what its words say then: moved without plotly.

A picture is plotly's data and layout in plain dicts, or a figure made of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...rows.columns import column_of
from ..drawing.svg import Json
from . import veil

if TYPE_CHECKING:
    import plotly.graph_objects as go

_MOVED = ("veil", "cursor")


def veil_until(drawing: Json, until: int | None) -> Json:
    """`drawing` itself, what comes after moment `until` veiled in it; nothing where that is None.

    `until` is the play's own number also where moments are folded or left out. The last moment has
    nothing after it, and so no veil.
    """
    for number, change in shapes_at(drawing, until).items():
        drawing["layout"]["shapes"][number].update(change)
    for number, change in _traces_at(drawing, until).items():
        drawing["data"][number].update(change)
    return drawing


def move_cursor(figure: go.Figure, until: int | None) -> None:
    """Veil what comes after moment `until`, or nothing, and leave the words that are known then.

    As `veil_until`, in a figure that is there already.
    """
    drawing = figure.to_plotly_json()
    for number, change in shapes_at(drawing, until).items():
        figure.layout.shapes[number].update(change)
    for number, change in _traces_at(drawing, until).items():
        figure.data[number].update(change)


def shapes_at(drawing: Json, until: int | None) -> dict[int, Json]:
    """By the number of a shape that moves: whether it shows at a moment, and between which x."""
    layout = drawing["layout"]
    x, is_veiled = _column(layout["meta"], until)
    found: dict[int, Json] = {}
    for number, shape in enumerate(layout.get("shapes", ())):
        start = veil.since(shape.get("name"))
        if start is not None:
            found[number] = {"visible": start <= x}
        elif shape.get("name") in _MOVED:
            ends = _ends(layout, shape, x)
            found[number] = {"visible": is_veiled, "x0": ends[0], "x1": ends[1]}
    return found


def _column(meta: Json, until: int | None) -> tuple[int, bool]:
    """Where moment `until` stands, and whether anything comes after it."""
    end = meta["end"]
    x = end if until is None else max(column_of(meta.get("columns", ()), end, until), 0)
    return x, x < end - 1


def _ends(layout: Json, shape: Json, x: int) -> tuple[float, float]:
    if shape["name"] != "veil":
        return x, x
    unit = _unit(layout, shape.get("xref"))
    return veil.seen_until(x, unit), layout["meta"]["end"] + 2 / unit


def _traces_at(drawing: Json, until: int | None) -> dict[int, Json]:
    """By the number of a trace: its words as they are at a moment; no verdict under a veil."""
    layout = drawing["layout"]
    x, is_veiled = _column(layout["meta"], until)
    found: dict[int, Json] = {}
    for number, trace in enumerate(drawing["data"]):
        if trace.get("customdata") is not None:
            at = x if is_veiled else layout["meta"]["end"]
            found[number] = _words_at(trace, at, _unit(layout, trace.get("xaxis")))
        elif trace.get("name") == "verdict":
            found[number] = {"visible": not is_veiled}
    return found


def _words_at(trace: Json, x: int, unit: float) -> Json:
    """All of a trace's words where they stand at `x`, saying what they say there."""
    found = [veil.placed(row, x, unit) for row in trace["customdata"]]
    whole = [row[4][0][0] if len(row) > 2 else None for row in trace["customdata"]]
    said = zip(found, whole, trace["text"], strict=True)
    texts = [new or all_ or old for (_, new), all_, old in said]
    return {"x": [x for x, _ in found], "text": texts}


def _unit(layout: Json, reference: Any) -> float:
    """Pixels of a moment on the x axis of that name, the first if None."""
    axis = layout[(reference or "x").replace("x", "xaxis", 1)]
    (left, right), (start, stop) = axis["range"], axis.get("domain") or (0, 1)
    return float(layout["width"] * (stop - start) / (right - left))
