"""The lanes of clients below the brokers: whom each asked, and what it was told.

An arrow goes up from the client to the broker that it asks, behind the lanes between the two. What
it learnt stands at the client: it is the client that has to live with it.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from msgspec.structs import replace

from ...rows.client_requests import RAISES, asked_about, clients_shown, short_name
from ...rows.columns import MessageRow, Rows
from ..drawing.canvas import Box, Canvas, safe
from ..drawing.text_width import LINE_HEIGHT, first_fit, shortened, width_of
from . import icons
from .hover_cards import card_of, folded
from .icons import draw_stroke, draw_tail
from .lanes import Panel
from .mask import from_moment

LINES_MAX = 4
"""Lines of words that a client's lane has at most."""
PAD, BESIDE, BELOW, APART = 3, 9, 3, 6
"""Pixels: over and under the words of a lane, from a dot to its words, under it, between words."""
_NUMBERS = re.compile(r"\d+(?:–\d+)?")


class Ask(NamedTuple):
    """All that a client asked at one moment, as one arrow: `texts` from long to short."""

    message: MessageRow
    x: int
    texts: tuple[str, ...]


class AskPlace(NamedTuple):
    """Where the words of a request stand: pixels from the left, the line from 0 on."""

    text: str
    left: float
    line: int


def heights(canvas: Canvas, runs: Sequence[Rows], partition: str) -> dict[str, float]:
    """Pixels that each client's lane needs for its lines of words in any of these runs: who has a
    lane in one of them has one in all.
    """
    step, found = canvas.sizes.small * LINE_HEIGHT, {}
    for name in dict.fromkeys(name for run in runs for name in clients_shown(run, partition)):
        asked = (tuple(_asks(run, name, partition)) for run in runs)
        lines = (p.line for asks in asked for p in _placed(canvas, asks) if p is not None)
        found[name] = (1 + max(lines, default=0)) * step + 2 * PAD * canvas.sizes.air
    return found


def draw_below(panel: Panel) -> None:
    """Arrows, as far as the lanes of brokers will cover them."""
    for name, asks in _shown(panel):
        for ask in asks:
            ends = _ends(panel, name, ask)
            if ends is not None:
                panel.canvas.line(ask.x, ends[0], ask.x, ends[1], _color(panel, ask), width=1.5)


def reserve(panel: Panel) -> None:
    """Keep the words of brokers' lanes away from arrows that end there."""
    for box in heads(panel):
        panel.canvas.take(box, soft=True)


def heads(panel: Panel) -> Iterator[Box]:
    """Where the heads of arrows are, and the signs before them."""
    for name, asks in _shown(panel):
        for ask in asks:
            ends, px = _ends(panel, name, ask), panel.canvas.px(ask.x)
            if ends is not None:
                yield Box(px - 7, ends[1], px + 7, ends[1] + 27)


def draw_clients(panel: Panel) -> None:
    """Names, lines, heads, signs and words: over everything that has been drawn."""
    for name, _ in _shown(panel):
        _name(panel, name)
        y = _line(panel, name, 0)
        panel.canvas.line(0, y, panel.rows.meta.end, y, panel.canvas.theme.grid, width=1)
    for name, asks in _shown(panel):
        for ask, place in zip(asks, _placed(panel.canvas, asks), strict=True):
            _draw(panel, name, ask, place)


def flights_of(panel: Panel) -> Iterator[tuple[MessageRow, float, float, float]]:
    """(request, x, y of the client, y of the broker) of every arrow."""
    for name, asks in _shown(panel):
        for ask in asks:
            ends = _ends(panel, name, ask)
            y = _line(panel, name, 0)
            yield ask.message, ask.x, y, y if ends is None else ends[1]


# --- what there is to say -----------------------------------------------------------------------


def _shown(panel: Panel) -> Iterator[tuple[str, tuple[Ask, ...]]]:
    for name in panel.lanes.clients:
        yield name, tuple(_asks(panel.rows, name, panel.partition))


def _asks(rows: Rows, client: str, partition: str) -> Iterator[Ask]:
    """One per moment. An error is named once where it is the answer several times running."""
    by_moment: dict[int, list[MessageRow]] = {}
    for message in asked_about(rows, partition):
        if message.sender == client:
            by_moment.setdefault(message.x_sent, []).append(message)
    before = ""
    for x, asked in by_moment.items():
        merged = merge(asked)
        yield Ask(merged, x, tuple(_texts(merged, before)))
        before = merged.error


def merge(asked: Sequence[MessageRow]) -> MessageRow:
    """Several requests of one turn as one: the last decides, and what was learnt is all said."""
    *_, last = asked
    said = ", ".join(m.outcome for m in asked if m.outcome)
    labels = ", ".join(dict.fromkeys(m.label for m in asked))
    ended = tuple(id for m in asked for id in m.ended)
    refused = next((m for m in asked if m.fate == "refused"), last)
    return replace(refused, label=labels, outcome=said, began=asked[0].began, ended=ended)


def _texts(message: MessageRow, before: str) -> Iterator[str]:
    """``✓ reads 0–99``; ``⊘ Fetch: NOT_LEADER_OR_FOLLOWER``."""
    if message.fate == "delivered":
        last = message.outcome.rpartition(", ")[2]
        sign = "▲" if last.startswith(RAISES) else "✓"
        numbers = _NUMBERS.findall(message.outcome)[-1:]
        yield from (f"{sign} {said}" for said in (message.outcome, last, *numbers))
        yield sign
        return
    sign = icons.SHIELD_ROOM if message.guard else "✕" if message.fate == "dropped" else "⊘"
    api = message.label.rpartition(", ")[2]
    if message.error != before:
        if message.outcome and message.fate == "refused":
            yield f"{sign} {api}: {message.error}, {message.outcome}"
        yield f"{sign} {api}: {message.error}"
        yield f"{sign} {message.error}"
    else:
        yield f"{sign} {api}"
        yield sign


def _placed(canvas: Canvas, asks: Sequence[Ask]) -> list[AskPlace | None]:
    """The longest words that find room, line by line; None for what has none."""
    taken = [_dot(canvas.px(ask.x)) for ask in asks]
    found: list[AskPlace | None] = []
    for ask in asks:
        place = next(_free(canvas, ask, taken), None)
        if place is not None:
            wide = width_of(place.text, canvas.sizes.small)
            taken.append(Box(place.left - APART, place.line, place.left + wide, place.line + 1))
        found.append(place)
    return found


def _dot(px: float) -> Box:
    return Box(px - APART, 0, px + APART, 1)


def _free(canvas: Canvas, ask: Ask, taken: Sequence[Box]) -> Iterator[AskPlace]:
    """The places that are free, the best first: beside the dot, then on lines below it."""
    size, px = canvas.sizes.small, canvas.px(ask.x)
    near: tuple[Sequence[int], ...] = ((0, 1), range(2, LINES_MAX))
    low = ((0,), (1,), range(2, LINES_MAX))
    for lines, text in product(low if canvas.sizes.air < 1 else near, ask.texts):
        wide = width_of(text, size)
        for line, left in _lefts(canvas, px, wide, lines):
            box = Box(left, line, left + wide, line + 1)
            inside = canvas.px(0) <= left and left + wide <= canvas.width - 4
            if inside and not any(box.overlaps(other) for other in taken):
                yield AskPlace(text, left, line)


def _lefts(
    canvas: Canvas, px: float, wide: float, lines: Sequence[int]
) -> Iterator[tuple[int, float]]:
    """(line, pixels from the left) where words may begin: right of the dot, or left of it where the
    sheet ends or every line counts; on lower lines under the dot.
    """
    edge = canvas.width - 4
    for line in lines:
        if line:
            yield line, min(px - BELOW, edge - wide)
            continue
        yield line, px + BESIDE
        if px + BESIDE + wide > edge or canvas.sizes.air < 1:
            yield line, px - BESIDE - wide


# --- drawing ------------------------------------------------------------------------------------


def _name(panel: Panel, name: str) -> None:
    canvas, size = panel.canvas, panel.canvas.sizes.text
    room = canvas.sizes.left - 16
    short = short_name(name)
    text = first_fit((name, short), room, size) or shortened(short, room, size)
    canvas.margin(_line(panel, name, 0), safe(text), bold=True)


def _line(panel: Panel, name: str, line: int) -> float:
    """The middle of a line of a client's lane."""
    step = panel.canvas.sizes.small * LINE_HEIGHT
    air = panel.canvas.sizes.air
    return panel.lanes.clients[name][0] + PAD * air + step * (line + 0.5)


def _ends(panel: Panel, name: str, ask: Ask) -> tuple[float, float] | None:
    """From the client's line to the lower edge of the broker's band; None for nobody."""
    if ask.message.receiver not in panel.lanes.brokers:
        return None
    band = panel.lanes.band(ask.message.receiver) + panel.canvas.sizes.band / 2
    return _line(panel, name, 0), band


def _color(panel: Panel, ask: Ask) -> str:
    theme = panel.canvas.theme
    fates = {"refused": theme.refused, "dropped": theme.muted}
    return fates.get(ask.message.fate, theme.message)


def _draw(panel: Panel, name: str, ask: Ask, place: AskPlace | None) -> None:
    canvas, y, color = panel.canvas, _line(panel, name, 0), _color(panel, ask)
    ends = _ends(panel, name, ask)
    if ends is None:
        draw_tail(canvas, ask.x, y, color, False)
    else:
        # What lies in between stays covered: only the last piece is drawn over the broker's tile.
        tile = panel.lanes.brokers[ask.message.receiver][1]
        draw_stroke(canvas, ask.message, (ask.x, tile + 4, ask.x, ends[1]), tailed=False)
        draw_tail(canvas, ask.x, y, color, False)
    card = folded(card_of(ask.message, panel.rows.meta.number))
    for at in (y, y if ends is None else ends[1] + 10):
        canvas.card(ask.x, at, card)
    if place is not None:
        _say(panel, name, ask, place)


def _say(panel: Panel, name: str, ask: Ask, place: AskPlace) -> None:
    """On a plate, for arrows of clients below may pass there."""
    canvas, size, color = panel.canvas, panel.canvas.sizes.small, _color(panel, ask)
    y, at = _line(panel, name, place.line), canvas.at(place.left)
    box = canvas.box_of(at, y, place.text, size)
    plate = from_moment("plate", ask.x)
    canvas.rect(
        canvas.at(box.x0 - 2), canvas.at(box.x1 + 2), box.y0, box.y1, canvas.theme.paper, name=plate
    )
    canvas.text(at, y, safe(place.text), color, size=size, since=ask.x)
    if ask.message.guard:
        icons.shield_in(canvas, box, color, size, from_moment("shield", ask.x))
