"""The effect of each set of KIPs on the same schedules: a difference and its interval per set."""

from collections.abc import Sequence
from functools import partial

import msgspec

from ..drawing.canvas import Canvas
from ..drawing.theme import Theme
from .fleet_words import PlotTable, counted, set_words
from .number_words import number_words, range_words, telling_digits
from .plot_axis import PlotAxis
from .plot_sheet import BELOW, EDGE, Chart, IntervalRow, IntervalSizes, interval_rows

EMPTY = "Nothing to compare: the study has one set of KIPs only, and a pair needs two."
_SIZES = IntervalSizes(row=25, head=25, names=196, words=232, inside=8)
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
    """A line per set."""
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
        table=_table(rows),
        plot=partial(_plot, rows),
        notes=_NOTES,
        empty="" if rows else EMPTY,
    )


def _plot(rows: Sequence[PairedDifference], canvas: Canvas, top: float) -> float:
    room = canvas.width - 2 * EDGE - _SIZES.names - _SIZES.words
    title = f"difference to {set_words(rows[0].against)}, per partition and year"
    gaps = PlotAxis(*_range(rows), title=title).ticked(room, 110)
    by_label = forest_groups(rows).items()
    groups = {label: [_row(row, canvas.theme) for row in group] for label, group in by_label}
    panel = interval_rows(canvas, groups, gaps, top + 4, _SIZES)
    panel.upright(0, canvas.theme.muted, width=1.4)
    return panel.box.y1 + BELOW + 4


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


def _row(row: PairedDifference, theme: Theme) -> IntervalRow:
    name, words = set_words(row.features), gap_words(row)
    card = [f"{name} ({row.label})", words]
    card += [f"pairing saves {_gain_words(row)}"] if row.gain else []
    looks = {-1: (theme.safe_text, "square"), 0: (theme.muted, "circle")}
    look = looks.get(row.sign, (theme.gone, "diamond"))
    return IntervalRow(name, words, card, row.gap, row.low, row.high, *look, hollow=row.alike)
