"""A page that needs no eyes for its picture: figure, summary, sentences and table."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Unpack
from uuid import uuid4

from ..extras import needed_by
from ..figures.drawing.still_picture import described
from ..figures.drawing.svg import Json, json_of
from ..figures.drawing.theme import dark_of_light
from ..figures.timeline.ladder import RUNS_MAX, comparable, ladder_drawing
from ..figures.timeline.legend_marks import legend_words
from ..figures.timeline.whole_runs import timeline_drawing, twin_drawing
from ..rows.columns import Rows
from ..rows.difference import differences_html
from ..rows.run_titles import titles
from ..rows.sentences import story_html, summary, table_html
from ..rows.view import ViewOptions
from .page_files import AUTO, GLOW, html_page, page_colors, page_file, page_files, page_theme
from .player import carried, player, player_script, size_of, with_few_decimals

if TYPE_CHECKING:
    import plotly.graph_objects as go

ID = "kiplab"
"""The name of the one figure of a page."""
PLOTLYJS = (True, False, "directory")
NARROW = 600
"""Pixels of the picture that a small screen is given."""


class PageOrder(NamedTuple):
    """What a page, a fragment or a file shows, and how: the arguments of `page`."""

    runs: tuple[Rows, ...]
    figure: go.Figure | Json | None
    include_plotlyjs: bool | str
    theme: str
    width: int | None
    options: ViewOptions
    controls: str = ""
    """HTML below the picture: what `live.offered` makes."""

    def drawing(self, width: int | None) -> Json:
        """Plotly's data and layout of the figure given, or of the one that the runs make."""
        drawn_in = page_theme(self.theme).name
        if self.figure is not None:
            return json_of(self.figure)
        return picture(self.runs, drawn_in, width, **self.options)

    def drawings(self) -> list[Json]:
        """The picture in one width or more, the widest first."""
        is_one = self.figure is not None or self.width
        return [self.drawing(width) for width in ([self.width] if is_one else [None, NARROW])]


def page(
    rows: Rows | Sequence[Rows],
    *,
    figure: go.Figure | None = None,
    include_plotlyjs: bool | str = True,
    theme: str = AUTO,
    width: int | None = None,
    **options: Unpack[ViewOptions],
) -> str:
    """The whole page as HTML, of one to four runs: `fragment`, differences, sentences, tables.

    Its address ends in ``#step=6`` once a reader has gone to step 6. `include_plotlyjs` is True
    for a page that needs nothing else, "directory" for one with plotly.min.js beside it, False for
    one whose surroundings load plotly.js; other values raise ValueError. `theme` is "light",
    "dark", or "auto" for the one that the reader's system asks for. The picture is scrolled
    sideways where it has no room, and without a `width` it is drawn for small screens too.
    `figure`, made by `timeline`, `twin` or `ladder`, is shown in place of the rows' own. Options
    are as for `timeline`; sentences and tables are about the whole run in any case.
    """
    return page_of(PageOrder(runs_of(rows), figure, include_plotlyjs, theme, width, options))


def page_of(order: PageOrder) -> str:
    """As `page`."""
    runs, drawings = order.runs, order.drawings()
    first = runs[0]
    parts = (
        f'<h1 class="spoken">{html.escape(first.meta.title or "A run")}</h1>',
        f'<p class="spoken">{html.escape(first.meta.question)}</p>',
        _embedded(order, drawings, ID, "step"),
        order.controls,
        *words_of(order),
    )
    scripts = page_files(*GLOW, "linked_words.js", *(["live.js"] if order.controls else []))
    return html_page(
        first.meta.title or "A run",
        "\n".join(parts),
        theme=order.theme,
        style=f"{page_file('page.css')}\n{page_file('glow.css')}",
        width=max(size_of(drawings[0])[0], 640),
        scripts=f"<script>\n(() => {{\n{scripts}\n}})();\n</script>\n",
    )


def words_of(order: PageOrder) -> list[str]:
    """The sections below the picture, as HTML: signs, differences, sentences, tables."""
    runs = order.runs
    return [
        _signs(runs, order.options.get("partition")),
        _differences(runs),
        *(_run(n, name, run) for n, (name, run) in enumerate(named(runs))),
    ]


def caption_of(runs: tuple[Rows, ...]) -> str:
    """What happened in each run, as HTML: a paragraph each."""
    return "".join(f"<p>{html.escape(f'{name}: {summary(run)}')}</p>" for name, run in named(runs))


def fragment(
    rows: Rows | Sequence[Rows],
    *,
    id: str | None = None,
    figure: go.Figure | None = None,
    include_plotlyjs: bool | str = False,
    theme: str = "light",
    width: int | None = None,
    **options: Unpack[ViewOptions],
) -> str:
    """Figure, player and caption for a place in somebody's page, which loads plotly.js above it.

    `id` tells fragments of one page apart: a letter, then letters, digits, - and _. The page's
    address then ends in ``#id.step=6``. Without one a new one is made up every time, so links to a
    step last as long as the file. Other arguments as for `page`; ValueError for any of them. It is
    light by default, since the host page's colours are unknown.
    """
    id = f"kiplab-{uuid4().hex[:8]}" if id is None else id
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", id):
        raise ValueError(f"{id!r} cannot be an id: take a letter, then letters, digits, - and _")
    order = PageOrder(runs_of(rows), figure, include_plotlyjs, theme, width, options)
    return _embedded(order, order.drawings(), id, f"{id}.step")


def _embedded(order: PageOrder, drawings: list[Json], id: str, key: str) -> str:
    if order.include_plotlyjs not in PLOTLYJS:
        raise ValueError(
            f"include_plotlyjs is True, False or 'directory', not {order.include_plotlyjs!r}:"
            " a page of kiplab asks nobody on the network"
        )
    with needed_by("a page"):
        from plotly.io import to_html

    drawn = to_html(
        with_few_decimals(drawings[0]),
        full_html=False,
        include_plotlyjs=order.include_plotlyjs,
        div_id=f"{id}-plot",
        config={"displayModeBar": False},
        validate=False,
    )
    dark = dark_of_light() if order.theme == AUTO else None
    contents = carried(drawings, order.runs, dark)
    return page_file("fragment.html").format(
        id=id,
        style=page_file("player.css"),
        colors=page_colors(f"#{id}", order.theme),
        label=html.escape(described(drawings[0]), quote=True),
        drawn=drawn,
        player=player(contents, id),
        script=player_script(contents, id, key),
        caption=caption_of(order.runs),
    )


def plotlyjs() -> str:
    """The script that pages carry. Raises MissingExtraError without plotly."""
    with needed_by("a page"):
        from plotly.offline import get_plotlyjs
    return str(get_plotlyjs())


def runs_of(rows: Rows | Sequence[Rows]) -> tuple[Rows, ...]:
    """One run or two, or three or four of one play. Raises ValueError for others."""
    runs = (rows,) if isinstance(rows, Rows) else tuple(rows)
    if not 1 <= len(runs) <= RUNS_MAX:
        raise ValueError(
            f"a picture shows one run or up to {RUNS_MAX} of one play, not {len(runs)}"
        )
    return comparable(runs) if len(runs) > 2 else runs


def picture(
    runs: tuple[Rows, ...], theme: str, width: int | None, **options: Unpack[ViewOptions]
) -> Json:
    """The timeline of one run, the twin of two, the ladder of more, as plotly's data and layout.

    Raises ValueError for a ladder that is asked to leave something out: its panels show every step.
    """
    if len(runs) == 1:
        return timeline_drawing(runs[0], theme=theme, width=width, **options)
    if len(runs) == 2:
        return twin_drawing(runs[0], runs[1], theme=theme, width=width, **options)
    partition = options.pop("partition", None)
    if any(value not in (None, False) for value in options.values()):
        raise ValueError(
            f"the small panels of {len(runs)} runs show every step and message: compare two runs"
            " at a time to pick kinds of messages, a range, metrics, or folded steps"
        )
    return ladder_drawing(runs, partition=partition, theme=theme, width=width)


def named(runs: tuple[Rows, ...]) -> list[tuple[str, Rows]]:
    return list(zip(titles(runs), runs, strict=True))


def _signs(runs: tuple[Rows, ...], partition: str | None) -> str:
    """The legend in words, for readers who do not see the picture."""
    signs = dict.fromkeys(pair for run in runs for pair in legend_words(run, partition or ""))
    words = (f"{glyph} {meaning}" for glyph, meaning in signs)
    return f"<section><h2>Signs</h2><p>{html.escape(' · '.join(words))}</p></section>"


def _differences(runs: tuple[Rows, ...]) -> str:
    """A table per run that is compared with the first; nothing for one run alone."""
    if len(runs) == 1:
        return ""
    tables = "".join(
        '<div class="scroll" tabindex="0" role="region"'
        f' aria-label="differences from the first run, {html.escape(name)}">'
        f"{differences_html(runs[0], run)}</div>"
        for name, run in named(runs)[1:]
    )
    return f"<section><h2>Where the runs differ</h2>{tables}</section>"


def _run(place: int, name: str, run: Rows) -> str:
    heading = html.escape(name)
    return (
        f"<section data-finds><h2>{heading}: the story in sentences</h2>"
        f'<div data-told tabindex="0" role="group" aria-label="sentences, {heading}">'
        f"{story_html(run, place)}</div>"
        f"<h2>{heading}: the state at every moment</h2>"
        f'<div class="scroll" tabindex="0" role="region" aria-label="table, {heading}">'
        f"{table_html(run, run=place)}</div></section>"
    )
