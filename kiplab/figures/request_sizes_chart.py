"""How large requests are since KIP-380, of what they were before: a bar a request, and in bytes."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from .drawing.canvas import Box, Canvas, as_figure, wrapped_safe
from .drawing.svg import Json
from .drawing.text_width import LINE_HEIGHT, height_of
from .how_often.fleet_words import counted
from .how_often.plot_axis import PlotAxis
from .how_often.plot_panel import PlotPanel
from .how_often.plot_sheet import EDGE, Chart

SizeRow = Mapping[str, Any]

SIZES_WIDTH_MIN = 560
ROW, GAP = 50, 12
"""Pixels: a request; between words and bars."""
BAR = 18 / ROW
"""How much of its row a bar is high."""
_LABELS = 0.34
"""The share of the width that the words on the left take."""
_BYTES_ROOM = 176
_WHOLE, _END = 100, 112
"""Per cent: what a request took before, and where the axis ends; few grow, and little."""
BEFORE = "before KIP-380: 100 %"


def sizes_drawing(
    rows: Sequence[SizeRow], note: str, *, theme: str = "light", width: int | None = None
) -> Json:
    """A bar for each row of {api, versions, partitions, topics, name_length, replicas, before,
    after}, as plotly's data and layout, `width` pixels wide (980 by default, 560 at least); `note`
    stands below.

    Raises ValueError for a theme that there is none of, and for a width too small for words.
    """
    shares = [f"{_named(row)} {row['after'] / row['before']:.0%} ({_about(row)})" for row in rows]
    described = f"Sizes of requests since KIP-380, of what they were before: {'; '.join(shares)}."
    chart = Chart(
        title="A topic's name once for all of its partitions",
        plot=partial(_plot, rows),
        notes=[note],
        described=described,
        least=SIZES_WIDTH_MIN,
        what="request sizes",
    )
    return chart.drawing(theme=theme, width=width)


sizes_figure = as_figure(sizes_drawing)


def _plot(rows: Sequence[SizeRow], canvas: Canvas, top: float) -> float:
    palette, y = canvas.theme, top + GAP
    box = Box(round(canvas.width * _LABELS), y, canvas.width - _BYTES_ROOM, y + ROW * len(rows))
    panel = PlotPanel(canvas, box, PlotAxis(0, _END), PlotAxis(-len(rows), 0))
    panel.upright(_WHOLE, palette.line, dash="dot", width=1)
    size, x = canvas.sizes.small, panel.px(_WHOLE)
    canvas.text(x, y - GAP / 2, BEFORE, palette.muted, size=size, anchor="right")
    middles = [-n - 0.5 for n in range(len(rows))]
    panel.bars([(0, _WHOLE)] * len(rows), middles, palette.isr_fill, BAR)
    for row, middle in zip(rows, middles, strict=True):
        _label(canvas, row, panel.py(middle), box.x0)
        _bar(panel, row, middle)
    return box.y1 + GAP


def _bar(panel: PlotPanel, row: SizeRow, middle: float) -> None:
    canvas, palette, y = panel.canvas, panel.canvas.theme, panel.py(middle)
    share = row["after"] / row["before"]
    grew = share > 1
    edge = {"color": palette.risk_edge if grew else palette.member_edge, "width": 1}
    fill = palette.risk if grew else palette.member
    sizes = f"{row['before']:,} → {row['after']:,} bytes"
    card = [_named(row), _about(row), sizes]
    panel.bars([(0, share * _WHOLE)], [middle], fill, BAR, edge=edge, cards=[card])
    changed = f"{share - 1:+.1%}".replace("-", "−").replace("%", " %")
    color, left = palette.risk_text if grew else palette.text, panel.box.x1 + GAP
    canvas.text(left, y - 8, changed, color, bold=True)
    canvas.text(left, y + 9, sizes, palette.muted, size=canvas.sizes.small)


def _label(canvas: Canvas, row: SizeRow, y: float, right: float) -> None:
    sizes, line = canvas.sizes, canvas.sizes.text * LINE_HEIGHT
    about = wrapped_safe(_about(row), right - EDGE - GAP, sizes.small)
    top = y - (line + height_of(about, sizes.small)) / 2
    canvas.text(EDGE, top + line / 2, _named(row), bold=True)
    middle = top + line + height_of(about, sizes.small) / 2
    canvas.text(EDGE, middle, about, canvas.theme.muted, size=sizes.small)


def _named(row: SizeRow) -> str:
    old, new = row["versions"]
    return f"{row['api']} v{old} → v{new}"


def _about(row: SizeRow) -> str:
    """What a request is about; StopReplica says nothing of other replicas."""
    partitions, topics = counted(row["partitions"], "partition"), counted(row["topics"], "topic")
    about = f"{partitions} of {topics}, names of {row['name_length']}"
    of_all = "" if row["api"] == "StopReplica" else f", {counted(row['replicas'], 'replica')}"
    return about + of_all
