"""The events of one moment on a broker's lane: a glyph there, and words if there is room."""

from collections.abc import Iterator
from itertools import product

from ...rows.columns import MarkKind, MarkRow
from ..drawing.canvas import Canvas, TextPlace
from ..drawing.text_width import width_of
from .lanes import Panel
from .log_ends import is_dense, uptimes

GLYPHS: dict[MarkKind, str] = {"crashed": "✕", "stopped": "✕", "caught up": "◆"}
SIGNS: dict[MarkKind, str] = {
    "not proposed": "◇ ",
    "unclean": "! ",
    "from ELR": "↑ ",
    "checkpoint lost": "▼ ",
}
COLORS: dict[MarkKind, str] = {
    "not proposed": "refused",
    "unclean": "gone",
    "from ELR": "text",
    "truncated": "gone",
    "checkpoint lost": "gone",
}
"""Names of the theme's colours; the other marks are muted."""
SPOKEN: tuple[MarkKind, ...] = (
    *("checkpoint lost", "truncated", "unclean", "from ELR", "not proposed", "stood down"),
    *("not let go", "caught up", "withdrawn", "deleted", "acknowledged", "polled"),
)
"""In order of importance: the first finds room first."""
FARTHER: tuple[MarkKind, ...] = ("checkpoint lost",)
"""What is said further on where its own place is taken: it stays so."""
OF_CLIENTS: tuple[MarkKind, ...] = ("acknowledged", "polled")
"""What is said on the lane of a client where there is one."""


def draw_tile(canvas: Canvas, moments: tuple[int, int], heights: tuple[float, float]) -> None:
    """The ground of one epoch, with a hard edge where it begins."""
    (x0, x1), (top, bottom) = moments, heights
    canvas.rect(x0, x1, top, bottom, canvas.theme.tile)
    if x0 > 0:
        canvas.line(x0, top, x0, bottom, canvas.theme.tile_edge, width=2)
        canvas.keep(x0, x0, top, bottom, pad=1)


def draw_glyphs(panel: Panel) -> None:
    """Crosses, diamonds: they stand whether or not there is room for words."""
    canvas = panel.canvas
    for mark in panel.marks(*GLYPHS):
        if mark.lane in panel.lanes.brokers:
            color = canvas.theme.text if mark.kind == "crashed" else canvas.theme.muted
            y, glyph = panel.lanes.band(mark.lane), GLYPHS[mark.kind]
            # A cross stands just after the end of the band, a diamond on its beginning.
            shift = canvas.beside(0, 8) if glyph == "✕" else 0
            canvas.text(mark.x + shift, y, glyph, color, anchor="center", size=14, bold=True)


def draw_remarks(panel: Panel) -> None:
    """Words on the tiles' upper lines, or on the lower ones beside what is said of the log: at the
    mark, or beside it; what must not be missed leaves at least its sign.
    """
    canvas, size = panel.canvas, panel.canvas.sizes.small
    for kind in SPOKEN:
        color = getattr(canvas.theme, COLORS.get(kind, "muted"))
        spoken = () if kind in OF_CLIENTS and panel.lanes.clients else panel.marks(kind)
        for mark in spoken:
            if mark.lane in panel.lanes.brokers:
                canvas.write_first(_places(panel, mark), color, pad=4, size=size, since=mark.x)
    _say_out(panel)


def _places(panel: Panel, mark: MarkRow) -> Iterator[TextPlace]:
    sign = SIGNS.get(mark.kind, "")
    texts = [f"{sign}{mark.text}", sign.strip()] if sign else [mark.text]
    if mark.kind == "polled":
        texts.append(mark.text[max(mark.text.find("reads to"), 0) :])
    for text, y in product(texts, _free_lines(panel, mark.lane)):
        for left in _lefts(panel, mark, width_of(text, panel.canvas.sizes.small)):
            yield text, panel.canvas.at(left), y


def _free_lines(panel: Panel, lane: str) -> tuple[float, ...]:
    """Where words may stand on a tile; the lower line is none where the log itself is a line."""
    lines = panel.lines(lane)
    return lines[:1] if is_dense(panel.canvas) else lines


def _lefts(panel: Panel, mark: MarkRow, wide: float) -> Iterator[float]:
    """Where words may begin: over the mark, right or left of it, and at the end of its tile."""
    px, (low, high) = panel.canvas.px(mark.x), _tile(panel, mark)
    for left in (px - wide / 2, px + 9, px - 9 - wide, high - wide - 2):
        if low <= left and left + wide <= high and left < px + 12:
            yield left
    if mark.kind in FARTHER:
        farther = (px + 9 + n * 12 for n in range(1, 24))
        yield from (left for left in farther if left + wide <= high)


def _tile(panel: Panel, mark: MarkRow) -> tuple[float, float]:
    """The pixels that a mark's process lives in; of a picture that grows, to the axis' end."""
    canvas, end = panel.canvas, panel.rows.meta.end
    for x0, x1 in uptimes(panel.spans(mark.lane, "uptime")):
        if x0 <= mark.x <= x1:
            return canvas.px(x0), canvas.px(canvas.end if x1 == end else x1)
    return canvas.px(0), canvas.px(canvas.end)


def _say_out(panel: Panel) -> None:
    """Thin lines say "out of the ISR" once per lane, if it can be said without crowding."""
    canvas, size = panel.canvas, panel.canvas.sizes.small
    for lane in panel.lanes.brokers:
        widest = sorted(panel.spans(lane, "role"), key=lambda s: s.x0 - s.x1)
        out = (s for s in widest if s.value == "out")
        for span, y in product(out, _free_lines(panel, lane)):
            middle, room = (span.x0 + span.x1) / 2, (span.x1 - span.x0) * canvas.unit
            box = canvas.box_of(middle, y, span.text, size, "center")
            font = {"size": size, "since": middle}
            places = [(span.text, middle, y)] if box.x1 - box.x0 + 12 <= room else []
            if canvas.write_first(places, canvas.theme.muted, pad=4, anchor="center", **font):
                break
