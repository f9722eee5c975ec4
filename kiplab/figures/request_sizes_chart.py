"""How large requests are since KIP-380, of what they were before: a bar a request, and in bytes."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from .drawing.canvas import Canvas, as_figure, safe
from .drawing.svg import Json
from .drawing.text_width import LINE_HEIGHT, wrapped
from .drawing.theme import sizes_of, theme_of

SizeRow = Mapping[str, Any]

SIZES_WIDTH, SIZES_WIDTH_MIN = 980, 560
ROW, BAR, MARGIN, GAP = 50, 18, 14, 12
"""Pixels: a request, its bar, the edges, between words and bars."""
_LABELS = 0.34
"""The share of the width that the words on the left take."""
_BYTES_ROOM = 176
_WHOLE, _END = 100, 112
"""Per cent: what a request took before, and where the axis ends; few grow, and little."""
TITLE = "A topic's name once for all of its partitions"
BEFORE = "before KIP-380: 100 %"


def sizes_drawing(
    rows: Sequence[SizeRow], note: str, *, theme: str = "light", width: int | None = None
) -> Json:
    """A bar for each row of {api, versions, partitions, topics, name_length, replicas, before,
    after}, as plotly's data and layout, `width` pixels wide (980 by default, 560 at least); `note`
    stands below.

    Raises ValueError for a theme that there is none of, and for a width too small for words.
    """
    wide = SIZES_WIDTH if width is None else width
    if wide < SIZES_WIDTH_MIN:
        raise ValueError(f"width is {wide}; request sizes need {SIZES_WIDTH_MIN} pixels or more")
    sizes = replace(sizes_of(wide), left=round(wide * _LABELS), right=_BYTES_ROOM)
    canvas = Canvas(wide, _END, theme_of(theme), sizes)
    top = _words(canvas, TITLE, MARGIN, canvas.theme.text, sizes.heading) + 2 * GAP
    bottom = top + ROW * len(rows)
    _whole(canvas, top, bottom)
    for number, row in enumerate(rows):
        _bar(canvas, row, top + ROW * (number + 0.5))
    return canvas.drawing(
        _words(canvas, note, bottom + GAP, canvas.theme.muted) + MARGIN, _told(rows)
    )


sizes_figure = as_figure(sizes_drawing)


def _words(canvas: Canvas, text: str, top: float, color: str, size: float = 0) -> float:
    """Wrapped words from edge to edge; returns where they end. `size` 0 is the usual one."""
    size = size or canvas.sizes.text
    lines = safe(wrapped(text, (canvas.width - 2 * MARGIN) / 1.05, size) or text)
    lines = lines.replace("&lt;br&gt;", "<br>")
    high = (lines.count("<br>") + 1) * size * LINE_HEIGHT
    canvas.text(canvas.at(MARGIN), top + high / 2, lines, color, size=size)
    return top + high


def _whole(canvas: Canvas, top: float, bottom: float) -> None:
    """The line that all bars reached."""
    sizes, palette = canvas.sizes, canvas.theme
    canvas.line(_WHOLE, top, _WHOLE, bottom, palette.line, dash="dot")
    canvas.text(_WHOLE, top - GAP / 2, BEFORE, palette.muted, size=sizes.small, anchor="right")


def _bar(canvas: Canvas, row: SizeRow, y: float) -> None:
    sizes, palette = canvas.sizes, canvas.theme
    share = row["after"] / row["before"]
    grew = share > 1
    _label(canvas, row, y)
    canvas.rect(0, _WHOLE, y - BAR / 2, y + BAR / 2, palette.isr_fill)
    fill = palette.risk if grew else palette.member
    edge = palette.risk_edge if grew else palette.member_edge
    line = {"color": edge, "width": 1}
    canvas.rect(0, share * _WHOLE, y - BAR / 2, y + BAR / 2, fill, line=line)
    after_bar = canvas.at(canvas.px(_END) + GAP)
    color = palette.risk_text if grew else palette.text
    changed = f"{share - 1:+.1%}".replace("-", "−").replace("%", " %")
    canvas.text(after_bar, y - 8, changed, color, bold=True)
    told = f"{row['before']:,} → {row['after']:,} bytes"
    canvas.text(after_bar, y + 9, told, palette.muted, size=sizes.small)
    canvas.card(share * _WHOLE / 2, y, f"{_named(row)}<br>{_about(row)}<br>{told}")


def _label(canvas: Canvas, row: SizeRow, y: float) -> None:
    sizes, palette = canvas.sizes, canvas.theme
    room = sizes.left - MARGIN - GAP
    about = wrapped(_about(row), room, sizes.small) or _about(row)
    high = (about.count("<br>") + 1) * sizes.small * LINE_HEIGHT
    left = canvas.at(MARGIN)
    middle = y - (sizes.text * LINE_HEIGHT + high) / 2
    canvas.text(left, middle + sizes.text * LINE_HEIGHT / 2, _named(row), bold=True)
    canvas.text(
        left, middle + sizes.text * LINE_HEIGHT + high / 2, about, palette.muted, size=sizes.small
    )


def _named(row: SizeRow) -> str:
    old, new = row["versions"]
    return f"{row['api']} v{old} → v{new}"


def _about(row: SizeRow) -> str:
    """What a request is about; StopReplica says nothing of other replicas."""
    partitions = _counted(row["partitions"], "partition")
    about = f"{partitions} of {_counted(row['topics'], 'topic')}, names of {row['name_length']}"
    return (
        about if row["api"] == "StopReplica" else f"{about}, {_counted(row['replicas'], 'replica')}"
    )


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _told(rows: Sequence[SizeRow]) -> str:
    """In a sentence, what the picture shows."""
    shares = [f"{_named(row)} {row['after'] / row['before']:.0%} ({_about(row)})" for row in rows]
    return f"Sizes of requests since KIP-380, of what they were before: {'; '.join(shares)}."
