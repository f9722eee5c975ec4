"""What the legend shows beside its words: every mark of the pictures, small."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

from msgspec.structs import replace

from ...rows.columns import MessageRow
from ...rows.log_blocks import LogCell
from ..drawing.canvas import Canvas
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

    def band(self, half: float, *flags: str) -> replica_bands.Band:
        """A band across the swatch, `half` as high above its middle as below."""
        ends = self.canvas.at(self.left), self.canvas.at(self.left + SWATCH)
        return replica_bands.Band(*ends, self.y - half, self.y + half, flags)

    def write(self, glyph: str, color: str) -> None:
        """A glyph in the middle."""
        x = self.canvas.at(self.left + SWATCH / 2)
        put = self.canvas.text
        put(x, self.y, glyph, color, size=11, anchor="center", bold=True, layer="signs")

    def arrow(self, **about: Any) -> None:
        """A small message from below to above."""
        message = replace(_ARRIVED, **about)
        theme = self.canvas.theme
        color = {"refused": theme.refused, "dropped": theme.muted}.get(message.fate, theme.message)
        tail, head = self.canvas.at(self.left + 2), self.canvas.at(self.left + SWATCH + 8)
        draw_stroke(self.canvas, message, (tail, self.y + 3, head, self.y - 3), color)


Draw = Callable[[Swatch], None]


def band(role: str, *flags: str) -> Draw:
    """A broker's band in a role."""

    def draw(at: Swatch) -> None:
        replica_bands.DRAWN[role](at.canvas, at.band(5 * replica_bands.HEIGHTS[role], *flags))

    return draw


def leader(at: Swatch) -> None:
    """★ on its band."""
    replica_bands.leader(at.canvas, at.band(5))
    at.write("★", at.canvas.theme.leader_text)


def recovering(at: Swatch) -> None:
    """R in a dotted outline."""
    replica_bands.leader(at.canvas, at.band(4.5, "recovering"))
    at.write("R", at.canvas.theme.leader_text)


def believes(at: Swatch) -> None:
    """☆ on a hollow band."""
    replica_bands.believes(at.canvas, at.band(5))
    at.write("☆", at.canvas.theme.text)


def fenced(at: Swatch) -> None:
    """⛔ on a cross-hatch."""
    theme, band = at.canvas.theme, at.band(5)
    icons.cross_hatch(at.canvas, *band[:4], theme.hatch)
    icons.no_entry(at.canvas, at.left + SWATCH / 2, at.y, theme.muted, theme.paper)


def gate(at: Swatch) -> None:
    """✓ at the end of a fence."""
    theme, band = at.canvas.theme, at.band(5)
    icons.cross_hatch(at.canvas, *band[:4], theme.hatch)
    icons.gate(at.canvas, at.left + SWATCH - icons.GATE / 2, at.y, theme.text, theme.paper)


def shutting_down(at: Swatch) -> None:
    """⏻"""
    icons.power(at.canvas, at.left + SWATCH / 2, at.y, at.canvas.theme.muted)


def tile(at: Swatch) -> None:
    """A tile with a hard edge."""
    theme, band = at.canvas.theme, at.band(5)
    at.canvas.rect(*band[:4], theme.tile)
    at.canvas.line(band.x0, band.y0, band.x0, band.y1, theme.tile_edge, width=2)


def log_end(at: Swatch) -> None:
    """A tick."""
    canvas, band = at.canvas, at.band(5)
    x = canvas.at(at.left + SWATCH / 2)
    canvas.line(x, band.y0, x, band.y1, canvas.theme.tile_edge, width=1.5)


def log_line(at: Swatch) -> None:
    """A log that grows, filled to its high watermark."""
    canvas, band = at.canvas, at.band(5)
    xs = [canvas.at(at.left + SWATCH * share) for share in (0, 0.35, 0.7, 1)]
    steps = ((1, 0), (3, 1), (3, 3))
    life = [Stretch(*ends, *step) for ends, step in zip(pairwise(xs), steps, strict=True)]
    draw_line(canvas, life, (band.y1, band.y0), (0, 4))


def still_registered(at: Swatch) -> None:
    """The edges of a tile whose process is gone."""
    theme, band = at.canvas.theme, at.band(5)
    for y in (band.y0, band.y1):
        at.canvas.line(band.x0, y, band.x1, y, theme.tile_edge, dash="2px,3px")


def never_elected(at: Swatch) -> None:
    """⏻ in another colour than that of a broker that shuts down."""
    icons.power(at.canvas, at.left + SWATCH / 2, at.y, at.canvas.theme.gone)


def bounced(at: Swatch) -> None:
    """A bracket."""
    ends = at.canvas.at(at.left), at.canvas.at(at.left + SWATCH)
    icons.bracket(at.canvas, *ends, at.y - 2, at.canvas.theme.text)


def watch(at: Swatch) -> None:
    """A short arrow down from a line."""
    theme, band = at.canvas.theme, at.band(6)
    middle = at.canvas.at(at.left + SWATCH / 2)
    at.canvas.line(band.x0, band.y0, band.x1, band.y0, theme.line, width=1.5)
    at.canvas.line(middle, band.y0, middle, band.y1, theme.message, width=1.2)
    at.canvas.head(middle, band.y0, middle, band.y1, theme.message, size=6)


def queue(at: Swatch) -> None:
    """Requests of this life and of an earlier one, waiting."""
    theme, band = at.canvas.theme, at.band(6)
    at.canvas.rect(*band[:4], theme.tile)
    for share, earlier in ((0.28, False), (0.72, True)):
        middle = at.canvas.at(at.left + SWATCH * share)
        draw_tail(at.canvas, middle, at.y, theme.message, earlier)


def failed_over(at: Swatch) -> None:
    """The controller's line on its tile, which begins in the middle."""
    theme, band = at.canvas.theme, at.band(5)
    middle = at.canvas.at(at.left + SWATCH / 2)
    at.canvas.rect(*band[:4], theme.tile)
    at.canvas.line(band.x0, at.y, band.x1, at.y, theme.line, width=1.5)
    at.canvas.line(middle, band.y0, middle, band.y1, theme.tile_edge, width=2)


def tick(at: Swatch) -> None:
    """A tick on the controller's line."""
    theme, middle = at.canvas.theme, at.canvas.at(at.left + SWATCH / 2)
    band = at.band(5)
    at.canvas.line(band.x0, at.y, band.x1, at.y, theme.line, width=1.5)
    at.canvas.line(middle, band.y0, middle, band.y1, theme.text, width=2)


def records(fill: str, edge: str, glyph: str, color: str) -> Draw:
    """As in the strip of committed records; the names are those of the theme's colours."""

    def draw(at: Swatch) -> None:
        theme, band = at.canvas.theme, at.band(5)
        at.canvas.rect(*band[:4], getattr(theme, fill))
        if edge:
            at.canvas.hatch(*band[:4], getattr(theme, edge), step=6)
        at.write(glyph, getattr(theme, color))

    return draw


def lost(at: Swatch) -> None:
    """▼ under a bracket."""
    theme, band = at.canvas.theme, at.band(4)
    at.canvas.rect(*band[:4], theme.lost)
    icons.bracket(at.canvas, band.x0, band.x1, at.y - 6, theme.lost_text)
    at.write("▼", theme.lost_text)


def cell(*, has: bool = True, is_read: bool = False) -> Draw:
    """A cell of a log."""

    def draw(at: Swatch) -> None:
        band, sample = at.band(5), LogCell(0, 1, 0, has, not has)
        fill, edge, _ = colors_of(at.canvas.theme, sample, is_read=is_read)
        at.canvas.rect(*band[:4], fill, line={"color": edge, "width": 1.2})
        if not has:
            at.canvas.line(band.x0, at.y, band.x1, at.y, edge, width=1.2)

    return draw


def glyph(glyph: str, color: str = "muted") -> Draw:
    """A sign alone; `color` is the name of a theme's colour."""
    return lambda at: at.write(glyph, getattr(at.canvas.theme, color))


def arrow(**about: object) -> Draw:
    """A message; `about` are columns of its row."""
    return lambda at: at.arrow(**about)
