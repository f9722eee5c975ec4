"""What the legend shows beside its words: every mark of the pictures, small.

A sample is drawn on a swatch; most are put together from a few parts. Colours go by their names in
the theme.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

from msgspec.structs import replace

from ...rows.columns import MessageRow
from ...rows.log_blocks import LogCell
from ..drawing.canvas import Box, Canvas
from . import icons
from .log_ends import Stretch, draw_line

SWATCH, FENCE = 24, 6
"""How wide a swatch is, in pixels, and half of how high a hatch."""
_ARRIVED = MessageRow("", "", "", "", x_sent=0, x_arrived=0, fate="delivered", label="", detail="")


class Swatch(NamedTuple):
    """Where a mark is drawn, small: pixels from the left, and to the middle from the top."""

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


Draw = Callable[[Swatch], None]


def parts(*draws: Draw) -> Draw:
    """One after the other."""

    def draw(swatch: Swatch) -> None:
        for part in draws:
            part(swatch)

    return draw


def ground(color: str, half: float = 5) -> Draw:
    """The band, filled."""
    return lambda s: s.canvas.rect(*s.band(half)[:4], s.color(color))


def upright(share: float, color: str, width: float, half: float = 5) -> Draw:
    """A line from the top to the bottom."""
    return lambda s: s.canvas.line(
        s.at(share), s.y - half, s.at(share), s.y + half, s.color(color), width=width
    )


def across(y: float, color: str, **stroke: Any) -> Draw:
    """A line from the left to the right, `y` pixels below the middle."""
    return lambda s: s.canvas.line(s.at(0), s.y + y, s.at(1), s.y + y, s.color(color), **stroke)


def bracket(y: float, color: str) -> Draw:
    """⎴ over the swatch."""
    return lambda s: icons.bracket(s.canvas, s.at(0), s.at(1), s.y + y, s.color(color))


def glyph(glyph: str, color: str = "muted") -> Draw:
    """A sign in the middle."""
    font: dict[str, Any] = {"size": 11, "anchor": "center", "bold": True, "layer": "signs"}

    def draw(swatch: Swatch) -> None:
        swatch.canvas.text(swatch.at(0.5), swatch.y, glyph, swatch.color(color), **font)

    return draw


def role(name: str, *flags: str, half: float = 5) -> Draw:
    """A broker's band in a role."""
    high = half * icons.HEIGHTS[name]
    return lambda s: icons.BANDS[name](s.canvas, s.band(high, *flags))


def power(color: str) -> Draw:
    """⏻: who shuts down, and in another colour who is passed over."""
    return lambda s: icons.power(s.canvas, s.left + SWATCH / 2, s.y, s.color(color))


def arrow(**about: Any) -> Draw:
    """A small message from below to above; `about` are columns of its row."""
    message = replace(_ARRIVED, **about)

    def draw(swatch: Swatch) -> None:
        canvas, y, tail, head = swatch.canvas, swatch.y, swatch.left + 2, swatch.left + SWATCH + 8
        icons.draw_stroke(canvas, message, (canvas.at(tail), y + 3, canvas.at(head), y - 3))

    return draw


def cell(*, has: bool = True, committed: bool = True, is_read: bool = False) -> Draw:
    """A cell of a log."""

    def draw(swatch: Swatch) -> None:
        box = Box(swatch.left, swatch.y - 5, swatch.left + SWATCH, swatch.y + 5)
        cell = LogCell(0, 1, 0, has, not has, committed)
        icons.log_cell(swatch.canvas, box, cell, 0, is_read=is_read)

    return draw


def fence(swatch: Swatch) -> None:
    """A cross-hatch in an outline, dense enough to be one on little room."""
    ends, color = swatch.band(FENCE)[:4], swatch.color("hatch")
    icons.cross_hatch(swatch.canvas, *ends, color, step=5)
    swatch.canvas.rect(*ends, "rgba(0,0,0,0)", line={"color": color, "width": 1})


def risk(swatch: Swatch) -> None:
    """The hatch of records at risk."""
    swatch.canvas.hatch(*swatch.band()[:4], swatch.color("risk_edge"), step=6)


def not_known(swatch: Swatch) -> None:
    """The hatch of what is not known."""
    swatch.canvas.hatch(*swatch.band()[:4], swatch.color("line"), step=7)


def flag(swatch: Swatch) -> None:
    """Of a finding."""
    icons.flag(swatch.canvas, swatch.left + SWATCH / 2 - 4, swatch.y, swatch.color("text"))


def no_entry(swatch: Swatch) -> None:
    """⛔ at the beginning, on a plate."""
    canvas, y, wide = swatch.canvas, swatch.y, 2 * icons.SIGN + 2
    canvas.rect(swatch.at(0), swatch.at(wide / SWATCH), y - FENCE, y + FENCE, swatch.color("tile"))
    colors = swatch.color("muted"), swatch.color("tile")
    icons.no_entry(canvas, swatch.left + wide / 2, y, *colors)


def unfenced(swatch: Swatch) -> None:
    """✓ at the end."""
    px = swatch.left + SWATCH - icons.GATE / 2
    icons.gate(swatch.canvas, px, swatch.y, swatch.color("text"), swatch.color("paper"))


def log_line(swatch: Swatch) -> None:
    """A log that grows, filled to its high watermark."""
    xs, band = [swatch.at(share) for share in (0, 0.35, 0.7, 1)], swatch.band()
    steps = ((1, 0), (3, 1), (3, 3))
    uptime = [Stretch(*ends, *step) for ends, step in zip(pairwise(xs), steps, strict=True)]
    draw_line(swatch.canvas, uptime, (band.y1, band.y0), (0, 4))


def head(swatch: Swatch) -> None:
    """Of a short arrow down."""
    x, color = swatch.at(0.5), swatch.color("message")
    swatch.canvas.head(x, swatch.y - 6, x, swatch.y + 6, color, size=6)


def arrives(swatch: Swatch) -> None:
    """A message that is marked where it arrives."""
    x = swatch.at(0.5)
    icons.draw_end(swatch.canvas, (x, swatch.y - 6, x, swatch.y + 6), "delivered")


def tails(swatch: Swatch) -> None:
    """Requests of this incarnation and of an earlier one, waiting."""
    for share, earlier in ((0.28, False), (0.72, True)):
        color = swatch.color("message")
        icons.draw_tail(swatch.canvas, swatch.at(share), swatch.y, color, earlier)


line = across(0, "line", width=1.5)
tick = parts(line, upright(0.5, "text", 2))
unknown = parts(ground("offline"), not_known)
tile = parts(ground("tile"), upright(0, "tile_edge", 2))
still_registered = parts(*(across(y, "tile_edge", dash="2px,3px") for y in (-5, 5)))
fenced, gate = parts(fence, no_entry), parts(fence, unfenced)
failed_over = parts(ground("tile"), line, upright(0.5, "tile_edge", 2))
queue = parts(ground("tile", 6), tails)
watch = parts(across(-6, "line", width=1.5), upright(0.5, "message", 1.2, 6), head)
leader = parts(role("leader"), glyph("★", "leader_text"))
leads_without = parts(role("leader", "lacks committed"), glyph("★", "lost_text"))
recovering = parts(role("leader", "recovering", half=4.5), glyph("R", "leader_text"))
believes = parts(role("believes"), glyph("☆", "text"))
idle, empty = role("in ISR", "idle"), role("in ISR", "log empty")
safe = parts(ground("safe"), glyph("●", "safe_text"))
at_risk = parts(ground("risk"), risk, glyph("▲", "risk_text"))
lost = parts(ground("lost", 4), bracket(-6, "lost_text"), glyph("▼", "lost_text"))
offline = parts(ground("offline"), glyph("○", "text"))
