"""What the legend shows beside its words: every mark of the pictures, small."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

from msgspec.structs import replace

from ...rows.columns import MessageRow
from ...rows.log_blocks import LogCell
from ..drawing.canvas import Canvas
from . import icons
from .log_ends import Stretch, draw_line
from .log_strip import colors_of

SWATCH = 24
"""How wide a swatch is, in pixels."""
_ARRIVED = MessageRow("", "", "", "", x_sent=0, x_arrived=0, fate="delivered", label="", detail="")


class Swatch(NamedTuple):
    """Where a mark is drawn, small: pixels from the left, and to the middle from the top. Colours
    go by their names in the theme.
    """

    canvas: Canvas
    left: float
    y: float

    def color(self, name: str) -> str:
        """The colour itself."""
        return str(getattr(self.canvas.theme, name))

    def at(self, share: float) -> float:
        """The moment so far across the swatch."""
        return self.canvas.at(self.left + SWATCH * share)

    def band(self, half: float = 5, *flags: str) -> icons.Band:
        """A band across the swatch, `half` as high above its middle as below."""
        return icons.Band(self.at(0), self.at(1), self.y - half, self.y + half, flags)

    def ground(self, color: str, half: float = 5) -> icons.Band:
        """The band, filled."""
        band = self.band(half)
        self.canvas.rect(*band[:4], self.color(color))
        return band

    def upright(self, share: float, color: str, width: float, half: float = 5) -> None:
        """A line from the top to the bottom."""
        x = self.at(share)
        self.canvas.line(x, self.y - half, x, self.y + half, self.color(color), width=width)

    def across(self, y: float, color: str, **stroke: Any) -> None:
        """A line from the left to the right, `y` pixels below the middle."""
        y += self.y
        self.canvas.line(self.at(0), y, self.at(1), y, self.color(color), **stroke)

    def write(self, glyph: str, color: str) -> None:
        """A glyph in the middle."""
        put, paint = self.canvas.text, self.color(color)
        put(self.at(0.5), self.y, glyph, paint, size=11, anchor="center", bold=True, layer="signs")

    def hatched(self) -> None:
        """A fence."""
        icons.cross_hatch(self.canvas, *self.band()[:4], self.color("hatch"))

    def fenced(self) -> None:
        """⛔ on a cross-hatch."""
        self.hatched()
        colors = self.color("muted"), self.color("paper")
        icons.no_entry(self.canvas, self.left + SWATCH / 2, self.y, *colors)

    def gate(self) -> None:
        """✓ at the end of a fence."""
        self.hatched()
        px, colors = self.left + SWATCH - icons.GATE / 2, (self.color("text"), self.color("paper"))
        icons.gate(self.canvas, px, self.y, *colors)

    def tile(self) -> None:
        """A tile with a hard edge."""
        self.ground("tile")
        self.upright(0, "tile_edge", 2)

    def log_end(self) -> None:
        """A tick."""
        self.upright(0.5, "tile_edge", 1.5)

    def log_line(self) -> None:
        """A log that grows, filled to its high watermark."""
        xs, band = [self.at(share) for share in (0, 0.35, 0.7, 1)], self.band()
        steps = ((1, 0), (3, 1), (3, 3))
        uptime = [Stretch(*ends, *step) for ends, step in zip(pairwise(xs), steps, strict=True)]
        draw_line(self.canvas, uptime, (band.y1, band.y0), (0, 4))

    def still_registered(self) -> None:
        """The edges of a tile whose process is gone."""
        for y in (-5, 5):
            self.across(y, "tile_edge", dash="2px,3px")

    def bounced(self) -> None:
        """A bracket."""
        icons.bracket(self.canvas, self.at(0), self.at(1), self.y - 2, self.color("text"))

    def watch(self) -> None:
        """A short arrow down from a line."""
        x, top, low = self.at(0.5), self.y - 6, self.y + 6
        self.across(-6, "line", width=1.5)
        self.upright(0.5, "message", 1.2, half=6)
        self.canvas.head(x, top, x, low, self.color("message"), size=6)

    def queue(self) -> None:
        """Requests of this incarnation and of an earlier one, waiting."""
        self.ground("tile", half=6)
        for share, earlier in ((0.28, False), (0.72, True)):
            icons.draw_tail(self.canvas, self.at(share), self.y, self.color("message"), earlier)

    def failed_over(self) -> None:
        """The controller's line on its tile, which begins in the middle."""
        self.ground("tile")
        self.across(0, "line", width=1.5)
        self.upright(0.5, "tile_edge", 2)

    def tick(self) -> None:
        """A tick on the controller's line."""
        self.across(0, "line", width=1.5)
        self.upright(0.5, "text", 2)

    def lost(self) -> None:
        """▼ under a bracket."""
        band = self.ground("lost", half=4)
        icons.bracket(self.canvas, band.x0, band.x1, self.y - 6, self.color("lost_text"))
        self.write("▼", "lost_text")


Draw = Callable[[Swatch], None]


def role(name: str, *flags: str, glyph: str = "", color: str = "text", half: float = 5) -> Draw:
    """A broker's band in a role, with a glyph on it."""

    def draw(swatch: Swatch) -> None:
        icons.BANDS[name](swatch.canvas, swatch.band(half * icons.HEIGHTS[name], *flags))
        if glyph:
            swatch.write(glyph, color)

    return draw


leader = role("leader", glyph="★", color="leader_text")
recovering = role("leader", "recovering", glyph="R", color="leader_text", half=4.5)
believes, idle = role("believes", glyph="☆"), role("in ISR", "idle")
empty = role("in ISR", "log empty")


def glyph(glyph: str, color: str = "muted") -> Draw:
    """A sign alone."""
    return lambda swatch: swatch.write(glyph, color)


def power(color: str) -> Draw:
    """⏻: who shuts down, and in another colour who is passed over."""
    middle = SWATCH / 2
    return lambda s: icons.power(s.canvas, s.left + middle, s.y, s.color(color))


def arrow(**about: Any) -> Draw:
    """A small message from below to above; `about` are columns of its row."""
    message = replace(_ARRIVED, **about)

    def draw(swatch: Swatch) -> None:
        canvas, y, tail, head = swatch.canvas, swatch.y, swatch.left + 2, swatch.left + SWATCH + 8
        icons.draw_stroke(canvas, message, (canvas.at(tail), y + 3, canvas.at(head), y - 3))

    return draw


def records(fill: str, edge: str, glyph: str, color: str) -> Draw:
    """As in the strip of committed records."""

    def draw(swatch: Swatch) -> None:
        band = swatch.ground(fill)
        if edge:
            swatch.canvas.hatch(*band[:4], swatch.color(edge), step=6)
        swatch.write(glyph, color)

    return draw


at_risk = records("risk", "risk_edge", "▲", "risk_text")


def cell(*, has: bool = True, is_read: bool = False) -> Draw:
    """A cell of a log."""

    def draw(swatch: Swatch) -> None:
        cell, theme = LogCell(0, 1, 0, has, not has), swatch.canvas.theme
        fill, edge, _ = colors_of(theme, cell, is_read=is_read)
        swatch.canvas.rect(*swatch.band()[:4], fill, line={"color": edge, "width": 1.2})
        if not has:
            y = swatch.y
            swatch.canvas.line(swatch.at(0), y, swatch.at(1), y, edge, width=1.2)

    return draw
