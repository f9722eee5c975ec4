"""A chart laid flat: its axes and traces as shapes and words in pixels, as `svg` draws them.

Knows what `how_often.plot_panel` asks plotly for: lines, areas, marks, error bars, bars, heat maps,
and axes that say themselves where their ticks are. The sheet's own x axis counts pixels.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from math import cos, log10, pi, sin
from typing import Any, NamedTuple

from .text_width import height_of, width_of
from .theme import mixed

Json = dict[str, Any]
Point = tuple[float, float]
TICK_LABEL, TITLE, TICK = 14, 32, 5
"""Pixels from the end of a panel down to the middle of its numbers, to its title, of a tick."""
BESIDE = 7
"""Pixels from a panel to the numbers on its left."""
_ANCHORS = {"left": "middle right", "center": "middle center", "right": "middle left"}


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
    shapes = [shape for pair in pairs for shape in _grid(*pair)]
    shapes += [shape for t in traces for shape in _shapes(t, *on[t["xaxis"]])]
    words = [word for pair in pairs for word in _axis_words(*pair)]
    for note in layout.get("annotations", ()):
        plate, word = _note(note, *on[note["xref"]])
        shapes, words = [*shapes, plate], [*words, word]
    sheet = [t for t in drawing["data"] if t not in traces]
    flat_layout = {key: layout[key] for key in layout if key != "annotations"}
    flat_layout["shapes"] = [*layout.get("shapes", ()), *shapes]
    x, y, text, anchors, size, color = zip(*words, strict=True) if words else ((),) * 6
    written: Json = {
        "type": "scatter",
        "mode": "text",
        "name": "panels",
        "x": x,
        "y": y,
        "text": text,
    }
    written["textposition"] = [_ANCHORS[anchor] for anchor in anchors]
    written["textfont"] = {"size": size, "color": color}
    return {"data": [*sheet, written], "layout": flat_layout}


def _panels(layout: Json) -> Iterator[tuple[PanelScale, PanelScale]]:
    for key, axis in layout.items():
        if key.startswith("xaxis") and is_panel_axis(axis):
            across = {**axis, "name": key.replace("xaxis", "x")}
            up = layout[axis["anchor"].replace("y", "yaxis")]
            sizes = layout["width"], layout["height"]
            yield PanelScale(across, sizes[0], True), PanelScale(up, sizes[1], False)


def _grid(x: PanelScale, y: PanelScale) -> Iterator[Json]:
    left, right, low, top = *x.ends, *y.ends
    for scale, ends in ((x, (low, top)), (y, (left, right))):
        axis = scale.axis
        for value in axis["tickvals"] if axis["showgrid"] else ():
            yield _line(scale, scale.pixel(value), ends, axis["gridcolor"])
        for value in axis["tickvals"] if axis["ticks"] else ():
            yield _line(scale, scale.pixel(value), (low, low + TICK), axis["tickcolor"])
    for scale, at, ends in ((x, left, (low, top)), (y, low, (left, right))):
        other = y if scale is x else x
        if other.axis["showline"]:
            yield _line(scale, at, ends, other.axis["linecolor"])


def _line(scale: PanelScale, at: float, ends: Point, color: str) -> Json:
    points = [(at, end) for end in ends] if scale.across else [(end, at) for end in ends]
    return _path(points, {"color": color, "width": 1})


def _path(points: Sequence[Point], line: Json, fill: str = "", **more: Any) -> Json:
    path = "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in points) + ("Z" if fill else "")
    shape = {"type": "path", "path": path, "line": line, "layer": "below", **more}
    return {**shape, "fillcolor": fill} if fill else shape


Word = tuple[float, float, str, str, float, str]
"""A text of the sheet: its place in pixels, its anchor, size and colour."""


def _axis_words(x: PanelScale, y: PanelScale) -> Iterator[Word]:
    font, title = x.axis["tickfont"], x.axis["title"]
    low, middle = y.ends[0], sum(x.ends) / 2
    look = font["size"], font["color"]
    for value, text in zip(x.axis["tickvals"], x.axis["ticktext"], strict=True):
        at = low + (TICK_LABEL if x.axis["side"] == "bottom" else -TICK_LABEL / 2)
        yield (x.pixel(value), at, text, "center", *look)
    for value, text in zip(y.axis["tickvals"], y.axis["ticktext"], strict=True):
        yield (x.ends[0] - BESIDE, y.pixel(value), text, "right", *look)
    if title["text"]:
        yield (middle, low + TITLE, title["text"], "center", *look)


def _note(note: Json, x: PanelScale, y: PanelScale) -> tuple[Json, Word]:
    """The plate of an annotation, and its words."""
    at, font, anchor = x.at(note["x"]) + note["xshift"], note["font"], note["xanchor"]
    text, size, y_middle = note["text"], font["size"], y.at(note["y"])
    wide, high = width_of(text, size), height_of(text, size) / 2
    left = at - wide * {"left": 0, "center": 0.5, "right": 1}[anchor]
    ends = left - note["borderpad"], left + wide + note["borderpad"], y_middle - high
    plate = _rect(*ends, y_middle + high, note["bgcolor"], {"width": 0})
    return plate, (at, y_middle, text, anchor, size, font["color"])


def _shapes(trace: Json, x: PanelScale, y: PanelScale) -> Iterator[Json]:
    if trace["type"] == "heatmap":
        yield from _cells(trace, x, y)
    elif trace["type"] == "bar":
        yield from _bars(trace, x, y)
    else:
        places = list(zip(trace["x"], trace["y"], strict=True))
        points = [None if None in at else (x.pixel(at[0]), y.pixel(at[1])) for at in places]
        if "lines" in trace["mode"]:
            yield from _lines(trace, points)
        yield from _error_bars(trace, places, (x.pixel, y.pixel))
        if "markers" in trace["mode"]:
            yield from _marks(trace["marker"], points)


def _lines(trace: Json, points: Sequence[Point | None]) -> Iterator[Json]:
    fill = trace["fillcolor"] if trace.get("fill") == "toself" else ""
    more = {"opacity": trace["opacity"]} if "opacity" in trace else {}
    for is_gap, group in groupby(points, key=lambda point: point is None):
        if not is_gap:
            yield _path([point for point in group if point], trace["line"], fill, **more)


def _error_bars(
    trace: Json, places: Sequence[Any], pixel: tuple[Callable[[float], float], ...]
) -> Iterator[Json]:
    for way, key in enumerate(("error_x", "error_y")):
        bars = trace.get(key) or {"array": (), "arrayminus": ()}
        for at, less, more in zip(places, bars["arrayminus"], bars["array"], strict=False):
            ends = [list(at), list(at)]
            ends[0][way], ends[1][way] = at[way] - less, at[way] + more
            line = {"color": bars["color"], "width": bars["thickness"]}
            yield _path([(pixel[0](a), pixel[1](b)) for a, b in ends], line)


def _marks(marker: Json, points: Sequence[Point | None]) -> Iterator[Json]:
    count = len(points)
    symbols, sizes, fills = (_each(marker[key], count) for key in ("symbol", "size", "color"))
    for point, symbol, size, fill in zip(points, symbols, sizes, fills, strict=True):
        if point is not None and size:
            yield _mark(point, symbol, size / 2, fill, marker["line"])


def _each(value: Any, count: int) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else [value] * count


_TURNS = {"square": (4, 1 / 4), "diamond": (4, 0), "triangle-up": (3, -1 / 2)}
_TURNS["triangle-down"] = (3, 1 / 2)


def _mark(point: Point, symbol: str, radius: float, fill: str, line: Json) -> Json:
    x, y = point
    if symbol == "circle":
        ends = {"x0": x - radius, "x1": x + radius, "y0": y - radius, "y1": y + radius}
        return {"type": "circle", **ends, "fillcolor": fill, "line": line, "layer": "below"}
    if symbol == "cross":
        thin, long = radius * 0.35, radius * 1.2
        arm = [(thin, -long), (thin, -thin), (long, -thin)]
        turns = [(round(cos(n * pi / 2)), round(sin(n * pi / 2))) for n in range(4)]
        return _path(
            [(x + c * a - s * b, y + s * a + c * b) for c, s in turns for a, b in arm], line, fill
        )
    count, turn = _TURNS[symbol]
    angles = [(2 * n / count + turn) * pi for n in range(count)]
    size = radius * 1.3
    return _path([(x + size * cos(a), y + size * sin(a)) for a in angles], line, fill)


def _bars(trace: Json, x: PanelScale, y: PanelScale) -> Iterator[Json]:
    half, marker = trace["width"] / 2, trace["marker"]
    columns = trace["base"], trace["x"], trace["y"], _each(marker["color"], len(trace["x"]))
    for base, wide, middle, fill in zip(*columns, strict=True):
        ends = x.pixel(base), x.pixel(base + wide), y.pixel(middle - half), y.pixel(middle + half)
        yield _rect(*ends, fill, marker["line"])


def _cells(trace: Json, x: PanelScale, y: PanelScale) -> Iterator[Json]:
    gap, span = trace["xgap"] / 2, trace["zmax"] - trace["zmin"]
    for j, row in zip(trace["y"], trace["z"], strict=True):
        for i, z in zip(trace["x"], row, strict=True):
            if z is not None:
                across = x.pixel(i - 0.5) + gap, x.pixel(i + 0.5) - gap
                down = y.pixel(j + 0.5) + gap, y.pixel(j - 0.5) - gap
                fill = color_at(trace["colorscale"], (z - trace["zmin"]) / span)
                yield _rect(*across, *down, fill, {"width": 0})


def _rect(x0: float, x1: float, y0: float, y1: float, fill: str, line: Json) -> Json:
    ends = {"x0": x0, "x1": x1, "y0": y0, "y1": y1}
    return {"type": "rect", **ends, "fillcolor": fill, "line": line, "layer": "below"}


def color_at(scale: Sequence[tuple[float, str]], share: float) -> str:
    """The colour so far along a scale of plotly's, from 0 to 1."""
    after = next(n for n, (at, _) in enumerate(scale) if n and share <= at)
    (low, first), (high, last) = scale[after - 1], scale[after]
    return mixed(first, last, (share - low) / (high - low) if high > low else 0.0)
