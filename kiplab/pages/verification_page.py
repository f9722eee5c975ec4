"""Whether the fleet's numbers are right, as a page: every metric over what its referee says."""

from pathlib import Path

from ..figures.how_often.fleet_words import metric_words, mode_words
from ..figures.how_often.plot_table import PlotTable, plot_table
from ..fleet.fleet_answers.counted_metrics import COUNTED
from ..fleet.pictures.fleet_picture import FleetPicture
from ..fleet.verification.who_checks import CheckedMetric, metrics_of, who_checks
from ..protocol.releases import Mode
from .page_colors import AUTO
from .picture_page import open_table, picture_page

TITLE = "Are the fleet's numbers right?"
_ABSENT = "not counted: nothing is forced in this mode"
_ABOUT = (
    "Every metric that the fleet counts or estimates stands beside somebody who ought to know it:"
    " an exact chain, a formula, plain sampling where it happens often enough to be seen, or the"
    " engine itself over the same schedules.",
    "Each comparison has an interval so wide that all of them hold together: if every number is"
    " right, one page in a thousand says otherwise.",
)


def verification_page(picture: FleetPicture, *, effort: float, seed: int, theme: str = AUTO) -> str:
    """The whole page as HTML, of `kiplab.fleet.pictures.verification` made with that effort and
    seed. `theme` is "light", "dark", or "auto" for its reader's.

    Raises ValueError for a theme that there is none of.
    """
    made = f"kiplab fleet verify --effort {effort:g} --seed {seed}"
    about = (*_ABOUT, f"Made by {made}; the same command makes the same page.")
    sections = {"Who checks which metric?": open_table(checks_by_mode())}
    return picture_page(TITLE, about, [picture], sections, theme=theme)


def checks_by_mode() -> PlotTable:
    """Of every metric that there is who its referees are in each mode."""
    modes = sorted(Mode)
    said = {mode: {one.metric: one.words for one in _checked(mode)} for mode in modes}
    lines = [
        (metric_words(name), name, *(said[mode].get(name, _ABSENT) for mode in modes))
        for name in COUNTED
    ]
    heads = ("what", "metric", *(f"in {mode_words(mode)} mode" for mode in modes))
    return plot_table("Every metric, and who ought to know it", heads, lines)


def _checked(mode: Mode) -> tuple[CheckedMetric, ...]:
    return who_checks(metrics_of(mode), mode)


def write_verification_page(
    picture: FleetPicture, path: str | Path, *, effort: float, seed: int, theme: str = AUTO
) -> Path:
    """Write the page. Raises ValueError for a theme that there is none of, OSError for a path that
    cannot be written.
    """
    target = Path(path)
    page = verification_page(picture, effort=effort, seed=seed, theme=theme)
    target.write_text(page, encoding="utf-8")
    return target
