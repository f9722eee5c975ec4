"""The lanes of clients below the brokers: whom each asked, and what it was told.

An arrow goes up from the client to the broker that it asks, behind the lanes between the two. What
it learnt stands at the client: it is the client that has to live with it.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, product
from typing import NamedTuple

from msgspec.structs import replace

from ...rows.client_requests import RAISES, clients_shown, requests_about, short_name
from ...rows.columns import MessageRow, Rows
from ..drawing.canvas import Box, Canvas, safe
from ..drawing.text_width import BOLD, LINE_HEIGHT, first_fit, shortened, width_of
from . import icons
from .hover_cards import card_of, folded
from .lanes import Panel
from .mask import from_moment

LINES_MAX = 4
"""Lines of words that a client's lane has at most."""
PAD, BESIDE, BELOW, APART = 3, 9, 3, 6
"""Pixels: over and under the words of a lane, from a dot to its words, under it, between words."""
_NUMBERS = re.compile(r"\d+(?:–\d+)?")


Ask = tuple[MessageRow, tuple[str, ...]]
"""All that a client asked at one moment, as one message, and its texts from long to short."""
AskPlace = tuple[str, float, int]
"""The words of a request, pixels from the left, the line from 0 on."""


class AskArrow(NamedTuple):
    """A request on the canvas: from the middle of the client's line up to the lower edge of the
    broker's band, `y1`, which is None where nobody was asked; `texts` from long to short.
    """

    message: MessageRow
    texts: tuple[str, ...]
    y0: float
    y1: float | None


def heights(canvas: Canvas, runs: Sequence[Rows], partition: str) -> dict[str, float]:
    """Pixels of each client's lane for its lines of words, over all of these runs."""
    step, high = canvas.sizes.small * LINE_HEIGHT, {}
    for name in dict.fromkeys(name for run in runs for name in clients_shown(run, partition)):
        askses = (tuple(_asks(run, name, partition)) for run in runs)
        lines = (place[2] for asks in askses for place in _placed(canvas, asks) if place)
        high[name] = (1 + max(lines, default=0)) * step + 2 * PAD * canvas.sizes.air
    return high


def draw_below(panel: Panel) -> None:
    """Arrows, as far as the lanes of brokers will cover them."""
    for message, _, y0, y1 in arrows_of(panel):
        if y1 is not None:
            color, x = icons.message_color(panel.canvas.theme, message), message.x_sent
            panel.canvas.line(x, y0, x, y1, color, width=1.5)


def heads(panel: Panel) -> Iterator[Box]:
    """Where the heads of arrows are, and the signs before them."""
    for message, _, _, y1 in arrows_of(panel):
        px = panel.canvas.px(message.x_sent)
        if y1 is not None:
            yield Box(px - 7, y1, px + 7, y1 + 27)


def draw_clients(panel: Panel) -> None:
    """Names, lines, heads, signs and words: over everything that has been drawn."""
    canvas, arrows = panel.canvas, list(arrows_of(panel))
    for name in panel.lanes.clients:
        y = _line(panel, name, 0)
        canvas.margin(y, margin_name(canvas, name, canvas.sizes.text * BOLD), bold=True)
        canvas.line(0, y, panel.rows.meta.end, y, canvas.theme.grid, width=1)
    for _, group in groupby(arrows, key=lambda arrow: arrow.message.sender):
        mine = list(group)
        places = _placed(canvas, [arrow[:2] for arrow in mine])
        for arrow, place in zip(mine, places, strict=True):
            _draw(panel, arrow)
            if place is not None:
                _say(panel, arrow, place)


def arrows_of(panel: Panel) -> Iterator[AskArrow]:
    """Every request of the clients that have a lane."""
    brokers, half = panel.lanes.brokers, panel.canvas.sizes.band / 2
    for name in panel.lanes.clients:
        for message, texts in _asks(panel.rows, name, panel.partition):
            broker = message.receiver
            end = panel.lanes.band(broker) + half if broker in brokers else None
            yield AskArrow(message, texts, _line(panel, name, 0), end)


def _asks(rows: Rows, client: str, partition: str) -> Iterator[Ask]:
    """One per moment. An error is named once where it is the answer several times running."""
    by_moment: dict[int, list[MessageRow]] = {}
    for message in requests_about(rows, partition):
        if message.sender == client:
            by_moment.setdefault(message.x_sent, []).append(message)
    before = ""
    for message_rows in by_moment.values():
        merged = merge(message_rows)
        yield merged, tuple(_texts(merged, before))
        before = merged.error


def merge(message_rows: Sequence[MessageRow]) -> MessageRow:
    """Several requests of one turn as one: the last decides, and what was learnt is all said."""
    *_, last = message_rows
    outcomes = ", ".join(m.outcome for m in message_rows if m.outcome)
    labels = ", ".join(dict.fromkeys(m.label for m in message_rows))
    ended = tuple(id for m in message_rows for id in m.ended)
    refused = next((m for m in message_rows if m.fate == "refused"), last)
    return replace(
        refused, label=labels, outcome=outcomes, began=message_rows[0].began, ended=ended
    )


def _texts(message: MessageRow, before: str) -> Iterator[str]:
    """``✓ reads 0–99``; ``⊘ Fetch: NOT_LEADER_OR_FOLLOWER``."""
    if message.fate == "delivered":
        last = message.outcome.rpartition(", ")[2]
        sign = "!" if last.startswith(RAISES) else "✓"
        numbers = _NUMBERS.findall(message.outcome)[-1:]
        yield from (f"{sign} {ending}" for ending in (message.outcome, last, *numbers))
        yield sign
        return
    sign = icons.SHIELD_ROOM if message.guard else "✕" if message.fate == "dropped" else "⊘"
    api = message.label.rpartition(", ")[2]
    if message.error == before:
        yield from (f"{sign} {api}", sign)
        return
    if message.outcome and message.fate == "refused":
        yield f"{sign} {api}: {message.error}, {message.outcome}"
    yield from (f"{sign} {api}: {message.error}", f"{sign} {message.error}")


def _placed(canvas: Canvas, asks: Sequence[Ask]) -> list[AskPlace | None]:
    """The longest words that find room, line by line; None for what has none."""
    dots = (canvas.px(message.x_sent) for message, _ in asks)
    taken = [Box(px - APART, 0, px + APART, 1) for px in dots]
    places: list[AskPlace | None] = []
    for ask in asks:
        place = next(_free(canvas, ask, taken), None)
        if place is not None:
            text, left, line = place
            wide = width_of(text, canvas.sizes.small)
            taken.append(Box(left - APART, line, left + wide, line + 1))
        places.append(place)
    return places


def _free(canvas: Canvas, ask: Ask, taken: Sequence[Box]) -> Iterator[AskPlace]:
    """The places that are free, the best first: beside the dot, then on lines below it."""
    size, (message, texts) = canvas.sizes.small, ask
    px = canvas.px(message.x_sent)
    first: tuple[Sequence[int], ...] = ((0,), (1,)) if canvas.sizes.air < 1 else ((0, 1),)
    for lines, text in product((*first, range(2, LINES_MAX)), texts):
        wide = width_of(text, size)
        for line, left in _lefts(canvas, px, wide, lines):
            box = Box(left, line, left + wide, line + 1)
            inside = canvas.px(0) <= left and left + wide <= canvas.edge
            if inside and not any(box.overlaps(other) for other in taken):
                yield text, left, line


def _lefts(
    canvas: Canvas, px: float, wide: float, lines: Sequence[int]
) -> Iterator[tuple[int, float]]:
    """(line, pixels from the left) where words may begin: right of the dot, or left of it where the
    sheet ends or every line counts; on lower lines under the dot.
    """
    edge = canvas.edge
    for line in lines:
        if line:
            yield line, min(px - BELOW, edge - wide)
            continue
        yield line, px + BESIDE
        if px + BESIDE + wide > edge or canvas.sizes.air < 1:
            yield line, px - BESIDE - wide


def margin_name(canvas: Canvas, name: str, size: float) -> str:
    """As much of a client's or a broker's name as there is room for at the left."""
    room, short = canvas.sizes.left - 16, short_name(name)
    return safe(first_fit((name, short), room, size) or shortened(short, room, size))


def _line(panel: Panel, name: str, line: int) -> float:
    """The middle of a line of a client's lane."""
    sizes = panel.canvas.sizes
    return panel.lanes.clients[name][0] + PAD * sizes.air + sizes.small * LINE_HEIGHT * (line + 0.5)


def _draw(panel: Panel, arrow: AskArrow) -> None:
    canvas, message, x, y = panel.canvas, arrow.message, arrow.message.x_sent, arrow.y0
    color = icons.message_color(canvas.theme, message)
    card = folded(card_of(message, panel.rows.meta.number))
    if arrow.y1 is not None:
        # What lies in between stays covered: only the last piece is drawn over the broker's tile.
        tile = panel.lanes.brokers[message.receiver][1]
        icons.draw_stroke(canvas, message, (x, tile + 4, x, arrow.y1), tailed=False)
    icons.draw_tail(canvas, x, y, color, False)
    for at in (y, y if arrow.y1 is None else arrow.y1 + 10):
        canvas.card(x, at, card)


def _say(panel: Panel, arrow: AskArrow, place: AskPlace) -> None:
    """On a plate, for arrows of clients below may pass there."""
    canvas, size, x = panel.canvas, panel.canvas.sizes.small, arrow.message.x_sent
    color, (text, left, line) = icons.message_color(canvas.theme, arrow.message), place
    y, at = _line(panel, arrow.message.sender, line), canvas.at(left)
    box = canvas.box_of(at, y, text, size)
    canvas.plate(box, canvas.theme.paper, 2, name=from_moment("plate", x))
    canvas.text(at, y, safe(text), color, size=size, since=x)
    if arrow.message.guard:
        icons.shield_in(canvas, box, color, size, from_moment("shield", x))
