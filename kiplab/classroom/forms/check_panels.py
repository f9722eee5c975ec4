"""Exercises as panels: menus, boxes to tick and lines to write; events to put in order.

What a sheet has says the exercise's entry in exercises.toml. A page that has no widgets has the
check in words: both keep the same attempts.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from html import escape

from ...runs import Run
from ...widgets.elements.kinds import Checkbox, Dropdown, Element, Ordered, PlotlyPicture, Text
from ...widgets.elements.labelled import button, checkbox, column, dropdown, line, row, watch, words
from ...widgets.elements.surface import Surface
from ...widgets.markup import INK, LINE, SOFT, muted
from ..attempts import check, own_exercise
from ..exercise_table import LETTERS as PLACES
from ..exercises.answers import BLANK
from ..exercises.check_result import Checked
from ..exercises.race import EVENTS, LETTERS, stage_of
from .prediction import WIDTH, QuestionPanel

NONE = "none"
_EVENTS = "crash\u00a01;\u00a0expire\u00a01"
"""What is written where an answer is a run; its spaces break no field."""
_LETTER = {name: letter for letter, name in LETTERS.items()}


class CheckPanel(QuestionPanel, ABC):
    """A question with a button that judges what is filled in; `checked` is the last verdict."""

    def __init__(self, id: str) -> None:
        self.exercise = own_exercise(id)
        self.checked: Checked | None = None
        self.check_button = button("Check", self.check, "Let the engine judge this answer")
        self.check_button.button_style = "primary"
        self.result = words(max_width=WIDTH)

    def check(self) -> None:
        self._judge(self.answer)

    @property
    @abstractmethod
    def answer(self) -> object:
        """What is filled in, as `kiplab.check` reads it."""

    def _judge(self, answer: object) -> Checked:
        """A screen reader speaks what is shown of an answer at this attempt."""
        self.checked = checked = check(self.exercise.id, answer)
        mark, edge = ("✓", "#009e73") if checked.right else ("○", "#e69f00")
        first, *more = map(escape, checked.texts)
        lines = [f"<b>{mark} {checked.points} of {checked.of} points.</b> {first}", *more]
        self.result.value = (
            f'<div class="kiplab-checked" role="status" style="border-left:5px solid {edge};'
            f'padding:6px 12px;line-height:1.5;color:{INK};background:{SOFT}">'
            f"{'<br>'.join(lines)}</div>"
        )
        return checked

    def _in_words(self) -> str:
        return f"{self!r}\nIn words: kiplab.check({self.exercise.id!r}, ...)"


class SheetRow:
    """A row of a sheet. `fields` says what is in it, with a space between: ``A|B|C`` is a menu,
    ``+ABC`` are boxes to tick, anything else a line to write and its example. A label, with a colon
    behind it, tells several from each other.
    """

    def __init__(self, name: str, fields: str) -> None:
        self.controls = [control for field in fields.split(" ") for control in _field(name, field)]
        self.mark = words(min_width="20px")
        label = words(escape(name), min_width="90px")
        head = [label] if isinstance(self.controls[0], Checkbox) else []
        parts = [*head, *self.controls, self.mark]
        self.box = row(parts, flex_flow="row wrap", border_bottom=f"1px solid {LINE}")

    @property
    def values(self) -> list[str]:
        """What is filled in: of boxes the letters in one word."""
        ticked = [c.description for c in self.controls if isinstance(c, Checkbox) and c.value]
        if isinstance(self.controls[0], Checkbox):
            letters = "".join(letter for letter in ticked if letter != NONE)
            return [letters or ("-" if ticked else BLANK)]
        return [str(control.value).strip() or BLANK for control in self.controls]


def _field(name: str, field: str) -> Iterator[Checkbox | Dropdown | Text]:
    label, _, inside = field.rpartition(":")
    label = f"{label} of {name}" if label else name
    if inside.startswith("+"):
        for letter in (*inside[1:], NONE):
            yield checkbox(letter, tooltip=f"{name}: {letter}", margin="2px 10px 2px 2px")
    elif "|" in inside:
        yield dropdown(label, [(option, option) for option in (BLANK, *inside.split("|"))])
    else:
        written = line(label, inside)
        written.layout.max_width = WIDTH if ";" in inside else "340px"
        yield written


class AnswerSheet(CheckPanel):
    """The exercise `id` as a form; `lab` hands a run in. Without a browser: `kiplab.check`."""

    def __init__(self, id: str = "conversation/first-rule", lab: object = None) -> None:
        super().__init__(id)
        self._lab, self._in_order = lab, bool(self.exercise.form)
        names = [*self.exercise.names] if self._in_order else ["your answer"]
        fields = self.exercise.fields or (_EVENTS,)
        fields *= len(names) // len(fields)
        self.parts = [*map(SheetRow, names, fields)]
        buttons = [self.check_button]
        if lab is not None:
            buttons.append(button("Hand in the Lab", self.hand_in, "Judge the run of the Lab"))
        for control in (control for part in self.parts for control in part.controls):
            watch(control, "value", lambda _: self._allow())
        style = f"white-space:pre-wrap;padding:6px 12px;color:{INK};background:{SOFT}"
        self.notice = words(f'<div style="{style}">{escape(self.exercise.notice)}</div>')
        rows = [*(part.box for part in self.parts), row(buttons), self.result]
        rows = [self.notice, *rows] if self.exercise.notice else rows
        self.box = Surface(column(rows, max_width=WIDTH))
        self._allow()

    @property
    def answer(self) -> list[str] | str:
        """A word for each part, ``"?"`` where nothing is chosen; what is no row of parts is one."""
        if self._in_order:
            said = (part.values for part in self.parts)
            return [BLANK if {*values} == {BLANK} else " ".join(values) for values in said]
        only, *others = self.parts[0].values
        return [only, *others] if others else only

    def hand_in(self) -> None:
        """Judge the run of the Lab, with whatever else is filled in."""
        _, *others = self.parts[0].values
        self._judge([self._lab, *others] if others else self._lab)

    def _judge(self, answer: object) -> Checked:
        checked = super()._judge(answer)
        told = checked.right or bool(checked.wrong)
        for place, part in zip(PLACES, self.parts, strict=False):
            mark = "○ look again" if place in checked.wrong else "✓"
            part.mark.value = muted(mark) if told and self._in_order else ""
        return checked

    def _allow(self) -> None:
        self.check_button.disabled = {*self.answer} == {BLANK}

    def _in_words(self) -> str:
        return f"{self.exercise.notice}\n{super()._in_words()}".strip()

    def __repr__(self) -> str:
        answer = self.answer
        return f"<AnswerSheet: {answer if isinstance(answer, str) else ', '.join(answer)}>"


class Ordering(CheckPanel):
    """Eight events to be ordered, each with its letter: dragged, or moved by arrow keys.

    `answer` is the order as it stands.

    Without a browser: `move("starts", 2)` and `check()`; or
    `kiplab.check("kafka-14139/order", ...)` for a whole answer.
    """

    def __init__(self, start: Sequence[str] = tuple(EVENTS)) -> None:
        super().__init__("kafka-14139/order")
        # The run of the order that was checked last, what could not happen left out.
        self.run: Run | None = None
        shown = {name: f"{_LETTER[name]} · {EVENTS[name][0]}" for name in start}
        self.list = Ordered(description="First to last", words=shown, value=tuple(start))
        self.schedule = column([])
        how = words(muted("Drag an event, or move the one that has the focus with ↑ and ↓."))
        parts: list[Element] = [how, self.list, row([self.check_button]), self.result]
        self.box = Surface(column([*parts, self.schedule]))

    @property
    def answer(self) -> list[str]:
        return [*self.list.value]

    def move(self, name: str, by: int) -> None:
        """Move an event so many places: -1 is one earlier. At the ends it stays."""
        order = self.answer
        place = order.index(name)
        order.insert(max(0, min(place + by, len(order) - 1)), order.pop(place))
        self.list.value = tuple(order)

    def check(self) -> None:
        """Judge the order as it stands, and draw it."""
        super().check()
        self.run = Run(stage_of(self.answer))
        drawn = self.run.timeline(width=840)
        self.schedule.children = (PlotlyPicture(drawn.to_plotly_json()),)

    def __repr__(self) -> str:
        return f"<Ordering: {', '.join(self.answer)}>"

    def _in_words(self) -> str:
        events = [f"{letter} · {name}: {EVENTS[name][0]}" for letter, name in LETTERS.items()]
        return "\n".join([*events, repr(self)])
