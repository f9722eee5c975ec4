"""What a study of a fleet found as a page: its pictures, each with its table, and every rate.

One file that asks nobody on the network and runs no script; where its reader's system is dark it
shows the dark pictures.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

from ..figures.drawing.svg import svg
from ..figures.drawing.theme import DARK, FONT, LIGHT
from ..figures.how_often.fleet_words import counted
from ..figures.how_often.measured_rate import rate_cells
from ..figures.how_often.number_words import number_words
from ..figures.how_often.plot_table import PlotTable, plot_table, plot_table_html
from ..fleet.fleet_answers.fleet_answer import FleetAnswer
from ..fleet.pictures.fleet_picture import FleetPicture
from ..fleet.pictures.picture_rows import measured, where_words
from .page_colors import AUTO, page_colors, page_theme
from .page_files import page_file

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
<section>
<h2>Every rate</h2>
{rates}
</section>
</main>
</body>
</html>
"""
_AT_NIGHT = (
    "@media screen and (prefers-color-scheme: dark)"
    " { .by-day { display: none; } .at-night { display: block; } }"
)
TITLE = "How often, in this fleet?"
_ID = re.compile(r'id="(kiplab-[0-9a-f]{8})"')


def fleet_page(answer: FleetAnswer, pictures: Sequence[FleetPicture], *, theme: str = AUTO) -> str:
    """The whole page as HTML. `theme` is "light", "dark", or "auto" for its reader's.

    Raises ValueError for a theme that there is none of.
    """
    page_theme(theme)
    return _PAGE.format(
        title=TITLE,
        colors=page_colors(":root", theme),
        printed=page_colors(":root", LIGHT.name),
        font=FONT,
        style=page_file("fleet_page.css"),
        night=_AT_NIGHT if theme == AUTO else "",
        about="\n".join(f"<p>{escape(line)}</p>" for line in about_lines(answer)),
        pictures="\n".join(_figure(picture, theme) for picture in pictures),
        rates=_table_html(rates_in(answer)),
    )


def write_fleet_page(
    answer: FleetAnswer,
    path: str | Path,
    pictures: Sequence[FleetPicture] | None = None,
    *,
    theme: str = AUTO,
) -> Path:
    """Write the page, of every picture that the answer can feed unless some are given.

    Raises ValueError for a theme that there is none of, OSError for a path that cannot be written,
    MissingExtraError without scipy.
    """
    from ..fleet.pictures import pictures_of

    page_theme(theme)
    target = Path(path)
    drawn = pictures_of(answer) if pictures is None else pictures
    target.write_text(fleet_page(answer, drawn, theme=theme), encoding="utf-8")
    return target


def about_lines(answer: FleetAnswer) -> list[str]:
    """What was asked, how much was sampled, and whether that is all of it."""
    scenarios = counted(len(answer.study.scenarios), "scenario")
    sets = ", ".join(answer.study.feature_sets)
    lines = [
        answer.study.about,
        f"{number_words(answer.partition_years, 3)} partition-years over {scenarios},"
        f" {answer.study.mode} mode, under the KIPs {sets}.",
        "" if answer.finished else "The study is not finished: what is here is what it has so far.",
        "Much of it rests on numbers that nobody has published: kiplab.fleet.PARAMETERS says of"
        " each parameter where its default comes from.",
    ]
    return [line for line in lines if line]


def rates_in(answer: FleetAnswer) -> PlotTable:
    """Every row of the answer, in words."""
    heads = ("metric", "KIPs", "standing", "at", "rate", "95 % interval", "remarks", "per", "by")
    lines = [
        (
            row.metric,
            row.features,
            row.label,
            where_words(dict(row.swept)).removeprefix("At "),
            *rate_cells(measured(row.found)),
            row.unit.removeprefix("per "),
            row.method,
        )
        for row in answer.rows
    ]
    return plot_table("Rates of everything that was counted", heads, lines)


def _figure(picture: FleetPicture, theme: str) -> str:
    where = f"<figcaption>{escape(picture.where)}.</figcaption>" if picture.where else ""
    parts = ("<figure>", _pictures(picture, theme), where, _table_html(picture.words), "</figure>")
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


def _table_html(table: PlotTable) -> str:
    """Behind a click."""
    lines = counted(len(table.lines), "line")
    return (
        f"<details><summary>{escape(table.caption)}: {lines}</summary>"
        f'<div class="scroll" tabindex="0" role="group" aria-label="table">'
        f"{plot_table_html(table)}</div></details>"
    )
