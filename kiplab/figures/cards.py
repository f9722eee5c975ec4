"""Hover cards: everything a picture has no room for, on invisible markers."""

from __future__ import annotations

from collections.abc import Iterable

from .arrows import shown
from .canvas import safe
from .columns import MessageRow, SpanRow
from .lanes import STRIPS
from .panel import Panel

LINE_LENGTH = 64


def draw_cards(panel: Panel) -> None:
    """Cards for strips, ticks, lanes, records and messages."""
    for track in STRIPS:
        y0, y1 = panel.lanes.strips[track]
        for span in panel.spans("partition", track):
            _span(panel, span, (y0 + y1) / 2, f"{track} of {panel.partition}: {span.text}")
    _ticks(panel)
    for lane in panel.lanes.brokers:
        _broker(panel, lane)
    y0, y1 = panel.lanes.records
    for span in panel.spans("records", "state"):
        _span(panel, span, (y0 + y1) / 2, f"committed records: {span.text}")
    for message in shown(panel.rows):
        _message(panel, message)


def card_of(message: MessageRow) -> list[str]:
    """The lines of a message's card: the first is its heading."""
    sender = message.sender
    if message.sent_by >= 0:
        sender += f" (epoch {message.sent_by})"
    lines = [f"{sender} → {message.receiver}", message.detail]
    arrived = "" if message.x_arrived is None else f", {message.fate} at {message.x_arrived}"
    lines.append(f"sent at {message.x_sent}{arrived or ', still in flight'}")
    if message.previous_incarnation:
        lines.append("the process that sent it is gone")
    if message.error:
        lines += [f"⊘ {message.error}", *message.compared, message.clause]
    return [line for line in (*lines, message.outcome) if line]


def folded(lines: Iterable[str]) -> str:
    """Safe HTML: the first line bold, long ones broken between words."""
    first, *rest = lines
    out = [f"<b>{safe(first)}</b>"]
    for line in rest:
        current = ""
        for word in line.split(" "):
            if current and len(current) + len(word) >= LINE_LENGTH:
                out.append(safe(current))
                current = ""
            current = f"{current} {word}".strip()
        out.append(safe(current))
    return "<br>".join(out)


def _span(panel: Panel, span: SpanRow, y: float, *lines: str) -> None:
    """One point per moment, so that the card is found anywhere on the span."""
    card = folded([*lines, f"from {span.x0} to {span.x1}"])
    for x in range(span.x0, span.x1):
        panel.canvas.card(x + 0.5, y, card)


def _ticks(panel: Panel) -> None:
    by_moment: dict[int, list[str]] = {}
    for tick in panel.rows.ticks:
        by_moment.setdefault(tick.x, []).append(f"{tick.offset}: {tick.text} (v{tick.version})")
    for x, records in by_moment.items():
        panel.canvas.card(x, panel.lanes.controller, folded(["metadata records", *records]))


def _broker(panel: Panel, lane: str) -> None:
    """Per moment: who the broker is, what it is to the partition, what its log holds."""
    y = panel.lanes.band(lane)
    for x in range(panel.rows.meta.end):
        lines = [
            span.text
            for track in ("uptime", "down", "fenced", "shutting down", "role", "log")
            for span in panel.spans(lane, track)
            if span.x0 <= x < span.x1
        ]
        marks = [m.text for m in panel.rows.marks if (m.lane, m.x) == (lane, x)]
        panel.canvas.card(x + 0.5, y, folded([f"{lane}, at {x}", *lines, *marks]))


def _message(panel: Panel, message: MessageRow) -> None:
    ends = panel.lanes.y(message.sender), panel.lanes.y(message.receiver)
    if ends[0] is None or ends[1] is None or not panel.is_shown(message.partition):
        return
    x1 = panel.rows.meta.end if message.x_arrived is None else message.x_arrived
    card = folded(card_of(message))
    for share in (0, 0.2, 0.4, 0.6, 0.8, 1):
        x = message.x_sent + (x1 - message.x_sent) * share
        panel.canvas.card(x, ends[0] + (ends[1] - ends[0]) * share, card)
