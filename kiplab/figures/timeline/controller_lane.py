"""The controller's lane: a line, a tick per moment with metadata records, words above."""

from collections.abc import Iterator

from ...rows.columns import CONTROLLER_EPOCH, QUEUE_FOR, Rows, SpanRow
from ..drawing.canvas import Box, Canvas, safe
from ..drawing.text_width import first_fit, width_of
from .arrow_strokes import draw_tail
from .hover_cards import folded
from .lanes import Panel, TickWord

ROWS_MAX = 3
EPOCH_ABOVE, EPOCH_BELOW, EPOCH_STEP = 8, 19, 24
"""Pixels of a controller epoch's tile above the line, and below it, where its number stands; and
from one place that is tried for the number to the next.
"""


def tick_words(canvas: Canvas, rows: Rows, partition: str) -> tuple[tuple[TickWord, ...], int]:
    """The words above the line, placed so that none overlap, and how many rows they take.

    Shorter words are taken if they save a row. Words that find no room are left out: the hover
    card has them.
    """
    full = list(_by_moment(rows, partition))
    short = [(x, text.replace("→ epoch", "→").replace("→ czxid", "→")) for x, text in full]
    return min((_placed(canvas, full), _placed(canvas, short)), key=lambda found: found[1])


def _placed(canvas: Canvas, words: list[tuple[int, str]]) -> tuple[tuple[TickWord, ...], int]:
    ends = [0.0] * ROWS_MAX
    placed: list[TickWord] = []
    for x, text in words:
        wide = width_of(text, canvas.sizes.small)
        left = min(canvas.px(x) - wide / 2, canvas.width - 4 - wide)
        row = next((row for row, end in enumerate(ends) if left >= end), None)
        if row is not None:
            ends[row] = left + wide + 9
            placed.append(TickWord(x, text, row, left + wide / 2))
    return tuple(placed), 1 + max((word.row for word in placed), default=0)


def _by_moment(rows: Rows, partition: str) -> Iterator[tuple[int, str]]:
    moments: dict[int, list[str]] = {}
    for tick in rows.ticks:
        if tick.short and tick.partition in ("", partition):
            moments.setdefault(tick.x, []).append(tick.short)
    for x, words in moments.items():
        yield x, ", ".join(dict.fromkeys(words))


def draw_controller(panel: Panel, *, with_epochs: bool) -> None:
    """The lane of a planned panel; `with_epochs` for a run that `tells_epochs`."""
    canvas, y = panel.canvas, panel.lanes.controller
    theme = canvas.theme
    canvas.margin(y, "controller", bold=True)
    end = panel.rows.meta.end
    if with_epochs:
        draw_epochs(panel, y - EPOCH_ABOVE, y + EPOCH_BELOW)
        say_epochs(panel, y + EPOCH_BELOW / 2 + 2)
    canvas.line(0, y, end, y, theme.line, width=1.5)
    canvas.take(Box(canvas.px(0), y - 1, canvas.px(end), y + 1))
    if panel.lanes.zookeeper is None:
        draw_ticks(panel, y)


def draw_ticks(panel: Panel, y: float) -> None:
    """On the line at `y`: a tick per moment with records, and the words that found room."""
    canvas, theme, sizes = panel.canvas, panel.canvas.theme, panel.canvas.sizes
    here = (tick.x for tick in panel.rows.ticks if panel.is_shown(tick.partition))
    for x in dict.fromkeys(here):
        canvas.line(x, y - 6, x, y + 6, theme.text, width=2)
        canvas.take(Box(canvas.px(x) - 2, y - 6, canvas.px(x) + 2, y + 6))
    for word in panel.ticks:
        row = panel.lanes.tick_rows[-1 - word.row]
        at = canvas.at(word.px)
        canvas.text(at, row, safe(word.text), size=sizes.small, anchor="center", since=word.x)


# --- controller epochs --------------------------------------------------------------------------


def draw_epochs(panel: Panel, top: float, bottom: float) -> None:
    """A tile per controller epoch, with a hard edge where a new controller takes over."""
    canvas = panel.canvas
    for span in panel.spans(*CONTROLLER_EPOCH):
        canvas.rect(span.x0, span.x1, top, bottom, canvas.theme.tile)
        if span.x0 > 0:
            canvas.line(span.x0, top, span.x0, bottom, canvas.theme.tile_edge, width=2)
            canvas.take(Box(canvas.px(span.x0) - 1, top, canvas.px(span.x0) + 1, bottom))


def say_epochs(panel: Panel, y: float) -> None:
    """Each tile's number at its beginning, or as near to it as arrows leave room."""
    for span in panel.spans(*CONTROLLER_EPOCH):
        _say_epoch(panel.canvas, span, y)


def _names_of_epoch(span: SpanRow) -> tuple[str, ...]:
    """From long to short; a controller on a broker is never without that."""
    host = next((flag for flag in span.flags if flag.startswith("broker")), "")
    if not host:
        return span.text, f"ce {span.value}"
    return span.text, f"{host} · ce {span.value}", f"{host.replace('broker ', 'B')} · {span.value}"


def _say_epoch(canvas: Canvas, span: SpanRow, y: float) -> None:
    size, start = canvas.sizes.small, canvas.px(span.x0) + 8
    for text in _names_of_epoch(span):
        left, last = start, canvas.px(span.x1) - 2 - width_of(text, size)
        while left <= last:
            if canvas.is_free(canvas.box_of(canvas.at(left), y, text, size)):
                at = canvas.at(left)
                canvas.text(at, y, text, canvas.theme.muted, size=size, since=span.x0)
                return
            left += EPOCH_STEP


# --- queue rows -----------------------------------------------------------------------------------


SIGNS_MAX, SIGN = 8, 12
"""How many signs stand side by side, and the pixels of each."""


def draw_queues(panel: Panel) -> None:
    """The rows, with the name of their broker."""
    canvas, size = panel.canvas, panel.canvas.sizes.small
    for lane, (top, bottom) in panel.lanes.queues.items():
        y, name = (top + bottom) / 2, f"queue for {lane.removeprefix('broker ')}"
        canvas.margin(y, name, canvas.theme.muted, size=size)
        for span in panel.spans("controller", f"{QUEUE_FOR}{lane}"):
            _draw(panel, span, top, bottom)
    for mark in panel.marks("queue dropped"):
        _say_dropped(panel, mark.x, mark.text)


def _draw(panel: Panel, span: SpanRow, top: float, bottom: float) -> None:
    canvas, theme, y = panel.canvas, panel.canvas.theme, (top + bottom) / 2
    color = theme.message
    canvas.rect(span.x0, span.x1, top, bottom, theme.tile)
    canvas.line(span.x0, top, span.x0, bottom, theme.tile_edge, width=1.5)
    room = (span.x1 - span.x0) * canvas.unit - 6
    count, earlier = int(span.value), "earlier" in span.flags
    size, left = canvas.sizes.small, canvas.px(span.x0) + 8
    signs = min(count, SIGNS_MAX)
    meant = " and ".join(f.removeprefix("for ") for f in span.flags if f.startswith("for "))
    texts = (f"{count} for czxid {meant}", f"{count} for {meant}", f"{count}")
    tried = [(signs, texts[1]), (1, texts[1]), (1, texts[2])]
    wide = ((n, n * SIGN + 6 + width_of(said, size)) for n, said in tried)
    signs = next((n for n, needs in wide if needs <= room), 0)
    for place in range(signs):
        draw_tail(canvas, canvas.at(left + place * SIGN), y, color, earlier)
    start = left + max(signs - 1, 0) * SIGN + (9 if signs else -4)
    text = first_fit(texts, canvas.px(span.x1) - start, size)
    if text:
        canvas.text(canvas.at(start), y, safe(text), theme.text, size=size, since=span.x0)
    canvas.take(Box(canvas.px(span.x0), top, canvas.px(span.x1), bottom))
    for x in range(span.x0, span.x1):
        since = f"from {panel.rows.meta.number(span.x0)} to {panel.rows.meta.number(span.x1)}"
        canvas.card(x + 0.5, y, folded([f"the controller's {span.track}", span.text, since]))


def _say_dropped(panel: Panel, x: int, said: str) -> None:
    """Where a queue ends because its connection was closed."""
    canvas, size = panel.canvas, panel.canvas.sizes.small
    lane = f"broker {said.partition('for broker ')[2].partition(' ')[0]}"
    if lane not in panel.lanes.queues:
        return
    top, bottom = panel.lanes.queues[lane]
    y, left = (top + bottom) / 2, canvas.px(x) + 5
    for text in (f"✕ {said.partition(' ')[0]} dropped", "✕"):
        box = canvas.box_of(canvas.at(left), y, text, size)
        if canvas.is_free(box):
            canvas.text(canvas.at(left), y, text, canvas.theme.muted, size=size, since=x)
            return
