"""A chart laid flat: its axes and traces as shapes and words of a canvas, as `svg` draws them.

Knows what `how_often.plot_panel` asks plotly for: lines, areas, marks, error bars, bars, heat maps,
and axes that say themselves where their ticks are. The sheet's own x axis counts pixels.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from math import cos, log10, pi, sin
from typing import Any, NamedTuple

from msgspec.structs import replace

from . import Json
from .canvas import Canvas
from .theme import LIGHT, WIDE, mixed

Point = tuple[float, float]
TICK_LABEL, TITLE, TICK = 14, 32, 5
"""Pixels from the end of a panel down to the middle of its numbers, to its title, of a tick."""
BESIDE = 7
"""Pixels from a panel to the numbers on its left."""


class PanelScale(NamedTuple):
    """An axis: its place on the sheet, and how it counts."""

    axis: Json
    size: float
    across: bool

    def pixel(self, value: float) -> float:
        """Pixels from the left or the top of a value."""
        return self.at(log10(value) if self.axis["type"] == "log" else value)

    def at(self, scaled: float) -> float:
        """The same of what plotly counts with: on a logarithmic axis a power of ten."""
        (first, last), (start, end) = self.axis["range"], self.axis["domain"]
        at = (start + (scaled - first) * (end - start) / (last - first)) * self.size
        return float(at if self.across else self.size - at)

    @property
    def ends(self) -> tuple[float, float]:
        """Where it begins and ends, in pixels from the left or the top."""
        start, end = (share * self.size for share in self.axis["domain"])
        return (start, end) if self.across else (self.size - start, self.size - end)


def is_panel_axis(axis: Json) -> bool:
    """Whether an axis is one of a panel: it says itself where its ticks are."""
    return "tickvals" in axis


def flat(drawing: Json) -> Json:
    """`drawing` itself where it has no panels; else the same with shapes and words alone."""
    layout = drawing["layout"]
    pairs = list(_panels(layout))
    if not pairs:
        return drawing
    on = {x.axis["name"]: (x, y) for x, y in pairs}
    traces = [t for t in drawing["data"] if (t.get("xaxis") or "x") in on]
    traces.sort(key=lambda trace: trace["type"] != "heatmap")
    sheet = [t for t in drawing["data"] if t not in traces]
    canvas = Canvas(layout["width"], layout["width"], LIGHT, replace(WIDE, left=0, right=0))
    for pair in pairs:
        _draw_axes(canvas, *pair)
    for trace in traces:
        _draw_trace(canvas, trace, *on[trace["xaxis"]])
    for pair in pairs:
        _write_axes(canvas, *pair)
    for note in layout.get("annotations", ()):
        _draw_note(canvas, note, *on[note["xref"]])
    flat_layout = {key: layout[key] for key in layout if key != "annotations"}
    flat_layout["shapes"] = [*layout.get("shapes", ()), *canvas.shapes]
    words = canvas.drawing(layout["height"], "")["data"]
    return {"data": [*sheet, *words], "layout": flat_layout}


def _panels(layout: Json) -> Iterator[tuple[PanelScale, PanelScale]]:
    for key, axis in layout.items():
        if key.startswith("xaxis") and is_panel_axis(axis):
            across = {**axis, "name": key.replace("xaxis", "x")}
            up = layout[axis["anchor"].replace("y", "yaxis")]
            sizes = layout["width"], layout["height"]
            yield PanelScale(across, sizes[0], True), PanelScale(up, sizes[1], False)


def _draw_axes(canvas: Canvas, x: PanelScale, y: PanelScale) -> None:
    left, right, low, top = *x.ends, *y.ends
    for scale, ends in ((x, (low, top)), (y, (left, right))):
        axis = scale.axis
        for value in axis["tickvals"] if axis["showgrid"] else ():
            _line(canvas, scale, scale.pixel(value), ends, axis["gridcolor"])
        for value in axis["tickvals"] if axis["ticks"] else ():
            _line(canvas, scale, scale.pixel(value), (low, low + TICK), axis["tickcolor"])
    for scale, at, ends, other in ((x, left, (low, top), y), (y, low, (left, right), x)):
        if other.axis["showline"]:
            _line(canvas, scale, at, ends, other.axis["linecolor"])


def _line(canvas: Canvas, scale: PanelScale, at: float, ends: Point, color: str) -> None:
    points = [(at, end) if scale.across else (end, at) for end in ends]
    _path(canvas, points, {"color": color, "width": 1})


def _path(canvas: Canvas, points: Sequence[Point], line: Json, fill: str = "", **more: Any) -> None:
    path = "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in points) + "Z" * bool(fill)
    canvas.path(path, fill=fill, line=line, **more)


def _write_axes(canvas: Canvas, x: PanelScale, y: PanelScale) -> None:
    font, title, low = x.axis["tickfont"], x.axis["title"]["text"], y.ends[0]
    look = {"color": font["color"], "size": font["size"], "layer": "panels"}
    under = low + (TICK_LABEL if x.axis["side"] == "bottom" else -TICK_LABEL / 2)
    for value, text in zip(x.axis["tickvals"], x.axis["ticktext"], strict=True):
        canvas.text(x.pixel(value), under, text, anchor="center", **look)
    for value, text in zip(y.axis["tickvals"], y.axis["ticktext"], strict=True):
        canvas.text(x.ends[0] - BESIDE, y.pixel(value), text, anchor="right", **look)
    if title:
        canvas.text(sum(x.ends) / 2, low + TITLE, title, anchor="center", **look)


def _draw_note(canvas: Canvas, note: Json, x: PanelScale, y: PanelScale) -> None:
    """The plate of an annotation, and its words."""
    at, middle, font = x.at(note["x"]) + note["xshift"], y.at(note["y"]), note["font"]
    text, size, anchor = note["text"], font["size"], note["xanchor"]
    box = canvas.box_of(at, middle, text, size, anchor)
    canvas.plate(box, note["bgcolor"], note["borderpad"])
    canvas.text(at, middle, text, font["color"], size=size, anchor=anchor, layer="panels")


def _draw_trace(canvas: Canvas, trace: Json, x: PanelScale, y: PanelScale) -> None:
    if trace["type"] == "heatmap":
        _draw_cells(canvas, trace, x, y)
    elif trace["type"] == "bar":
        _draw_bars(canvas, trace, x, y)
    else:
        places = list(zip(trace["x"], trace["y"], strict=True))
        points = [None if None in at else (x.pixel(at[0]), y.pixel(at[1])) for at in places]
        if "lines" in trace["mode"]:
            _draw_lines(canvas, trace, points)
        _draw_error_bars(canvas, trace, places, (x.pixel, y.pixel))
        if "markers" in trace["mode"]:
            _draw_marks(canvas, trace["marker"], points)


def _draw_lines(canvas: Canvas, trace: Json, points: Sequence[Point | None]) -> None:
    fill = trace["fillcolor"] if trace.get("fill") == "toself" else ""
    more = {"opacity": trace["opacity"]} if "opacity" in trace else {}
    for is_gap, group in groupby(points, key=lambda point: point is None):
        if not is_gap:
            _path(canvas, [point for point in group if point], trace["line"], fill, **more)


def _draw_error_bars(
    canvas: Canvas, trace: Json, places: Sequence[Any], pixel: tuple[Callable[[float], float], ...]
) -> None:
    for way, key in enumerate(("error_x", "error_y")):
        bars = trace.get(key) or {"array": (), "arrayminus": ()}
        for at, less, more in zip(places, bars["arrayminus"], bars["array"], strict=False):
            ends = [list(at), list(at)]
            ends[0][way], ends[1][way] = at[way] - less, at[way] + more
            line = {"color": bars["color"], "width": bars["thickness"]}
            _path(canvas, [(pixel[0](a), pixel[1](b)) for a, b in ends], line)


def _draw_marks(canvas: Canvas, marker: Json, points: Sequence[Point | None]) -> None:
    count = len(points)
    symbols, sizes, fills = (_each(marker[key], count) for key in ("symbol", "size", "color"))
    for point, symbol, size, fill in zip(points, symbols, sizes, fills, strict=True):
        if point is not None and size:
            _draw_mark(canvas, point, symbol, size / 2, fill, marker["line"])


def _each(value: Any, count: int) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else [value] * count


_TURNS = {"square": (4, 1 / 4), "diamond": (4, 0), "triangle-up": (3, -1 / 2)}
_TURNS["triangle-down"] = (3, 1 / 2)


def _draw_mark(
    canvas: Canvas, point: Point, symbol: str, radius: float, fill: str, line: Json
) -> None:
    x, y = point
    if symbol == "circle":
        canvas.ring(x, y, radius, fill, line["color"], line["width"])
        return
    if symbol == "cross":
        thin, long = radius * 0.35, radius * 1.2
        arm = [(thin, -long), (thin, -thin), (long, -thin)]
        turns = [(round(cos(n * pi / 2)), round(sin(n * pi / 2))) for n in range(4)]
        ends = [(x + c * a - s * b, y + s * a + c * b) for c, s in turns for a, b in arm]
    else:
        count, turn = _TURNS[symbol]
        angles = [(2 * n / count + turn) * pi for n in range(count)]
        ends = [(x + 1.3 * radius * cos(a), y + 1.3 * radius * sin(a)) for a in angles]
    _path(canvas, ends, line, fill)


def _draw_bars(canvas: Canvas, trace: Json, x: PanelScale, y: PanelScale) -> None:
    half, marker = trace["width"] / 2, trace["marker"]
    columns = trace["base"], trace["x"], trace["y"], _each(marker["color"], len(trace["x"]))
    for base, wide, middle, fill in zip(*columns, strict=True):
        ends = x.pixel(base), x.pixel(base + wide), y.pixel(middle - half), y.pixel(middle + half)
        canvas.rect(*ends, fill, line=marker["line"])


def _draw_cells(canvas: Canvas, trace: Json, x: PanelScale, y: PanelScale) -> None:
    gap, span = trace["xgap"] / 2, trace["zmax"] - trace["zmin"]
    for j, row in zip(trace["y"], trace["z"], strict=True):
        for i, z in zip(trace["x"], row, strict=True):
            if z is not None:
                across = x.pixel(i - 0.5) + gap, x.pixel(i + 0.5) - gap
                down = y.pixel(j + 0.5) + gap, y.pixel(j - 0.5) - gap
                fill = color_at(trace["colorscale"], (z - trace["zmin"]) / span)
                canvas.rect(*across, *down, fill)


def color_at(scale: Sequence[tuple[float, str]], share: float) -> str:
    """The colour so far along a scale of plotly's, from 0 to 1."""
    after = next(n for n, (at, _) in enumerate(scale) if n and share <= at)
    (low, first), (high, last) = scale[after - 1], scale[after]
    return mixed(first, last, (share - low) / (high - low) if high > low else 0.0)
