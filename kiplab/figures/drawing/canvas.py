"""A sheet to draw on: shapes, words and hover cards collected as plain dicts.

x is in moments, y in pixels from the top. Words are points of scatter traces rather than
annotations, because a mask can be drawn over traces but never over annotations.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from math import atan2, cos, sin
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec

from ...extras import needed_by
from ...rows.columns import Columns
from ..timeline.mask import Lasting, row_of
from . import Json
from .text_width import height_of, width_of, wrapped
from .theme import FONT, Sizes, Theme

if TYPE_CHECKING:
    import plotly.graph_objects as go

P = ParamSpec("P")
TextPlace = tuple[str, float, float]
"""Words, the moment that they are anchored at, and the pixel of their middle from the top."""
HOVER_TARGET = 16
"""Diameter in pixels of the invisible markers that carry the hover cards."""
_ALIGN = {"left": "right", "center": "center", "right": "left"}


class Box(NamedTuple):
    """Pixels from the left and the top."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def middle(self) -> tuple[float, float]:
        """Its middle point."""
        return (self.x0 + self.x1) / 2, (self.y0 + self.y1) / 2

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


def safe_lines(text: str) -> str:
    """The same of lines with ``<br>`` between them."""
    return "<br>".join(map(safe, text.split("<br>")))


def wrapped_safe(text: str, room: float, size: float) -> str:
    """Safe and wrapped, with some air at the end; a word that is too wide by itself stays whole."""
    return safe_lines(wrapped(text, room / 1.05, size) or text)


class Canvas:
    """Collects a drawing `width` pixels wide whose plot shows moments 0 to `end`.

    In the picture of a view, `columns` are those of its rows, and x counts them.
    """

    def __init__(
        self, width: int, end: int, theme: Theme, sizes: Sizes, columns: Columns = ()
    ) -> None:
        self.width = width
        self.edge = width - sizes.aside - 4
        """Pixels from the left that words of the plot do not run past."""
        self.end = end
        self.columns = columns
        self.theme = theme
        self.sizes = sizes
        self.unit = (width - sizes.left - sizes.right - sizes.aside) / end
        self.shapes: list[dict[str, Any]] = []
        self.taken: list[Box] = []
        self.soft: list[Box] = []
        """What words keep away from, and a box that must be shown may cover."""
        self.words: list[Box] = []
        self.every_message = False
        """Whether each gets an arrow, however many there are."""
        self.marks: list[list[Any]] = []
        """What `event_marks` found, for the layout's ``meta``."""
        self.panels: list[Any] = []
        """Parts with axes of their own, each a `how_often.plot_panel.PlotPanel`."""
        self._words: dict[str, list[tuple[Any, ...]]] = {}
        self._cards: list[tuple[float, float, str]] = []

    def px(self, x: float) -> float:
        """Pixels from the left of moment `x`."""
        return self.sizes.left + x * self.unit

    def at(self, px: float) -> float:
        """The moment at `px` pixels from the left."""
        return (px - self.sizes.left) / self.unit

    def beside(self, x: float, pixels: float) -> float:
        """The moment so many pixels to the right of moment `x`."""
        return self.at(self.px(x) + pixels)

    # --- shapes ---------------------------------------------------------------------------------

    def rect(self, x0: float, x1: float, y0: float, y1: float, fill: str = "", **more: Any) -> None:
        """A rectangle; `line` and other keys of a plotly shape may be given."""
        shape = {"type": "rect", "x0": x0, "x1": x1, "y0": y0, "y1": y1, "layer": "below"}
        self.shapes.append({**shape, "fillcolor": fill, "line": {"width": 0}, **more})

    def line(self, x0: float, y0: float, x1: float, y1: float, color: str, **more: Any) -> None:
        """A straight line; `width`, `dash` and the shape's `name` may be given."""
        ends = {"x0": x0, "y0": y0, "x1": x1, "y1": y1}
        named = {"name": more.pop("name")} if "name" in more else {}
        stroke = {"color": color, "width": 1, **more}
        self.shapes.append({"type": "line", **ends, "line": stroke, "layer": "below", **named})

    def path(self, points: str, color: str = "", *, fill: str = "", **more: Any) -> None:
        """An SVG path in moments and pixels; `width` and keys of a plotly shape may be given."""
        stroke = {"color": color, "width": more.pop("width", 1)}
        shape = {"type": "path", "path": points, "line": stroke, "layer": "below", **more}
        self.shapes.append({**shape, "fillcolor": fill} if fill else shape)

    def hatch(self, x0: float, x1: float, y0: float, y1: float, color: str, **more: Any) -> None:
        """Diagonals, rising or `falling`, clipped, `step` pixels apart; more as for `path`."""
        left, right, height = self.px(x0), self.px(x1), y1 - y0
        step, falling = more.pop("step", 9), more.pop("falling", False)
        parts, start = "", left - height + step / 2
        while start < right:
            ends = max(start, left), min(start + height, right)
            if ends[1] > ends[0]:
                heights = (y0 + (a - start) if falling else y1 - (a - start) for a in ends)
                parts += self.through(zip(ends, heights, strict=True))
            start += step
        if parts:
            self.path(parts, color, **more)

    def grid(self, top: float, bottom: float) -> None:
        """A faint line per moment."""
        lines = "".join(f"M{x},{top:.1f}L{x},{bottom:.1f}" for x in range(self.end + 1))
        self.path(lines, self.theme.grid)

    def through(self, points: Iterable[tuple[float, float]]) -> str:
        """An open SVG path through pixels."""
        return "M" + "L".join(f"{self.at(px):.4f},{y:.1f}" for px, y in points)

    def ring(self, px: float, y: float, r: float, fill: str, edge: str, width: float = 1) -> None:
        """A circle of radius `r` around a place in pixels."""
        ends = self.at(px - r), self.at(px + r)
        self.rect(*ends, y - r, y + r, fill, type="circle", line={"color": edge, "width": width})

    def head(self, x0: float, y0: float, x1: float, y1: float, color: str, size: int = 11) -> None:
        """An arrow's head at (x1, y1), coming from (x0, y0)."""
        px, angle = self.px(x1), atan2(y1 - y0, self.px(x1) - self.px(x0))
        turns = (angle + 0.38, angle - 0.38)
        back = [(px - size * cos(turn), y1 - size * sin(turn)) for turn in turns]
        self.path(f"{self.through([(px, y1), *back])}Z", color, fill=color)

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
        since: float | Lasting | None = None,
    ) -> Box:
        """Write `text` (already safe); `layer` names the trace. Takes the place it stands on.

        It is known from moment `since` on, by default from the one where it stands.
        """
        size = size or self.sizes.text
        box = self.box_of(x, y, text, size, anchor, bold)
        row = row_of(x, text, size, anchor, since)
        html, place = f"<b>{text}</b>" if bold else text, f"middle {_ALIGN[anchor]}"
        word = (x, y, html, place, size, color or self.theme.text, row)
        self._words.setdefault(layer, []).append(word)
        self.taken.append(box)
        self.words.append(box)
        return box

    def paragraph(
        self, x: float, top: float, lines: str, color: str = "", size: float = 0
    ) -> float:
        """Lines (already safe) from moment `x` and `top` on; returns where they end."""
        size = size or self.sizes.text
        high = height_of(lines, size)
        self.text(x, top + high / 2, lines, color, size=size)
        return top + high

    def margin(self, y: float, text: str, color: str = "", **font: Any) -> None:
        """A name at the left of the plot, at its right end; keywords as for `text`."""
        self.text(self.at(self.sizes.left - 12), y, text, color, anchor="right", **font)

    def is_free(self, box: Box) -> bool:
        """Whether nothing stands there, and it is on the sheet."""
        if box.x0 < 2 or box.x1 > self.edge + 2:
            return False
        return not any(box.overlaps(other) for other in (*self.taken, *self.soft))

    def is_crossed(self, box: Box) -> bool:
        """Whether an arrow will go through it."""
        return any(box.overlaps(other) for other in self.soft)

    def keep(self, x0: float, x1: float, y0: float, y1: float, pad: float = 0) -> None:
        """Keep words away from between two moments, and `pad` pixels beside them."""
        self.taken.append(Box(self.px(x0) - pad, y0, self.px(x1) + pad, y1))

    def plate(self, box: Box, fill: str, pad: float = 3, **more: Any) -> None:
        """The ground that the words in a box stand on, `pad` pixels wider on both sides."""
        self.rect(self.at(box.x0 - pad), self.at(box.x1 + pad), box.y0, box.y1, fill, **more)

    def write_first(
        self, places: Iterable[TextPlace], color: str = "", *, pad: float = 0, **font: Any
    ) -> Box | None:
        """Write the first (text, moment, y) of which nothing stands in the way, `pad` pixels beside
        it too; None where there is none. Keywords as for `text`.
        """
        size, anchor, bold = (font.get(key) for key in ("size", "anchor", "bold"))
        for text, x, y in places:
            box = self.box_of(x, y, text, size or self.sizes.text, anchor or "left", bool(bold))
            if self.is_free(Box(box.x0 - pad, box.y0, box.x1 + pad, box.y1)):
                return self.text(x, y, safe(text), color, **font)
        return None

    def along(
        self, texts: Iterable[str], start: float, end: float, y: float, step: float
    ) -> Iterator[TextPlace]:
        """Where small text may stand between two places, in steps; all in pixels from the left."""
        for text in texts:
            left = start
            while left <= end - width_of(text, self.sizes.small):
                yield text, self.at(left), y
                left += step

    def card(self, x: float, y: float, text: str) -> None:
        """A hover card (safe HTML) at a point."""
        self._cards.append((x, y, text))

    def cards(self, x0: int, x1: int, y: float, text: str) -> None:
        """The card in the middle of every moment from `x0` to `x1`."""
        self._cards += [(x + 0.5, y, text) for x in range(x0, x1)]

    # --- the drawing ----------------------------------------------------------------------------

    def drawing(self, height: float, label: str) -> Json:
        """Everything drawn, as plotly's data and layout; `label` says in words what it shows."""
        theme, hidden = self.theme, {"visible": False, "fixedrange": True}
        font = {"family": FONT, "color": theme.text}
        box = {"bgcolor": theme.box, "bordercolor": theme.line}
        # What `mask` and the player need to know of the axis.
        meta: Json = {"description": label, "end": self.end}
        if self.columns:
            meta["columns"] = [list(column) for column in self.columns]
        if self.marks:
            meta["marks"] = self.marks
        layout = {
            "template": "none",
            "width": self.width,
            "height": round(height),
            "margin": {"l": 0, "r": 0, "t": 0, "b": 0, "pad": 0},
            "paper_bgcolor": theme.paper,
            "plot_bgcolor": theme.paper,
            "font": font,
            "xaxis": {**hidden, "range": [self.at(0), self.at(self.width)]},
            "yaxis": {**hidden, "range": [round(height), 0]},
            "shapes": self.shapes,
            "hovermode": "closest",
            "hoverdistance": 24,
            "hoverlabel": {"align": "left", **box, "font": {"size": 12, **font}},
            "dragmode": False,
            # A notebook offers cameras and lassos that lead nowhere in this picture.
            "modebar": {"remove": ["toImage", "lasso", "select", "zoom", "pan", "resetScale"]},
            "showlegend": False,
            "meta": meta,
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

    def _traces(self) -> list[Json]:
        common = {"type": "scatter", "cliponaxis": False}
        masked = any(shape.get("name") == "mask" for shape in self.shapes)
        traces = []
        for layer, words in self._words.items():
            x, y, text, place, size, color, rows = map(list, zip(*words, strict=True))
            places = {"x": x, "y": y, "text": text, "textposition": place}
            look = {"textfont": {"size": size, "color": color}, "hoverinfo": "skip"}
            data = {"customdata": rows} if masked and layer == "words" else {}
            traces.append({**common, "mode": "text", "name": layer, **places, **look, **data})
        if self.panels:
            return traces
        columns = enumerate(("x", "y", "text"))
        cards = {key: [card[n] for card in self._cards] for n, key in columns}
        marker = {"size": HOVER_TARGET, "opacity": 0}
        template = {"marker": marker, "hovertemplate": "%{text}<extra></extra>"}
        return [*traces, {**common, "mode": "markers", "name": "cards", **cards, **template}]


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
