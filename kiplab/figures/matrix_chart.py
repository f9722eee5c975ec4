"""Picture (e): the guard matrix, a cell per subset, its verdict in words.

Laid out as a Karnaugh map: half of the guards go across, half down, and every bar in the margins
spans the columns or rows where its guard is off. Neighbours differ in one guard.
"""

import html
from collections.abc import Callable, Sequence
from itertools import groupby, product
from typing import NamedTuple

from msgspec.structs import replace

from ..explore.matrix.cells import Cell, Matrix
from .drawing.canvas import Canvas, as_figure, safe_lines, wrapped_safe
from .drawing.svg import Json
from .drawing.text_width import shortened, width_of, wrapped
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
    words = "not finished" if cell.word == "unfinished" else cell.word
    return f"{GLYPHS[cell.word]} {words if cell.steps is None else f'{cell.word} in {cell.steps}'}"


def stretches(guard: str, subsets: Sequence[frozenset[str]]) -> list[tuple[int, int]]:
    """(first, last) of every stretch in which `guard` is off."""
    groups = groupby(range(len(subsets)), key=lambda index: guard in subsets[index])
    places = [list(group) for is_off, group in groups if is_off]
    return [(group[0], group[-1]) for group in places]


# --- the picture ----------------------------------------------------------------------------------


def matrix_drawing(matrix: Matrix, *, theme: str = "light", width: int | None = None) -> Json:
    """The matrix as plotly's data and layout, `width` pixels wide (980 by default, 640 at least).

    Raises ValueError for a theme that there is none of, and for a width too small for words.
    """
    wide = WIDTH if width is None else width
    if wide < WIDTH_MIN:
        raise ValueError(f"width is {wide}; a matrix needs {WIDTH_MIN} pixels or more")
    layout, palette = layout_of(matrix), theme_of(theme)
    side = 92 if wide >= 900 else 76  # of a bar in the left margin
    left = MARGIN + len(layout.down) * side
    sizes = replace(sizes_of(wide), left=left, right=MARGIN)
    canvas = Canvas(wide, len(layout.columns), palette, sizes)
    title = f"Which rules are enough? {matrix.title}"
    y = _paragraph(canvas, title, 12, palette.text, sizes.heading)
    top = _paragraph(canvas, f"Kafka {matrix.base}, {matrix.within}", y + 2) + 14
    top = _bars(canvas, layout, top, side)
    bottom = _cells(canvas, matrix, layout, top)
    return canvas.drawing(_below(canvas, matrix, bottom) + MARGIN, summary(matrix))


matrix_figure = as_figure(matrix_drawing)


def _paragraph(canvas: Canvas, text: str, top: float, color: str = "", size: float = 0) -> float:
    """Wrapped words, muted unless they have a colour; returns where they end."""
    lines = wrapped_safe(text, canvas.width - 2 * MARGIN, size or canvas.sizes.text)
    return canvas.paragraph(canvas.at(MARGIN), top, lines, color or canvas.theme.muted, size)


def _bars(canvas: Canvas, layout: Layout, top: float, side: int) -> float:
    """Over the columns from `top` on, and beside the rows below; returns where these begin."""
    for n, guard in enumerate(layout.across):
        y0 = top + n * (BAR + GAP)
        for first, last in stretches(guard, layout.columns):
            _bar(canvas, (first, last + 1, y0, y0 + BAR), guard)
    top += len(layout.across) * (BAR + GAP) + GAP
    for n, guard in enumerate(layout.down):
        x0, x1 = (canvas.at(MARGIN + (n + k) * side) for k in (0, 1))
        for first, last in stretches(guard, layout.rows):
            _bar(canvas, (x0, x1, top + first * ROW, top + (last + 1) * ROW), guard)
    return top


def _bar(canvas: Canvas, box: CellBox, guard: str) -> None:
    """A filled stretch with the name of the guard that is off in it."""
    x0, x1, y0, y1 = box
    size, room = canvas.sizes.small, canvas.px(x1) - canvas.px(x0) - 3 * GAP
    _fill(canvas, box, canvas.theme.tile, canvas.theme.tile_edge, 1)
    label = f"{guard_word(guard)} off"
    fits = wrapped(label, room, size) if y1 - y0 > BAR else None
    text = safe_lines(fits or shortened(label, room, size))
    canvas.text((x0 + x1) / 2, (y0 + y1) / 2, text, size=size, anchor="center")


def _fill(canvas: Canvas, box: CellBox, fill: str, edge: str, width: int) -> None:
    """A rectangle with half a gap around it."""
    (x0, x1, y0, y1), gap = box, canvas.beside(0, GAP / 2)
    line = {"color": edge, "width": width}
    canvas.rect(x0 + gap, x1 - gap, y0 + GAP / 2, y1 - GAP / 2, fill, line=line)


def _cells(canvas: Canvas, matrix: Matrix, layout: Layout, top: float) -> float:
    least = {frozenset(on) for on in matrix.minimal}
    widest = max(width_of(said(cell), canvas.sizes.text, bold=True) for cell in matrix.cells)
    paint, narrow = colors_of(matrix, canvas.theme), widest > canvas.unit - 2 * GAP
    for (down, row), (across, column) in product(enumerate(layout.rows), enumerate(layout.columns)):
        cell = cell_at(matrix, row, column)
        first, second = said(cell), note(cell, frozenset(cell.on) in least)
        if narrow and cell.steps is not None:  # the steps stand on the second line
            first, _, steps = first.partition(" in ")
            second = f"in {steps} step{'s' * (cell.steps != 1)}"
        place, colors = (across, top + down * ROW), paint[cell.word, cell.steps]
        _cell(canvas, cell, place, (first, second), colors)
    return top + len(layout.rows) * ROW


def _cell(
    canvas: Canvas,
    cell: Cell,
    place: tuple[int, float],
    lines: tuple[str, str],
    colors: tuple[str, str],
) -> None:
    (across, y), (fill, color), room = place, colors, canvas.unit - 2 * GAP
    size, small, middle = canvas.sizes.text, canvas.sizes.small, across + 0.5
    framed = lines[1] == MINIMAL
    edge = (canvas.theme.band_edge, 2) if framed else (fill, 0)
    _fill(canvas, (across, across + 1, y, y + ROW), fill, *edge)
    first, second = shortened(lines[0], room, size, bold=True), shortened(lines[1], room, small)
    canvas.text(middle, y + ROW * 0.36, first, color, size=size, anchor="center", bold=True)
    canvas.text(middle, y + ROW * 0.7, second, color, size=small, anchor="center")
    card = f"{wrapped(cell.sentence, 340, 12) or cell.sentence}<br>Kafka {cell.features}"
    canvas.card(middle, y + ROW / 2, safe_lines(card))


def colors_of(matrix: Matrix, palette: Theme) -> dict[tuple[str, int | None], tuple[str, str]]:
    """(fill, text) by (word, steps), told apart by words, signs and numbers as well: the more
    steps it takes, the paler.
    """
    colors: dict[tuple[str, int | None], tuple[str, str]] = {}
    for word in {cell.word for cell in matrix.cells}:
        fill, text = {
            "proved": (palette.safe, palette.safe_text),
            "loss": (palette.lost, palette.lost_text),
            "harm": (palette.risk, palette.risk_text),
        }.get(word, (palette.offline, palette.text))
        steps = sorted({cell.steps or 0 for cell in matrix.cells if cell.word == word})
        for cell in (cell for cell in matrix.cells if cell.word == word):
            share = steps.index(cell.steps or 0) / max(len(steps) - 1, 1)
            colors[word, cell.steps] = (mixed(fill, palette.paper, PALEST * share), text)
    return colors


def note(cell: Cell, is_minimal: bool) -> str:
    """The second line of a cell."""
    return MINIMAL if is_minimal else f"{cell.states:,} states"


def _below(canvas: Canvas, matrix: Matrix, top: float) -> float:
    """How to read it, and what it says."""
    y = top + 12
    for line in legend(matrix):
        y = _paragraph(canvas, line, y) + 3
    y += 6
    for line in findings(matrix):
        y = _paragraph(canvas, line, y, canvas.theme.text) + 3
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
    """What the signs that occur, colours and frames of cells mean."""
    words = {cell.word for cell in matrix.cells}
    signs = "; ".join(f"{GLYPHS[word]} {text}" for word, text in WORDS.items() if word in words)
    return f"{signs}. The paler, the more steps. A frame: a minimal sufficient set of guards."


def findings(matrix: Matrix) -> list[str]:
    """What the matrix says, then what it is about."""
    return [matrix.sentence, matrix.base_sentence]


def summary(matrix: Matrix) -> str:
    """One paragraph: the matrix without its picture."""
    return f"Guard matrix of {matrix.title} ({len(matrix.cells)} cells). {matrix.sentence}"


def off_words(off: frozenset[str], guards: tuple[str, ...]) -> str:
    """``KIP-841, maximal ISR off``; ``all on`` for none."""
    named = [guard_word(g) for g in guards if g in off]
    return f"{', '.join(named)} off" if named else "all on"


def table(matrix: Matrix) -> tuple[list[str], list[list[str]]]:
    """(heads, lines): a line per cell."""
    body = []
    for cell in matrix.cells:
        numbers = str(cell.steps or ""), f"{cell.states:,}"
        off, violated = ", ".join(cell.off) or "nothing", cell.violated or ""
        body.append([off, cell.word, *numbers, violated, cell.features])
    return ["off", "verdict", "steps", "states", "property", "rules"], body


def grid_html(matrix: Matrix, content: Callable[[Cell], str]) -> str:
    """The map as an HTML table; `content` gives the (safe) HTML in each cell."""
    layout = layout_of(matrix)

    def head(off: frozenset[str], scope: str) -> str:
        return f'<th scope="{scope}">{html.escape(off_words(off, matrix.guards))}</th>'

    heads = "".join(head(column, "col") for column in layout.columns)
    lines = ""
    for row in layout.rows:
        cells = (content(cell_at(matrix, row, column)) for column in layout.columns)
        lines += f"<tr>{head(row, 'row')}{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
    caption = html.escape(f"{matrix.title}: the verdict by what is off")
    return (
        f"<table><caption>{caption}</caption><thead><tr><td></td>{heads}</tr></thead>"
        f"<tbody>{lines}</tbody></table>"
    )


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
