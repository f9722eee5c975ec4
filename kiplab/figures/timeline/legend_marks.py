"""The legend: one table, legend.toml, says of every mark what it means, how it looks, and what in
a run it stands for. Those that occur stand in groups below a picture.
"""

import tomllib
from collections.abc import Iterator, Sequence
from importlib.resources import files
from typing import NamedTuple

from ...rows.client_requests import clients_shown, requests_about
from ...rows.columns import FINDINGS, QUEUE_FOR, MessageRow, Rows, has_zookeeper
from ...rows.log_blocks import log_blocks
from ...rows.message_paths import drawn_messages, marked_messages
from ..drawing.canvas import Canvas
from ..drawing.text_width import LINE_HEIGHT, width_of
from .legend_samples import SWATCH, Sample, Swatch, draw_sample
from .log_ends import is_dense

WATCH = "watcher-event"
"""The kind of message that a watch sends when it goes off."""
BESIDE = {"cell", "cell open", "cell struck", "high watermark"}
"""What is always explained where the logs are beside the lanes."""


# --- what occurs in a run -------------------------------------------------------------------------


def _signs(rows: Rows, partition: str) -> Iterator[str]:
    """What there is to explain, for the partition that is followed: ``track: value`` of states,
    ``role, flag`` of roles, kinds of marks on the lanes of brokers and the controller.
    """
    spans = [span for span in rows.spans if span.partition in ("", partition)]
    for span in spans:
        yield from (span.track, f"{span.track}: {span.value}")
        if span.track == "role":
            yield from (f"{span.value}, {flag}" for flag in span.flags)
        if span.track.startswith(QUEUE_FOR):
            yield "queue"
    if len({span.value for span in spans if span.track == "controller epoch"}) > 1:
        yield "new controller"
    for mark in rows.marks:
        lane = mark.lane.startswith(("broker", "controller", FINDINGS))
        if mark.partition in ("", partition) and lane:
            yield mark.kind
    yield from _signs_of_nodes(rows, [s.flags for s in spans if s.track == "uptime"])
    clients = clients_shown(rows, partition)
    requests = (m for m in requests_about(rows, partition) if m.sender in clients)
    if marked_messages(rows, partition):
        yield "message marked"
    for message in (*drawn_messages(rows, partition), *requests):
        yield from _signs_of_message(message)
    for side in (side for block in log_blocks(rows, partition) for side in block.sides):
        for cell in side.cells:
            yield "cell struck" if not cell.has else "cell" if cell.committed else "cell open"
            yield "cell read" if side.is_read else ""


def _signs_of_nodes(rows: Rows, spans: list[tuple[str, ...]]) -> Iterator[str]:
    """What is drawn otherwise with ZooKeeper; `spans` are the flags of the brokers' uptimes."""
    zookeeper = has_zookeeper(rows)
    unknown = any("not told" in flags for flags in spans)
    if zookeeper:
        yield "czxid not told" if unknown else "czxid"
    elif spans:
        yield "broker epoch"
    if rows.ticks:
        yield "transaction" if zookeeper else "tick"
    if any(m.kind == WATCH and m.x_sent == m.x_arrived for m in rows.messages):
        yield "watch"
    if any(rows.gates(f"broker {id}") for id in rows.meta.brokers):
        yield "gate"


def _signs_of_message(message: MessageRow) -> Iterator[str]:
    fate, arrived = message.fate, message.x_arrived
    if arrived == message.x_sent and fate != "dropped":
        yield "message"
    if fate in ("delivered", "refused") and (arrived or 0) > message.x_sent:
        yield "message late"
    yield f"message {'guarded' if fate == 'refused' and message.guard else fate}"
    if message.duplicate:
        yield "message duplicate"
    if message.previous_incarnation:
        yield "message previous"
    if message.earlier_life:
        yield "message earlier incarnation"


class Mark(NamedTuple):
    """An entry of the table. `group` is what it is about, as the legend's headings name it."""

    group: str
    id: str
    glyph: str
    words: str
    sample: Sample
    signs: frozenset[str]


_TABLE = tomllib.loads((files(__package__) / "legend.toml").read_text("utf-8"))
GROUPS = (*_TABLE,)
MARKS = tuple(
    Mark(group, id, of["sign"], of["words"], of["sample"], frozenset(of.get("of", ())))
    for group, entries in _TABLE.items()
    for id, of in entries.items()
)
"""Every mark of the pictures, in reading order."""
LOG_LINE = next(mark for mark in MARKS if mark.id == "log")._replace(
    glyph="▁▂", words="log end, filled to the high watermark", sample=[["log_line"]]
)
"""Stands for the ticks where moments are too narrow for words."""


def legend_words(rows: Rows, partition: str = "") -> list[tuple[str, str]]:
    """(glyph, words) of every mark in a picture of this run."""
    return [(mark.glyph, mark.words) for mark in occurring((rows,), partition)]


def occurring(
    rows_list: Sequence[Rows], partition: str = "", *, growing: bool = False, beside: bool = False
) -> list[Mark]:
    """The entries that occur in any of these runs, in the table's order; `beside` is for pictures
    with the logs beside the lanes.

    In pictures of a `growing` run, messages that take their time are on their way for a while, and
    how it may end stands there whether or not it will: a legend must not give that away.
    """
    signs = {sign for rows in rows_list for sign in _signs(rows, partition or rows.busiest)}
    shown = {mark.id for mark in MARKS if signs & (mark.signs or {mark.id})}
    if growing:
        shown |= {"message in flight", "message guarded", "at risk", "lost", "offline"}
        shown |= {"leads without"}
    if beside:
        shown |= BESIDE
    elif growing:
        # Its logs are not laid below the lanes: they would leave no room for these.
        shown -= {mark.id for mark in MARKS if mark.group == "logs"}
    return [mark for mark in MARKS if mark.id in shown]


# --- the picture ----------------------------------------------------------------------------------

ROW_GAP, COLUMN_GAP, GROUP_GAP, LINE_GAP, INDENT = 1, 11, 22, 4, 14
"""Pixels: between rows, columns, groups and lines of groups, and from the sheet's edge."""


def draw_legend(canvas: Canvas, marks: list[Mark], top: float, dense: bool | None = None) -> float:
    """The marks in groups from `top` on; returns where they end.

    `dense` says whether moments are too narrow for words; None asks the canvas.
    """
    if is_dense(canvas) if dense is None else dense:
        marks = [LOG_LINE if mark.id == LOG_LINE.id else mark for mark in marks]
    if not marks:
        return top
    size, room = canvas.sizes.text, canvas.width - 2 * INDENT
    row, y = size * LINE_HEIGHT + ROW_GAP, top + 7
    ends = canvas.at(INDENT), canvas.at(canvas.width - INDENT)
    canvas.line(ends[0], top + 1, ends[1], top + 1, canvas.theme.grid)
    for line in _lines(marks, size, room):
        left = float(INDENT)
        for block in line:
            _draw_block(canvas, block, left, y)
            left += block.wide + GROUP_GAP
        y += row * (1 + max(len(block.columns[0]) for block in line)) + LINE_GAP
    return y - LINE_GAP


class Block(NamedTuple):
    """A group in columns, of which no other is longer than the first; widths are in pixels."""

    columns: list[list[Mark]]
    widths: list[float]
    wide: float


def _draw_block(canvas: Canvas, block: Block, left: float, top: float) -> None:
    size, theme = canvas.sizes.text, canvas.theme
    row = size * LINE_HEIGHT + ROW_GAP
    heading, y = block.columns[0][0].group, top + row / 2
    canvas.text(canvas.at(left), y, heading, size=size, bold=True, layer="headings")
    for column, wide in zip(block.columns, block.widths, strict=True):
        for place, mark in enumerate(column, 1):
            y = top + row * (place + 0.5)
            draw_sample(mark.sample, Swatch(canvas, left, y))
            x = canvas.at(left + _indent(mark))
            canvas.text(x, y, mark.words, theme.muted, size=size, layer="legend")
        left += wide + COLUMN_GAP


def _lines(marks: list[Mark], size: float, room: float) -> list[list[Block]]:
    """The groups side by side on as many lines as it takes, so that all are as low as possible."""
    tried = [_with_columns_of(marks, rows, size, room) for rows in range(1, len(marks) + 1)]

    def height(lines: list[list[Block]]) -> tuple[int, int]:
        return sum(1 + max(len(b.columns[0]) for b in line) for line in lines), len(lines)

    return min((lines for lines in tried if _fits(lines, room)), key=height, default=tried[-1])


def _with_columns_of(marks: list[Mark], rows: int, size: float, room: float) -> list[list[Block]]:
    lines: list[list[Block]] = [[]]
    for group in GROUPS:
        mine = [mark for mark in marks if mark.group == group]
        # All columns of a group are about equally long.
        if not mine:
            continue
        high = -(-len(mine) // -(-len(mine) // rows))
        columns = [mine[n : n + high] for n in range(0, len(mine), high)]
        widths = [max(_indent(m) + width_of(m.words, size) for m in c) for c in columns]
        wide = sum(width + COLUMN_GAP for width in widths) - COLUMN_GAP
        block = Block(columns, widths, max(wide, width_of(group, size, bold=True)))
        if lines[-1] and not _fits([[*lines[-1], block]], room):
            lines.append([])
        lines[-1].append(block)
    return lines


def _fits(lines: list[list[Block]], room: float) -> bool:
    return max(sum(b.wide + GROUP_GAP for b in line) - GROUP_GAP for line in lines) <= room


def _indent(mark: Mark) -> float:
    return SWATCH + (14 if mark.id.startswith("message") else 6)
