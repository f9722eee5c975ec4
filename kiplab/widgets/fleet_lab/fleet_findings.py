"""What a FleetLab shows of an answer: a picture, a sentence, a table; and of a grid a table."""

from collections.abc import Sequence

from ...figures.drawing.svg import Json
from ...figures.how_often import fleet_words as phrases
from ...figures.how_often.measured_rate import rate_cells, rate_words
from ...figures.how_often.number_words import number_words, share_words
from ...figures.how_often.rates_by_reboots import RatePoint, rates_chart
from ...fleet.fleet_answers.answer_words import chance_words
from ...fleet.fleet_answers.fleet_answer import FleetAnswer
from ...fleet.fleet_answers.fleet_row import FleetRow
from ...fleet.fleet_answers.forced_scenarios import WHAT_FOR
from ...fleet.pictures.picture_rows import measured
from ...fleet.pipeline.work_orders import FORCED, NAIVE
from ...fleet.statistics.event_rates import NeverHappens
from ...fleet.statistics.years_ahead import YEARS, AtLeastOne, at_least_one
from .fleet_question import REBOOTS

_NO_ESTIMATE = f"Nobody has an estimate of that for a fleet like this: {WHAT_FOR}."


def findings_drawing(answer: FleetAnswer, metric: str, *, theme: str, width: int) -> Json:
    """The rate over reboots, a line for each set of KIPs, with its band."""
    points = [
        RatePoint(
            metric=metric,
            features=row.features,
            label=row.label,
            reboots=float(dict(row.swept)[REBOOTS]),
            found=measured(row.found),
            method=row.method,
        )
        for row in rows_told(answer, metric)
    ]
    return rates_chart(points).drawing(theme=theme, width=width)


def rows_told(answer: FleetAnswer, metric: str) -> tuple[FleetRow, ...]:
    """Of each point and set of KIPs one row, all of them found in one way: by forced samples where
    every one was, or else as things come. A line that changes its way in between would jump.
    """
    forced, naive = (
        {
            (row.scenario_id, row.features): row
            for row in answer.rows
            if (row.metric, row.method) == (metric, method)
        }
        for method in (FORCED, NAIVE)
    )
    return tuple((forced if len(forced) >= len(naive) else naive).values())


def rows_at(answer: FleetAnswer, metric: str, **point: float) -> tuple[FleetRow, ...]:
    """The rows of a metric at one point, one for each set of KIPs."""
    return tuple(
        row
        for row in rows_told(answer, metric)
        if all(dict(row.swept).get(name) == value for name, value in point.items())
    )


def findings_sentence(answer: FleetAnswer, rows: Sequence[FleetRow]) -> str:
    """How likely some of these rows' metric is in ten years, in all of the fleet."""
    if not rows:
        return _NO_ESTIMATE
    same: dict[str, list[str]] = {}
    for row in rows:
        *_, last = at_least_one(answer.incidents.of(row), 1)
        same.setdefault(chance_words(last), []).append(row.features)
    said = "; ".join(f"{phrases.sets_words(sets)}: {chance}" for chance, sets in same.items())
    values = dict(answer.study.values)
    sets_of_all = values["replica_sets"][0] * values["clusters"][0]
    where = f"in the {number_words(sets_of_all, 3)} replica sets of this fleet"
    together = answer.incidents.remark(rows[0])
    metric = phrases.metric_words(rows[0].metric)
    found = f"{metric}, at least once within 10 years {where}: {said}."
    return f"{found} {phrases.capital(together)}." if together else found


def _chance_alone(chance: AtLeastOne) -> str:
    """Without its interval, which is as wide as that of the rate."""
    known = chance.probability
    return f"at most {share_words(chance.high)}" if known is None else share_words(known)


def findings_table(answer: FleetAnswer, rows: Sequence[FleetRow]) -> phrases.PlotTable:
    """A line for each set of KIPs at the point where the sliders stand."""
    heads = (
        *("KIPs", "what it is", "per partition and year", "95 % interval"),
        *(f"at least one in {years} year{'s' * (years > 1)}" for years in YEARS),
        "remarks",
    )
    caption = f"{phrases.metric_words(rows[0].metric)}: where the sliders stand" if rows else ""
    return phrases.plot_table(caption, heads, [_line(answer, row) for row in rows])


def _line(answer: FleetAnswer, row: FleetRow) -> tuple[str, ...]:
    rate, interval, remarks = rate_cells(measured(row.found))
    *sooner, last = at_least_one(answer.incidents.of(row), 1)
    chances = [_chance_alone(chance) for chance in sooner] + [chance_words(last)]
    if isinstance(row.found, NeverHappens):
        chances = [""] * len(YEARS)
    return (phrases.set_words(row.features), row.label, rate, interval, *chances, remarks)


def grid_table(
    answer: FleetAnswer, metric: str, features: str, *, across: str, down: str
) -> phrases.PlotTable:
    """Rates over two parameters, each of them swept."""
    swept = dict(answer.study.values)
    heads = (f"{down} ↓ · {across} →", *(number_words(value, 3) for value in swept[across]))
    lines = []
    for value in swept[down]:
        points = ({down: value, across: other} for other in swept[across])
        cells = (_cell(answer, metric, features, point) for point in points)
        lines.append((number_words(value, 3), *cells))
    metric, kips = phrases.metric_words(metric), phrases.set_words(features)
    caption = f"{metric}, per partition and year, {kips}"
    return phrases.plot_table(caption, heads, lines)


def _cell(answer: FleetAnswer, metric: str, features: str, point: dict[str, float]) -> str:
    rows = [row for row in rows_at(answer, metric, **point) if row.features == features]
    return rate_words(measured(rows[0].found)) if rows else "not yet"
