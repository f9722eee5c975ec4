"""The bands that say what a broker is to the partition: one function per role, for legends too."""

from collections.abc import Callable
from typing import NamedTuple

from ..drawing.canvas import Canvas

HEIGHTS = {"leader": 1.0, "elected": 1.0, "believes": 1.0, "in ISR": 0.7, "proposed": 0.7, "out": 1}
"""Shares of a lane's band: a leader's is nearly twice as high as a member's."""


class Band(NamedTuple):
    """From moment `x0` to `x1`, from pixel `y0` to `y1`; `flags` as in the rows."""

    x0: float
    x1: float
    y0: float
    y1: float
    flags: tuple[str, ...] = ()


def leader(canvas: Canvas, band: Band) -> None:
    """Filled and outlined; dotted in orange while it recovers from an unclean election."""
    theme = canvas.theme
    canvas.rect(*band[:4], theme.leader, line={"color": theme.band_edge, "width": 1.5})
    if "recovering" in band.flags:
        edge = {"color": theme.gone, "width": 2.5, "dash": "2px,3px"}
        canvas.rect(band.x0, band.x1, band.y0 - 2, band.y1 + 2, "rgba(0,0,0,0)", line=edge)


def member(canvas: Canvas, band: Band) -> None:
    """Filled; hollow while its log is empty; grey while it does not fetch."""
    theme = canvas.theme
    if "idle" in band.flags:
        canvas.rect(*band[:4], theme.offline, line={"color": theme.line, "width": 1.5})
        return
    fill = theme.box if "log empty" in band.flags else theme.member
    canvas.rect(*band[:4], fill, line={"color": theme.member_edge, "width": 1.5})


def proposed(canvas: Canvas, band: Band) -> None:
    """Hatched, in a dashed border: asked for and not committed."""
    theme = canvas.theme
    canvas.hatch(*band[:4], theme.member_edge)
    edge = {"color": theme.member_edge, "width": 1.5, "dash": "dash"}
    canvas.rect(*band[:4], "rgba(0,0,0,0)", line=edge)


def out(canvas: Canvas, band: Band) -> None:
    """A thin line; hollow while the log is empty; dotted while nothing is fetched."""
    theme, y = canvas.theme, (band.y0 + band.y1) / 2
    if "idle" in band.flags:
        canvas.line(band.x0, y, band.x1, y, theme.gone, width=3, dash="3px,5px")
        return
    if "log empty" in band.flags:
        edge = {"color": theme.line, "width": 1}
        canvas.rect(band.x0, band.x1, y - 2.5, y + 2.5, theme.box, line=edge)
    else:
        canvas.line(band.x0, y, band.x1, y, theme.line, width=3)


def believes(canvas: Canvas, band: Band) -> None:
    """The leader's shape, hollow: broker and controller do not agree yet."""
    theme = canvas.theme
    edge = {"color": theme.band_edge, "width": 1.5, "dash": "dash"}
    canvas.rect(*band[:4], theme.box, line=edge)


DRAWN: dict[str, Callable[[Canvas, Band], None]] = {
    "leader": leader,
    "elected": believes,
    "believes": believes,
    "in ISR": member,
    "proposed": proposed,
    "out": out,
}
