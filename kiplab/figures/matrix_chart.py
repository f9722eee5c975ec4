"""Picture (e): the guard matrix, a cell per subset, its verdict in words.

Laid out as a Karnaugh map: half of the guards go across, half down, and every bar in the margins
spans the columns or rows where its guard is off. Neighbours differ in one guard.
"""

import html
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import NamedTuple

from ..explore.matrix.cells import Cell, Matrix
from ..plays.verdict import SAFE, VERDICT_SIGNS
from ..rows.sentences import aligned
from .drawing.canvas import Box, Canvas, as_figure, safe_lines
from .drawing.svg import Json
from .drawing.text_width import shortened, width_of, wrapped
from .drawing.theme import Theme, mixed
from .how_often.plot_sheet import EDGE, Chart
from .timeline.strips import stretches as runs_of

ROW, BAR, GAP = 46, 22, 4
"""Pixels: a row of cells, a bar above them, between two of anything."""
PALEST = 0.6
"""How far the colour of a loss in the most steps is on its way to the paper's."""
MINIMAL = "minimal"
BARS = "A bar spans the columns or rows where its guard is off; top left nothing is off."
GLYPHS = {**VERDICT_SIGNS, "proved": VERDICT_SIGNS[SAFE], "unfinished": "○"}
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


def cell_words(cell: Cell) -> str:
    """What stands in a cell: ``"■ harm in 10"``."""
    words = "not finished" if cell.word == "unfinished" else cell.word
    return f"{GLYPHS[cell.word]} {words if cell.steps is None else f'{cell.word} in {cell.steps}'}"


def stretches(guard: str, subsets: Sequence[frozenset[str]]) -> list[tuple[int, int]]:
    """(first, last) of every stretch in which `guard` is off."""
    runs = runs_of(guard in subset for subset in subsets)
    return [(start, end - 1) for start, end, is_off in runs if is_off]


# --- the picture ----------------------------------------------------------------------------------


def matrix_drawing(matrix: Matrix, *, theme: str = "light", width: int | None = None) -> Json:
    """The matrix as plotly's data and layout, `width` pixels wide (980 by default, 640 at least).

    Raises ValueError for a theme that there is none of, and for a width too small for words.
    """
    chart = Chart(
        title=f"Which rules are enough? {matrix.title}",
        sentence=matrix.sentence,
        plot=partial(_plot, matrix),
        notes=[f"Kafka {matrix.base}, {matrix.within}", BARS, key(matrix), matrix.base_sentence],
        described=f"Guard matrix of {matrix.title} ({len(matrix.cells)} cells). {matrix.sentence}",
        what="guard matrices",
    )
    return chart.drawing(theme=theme, width=width)


matrix_figure = as_figure(matrix_drawing)


def _plot(matrix: Matrix, canvas: Canvas, top: float) -> float:
    """Bars over the columns and beside the rows, and the cells; returns where they end."""
    layout, side = layout_of(matrix), 92 if canvas.width >= 900 else 76
    left = EDGE + len(layout.down) * side
    wide = (canvas.width - EDGE - left) / len(layout.columns)
    for n, guard in enumerate(layout.across):
        y = top + n * (BAR + GAP)
        for first, last in stretches(guard, layout.columns):
            _bar(canvas, Box(left + first * wide, y, left + (last + 1) * wide, y + BAR), guard)
    top += len(layout.across) * (BAR + GAP) + GAP
    for n, guard in enumerate(layout.down):
        x = EDGE + n * side
        for first, last in stretches(guard, layout.rows):
            _bar(canvas, Box(x, top + first * ROW, x + side, top + (last + 1) * ROW), guard)
    _cells(canvas, matrix, layout, Box(left, top, left + wide, top + ROW))
    return top + len(layout.rows) * ROW + 12


def _bar(canvas: Canvas, box: Box, guard: str) -> None:
    size, room = canvas.sizes.small, box.x1 - box.x0 - 3 * GAP
    _fill(canvas, box, canvas.theme.tile, canvas.theme.tile_edge, 1)
    label = f"{guard_word(guard)} off"
    fits = wrapped(label, room, size) if box.y1 - box.y0 > BAR else None
    text = safe_lines(fits or shortened(label, room, size))
    canvas.text(*box.middle, text, size=size, anchor="center")


def _fill(canvas: Canvas, box: Box, fill: str, edge: str, width: int) -> None:
    (x0, y0, x1, y1), gap, line = box, GAP / 2, {"color": edge, "width": width}
    canvas.rect(x0 + gap, x1 - gap, y0 + gap, y1 - gap, fill, line=line)


def _cells(canvas: Canvas, matrix: Matrix, layout: Layout, first_box: Box) -> None:
    least = {frozenset(on) for on in matrix.minimal}
    widest = max(width_of(cell_words(cell), canvas.sizes.text, bold=True) for cell in matrix.cells)
    x, y, wide = first_box.x0, first_box.y0, first_box.x1 - first_box.x0
    paint, narrow = colors_of(matrix, canvas.theme), widest > wide - 2 * GAP
    for (down, row), (across, column) in product(enumerate(layout.rows), enumerate(layout.columns)):
        cell = matrix.cell(*row, *column)
        first, second = cell_words(cell), note(cell, frozenset(cell.on) in least)
        if narrow and cell.steps is not None:  # the steps stand on the second line
            first, _, steps = first.partition(" in ")
            second = f"in {steps} step{'s' * (cell.steps != 1)}"
        left, top = x + across * wide, y + down * ROW
        box, colors = Box(left, top, left + wide, top + ROW), paint[cell.word, cell.steps]
        _cell(canvas, cell, box, (first, second), colors)


def _cell(
    canvas: Canvas, cell: Cell, box: Box, lines: tuple[str, str], colors: tuple[str, str]
) -> None:
    (fill, color), room, (middle, y) = colors, box.x1 - box.x0 - 2 * GAP, box.middle
    size, small = canvas.sizes.text, canvas.sizes.small
    edge = (canvas.theme.band_edge, 2) if lines[1] == MINIMAL else (fill, 0)
    _fill(canvas, box, fill, *edge)
    first, second = shortened(lines[0], room, size, bold=True), shortened(lines[1], room, small)
    canvas.text(middle, y - ROW * 0.14, first, color, size=size, anchor="center", bold=True)
    canvas.text(middle, y + ROW * 0.2, second, color, size=small, anchor="center")
    card = f"{wrapped(cell.sentence, 340, 12) or cell.sentence}<br>Kafka {cell.features}"
    canvas.card(middle, y, safe_lines(card))


def colors_of(matrix: Matrix, palette: Theme) -> dict[tuple[str, int | None], tuple[str, str]]:
    """(fill, text) by (word, steps), also told apart by words; the more steps, the paler."""
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


# --- words ----------------------------------------------------------------------------------------


def guard_word(guard: str) -> str:
    """``KIP-841``; of a single guard what it is about: ``partition epoch``, ``maximal ISR``."""
    subject, dot, about = guard.removeprefix("kip-").partition(".")
    if not dot:
        return f"KIP-{subject}" if subject.isdigit() else subject.upper()
    return about.replace("-", " ").replace("isr", "ISR")


def key(matrix: Matrix) -> str:
    """What the signs that occur, colours and frames of cells mean."""
    words = {cell.word for cell in matrix.cells}
    signs = "; ".join(f"{GLYPHS[word]} {text}" for word, text in WORDS.items() if word in words)
    return f"{signs}. The paler, the more steps. A frame: a minimal sufficient set of guards."


def findings(matrix: Matrix) -> list[str]:
    """What the matrix says, then what it is about."""
    return [matrix.sentence, matrix.base_sentence]


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
        cells = (content(matrix.cell(*row, *column)) for column in layout.columns)
        lines += f"<tr>{head(row, 'row')}{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
    caption = html.escape(f"{matrix.title}: the verdict by what is off")
    return (
        f"<table><caption>{caption}</caption><thead><tr><td></td>{heads}</tr></thead>"
        f"<tbody>{lines}</tbody></table>"
    )


def text(matrix: Matrix) -> str:
    """For a terminal: the findings, and a line per cell."""
    return "\n".join([*findings(matrix), "", aligned(*table(matrix))])
