"""The legend: one table says of every mark what it means, how it looks, and where it occurs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from . import roles, signs
from .arrows import shown
from .canvas import Canvas
from .columns import MessageRow, Rows
from .measure import width_of
from .strokes import draw_stroke

SWATCH, ROW_GAP, COLUMN_GAP, INDENT = 24, 1, 16, 14
"""Pixels: a swatch's width, between rows, between columns, from the sheet's edge."""


class Swatch(NamedTuple):
    """Where a swatch goes: pixels from the left and to its middle from the top."""

    canvas: Canvas
    left: float
    y: float

    def band(self, half: float, *flags: str) -> roles.Band:
        """A band across the swatch, `half` as high above its middle as below."""
        ends = self.canvas.at(self.left), self.canvas.at(self.left + SWATCH)
        return roles.Band(*ends, self.y - half, self.y + half, flags)

    def write(self, glyph: str, color: str) -> None:
        """A glyph in the middle."""
        x = self.canvas.at(self.left + SWATCH / 2)
        self.canvas.text(x, self.y, glyph, color, size=11, anchor="center", bold=True)

    def arrow(self, **about: object) -> None:
        """A small message from below to above."""
        known: dict[str, object] = {"x_sent": 0, "x_arrived": 0, "fate": "delivered", **about}
        message = MessageRow("", "", "", "", label="", detail="", **known)  # type: ignore[arg-type]
        theme = self.canvas.theme
        color = {"refused": theme.refused, "dropped": theme.muted}.get(message.fate, theme.message)
        tail, head = self.canvas.at(self.left + 2), self.canvas.at(self.left + SWATCH + 8)
        draw_stroke(self.canvas, message, (tail, self.y + 3, head, self.y - 3), color)


Draw = Callable[[Swatch], None]
_DOWN = ("disk replaced", "tail lost", "crashed", "stopped", "down")


class Seen(NamedTuple):
    """What occurs in a run, for the partition that is followed: (track, value) of its states,
    (value, flag) of its roles, kinds of its brokers' marks, the messages that have arrows.
    """

    states: frozenset[tuple[str, str]]
    flags: frozenset[tuple[str, str]]
    marks: frozenset[str]
    messages: tuple[MessageRow, ...]
    registered: bool
    unfenced: bool
    ticked: bool


Occurs = Callable[[Seen], bool]


class Mark(NamedTuple):
    """An entry: `glyph` stands for the swatch in plain text."""

    id: str
    glyph: str
    words: str
    draw: Draw
    occurs: Occurs


def legend_words(rows: Rows, partition: str = "") -> list[tuple[str, str]]:
    """(glyph, words) of every mark in a picture of this run."""
    return [(mark.glyph, mark.words) for mark in occurring((rows,), partition)]


def occurring(
    rows_list: Sequence[Rows], partition: str = "", *, growing: bool = False
) -> list[Mark]:
    """The entries that occur in any of these runs, in the table's order.

    In pictures of a `growing` run, messages that take their time are on their way for a while, and
    how it may end stands there whether or not it will: a legend must not give that away.
    """
    sights = [_seen(rows, partition or rows.busiest) for rows in rows_list]
    found = {mark.id for mark in MARKS if any(map(mark.occurs, sights))}
    if growing:
        found |= {"message in flight", "message refused", "at risk", "lost", "offline"}
    return [mark for mark in MARKS if mark.id in found]


def draw_legend(
    canvas: Canvas,
    rows_list: Sequence[Rows],
    top: float,
    partition: str = "",
    *,
    growing: bool = False,
) -> float:
    """The marks of these runs in aligned columns from `top` on; returns where they end."""
    marks = occurring(rows_list, partition, growing=growing)
    if not marks:
        return top
    size, row = canvas.sizes.small, canvas.sizes.small * 1.3 + ROW_GAP
    columns = _columns(marks, size, canvas.width - 2 * INDENT)
    ends = canvas.at(INDENT), canvas.at(canvas.width - INDENT)
    canvas.line(ends[0], top + 1, ends[1], top + 1, canvas.theme.grid)
    left = float(INDENT)
    for column in columns:
        for place, mark in enumerate(column):
            y = top + 6 + row * (place + 0.5)
            mark.draw(Swatch(canvas, left, y))
            x = canvas.at(left + _indent(mark))
            canvas.text(x, y, mark.words, canvas.theme.muted, size=size, layer="legend")
        left += _wide(column, size) + COLUMN_GAP
    return top + 6 + row * max(map(len, columns))


def _columns(marks: list[Mark], size: float, room: float) -> list[list[Mark]]:
    """As few rows as let the columns stand beside each other."""
    for rows in range(1, len(marks) + 1):
        found = [marks[n : n + rows] for n in range(0, len(marks), rows)]
        if sum(_wide(c, size) + COLUMN_GAP for c in found) - COLUMN_GAP <= room:
            return found
    return [marks]


def _wide(column: list[Mark], size: float) -> float:
    return max(_indent(mark) + width_of(mark.words, size) for mark in column)


def _indent(mark: Mark) -> float:
    return SWATCH + (14 if mark.id.startswith("message") else 6)


# --- swatches -----------------------------------------------------------------------------------


def _band(role: str, *flags: str) -> Draw:
    def draw(at: Swatch) -> None:
        roles.DRAWN[role](at.canvas, at.band(5 * roles.HEIGHTS[role], *flags))

    return draw


def _leader(at: Swatch) -> None:
    roles.leader(at.canvas, at.band(5))
    at.write("★", at.canvas.theme.leader_text)


def _recovering(at: Swatch) -> None:
    roles.leader(at.canvas, at.band(4.5, "recovering"))
    at.write("R", at.canvas.theme.leader_text)


def _believes(at: Swatch) -> None:
    roles.believes(at.canvas, at.band(5))
    at.write("☆", at.canvas.theme.text)


def _fenced(at: Swatch) -> None:
    theme, band = at.canvas.theme, at.band(5)
    signs.cross_hatch(at.canvas, *band[:4], theme.hatch)
    signs.no_entry(at.canvas, at.left + SWATCH / 2, at.y, theme.muted, theme.paper)


def _gate(at: Swatch) -> None:
    x = at.canvas.at(at.left + SWATCH / 2 - 4)
    signs.gate(at.canvas, x, at.y - 4, at.y + 4, at.canvas.theme.tile_edge)


def _shutting_down(at: Swatch) -> None:
    signs.power(at.canvas, at.left + SWATCH / 2, at.y, at.canvas.theme.muted)


def _tile(at: Swatch) -> None:
    theme, band = at.canvas.theme, at.band(5)
    at.canvas.rect(*band[:4], theme.tile)
    at.canvas.line(band.x0, band.y0, band.x0, band.y1, theme.tile_edge, width=2)


def _tick(at: Swatch) -> None:
    theme, middle = at.canvas.theme, at.canvas.at(at.left + SWATCH / 2)
    band = at.band(5)
    at.canvas.line(band.x0, at.y, band.x1, at.y, theme.line, width=1.5)
    at.canvas.line(middle, band.y0, middle, band.y1, theme.text, width=2)


def _records(fill: str, edge: str, glyph: str, color: str) -> Draw:
    """As in the strip of committed records; the names are those of the theme's colours."""

    def draw(at: Swatch) -> None:
        theme, band = at.canvas.theme, at.band(5)
        at.canvas.rect(*band[:4], getattr(theme, fill))
        if edge:
            at.canvas.hatch(*band[:4], getattr(theme, edge), step=6)
        at.write(glyph, getattr(theme, color))

    return draw


def _lost(at: Swatch) -> None:
    theme, band = at.canvas.theme, at.band(4)
    at.canvas.rect(*band[:4], theme.lost)
    signs.bracket(at.canvas, band.x0, band.x1, at.y - 6, theme.lost_text)
    at.write("▼", theme.lost_text)


def _glyph(glyph: str, color: str = "muted") -> Draw:
    return lambda at: at.write(glyph, getattr(at.canvas.theme, color))


def _arrow(**about: object) -> Draw:
    return lambda at: at.arrow(**about)


# --- where a mark occurs ------------------------------------------------------------------------


def _seen(rows: Rows, partition: str) -> Seen:
    """One pass over the rows: a legend is drawn with every repaint."""
    here = [s for s in rows.spans if s.partition in ("", partition)]
    return Seen(
        states=frozenset((s.track, s.value) for s in here),
        flags=frozenset((s.value, flag) for s in here if s.track == "role" for flag in s.flags),
        marks=frozenset(
            m.kind
            for m in rows.marks
            if m.partition in ("", partition) and m.lane.startswith("broker")
        ),
        messages=tuple(shown(rows, partition)),
        registered=any(s.track == "uptime" and s.x0 > 0 for s in here),
        unfenced=any(rows.gates(f"broker {id}") for id in rows.meta.brokers),
        ticked=bool(rows.ticks),
    )


def _is_role(*values: str) -> Occurs:
    return _is_track("role", *values)


def _has_flag(flag: str, *values: str) -> Occurs:
    return lambda seen: any((value, flag) in seen.flags for value in values)


def _is_track(track: str, *values: str) -> Occurs:
    return lambda seen: any((track, value) in seen.states for value in values)


def _is_mark(kind: str) -> Occurs:
    return lambda seen: kind in seen.marks


def _is_message(test: Callable[[MessageRow], bool]) -> Occurs:
    return lambda seen: any(map(test, seen.messages))


def _is_late(message: MessageRow) -> bool:
    arrived = message.x_arrived
    return message.fate in ("delivered", "refused") and (arrived or 0) > message.x_sent


MARKS: tuple[Mark, ...] = (
    Mark("leader", "★", "leader", _leader, _is_role("leader")),
    Mark("in ISR", "▬", "in the ISR", _band("in ISR"), _is_role("in ISR")),
    Mark("proposed", "▨", "proposed", _band("proposed"), _is_role("proposed")),
    Mark("out", "─", "out of the ISR", _band("out"), _is_role("out")),
    Mark("believes", "☆", "not agreed yet", _believes, _is_role("elected", "believes")),
    Mark(
        "recovering",
        "R",
        "recovering",
        _recovering,
        _has_flag("recovering", "leader"),
    ),
    Mark(
        "log empty",
        "▭",
        "empty log",
        _band("in ISR", "log empty"),
        _has_flag("log empty", "in ISR", "out"),
    ),
    Mark("uptime", "▏", "new broker epoch", _tile, lambda seen: seen.registered),
    Mark("fenced", "⛔", "fenced", _fenced, _is_track("fenced", "yes")),
    Mark(
        "gate",
        "⟨",
        "unfenced",
        _gate,
        lambda seen: seen.unfenced,
    ),
    Mark("shutting down", "⏻", "shutting down", _shutting_down, _is_track("shutting down", "yes")),
    Mark("down", "✕", "down", _glyph("✕", "refused"), _is_track("down", *_DOWN)),
    Mark(
        "wiped",
        "⌀",
        "records gone",
        _glyph("⌀"),
        _is_track("down", *_DOWN[:2]),
    ),
    Mark("tick", "┼", "metadata record", _tick, lambda seen: seen.ticked),
    Mark("caught up", "◆", "caught up", _glyph("◆"), _is_mark("caught up")),
    Mark("not proposed", "◇", "not proposed", _glyph("◇", "refused"), _is_mark("not proposed")),
    Mark("unclean", "▲", "unclean election", _glyph("▲", "refused"), _is_mark("unclean")),
    Mark(
        "message",
        "→",
        "at once",
        _arrow(),
        _is_message(lambda m: m.x_arrived == m.x_sent and m.fate != "dropped"),
    ),
    Mark("message late", "⇢", "delayed", _arrow(x_arrived=1), _is_message(_is_late)),
    Mark(
        "message in flight",
        "┄",
        "on its way",
        _arrow(x_arrived=None, fate="in flight"),
        _is_message(lambda m: m.fate == "in flight"),
    ),
    Mark(
        "message dropped",
        "┈✕",
        "lost message",
        _arrow(fate="dropped"),
        _is_message(lambda m: m.fate == "dropped"),
    ),
    Mark(
        "message refused",
        "⊘",
        "refused",
        _arrow(fate="refused"),
        _is_message(lambda m: m.fate == "refused"),
    ),
    Mark(
        "message duplicate",
        "⇉",
        "sent again",
        _arrow(duplicate=True),
        _is_message(lambda m: m.duplicate),
    ),
    Mark(
        "message previous",
        "◇→",
        "sender gone",
        _arrow(previous_incarnation=True),
        _is_message(lambda m: m.previous_incarnation),
    ),
    Mark("safe", "●", "safe", _records("safe", "", "●", "safe_text"), _is_track("state", "safe")),
    Mark(
        "at risk",
        "▲",
        "at risk",
        _records("risk", "risk_edge", "▲", "risk_text"),
        _is_track("state", "at risk"),
    ),
    Mark("lost", "▼", "lost for good", _lost, _is_track("state", "lost")),
    Mark(
        "offline",
        "○",
        "no leader",
        _records("offline", "", "○", "text"),
        _is_track("state", "offline"),
    ),
)
"""Every mark of the pictures, in reading order."""
