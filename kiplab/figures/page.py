"""A page that needs no eyes for its picture: figure, summary, sentences and table."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .columns import Rows
from .describe import sentences, summary, table_html
from .sheet import own_title
from .theme import FONT, theme_of
from .timeline import timeline
from .twin import titles, twin

if TYPE_CHECKING:
    import plotly.graph_objects as go

DIV = "kiplab-figure"
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ margin: 0 auto; padding: 1.5rem; max-width: {width}px; font: 16px/1.5 {font};
  color: {text}; background: {paper}; }}
ul {{ list-style: none; padding: 0; }} li {{ margin: 0.4rem 0; }}
/* The picture shows title and question; readers of the text alone get them here. */
.spoken {{ position: absolute; width: 1px; height: 1px; overflow: hidden;
  clip-path: inset(50%); white-space: nowrap; }}
h2 {{ font-size: 1.1rem; margin-top: 2rem; }}
figure {{ margin: 0; }} .scroll {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-size: 0.85rem; }}
caption {{ text-align: left; padding: 0.5rem 0; color: {muted}; }}
th, td {{ border: 1px solid {line}; padding: 0.3rem 0.5rem; text-align: left;
  vertical-align: top; }}
</style>
</head>
<body>
<main>
<h1 class="spoken">{title}</h1>
<p class="spoken">{question}</p>
<figure>
<div class="scroll" role="img" aria-label="{label}">
{figure}
</div>
<figcaption>{caption}</figcaption>
</figure>
{runs}
</main>
</body>
</html>
"""


def page(
    rows: Rows | Sequence[Rows],
    *,
    figure: go.Figure | None = None,
    include_plotlyjs: bool | str = True,
    theme: str = "light",
    width: int | None = None,
) -> str:
    """The whole page as HTML, of one run or of two.

    `include_plotlyjs` is True for a page that needs nothing else, "directory" for one with
    plotly.min.js beside it, False for one whose surroundings load plotly.js. `figure` is shown in
    place of the one that the rows make.
    """
    runs, colors = runs_of(rows), theme_of(theme)
    figure = figure or picture(runs, theme, width)
    drawn = figure.to_html(
        full_html=False,
        include_plotlyjs=include_plotlyjs,
        div_id=DIV,
        config={"displayModeBar": False},
    )
    first = runs[0]
    return _PAGE.format(
        title=html.escape(first.meta.title or "A run"),
        question=html.escape(first.meta.question),
        label=html.escape(str(figure.layout.meta["description"]), quote=True),
        figure=drawn,
        caption="".join(
            f"<p>{html.escape(f'{name}: {summary(run)}')}</p>" for name, run in named(runs)
        ),
        runs="\n".join(_run(name, run) for name, run in named(runs)),
        width=max(int(figure.layout.width), 640),
        font=FONT,
        text=colors.text,
        paper=colors.paper,
        muted=colors.muted,
        line=colors.line,
    )


def runs_of(rows: Rows | Sequence[Rows]) -> tuple[Rows, ...]:
    """One or two runs. Raises ValueError for another number."""
    runs = (rows,) if isinstance(rows, Rows) else tuple(rows)
    if len(runs) not in (1, 2):
        raise ValueError(f"a picture shows one run or two, not {len(runs)}")
    return runs


def picture(runs: tuple[Rows, ...], theme: str, width: int | None) -> go.Figure:
    """The timeline of one run, or the twin of two."""
    if len(runs) == 1:
        return timeline(runs[0], theme=theme, width=width)
    return twin(runs[0], runs[1], theme=theme, width=width)


def named(runs: tuple[Rows, ...]) -> list[tuple[str, Rows]]:
    """(panel title, rows) of each run."""
    names = titles(runs[0], runs[1]) if len(runs) == 2 else tuple(own_title(run) for run in runs)
    return list(zip(names, runs, strict=True))


def _run(name: str, run: Rows) -> str:
    story = "".join(f"<li>{html.escape(sentence)}</li>" for sentence in sentences(run))
    heading = html.escape(name)
    return (
        f"<section><h2>{heading}: the story in sentences</h2><ul>{story}</ul>"
        f"<h2>{heading}: the state at every moment</h2>"
        f'<div class="scroll" tabindex="0" role="region" aria-label="table, {heading}">'
        f"{table_html(run)}</div></section>"
    )
