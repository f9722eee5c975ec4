"""How a set of KIPs is drawn, the same in every picture: a colour, a shape and a dash."""

from collections.abc import Sequence
from math import cos, pi, sin
from typing import NamedTuple

from ..drawing.canvas import Canvas
from ..drawing.theme import Theme
from .fleet_words import NO_KIPS

Points = Sequence[tuple[float, float]]
RADIUS = 4.5
BAND_OPACITY = 0.16


class PlotStyle(NamedTuple):
    """A colour of the theme by name, a shape, a dash of a line."""

    color: str
    shape: str
    dash: str

    def paint(self, theme: Theme) -> str:
        """The colour itself."""
        return str(getattr(theme, self.color))


_KNOWN = {
    NO_KIPS: PlotStyle("gone", "circle", "solid"),
    "841": PlotStyle("message", "square", "6px,3px"),
    "903": PlotStyle("refused", "diamond", "2px,2px"),
    "841+903": PlotStyle("safe_text", "triangle", "solid"),
}
_OTHERS = (
    PlotStyle("text", "cross", "8px,3px,2px,3px"),
    PlotStyle("message", "triangle", "solid"),
    PlotStyle("refused", "square", "solid"),
    PlotStyle("gone", "diamond", "6px,3px"),
    PlotStyle("safe_text", "circle", "2px,2px"),
    PlotStyle("muted", "square", "6px,3px"),
    PlotStyle("text", "diamond", "solid"),
)


def styles_of(names: Sequence[str]) -> dict[str, PlotStyle]:
    """A style for each; sets that everybody knows always have the same."""
    others = [name for name in names if name not in _KNOWN]
    given = {name: _OTHERS[n % len(_OTHERS)] for n, name in enumerate(others)}
    return {name: _KNOWN.get(name) or given[name] for name in names}


def polyline(
    canvas: Canvas, points: Points, color: str, *, dash: str = "solid", width: float = 2
) -> None:
    """A line through points in pixels."""
    if len(points) < 2:
        return
    stroke = {"color": color, "width": width, "dash": dash}
    shape = {"type": "path", "path": _path(points), "line": stroke, "layer": "below"}
    canvas.shapes.append(shape)


def band(canvas: Canvas, upper: Points, lower: Points, color: str) -> None:
    """The room between two lines."""
    if len(upper) < 2:
        return
    around = f"{_path([*upper, *reversed(lower)])}Z"
    shape = {"type": "path", "path": around, "line": {"width": 0}, "layer": "below"}
    canvas.shapes.append({**shape, "fillcolor": color, "opacity": BAND_OPACITY})


def _path(points: Points) -> str:
    return "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in points)


def plot_mark(
    canvas: Canvas, x: float, y: float, shape: str, color: str, *, hollow: bool = False
) -> None:
    """A mark; what was not seen is hollow."""
    fill = canvas.theme.paper if hollow else color
    if shape == "circle":
        around = {"x0": x - RADIUS, "x1": x + RADIUS, "y0": y - RADIUS, "y1": y + RADIUS}
        drawn = {"type": "circle", **around, "fillcolor": fill, "layer": "below"}
        canvas.shapes.append({**drawn, "line": {"color": color, "width": 1.8}})
    else:
        canvas.path(f"{_path(_corners(x, y, shape))}Z", color, fill=fill, width=1.8)


def _corners(x: float, y: float, shape: str) -> Points:
    turns = {"square": (4, 1 / 4), "diamond": (4, 0), "triangle": (3, -1 / 2)}
    if shape == "cross":
        return _cross(x, y)
    count, turn = turns[shape]
    size = RADIUS * {"square": 1.3, "diamond": 1.3, "triangle": 1.4}[shape]
    angles = [(2 * n / count + turn) * pi for n in range(count)]
    return [(x + size * cos(angle), y + size * sin(angle)) for angle in angles]


def _cross(x: float, y: float) -> Points:
    """A plus with arms as thick as can be seen."""
    thin, long = RADIUS * 0.35, RADIUS * 1.2
    quarter = [(thin, -long), (thin, -thin), (long, -thin)]
    found: list[tuple[float, float]] = []
    for n in range(4):
        c, s = round(cos(n * pi / 2)), round(sin(n * pi / 2))
        found += [(x + c * dx - s * dy, y + s * dx + c * dy) for dx, dy in quarter]
    return found


def legend_sample(
    canvas: Canvas, right: float, y: float, style: PlotStyle, *, hollow: bool = False
) -> None:
    """A piece of a line with its mark, to the left of its name."""
    color = style.paint(canvas.theme)
    polyline(canvas, [(right - 28, y), (right - 6, y)], color, dash=style.dash)
    plot_mark(canvas, right - 17, y, style.shape, color, hollow=hollow)


def bound_arrow(canvas: Canvas, x: float, y: float, color: str, *, length: float = 20) -> None:
    """Down from an upper bound: somewhere below."""
    canvas.line(x, y, x, y + length, color, width=1.6)
    canvas.head(x, y, x, y + length, color, 8)
