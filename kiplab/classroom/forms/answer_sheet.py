"""The exercise on eight requests as a widget: for each an error and a rule, then Check."""

from __future__ import annotations

from html import escape
from typing import Any

from ...plays.library import load
from ...plays.play import Statement
from ...widgets import still_fallback
from ...widgets.elements.kinds import Dropdown, Element
from ...widgets.elements.labelled import button, column, dropdown, row, watch, words
from ...widgets.elements.surface import Surface
from ...widgets.markup import INK, LINE, muted
from ..exercises.answers import BLANK
from ..exercises.check_result import Checked
from ..exercises.first_failing_rule import ANSWERS, EIGHT, LETTERS_OF_RULES, TAKEN
from ..work.attempts import check_first_rule
from .told_result import told

WIDTH = "844px"
_OPEN = (BLANK, BLANK)
_ERRORS = (_OPEN, *((name, name) for name in ANSWERS))
_RULES = (_OPEN, *((letter, letter) for letter in LETTERS_OF_RULES), (TAKEN, TAKEN))


class AnswerSheet:
    """Eight requests, each with two menus: the error, and the letter of the first failing rule.

    `answer` is what they say as `check_first_rule` reads it, `checked` the last verdict. Without a
    browser: `check_first_rule`.
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
        self.checked = check_first_rule(self.answer)
        self.result.value = told(self.checked)

    def _allow(self) -> None:
        self.check_button.disabled = set(self.answer) == {BLANK}

    def __repr__(self) -> str:
        return f"<AnswerSheet: {', '.join(self.answer)}>"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        """A reference to the panel, and words where there are no widgets."""
        return self.box.bundle(repr(self), **options)

    def _ipython_display_(self) -> None:
        still_fallback.show_live(self.box, repr(self))


def _line(number: int, sent: Statement, error: Dropdown, rule: Dropdown) -> Element:
    """One request in words, its menus below."""
    asked = f'<b style="color:{INK}">{number}</b> {muted(escape(in_words(sent)))}'
    return column([words(asked), row([error, rule])], border_bottom=f"1px solid {LINE}")


def in_words(sent: Statement) -> str:
    """What a line of `send` asks for, in one line."""
    sender, own, reign, version = (
        sent.arg(key) for key in ("from", "broker-epoch", "leader-epoch", "partition-epoch")
    )
    isr = ", ".join((sent.arg("isr") or "").split(","))
    epochs = f"leader epoch {reign} · partition epoch {version}"
    return f"broker {sender} as epoch {own} · {epochs} · ISR {{{isr}}}"
