"""What the legend shows beside its words: every mark of the pictures, small.

A sample is drawn on a swatch, part by part (legend.toml). Colours go by their names in the theme.
"""

from collections.abc import Callable, Sequence
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


Sample = Sequence[Sequence[Any]]
"""Names of functions of this module, each with its arguments, and a dict of those by name."""


def draw_sample(sample: Sample, swatch: Swatch) -> None:
    """One part after the other."""
    for name, *words in sample:
        named = words.pop() if words and isinstance(words[-1], dict) else {}
        _PARTS[name](swatch, *words, **named)


def _ground(swatch: Swatch, color: str, half: float = 5) -> None:
    swatch.canvas.rect(*swatch.band(half)[:4], swatch.color(color))


def _hatch(swatch: Swatch, color: str, step: int) -> None:
    swatch.canvas.hatch(*swatch.band()[:4], swatch.color(color), step=step)


def _upright(swatch: Swatch, share: float, color: str, width: float, half: float = 5) -> None:
    x, y = swatch.at(share), swatch.y
    swatch.canvas.line(x, y - half, x, y + half, swatch.color(color), width=width)


def _across(swatch: Swatch, down: float, color: str, **stroke: Any) -> None:
    """A line from the left to the right, `down` pixels below the middle."""
    y = swatch.y + down
    swatch.canvas.line(swatch.at(0), y, swatch.at(1), y, swatch.color(color), **stroke)


def _bracket(swatch: Swatch, down: float, color: str) -> None:
    ends = swatch.at(0), swatch.at(1)
    icons.bracket(swatch.canvas, *ends, swatch.y + down, swatch.color(color))


def _glyph(swatch: Swatch, glyph: str, color: str = "muted") -> None:
    font: dict[str, Any] = {"size": 11, "anchor": "center", "bold": True, "layer": "signs"}
    swatch.canvas.text(swatch.at(0.5), swatch.y, glyph, swatch.color(color), **font)


def _role(swatch: Swatch, name: str, *flags: str, half: float = 5) -> None:
    icons.BANDS[name](swatch.canvas, swatch.band(half * icons.HEIGHTS[name], *flags))


def _power(swatch: Swatch, color: str) -> None:
    icons.power(swatch.canvas, swatch.left + SWATCH / 2, swatch.y, swatch.color(color))


def _arrow(swatch: Swatch, **about: Any) -> None:
    """A small message from below to above; `about` are columns of its row."""
    arrived = None if about.get("fate") == "in flight" else 0
    message = replace(_ARRIVED, **{"x_arrived": arrived, **about})
    canvas, y, tail, head = swatch.canvas, swatch.y, swatch.left + 2, swatch.left + SWATCH + 8
    icons.draw_stroke(canvas, message, (canvas.at(tail), y + 3, canvas.at(head), y - 3))


def _cell(
    swatch: Swatch, *, has: bool = True, committed: bool = True, is_read: bool = False
) -> None:
    box = Box(swatch.left, swatch.y - 5, swatch.left + SWATCH, swatch.y + 5)
    cell = LogCell(0, 1, 0, has, not has, committed)
    icons.log_cell(swatch.canvas, box, cell, 0, is_read=is_read)


def _fence(swatch: Swatch) -> None:
    """A cross-hatch in an outline, dense enough to be one on little room."""
    ends, color = swatch.band(FENCE)[:4], swatch.color("hatch")
    icons.cross_hatch(swatch.canvas, *ends, color, step=5)
    swatch.canvas.rect(*ends, "rgba(0,0,0,0)", line={"color": color, "width": 1})


def _flag(swatch: Swatch) -> None:
    icons.flag(swatch.canvas, swatch.left + SWATCH / 2 - 4, swatch.y, swatch.color("text"))


def _no_entry(swatch: Swatch) -> None:
    canvas, y, wide = swatch.canvas, swatch.y, 2 * icons.SIGN + 2
    canvas.rect(swatch.at(0), swatch.at(wide / SWATCH), y - FENCE, y + FENCE, swatch.color("tile"))
    colors = swatch.color("muted"), swatch.color("tile")
    icons.no_entry(canvas, swatch.left + wide / 2, y, *colors)


def _unfenced(swatch: Swatch) -> None:
    px = swatch.left + SWATCH - icons.GATE / 2
    icons.gate(swatch.canvas, px, swatch.y, swatch.color("text"), swatch.color("paper"))


def _log_line(swatch: Swatch) -> None:
    """A log that grows, filled to its high watermark."""
    xs, band = [swatch.at(share) for share in (0, 0.35, 0.7, 1)], swatch.band()
    steps = ((1, 0), (3, 1), (3, 3))
    uptime = [Stretch(*ends, *step) for ends, step in zip(pairwise(xs), steps, strict=True)]
    draw_line(swatch.canvas, uptime, (band.y1, band.y0), (0, 4))


def _head(swatch: Swatch) -> None:
    x, color = swatch.at(0.5), swatch.color("message")
    swatch.canvas.head(x, swatch.y - 6, x, swatch.y + 6, color, size=6)


def _arrives(swatch: Swatch) -> None:
    x = swatch.at(0.5)
    icons.draw_end(swatch.canvas, (x, swatch.y - 6, x, swatch.y + 6), "delivered")


def _tails(swatch: Swatch) -> None:
    """Requests of this incarnation and of an earlier one, waiting."""
    for share, earlier in ((0.28, False), (0.72, True)):
        color = swatch.color("message")
        icons.draw_tail(swatch.canvas, swatch.at(share), swatch.y, color, earlier)


_PARTS: dict[str, Callable[..., None]] = {
    part.__name__.removeprefix("_"): part
    for part in (
        *(_ground, _hatch, _upright, _across, _bracket, _glyph, _role, _power, _arrow, _cell),
        *(_fence, _flag, _no_entry, _unfenced, _log_line, _head, _arrives, _tails),
    )
}
