"""Messages on their way, each with a button to deliver it and one to drop it."""

from __future__ import annotations

from collections.abc import Callable

from ..engine.cluster import Message
from ..plays.play import Statement
from .bench import Bench
from .choices import Choice, about_message, content, route
from .controls import button, column, offer, row, words
from .pages import heading, muted, stacked

SHOWN_MAX = 12
"""Messages with buttons; of more than these only the number is told."""


class _MessageRow:
    def __init__(self, act: Callable[[Statement], None]) -> None:
        self._act = act
        self._choices: tuple[Choice, ...] = ()
        self.text = words(flex="1 1 auto")
        self.deliver = button("Deliver", lambda: self._press(0))
        self.drop = button("Drop", lambda: self._press(1))
        self.box = row([self.text, self.deliver, self.drop])

    def _press(self, place: int) -> None:
        self._act(self._choices[place].line)

    def show(self, bench: Bench, message: Message) -> None:
        self.text.value = stacked(route(message), content(message))
        self._choices = about_message(bench.here.cluster, message)
        for made, choice in zip((self.deliver, self.drop), self._choices, strict=True):
            offer(made, choice.reason, choice.line.text)


class InFlight:
    """Calls `act` with the line that delivers or drops a message.

    Rows are kept and used again: a browser never forgets a widget.
    """

    def __init__(self, act: Callable[[Statement], None]) -> None:
        self._act = act
        self.rows: list[_MessageRow] = []
        self._title = words(heading("Held back, still on the way"))
        self._nothing = words(muted("Nothing is on its way here."))
        self._more = words()
        self.box = column([self._title, self._nothing])

    def show(self, bench: Bench) -> None:
        """The messages of the step where one stands, oldest first."""
        messages = bench.here.cluster.messages
        shown = messages[:SHOWN_MAX]
        self.rows += [_MessageRow(self._act) for _ in shown[len(self.rows) :]]
        for made, message in zip(self.rows, shown, strict=False):
            made.show(bench, message)
        self._more.value = muted(f"and {len(messages) - SHOWN_MAX} more")
        more = (self._more,) if len(messages) > SHOWN_MAX else ()
        rows = tuple(made.box for made in self.rows[: len(shown)])
        self.box.children = (self._title, *(rows or (self._nothing,)), *more)
