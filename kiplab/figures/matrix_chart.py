"""Picture (e): the guard matrix, a cell per subset, its verdict in words.

Laid out as a Karnaugh map: half of the guards go across, half down, and every bar in the margins
spans the columns or rows where its guard is off. Neighbours differ in one guard.
"""

import html
from collections.abc import Callable, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from ..explore.matrix.cells import Cell, Matrix
from .drawing.canvas import Canvas, as_figure, safe
from .drawing.svg import Json
from .drawing.text_width import LINE_HEIGHT, shortened, width_of, wrapped
from .drawing.theme import Theme, mixed, sizes_of, theme_of

WIDTH, WIDTH_MIN = 980, 640
ROW, BAR, GAP, MARGIN = 46, 22, 4, 14
"""Pixels: a row of cells, a bar above them, between two of anything, at the edges."""
PALEST = 0.6
"""How far the colour of a loss in the most steps is on its way to the paper's."""
MINIMAL = "minimal"
CellBox = tuple[float, float, float, float]
"""Columns on the left and right, pixels at the top and bottom."""
GLYPHS = {"proved": "●", "loss": "▼", "harm": "▲", "unfinished": "○"}
WORDS = {
    "proved": "proved: nothing can be lost within the bounds",
    "loss": "loss in N steps: a leader lacks committed records",
    "harm": "harm in N steps: a replica that lacks them could be elected",
    "unfinished": "not finished",
}


class Layout(NamedTuple):
    """Which guards go across and down, and what is off in every column and row, in order."""

    across: tuple[str, ...]
    down: tuple[str, ...]
    columns: tuple[frozenset[str], ...]
    rows: tuple[frozenset[str], ...]


def layout_of(matrix: Matrix) -> Layout:
    """The first half of the guards across, the others down."""
    half = (len(matrix.guards) + 1) // 2
    across, down = matrix.guards[:half], matrix.guards[half:]
    return Layout(across, down, gray(across), gray(down))


def gray(guards: tuple[str, ...]) -> tuple[frozenset[str], ...]:
    """All subsets, each one guard away from the next; where the first is off is one stretch."""
    if not guards:
        return (frozenset(),)
    inner = gray(guards[1:])
    return (*inner, *(off | {guards[0]} for off in reversed(inner)))


def cell_at(matrix: Matrix, row: frozenset[str], column: frozenset[str]) -> Cell:
    """The cell where these are off."""
    return matrix.cell(*(row | column))


def said(cell: Cell) -> str:
    """What stands in a cell: ``"▲ harm in 10"``."""
    if cell.steps is None:
        words = {"unfinished": "not finished"}.get(cell.word, cell.word)
        return f"{GLYPHS[cell.word]} {words}"
    return f"{GLYPHS[cell.word]} {cell.word} in {cell.steps}"


def stretches(guard: str, subsets: Sequence[frozenset[str]]) -> list[tuple[int, int]]:
    """(first, last) of every stretch in which `guard` is off."""
    found: list[tuple[int, int]] = []
    for index, off in enumerate(subsets):
        if guard in off and found and found[-1][1] == index - 1:
            found[-1] = (found[-1][0], index)
        elif guard in off:
            found.append((index, index))
    return found


# --- the picture ----------------------------------------------------------------------------------


def matrix_drawing(matrix: Matrix, *, theme: str = "light", width: int | None = None) -> Json:
    """The matrix as plotly's data and layout, `width` pixels wide (980 by default, 640 at least).

    Raises ValueError for a theme that there is none of, and for a width too small for words.
    """
    wide = WIDTH if width is None else width
    if wide < WIDTH_MIN:
        raise ValueError(f"width is {wide}; a matrix needs {WIDTH_MIN} pixels or more")
    layout, palette = layout_of(matrix), theme_of(theme)
    left = MARGIN + len(layout.down) * _side(wide)
    sizes = replace(sizes_of(wide), left=left, right=MARGIN)
    canvas = Canvas(wide, len(layout.columns), palette, sizes)
    top = _heading(canvas, matrix)
    top = _bars_across(canvas, layout, top)
    _bars_down(canvas, layout, top)
    bottom = _cells(canvas, matrix, layout, top)
    return canvas.drawing(_below(canvas, matrix, bottom) + MARGIN, summary(matrix))


matrix_figure = as_figure(matrix_drawing)


def _side(width: int) -> int:
    """Pixels of a bar in the left margin."""
    return 92 if width >= 900 else 76


def _heading(canvas: Canvas, matrix: Matrix) -> float:
    sizes, palette = canvas.sizes, canvas.theme
    y = _paragraph(
        canvas, f"Which rules are enough? {matrix.title}", 12, sizes.heading, palette.text
    )
    return _paragraph(canvas, f"Kafka {matrix.base}, {matrix.within}", y + 2, 0, palette.muted) + 14


def _paragraph(canvas: Canvas, text: str, top: float, size: float, color: str) -> float:
    """Wrapped words; returns where they end. `size` 0 is the usual one."""
    size = size or canvas.sizes.text
    room = (canvas.width - 2 * MARGIN) / 1.05
    lines = [safe(line) for line in (wrapped(text, room, size) or text).split("<br>")]
    high = len(lines) * size * LINE_HEIGHT
    canvas.text(canvas.at(MARGIN), top + high / 2, "<br>".join(lines), color, size=size)
    return top + high


def _bars_across(canvas: Canvas, layout: Layout, top: float) -> float:
    for n, guard in enumerate(layout.across):
        y0 = top + n * (BAR + GAP)
        for first, last in stretches(guard, layout.columns):
            _bar(canvas, (first, last + 1, y0, y0 + BAR), guard)
    return top + len(layout.across) * (BAR + GAP) + GAP


def _bars_down(canvas: Canvas, layout: Layout, top: float) -> None:
    side = _side(canvas.width)
    for n, guard in enumerate(layout.down):
        x0, x1 = (canvas.at(MARGIN + (n + k) * side) for k in (0, 1))
        for first, last in stretches(guard, layout.rows):
            _bar(canvas, (x0, x1, top + first * ROW, top + (last + 1) * ROW), guard)


def _bar(canvas: Canvas, box: CellBox, guard: str) -> None:
    """A filled stretch with the name of the guard that is off in it."""
    palette, size = canvas.theme, canvas.sizes.small
    x0, x1, y0, y1 = box
    gap = canvas.at(canvas.px(0) + GAP / 2)
    edge = {"color": palette.tile_edge, "width": 1}
    canvas.rect(x0 + gap, x1 - gap, y0 + GAP / 2, y1 - GAP / 2, palette.tile, line=edge)
    room = canvas.px(x1) - canvas.px(x0) - 3 * GAP
    said = f"{guard_word(guard)} off"
    fits = wrapped(said, room, size) if y1 - y0 > BAR else None
    text = safe(fits or shortened(said, room, size)).replace("&lt;br&gt;", "<br>")
    canvas.text((x0 + x1) / 2, (y0 + y1) / 2, text, size=size, anchor="center")


def _cells(canvas: Canvas, matrix: Matrix, layout: Layout, top: float) -> float:
    least = {frozenset(on) for on in matrix.minimal}
    size = canvas.sizes.text
    widest = max(width_of(said(cell), size, bold=True) for cell in matrix.cells)
    paint = colors_of(matrix, canvas.theme)
    narrow = widest > canvas.unit - 2 * GAP
    for down, row in enumerate(layout.rows):
        for across, column in enumerate(layout.columns):
            cell = cell_at(matrix, row, column)
            y0 = top + down * ROW
            lines = _lines(cell, frozenset(cell.on) in least, narrow)
            box = (across, across + 1, y0, y0 + ROW)
            _cell(canvas, cell, box, lines, paint[cell.word, cell.steps])
    return top + len(layout.rows) * ROW


def _lines(cell: Cell, is_minimal: bool, narrow: bool) -> tuple[str, str]:
    """Both lines of a cell; narrow ones have the steps on the second."""
    first, second = said(cell), note(cell, is_minimal)
    if narrow and cell.steps is not None:
        first, _, steps = first.partition(" in ")
        second = f"in {steps} step{'s' * (cell.steps != 1)}"
    return first, second


def _cell(
    canvas: Canvas, cell: Cell, box: CellBox, lines: tuple[str, str], colors: tuple[str, str]
) -> None:
    palette, size, small = canvas.theme, canvas.sizes.text, canvas.sizes.small
    x0, x1, y0, y1 = box
    fill, color = colors
    gap = canvas.at(canvas.px(0) + GAP / 2)
    framed = lines[1] == MINIMAL
    edge = {"color": palette.band_edge if framed else fill, "width": 2 if framed else 0}
    canvas.rect(x0 + gap, x1 - gap, y0 + GAP / 2, y1 - GAP / 2, fill, line=edge)
    room, middle = canvas.unit - 2 * GAP, (x0 + x1) / 2
    first, second = shortened(lines[0], room, size, bold=True), shortened(lines[1], room, small)
    canvas.text(middle, y0 + ROW * 0.36, first, color, size=size, anchor="center", bold=True)
    canvas.text(middle, y0 + ROW * 0.7, second, color, size=small, anchor="center")
    canvas.card(middle, y0 + ROW / 2, _card(cell))


def colors_of(matrix: Matrix, palette: Theme) -> dict[tuple[str, int | None], tuple[str, str]]:
    """(fill, text) by (word, steps), told apart by words, signs and numbers as well: the more
    steps it takes, the paler.
    """
    found: dict[tuple[str, int | None], tuple[str, str]] = {}
    for word in {cell.word for cell in matrix.cells}:
        fill, text = {
            "proved": (palette.safe, palette.safe_text),
            "loss": (palette.lost, palette.lost_text),
            "harm": (palette.risk, palette.risk_text),
        }.get(word, (palette.offline, palette.text))
        steps = sorted({cell.steps or 0 for cell in matrix.cells if cell.word == word})
        for cell in (cell for cell in matrix.cells if cell.word == word):
            share = steps.index(cell.steps or 0) / max(len(steps) - 1, 1)
            found[word, cell.steps] = (mixed(fill, palette.paper, PALEST * share), text)
    return found


def note(cell: Cell, is_minimal: bool) -> str:
    """The second line of a cell."""
    return MINIMAL if is_minimal else f"{cell.states:,} states"


def _card(cell: Cell) -> str:
    lines = (wrapped(cell.sentence, 340, 12) or cell.sentence).split("<br>")
    return "<br>".join([*(safe(line) for line in lines), f"Kafka {safe(cell.features)}"])


def _below(canvas: Canvas, matrix: Matrix, top: float) -> float:
    """How to read it, and what it says."""
    palette, y = canvas.theme, top + 12
    for line in (*legend(matrix), "", *findings(matrix)):
        color = palette.text if line in findings(matrix) else palette.muted
        y = _paragraph(canvas, line, y, 0, color) + 3 if line else y + 6
    return y


# --- words ----------------------------------------------------------------------------------------


def guard_word(guard: str) -> str:
    """``KIP-841``; of a single guard what it is about: ``partition epoch``, ``maximal ISR``."""
    subject, dot, about = guard.removeprefix("kip-").partition(".")
    if not dot:
        return f"KIP-{subject}" if subject.isdigit() else subject.upper()
    return about.replace("-", " ").replace("isr", "ISR")


def legend(matrix: Matrix) -> list[str]:
    """How to read the picture: the bars, and every sign that occurs."""
    bars = "A bar spans the columns or rows where its guard is off; top left nothing is off."
    return [bars, key(matrix)]


def key(matrix: Matrix) -> str:
    """What signs, colours and frames of cells mean."""
    frame = "The paler, the more steps. A frame: a minimal sufficient set of guards."
    return f"{signs(matrix)} {frame}"


def signs(matrix: Matrix) -> str:
    """The signs that occur in cells, and what they mean."""
    found = {cell.word for cell in matrix.cells}
    return "; ".join(f"{GLYPHS[w]} {words}" for w, words in WORDS.items() if w in found) + "."


def findings(matrix: Matrix) -> list[str]:
    """What the matrix says, then what it is about."""
    return [matrix.sentence, matrix.base_sentence]


def summary(matrix: Matrix) -> str:
    """One paragraph: the matrix without its picture."""
    return f"Guard matrix of {matrix.title} ({len(matrix.cells)} cells). {matrix.sentence}"


def sentences(matrix: Matrix) -> list[str]:
    """The whole matrix in sentences: what it says, then cell by cell."""
    return [
        *findings(matrix),
        *(f"{c.sentence[:1].upper()}{c.sentence[1:]}." for c in matrix.cells),
    ]


def off_words(off: frozenset[str], guards: tuple[str, ...]) -> str:
    """``KIP-841, maximal ISR off``; ``all on`` for none."""
    named = [guard_word(g) for g in guards if g in off]
    return f"{', '.join(named)} off" if named else "all on"


def table(matrix: Matrix) -> tuple[list[str], list[list[str]]]:
    """(heads, lines): a line per cell."""
    heads = ["off", "verdict", "steps", "states", "property", "rules"]
    body = [
        [
            ", ".join(cell.off) or "nothing",
            cell.word,
            str(cell.steps or ""),
            f"{cell.states:,}",
            cell.violated or "",
            cell.features,
        ]
        for cell in matrix.cells
    ]
    return heads, body


def grid_html(matrix: Matrix, content: Callable[[Cell], str]) -> str:
    """The map as an HTML table; `content` gives the (safe) HTML in each cell."""
    layout = layout_of(matrix)
    guards = matrix.guards
    heads = "".join(
        f'<th scope="col">{html.escape(off_words(c, guards))}</th>' for c in layout.columns
    )
    lines = "".join(
        f'<tr><th scope="row">{html.escape(off_words(r, guards))}</th>'
        + "".join(f"<td>{content(cell_at(matrix, r, c))}</td>" for c in layout.columns)
        + "</tr>"
        for r in layout.rows
    )
    caption = html.escape(f"{matrix.title}: the verdict by what is off")
    return (
        f"<table><caption>{caption}</caption><thead><tr><td></td>{heads}</tr></thead>"
        f"<tbody>{lines}</tbody></table>"
    )


def table_html(matrix: Matrix) -> str:
    """The map as an HTML table of words."""
    return grid_html(matrix, lambda cell: html.escape(said(cell)))


def text(matrix: Matrix) -> str:
    """For a terminal: the findings, and a line per cell."""
    heads, body = table(matrix)
    widths = [max(len(line[n]) for line in (heads, *body)) for n in range(len(heads))]
    rule = ["-" * width for width in widths]
    lines = (
        "  ".join(word.ljust(width) for word, width in zip(line, widths, strict=True)).rstrip()
        for line in (heads, rule, *body)
    )
    return "\n".join([*findings(matrix), "", *lines]) + "\n"
