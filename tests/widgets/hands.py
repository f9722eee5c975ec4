"""Somebody at a panel: what a button does is done to a playback, and the panel follows."""

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from kiplab.plays.grammar import parse
from kiplab.plays.library import load
from kiplab.plays.play import Statement
from kiplab.protocol.features import parse_features
from kiplab.runs import Run
from kiplab.widgets.history_tree import playback as playbacks
from kiplab.widgets.history_tree.playback import Playback

SIX = """
broker 1
broker 2
broker 3
broker 4
broker 5
broker 6
topic orders replicas=1,2,3 log=10@0
topic orders partition=1 replicas=2,3,4 log=5@0
topic orders partition=2 replicas=5,6
"""
THREE = """
broker 1
broker 2
broker 3
topic orders replicas=1,2,3 log=10@0
"""


@cache
def opened(name: str) -> Playback:
    """A shipped play before its first step, opened once for all tests."""
    return playbacks.open_playback(load(name))


def steps(playback: Playback) -> Iterator[Playback]:
    """A run, seen from each of its steps."""
    return (playbacks.seek(playback, at) for at in range(playback.last + 1))


def fails(*_: object, **__: object) -> None:
    raise RuntimeError("<a bug>")


class Hands:
    """In place of a Lab. `panel` is set once there is one; `lines` are what its buttons did."""

    def __init__(self, playback: Playback) -> None:
        self.playback = playback
        self.lines: list[str] = []
        self.panel: Any = None

    def act(self, statement: Statement) -> None:
        """What a Lab does with a button's line."""
        self.lines.append(statement.text)
        self.playback = playbacks.act(self.playback, statement)
        self.panel.show()

    def do(self, line: str) -> None:
        """What a Lab does with a line as written."""
        self.act(playbacks.read_line(self.playback, line))

    def seek(self, at: int) -> None:
        """Go to a step."""
        self.playback = playbacks.seek(self.playback, at)
        self.panel.show()

    def undo(self) -> None:
        self.lines.append("undo")

    def reset(self) -> None:
        self.lines.append("reset")

    def replayed(self) -> bool:
        """Whether the play that was written leads to the same state, from its token."""
        import kiplab

        run = Run(playbacks.as_played(self.playback))
        return bool(kiplab.run(run.token).stage.cluster == self.playback.whole.cluster)


def at_panel(playback: Playback, panel: Callable[[Hands], Any]) -> Hands:
    """Somebody at a panel, which is made for whoever presses its buttons."""
    hands = Hands(playback)
    hands.panel = panel(hands)
    hands.panel.show()
    return hands


def made(text: str, *lines: str) -> Playback:
    """The playback of a play, and lines done by hand."""
    return done(playbacks.open_playback(parse(text)), *lines)


def done(playback: Playback, *lines: str) -> Playback:
    """Lines done by hand where one stands."""
    for line in lines:
        playback = playbacks.act(playback, playbacks.read_line(playback, line))
    return playback


def at(step: int, name: str = "kafka-14139", kafka: str | None = None) -> Playback:
    """A play, seen from a step."""
    features = parse_features(kafka) if kafka else None
    return playbacks.seek(playbacks.open_playback(load(name), features), step)


def text(page: str) -> str:
    """What a reader sees of some HTML."""
    return " ".join(re.sub(r"<style>.*?</style>|<[^>]*>", " ", page, flags=re.S).split())


def html(widget: Any) -> str:
    """What is written anywhere in a widget."""
    inside = "".join(html(child) for child in getattr(widget, "children", ()))
    own = getattr(widget, "value", "")
    return f"{own if isinstance(own, str) else ''}{inside}"


def button(widget: Any, label: str) -> Any:
    """The button with that label that is shown in a widget."""
    parts = widget.box.everything()
    return next(part for part in parts if getattr(part, "description", None) == label)


def hear(widget: Any, content: dict[str, Any], *buffers: bytes) -> None:
    """What a page sends to the panel of a Lab or another widget."""
    widget.box._receive(widget.box, content, list(buffers))


def press(widget: Any, part: Any, name: str = "press", value: Any = None) -> None:
    """What a page sends when a part of a panel is pressed, or set to a value."""
    hear(widget, {"part": part.id, "name": name, "value": value, "by": "x"})
