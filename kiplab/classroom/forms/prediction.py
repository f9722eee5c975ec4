"""A question to be answered before the run: the answer locks, and only then the run appears."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from ...widgets import still_fallback
from ...widgets.elements import kinds, labelled, surface
from ...widgets.markup import heading, note
from .. import attempts, work_on_disk
from ..exercise_table import EXERCISES, ExerciseIdError, exercise

if TYPE_CHECKING:
    from ...runs import Run

WIDTH = "844px"
_NOTHING_YET = "There is nothing to compare yet: lock in your prediction above."


class QuestionPanel:
    """Something to fill in: `box` holds its widgets; it is words where there are none."""

    box: surface.Surface

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        """A reference to the panel, and words where there are no widgets."""
        return self.box.bundle(self._in_words(), **options)

    def _ipython_display_(self) -> None:
        still_fallback.show(self.box, self._in_words())

    def _in_words(self) -> str:
        return repr(self)


class LivePanel(QuestionPanel, ABC):
    """Words about the work as it is now, whatever is answered later. A subclass says them in
    `html`; a notebook that is read without a kernel has them as they were last.
    """

    def __init__(self, *above: kinds.Element) -> None:
        self.words = labelled.words(self.html())
        self.box = surface.Surface(labelled.column([*above, self.words]))
        self._kept: Any = None
        attempts.follow(type(self).__name__, self.renew)

    @abstractmethod
    def html(self) -> str:
        """What is shown."""

    def renew(self) -> None:
        self.words.value = self.html()
        if self._kept is not None:
            still_fallback.show_words(self._kept, self.html(), repr(self))

    def _ipython_display_(self) -> None:
        self._kept = still_fallback.show(self.box, repr(self))
        self.renew()


class Prediction(QuestionPanel):
    """Choices, and a button that locks one. A locked answer survives a kernel's restart, unless
    there is nowhere to write it: then it says so, and how to mend that.

    `Lab(..., after=prediction)` waits for it.
    """

    def __init__(self, id: str, question: str, choices: Sequence[str]) -> None:
        self.id, self.question = id, question
        self._waiting: list[Callable[[], None]] = []
        self.choices = kinds.Radio(description=question, options=tuple(choices))
        labelled.watch(self.choices, "value", lambda _: self._ready())
        self.lock_button = labelled.button("Lock in my prediction", self._press)
        self.lock_button.button_style, self.lock_button.final = "primary", True
        self.state = labelled.words()
        parts = [labelled.words(heading(question)), self.choices, self.lock_button, self.state]
        self._column = labelled.column(parts, max_width=WIDTH, align_items="flex-start")
        self.box = surface.Surface(self._column)
        self._ready()
        if self.answer is not None:
            self._keep(self.answer)

    @property
    def answer(self) -> str | None:
        """The locked answer, or None."""
        return work_on_disk.prediction(self.id)

    @property
    def locked(self) -> bool:
        """Whether there is an answer, from now or from before."""
        return self.answer is not None

    def lock(self, choice: str) -> None:
        """Lock one of the choices in, as the button does. What stands in the way is said."""
        if choice not in self.choices.options:
            self._say(f"“{choice}” is not among the choices.", alarm=True)
            return
        self.choices.value = choice
        self._press()

    def when_locked(self, action: Callable[[], None]) -> None:
        """Call `action` once the answer is locked: now, or then."""
        if self.locked:
            action()
        else:
            self._waiting.append(action)

    def passed(self, heading: str) -> None:
        """Note that the reader came past what the lab has under that heading."""
        attempts.pass_by(self.id, heading)

    def add(self, part: kinds.Element) -> None:
        """Show `part` below the question."""
        self._column.children = (*self._column.children, part)

    @property
    def compared(self) -> list[tuple[str, str]]:
        """(head, text) for what is locked, beside what comes true where that is known and open."""
        answer, came = self.answer or "", self.comes_true
        if not came or not attempts.is_open(self.id):
            return [("You predicted", answer)]
        if answer == came:
            return [("✓ As you said", answer)]
        return [("✗ Not this time. You said", answer), ("What comes true", came)]

    @property
    def comes_true(self) -> str:
        """The choice that is right; empty while it is not open, and for one's own question."""
        offered = (a for a in EXERCISES if a.id == self.id and self.answer in a.choices)
        return next((asked.comes_true for asked in offered if attempts.is_open(asked.id)), "")

    def beside(self, run: Run) -> PredictionBesideRun:
        """What was predicted beside what `run` shows; a gentle sentence until there is both."""
        return PredictionBesideRun(self, run)

    def _press(self) -> None:
        try:
            self._keep(self.choices.value)
        except work_on_disk.LockedError as problem:
            self._say(f"{problem}.", alarm=True)
            return
        waiting, self._waiting = self._waiting, []
        for action in waiting:
            action()
        attempts.answered(self.id)

    def _keep(self, answer: str) -> None:
        """Write it, and show it. Raises LockedError if another answer is locked."""
        before = work_on_disk.damaged_files()
        try:
            work_on_disk.lock(self.id, answer)
        except OSError as problem:
            lost = "so it is gone when the kernel stops or starts again."
            text = f" It cannot be {work_on_disk.nowhere(problem)}; {lost} {work_on_disk.remedy()}"
            self._show_locked(text, alarm=True)
        else:
            self._show_locked(work_on_disk.set_aside_since(before))

    def _ready(self) -> None:
        missing = None if self.choices.value is not None else "Choose an answer first"
        self.lock_button.disabled = missing is not None
        self.lock_button.tooltip = missing or "It is kept, and cannot be changed afterwards"

    def _show_locked(self, more: str = "", *, alarm: bool = False) -> None:
        if self.answer in self.choices.options:
            self.choices.value = self.answer
        self.choices.disabled = self.lock_button.disabled = True
        self.lock_button.tooltip = "Locked in"
        self._say(f"Locked in: “{self.answer}”{'.' * bool(more)}{more}", alarm=alarm)

    def _say(self, text: str, *, alarm: bool = False) -> None:
        self.state.value = note(text, alarm=alarm)

    def __repr__(self) -> str:
        return f"<Prediction {self.id!r}: {self.answer or 'not made yet'}>"

    def _in_words(self) -> str:
        kept = f"Locked in: “{self.answer}”" if self.locked else "Your prediction is not made yet."
        return f"{self.question}\n{kept}"


class PredictionBesideRun(QuestionPanel):
    """A prediction and a run side by side; it fills itself in when the prediction is locked."""

    def __init__(self, prediction: Prediction, run: Run) -> None:
        self._prediction, self._run = prediction, run
        self.words = labelled.words(note(_NOTHING_YET))
        self.box = surface.Surface(self.words)
        prediction.when_locked(lambda: setattr(self.words, "value", table_of(self.cells)))

    @property
    def cells(self) -> list[tuple[str, str]]:
        """(head, text) per row; nothing before there is a prediction."""
        answer, run = self._prediction.answer, self._run
        if answer is None:
            return []
        errors = Counter(r["error"] for r in run.refusals)
        refused = "; ".join(f"refused: {e}{f' ({n} times)' * (n > 1)}" for e, n in errors.items())
        shown = f"{run.verdict}: {run.sentence}; {refused or 'nothing was refused'}"
        return [*self._prediction.compared, ("The run says", shown)]

    def __repr__(self) -> str:
        return in_lines(self.cells) or _NOTHING_YET


def in_lines(cells: list[tuple[str, str]]) -> str:
    return "\n".join(f"{head}: {text}" for head, text in cells)


def table_of(cells: list[tuple[str, str]]) -> str:
    rows = "".join(
        f'<tr><th scope="row" style="text-align:left;padding:4px 16px 4px 0">{escape(head)}</th>'
        f'<td style="text-align:left;padding:4px 0">{escape(text)}</td></tr>'
        for head, text in cells
    )
    return f'<table style="font-size:14px;line-height:1.5">{rows}</table>'


def predict(id: str, question: str = "", choices: Sequence[str] = ()) -> Prediction:
    """Ask the prediction `id` of a lab, before the run; the answer is kept under that name.

    A question of one's own has its words and its choices as well. Raises ExerciseIdError, a
    ValueError, for an id alone that is that of no prediction.
    """
    if question or choices:
        return Prediction(id, question, choices)
    listed = exercise(id)
    if listed.check:
        raise ExerciseIdError(f"{id!r} is an exercise: judge it by kiplab.check({id!r}, answer)")
    return Prediction(id, listed.question, listed.offered)
