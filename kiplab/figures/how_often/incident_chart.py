"""How many partitions one incident takes: the share of incidents with at least so many."""

from collections.abc import Sequence
from functools import partial
from itertools import accumulate
from math import dist
from operator import sub

import msgspec

from ..drawing.canvas import Box, Canvas
from .fleet_words import PlotTable, counted, share_words
from .plot_axis import PlotAxis, log_range
from .plot_panel import MARK, PlotPanel, PlotStyle
from .plot_sheet import BELOW, EDGE, Chart, LegendEntry, legend, tick_room

EMPTY = "Nothing to draw: no incident was seen, so there is no size to tell."
_NOTES = ["Both axes by powers of ten. What falls together is one incident, and counts once."]
_HEIGHT, _LEGEND = 290, 230
_STYLES = (
    PlotStyle("message", "circle", "solid"),
    PlotStyle("gone", "square", "6px,3px"),
    PlotStyle("refused", "diamond", "solid"),
    PlotStyle("safe_text", "triangle-up", "2px,2px"),
    PlotStyle("text", "cross", "8px,3px,2px,3px"),
    PlotStyle("muted", "circle", "6px,3px"),
)
MOST_KINDS = len(_STYLES)
_MARKS_APART = 30
"""Pixels between marks of a line, however many steps it has."""


class KindOfIncident(msgspec.Struct, frozen=True, kw_only=True):
    """Incidents of one kind: so many partitions, smallest first, and how many take as many. `noun`
    is what is counted in them: incidents that were seen, or pairs of brokers, one of which an
    incident takes.
    """

    name: str
    sizes: tuple[tuple[int, int], ...]
    noun: str = "incident"

    @property
    def incidents(self) -> int:
        """How many there were."""
        return sum(many for _, many in self.sizes)

    @property
    def steps(self) -> list[tuple[int, float]]:
        """(partitions, share of incidents with at least so many)."""
        left = accumulate((many for _, many in self.sizes), sub, initial=self.incidents)
        return [(size, n / self.incidents) for (size, _), n in zip(self.sizes, left, strict=False)]

    @property
    def middle(self) -> int:
        """What half of the incidents do not exceed."""
        return max(size for size, share in self.steps if 2 * share >= 1)


def _sentence(kinds: Sequence[KindOfIncident]) -> str:
    sentences = []
    for kind in kinds:
        words = "no incident seen"
        if kind.incidents:
            many, half = counted(kind.incidents, kind.noun), counted(kind.middle, "partition")
            words = f"half of {many} take {half} at most, the largest {kind.sizes[-1][0]:,}"
            words = words if kind.incidents > 1 else f"{many} takes {half}"
        sentences.append(f"{kind.name}: {words}")
    return "; ".join(sentences) + "." if any(kind.incidents for kind in kinds) else EMPTY


def _table(kinds: Sequence[KindOfIncident]) -> PlotTable:
    heads = ("kind", "partitions", "incidents", "share with at least so many")
    lines = []
    for kind in kinds:
        for (size, many), (_, share) in zip(kind.sizes, kind.steps, strict=True):
            lines.append((kind.name, f"{size:,}", f"{many:,}", share_words(share)))
        if not kind.incidents:
            lines.append((kind.name, "none seen", "0", ""))
    return PlotTable("Partitions per incident", heads, lines)


def incident_chart(kinds: Sequence[KindOfIncident]) -> Chart:
    """A falling line per kind. Raises ValueError for more than six kinds."""
    if len(kinds) > MOST_KINDS:
        raise ValueError(f"{len(kinds)} kinds are too many; {MOST_KINDS} can be told apart")
    return Chart(
        title="How many partitions does one incident take?",
        sentence=_sentence(kinds),
        words=_table(kinds),
        plot=partial(_plot, kinds),
        notes=_NOTES,
        empty="" if any(kind.incidents for kind in kinds) else EMPTY,
    )


def _plot(kinds: Sequence[KindOfIncident], canvas: Canvas, top: float) -> float:
    y = top + 6
    low = min(share for kind in kinds for _, share in kind.steps)
    shares = PlotAxis(min(low * 0.8, 0.1), 1.15, log=True, line=True).ticked(_HEIGHT, 34)
    left = EDGE + tick_room(canvas, shares)
    box = Box(left, y, canvas.width - EDGE - _LEGEND, y + _HEIGHT)
    title = "partitions of one incident, at least"
    largest = [float(kind.sizes[-1][0]) for kind in kinds if kind.sizes]
    ends = log_range([1.0, *largest], decades=1)
    partitions = PlotAxis(*ends, log=True, title=title, line=True, outside=True)
    panel = PlotPanel(canvas, box, partitions.ticked(box.x1 - box.x0, 70), shares)
    entries = []
    for kind, style in zip(kinds, _STYLES, strict=False):
        if kind.incidents:
            _steps(panel, kind, style)
        many = counted(kind.incidents, kind.noun) if kind.incidents else "no incident seen"
        entries.append(LegendEntry(kind.name, many, style if kind.incidents else None))
    return max(legend(canvas, entries, box.x1 + 6, y + 4), box.y1 + BELOW) + 4


def _steps(panel: PlotPanel, kind: KindOfIncident, style: PlotStyle) -> None:
    """From step to step, and at last down to the edge; marks where there is room for them."""
    color, steps = style.paint(panel.canvas.theme), kind.steps
    xs, ys = [panel.x.low], [steps[0][1]]
    for fewest, share in steps:
        xs, ys = [*xs, fewest, fewest], [*ys, ys[-1], share]
    last = kind.sizes[-1][0]
    panel.line([*xs, last, last], [*ys, ys[-1], panel.y.low], color, dash=style.dash)
    places = [(panel.px(fewest), panel.py(share)) for fewest, share in steps]
    roomy = apart_from_each_other(places, _MARKS_APART)
    sizes = [MARK if place in roomy else 0 for place in places]
    cards = [[kind.name, f"{share_words(share)} take {n:,} or more"] for n, share in steps]
    starts, shares = zip(*steps, strict=True)
    panel.marks(starts, shares, style.shape, color, sizes=sizes, cards=cards)


def apart_from_each_other(
    places: Sequence[tuple[float, float]], distance: float
) -> list[tuple[float, float]]:
    """The first place, and then whichever is so far from the one before."""
    found: list[tuple[float, float]] = []
    for place in places:
        if not found or dist(place, found[-1]) >= distance:
            found.append(place)
    return found
