"""What each set of KIPs changes, on the same schedules: a difference and its interval per set."""

from collections.abc import Sequence

import msgspec

from ..drawing.canvas import Box, Canvas, as_figure, safe
from ..drawing.svg import Json
from ..drawing.text_width import shortened
from .fleet_words import COUNTERFACTUAL, counted, set_words
from .number_words import number_words, range_words, telling_digits
from .plot_axis import PlotAxis
from .plot_marks import plot_mark
from .plot_sheet import (
    EDGE,
    card_at,
    empty_note,
    plot_heading,
    plot_notes,
    plot_sheet,
)
from .plot_table import PlotTable, plot_table

TITLE = "What do the KIPs change on the same schedules?"
EMPTY = "Nothing to compare: the study has one set of KIPs only, and a pair needs two."
_ROW, _NAMES, _NUMBERS = 25, 196, 232
_NOTES = [
    "Green squares: less often; orange diamonds: more often; grey circles: the 95 % interval"
    " holds 0. Hollow: no schedule told the two apart, which does not prove that none would."
]
_WORTH_SAYING = 1.05
_SAME = "the same on every schedule"


class PairedDifference(msgspec.Struct, frozen=True, kw_only=True):
    """How much more often something happens under these KIPs than under `against`, per partition
    and year. `alike`: no schedule told the two apart. `gain` is how many times larger the variance
    would be without pairs, where it is known, `method` how it was sampled.
    """

    features: str
    label: str
    against: str
    gap: float
    low: float
    high: float
    alike: bool = False
    gain: float | None = None
    method: str = ""

    @property
    def sign(self) -> int:
        """-1 for less often, 1 for more often, 0 where the interval holds no difference too."""
        return (self.low > 0) - (self.high < 0)


def forest_sentence(rows: Sequence[PairedDifference], what: str) -> str:
    """How many sets have less of it, more, or about as much, and which has the least."""
    if not rows:
        return EMPTY
    less, more = ([row for row in rows if row.sign == sign] for sign in (-1, 1))
    base = set_words(rows[0].against)
    alike = sum(row.alike for row in rows)
    undecided = len(rows) - len(less) - len(more) - alike
    parts = [
        f"{what}: against {base}, {counted(len(less), 'set')} less often, {len(more)} more often,"
        f" {alike} alike on every schedule, {undecided} undecided."
    ]
    if less:
        best = min(less, key=lambda row: row.gap)
        parts.append(f"Most is prevented by {set_words(best.features)}: {gap_words(best)}.")
    return " ".join(parts)


def gap_words(row: PairedDifference) -> str:
    """``−1.9×10⁻⁸ (−2.1 to −1.7×10⁻⁸)``."""
    if row.alike:
        return _SAME
    return f"{_gap(row)} ({range_words(row.low, row.high)})"


def _gap(row: PairedDifference) -> str:
    return number_words(row.gap, telling_digits(row.low, row.high))


def forest_table(rows: Sequence[PairedDifference]) -> PlotTable:
    """A line per set."""
    heads = ["KIPs", "standing", "against", "difference per partition and year", "95 % interval"]
    gains = ["pairing saves"] if any(row.gain is not None for row in rows) else []
    lines = [
        (
            set_words(row.features),
            row.label,
            set_words(row.against),
            _SAME if row.alike else _gap(row),
            range_words(row.low, row.high) if row.low < row.high else "",
            *[_gain_words(row) for _ in gains],
            row.method,
        )
        for row in rows
    ]
    return plot_table("Paired differences", [*heads, *gains, "by"], lines)


def _gain_words(row: PairedDifference) -> str:
    if row.gain is None:
        return ""
    return f"{number_words(row.gain)} times" if row.gain >= _WORTH_SAYING else "nothing"


# --- the picture ----------------------------------------------------------------------------------


def forest_drawing(
    rows: Sequence[PairedDifference],
    what: str,
    *,
    theme: str = "light",
    width: int | None = None,
) -> Json:
    """A difference per set, as plotly's data and layout; `what` is what happens.

    Raises ValueError for a theme that there is none of, and for a width too small for words.
    """
    canvas = plot_sheet(theme, width)
    sentence = forest_sentence(rows, what)
    if not rows:
        y = plot_heading(canvas, TITLE, "")
        return canvas.drawing(empty_note(canvas, y, EMPTY) + EDGE, sentence)
    y = plot_heading(canvas, TITLE, sentence) + 4
    groups = forest_groups(rows)
    bottom = y + _ROW * sum(1 + len(group) for group in groups.values())
    box = Box(EDGE + _NAMES, y, canvas.width - EDGE - _NUMBERS, bottom)
    gaps = PlotAxis(*_range(rows), box.x0 + 8, box.x1 - 8)
    end = _ticks(canvas, gaps, box, set_words(rows[0].against))
    for label, group in groups.items():
        canvas.text(EDGE, y + _ROW / 2, safe(label), canvas.theme.muted, size=canvas.sizes.small)
        y += _ROW
        for row in group:
            _row(canvas, row, gaps, box, y + _ROW / 2)
            y += _ROW
    return canvas.drawing(plot_notes(canvas, _NOTES, end + 4), sentence)


forest_figure = as_figure(forest_drawing)


def forest_groups(rows: Sequence[PairedDifference]) -> dict[str, list[PairedDifference]]:
    """By their standing, what nobody has last; within each, most is prevented first."""
    labels = sorted(dict.fromkeys(row.label for row in rows), key=lambda one: one == COUNTERFACTUAL)
    return {
        label: sorted((row for row in rows if row.label == label), key=lambda row: row.gap)
        for label in labels
    }


def _range(rows: Sequence[PairedDifference]) -> tuple[float, float]:
    """Both sides of zero, so that it can be seen on which one an interval is."""
    low, high = min(0.0, *(row.low for row in rows)), max(0.0, *(row.high for row in rows))
    if low == high:
        return -1.0, 1.0
    spare = (high - low) * 0.06
    return low - spare, high + spare


def _ticks(canvas: Canvas, gaps: PlotAxis, box: Box, base: str) -> float:
    palette, small = canvas.theme, canvas.sizes.small
    for tick in gaps.ticks(max(int((box.x1 - box.x0) / 110), 2)):
        x = gaps.at(tick.value)
        canvas.line(x, box.y0, x, box.y1, palette.grid)
        canvas.text(x, box.y1 + 13, tick.text, palette.muted, size=small, anchor="center")
    canvas.line(gaps.at(0), box.y0, gaps.at(0), box.y1, palette.muted, width=1.4)
    middle, said = (box.x0 + box.x1) / 2, f"difference to {base}, per partition and year"
    canvas.text(middle, box.y1 + 30, safe(said), palette.muted, size=small, anchor="center")
    return box.y1 + 42


def _row(canvas: Canvas, row: PairedDifference, gaps: PlotAxis, box: Box, y: float) -> None:
    palette, sizes = canvas.theme, canvas.sizes
    color = {-1: palette.safe_text, 0: palette.muted, 1: palette.gone}[row.sign]
    shape = {-1: "square", 0: "circle", 1: "diamond"}[row.sign]
    name = shortened(set_words(row.features), _NAMES - 10, sizes.text)
    canvas.text(EDGE, y, safe(name))
    canvas.line(gaps.at(row.low), y, gaps.at(row.high), y, color, width=2.4)
    plot_mark(canvas, gaps.at(row.gap), y, shape, color, hollow=row.alike)
    said = shortened(gap_words(row), _NUMBERS - 8, sizes.small)
    canvas.text(box.x1 + 8, y, safe(said), palette.text, size=sizes.small)
    card_at(canvas, gaps.at(row.gap), y, _card(row))


def _card(row: PairedDifference) -> list[str]:
    lines = [f"{set_words(row.features)} ({row.label})", gap_words(row)]
    return lines + ([f"pairing saves {_gain_words(row)}"] if row.gain else [])
