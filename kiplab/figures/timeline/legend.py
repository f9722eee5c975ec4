"""The legend: one table says of every mark what it means, how it looks, and where it occurs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ...rows.columns import MessageRow, Rows
from ...rows.told_messages import told_messages
from ..drawing.canvas import Canvas
from ..drawing.text_width import width_of
from . import legend_samples
from .legend_samples import SWATCH, Draw, Swatch
from .log_ends import is_dense

ROW_GAP, COLUMN_GAP, INDENT = 1, 11, 14
"""Pixels: between rows, between columns, from the sheet's edge."""
_DOWN = ("disk replaced", "tail lost", "crashed", "stopped", "down")


class Seen(NamedTuple):
    """What occurs in a run, for the partition that is followed: (track, value) of its states,
    (value, flag) of its roles, kinds of its brokers' marks, the messages that have arrows.
    """

    states: frozenset[tuple[str, str]]
    flags: frozenset[tuple[str, str]]
    marks: frozenset[str]
    messages: tuple[MessageRow, ...]
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
        found |= {"message in flight", "message guarded", "at risk", "lost", "offline"}
    return [mark for mark in MARKS if mark.id in found]


def draw_legend(
    canvas: Canvas,
    rows_list: Sequence[Rows],
    top: float,
    partition: str = "",
    *,
    growing: bool = False,
    dense: bool | None = None,
) -> float:
    """The marks of these runs in aligned columns from `top` on; returns where they end.

    `dense` says whether moments are too narrow for words; None asks the canvas.
    """
    marks = occurring(rows_list, partition, growing=growing)
    if is_dense(canvas) if dense is None else dense:
        marks = [LOG_LINE if mark.id == LOG_LINE.id else mark for mark in marks]
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
        messages=tuple(told_messages(rows, partition)),
        unfenced=any(rows.gates(f"broker {id}") for id in rows.meta.brokers),
        ticked=bool(rows.ticks),
    )


def _is_role(*values: str) -> Occurs:
    return _is_track("role", *values)


def _has_flag(flag: str, *values: str) -> Occurs:
    return lambda seen: any((value, flag) in seen.flags for value in values)


def _is_track(track: str, *values: str) -> Occurs:
    return lambda seen: any((track, value) in seen.states for value in values)


def _is_tiled(seen: Seen) -> bool:
    return any(track == "uptime" for track, _ in seen.states)


def _has_new_controllers(seen: Seen) -> bool:
    return sum(track == "controller epoch" for track, _ in seen.states) > 1


def _is_mark(kind: str) -> Occurs:
    return lambda seen: kind in seen.marks


def _is_message(test: Callable[[MessageRow], bool]) -> Occurs:
    return lambda seen: any(map(test, seen.messages))


def _is_late(message: MessageRow) -> bool:
    arrived = message.x_arrived
    return message.fate in ("delivered", "refused") and (arrived or 0) > message.x_sent


MARKS: tuple[Mark, ...] = (
    Mark("leader", "★", "leader", legend_samples.leader, _is_role("leader")),
    Mark("in ISR", "▬", "in the ISR", legend_samples.band("in ISR"), _is_role("in ISR")),
    Mark("proposed", "▨", "proposed", legend_samples.band("proposed"), _is_role("proposed")),
    Mark("out", "─", "out of the ISR", legend_samples.band("out"), _is_role("out")),
    Mark(
        "believes", "☆", "not agreed yet", legend_samples.believes, _is_role("elected", "believes")
    ),
    Mark(
        "recovering",
        "R",
        "recovering",
        legend_samples.recovering,
        _has_flag("recovering", "leader"),
    ),
    Mark(
        "log empty",
        "▭",
        "empty log",
        legend_samples.band("in ISR", "log empty"),
        _has_flag("log empty", "in ISR", "out"),
    ),
    Mark("uptime", "▏", "be: broker epoch", legend_samples.tile, _is_tiled),
    Mark("fenced", "⛔", "fenced", legend_samples.fenced, _is_track("fenced", "yes")),
    Mark(
        "gate",
        "⟩",
        "unfenced",
        legend_samples.gate,
        lambda seen: seen.unfenced,
    ),
    Mark(
        "shutting down",
        "⏻",
        "shutting down",
        legend_samples.shutting_down,
        _is_track("shutting down", "yes"),
    ),
    Mark("down", "✕", "down", legend_samples.glyph("✕", "text"), _is_track("down", *_DOWN)),
    Mark(
        "wiped",
        "⌀",
        "records gone",
        legend_samples.glyph("⌀", "gone"),
        _is_track("down", *_DOWN[:2]),
    ),
    Mark(
        "log",
        "╷",
        "LEO: log end, HW: high watermark",
        legend_samples.log_end,
        lambda seen: any(track == "log" for track, _ in seen.states),
    ),
    Mark("tick", "┼", "metadata record", legend_samples.tick, lambda seen: seen.ticked),
    Mark(
        "controller epoch",
        "▕",
        "new controller epoch",
        legend_samples.failed_over,
        _has_new_controllers,
    ),
    Mark("caught up", "◆", "caught up", legend_samples.glyph("◆"), _is_mark("caught up")),
    Mark(
        "not proposed",
        "◇",
        "not proposed",
        legend_samples.glyph("◇", "refused"),
        _is_mark("not proposed"),
    ),
    Mark(
        "unclean",
        "▲",
        "unclean election",
        legend_samples.glyph("▲", "gone"),
        _is_mark("unclean"),
    ),
    Mark(
        "message",
        "→",
        "at once",
        legend_samples.arrow(),
        _is_message(lambda m: m.x_arrived == m.x_sent and m.fate != "dropped"),
    ),
    Mark("message late", "⇢", "delayed", legend_samples.arrow(x_arrived=1), _is_message(_is_late)),
    Mark(
        "message in flight",
        "┄",
        "on its way",
        legend_samples.arrow(x_arrived=None, fate="in flight"),
        _is_message(lambda m: m.fate == "in flight"),
    ),
    Mark(
        "message dropped",
        "┈✕",
        "lost message",
        legend_samples.arrow(fate="dropped"),
        _is_message(lambda m: m.fate == "dropped"),
    ),
    Mark(
        "message guarded",
        "⊘",
        "refused by a guard",
        legend_samples.arrow(fate="refused", guard="guard"),
        _is_message(lambda m: m.fate == "refused" and bool(m.guard)),
    ),
    Mark(
        "message refused",
        "⊘",
        "refused",
        legend_samples.arrow(fate="refused"),
        _is_message(lambda m: m.fate == "refused" and not m.guard),
    ),
    Mark(
        "message duplicate",
        "⇉",
        "sent again",
        legend_samples.arrow(duplicate=True),
        _is_message(lambda m: m.duplicate),
    ),
    Mark(
        "message previous",
        "◇→",
        "sender gone",
        legend_samples.arrow(previous_incarnation=True),
        _is_message(lambda m: m.previous_incarnation),
    ),
    Mark(
        "safe",
        "●",
        "safe",
        legend_samples.records("safe", "", "●", "safe_text"),
        _is_track("state", "safe"),
    ),
    Mark(
        "at risk",
        "▲",
        "at risk",
        legend_samples.records("risk", "risk_edge", "▲", "risk_text"),
        _is_track("state", "at risk"),
    ),
    Mark("lost", "▼", "lost for good", legend_samples.lost, _is_track("state", "lost")),
    Mark(
        "offline",
        "○",
        "no leader",
        legend_samples.records("offline", "", "○", "text"),
        _is_track("state", "offline"),
    ),
)
"""Every mark of the pictures, in reading order."""
LOG_LINE = Mark("log", "▁▂", "log end, filled to the high watermark", legend_samples.log_line, bool)
"""Stands for the ticks where moments are too narrow for words."""
