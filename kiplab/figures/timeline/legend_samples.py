"""What the legend shows beside its words: every mark of the pictures, small."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

from msgspec.structs import replace

from ...rows.columns import MessageRow
from ...rows.log_blocks import LogCell
from ..drawing.canvas import Canvas
from ..drawing.theme import Theme
from . import icons, replica_bands
from .arrow_strokes import draw_stroke, draw_tail
from .log_ends import Stretch, draw_line
from .log_strip import colors_of

SWATCH = 24
"""How wide a swatch is, in pixels."""
_ARRIVED = MessageRow("", "", "", "", x_sent=0, x_arrived=0, fate="delivered", label="", detail="")


class Swatch(NamedTuple):
    """Where a swatch goes: pixels from the left and to its middle from the top."""

    canvas: Canvas
    left: float
    y: float

    @property
    def theme(self) -> Theme:
        """The colours."""
        return self.canvas.theme

    def at(self, share: float) -> float:
        """The moment so far across the swatch."""
        return self.canvas.at(self.left + SWATCH * share)

    def band(self, half: float = 5, *flags: str) -> replica_bands.Band:
        """A band across the swatch, `half` as high above its middle as below."""
        return replica_bands.Band(self.at(0), self.at(1), self.y - half, self.y + half, flags)

    def ground(self, color: str, half: float = 5) -> replica_bands.Band:
        """The band, filled."""
        band = self.band(half)
        self.canvas.rect(*band[:4], color)
        return band

    def upright(self, share: float, color: str, width: float, half: float = 5) -> None:
        """A line from the top to the bottom."""
        x = self.at(share)
        self.canvas.line(x, self.y - half, x, self.y + half, color, width=width)

    def across(self, y: float, color: str, **stroke: Any) -> None:
        """A line from the left to the right."""
        self.canvas.line(self.at(0), y, self.at(1), y, color, **stroke)

    def write(self, glyph: str, color: str) -> None:
        """A glyph in the middle, in the theme's colour of that name."""
        put, paint = self.canvas.text, getattr(self.theme, color)
        put(self.at(0.5), self.y, glyph, paint, size=11, anchor="center", bold=True, layer="signs")


Draw = Callable[[Swatch], None]


def role(name: str, *flags: str, glyph: str = "", color: str = "text", half: float = 5) -> Draw:
    """A broker's band in a role, with a glyph on it."""

    def draw(swatch: Swatch) -> None:
        high = half * replica_bands.HEIGHTS[name]
        replica_bands.DRAWN[name](swatch.canvas, swatch.band(high, *flags))
        if glyph:
            swatch.write(glyph, color)

    return draw


leader = role("leader", glyph="★", color="leader_text")
recovering = role("leader", "recovering", glyph="R", color="leader_text", half=4.5)
believes = role("believes", glyph="☆")
empty = role("in ISR", "log empty")
idle = role("in ISR", "idle")


def glyph(glyph: str, color: str = "muted") -> Draw:
    """A sign alone; `color` is the name of a theme's colour."""
    return lambda swatch: swatch.write(glyph, color)


def power(color: str) -> Draw:
    """⏻: who shuts down, and in another colour who is passed over."""
    middle = SWATCH / 2
    return lambda swatch: icons.power(
        swatch.canvas, swatch.left + middle, swatch.y, getattr(swatch.theme, color)
    )


def arrow(**about: Any) -> Draw:
    """A small message from below to above; `about` are columns of its row."""
    message = replace(_ARRIVED, **about)

    def draw(swatch: Swatch) -> None:
        theme, y = swatch.theme, swatch.y
        color = {"refused": theme.refused, "dropped": theme.muted}.get(message.fate, theme.message)
        tail, head = swatch.left + 2, swatch.left + SWATCH + 8
        ends = (swatch.canvas.at(tail), y + 3, swatch.canvas.at(head), y - 3)
        draw_stroke(swatch.canvas, message, ends, color)

    return draw


def _hatched(swatch: Swatch) -> None:
    icons.cross_hatch(swatch.canvas, *swatch.band()[:4], swatch.theme.hatch)


def fenced(swatch: Swatch) -> None:
    """⛔ on a cross-hatch."""
    _hatched(swatch)
    theme, px = swatch.theme, swatch.left + SWATCH / 2
    icons.no_entry(swatch.canvas, px, swatch.y, theme.muted, theme.paper)


def gate(swatch: Swatch) -> None:
    """✓ at the end of a fence."""
    _hatched(swatch)
    theme, px = swatch.theme, swatch.left + SWATCH - icons.GATE / 2
    icons.gate(swatch.canvas, px, swatch.y, theme.text, theme.paper)


def tile(swatch: Swatch) -> None:
    """A tile with a hard edge."""
    swatch.ground(swatch.theme.tile)
    swatch.upright(0, swatch.theme.tile_edge, 2)


def log_end(swatch: Swatch) -> None:
    """A tick."""
    swatch.upright(0.5, swatch.theme.tile_edge, 1.5)


def log_line(swatch: Swatch) -> None:
    """A log that grows, filled to its high watermark."""
    xs, band = [swatch.at(share) for share in (0, 0.35, 0.7, 1)], swatch.band()
    steps = ((1, 0), (3, 1), (3, 3))
    incarnation = [Stretch(*ends, *step) for ends, step in zip(pairwise(xs), steps, strict=True)]
    draw_line(swatch.canvas, incarnation, (band.y1, band.y0), (0, 4))


def still_registered(swatch: Swatch) -> None:
    """The edges of a tile whose process is gone."""
    for y in (swatch.y - 5, swatch.y + 5):
        swatch.across(y, swatch.theme.tile_edge, dash="2px,3px")


def bounced(swatch: Swatch) -> None:
    """A bracket."""
    icons.bracket(swatch.canvas, swatch.at(0), swatch.at(1), swatch.y - 2, swatch.theme.text)


def watch(swatch: Swatch) -> None:
    """A short arrow down from a line."""
    theme, x, top, low = swatch.theme, swatch.at(0.5), swatch.y - 6, swatch.y + 6
    swatch.across(top, theme.line, width=1.5)
    swatch.upright(0.5, theme.message, 1.2, half=6)
    swatch.canvas.head(x, top, x, low, theme.message, size=6)


def queue(swatch: Swatch) -> None:
    """Requests of this incarnation and of an earlier one, waiting."""
    swatch.ground(swatch.theme.tile, half=6)
    for share, earlier in ((0.28, False), (0.72, True)):
        draw_tail(swatch.canvas, swatch.at(share), swatch.y, swatch.theme.message, earlier)


def failed_over(swatch: Swatch) -> None:
    """The controller's line on its tile, which begins in the middle."""
    swatch.ground(swatch.theme.tile)
    swatch.across(swatch.y, swatch.theme.line, width=1.5)
    swatch.upright(0.5, swatch.theme.tile_edge, 2)


def tick(swatch: Swatch) -> None:
    """A tick on the controller's line."""
    swatch.across(swatch.y, swatch.theme.line, width=1.5)
    swatch.upright(0.5, swatch.theme.text, 2)


def records(fill: str, edge: str, glyph: str, color: str) -> Draw:
    """As in the strip of committed records; the names are those of the theme's colours."""

    def draw(swatch: Swatch) -> None:
        band = swatch.ground(getattr(swatch.theme, fill))
        if edge:
            swatch.canvas.hatch(*band[:4], getattr(swatch.theme, edge), step=6)
        swatch.write(glyph, color)

    return draw


at_risk = records("risk", "risk_edge", "▲", "risk_text")


def lost(swatch: Swatch) -> None:
    """▼ under a bracket."""
    theme, band = swatch.theme, swatch.ground(swatch.theme.lost, half=4)
    icons.bracket(swatch.canvas, band.x0, band.x1, swatch.y - 6, theme.lost_text)
    swatch.write("▼", "lost_text")


def cell(*, has: bool = True, is_read: bool = False) -> Draw:
    """A cell of a log."""

    def draw(swatch: Swatch) -> None:
        fill, edge, _ = colors_of(swatch.theme, LogCell(0, 1, 0, has, not has), is_read=is_read)
        swatch.canvas.rect(*swatch.band()[:4], fill, line={"color": edge, "width": 1.2})
        if not has:
            swatch.across(swatch.y, edge, width=1.2)

    return draw
