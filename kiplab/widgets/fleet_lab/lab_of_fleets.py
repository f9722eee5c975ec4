"""`FleetLab`: turn a parameter of a fleet, and see how often what happens under which KIPs."""

import asyncio
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from ...extras import MissingExtraError
from ...figures.how_often.fleet_words import metric_words, number_words, plot_table_html
from ...fleet.fleet_answers.fleet_answer import FleetAnswer
from ...fleet.fleet_answers.quick_estimate import estimate
from ...fleet.parameters.fleet_study import FleetStudy, read_study
from ...fleet.parameters.parameter_checks import ParameterError
from ...fleet.parameters.scenario import ELR, GUARD_OF
from ...pages.page_files import AUTO
from ...protocol.guards import GUARDS
from .. import still_fallback
from ..controls.actions import Drawer
from ..elements.kinds import Container, PlotlyPicture, Style
from ..elements.labelled import button, checkbox, column, dropdown, row, watch, words
from ..elements.surface import Daylight, Surface
from ..markup import muted, note
from . import fleet_question as asks
from .grid_panel import GridPanel

WIDTH = 840


# The same question has the same answer, and is worked out once.
_estimated = lru_cache(maxsize=64)(estimate)


class FleetLab:
    """A fleet with sliders: show it as the last value of a notebook cell.

    `study` is a preset, a TOML file or a study; of a parameter with several values the first one is
    where its slider begins. `theme` and `width` are as for a Lab.

    Without a browser: ``turn("bounces_per_year", 52)``, ``look_at("race_loss")``, then `answer`,
    `sentence`, `text`. Raises ParameterError for what is wrong with the study, ValueError for such
    a theme.
    """

    def __init__(
        self, study: str | Path | FleetStudy = "small", *, theme: str = AUTO, width: int = WIDTH
    ) -> None:
        self.study = study if isinstance(study, FleetStudy) else read_study(study)
        self._begins = {name: several[0] for name, several in self.study.values}
        self._width = width
        self.answer: FleetAnswer | None = None
        self._make_controls()
        self.picture = PlotlyPicture({"data": [], "layout": {}})
        self.note, self.how, self.table = words(), words(), words("", overflow="auto")
        self.grid = GridPanel(self._grid_asked, lambda: self.metric.value)
        self.box = Surface(self._laid_out(), pictures=True)
        self.daylight = Daylight(theme, self.box)
        self._last = LastQuestion(self._answer_now)
        dials = (dial.slider for dial in self.dials.values())
        for control in (*dials, *self.kips.values(), self.elr):
            watch(control, "value", lambda _: self._ask())
        watch(self.metric, "value", lambda _: self._look())
        self.daylight.follow(lambda _: self._look())
        self._answer_now()

    # --- what one can do ------------------------------------------------------------------------

    def turn(self, name: str, value: float) -> None:
        """Turn a parameter to the position nearest to `value`. Raises KeyError for no slider."""
        self.dials[name].turn_to(value)

    def look_at(self, metric: str) -> None:
        """Show another metric. Raises ValueError for one that there is not."""
        if metric not in asks.METRICS:
            raise ValueError(f"{metric!r} is not one of {', '.join(asks.METRICS)}")
        self.metric.value = metric

    def reset(self) -> None:
        """Everything as in the study."""
        with self.box.batch():
            for name, box in self.kips.items():
                box.value = name in _kips_of(self.study)
            self.elr.value = _has_elr(self.study)
            for name, dial in self.dials.items():
                dial.turn_to(self._begins[name])

    # --- what one can read ----------------------------------------------------------------------

    @property
    def question(self) -> asks.FleetQuestion:
        """What is asked now."""
        return asks.FleetQuestion(
            kips=tuple(name for name, box in self.kips.items() if box.value),
            elr=self.elr.value,
            values=tuple((name, dial.value) for name, dial in self.dials.items()),
            metric=self.metric.value,
        )

    @property
    def sentence(self) -> str:
        """The answer in a sentence, and what eligible leader replicas save and cost if they are
        asked for; empty while there is no answer.
        """
        if self.answer is None:
            return ""
        price = asks.price_sentences(self.answer, **self._here())
        return " ".join([asks.findings_sentence(self.answer, self._rows()), *price])

    @property
    def text(self) -> str:
        """The answer as a sentence and the lines of the table."""
        lines = () if self.answer is None else asks.findings_table(self.answer, self._rows()).lines
        return "\n".join([self.sentence, *(" · ".join(filter(None, line)) for line in lines)])

    def __repr__(self) -> str:
        values, begins = self.question.values, self._begins
        turned = [f"{name}={value:g}" for name, value in values if value != begins[name]]
        return f"<FleetLab: {', '.join([self.metric.value, *turned])}>"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        return self.box.bundle(repr(self), **options)

    def _ipython_display_(self) -> None:
        kept = None if self.answer is None else self._drawing(self.daylight.still)
        still_fallback.show(self.box, repr(self), kept)

    # --- parts ----------------------------------------------------------------------------------

    def _make_controls(self) -> None:
        metrics = tuple((metric_words(name), name) for name in asks.METRICS)
        self.metric = dropdown("How often", metrics)
        self.metric.value = "last_replica_loss"
        on = _kips_of(self.study)
        self.kips = {}
        for kip in asks.KIPS:
            label = f"KIP-{kip}"
            tooltip = f"Seen without {label} and with it: {GUARDS[GUARD_OF[kip]].clause}"
            self.kips[kip] = checkbox(label, value=kip in on, tooltip=tooltip, margin="2px 10px")
        more = "Seen without eligible leader replicas and with them (KIP-966), by Kafka 4.3"
        self.elr = checkbox("ELR", value=_has_elr(self.study), tooltip=more, margin="2px 10px")
        self.dials = {name: asks.ParameterDial(name, self._begins[name]) for name in asks.DIALS}
        self.as_begun = button("As in the study", self.reset, "Every slider back to the study")

    def _laid_out(self) -> Container:
        columns = "repeat(auto-fit, minmax(340px, 1fr))"
        grid = Style(display="grid", grid_gap="0 18px", grid_template_columns=columns)
        dials = tuple(dial.slider for dial in self.dials.values())
        sliders = Container(children=dials, layout=grid)
        tooltip = "The same question over two parameters, on Spark"
        whole = Drawer("The whole grid", lambda: None, self.grid.box, tooltip=tooltip)
        self.open_grid = whole.toggle
        self.open_grid.layout = Style(align_self="flex-start", margin="8px 2px 2px")
        choices = row([self.metric, self.as_begun], flex_flow="row wrap")
        kips = [words("Without any KIP, and with"), *self.kips.values(), self.elr]
        head = words(f"<b>How often, for a fleet like this?</b> {muted(self.study.about)}")
        self.shown = column([self.note, self.how, self.picture, self.table])
        parts = [head, choices, row(kips, flex_flow="row wrap"), sliders, self.shown]
        return column([*parts, whole.toggle, whole.box], width="100%")

    # --- answering ------------------------------------------------------------------------------

    def _ask(self) -> None:
        # Until there is an answer what is shown belongs to another question.
        self.shown.add_class("kiplab-stale")
        self._last.ask()

    def _answer_now(self) -> None:
        self._last.forget()
        with self.box.batch():
            self.shown.classes = ()
            try:
                self.answer = _estimated(asks.study_of_question(self.study, self.question))
            except (ParameterError, MissingExtraError) as problem:
                stays = f"{problem}. What is shown is the last answer."
                self.note.value = note(stays, alarm=True)
            else:
                self._look()

    def _look(self) -> None:
        if self.answer is None:
            return
        with self.box.batch():
            self.picture.drawing = self._drawing(self.daylight.theme)
            lived = number_words(self.answer.partition_years, 2)
            how = f"{lived} partition-years lived through. {self.answer.sampling_words}"
            self.note.value, self.how.value = note(self.sentence), muted(how)
            self.table.value = plot_table_html(asks.findings_table(self.answer, self._rows()))
            # Rates that are not computed yet have no picture, and no line of a table.
            shown = "" if self._rows() else "none"
            self.picture.layout.display = self.table.layout.display = shown
            self.grid.show_metric()

    def _drawing(self, theme: str) -> dict[str, Any]:
        assert self.answer is not None
        return asks.findings_drawing(self.answer, self.metric.value, theme=theme, width=self._width)

    def _rows(self) -> Any:
        assert self.answer is not None
        return asks.rows_at(self.answer, self.metric.value, **self._here())

    def _here(self) -> dict[str, float]:
        return {asks.REBOOTS: self.dials[asks.REBOOTS].value}

    def _grid_asked(self, across: str, down: str, points: int) -> FleetStudy:
        if across == down:
            raise ParameterError("it is chosen twice", allowed="choose two parameters", key=down)
        return asks.grid_of_question(self.study, self.question, across, down, points)


def _kips_of(study: FleetStudy) -> frozenset[str]:
    return frozenset(kip for name in study.feature_sets for kip in name.split("+")) & {*asks.KIPS}


def _has_elr(study: FleetStudy) -> bool:
    return ELR in study.feature_sets


PATIENCE = 0.15
"""Seconds without another question."""


class LastQuestion:
    """Calls `answer` once all is quiet after `ask`; at once in a script, where nobody waits."""

    def __init__(self, answer: Callable[[], None]) -> None:
        self._answer = answer
        self._waiting: asyncio.TimerHandle | None = None

    def ask(self) -> None:
        """There is another question: one that still waits is dropped."""
        self.forget()
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self._answer()
            return
        self._waiting = loop.call_later(PATIENCE, self._answer)

    def forget(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
