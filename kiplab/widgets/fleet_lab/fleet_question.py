"""What a FleetLab asks: a study at one point, seen under a few sets of KIPs, over reboot rates; and
the sliders that say which point. What a slider says is read off the parameter's row in the table.
"""

from collections.abc import Mapping, Sequence

import msgspec

from ...figures.drawing.svg import Json
from ...figures.how_often import fleet_words as phrases
from ...figures.how_often.fleet_words import number_words
from ...figures.how_often.measured_rate import rate_cells, rate_words
from ...figures.how_often.rates_by_reboots import rates_chart
from ...fleet.fleet_answers.counted_metrics import COUNTED, WHAT_FOR
from ...fleet.fleet_answers.fleet_answer import FleetAnswer
from ...fleet.fleet_answers.fleet_row import FleetRow
from ...fleet.fleet_answers.yearly_incidents import elr_prices
from ...fleet.kernel.mirrored_guards import OF_TODAY
from ...fleet.parameters.fleet_study import FleetStudy, study_of
from ...fleet.parameters.parameter_table import PARAMETERS, Parameter
from ...fleet.parameters.scenario import GUARD_OF, NONE_OF_THEM, check_kip_set
from ...fleet.pictures.picture_rows import measured, rate_points_of
from ...fleet.spread.partition_placement import sets_in_use
from ...fleet.statistics.event_rates import YEARS, NeverHappens, at_least_one
from ..elements.kinds import Scale

DIALS = (
    "bounces_per_year",
    "crashes_per_year",
    "crash_restart_s",
    "tail_lost",
    "slow_alter_partition_share",
    "slow_alter_partition_s",
    "replication_factor",
    "min_insync_replicas",
    "cluster_shocks_per_year",
    "unclean_elections",
)
"""What a FleetLab lets one turn; everything else stays as the study has it."""
_STEPS = 24
_WIDE = 10
"""From so many times its lower end on, a parameter's usual range is walked by ratios."""


def spread_over(name: str, count: int) -> tuple[float, ...]:
    """So many values over the usual range, fewer whole ones. Raises KeyError for no parameter."""
    usual = _usual(PARAMETERS[name])
    places = [round(n * (len(usual) - 1) / (count - 1)) for n in range(count)]
    return tuple(usual[place] for place in dict.fromkeys(places))


def _usual(about: Parameter) -> tuple[float, ...]:
    low, high = about.usual
    if about.kind is not float:
        return tuple(range(int(low), int(high) + 1))
    shares = [step / _STEPS for step in range(1, _STEPS)]
    if low > 0 and high / low >= _WIDE:
        between = [low ** (1 - share) * high**share for share in shares]
    else:
        between = [low + (high - low) * share for share in shares]
    return (low, *dict.fromkeys(float(f"{value:.2g}") for value in between), high)


class ParameterDial:
    """`slider` shows the parameter; `value` is what it stands on, as the table wants it. `values`
    are its usual range with `value` among it, smallest first. Raises KeyError for no parameter.
    """

    def __init__(self, name: str, value: float) -> None:
        self._about = PARAMETERS[name]
        self.values = sorted({*_usual(self._about), value})
        self.slider = Scale(
            description=name,
            words=tuple(_value_words(self._about, value) for value in self.values),
            max=len(self.values) - 1,
            value=self.values.index(value),
            tooltip=dial_tooltip(self._about),
        )

    @property
    def value(self) -> float:
        """A float, an int or a bool, as the parameter is."""
        value: float = self._about.kind(self.values[self.slider.value])
        return value

    def turn_to(self, value: float) -> None:
        places = range(len(self.values))
        self.slider.value = min(places, key=lambda at: abs(self.values[at] - value))


def _value_words(about: Parameter, value: float) -> str:
    return ("yes" if value else "no") if about.kind is bool else number_words(value, 3)


def dial_tooltip(about: Parameter) -> str:
    """What it does, in which unit, what is usual, and where the default comes from."""
    low, high, default = (_value_words(about, v) for v in (*about.usual, about.default))
    span = about.unit if about.kind is bool else f"{about.unit}, usually {low} to {high}"
    return f"{about.does} In {span}; by default {default} ({about.basis}): {about.source}"


# --- what is asked --------------------------------------------------------------------------------

REBOOTS = "bounces_per_year"
"""What the picture goes over."""
_PLUMBING = ("incidents", "expansions", "refused")
"""Counted, and no harm by themselves."""
KIPS = tuple(GUARD_OF)


class FleetQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """`values` are those of the dials; `metric` is the counted event; with `elr` the release of
    today is seen, too, with and without eligible leader replicas.
    """

    kips: tuple[str, ...]
    elr: bool = False
    values: tuple[tuple[str, float], ...]
    metric: str


METRICS = tuple(n for n, counted in COUNTED.items() if not counted.is_time and n not in _PLUMBING)
"""Events that do harm."""


def sets_seen(kips: Sequence[str]) -> tuple[str, ...]:
    """None of the KIPs, each of them alone, and all together."""
    alone = [check_kip_set(kip) for kip in kips]
    together = [check_kip_set("+".join(kips))] if kips else []
    return tuple(dict.fromkeys([NONE_OF_THEM, *alone, *together]))


def study_of_question(base: FleetStudy, question: FleetQuestion) -> FleetStudy:
    """The fleet of the question, over the usual reboot rates and its own.

    Raises ParameterError where its values contradict each other.
    """
    values, (low, middle, high) = dict(question.values), spread_over(REBOOTS, 3)
    own = values[REBOOTS]
    between = middle if own in (low, high) else own
    return _study(base, question, {**values, REBOOTS: sorted({low, between, own, high})})


def grid_of_question(
    base: FleetStudy, question: FleetQuestion, across: str, down: str, points: int
) -> FleetStudy:
    """The same fleet over the usual ranges of two parameters.

    Raises ParameterError where two of the values contradict each other, or both are the same.
    """
    ranges = {name: list(spread_over(name, points)) for name in (down, across)}
    return _study(base, question, {**dict(question.values), **ranges})


def _study(base: FleetStudy, question: FleetQuestion, values: Mapping[str, object]) -> FleetStudy:
    own = {name: several[0] for name, several in base.values}
    document = {"about": base.about, "parameters": own | dict(values)}
    sets = [*sets_seen(question.kips), *(OF_TODAY if question.elr else ())]
    return study_of({**document, "feature_sets": sets})


# --- what is shown of an answer -------------------------------------------------------------------


def findings_drawing(answer: FleetAnswer, metric: str, *, theme: str, width: int) -> Json:
    """The rate over reboots, a line for each set of KIPs, with its band."""
    return rates_chart(rate_points_of(answer, [metric])).drawing(theme=theme, width=width)


def rows_at(answer: FleetAnswer, metric: str, **point: float) -> tuple[FleetRow, ...]:
    """The rows of a metric at one point, one for each set of KIPs."""
    rows = answer.comparable(metric)
    return tuple(row for row in rows if point.items() <= dict(row.swept).items())


def findings_sentence(answer: FleetAnswer, rows: Sequence[FleetRow]) -> str:
    """How likely some of these rows' metric is in ten years, in all of the fleet."""
    if not rows:
        return f"Nobody has an estimate of that for a fleet like this: {WHAT_FOR}."
    last = [at_least_one(answer.incidents.of(row))[-1].words_with_interval for row in rows]
    same = phrases.alike(zip(last, (row.features for row in rows), strict=True))
    chances = "; ".join(f"{phrases.sets_words(sets)}: {chance}" for chance, sets in same.items())
    fleet = answer.study.scenarios[0].parameters
    sets_of_all = sets_in_use(fleet) * fleet.clusters
    where = f"in the {number_words(sets_of_all, 3)} replica sets of this fleet"
    together = answer.incidents.remark(rows[0])
    metric = phrases.metric_words(rows[0].metric)
    sentence = f"{metric}, at least once within 10 years {where}: {chances}."
    return f"{sentence} {phrases.capital(together)}." if together else sentence


def price_sentences(answer: FleetAnswer, **point: float) -> tuple[str, ...]:
    """What eligible leader replicas save and cost at one point; none where nobody asks for it."""
    prices = (p for p in elr_prices(answer) if point.items() <= dict(p.swept).items())
    return tuple(sentence for price in prices for sentence in price.sentences)


def findings_table(answer: FleetAnswer, rows: Sequence[FleetRow]) -> phrases.PlotTable:
    """A line for each set of KIPs at the point where the sliders stand."""
    heads = (
        *("KIPs", "what it is", "per partition and year", "95 % interval"),
        *(f"at least one in {years} year{'s' * (years > 1)}" for years in YEARS),
        "remarks",
    )
    caption = f"{phrases.metric_words(rows[0].metric)}: where the sliders stand" if rows else ""
    return phrases.PlotTable(caption, heads, [_line(answer, row) for row in rows])


def _line(answer: FleetAnswer, row: FleetRow) -> tuple[str, ...]:
    rate, interval, remarks = rate_cells(measured(row.found))
    # An interval is as wide as that of the rate: the last chance alone has it.
    *sooner, last = at_least_one(answer.incidents.of(row))
    chances = [*(chance.words for chance in sooner), last.words_with_interval]
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
        at = (rows_at(answer, metric, **point) for point in points)
        found = ([measured(r.found) for r in rows if r.features == features] for rows in at)
        cells = (rate_words(rates[0]) if rates else "not yet" for rates in found)
        lines.append((number_words(value, 3), *cells))
    metric, kips = phrases.metric_words(metric), phrases.set_words(features)
    caption = f"{metric}, per partition and year, {kips}"
    return phrases.PlotTable(caption, heads, lines)
