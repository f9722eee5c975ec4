"""A part of a sheet with axes of its own, on which plotly draws lines, marks, bars and cells."""

from collections.abc import Sequence
from math import log10
from typing import Any, NamedTuple

from ..drawing.canvas import Box, Canvas, safe
from ..drawing.svg import Json
from ..drawing.theme import Theme
from .fleet_words import NO_KIPS
from .plot_axis import PlotAxis

MARK = 9
"""Pixels across a mark."""
BAND_OPACITY = 0.16
Card = Sequence[str]
"""The lines of a hover card."""
Floats = Sequence[float]
Values = Sequence[float | None]
"""Places on an axis, with gaps."""
Span = tuple[float, float]


class PlotStyle(NamedTuple):
    """How a line is drawn: a colour of the theme by name, a shape, a dash."""

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
    "841+903": PlotStyle("safe_text", "triangle-up", "solid"),
}
_OTHERS = (
    PlotStyle("text", "cross", "8px,3px,2px,3px"),
    PlotStyle("message", "triangle-up", "solid"),
    PlotStyle("refused", "square", "solid"),
    PlotStyle("gone", "diamond", "6px,3px"),
    PlotStyle("safe_text", "circle", "2px,2px"),
    PlotStyle("muted", "square", "6px,3px"),
    PlotStyle("text", "diamond", "solid"),
)


def styles_of(names: Sequence[str]) -> dict[str, PlotStyle]:
    """A style for each set of KIPs; the common ones have the same in every picture."""
    others = [name for name in names if name not in _KNOWN]
    chosen = {name: _OTHERS[n % len(_OTHERS)] for n, name in enumerate(others)}
    return {name: _KNOWN.get(name) or chosen[name] for name in names}


class PlotPanel:
    """A box of a sheet; values of `x` grow to the right, those of `y` upwards."""

    def __init__(self, canvas: Canvas, box: Box, x: PlotAxis, y: PlotAxis) -> None:
        self.canvas, self.box, self.x, self.y = canvas, box, x, y
        self.traces: list[Json] = []
        self.notes: list[Json] = []
        self._number = len(canvas.panels) + 2
        canvas.panels.append(self)

    def px(self, value: float) -> float:
        """Pixels from the left of the sheet."""
        return self.box.x0 + self.x.share(value) * (self.box.x1 - self.box.x0)

    def py(self, value: float) -> float:
        """Pixels from the top of the sheet."""
        return self.box.y1 - self.y.share(value) * (self.box.y1 - self.box.y0)

    def layout(self, height: float) -> Json:
        """Both axes, on a sheet of that height."""
        box, n = self.box, self._number
        across = [box.x0 / self.canvas.width, box.x1 / self.canvas.width]
        up = [1 - box.y1 / round(height), 1 - box.y0 / round(height)]
        return {
            f"xaxis{n}": self._axis(self.x, across, f"y{n}"),
            f"yaxis{n}": self._axis(self.y, up, f"x{n}"),
        }

    def _axis(self, axis: PlotAxis, domain: list[float], anchor: str) -> Json:
        theme = self.canvas.theme
        font = {"size": self.canvas.sizes.small, "color": theme.muted}
        return {
            "type": "log" if axis.log else "linear",
            "range": axis.range(),
            "domain": domain,
            "anchor": anchor,
            "side": "bottom" if anchor[0] == "y" else "left",
            "tickvals": [tick.value for tick in axis.marks],
            "ticktext": [tick.text for tick in axis.marks],
            "tickfont": font,
            "ticklabelstandoff": 0 if axis.outside else 4,
            "ticks": "outside" if axis.outside else "",
            "tickcolor": theme.line,
            "showgrid": bool(axis.marks),
            "gridcolor": theme.grid,
            "zeroline": False,
            "showline": axis.line,
            "linecolor": theme.line,
            "title": {"text": safe(axis.title), "font": font, "standoff": 5},
            "fixedrange": True,
        }

    def add(self, *, cards: Sequence[Card] = (), **trace: Any) -> None:
        """A trace of plotly's on these axes: a scatter trace, unless it says otherwise."""
        axes = {"xaxis": f"x{self._number}", "yaxis": f"y{self._number}"}
        if cards:
            trace["hovertext"] = [card_html(card) for card in cards]
        hover = "text" if "hovertext" in trace else "skip"
        self.traces.append({"type": "scatter", **axes, "hoverinfo": hover, **trace})

    def line(self, xs: Values, ys: Values, color: str, **stroke: Any) -> None:
        """A line with gaps where a value is None; `stroke` may have `width`, `dash`, `shape`."""
        line = {"color": color, "width": 2, "dash": "solid", **stroke}
        self.add(mode="lines", x=list(xs), y=list(ys), line=line, cliponaxis=False)

    def upright(self, value: float, color: str, **stroke: Any) -> None:
        """A line from the lower edge to the upper one."""
        self.line([value, value], [self.y.low, self.y.high], color, **stroke)

    def band(self, xs: Floats, low: Floats, high: Floats, color: str) -> None:
        """The area between two lines."""
        ys = [self.y.nearest(value) for value in (*high, *reversed(low))]
        area: Json = {"fill": "toself", "fillcolor": color, "opacity": BAND_OPACITY}
        around: Json = {"x": [*xs, *reversed(xs)], "y": ys}
        self.add(mode="lines", **around, line={"width": 0}, **area)

    def marks(
        self,
        xs: Floats,
        ys: Floats,
        shape: str,
        color: str,
        *,
        hollow: Sequence[bool] = (),
        sizes: Floats = (),
        **more: Any,
    ) -> None:
        """Marks; `hollow` ones were not seen; those of size 0 have only `cards` and error bars."""
        paper = self.canvas.theme.paper
        fills = [paper if empty else color for empty in hollow] or color
        marker = {"symbol": shape, "opacity": 1, "size": list(sizes) or MARK, "color": fills}
        marker["line"] = {"color": color, "width": 1.8}
        self.add(mode="markers", x=list(xs), y=list(ys), marker=marker, cliponaxis=False, **more)

    def bars(
        self, spans: Sequence[Span], rows: Floats, color: str, high: float, **more: Any
    ) -> None:
        """A bar on each row, so `high` in rows; it may have an `edge` and `cards`."""
        marker = {"color": color, "line": more.pop("edge", {"width": 0})}
        place: Json = {"base": [start for start, _ in spans], "y": list(rows), "width": high}
        wide = [end - start for start, end in spans]
        self.add(type="bar", orientation="h", x=wide, **place, marker=marker, **more)

    def note(self, x: float, y: float, text: str, size: float = 0, **annotation: Any) -> None:
        """Words over all traces on a plate of paper; `annotation`: other keys for plotly."""
        theme, n = self.canvas.theme, self._number
        note = {"xref": f"x{n}", "yref": f"y{n}", "text": safe(text), "showarrow": False}
        note |= {"x": log10(x) if self.x.log else x, "y": log10(y) if self.y.log else y}
        note["font"] = {"size": size or self.canvas.sizes.text, "color": theme.text}
        ground = {"bgcolor": theme.paper, "borderpad": 2, "xanchor": "center", "xshift": 0}
        self.notes.append({**note, **ground, **annotation})


def card_html(card: Card) -> str:
    """A hover card as safe HTML."""
    return "<br>".join(safe(line) for line in card)


def error_bars(
    axis: PlotAxis, values: Floats, bounds: Sequence[Span], color: str, width: float
) -> Json:
    """Plotly's error bars along `axis`, from the low to the high one of each of the `bounds`."""
    ends = [(axis.nearest(low), axis.nearest(high)) for low, high in bounds]
    # A logarithmic axis has no 0: what is left of the difference must stay above it.
    pairs = zip(ends, values, strict=True)
    lows = [max(low, value * 1e-12) if axis.log else low for (low, _), value in pairs]
    return {
        "type": "data",
        "symmetric": False,
        "array": [high - value for (_, high), value in zip(ends, values, strict=True)],
        "arrayminus": [value - low for low, value in zip(lows, values, strict=True)],
        "color": color,
        "thickness": width,
        "width": 0,
    }
