"""The guard matrix as a page: a map of buttons, each opening the timeline of its counterexample.

One file that needs nothing else and asks nobody on the network. The address ends in ``#cell-12``
once a reader has opened a cell.
"""

import html
from importlib.resources import files

from ..explore.matrix.cells import Cell, Matrix
from ..figures.drawing.theme import FONT, Theme, theme_of
from ..figures.matrix_chart import colors_of, findings, grid_html, legend, note, said
from ..plays.runner import run_play
from ..plays.tokens import encode
from ..rows.rows_of_stage import rows_of
from .page import fragment, plotlyjs
from .player import script_safe

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ margin: 0 auto; padding: 1.5rem; max-width: 1020px; font: 16px/1.5 {font};
  color: {text}; background: {paper}; }}
h1 {{ font-size: 1.4rem; }} h2 {{ font-size: 1.1rem; margin-top: 2rem; }}
code {{ overflow-wrap: anywhere; font-size: 0.8rem; }}
.map {{ overflow-x: auto; }}
.map table {{ table-layout: fixed; width: 100%; min-width: 46rem; border-collapse: separate;
  border-spacing: 2px; font-size: 0.76rem; line-height: 1.35; }}
.map caption {{ text-align: left; color: {muted}; padding-bottom: 0.4rem; }}
.map th {{ font-weight: normal; text-align: left; vertical-align: bottom; padding: 0.2rem; }}
.map tbody th {{ vertical-align: middle; }}
.map td {{ padding: 0; height: 3rem; }}
.map .cell {{ box-sizing: border-box; display: block; width: 100%; height: 100%; margin: 0;
  padding: 0.3rem 0; font: inherit; text-align: center; border: 2px solid transparent; }}
.map .cell b {{ display: block; white-space: nowrap; }}
.map .minimal {{ border-color: {edge}; }}
.map button {{ cursor: pointer; }}
.map button:focus-visible {{ outline: 3px solid {accent}; outline-offset: 2px; }}
.map button[aria-pressed="true"] {{ box-shadow: inset 0 0 0 3px {accent}; }}
{cells}
[data-back] {{ font: inherit; padding: 0.3rem 0.7rem; color: inherit; background: transparent;
  border: 1px solid currentColor; border-radius: 4px; cursor: pointer; }}
.muted {{ color: {muted}; }}
#kiplab-viewer h2:focus {{ outline: none; }}
</style>
<script>{plotlyjs}</script>
</head>
<body>
<main>
<h1>{title}</h1>
{findings}
<p>Open a cell to see its shortest counterexample.</p>
<div class="map" tabindex="0" role="region" aria-label="the matrix">{grid}</div>
{legend}
<div id="kiplab-viewer" aria-live="off"></div>
</main>
<script type="application/json" id="kiplab-cells">{views}</script>
<script>
{script}
</script>
</body>
</html>
"""


def matrix_page(matrix: Matrix, *, theme: str = "light", include_plotlyjs: bool = True) -> str:
    """The whole page as HTML. `include_plotlyjs` False is for a place that loads plotly.js.

    Raises ValueError for a theme that there is none of.
    """
    palette = theme_of(theme)
    least = {frozenset(on) for on in matrix.minimal}
    ids = {cell.off: f"cell-{n}" for n, cell in enumerate(matrix.cells)}
    views = {ids[cell.off]: _view(cell, ids[cell.off], theme) for cell in matrix.cells if cell.play}
    return _PAGE.format(
        title=html.escape(f"Which rules are enough? {matrix.title}"),
        font=FONT,
        text=palette.text,
        paper=palette.paper,
        muted=palette.muted,
        edge=palette.band_edge,
        accent=palette.message,
        cells=_colors(matrix, palette),
        plotlyjs=plotlyjs() if include_plotlyjs else "",
        findings=_paragraphs(findings(matrix)),
        grid=grid_html(
            matrix, lambda cell: _cell(cell, ids[cell.off], frozenset(cell.on) in least)
        ),
        legend=_paragraphs(legend(matrix)[1:], "muted"),
        views=script_safe(views),
        script=files(__package__).joinpath("matrix.js").read_text(encoding="utf-8").strip(),
    )


def _paragraphs(lines: list[str], css_class: str = "") -> str:
    kind = f' class="{css_class}"' if css_class else ""
    return "".join(f"<p{kind}>{html.escape(line)}</p>" for line in lines)


def _colors(matrix: Matrix, palette: Theme) -> str:
    return "\n".join(
        f".map .{_class(word, steps)} {{ background: {fill}; color: {color}; }}"
        for (word, steps), (fill, color) in sorted(colors_of(matrix, palette).items(), key=str)
    )


def _class(word: str, steps: int | None) -> str:
    return word if steps is None else f"{word}-{steps}"


def _cell(cell: Cell, id: str, is_minimal: bool) -> str:
    kind = f"cell {_class(cell.word, cell.steps)}{' minimal' if is_minimal else ''}"
    words = f"<b>{html.escape(said(cell))}</b>{html.escape(note(cell, is_minimal))}"
    if cell.play is None:
        return f'<div class="{kind}">{words}</div>'
    label = html.escape(f"{said(cell)}, {cell.sentence}", quote=True)
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
