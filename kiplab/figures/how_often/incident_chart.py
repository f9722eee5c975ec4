"""How many partitions one incident takes: the share of incidents with at least so many."""

from collections.abc import Sequence
from math import dist

import msgspec

from ..drawing.canvas import Box, Canvas, as_figure
from ..drawing.svg import Json
from .fleet_words import counted
from .number_words import share_words
from .plot_axis import PlotAxis, log_range
from .plot_marks import PlotStyle, legend_sample, plot_mark, polyline
from .plot_sheet import (
    EDGE,
    card_at,
    empty_note,
    frame,
    plot_heading,
    plot_notes,
    plot_sheet,
    tick_room,
    ticks_below,
    ticks_beside,
    told_block,
)
from .plot_table import PlotTable, plot_table

TITLE = "How many partitions does one incident take?"
EMPTY = "Nothing to draw: no incident was seen, so there is no size to tell."
_HEIGHT, _LEGEND = 290, 230
_STYLES = (
    PlotStyle("message", "circle", "solid"),
    PlotStyle("gone", "square", "6px,3px"),
    PlotStyle("refused", "diamond", "solid"),
    PlotStyle("safe_text", "triangle", "2px,2px"),
    PlotStyle("text", "cross", "8px,3px,2px,3px"),
    PlotStyle("muted", "circle", "6px,3px"),
)
MOST_KINDS = len(_STYLES)
_MARKS_APART = 30
"""Pixels between marks of a line, however many steps it has."""


class SizeBin(msgspec.Struct, frozen=True):
    """So many incidents took `fewest` to `most` partitions."""

    fewest: int
    most: int
    incidents: int


class KindOfIncident(msgspec.Struct, frozen=True, kw_only=True):
    """Incidents of one kind, smallest first, the bins apart. `noun` is what is counted in them:
    incidents that were seen, or pairs of brokers, one of which an incident takes.
    """

    name: str
    bins: tuple[SizeBin, ...]
    noun: str = "incident"

    @property
    def incidents(self) -> int:
        """How many there were."""
        return sum(size.incidents for size in self.bins)

    @property
    def middle(self) -> SizeBin:
        """The bin that half of the incidents do not exceed."""
        before = 0
        for size in self.bins:
            before += size.incidents
            if 2 * before >= self.incidents:
                return size
        return self.bins[-1]

    @property
    def largest(self) -> SizeBin:
        """The last bin with an incident."""
        return [size for size in self.bins if size.incidents][-1]


def sizes_steps(sizes: KindOfIncident) -> list[tuple[int, float]]:
    """(partitions, share of incidents with at least so many), where the share falls."""
    left, found = sizes.incidents, []
    for size in sizes.bins:
        if size.incidents:
            found.append((size.fewest, left / sizes.incidents))
            left -= size.incidents
    return found


def incident_sentence(kinds: Sequence[KindOfIncident]) -> str:
    """Half of the incidents, and the largest, of each kind."""
    said = [_kind_sentence(kind) for kind in kinds]
    return "; ".join(said) + "." if any(kind.incidents for kind in kinds) else EMPTY


def _kind_sentence(kind: KindOfIncident) -> str:
    if not kind.incidents:
        return f"{kind.name}: no incident seen"
    many = counted(kind.incidents, kind.noun)
    half, most = counted(kind.middle.most, "partition"), _span(kind.largest)
    return f"{kind.name}: half of {many} take {half} at most, the largest {most}"


def _span(size: SizeBin) -> str:
    return f"{size.most:,}" if size.fewest == size.most else f"{size.fewest:,} to {size.most:,}"


def incident_table(kinds: Sequence[KindOfIncident]) -> PlotTable:
    """A line per kind and bin that has incidents."""
    heads = ("kind", "partitions", "incidents", "share with at least so many")
    lines = []
    for kind in kinds:
        shares = dict(sizes_steps(kind))
        for size in kind.bins:
            if size.incidents:
                share = share_words(shares[size.fewest])
                lines.append((kind.name, _span(size), f"{size.incidents:,}", share))
        if not kind.incidents:
            lines.append((kind.name, "none seen", "0", ""))
    return plot_table("Partitions per incident", heads, lines)


# --- the picture ----------------------------------------------------------------------------------


def incident_drawing(
    kinds: Sequence[KindOfIncident], *, theme: str = "light", width: int | None = None
) -> Json:
    """A falling line per kind, six at most, as plotly's data and layout.

    Raises ValueError for a theme that there is none of, a width too small for words, and more kinds
    than can be told apart.
    """
    if len(kinds) > MOST_KINDS:
        raise ValueError(f"{len(kinds)} kinds are too many; {MOST_KINDS} can be told apart")
    canvas = plot_sheet(theme, width)
    sentence = incident_sentence(kinds)
    if not any(kind.incidents for kind in kinds):
        y = plot_heading(canvas, TITLE, "")
        return canvas.drawing(empty_note(canvas, y, EMPTY) + EDGE, sentence)
    y = plot_heading(canvas, TITLE, sentence) + 6
    shares = PlotAxis(*_share_range(kinds), y + _HEIGHT, y, log=True)
    left = EDGE + tick_room(canvas, shares, _HEIGHT)
    box = Box(left, y, canvas.width - EDGE - _LEGEND, y + _HEIGHT)
    partitions = PlotAxis(*_partition_range(kinds), box.x0, box.x1, log=True)
    ticks_beside(canvas, shares, box)
    end = ticks_below(canvas, partitions, box, "partitions of one incident, at least")
    frame(canvas, box)
    for kind, style in zip(kinds, _STYLES, strict=False):
        _steps(canvas, kind, style, partitions, shares)
    end = max(_legend(canvas, kinds, box), end)
    notes = ["Both axes by powers of ten. What falls together is one incident, and counts once."]
    return canvas.drawing(plot_notes(canvas, notes, end + 4), sentence)


incident_figure = as_figure(incident_drawing)


def _share_range(kinds: Sequence[KindOfIncident]) -> tuple[float, float]:
    low = min(share for kind in kinds for _, share in sizes_steps(kind))
    return min(low * 0.8, 0.1), 1.15


def _partition_range(kinds: Sequence[KindOfIncident]) -> tuple[float, float]:
    shown = [kind for kind in kinds if kind.incidents]
    return log_range([1.0, *(float(kind.largest.most) for kind in shown)], decades=1)


def _steps(
    canvas: Canvas, kind: KindOfIncident, style: PlotStyle, partitions: PlotAxis, shares: PlotAxis
) -> None:
    color = style.paint(canvas.theme)
    corners: list[tuple[float, float]] = []
    if not kind.incidents:
        return
    for fewest, share in sizes_steps(kind):
        x, y = partitions.at(fewest), shares.at(share)
        corners += [(x, corners[-1][1])] if corners else [(partitions.start, y)]
        corners.append((x, y))
        card_at(canvas, x, y, [kind.name, f"{share_words(share)} take {fewest:,} or more"])
    last = partitions.at(kind.largest.most)
    corners += [(last, corners[-1][1]), (last, shares.start)]
    polyline(canvas, corners, color, dash=style.dash)
    places = [(partitions.at(fewest), shares.at(share)) for fewest, share in sizes_steps(kind)]
    for x, y in apart_from_each_other(places, _MARKS_APART):
        plot_mark(canvas, x, y, style.shape, color)


def apart_from_each_other(
    places: Sequence[tuple[float, float]], distance: float
) -> list[tuple[float, float]]:
    """The first place, and then whichever is so far from the one before."""
    found: list[tuple[float, float]] = []
    for place in places:
        if not found or dist(place, found[-1]) >= distance:
            found.append(place)
    return found


def _legend(canvas: Canvas, kinds: Sequence[KindOfIncident], box: Box) -> float:
    palette, sizes = canvas.theme, canvas.sizes
    x, y = box.x1 + 46, box.y0 + 4
    for kind, style in zip(kinds, _STYLES, strict=False):
        if kind.incidents:
            legend_sample(canvas, x, y + 8, style)
        y = told_block(canvas, kind.name, y, palette.text, left=x)
        many = counted(kind.incidents, kind.noun) if kind.incidents else "no incident seen"
        y = told_block(canvas, many, y, palette.muted, sizes.small, left=x) + 8
    return y
