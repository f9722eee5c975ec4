"""The controller's lane: a line, a tick per moment with metadata records, words above.

With ZooKeeper its line stands above that: its transactions as ticks, watches that go off at once as
short arrows, and what the controller makes of them above its own line.
"""

from collections.abc import Iterator

from ...rows import columns
from ..drawing.canvas import Canvas, safe
from ..drawing.text_width import first_fit, width_of
from . import icons
from .hover_cards import card_of, cards_of_ticks, folded
from .lane_marks import draw_tile
from .lanes import Panel, TickWord

ROWS_MAX = 3
EPOCH_ABOVE, EPOCH_BELOW, EPOCH_STEP = 8, 19, 24
"""Pixels of an epoch's tile above and below the line, and between two tried places."""


def tick_words(
    canvas: Canvas, rows: columns.Rows, partition: str
) -> tuple[tuple[TickWord, ...], int]:
    """The words above the line, placed so that none overlap, and how many rows they take.

    Shorter words are taken if they save a row. Words that find no room are left out: the hover
    card has them.
    """
    moments: dict[int, dict[str, None]] = {}
    for tick in rows.ticks:
        if tick.short and tick.partition in ("", partition):
            moments.setdefault(tick.x, {})[tick.short] = None
    full = [(x, ", ".join(words)) for x, words in moments.items()]
    short = [(x, text.replace("→ epoch", "→").replace("→ czxid", "→")) for x, text in full]
    return min((_placed(canvas, full), _placed(canvas, short)), key=lambda placed: placed[1])


def _placed(canvas: Canvas, words: list[tuple[int, str]]) -> tuple[tuple[TickWord, ...], int]:
    ends = [0.0] * ROWS_MAX
    placed: list[TickWord] = []
    for x, text in words:
        wide = width_of(text, canvas.sizes.small)
        left = min(canvas.px(x) - wide / 2, canvas.edge - wide)
        row = next((row for row, end in enumerate(ends) if left >= end), None)
        if row is not None:
            ends[row] = left + wide + 9
            placed.append(TickWord(x, text, row, left + wide / 2))
    return tuple(placed), 1 + max((word.row for word in placed), default=0)


def draw_control(panel: Panel, *, with_epochs: bool) -> None:
    """The lanes of ZooKeeper and controller of a panel; `with_epochs`: the run tells epochs."""
    y = panel.lanes.controller
    if panel.lanes.zookeeper is not None:
        _draw_zookeeper(panel, panel.lanes.zookeeper)
    panel.canvas.margin(y, "controller", bold=True)
    if with_epochs:
        draw_epochs(panel, y - EPOCH_ABOVE, y + EPOCH_BELOW)
        say_epochs(panel, y + EPOCH_BELOW / 2 + 2)
    _draw_line(panel, y, ticked=panel.lanes.zookeeper is None)
    if panel.lanes.zookeeper is not None:
        _draw_watches(panel, panel.lanes.zookeeper)
    _draw_queues(panel)
    for mark in (mark for kind in COMPARED for mark in panel.marks(kind)):
        _say_mark(panel, mark)


def _draw_line(panel: Panel, y: float, *, ticked: bool) -> None:
    canvas, size, end = panel.canvas, panel.canvas.sizes.small, panel.rows.meta.end
    canvas.line(0, y, end, y, canvas.theme.line, width=1.5)
    canvas.keep(0, end, y - 1, y + 1)
    if not ticked:
        return
    here = (tick.x for tick in panel.rows.ticks if panel.is_shown(tick.partition))
    for x in dict.fromkeys(here):
        canvas.line(x, y - 6, x, y + 6, canvas.theme.text, width=2)
        canvas.keep(x, x, y - 6, y + 6, pad=2)
    for word in panel.ticks:
        at, row = canvas.at(word.px), panel.lanes.tick_rows[-1 - word.row]
        canvas.text(at, row, safe(word.text), size=size, anchor="center", since=word.x)


def draw_epochs(panel: Panel, top: float, bottom: float) -> None:
    """A tile per controller epoch, with a hard edge where a new controller takes over."""
    for span in panel.spans(*columns.CONTROLLER_EPOCH):
        draw_tile(panel.canvas, (span.x0, span.x1), (top, bottom))


def say_epochs(panel: Panel, y: float) -> None:
    """Each tile's number near its beginning; a controller on a broker always has one."""
    canvas, size = panel.canvas, panel.canvas.sizes.small
    for span in panel.spans(*columns.CONTROLLER_EPOCH):
        host = next((flag for flag in span.flags if flag.startswith("broker")), "")
        texts = [span.text, f"{host} · ce {span.value}" if host else f"ce {span.value}"]
        texts += [f"{host.replace('broker ', 'B')} · {span.value}"] if host else []
        ends = canvas.px(span.x0) + 8, canvas.px(span.x1) - 2
        places = canvas.along(texts, *ends, y, EPOCH_STEP)
        canvas.write_first(places, canvas.theme.muted, size=size, since=span.x0)


# --- queue rows -----------------------------------------------------------------------------------


SIGNS_MAX, SIGN = 8, 12
"""How many signs stand side by side, and the pixels of each."""


def _draw_queues(panel: Panel) -> None:
    canvas, size = panel.canvas, panel.canvas.sizes.small
    for lane, (top, bottom) in panel.lanes.queues.items():
        y, name = (top + bottom) / 2, f"queue for {lane.removeprefix('broker ')}"
        canvas.margin(y, name, canvas.theme.muted, size=size)
        for span in panel.spans("controller", f"{columns.QUEUE_FOR}{lane}"):
            _draw_queue(panel, span, top, bottom)
    for mark in panel.marks("queue dropped"):  # where its connection was closed
        lane = f"broker {mark.text.partition('for broker ')[2].partition(' ')[0]}"
        if lane in panel.lanes.queues:
            at, y = canvas.beside(mark.x, 5), sum(panel.lanes.queues[lane]) / 2
            places = ((text, at, y) for text in (f"✕ {mark.text.partition(' ')[0]} dropped", "✕"))
            canvas.write_first(places, canvas.theme.muted, size=size, since=mark.x)


def _draw_queue(panel: Panel, span: columns.SpanRow, top: float, bottom: float) -> None:
    canvas, theme, y = panel.canvas, panel.canvas.theme, (top + bottom) / 2
    canvas.rect(span.x0, span.x1, top, bottom, theme.tile)
    canvas.line(span.x0, top, span.x0, bottom, theme.tile_edge, width=1.5)
    count, size, left = int(span.value), canvas.sizes.small, canvas.px(span.x0) + 8
    meant = " and ".join(f.removeprefix("for ") for f in span.flags if f.startswith("for "))
    texts = (f"{count} for czxid {meant}", f"{count} for {meant}", f"{count}")
    # A sign for each request, or one for all, if there is room for words beside them.
    room, most = (span.x1 - span.x0) * canvas.unit - 6, min(count, SIGNS_MAX)
    tried = ((most, texts[1]), (1, texts[1]), (1, texts[2]))
    signs = next((n for n, said in tried if n * SIGN + 6 + width_of(said, size) <= room), 0)
    for place in range(signs):
        at = canvas.at(left + place * SIGN)
        icons.draw_tail(canvas, at, y, theme.message, "earlier" in span.flags)
    start = left + max(signs - 1, 0) * SIGN + (9 if signs else -4)
    text = first_fit(texts, canvas.px(span.x1) - start, size)
    if text:
        canvas.text(canvas.at(start), y, safe(text), theme.text, size=size, since=span.x0)
    canvas.keep(span.x0, span.x1, top, bottom)
    lines = [f"the controller's {span.track}", span.text, panel.lasting(span)]
    canvas.cards(span.x0, span.x1, y, folded(lines))


# --- ZooKeeper ------------------------------------------------------------------------------------


WORDS_ABOVE = 17
"""Pixels from the controller's line up to the middle of the words above it."""
COMPARED: tuple[columns.MarkKind, ...] = ("bounced", "unchanged", "compared")
"""In order of importance: the first finds room first."""
_BRACKET_ABOVE, _GAP = 12, 8


def _draw_zookeeper(panel: Panel, y: float) -> None:
    panel.canvas.margin(y, columns.ZOOKEEPER_LANE, bold=True)
    _draw_line(panel, y, ticked=True)
    cards_of_ticks(panel, y, "transactions of ZooKeeper", "zxid {0.offset}: {0.text}")
    for lane in panel.lanes.brokers:
        for span in panel.spans(columns.ZOOKEEPER_LANE, lane):
            if span.x0 > 0:
                panel.canvas.card(span.x0 + 0.5, y, folded([span.text]))


def _draw_watches(panel: Panel, y: float) -> None:
    """Those that the controller was told of at once; late ones are messages like any other."""
    canvas, theme = panel.canvas, panel.canvas.theme
    for message in _watches(panel):
        x, low = message.x_sent, panel.lanes.controller - 3
        canvas.line(x, y + 7, x, low, theme.message, width=1.2)
        canvas.head(x, y, x, low, theme.message, size=8)
        canvas.keep(x, x, y, low, pad=5)
        canvas.card(x, (y + low) / 2, folded(card_of(message, panel.rows.meta.number)))


def _watches(panel: Panel) -> Iterator[columns.MessageRow]:
    """One per moment, of those that the controller was told of at once."""
    shown: set[int] = set()
    for m in panel.rows.messages:
        at_once = m.x_sent == m.x_arrived and m.fate == "delivered" and m.x_sent not in shown
        host = m.receiver.removeprefix("controller on ")
        is_watch = at_once and m.sender == columns.ZOOKEEPER_LANE
        if is_watch and panel.is_controller(host, m.x_sent):
            shown.add(m.x_sent)
            yield m


def _say_mark(panel: Panel, mark: columns.MarkRow) -> None:
    """What a controller found when it compared the brokers; a bracket over a bounce."""
    canvas, size, y = panel.canvas, panel.canvas.sizes.small, panel.lanes.controller - WORDS_ABOVE
    bounced, px = mark.kind == "bounced", canvas.px(mark.x)
    color = canvas.theme.muted if mark.kind == "compared" else canvas.theme.text
    texts: tuple[str, ...] = (mark.text,)
    if bounced:
        short = mark.text.partition(":")[0]
        texts = (f"{mark.text}: failure, then start-up", mark.text, short, "bounced")
    elif mark.kind == "unchanged":
        texts = ("○ nothing changed", "○ no change", "○")
    widths = [(text, width_of(text, size, bold=bounced)) for text in texts]
    lefts = ((text, left) for text, w in widths for left in (px + _GAP, px - _GAP - w))
    places = ((text, canvas.at(left), y) for text, left in lefts if left >= canvas.px(0))
    box = canvas.write_first(places, color, size=size, bold=bounced, since=mark.x)
    if box is not None:
        if bounced:
            ends = canvas.at(box.x0 - 3), canvas.at(box.x1 + 3)
            icons.bracket(canvas, *ends, y - _BRACKET_ABOVE, canvas.theme.text)
        canvas.card(canvas.at(box.middle[0]), y, folded(["the controller", mark.text]))
