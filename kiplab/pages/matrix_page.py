"""The guard matrix as a page: a map of buttons, each opening the timeline of its counterexample.

One file that needs nothing else and no network. The address ends in ``#cell-12`` once a reader has
opened a cell.
"""

import html

from ..explore.matrix.cells import Cell, Matrix
from ..figures.drawing.theme import Theme, theme_of
from ..figures.matrix_chart import cell_words, colors_of, findings, grid_html, key, note
from ..plays.library import encode
from ..plays.runner import run_play
from ..rows.rows_of_stage import rows_of
from .page import fragment, plotlyjs
from .page_files import html_page, page_file
from .player import script_safe


def matrix_page(matrix: Matrix, *, theme: str = "light", include_plotlyjs: bool = True) -> str:
    """The whole page as HTML. `include_plotlyjs` False is for a place that loads plotly.js.

    Raises ValueError for a theme that there is none of.
    """
    palette = theme_of(theme)
    least = {frozenset(on) for on in matrix.minimal}
    ids = {cell.off: f"cell-{n}" for n, cell in enumerate(matrix.cells)}
    views = {ids[cell.off]: _view(cell, ids[cell.off], theme) for cell in matrix.cells if cell.play}
    grid = grid_html(matrix, lambda cell: _cell(cell, ids[cell.off], frozenset(cell.on) in least))
    title = f"Which rules are enough? {matrix.title}"
    loaded = plotlyjs() if include_plotlyjs else ""
    parts = (
        f"<h1>{html.escape(title)}</h1>",
        _paragraphs(findings(matrix)),
        "<p>Open a cell to see its shortest counterexample.</p>",
        f'<div class="map" tabindex="0" role="region" aria-label="the matrix">{grid}</div>',
        _paragraphs([key(matrix)], "muted"),
        '<div id="kiplab-viewer" aria-live="off"></div>',
    )
    cells = f'<script type="application/json" id="kiplab-cells">{script_safe(views)}</script>'
    return html_page(
        title,
        "\n".join(parts),
        theme=theme,
        style=f"{page_file('matrix.css')}\n{_colors(matrix, palette)}",
        width=1020,
        head=f"<script>{loaded}</script>\n",
        scripts=f"{cells}\n<script>\n{page_file('matrix.js')}\n</script>\n",
    )


def _paragraphs(lines: list[str], css_class: str = "") -> str:
    kind = f' class="{css_class}"' if css_class else ""
    return "".join(f"<p{kind}>{html.escape(line)}</p>" for line in lines)


def _colors(matrix: Matrix, palette: Theme) -> str:
    cells = "\n".join(
        f".map .{_class(word, steps)} {{ background: {fill}; color: {color}; }}"
        for (word, steps), (fill, color) in sorted(colors_of(matrix, palette).items(), key=str)
    )
    return f"{cells}\n.map .minimal {{ border-color: {palette.band_edge}; }}"


def _class(word: str, steps: int | None) -> str:
    return word if steps is None else f"{word}-{steps}"


def _cell(cell: Cell, id: str, is_minimal: bool) -> str:
    kind = f"cell {_class(cell.word, cell.steps)}{' minimal' if is_minimal else ''}"
    words = f"<b>{html.escape(cell_words(cell))}</b>{html.escape(note(cell, is_minimal))}"
    if cell.play is None:
        return f'<div class="{kind}">{words}</div>'
    label = html.escape(f"{cell_words(cell)}, {cell.sentence}", quote=True)
    return (
        f'<button type="button" class="{kind}" data-cell="{id}" aria-pressed="false"'
        f' aria-label="{label}">{words}</button>'
    )


def _view(cell: Cell, id: str, theme: str) -> str:
    """What a cell opens: its sentence, the timeline with its player, the play as a token."""
    assert cell.play is not None
    sentence = html.escape(cell.sentence[:1].upper() + cell.sentence[1:])
    drawn = fragment(rows_of(run_play(cell.play)), id=id, theme=theme)
    return (
        f'<h2 tabindex="-1">{sentence}.</h2>'
        '<p><button type="button" data-back>Back to the map</button></p>'
        f"{drawn}<p>Run it again: <code>kiplab play {encode(cell.play)}</code></p>"
    )
