"""A sheet to draw on: shapes, words and hover cards collected as plain dicts.

x is in moments, y in pixels from the top. Words are points of scatter traces rather than
annotations, because a mask can be drawn over traces but never over annotations.
"""

from __future__ import annotations

import html
from collections.abc import Callable
from functools import wraps
from math import atan2, cos, sin
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, Protocol

from ...extras import needed_by
from ...rows.columns import Columns
from ..timeline.mask import Lasting, row_of
from .svg import Json
from .text_width import height_of, width_of
from .theme import FONT, Sizes, Theme

if TYPE_CHECKING:
    import plotly.graph_objects as go

P = ParamSpec("P")
HOVER_TARGET = 16
"""Diameter in pixels of the invisible markers that carry the hover cards."""
_ALIGN = {"left": "right", "center": "center", "right": "left"}


class Box(NamedTuple):
    """Pixels from the left and the top."""

    x0: float
    y0: float
    x1: float
    y1: float

    def overlaps(self, other: Box) -> bool:
        """Whether the two share any area."""
        across = self.x0 < other.x1 and other.x0 < self.x1
        return across and self.y0 < other.y1 and other.y0 < self.y1

    def within(self, other: Box) -> bool:
        """Whether this one lies in the other."""
        inside = self.x0 >= other.x0 and self.x1 <= other.x1
        return inside and self.y0 >= other.y0 and self.y1 <= other.y1


def safe(text: str) -> str:
    """`text` without meaning to plotly or a browser."""
    return html.escape(text, quote=False)


class CanvasPanel(Protocol):
    """A part of a canvas with axes of its own: plotly's traces, annotations and axes."""

    traces: list[Json]
    notes: list[Json]

    def layout(self, height: float) -> Json:
        """Its axes on a canvas of that height."""


class Canvas:
    """Collects a drawing `width` pixels wide whose plot shows moments 0 to `end`.

    In the picture of a view, `columns` are those of its rows, and x counts them.
    """

    def __init__(
        self, width: int, end: int, theme: Theme, sizes: Sizes, columns: Columns = ()
    ) -> None:
        self.width = width
        self.end = end
        self.columns = columns
        self.theme = theme
        self.sizes = sizes
        self.unit = (width - sizes.left - sizes.right) / end
        self.shapes: list[dict[str, Any]] = []
        self.taken: list[Box] = []
        self.soft: list[Box] = []
        self.said: list[Box] = []
        self.marks: list[list[Any]] = []
        """What `told_marks` found, for the layout's ``meta``."""
        self.panels: list[CanvasPanel] = []
        self._words: dict[str, dict[str, list[Any]]] = {}
        self._cards: dict[str, list[Any]] = {"x": [], "y": [], "text": []}

    def px(self, x: float) -> float:
        """Pixels from the left of moment `x`."""
        return self.sizes.left + x * self.unit

    def at(self, px: float) -> float:
        """The moment at `px` pixels from the left."""
        return (px - self.sizes.left) / self.unit

    # --- shapes ---------------------------------------------------------------------------------

    def rect(self, x0: float, x1: float, y0: float, y1: float, fill: str = "", **more: Any) -> None:
        """A rectangle; `line` and other keys of a plotly shape may be given."""
        shape = {"type": "rect", "x0": x0, "x1": x1, "y0": y0, "y1": y1, "layer": "below"}
        self.shapes.append({**shape, "fillcolor": fill, "line": {"width": 0}, **more})

    def line(self, x0: float, y0: float, x1: float, y1: float, color: str, **more: Any) -> None:
        """A straight line; `width` and `dash` may be given."""
        stroke = {"color": color, "width": 1, **more}
        ends = {"x0": x0, "y0": y0, "x1": x1, "y1": y1}
        self.shapes.append({"type": "line", **ends, "line": stroke, "layer": "below"})

    def path(self, points: str, color: str, *, fill: str = "", width: float = 1) -> None:
        """An SVG path in moments and pixels."""
        stroke = {"color": color, "width": width}
        shape = {"type": "path", "path": points, "line": stroke, "layer": "below"}
        self.shapes.append({**shape, "fillcolor": fill} if fill else shape)

    def hatch(self, x0: float, x1: float, y0: float, y1: float, color: str, step: int = 9) -> None:
        """Diagonal lines, clipped to the rectangle."""
        left, right = self.px(x0), self.px(x1)
        height = y1 - y0
        parts = []
        start = left - height + step / 2
        while start < right:
            a, b = max(start, left), min(start + height, right)
            if b > a:
                parts.append(
                    f"M{self.at(a):.4f},{y1 - (a - start):.1f}"
                    f"L{self.at(b):.4f},{y1 - (b - start):.1f}"
                )
            start += step
        if parts:
            self.path("".join(parts), color, width=1)

    def head(self, x0: float, y0: float, x1: float, y1: float, color: str, size: int = 11) -> None:
        """An arrow's head at (x1, y1), coming from (x0, y0)."""
        angle = atan2(y1 - y0, self.px(x1) - self.px(x0))
        corners = [(self.px(x1), y1)]
        corners += [
            (self.px(x1) - size * cos(angle + turn), y1 - size * sin(angle + turn))
            for turn in (0.38, -0.38)
        ]
        points = "L".join(f"{self.at(px):.4f},{y:.1f}" for px, y in corners)
        self.path(f"M{points}Z", color, fill=color)

    # --- words ----------------------------------------------------------------------------------

    def box_of(
        self, x: float, y: float, text: str, size: float, anchor: str = "left", bold: bool = False
    ) -> Box:
        """Where `text` would stand if it were anchored at (x, y), y being its middle."""
        wide, high = width_of(text, size, bold=bold), height_of(text, size)
        left = self.px(x) - wide * {"left": 0, "center": 0.5, "right": 1}[anchor]
        return Box(left, y - high / 2, left + wide, y + high / 2)

    def text(
        self,
        x: float,
        y: float,
        text: str,
        color: str = "",
        *,
        size: float = 0,
        anchor: str = "left",
        bold: bool = False,
        layer: str = "words",
        since: float | None = None,
        lasting: Lasting | None = None,
    ) -> Box:
        """Write `text` (already safe); `layer` names the trace. Takes the place it stands on.

        It is known from moment `since` on, by default from the one where it stands; `lasting` is
        for what ends again.
        """
        if since is not None:
            lasting = Lasting(since)
        size = size or self.sizes.text
        box = self.box_of(x, y, text, size, anchor, bold)
        trace = self._words.setdefault(
            layer,
            {"x": [], "y": [], "text": [], "textposition": [], "size": [], "color": [], "held": []},
        )
        trace["x"].append(x)
        trace["y"].append(y)
        trace["text"].append(f"<b>{text}</b>" if bold else text)
        trace["textposition"].append(f"middle {_ALIGN[anchor]}")
        trace["size"].append(size)
        trace["color"].append(color or self.theme.text)
        trace["held"].append(row_of(x, text, size, anchor, lasting))
        self.taken.append(box)
        self.said.append(box)
        return box

    def margin(self, y: float, text: str, color: str = "", **font: Any) -> None:
        """A name at the left of the plot, at its right end; keywords as for `text`."""
        self.text(self.at(self.sizes.left - 12), y, text, color, anchor="right", **font)

    def is_free(self, box: Box) -> bool:
        """Whether nothing stands there, and it is on the sheet."""
        if box.x0 < 2 or box.x1 > self.width - 2:
            return False
        return not any(box.overlaps(other) for other in (*self.taken, *self.soft))

    def take(self, box: Box, *, soft: bool = False) -> None:
        """Keep words away from here; what is soft may be covered by a box that must be shown."""
        (self.soft if soft else self.taken).append(box)

    def card(self, x: float, y: float, text: str) -> None:
        """A hover card (safe HTML) at a point."""
        for key, value in (("x", x), ("y", y), ("text", text)):
            self._cards[key].append(value)

    # --- the drawing ----------------------------------------------------------------------------

    def drawing(self, height: float, label: str) -> Json:
        """Everything drawn, as plotly's data and layout in plain dicts, which plotly has not looked
        at yet; `label` says in a sentence what it shows.
        """
        hidden = {"visible": False, "fixedrange": True}
        layout = {
            "template": "none",
            "width": self.width,
            "height": round(height),
            "margin": {"l": 0, "r": 0, "t": 0, "b": 0, "pad": 0},
            "paper_bgcolor": self.theme.paper,
            "plot_bgcolor": self.theme.paper,
            "font": {"family": FONT, "color": self.theme.text},
            "xaxis": {**hidden, "range": [self.at(0), self.at(self.width)]},
            "yaxis": {**hidden, "range": [round(height), 0]},
            "shapes": self.shapes,
            "hovermode": "closest",
            "hoverdistance": 24,
            "hoverlabel": {
                "align": "left",
                "bgcolor": self.theme.box,
                "bordercolor": self.theme.line,
                "font": {"size": 12, "color": self.theme.text, "family": FONT},
            },
            "dragmode": False,
            # A notebook offers cameras and lassos that lead nowhere in this picture.
            "modebar": {"remove": ["toImage", "lasso", "select", "zoom", "pan", "resetScale"]},
            "showlegend": False,
            "meta": self._meta(label),
        }
        traces = self._traces()
        if self.panels:  # their ground would cover the sheet, and their bars stand side by side
            layout |= {"plot_bgcolor": "rgba(0,0,0,0)", "barmode": "overlay"}
        for panel in self.panels:
            layout |= panel.layout(height)
            traces += panel.traces
        notes = [note for panel in self.panels for note in panel.notes]
        layout |= {"annotations": notes} if notes else {}
        return {"data": traces, "layout": layout}

    def _meta(self, label: str) -> dict[str, Any]:
        """What `mask` and the player need to know of the axis."""
        meta: dict[str, Any] = {"description": label, "end": self.end}
        if self.columns:
            meta["columns"] = [list(column) for column in self.columns]
        if self.marks:
            meta["marks"] = self.marks
        return meta

    def _traces(self) -> list[dict[str, Any]]:
        common = {"type": "scatter", "cliponaxis": False}
        masked = any(shape.get("name") == "mask" for shape in self.shapes)
        traces = [
            {
                **common,
                "mode": "text",
                "name": layer,
                "x": words["x"],
                "y": words["y"],
                "text": words["text"],
                "textposition": words["textposition"],
                "textfont": {"size": words["size"], "color": words["color"]},
                "hoverinfo": "skip",
                **({"customdata": words["held"]} if masked and layer == "words" else {}),
            }
            for layer, words in self._words.items()
        ]
        cards = {
            **common,
            "mode": "markers",
            "name": "cards",
            **self._cards,
            "marker": {"size": HOVER_TARGET, "opacity": 0},
            "hovertemplate": "%{text}<extra></extra>",
        }
        return traces if self.panels else [*traces, cards]


def as_figure(draw: Callable[P, Json]) -> Callable[P, go.Figure]:
    """The same picture as a plotly figure, which turns with the page around it where no theme was
    asked for. Raises MissingExtraError where there is no plotly.
    """

    @wraps(draw)
    def figure(*args: P.args, **options: P.kwargs) -> go.Figure:
        with needed_by("a figure"):
            from .notebook_figure import Picture
        drawing = draw(*args, **options)
        # Beside a figure nothing tells the run in words: there is nothing to light up.
        drawing["layout"]["meta"].pop("marks", None)
        drawing["layout"]["meta"]["turns"] = "theme" not in options
        return Picture(drawing)

    return figure
