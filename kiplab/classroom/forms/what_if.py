"""A what-if of lab 10: a prediction of its own, and below it, once that is locked, its answer."""

from html import escape

from ...figures.how_often import fleet_words, measured_rate
from ...fleet.fleet_answers import counted_metrics, fleet_row
from ...fleet.parameters.scenario import MICROSECONDS_PER_YEAR, SECONDS_PER_YEAR
from ...fleet.pictures.picture_rows import measured
from ...widgets.elements.labelled import words
from ...widgets.markup import muted
from .. import attempts
from ..exercise_table import WAYS, WHAT_IFS, what_if_id
from ..exercises import check_result, reading_rates
from .prediction import WIDTH, Prediction, in_lines, table_of


class WhatIfPrediction(Prediction):
    """The what-if of a letter. Locked, it says how often before the change and after it, and why.

    Without a browser: `lock`, then `text`.
    """

    def __init__(self, letter: str) -> None:
        self.letter, self.change = letter, WHAT_IFS[letter]
        question = f"{letter} · {self.change.question}"
        super().__init__(what_if_id(letter), question, tuple(WAYS.values()))
        self.outcome = words(max_width=WIDTH)
        self.add(self.outcome)
        self.when_locked(self._fill_in)

    @property
    def text(self) -> str:
        """The answer in lines; nothing before there is a prediction."""
        if not self.locked:
            return ""
        compared, rates = in_lines(self.compared), in_lines(self._rates())
        said = map(check_result.broken, self._said())
        return "\n".join([compared, self._unit, rates, *said])

    @property
    def comes_true(self) -> str:
        """What a study of the fleet before and after the change has found."""
        return WAYS[reading_rates.outcome_of(self.letter)]

    @property
    def _unit(self) -> str:
        unit = counted_metrics.COUNTED[self.change.metric].unit.replace("microseconds", "seconds")
        return f"{fleet_words.metric_words(self.change.metric)}, {unit}"

    def _rates(self) -> list[tuple[str, str]]:
        """(fleet, rate with its interval), before the change and after it."""
        rows = reading_rates.rates_of(self.letter)
        return [(name, _told(row)) for name, row in zip(self.change.names, rows, strict=True)]

    def _fill_in(self) -> None:
        unit = muted(self._unit)
        tables = f"{table_of(self.compared)}{unit}{table_of(self._rates())}"
        *first, others = map(escape, self._said())
        said = "".join(f"<p>{text}</p>" for text in first)
        fold = f"<details><summary>Other ideas</summary><p>{others}</p></details>"
        self.outcome.value = f"{tables}{said}{fold if first else others}"

    def _said(self) -> list[str]:
        """The idea behind a wrong answer, why the right one is right, others' ideas; if open."""
        if not attempts.is_open(self.id):
            return [attempts.awaited(self.id)]
        ideas = {WAYS[way]: idea for way, idea in self.change.ideas.items()}
        own = ideas.pop(self.answer or "", "").replace("If you", "You", 1)
        return [*filter(None, [own]), self.change.reason, " ".join(ideas.values())]

    def _in_words(self) -> str:
        return "\n".join(filter(None, [super()._in_words(), self.text]))


def _told(row: fleet_row.FleetRow) -> str:
    if row.why_never is not None:
        return f"cannot happen: {row.why_never}"
    rate = measured(row.found)
    if counted_metrics.COUNTED[row.metric].is_time:
        rate = rate.times(SECONDS_PER_YEAR / MICROSECONDS_PER_YEAR)
    return measured_rate.rate_words(rate)


def what_if(letter: str) -> WhatIfPrediction:
    """Ask the what-if of that letter. Its answer opens when a prediction is locked in.

    Raises ValueError for a letter that there is no what-if of, MissingExtraError without what an
    estimate of a fleet needs.
    """
    if letter not in WHAT_IFS:
        raise ValueError(f"there is no what-if {letter!r}; there are {', '.join(WHAT_IFS)}")
    return WhatIfPrediction(letter)
