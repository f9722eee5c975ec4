"""What is drawn from lines: signs that few fonts have, bands of roles, messages, cells of logs.

x is in moments or in pixels from the left as each says, y in pixels from the top. Of a message the
line, the tail and the end each say one thing:

| part | what it says |
|---|---|
| line | solid: there at once; dashed: late or on its way; dotted: lost; double: a copy sent again |
| tail | a dot; a hollow diamond where the process that sent it, or that it was for, was gone |
| end | a head: accepted; ✕ midway: lost; nothing: still on its way |
| before the head | a shield: a guard refused it; ⊘: it was refused, and no guard did it |
"""

from collections.abc import Callable
from math import cos, hypot, pi, sin
from typing import Any, NamedTuple

from ...rows.columns import MessageRow
from ...rows.log_blocks import LogCell
from ..drawing.canvas import Box, Canvas
from ..drawing.text_width import LINE_HEIGHT
from ..drawing.theme import Theme

SIGN = 5.0
"""Half of a sign's height in pixels."""
GATE = 16.0
"""How many pixels the sign of a gate takes at the end of a fence."""
CELLS, CELL, CELL_GAP = 3, 11.0, 4.0
"""How many cells of a log are drawn crossed out, their size, and pixels between them."""
SHIELD = (6.0, 7.0)
"""Half of a shield's width and of its height in pixels."""
SHIELD_ROOM = "\u2003"
"""In words, the place of a shield: as wide as the font is high."""


def cross_hatch(
    canvas: Canvas, x0: float, x1: float, y0: float, y1: float, color: str, step: float = 9
) -> None:
    """Diagonals both ways, between moments `x0` and `x1`: what is fenced."""
    canvas.hatch(x0, x1, y0, y1, color, step=step)
    canvas.hatch(x0, x1, y0, y1, color, step=step, falling=True)


def no_entry(canvas: Canvas, px: float, y: float, color: str, bar: str) -> None:
    """⛔ at `px`."""
    canvas.ring(px, y, SIGN, color, color)
    canvas.rect(canvas.at(px - 3), canvas.at(px + 3), y - 1, y + 1, bar)


def power(canvas: Canvas, px: float, y: float, color: str) -> None:
    """⏻ at `px`: a ring that is open at the top, and a stroke through the gap."""
    turns = [(-50 + n * 20) * pi / 180 for n in range(15)]
    ring = [(px + SIGN * cos(turn), y + SIGN * sin(turn)) for turn in turns]
    canvas.path(canvas.through(ring), color, width=1.6)
    canvas.path(canvas.through([(px, y - SIGN - 1), (px, y)]), color, width=1.6)


def gate(canvas: Canvas, px: float, y: float, color: str, ground: str) -> None:
    """✓ in a ring at `px`: the controller lets the broker in."""
    canvas.ring(px, y, SIGN + 1.5, ground, color, 1.4)
    tick = [(px - 3, y + 0.5), (px - 0.8, y + 2.8), (px + 3.2, y - 2.6)]
    canvas.path(canvas.through(tick), color, width=1.6)


def bracket(canvas: Canvas, x0: float, x1: float, y: float, color: str, **more: Any) -> None:
    """⎴ over the time from moment `x0` to `x1`."""
    left, right = canvas.px(x0) + 1, canvas.px(x1) - 1
    ends = [(left, y + 5), (left, y), (right, y), (right, y + 5)]
    canvas.path(canvas.through(ends), color, width=1.5, **more)


def flag(canvas: Canvas, px: float, y: float, color: str) -> None:
    """A flag whose pole is at `px`."""
    cloth = [(px, y - SIGN - 1), (px + 9, y - 2.5), (px, y + 1)]
    canvas.path(f"{canvas.through(cloth)}Z", color, fill=color)
    canvas.path(canvas.through([(px, y - SIGN - 1), (px, y + SIGN + 2)]), color, width=1.6)


def struck_cells(canvas: Canvas, px: float, y: float, color: str) -> None:
    """Cells of a log from `px` on, each crossed out: records that are gone."""
    half, parts = CELL / 2, ""
    for left in (px + n * (CELL + CELL_GAP) for n in range(CELLS)):
        right = left + CELL
        corners = [(left, y - half), (right, y - half), (right, y + half), (left, y + half)]
        parts += f"{canvas.through(corners)}Z{canvas.through(corners[::2])}"
        parts += canvas.through([corners[3], corners[1]])
    canvas.path(parts, color, width=1.2)


def shield_in(canvas: Canvas, box: Box, color: str, size: float, name: str) -> None:
    """A shield on the first line of `box`, whose words begin with SHIELD_ROOM; `name` its shape."""
    px, y, scale = box.x0 + size * 0.52, box.y0 + size * LINE_HEIGHT / 2, size / 13.5
    left, right, top, low = px - 3.5 * scale, px + 3.5 * scale, y - 1.5 * scale, y + 0.5 * scale
    # The other way round than the outline: the bar is a hole.
    bar = canvas.through([(left, low), (left, top), (right, top), (right, low)])
    canvas.path(f"{_shield(canvas, px, y, scale)}{bar}Z", color, fill=color, name=name)


def _shield(canvas: Canvas, px: float, y: float, scale: float) -> str:
    wide, half = (length * scale for length in SHIELD)
    upper = [(px - wide, y + scale), (px - wide, y - half + scale), (px, y - half - scale)]
    lower = [(px + wide, y - half + scale), (px + wide, y + scale), (px, y + half)]
    return f"{canvas.through([*upper, *lower])}Z"


# --- bands of roles -------------------------------------------------------------------------------

HEIGHTS = {"leader": 1.0, "elected": 1.0, "believes": 1.0, "in ISR": 0.7, "proposed": 0.7, "out": 1}
"""Shares of a lane's band: a leader's is nearly twice as high as a member's."""


class Band(NamedTuple):
    """From moment `x0` to `x1`, from pixel `y0` to `y1`; `flags` as in the rows."""

    x0: float
    x1: float
    y0: float
    y1: float
    flags: tuple[str, ...] = ()


def _leader(canvas: Canvas, band: Band) -> None:
    """Filled and outlined; hatched without committed records, dotted while recovering."""
    theme, lacks = canvas.theme, "lacks committed" in band.flags
    fill, color = (theme.lost, theme.gone) if lacks else (theme.leader, theme.band_edge)
    canvas.rect(*band[:4], fill, line={"color": color, "width": 2 if lacks else 1.5})
    if lacks:
        canvas.hatch(*band[:4], color, step=12)
    if "recovering" in band.flags:
        edge = {"color": theme.gone, "width": 2.5, "dash": "2px,3px"}
        canvas.rect(band.x0, band.x1, band.y0 - 2, band.y1 + 2, "rgba(0,0,0,0)", line=edge)


def _member(canvas: Canvas, band: Band) -> None:
    """Filled; hollow while its log is empty; grey while it does not fetch."""
    theme = canvas.theme
    fill = theme.box if "log empty" in band.flags else theme.member
    idle = "idle" in band.flags
    edge = {"color": theme.line if idle else theme.member_edge, "width": 1.5}
    canvas.rect(*band[:4], theme.offline if idle else fill, line=edge)


def _proposed(canvas: Canvas, band: Band) -> None:
    """Hatched, in a dashed border: asked for and not committed."""
    color = canvas.theme.member_edge
    canvas.hatch(*band[:4], color)
    canvas.rect(*band[:4], "rgba(0,0,0,0)", line={"color": color, "width": 1.5, "dash": "dash"})


def _out(canvas: Canvas, band: Band) -> None:
    """A thin line; two in the ELR; hollow while the log is empty; dotted where nothing is read."""
    theme, y = canvas.theme, (band.y0 + band.y1) / 2
    if "idle" in band.flags:
        canvas.line(band.x0, y, band.x1, y, theme.gone, width=3, dash="3px,5px")
    elif "log empty" in band.flags:
        edge = {"color": theme.line, "width": 1}
        canvas.rect(band.x0, band.x1, y - 2.5, y + 2.5, theme.box, line=edge)
    elif "in ELR" in band.flags:
        for line in (y - 3, y + 3):
            canvas.line(band.x0, line, band.x1, line, theme.member_edge, width=2)
    else:
        canvas.line(band.x0, y, band.x1, y, theme.line, width=3)


def _believes(canvas: Canvas, band: Band) -> None:
    """The leader's shape, hollow: broker and controller do not agree yet."""
    edge = {"color": canvas.theme.band_edge, "width": 1.5, "dash": "dash"}
    canvas.rect(*band[:4], canvas.theme.box, line=edge)


BANDS: dict[str, Callable[[Canvas, Band], None]] = {
    "leader": _leader,
    "elected": _believes,
    "believes": _believes,
    "in ISR": _member,
    "proposed": _proposed,
    "out": _out,
}
"""What a broker is to the partition, by its role."""

# --- messages -------------------------------------------------------------------------------------

LATE, LOST = "7px,4px", "2px,3px"
BEFORE = 19
"""Pixels from the arrow's head to the middle of the sign before it."""
Ends = tuple[float, float, float, float]
"""Moment and pixel of the tail, then of the head."""


def message_color(theme: Theme, message: MessageRow) -> str:
    """The colour of its arrow and its words."""
    return {"refused": theme.refused, "dropped": theme.muted}.get(message.fate, theme.message)


def draw_stroke(canvas: Canvas, message: MessageRow, ends: Ends, *, tailed: bool = True) -> None:
    """Line, tail and end; a piece that does not begin at the sender is not `tailed`."""
    x0, y0, x1, y1 = ends
    color, lost = message_color(canvas.theme, message), message.fate == "dropped"
    # What is lost never gets there: its line breaks off halfway.
    stop = (x0 + (x1 - x0) * 0.55, y0 + (y1 - y0) * 0.55) if lost else (x1, y1)
    across, down = _direction(canvas, ends)
    late = message.x_arrived is None or message.x_arrived > message.x_sent
    dash = LOST if lost else LATE if late else "solid"
    for shift in (-2.2, 2.2) if message.duplicate else (0.0,):
        dx, dy = canvas.beside(0, -down * shift), across * shift
        line = (x0 + dx, y0 + dy, stop[0] + dx, stop[1] + dy)
        canvas.line(*line, color, width=1.4 if shift else 2, dash=dash)
    if tailed and message.x_sent >= 0:
        draw_tail(canvas, x0, y0, color, message.is_of_earlier_incarnation)
    if lost:
        size = canvas.sizes.text + 1
        canvas.text(*stop, "✕", color, anchor="center", size=size, bold=True)
    elif message.fate != "in flight":
        canvas.head(*ends, color)
        if message.fate == "refused":
            place = canvas.px(x1) - across * BEFORE, y1 - down * BEFORE
            _refusal(canvas, *place, color, guarded=bool(message.guard))


def draw_end(canvas: Canvas, ends: Ends, fate: str) -> None:
    """A small grey head where a message arrives, a cross where it was lost, a line on its way."""
    color = canvas.theme.muted
    if fate == "dropped":
        middle = (ends[1] + ends[3]) / 2
        canvas.text(ends[2], middle, "✕", color, anchor="center", size=canvas.sizes.small)
        return
    canvas.line(*ends, color, width=1.2)
    if fate != "in flight":
        canvas.head(*ends, color, size=7)


def _direction(canvas: Canvas, ends: Ends) -> tuple[float, float]:
    """Of an arrow on the sheet, one pixel long."""
    across, down = canvas.px(ends[2]) - canvas.px(ends[0]), ends[3] - ends[1]
    length = hypot(across, down) or 1
    return across / length, down / length


def draw_tail(canvas: Canvas, x: float, y: float, color: str, gone: bool) -> None:
    """A dot; a hollow diamond if the process that sent it was gone when it arrived."""
    r, px = 4.5, canvas.px(x)
    if gone:
        corners = [(px - r, y), (px, y - r), (px + r, y), (px, y + r)]
        canvas.path(f"{canvas.through(corners)}Z", color, fill=canvas.theme.box, width=1.5)
    else:
        canvas.ring(px, y, r, color, color)


def _refusal(canvas: Canvas, px: float, y: float, color: str, *, guarded: bool) -> None:
    """A shield with a bar where a guard said no; else ⊘."""
    if guarded:
        canvas.path(_shield(canvas, px, y, 1), color, fill=color)
        canvas.rect(canvas.at(px - 3.5), canvas.at(px + 3.5), y - 1.5, y + 0.5, canvas.theme.box)
        return
    canvas.ring(px, y, SIGN, canvas.theme.box, color, 1.6)
    slant = SIGN * 0.7
    canvas.line(
        canvas.at(px - slant), y + slant, canvas.at(px + slant), y - slant, color, width=1.6
    )


# --- cells of logs --------------------------------------------------------------------------------

HATCH = 6
"""Pixels between the lines of a hatch."""
HATCHES: tuple[tuple[bool, ...], ...] = ((), (False,), (True,), (False, True))
"""By the place of a leader epoch among its run's: which lines of its hatch fall, over and over."""


def log_cell(
    canvas: Canvas, box: Box, cell: LogCell, number: int, *, is_read: bool = False, **more: Any
) -> str:
    """A cell of that leader epoch, dashed if only read. Returns the colour of its words."""
    fill, edge, words = log_colors(canvas.theme, cell)
    ends, y = (canvas.at(box.x0), canvas.at(box.x1)), box.middle[1]
    line = {"color": edge, "width": 1.2, **({"dash": "3px,2px"} if is_read else {})}
    canvas.rect(*ends, box.y0, box.y1, fill, line=line, **more)
    for falling in HATCHES[number % len(HATCHES)]:
        lines = {"step": HATCH, "falling": falling, **more}
        canvas.hatch(*ends, box.y0, box.y1, canvas.theme.line, **lines)
    if not cell.has:
        canvas.line(ends[0], y, ends[1], y, edge, width=1.2, **more)
    return words


def log_colors(theme: Theme, cell: LogCell) -> tuple[str, str, str]:
    """Fill, edge and words of a cell."""
    if cell.lost:
        return theme.lost, theme.lost_text, theme.lost_text
    if not cell.has:
        return theme.offline, theme.muted, theme.text
    return theme.log if cell.committed else theme.box, theme.tile_edge, theme.text
