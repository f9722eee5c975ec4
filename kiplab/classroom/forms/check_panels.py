"""Exercises as panels: eight requests with two menus each, and eight events to put in order."""

from collections.abc import Sequence
from html import escape

from ...plays.library import load
from ...plays.play import Statement
from ...runs import Run
from ...widgets.elements.kinds import Dropdown, Element, Listed, PlotlyPicture, Style
from ...widgets.elements.labelled import button, column, dropdown, row, watch, words
from ...widgets.elements.surface import Surface
from ...widgets.markup import INK, LINE, SOFT, muted
from ..attempts import check
from ..exercises.answers import BLANK
from ..exercises.check_result import Checked
from ..exercises.first_failing_rule import ANSWERS, EIGHT, LETTERS_OF_RULES, TAKEN
from ..exercises.race import EVENTS, LETTERS, stage_of
from .prediction import WIDTH, QuestionPanel

_OPEN = (BLANK, BLANK)
_ERRORS = (_OPEN, *((name, name) for name in ANSWERS))
_RULES = (_OPEN, *((letter, letter) for letter in LETTERS_OF_RULES), (TAKEN, TAKEN))
_LETTER = {name: letter for letter, name in LETTERS.items()}


def _as_html(checked: Checked) -> str:
    """What is shown of an answer at this attempt, as HTML that a screen reader speaks."""
    mark = "✓" if checked.right else "○"
    edge = "#009e73" if checked.right else "#e69f00"
    lines = [f"<b>{mark} {checked.points} of {checked.of} points.</b> {escape(checked.message)}"]
    lines += [escape(text) for text in (checked.where, checked.which) if text]
    if checked.misconception:
        lines.append(f"You may be thinking that <i>{escape(checked.misconception)}</i>.")
    if checked.hint:
        lines.append(f"Hint: {escape(checked.hint)}")
    if checked.kept:
        lines.append(escape(checked.kept))
    return (
        f'<div class="kiplab-checked" role="status" style="border-left:5px solid {edge};'
        f'padding:6px 12px;line-height:1.5;color:{INK};background:{SOFT}">'
        f"{'<br>'.join(lines)}</div>"
    )


class AnswerSheet(QuestionPanel):
    """Eight requests, each with two menus: the error, and the letter of the first failing rule.

    `answer` is what they say as `kiplab.check("conversation/first-rule", ...)` reads it, `checked`
    the last verdict. Without a browser, call that.
    """

    def __init__(self) -> None:
        self.checked: Checked | None = None
        sent = [s for s in load(EIGHT).statements if s.verb == "send"]
        numbers = range(1, len(sent) + 1)
        self.errors = [dropdown(f"Error of {n}", _ERRORS) for n in numbers]
        self.rules = [dropdown(f"Rule of {n}", _RULES) for n in numbers]
        self.check_button = button("Check", self.check, "Let the engine judge these answers")
        self.check_button.button_style = "primary"
        self.result = words(max_width=WIDTH)
        lines = map(_line, numbers, sent, self.errors, self.rules)
        for menu in (*self.errors, *self.rules):
            watch(menu, "value", lambda _: self._allow())
        self.box = Surface(column([*lines, row([self.check_button]), self.result], max_width=WIDTH))
        self._allow()

    @property
    def answer(self) -> list[str]:
        """An error and a letter for each request, ``"?"`` where nothing is chosen."""
        chosen = zip(self.errors, self.rules, strict=True)
        pairs = ((error.value, rule.value) for error, rule in chosen)
        return [BLANK if pair == _OPEN else " ".join(pair) for pair in pairs]

    def check(self) -> None:
        """Judge the answers as they stand."""
        self.checked = check("conversation/first-rule", self.answer)
        self.result.value = _as_html(self.checked)

    def _allow(self) -> None:
        self.check_button.disabled = set(self.answer) == {BLANK}

    def __repr__(self) -> str:
        return f"<AnswerSheet: {', '.join(self.answer)}>"


def _line(number: int, sent: Statement, error: Dropdown, rule: Dropdown) -> Element:
    """One request in words, its menus below."""
    request = f'<b style="color:{INK}">{number}</b> {muted(escape(in_words(sent)))}'
    return column([words(request), row([error, rule])], border_bottom=f"1px solid {LINE}")


def in_words(sent: Statement) -> str:
    """What a line of `send` asks for, in one line."""
    sender, own, unclean_epoch, version = (
        sent.arg(key) for key in ("from", "broker-epoch", "leader-epoch", "partition-epoch")
    )
    isr = ", ".join((sent.arg("isr") or "").split(","))
    epochs = f"leader epoch {unclean_epoch} · partition epoch {version}"
    return f"broker {sender} as epoch {own} · {epochs} · ISR {{{isr}}}"


class Ordering(QuestionPanel):
    """Eight events to be ordered, each with its letter.

    `answer` is the order as it stands, `checked` the last verdict.

    Without a browser: `move("starts", 2)` and `check()`; or
    `kiplab.check("kafka-14139/order", ...)` for a whole answer.
    """

    def __init__(self, start: Sequence[str] = tuple(EVENTS)) -> None:
        self.answer = list(start)
        self.checked: Checked | None = None
        self._run: Run | None = None
        self.list = Listed(description="First to last", layout=Style(width="520px"))
        watch(self.list, "value", lambda _: self._allow())
        self.earlier = button("Earlier", lambda: self.move(self.list.value, -1))
        self.later = button("Later", lambda: self.move(self.list.value, 1))
        self.check_button = button("Check", self.check, "Let the engine judge this order")
        self.check_button.button_style = "primary"
        self.result = words(max_width=WIDTH)
        self.schedule = column([])
        hands = column([self.earlier, self.later, self.check_button], margin="0 0 0 8px")
        parts = [row([self.list, hands]), self.result, self.schedule]
        self.box = Surface(column(parts))
        self._show(self.answer[0])

    @property
    def run(self) -> Run | None:
        """The run of the order that was checked last, what could not happen left out."""
        return self._run

    def move(self, name: str, by: int) -> None:
        """Move an event so many places: -1 is one earlier. At the ends it stays."""
        index = self.answer.index(name)
        self.answer.insert(max(0, min(index + by, len(self.answer) - 1)), self.answer.pop(index))
        self._show(name)

    def check(self) -> None:
        """Judge the order as it stands, and draw it."""
        self.checked = check("kafka-14139/order", self.answer)
        self.result.value = _as_html(self.checked)
        self._run = Run(stage_of(self.answer))
        drawn = self._run.timeline(width=840)
        self.schedule.children = (PlotlyPicture(drawn.to_plotly_json()),)

    def _show(self, name: str) -> None:
        self.list.options = tuple(
            (f"{place}. {_LETTER[event]} · {EVENTS[event][0]}", event)
            for place, event in enumerate(self.answer, 1)
        )
        self.list.value = name
        self._allow()

    def _allow(self) -> None:
        self.earlier.disabled = self.list.value == self.answer[0]
        self.later.disabled = self.list.value == self.answer[-1]

    def __repr__(self) -> str:
        return f"<Ordering: {', '.join(self.answer)}>"

    def _in_words(self) -> str:
        events = "\n".join(
            f"{letter} · {name}: {EVENTS[name][0]}" for letter, name in LETTERS.items()
        )
        return f"{events}\n{self!r}"
