"""The guard matrix in a notebook: a map of buttons, and under its row what a pressed cell says."""

from html import escape
from typing import Any

from ..explore.matrix.cells import Cell, Matrix
from ..figures import matrix_chart as chart
from ..figures.drawing.still_picture import still
from ..figures.drawing.theme import theme_of
from ..figures.timeline.whole_runs import timeline
from ..pages.page_files import AUTO
from ..plays.library import encode
from ..plays.runner import run_play
from ..rows.rows_of_stage import rows_of
from ..rows.sentences import story_html, table_html
from .elements.kinds import Container, Element, Html, Style
from .elements.labelled import button, column, words
from .elements.surface import Daylight, Surface
from .markup import capital, muted, note

_PRESS = "Press a cell: its shortest counterexample opens under its row."
_HOW = (
    "Above every column and before every row stands what is off there, and what is off in a cell is"
    " both together; top left nothing is off."
)
ROW_HEAD, CELL = "150px", "minmax(84px, 1fr)"


class MatrixView:
    """`box` holds the map, with the cell that was opened last under the row in which it stands, and
    then in words how to read the map and what it says. `below` holds that cell.

    `theme` and `width` are as for a Lab.
    """

    def __init__(self, matrix: Matrix, *, theme: str = AUTO, width: int = 840) -> None:
        self.matrix, self._width = matrix, width
        self._minimal = {frozenset(on) for on in matrix.minimal}
        self._opened: Cell | None = None
        self.buttons: dict[tuple[str, ...], Any] = {}
        # A place under every row: one that were moved would take the focus from the buttons.
        self._places: dict[tuple[str, ...], Html] = {}
        self.grid = self._map(chart.layout_of(matrix))
        self.below = next(iter(self._places.values()))
        title = words(f"<b>{escape(f'Which rules are enough? {matrix.title}')}</b>")
        lines = (_PRESS, chart.key(matrix), *chart.findings(matrix), _HOW)
        told = [words(muted(line)) for line in lines]
        self.box = Surface(column([title, self.grid, *told], width="100%"))
        self.daylight = Daylight(theme, self.box)
        with self.box.batch():
            self._color(self.daylight.theme)
        self.daylight.follow(self._color)

    def _map(self, layout: chart.Layout) -> Container:
        guards = self.matrix.guards
        heads = [words(muted(chart.off_words(off, guards))) for off in layout.columns]
        children: list[Element] = [words(""), *heads]
        for row in layout.rows:
            cells = [self.matrix.cell(*row, *off) for off in layout.columns]
            place = words("", grid_column="1 / -1", min_width="0")
            self._places.update((cell.off, place) for cell in cells)
            head = words(muted(chart.off_words(row, guards)))
            children += [head, *(self._button(cell) for cell in cells), place]
        columns = f"{ROW_HEAD} repeat({len(layout.columns)}, {CELL})"
        grid = {"display": "grid", "grid_template_columns": columns, "grid_gap": "2px"}
        style = Style(**grid, align_items="center", overflow="auto")
        return Container(children=tuple(children), layout=style)

    def _button(self, cell: Cell) -> Any:
        minimal = frozenset(cell.on) in self._minimal
        label = f"{chart.cell_words(cell)}\n{chart.MINIMAL}" if minimal else chart.cell_words(cell)
        part = button(label, lambda: self.open(*cell.off), cell.sentence)
        style = {"height": "38px", "padding": "0", "font_weight": "bold", "line_height": "1.15"}
        part.layout = Style(**style, white_space="pre-line")
        self.buttons[cell.off] = part
        return part

    def _color(self, theme: str) -> None:
        paint = chart.colors_of(self.matrix, theme_of(theme))
        for off, part in self.buttons.items():
            cell = self.matrix.cell(*off)
            fill, color = paint[cell.word, cell.steps]
            part.layout.background, part.layout.color = fill, color
            if frozenset(cell.on) in self._minimal:
                part.layout.border = f"2px solid {theme_of(theme).band_edge}"
        if self._opened is not None:
            self.open(*self._opened.off)

    def open(self, *off: str) -> None:
        """Show the cell in which these guards are off, under its row."""
        self._opened = cell = self.matrix.cell(*off)
        if self._places[cell.off] is not self.below:
            self.below.value = ""
            self.below = self._places[cell.off]
        said_so = note(f"{capital(cell.sentence)}.")
        self.below.value = said_so + (self._counterexample(cell) if cell.play is not None else "")

    def _counterexample(self, cell: Cell) -> str:
        assert cell.play is not None
        rows = rows_of(run_play(cell.play))
        drawing = timeline(rows, theme=self.daylight.theme, width=self._width).to_plotly_json()
        token = escape(encode(cell.play))
        return (
            f'<div style="line-height:1.45"><div style="overflow:auto">{still(drawing)}</div>'
            "<details><summary>Step by step, in sentences and as a table</summary>"
            f"{story_html(rows)}"
            f'<div style="overflow:auto" tabindex="0" role="region" aria-label="table">'
            f"{table_html(rows)}</div></details>"
            "<p>Open it in a Lab: <code>kiplab.Lab(token)</code>, with this token:"
            f'<br><code style="overflow-wrap:anywhere">{token}</code></p></div>'
        )

    def _ipython_display_(self) -> None:
        from .still_fallback import show

        kept = chart.matrix_figure(self.matrix, theme=self.daylight.still, width=self._width)
        show(self.box, chart.text(self.matrix), kept.to_plotly_json())
