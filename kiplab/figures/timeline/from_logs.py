"""What only the picture of a metadata log has: findings by their numbers, and what is not known."""

from collections.abc import Iterable, Iterator
from itertools import pairwise

from ...rows.columns import FINDINGS, UNKNOWN, Rows
from ..drawing.canvas import Box, safe
from ..drawing.text_width import first_fit
from . import icons
from .hover_cards import folded
from .lanes import Panel

FLAG = 13
"""Pixels from the pole of a flag to the words behind it."""
CONTROLLER_ABOVE, CONTROLLER_BELOW = 8, 19
"""Pixels of the controller's lane above its line and below it."""


def own_tracks(runs: Iterable[Rows]) -> tuple[str, ...]:
    """The row for findings, below the tracks of the partition, where there are any."""
    return (FINDINGS,) if any(mark.lane == FINDINGS for run in runs for mark in run.marks) else ()


def draw_findings(panel: Panel) -> None:
    """A flag with the numbers of the findings at each moment, and a thin line through the lanes
    of brokers; the hover card has their sentences.
    """
    canvas, lanes, size = panel.canvas, panel.lanes, panel.canvas.sizes.text
    low = lanes.controller + CONTROLLER_BELOW
    marks: dict[int, list[str]] = {}
    for mark in sorted(panel.marks("finding"), key=lambda mark: mark.x):
        marks.setdefault(mark.x, []).append(mark.text)
    for x, following in pairwise([*marks, panel.rows.meta.end]):
        texts = marks[x]
        top, bottom = lanes.strips[FINDINGS]
        numbers = ", ".join(text.partition(" ")[0] for text in texts)
        y, room = (top + bottom) / 2, canvas.px(following) - canvas.px(x)
        canvas.line(x, low, x, lanes.bottom, canvas.theme.text, width=1.2, dash="2px,3px")
        canvas.soft.append(Box(canvas.px(x) - 2, low, canvas.px(x) + 2, lanes.bottom))
        icons.flag(canvas, canvas.px(x), y, canvas.theme.text)
        said = first_fit((numbers, "…"), room - FLAG - 8, size)
        if said:
            canvas.text(canvas.beside(x, FLAG), y, safe(said), size=size, bold=True, since=x)
        canvas.card(canvas.beside(x, 10), y, folded(["findings", *texts]))


def draw_unknown(panel: Panel) -> None:
    """A hatch over what the log does not tell, with the reason in words where there is room."""
    canvas, theme, size = panel.canvas, panel.canvas.theme, panel.canvas.sizes.small
    for lane, top, bottom in _heights(panel):
        for span in panel.spans(lane, UNKNOWN):
            ends = span.x0, span.x1, top, bottom
            canvas.rect(*ends, theme.offline, opacity=0.8)
            canvas.hatch(*ends, theme.line)
            middle, y = (span.x0 + span.x1) / 2, (top + bottom) / 2
            room = (span.x1 - span.x0) * canvas.unit - 6
            text = first_fit((span.text, UNKNOWN, "?"), room, size)
            if text:
                box = canvas.box_of(middle, y, text, size, "center")
                canvas.plate(box, theme.offline)
                canvas.text(middle, y, safe(text), size=size, anchor="center", since=span.x0)
            canvas.cards(span.x0, span.x1, y, folded([span.text, panel.lasting(span)]))


def _heights(panel: Panel) -> Iterator[tuple[str, float, float]]:
    """The lanes that may be unknown, with their tops and bottoms."""
    lanes = panel.lanes
    strips = [ends for name, ends in lanes.strips.items() if name != FINDINGS]
    yield "world", lanes.top, lanes.bottom
    yield "partition", lanes.top, max(bottom for _, bottom in strips)
    yield "controller", lanes.controller - CONTROLLER_ABOVE, lanes.controller + CONTROLLER_BELOW
    for lane, (top, bottom) in lanes.brokers.items():
        yield lane, top, bottom
