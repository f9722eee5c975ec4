"""Hover cards: everything that a picture has no room for, on invisible markers."""

import textwrap
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from ...rows.columns import MessageRow, SpanRow
from ...rows.message_paths import drawn_messages
from ..drawing.canvas import safe
from .lanes import Panel

LINE_LENGTH = 64
_DECIDED, _WRITTEN = "decided by the controller", "as it is written in ZooKeeper"


def draw_cards(panel: Panel) -> None:
    """Cards for strips, ticks, lanes, records and messages."""
    keeps = panel.lanes.zookeeper is not None
    for track, (y0, y1) in panel.lanes.strips.items():
        for span in panel.spans("partition", track):
            heading = f"{track} of {panel.partition}: {span.text}"
            _span(panel, span, (y0 + y1) / 2, heading, _WRITTEN if keeps else _DECIDED)
    if not keeps:
        about = "metadata records", "{0.offset}: {0.text} (v{0.version})"
        cards_of_ticks(panel, panel.lanes.controller, *about)
    draw_lane_cards(panel)


def draw_lane_cards(panel: Panel) -> None:
    """Cards for the lanes of brokers, for records where they have a strip, and for messages."""
    for lane in panel.lanes.brokers:
        _broker(panel, lane)
    y0, y1 = panel.lanes.records
    if y1 > y0:
        for span in panel.spans("records", "state"):
            _span(panel, span, (y0 + y1) / 2, f"committed records: {span.text}")
    for message in drawn_messages(panel.rows, panel.partition):
        start, end = panel.lanes.y(message.sender), panel.lanes.y(message.receiver)
        if start is not None and end is not None and panel.shows(message):
            x1 = panel.rows.meta.end if message.x_arrived is None else message.x_arrived
            card = folded(card_of(message, panel.rows.meta.number))
            along = (0, 0.2, 0.4, 0.6, 0.8, 1)
            piece = (0,) if message.fate == "in flight" else (1,)
            for share in piece if message.name in panel.marked else along:
                x = message.x_sent + (x1 - message.x_sent) * share
                panel.canvas.card(x, start + (end - start) * share, card)


def card_of(message: MessageRow, number: Callable[[int], str] = str) -> list[str]:
    """The lines of a message's card: the first is its heading. `number` names a moment.

    What it carries, what the receiver held, the check that failed, its clause, the log of Kafka.
    """
    sender = message.sender
    if message.sent_by >= 0:
        sender += f" (epoch {message.sent_by})"
    lines = [f"{sender} → {message.receiver}", *(message.fields or (message.detail,))]
    when = "still in flight"
    if message.x_arrived is not None:
        when = f"{message.fate} at {number(message.x_arrived)}"
    lines.append(f"sent at {number(message.x_sent)}, {when}")
    if message.duplicate:
        lines.append("a copy, sent again")
    if message.previous_incarnation:
        lines.append("the process that sent it is gone")
    if message.earlier_life:
        lines.append(f"it waited in a queue since {message.receiver} was czxid {message.meant_for}")
    lines += message.held
    if message.error:
        lines += [f"refused: {message.error}", *message.compared]
        lines += [f"first check that fails: {message.guard}"] if message.guard else []
    return [line for line in (*lines, message.clause, message.outcome, *message.log) if line]


def folded(lines: Iterable[str]) -> str:
    """Safe HTML: the first line bold, long ones broken between words."""
    first, *rest = lines
    return "<br>".join(
        [f"<b>{safe(first)}</b>", *(safe(p) for line in rest for p in _pieces(line))]
    )


@lru_cache(maxsize=4096)  # a lab draws the same cards again at every step
def _pieces(line: str) -> list[str]:
    words = " ".join(line.split())
    return textwrap.wrap(words, LINE_LENGTH, break_long_words=False, break_on_hyphens=False)


def _span(panel: Panel, span: SpanRow, y: float, *lines: str) -> None:
    panel.canvas.cards(span.x0, span.x1, y, folded([*lines, *_lasting(panel, span)]))


def cards_of_ticks(panel: Panel, y: float, heading: str, line: str) -> None:
    """What was written at each moment, each in a line of that form."""
    by_moment: dict[int, list[str]] = {}
    for tick in panel.rows.ticks:
        by_moment.setdefault(tick.x, []).append(line.format(tick))
    for x, written in by_moment.items():
        panel.canvas.card(x, y, folded([heading, *written]))


def _broker(panel: Panel, lane: str) -> None:
    """Per moment: who the broker is, what it is to the partition, what its log holds."""
    y, end = panel.lanes.band(lane), panel.rows.meta.end
    lines_at: list[list[str]] = [[] for _ in range(end)]
    for track in TRACKS:
        for span in panel.spans(lane, track):
            lines = list(_standing(panel, span))
            for x in range(span.x0, span.x1):
                lines_at[x] += lines
    for mark in panel.rows.marks:
        if mark.lane == lane and panel.is_shown(mark.partition):
            lines_at[mark.x].append(mark.text)
    for x, lines in enumerate(lines_at):
        heading = f"{lane}, at {panel.rows.meta.number(x)}"
        panel.canvas.card(x + 0.5, y, folded([heading, *lines]))


def _standing(panel: Panel, span: SpanRow) -> Iterator[str]:
    """A state in words, since when, why, and who decided it."""
    if span.track == "log":
        yield span.text
        return
    since, *cause = _lasting(panel, span)
    yield f"{span.text}: {since}"
    if "not told" in span.flags:
        yield "the broker itself does not know this number: before Kafka 2.2 it does not receive it"
    by = _DECIDES.get(span.value) or _DECIDES.get(span.track)
    if panel.lanes.zookeeper is not None:
        by = _DECIDES_IN_ZOOKEEPER.get(span.track, by)
    why = ", ".join((*cause, *([f"decided by {by}"] if by else [])))
    if why:
        yield why


TRACKS = "uptime", "down", "registered", "fenced", "shutting down", "passed over", "role", "log"
"""What a card tells of a broker, in order."""
_DECIDES_IN_ZOOKEEPER = {
    "uptime": "ZooKeeper: the transaction that created its znode",
    "registered": "ZooKeeper, for as long as the session lasts",
    "role": "the state in ZooKeeper",
}
_DECIDES = {
    "proposed": "no node yet: its leader has proposed it",
    "believes": "no node: it does not know its successor",
    "role": "the controller",
    "uptime": "the controller",
    "fenced": "the controller",
    "shutting down": "the broker; the controller agrees",
}


def _lasting(panel: Panel, span: SpanRow) -> Iterator[str]:
    """``from 4 to 5``, and what the play did at 4."""
    moments = panel.rows.moments
    yield panel.lasting(span)
    # There is a moment for every x, in order.
    if span.x0 < len(moments) and moments[span.x0].text:
        yield f"since {moments[span.x0].text}"
