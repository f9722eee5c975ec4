"""The flat parts of a panel: grid, title, partition strips and the strip of committed records."""

from collections.abc import Callable

from ...rows.columns import STRIPS, SpanRow
from ..drawing.canvas import Box, Canvas, safe
from ..drawing.text_width import first_fit, shortened, width_of
from .icons import CELL, CELL_GAP, CELLS, bracket, struck_cells
from .lanes import Panel
from .mask import Lasting

CELLS_ROOM = CELLS * (CELL + CELL_GAP) + 6
"""Pixels that crossed cells take, with a gap to the end of their span."""
VERDICT_GLYPHS = {"loss": "▼", "harm": "▲", "safe": "●"}


def draw_grid(panel: Panel) -> None:
    """A faint line per moment, and the wash over the time in which records are at risk."""
    canvas, lanes = panel.canvas, panel.lanes
    top, bottom = lanes.top - 4, lanes.bottom + 4
    lines = "".join(f"M{x},{top:.1f}L{x},{bottom:.1f}" for x in range(canvas.end + 1))
    canvas.path(lines, canvas.theme.grid)
    for span in panel.spans("records", "state"):
        if span.value == "at risk":
            first = min(top for top, _ in lanes.brokers.values())
            low = lanes.records[1]
            canvas.rect(span.x0, span.x1, first - 8, low, canvas.theme.risk, opacity=0.6)
            canvas.hatch(span.x0, span.x1, first - 8, first - 2, canvas.theme.risk_edge, step=6)
            canvas.take(Box(canvas.px(span.x0), first - 8, canvas.px(span.x1), first - 2))


def draw_title(panel: Panel, title: str) -> None:
    """The panel's name at the left, the verdict in words at the right."""
    canvas, meta = panel.canvas, panel.rows.meta
    theme, size = canvas.theme, canvas.sizes.title
    colors = {"loss": theme.lost_text, "harm": theme.risk_text, "safe": theme.safe_text}
    canvas.text(0, panel.lanes.title, safe(title), size=size, bold=True)
    name = shortened(panel.partition, canvas.sizes.left - 16, canvas.sizes.text)
    canvas.margin(panel.lanes.title, safe(name), theme.muted)
    canvas.text(
        canvas.end,
        panel.lanes.title,
        verdict_words(panel, title),
        colors[meta.verdict],
        size=size,
        anchor="right",
        bold=True,
        layer="verdict",
    )


def verdict_words(panel: Panel, title: str) -> str:
    """The verdict's sentence, or its first half where the title leaves no room for all."""
    canvas, meta = panel.canvas, panel.rows.meta
    size = canvas.sizes.title
    room = canvas.end * canvas.unit - width_of(safe(title), size, bold=True) - 24
    glyph = VERDICT_GLYPHS[meta.verdict]
    short: tuple[str, ...] = (meta.sentence.split(", ")[0],)
    if panel.lanes.zookeeper is not None:
        short = harms(meta.sentence)
    for text in (meta.sentence, *short, meta.verdict):
        if width_of(text, size, bold=True) + 2 * size <= room:
            return f"{glyph} {safe(text)}"
    return glyph


def harms(sentence: str) -> tuple[str, ...]:
    """A verdict with less and less of its words: that nothing is lost yet goes first."""
    harm = sentence.removeprefix("nothing lost yet, but ")
    fewer, _, last = harm.rpartition(" and ")
    return (harm, f"{fewer}, and more") if fewer and last else (harm,)


def draw_strips(panel: Panel) -> None:
    """Leader epoch, partition epoch and ISR: one stepped row each."""
    canvas = panel.canvas
    theme = canvas.theme
    for track in STRIPS:
        y0, y1 = panel.lanes.strips[track]
        _name(canvas, track, (y0 + y1) / 2)
        fill = theme.isr_fill if track == "ISR" else theme.epoch_fill
        for span in panel.spans("partition", track):
            edge = {"color": theme.paper, "width": 2}
            canvas.rect(span.x0, span.x1, y0, y1, fill, line=edge)
            if span.x0 > 0:
                canvas.line(span.x0, y0 + 1, span.x0, y1 - 1, theme.tile_edge, width=2)
            _centred(
                canvas, span, (y0 + y1) / 2, [span.text, span.value, span.value.replace(", ", ",")]
            )
        canvas.take(Box(canvas.px(0), y0, canvas.px(canvas.end), y1))


def draw_records(panel: Panel) -> None:
    """What became of the committed records: safe, at risk, lost, offline."""
    canvas = panel.canvas
    y0, y1 = panel.lanes.records
    canvas.take(Box(canvas.px(0), y0, canvas.px(canvas.end), y1))
    _name(canvas, "committed records", (y0 + y1) / 2)
    for span in panel.spans("records", "state"):
        RECORDS[span.value](canvas, span, y0, y1)


def _safe(canvas: Canvas, span: SpanRow, y0: float, y1: float) -> None:
    canvas.rect(span.x0, span.x1, y0, y1, canvas.theme.safe)
    words = ["● safe", "●"]
    _centred(canvas, span, (y0 + y1) / 2, words, canvas.theme.safe_text)


def _at_risk(canvas: Canvas, span: SpanRow, y0: float, y1: float) -> None:
    theme = canvas.theme
    canvas.rect(span.x0, span.x1, y0, y1, theme.risk)
    canvas.hatch(span.x0, span.x1, y0, y1, theme.risk_edge)
    words = ["▲ at risk", "▲"]
    _centred(canvas, span, (y0 + y1) / 2, words, theme.risk_text, plate=theme.risk)


def _lost(canvas: Canvas, span: SpanRow, y0: float, y1: float) -> None:
    theme = canvas.theme
    edge = {"color": theme.lost_text, "width": 1}
    canvas.rect(span.x0, span.x1, y0, y1, theme.lost, line=edge)
    bracket(canvas, span.x0, span.x1, y0 - 8, theme.lost_text)
    numbers = span.text.removesuffix(" lost").removeprefix("offsets ")
    words = [f"▼ {span.text}", f"▼ {numbers} lost", f"▼ {numbers}", "▼ lost", "▼"]
    said = _centred(canvas, span, (y0 + y1) / 2, words, theme.lost_text)
    # Cells that are crossed out stand at the right end if words and cells find room.
    left, middle = canvas.px(span.x1) - CELLS_ROOM, canvas.px((span.x0 + span.x1) / 2)
    if middle + width_of(said, canvas.sizes.text) / 2 + 8 <= left:
        struck_cells(canvas, left, (y0 + y1) / 2, theme.lost_text)


def _offline(canvas: Canvas, span: SpanRow, y0: float, y1: float) -> None:
    theme = canvas.theme
    edge = {"color": theme.line, "width": 1, "dash": "dot"}
    canvas.rect(span.x0, span.x1, y0, y1, theme.offline, line=edge)
    words = [f"○ {span.text}", "○ offline", "○"]
    _centred(canvas, span, (y0 + y1) / 2, words, theme.text)


RECORDS: dict[str, Callable[[Canvas, SpanRow, float, float], None]] = {
    "safe": _safe,
    "at risk": _at_risk,
    "lost": _lost,
    "offline": _offline,
}


def _centred(
    canvas: Canvas,
    span: SpanRow,
    y: float,
    candidates: list[str],
    color: str = "",
    plate: str = "",
) -> str:
    """The first of `candidates` that fits, which is returned; nothing if none does."""
    size = canvas.sizes.text
    text = first_fit(candidates, (span.x1 - span.x0) * canvas.unit - 4, size)
    if not text:
        return ""
    shorter = [safe(other) for other in candidates[candidates.index(text) + 1 :]]
    middle = (span.x0 + span.x1) / 2
    if plate:
        half = canvas.at(canvas.px(0) + width_of(text, size) / 2 + 5)
        canvas.rect(middle - half, middle + half, y - 8, y + 8, plate)
    lasting = Lasting(span.x0, span.x1, shorter)
    canvas.text(middle, y, safe(text), color, size=size, anchor="center", lasting=lasting)
    return text


def _name(canvas: Canvas, name: str, y: float) -> None:
    """A muted name at the left, on two lines where the margin is narrow."""
    size = canvas.sizes.small
    if width_of(name, size) > canvas.sizes.left - 16:
        name = name.replace(" ", "<br>")
    canvas.margin(y, name, canvas.theme.muted, size=size)
