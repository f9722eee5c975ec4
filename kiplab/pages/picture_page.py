"""A page of pictures: what was asked, each picture with its table, and sections below them.

One file that asks nobody on the network and runs no script; where its reader's system is dark it
shows the dark pictures.
"""

import re
from collections.abc import Mapping, Sequence
from html import escape

from ..figures.drawing.svg import svg
from ..figures.drawing.theme import DARK, FONT, LIGHT
from ..figures.how_often.fleet_words import PlotTable, counted, plot_table_html
from ..fleet.pictures.fleet_picture import FleetPicture
from .page_files import AUTO, page_colors, page_file, page_theme

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{colors}
@media print {{ {printed} }}
body {{ margin: 0 auto; padding: 1.5rem; max-width: 1012px; font: 16px/1.5 {font};
  color: var(--kiplab-text); background: var(--kiplab-paper); }}
{style}
{night}
</style>
</head>
<body>
<main>
<h1>{title}</h1>
{about}
{pictures}
{sections}
</main>
</body>
</html>
"""
_AT_NIGHT = (
    "@media screen and (prefers-color-scheme: dark)"
    " { .by-day { display: none; } .at-night { display: block; } }"
)
_ID = re.compile(r'id="(kiplab-[0-9a-f]{8})"')


def picture_page(
    title: str,
    about: Sequence[str],
    pictures: Sequence[FleetPicture],
    sections: Mapping[str, str],
    *,
    theme: str = AUTO,
) -> str:
    """The whole page as HTML: sentences, pictures, and HTML under each heading of `sections`.

    `theme` is "light", "dark", or "auto" for its reader's. Raises ValueError for another one.
    """
    page_theme(theme)
    return _PAGE.format(
        title=escape(title),
        colors=page_colors(":root", theme),
        printed=page_colors(":root", LIGHT.name),
        font=FONT,
        style=page_file("fleet_page.css"),
        night=_AT_NIGHT if theme == AUTO else "",
        about="\n".join(f"<p>{escape(line)}</p>" for line in about),
        pictures="\n".join(_figure(picture, theme) for picture in pictures),
        sections="\n".join(_section(*section) for section in sections.items()),
    )


def _section(heading: str, html: str) -> str:
    return f"<section>\n<h2>{escape(heading)}</h2>\n{html}\n</section>"


def folded_table(table: PlotTable) -> str:
    """Behind a click."""
    lines = counted(len(table.lines), "line")
    return (
        f"<details><summary>{escape(table.caption)}: {lines}</summary>{open_table(table)}</details>"
    )


def open_table(table: PlotTable) -> str:
    """Visible; where it is too wide for the page it scrolls by itself."""
    return (
        '<div class="scroll" tabindex="0" role="group" aria-label="table">'
        f"{plot_table_html(table)}</div>"
    )


def _figure(picture: FleetPicture, theme: str) -> str:
    where = f"<figcaption>{escape(picture.where)}.</figcaption>" if picture.where else ""
    parts = ("<figure>", _pictures(picture, theme), where, folded_table(picture.words), "</figure>")
    return "\n".join(filter(None, parts))


def _pictures(picture: FleetPicture, theme: str) -> str:
    """One image, or one for the day and one for the night."""
    if theme != AUTO:
        return _scroll(svg(picture.draw(theme=theme)), "")
    day, night = (svg(picture.draw(theme=name)) for name in (LIGHT.name, DARK.name))
    # Equal but for their colours, they would have one id, and each the other's style sheet.
    for own in _ID.findall(night):
        night = night.replace(own, f"{own}-night")
    return f"{_scroll(day, ' by-day')}\n{_scroll(night, ' at-night')}"


def _scroll(image: str, kind: str) -> str:
    return f'<div class="scroll{kind}" tabindex="0" role="group" aria-label="picture">{image}</div>'
