"""What became of a button, said beside it: a sentence, or an alarm for what could not be done."""

from __future__ import annotations

from collections.abc import Callable

from ...plays.play_errors import PlayError
from ..elements.labelled import words
from ..lab_notes import because
from ..markup import note


class Answer:
    """`box` holds the sentence."""

    def __init__(self) -> None:
        self.box = words()

    def say(self, text: str) -> None:
        """A calm sentence; an empty one takes the last away."""
        self.box.value = note(text)

    def to(self, action: Callable[[], str]) -> None:
        """Say what `action` says, or why it cannot be done; nothing has changed then."""
        try:
            self.say(action())
        except PlayError as problem:
            self.box.value = note(because(problem), alarm=True)
