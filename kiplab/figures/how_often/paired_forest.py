"""The effect of each set of KIPs on the same schedules: a difference and its interval per set."""

from collections.abc import Mapping, Sequence
from functools import partial

import msgspec

from ..drawing.canvas import Box, Canvas, safe
from ..drawing.text_width import shortened
from ..drawing.theme import Theme
from .fleet_words import PlotTable, counted, number_words, range_words, set_words, telling_digits
from .plot_axis import PlotAxis
from .plot_panel import PlotPanel, error_bars
from .plot_sheet import BELOW, EDGE, Chart

EMPTY = "Nothing to compare: the study has one set of KIPs only, and a pair needs two."
_ROW, _NAMES, _WORDS, _INSIDE = 25, 196, 232, 8
"""Pixels: a row or a heading, what names and words take, what the ends of the axis keep free."""
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


def _sentence(rows: Sequence[PairedDifference], what: str) -> str:
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
    return _SAME if row.alike else f"{_gap(row)} ({range_words(row.low, row.high)})"


def _gap(row: PairedDifference) -> str:
    return _SAME if row.alike else number_words(row.gap, telling_digits(row.low, row.high))


def _table(rows: Sequence[PairedDifference]) -> PlotTable:
    heads = ["KIPs", "standing", "against", "difference per partition and year", "95 % interval"]
    gains = ["pairing saves"] if any(row.gain is not None for row in rows) else []
    lines = []
    for row in rows:
        names = set_words(row.features), row.label, set_words(row.against)
        interval = range_words(row.low, row.high) if row.low < row.high else ""
        lines.append((*names, _gap(row), interval, *(_gain_words(row) for _ in gains), row.method))
    return PlotTable("Paired differences", [*heads, *gains, "by"], lines)


def _gain_words(row: PairedDifference) -> str:
    if row.gain is None:
        return ""
    return f"{number_words(row.gain)} times" if row.gain >= _WORTH_SAYING else "nothing"


def forest_chart(rows: Sequence[PairedDifference], what: str) -> Chart:
    """A difference per set; `what` is what happens."""
    return Chart(
        title="What do the KIPs change on the same schedules?",
        sentence=_sentence(rows, what),
        words=_table(rows),
        plot=partial(_plot, rows),
        notes=_NOTES,
        empty="" if rows else EMPTY,
    )


def _plot(rows: Sequence[PairedDifference], canvas: Canvas, top: float) -> float:
    room = canvas.width - 2 * EDGE - _NAMES - _WORDS
    title = f"difference to {set_words(rows[0].against)}, per partition and year"
    gaps = PlotAxis(*_range(rows), title=title).ticked(room, 110)
    groups, left, right = forest_groups(rows), EDGE + _NAMES, canvas.width - EDGE - _WORDS
    bottom = top + 4 + _ROW * (len(rows) + len(groups))
    box = Box(left + _INSIDE, top + 4, right - _INSIDE, bottom)
    panel = PlotPanel(canvas, box, gaps, PlotAxis(-bottom, -box.y0))
    _mark(panel, _said(canvas, groups, box.y0, right + 8))
    panel.upright(0, canvas.theme.muted, width=1.4)
    return panel.box.y1 + BELOW + 4


def _said(
    canvas: Canvas, groups: Mapping[str, Sequence[PairedDifference]], y: float, right: float
) -> list[tuple[PairedDifference, float]]:
    """The words of each row under its heading; where each row is."""
    size, small, placed = canvas.sizes.text, canvas.sizes.small, []
    for heading, rows in groups.items():
        words = shortened(heading, canvas.width - 2 * EDGE, small)
        canvas.text(EDGE, y + _ROW - 10, safe(words), canvas.theme.muted, size=small)
        for row in rows:
            y += _ROW
            placed.append((row, y + _ROW / 2))
            name = shortened(set_words(row.features), _NAMES - 10, size)
            canvas.text(EDGE, y + _ROW / 2, safe(name))
            words = shortened(gap_words(row), canvas.width - EDGE - right, small)
            canvas.text(right, y + _ROW / 2, safe(words), size=small)
        y += _ROW
    return placed


def _mark(panel: PlotPanel, placed: Sequence[tuple[PairedDifference, float]]) -> None:
    """A trace for all rows of one look."""
    theme = panel.canvas.theme
    for sign in dict.fromkeys(row.sign for row, _ in placed):
        color, shape = _look(sign, theme)
        mine = [(row, y) for row, y in placed if row.sign == sign]
        rows, ys = [row for row, _ in mine], [-y for _, y in mine]
        values = [panel.x.nearest(row.gap) for row in rows]
        bars = error_bars(panel.x, values, [(row.low, row.high) for row in rows], color, 2.4)
        hollow, cards = [row.alike for row in rows], [_card(row) for row in rows]
        panel.marks(values, ys, shape, color, hollow=hollow, cards=cards, error_x=bars)


def _look(sign: int, theme: Theme) -> tuple[str, str]:
    looks = {-1: (theme.safe_text, "square"), 0: (theme.muted, "circle")}
    return looks.get(sign, (theme.gone, "diamond"))


def _card(row: PairedDifference) -> list[str]:
    card = [f"{set_words(row.features)} ({row.label})", gap_words(row)]
    return [*card, f"pairing saves {_gain_words(row)}"] if row.gain else card


def forest_groups(rows: Sequence[PairedDifference]) -> dict[str, list[PairedDifference]]:
    """By their standing; within each, most is prevented first."""
    groups: dict[str, list[PairedDifference]] = {}
    for row in rows:
        groups.setdefault(row.label, []).append(row)
    return {label: sorted(group, key=lambda row: row.gap) for label, group in groups.items()}


def _range(rows: Sequence[PairedDifference]) -> tuple[float, float]:
    """Both sides of zero, so that it can be seen on which one an interval is."""
    low, high = min(0.0, *(row.low for row in rows)), max(0.0, *(row.high for row in rows))
    if low == high:
        return -1.0, 1.0
    spare = (high - low) * 0.06
    return low - spare, high + spare
