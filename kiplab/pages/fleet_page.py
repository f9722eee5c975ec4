"""What a study of a fleet found as a page: its pictures, every rate, and who checks the numbers."""

from collections.abc import Sequence
from pathlib import Path

from ..figures.how_often.fleet_words import counted, listed, metric_words, mode_words, set_words
from ..figures.how_often.measured_rate import rate_cells
from ..figures.how_often.plot_table import PlotTable, plot_table
from ..fleet.fleet_answers.fleet_answer import FleetAnswer
from ..fleet.fleet_answers.sampling_words import sampling_words
from ..fleet.pictures.fleet_picture import FleetPicture
from ..fleet.pictures.picture_rows import measured, where_words
from ..fleet.verification.who_checks import who_checks
from .page_colors import AUTO, page_theme
from .picture_page import folded_table, open_table, picture_page

TITLE = "How often, in this fleet?"
_CHECKS = (
    "<p>Each number has somebody who ought to know it: an exact chain, a formula, plain sampling"
    " where it happens often enough to be seen, the engine itself. <code>kiplab fleet verify"
    " -o verified.html</code> asks all of them, and says where they disagree.</p>"
)


def fleet_page(answer: FleetAnswer, pictures: Sequence[FleetPicture], *, theme: str = AUTO) -> str:
    """The whole page as HTML. `theme` is "light", "dark", or "auto" for its reader's.

    Raises ValueError for a theme that there is none of.
    """
    sections = {
        "Every rate": folded_table(rates_in(answer)),
        "Who checks these numbers?": _CHECKS + open_table(checks_in(answer)),
    }
    return picture_page(TITLE, about_lines(answer), pictures, sections, theme=theme)


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
    sets = listed([set_words(features) for features in answer.study.feature_sets])
    lines = [
        answer.study.about,
        f"{answer.partition_years:,.0f} partition-years over {scenarios},"
        f" {mode_words(answer.study.mode)} mode, under {sets}.",
        sampling_words(answer),
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


def checks_in(answer: FleetAnswer) -> PlotTable:
    """Of every metric of the answer who its referees are, without asking them."""
    checked = who_checks([row.metric for row in answer.rows], answer.study.mode)
    lines = [
        (metric_words(one.metric), one.metric, one.words, str(one.comparisons or ""))
        for one in checked
    ]
    return plot_table(
        f"Who checks this number, in {mode_words(answer.study.mode)} mode",
        ("what", "metric", "who checks it", "comparisons"),
        lines,
    )
