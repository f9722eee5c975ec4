"""Whether the numbers are right: each metric over what its referee says, with its interval."""

from collections.abc import Sequence
from functools import partial
from math import inf

import msgspec
from msgspec.structs import replace

from ..drawing.canvas import Canvas
from ..drawing.theme import Theme
from .fleet_words import PlotTable, metric_words, set_words
from .number_words import number_words, range_words
from .plot_axis import PlotAxis, log_range
from .plot_sheet import BELOW, Chart, IntervalRow, IntervalSizes, interval_rows

EMPTY = "Nothing to show: no metric was verified."
_NOTES = [
    "✓ and squares: the two agree within their intervals; ✗ and diamonds: they do not."
    " What is 0 has no ratio: both numbers stand on the right.",
    "n: so many equal weights would be as sure as this weighted estimate.",
]
_SIZES = IntervalSizes(row=19, head=26, names=300, words=214, above=14)
_FARTHEST = 10.0
"""From 1, which the axis reaches; what is farther away ends at its edge."""


class VerifiedMetric(msgspec.Struct, frozen=True, kw_only=True):
    """A metric, ours and its referee's, each with its bounds, which are the number itself where
    there is no chance in it; `regime` says where the two were compared. `effective` is how many
    equal weights would be as sure as ours, None where nothing was weighed.
    """

    metric: str
    features: str
    referee: str
    ours: float
    low: float
    high: float
    theirs: float
    their_low: float
    their_high: float
    agrees: bool
    regime: str = ""
    alarms: tuple[str, ...] = ()
    effective: float | None = None

    @property
    def ratio(self) -> float | None:
        """Ours over theirs; None where the referee says that it never happens, or we saw none."""
        return self.ours / self.theirs if self.theirs > 0 and self.ours > 0 else None

    @property
    def ratio_low(self) -> float:
        """The least that the ratio may be; 0 where nothing bounds it."""
        return max(self.low, 0.0) / self.their_high if self.their_high > 0 else 0.0

    @property
    def ratio_high(self) -> float:
        """The most that it may be; without end where theirs may be 0."""
        return self.high / self.their_low if self.their_low > 0 else inf


def _sentence(rows: Sequence[VerifiedMetric], level: str) -> str:
    """How many agree, and which do not; `level` says how sure all of it is together."""
    if not rows:
        return EMPTY
    parted = [row for row in rows if not row.agrees]
    metrics = len({row.metric for row in rows})
    referees = len({row.referee for row in rows})
    sentence = f"{len(rows) - len(parted)} of {len(rows)} comparisons agree ({level})"
    sentence += f": {metrics} metrics, {referees} referees."
    names = "; ".join(f"{verified_name(row)} by {row.referee}" for row in parted)
    sentence += f" Not: {names}." if parted else ""
    ringing = next((row for row in rows if row.alarms), None)
    if ringing is not None:
        sentence += f" Weights to be wary of (!): {verified_name(ringing)}, {ringing.alarms[0]}."
    return sentence


def verified_name(row: VerifiedMetric) -> str:
    """``A stale replica joins the ISR, KIP-841``."""
    return f"{metric_words(row.metric)}, {set_words(row.features)}"


def compared_words(row: VerifiedMetric) -> str:
    """The ratio with its interval; where there is none, both numbers."""
    if row.ratio is None:
        if row.ours == row.theirs == 0:
            return "0 in both"
        if row.theirs == 0 and row.their_high > 0:
            return f"{number_words(row.ours)}; they saw none"
        return f"ours, theirs: {number_words(row.ours)} and {number_words(row.theirs)}"
    if row.ratio_low == row.ratio_high:
        exact = row.ratio == 1
        return f"{number_words(row.ratio, 3)} exactly" if exact else number_words(row.ratio, 6)
    high = "any" if row.ratio_high == inf else number_words(row.ratio_high, 3)
    return f"{number_words(row.ratio, 3)} ({number_words(row.ratio_low, 3)} to {high})"


def verified_groups(rows: Sequence[VerifiedMetric]) -> dict[tuple[str, str], list[VerifiedMetric]]:
    """By referee, and by where the two were compared, in the order of the rows."""
    groups: dict[tuple[str, str], list[VerifiedMetric]] = {}
    referees = list(dict.fromkeys(row.referee for row in rows))
    for row in sorted(rows, key=lambda row: referees.index(row.referee)):
        groups.setdefault((row.referee, row.regime), []).append(row)
    return groups


def _table(rows: Sequence[VerifiedMetric]) -> PlotTable:
    """A line per comparison, with both numbers and the weights."""
    heads = ["metric", "KIPs", "referee", "where", "ours", "interval", "theirs"]
    heads += ["ratio", "agrees", "effective samples", "alarms"]
    lines = []
    for row in rows:
        names = metric_words(row.metric), set_words(row.features), row.referee, row.regime
        ours = number_words(row.ours, 4), range_words(row.low, row.high)
        ratio, agrees = compared_words(row), "yes" if row.agrees else "no"
        effective = "" if row.effective is None else number_words(row.effective, 3)
        theirs, alarms = number_words(row.theirs, 4), "; ".join(row.alarms)
        lines.append((*names, *ours, theirs, ratio, agrees, effective, alarms))
    return PlotTable("Every metric and its referee", heads, lines)


def verified_chart(rows: Sequence[VerifiedMetric], level: str) -> Chart:
    """A ratio per comparison, by referee; `level` says how sure all of it is together."""
    return Chart(
        title="Do the numbers agree with their referees?",
        sentence=_sentence(rows, level),
        table=_table(rows),
        plot=partial(_plot, rows),
        notes=_NOTES if any(row.effective is not None for row in rows) else _NOTES[:1],
        empty="" if rows else EMPTY,
    )


def _plot(rows: Sequence[VerifiedMetric], canvas: Canvas, top: float) -> float:
    theme, small = canvas.theme, canvas.sizes.small
    ratios = PlotAxis(*_range(rows), True, title="ours over theirs")
    ratios = replace(ratios, marks=tuple(ratios.ticks()))
    groups = {
        ": ".join(filter(None, group)): [_row(row, theme) for row in compared]
        for group, compared in verified_groups(rows).items()
    }
    panel = interval_rows(canvas, groups, ratios, top + 4, _SIZES)
    for tick in ratios.marks:  # above, too: below may be a long way down
        x, y = panel.px(tick.value), panel.box.y0 - 7
        canvas.text(x, y, tick.text, theme.muted, size=small, anchor="center")
    panel.upright(1, theme.muted, width=1.4)
    return panel.box.y1 + BELOW + 4


def _range(rows: Sequence[VerifiedMetric]) -> tuple[float, float]:
    rated = [row for row in rows if row.ratio is not None]
    ratios = [value for row in rated for value in (row.ratio_low, row.ratio_high, row.ratio or 1)]
    shown = [ratio for ratio in ratios if 1 / _FARTHEST <= ratio <= _FARTHEST]
    return log_range([1 / 1.1, 1.1, *shown], decades=0.1)


def _row(row: VerifiedMetric, theme: Theme) -> IntervalRow:
    # How many samples a weighted estimate is worth, with a mark if it is not to be believed.
    worth = "" if row.effective is None else f", n {number_words(row.effective)}"
    words = f"{compared_words(row)}{worth}{' !' * bool(row.alarms)}"
    name, bounds = verified_name(row), (row.ratio_low, row.ratio_high)
    card = [name, f"{row.referee} {row.regime}", words, *row.alarms]
    color, shape, sign = (
        (theme.safe_text, "square", "✓") if row.agrees else (theme.gone, "diamond", "✗")
    )
    return IntervalRow(name, words, card, row.ratio, *bounds, color, shape, sign=sign)
