"""The results of a study of a fleet as a page: its pictures, every rate, and its referees."""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from html import escape

from ..figures.drawing.svg import svg
from ..figures.drawing.theme import DARK, LIGHT
from ..figures.how_often import fleet_words
from ..figures.how_often.measured_rate import rate_cells, rate_words
from ..figures.how_often.plot_sheet import Chart
from ..fleet.fleet_answers.counted_metrics import who_checks
from ..fleet.fleet_answers.first_screen import first_screen
from ..fleet.fleet_answers.fleet_answer import FleetAnswer
from ..fleet.fleet_answers.fleet_row import FleetRow
from ..fleet.pictures.picture_rows import measured, where_words
from .page_files import AUTO, html_page, page_colors, page_file, page_theme

TITLE = "How often, in this fleet?"
_CHECKS = (
    "<p>Each number has somebody who ought to know it: an exact chain, a formula, plain sampling"
    " where it happens often enough to be seen, the engine itself. The tests of kiplab ask all of"
    " them.</p>"
)


def fleet_page(
    answer: FleetAnswer, pictures: Sequence[Chart] | None = None, *, theme: str = AUTO
) -> str:
    """The whole page as HTML, of every picture that the answer can feed unless some are given.

    `theme` is "light", "dark", or "auto" for its reader's. Raises ValueError for a theme that there
    is none of, MissingExtraError without scipy.
    """
    from ..fleet.pictures import pictures_of

    page_theme(theme)
    sections = {
        "Every rate": folded_table(rates_in(answer)),
        "Who checks these numbers?": _CHECKS + open_table(checks_in(answer)),
    }
    drawn = pictures_of(answer) if pictures is None else pictures
    about = about_lines(answer)
    return picture_page(TITLE, about, drawn, sections, screen=_screen(answer), theme=theme)


def _screen(answer: FleetAnswer) -> str:
    parts = (
        f"<h2>{escape(part.question)}</h2>\n<ul>"
        + "".join(f"<li>{_code(escape(sentence))}</li>" for sentence in part.sentences)
        + "</ul>"
        for part in first_screen(answer)
    )
    return "\n".join(parts)


_code = partial(re.compile("`([^`]+)`").sub, r"<code>\1</code>")


def about_lines(answer: FleetAnswer) -> list[str]:
    """What was asked, how much was sampled, and whether that is all of it."""
    scenarios = fleet_words.counted(len(answer.study.scenarios), "scenario")
    sets = fleet_words.listed(
        [fleet_words.set_words(features) for features in answer.study.feature_sets]
    )
    lines = [
        answer.study.about,
        f"{answer.partition_years:,.0f} partition-years over {scenarios}, under {sets}.",
        answer.sampling_words,
        "" if answer.finished else "The study is not finished: what is here is what it has so far.",
    ]
    return [line for line in lines if line]


def rates_in(answer: FleetAnswer) -> fleet_words.PlotTable:
    """Every rate, per partition and year and in the whole fleet, with what both rest on."""
    heads = ("metric", "KIPs", "standing", "at", "rate", "95 % interval", "remarks", "per", "by")
    fleet = ("in the fleet", "mostly assumed")
    lines = [
        (
            row.metric,
            row.features,
            row.label,
            where_words(dict(row.swept)).removeprefix("At "),
            *rate_cells(measured(row.shown)),
            row.shown_unit.removeprefix("per "),
            row.method,
            *_in_the_fleet(answer, row),
        )
        for row in answer.rows
    ]
    caption = "Rates of everything that was counted"
    return fleet_words.PlotTable(caption, (*heads, *fleet), lines)


def _in_the_fleet(answer: FleetAnswer, row: FleetRow) -> tuple[str, str]:
    """The rate in all clusters with its unit, and what both rates rest on."""
    incidents = answer.incidents
    rate = f"{rate_words(measured(incidents.of(row)))} {row.fleet_unit}"
    rate = rate if row.why_never is None else ""
    rests = [answer.assumed_words(row, rates) for rates in (None, incidents.by_cause(row))]
    own, there = (words.removeprefix("mostly assumed: ") for words in rests)
    both = own if own == there else f"{own}; in the fleet {there}"
    return "; ".join(filter(None, [rate, incidents.remark(row)])), both


def checks_in(answer: FleetAnswer) -> fleet_words.PlotTable:
    """Of every metric of the answer who its referees are."""
    checked = who_checks()
    metrics = dict.fromkeys(row.metric for row in answer.rows)
    lines = [(fleet_words.metric_words(name), name, checked[name]) for name in metrics]
    heads = ("what", "metric", "who checks it")
    return fleet_words.PlotTable("Who checks this number", heads, lines)


# --- a page of pictures ---------------------------------------------------------------------------


_AT_NIGHT = (
    "@media screen and (prefers-color-scheme: dark)"
    " { .by-day { display: none; } .at-night { display: block; } }"
)
_ID = re.compile(r'id="(kiplab-[0-9a-f]{8})"')


def picture_page(
    title: str,
    about: Sequence[str],
    pictures: Sequence[Chart],
    sections: Mapping[str, str],
    *,
    screen: str = "",
    theme: str = AUTO,
) -> str:
    """The whole page as HTML: `screen`, sentences, pictures, and HTML under each of `sections`.

    `theme` is "light", "dark", or "auto" for its reader's. Raises ValueError for another one.
    """
    figures = "\n".join(_figure(picture, theme) for picture in pictures)
    below = "\n".join(
        f"<section>\n<h2>{escape(heading)}</h2>\n{html}\n</section>"
        for heading, html in sections.items()
    )
    sentences = "\n".join(f"<p>{escape(line)}</p>" for line in about)
    printed = f"@media print {{ {page_colors(':root', LIGHT.name)} }}"
    night = _AT_NIGHT if theme == AUTO else ""
    return html_page(
        title,
        f"<h1>{escape(title)}</h1>\n{screen}\n{sentences}\n{figures}\n{below}",
        theme=theme,
        style=f"{printed}\n{page_file('fleet_page.css')}\n{night}",
        width=1012,
    )


def folded_table(table: fleet_words.PlotTable) -> str:
    lines = fleet_words.counted(len(table.lines), "line")
    return (
        f"<details><summary>{escape(table.caption)}: {lines}</summary>{open_table(table)}</details>"
    )


def open_table(table: fleet_words.PlotTable) -> str:
    """Visible."""
    return _scroll(fleet_words.plot_table_html(table), "table")


def _figure(picture: Chart, theme: str) -> str:
    where = f"<figcaption>{escape(picture.where)}.</figcaption>" if picture.where else ""
    parts = ("<figure>", _pictures(picture, theme), where, folded_table(picture.words), "</figure>")
    return "\n".join(filter(None, parts))


def _pictures(picture: Chart, theme: str) -> str:
    """One image, or one for the day and one for the night."""
    if theme != AUTO:
        return _scroll(svg(picture.drawing(theme=theme)), "picture")
    day, night = (svg(picture.drawing(theme=name)) for name in (LIGHT.name, DARK.name))
    # Equal but for their colours, they would have one id, and each the other's style sheet.
    for own in _ID.findall(night):
        night = night.replace(own, f"{own}-night")
    return f"{_scroll(day, 'picture', ' by-day')}\n{_scroll(night, 'picture', ' at-night')}"


def _scroll(html: str, label: str, kind: str = "") -> str:
    """What is too wide for the page scrolls by itself."""
    return f'<div class="scroll{kind}" tabindex="0" role="group" aria-label="{label}">{html}</div>'
