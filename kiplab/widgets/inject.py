"""What can happen to each broker, as buttons; and a line of one's own for everything else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets

from ..plays.play import Statement
from ..protocol.ids import BrokerId, node_name
from .bench import Bench
from .choices import BROKER_CHOICES, LOSS_WORDS, Choice, about_broker, standing
from .controls import button, column, offer, row, words
from .pages import heading, stacked

_ADVICE = {
    "Crash": "The process dies now; what it takes with it is chosen above",
    "Expire": "The controller finds the session over and fences the broker",
    "Start": "A new process starts and registers: a new broker epoch",
    "Unfence": "Recovery is over: the broker asks to be unfenced",
    "Fetch": "The follower fetches once from its leader",
}


class _BrokerRow:
    """One broker: how it does, and its buttons."""

    def __init__(self, id: BrokerId, act: Callable[[Statement], None]) -> None:
        self.id = id
        self._act = act
        self._choices: tuple[Choice, ...] = ()
        self.state = words(flex="1 1 108px", min_width="100px")
        self.buttons = [
            button(label, lambda at=place: self._press(at))  # type: ignore[misc]
            for place, label in enumerate(BROKER_CHOICES)
        ]
        self.box = row([self.state, *self.buttons], flex_flow="row wrap")

    def _press(self, place: int) -> None:
        self._act(self._choices[place].line)

    def show(self, bench: Bench, disk: str) -> None:
        cluster = bench.here.cluster
        self.state.value = stacked(node_name(self.id), standing(cluster, self.id))
        self._choices = about_broker(cluster, self.id, disk)
        for made, choice in zip(self.buttons, self._choices, strict=True):
            offer(made, choice.reason, f"{_ADVICE[choice.label]}: {choice.line.text}")


class Inject:
    """Calls `act` with the line that a button stands for, and `write` with a line as written."""

    def __init__(
        self, bench: Bench, act: Callable[[Statement], None], write: Callable[[str], None]
    ) -> None:
        self._bench = bench
        self.disk = ipywidgets.Dropdown(
            options=list(LOSS_WORDS.items()),
            description="A crash takes",
            style={"description_width": "initial"},
            layout=ipywidgets.Layout(width="240px"),
        )
        self.disk.observe(lambda _: self.show(self._bench), "value")
        self.rows = [_BrokerRow(node.id, act) for node in bench.here.cluster.brokers]
        self.line = ipywidgets.Text(
            description="Any other line",
            placeholder="produce orders-0 count=10",
            style={"description_width": "initial"},
            layout=ipywidgets.Layout(flex="1 1 auto", width="auto"),
        )
        self.do = button("Do it", lambda: write(self.line.value), "Do this line here")
        head = row([words(heading("What happens next")), self.disk])
        head.layout.justify_content = "space-between"
        self.box = column([head, *(r.box for r in self.rows), row([self.line, self.do])])

    def show(self, bench: Bench) -> None:
        """What can happen now."""
        self._bench = bench
        for broker in self.rows:
            broker.show(bench, self.disk.value)

    def button(self, broker: int, label: str) -> Any:
        """A button by its broker and label. Raises KeyError if there is none."""
        found = {(r.id, made.description): made for r in self.rows for made in r.buttons}
        return found[BrokerId(broker), label]
