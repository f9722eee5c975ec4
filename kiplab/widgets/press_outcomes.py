"""What became of a press, in sentences; and what every control calls its action through."""

import logging
from collections.abc import Callable
from typing import Any, Protocol

from ..plays.play_errors import PlayError
from .elements.labelled import attempted_by, words
from .history_tree.branch_tree import Tree
from .markup import note


def because(problem: PlayError) -> str:
    """A problem as a sentence for whoever has just pressed something."""
    said = f"{problem.problem}; {problem.expected}" if problem.expected else problem.problem
    return f"{said[0].upper()}{said[1:]}. Nothing has changed."


def broken(problem: Exception, token: str) -> str:
    """A mistake of kiplab's own as a sentence; the traceback is in the log."""
    what = f"{type(problem).__name__}: {problem}".removesuffix(": ")
    return (
        f"Something went wrong inside kiplab: {what}. Nothing has changed."
        f" Please report it with this token: {token}"
    )


def forked(before: Tree, after: Tree) -> str:
    """What there is to say of a line that was done: nothing if the branch only grew."""
    if after.current == before.current:
        return ""
    playback = before.here.playback
    left = playback.last - playback.at
    steps = "The step" if left == 1 else f"The {left} steps"
    kept = f" {steps} after step {playback.at} are kept on {before.here.name}."
    return f"You are on {after.here.name}.{kept if left else ''} Reset brings you back to the play."


LOG = logging.getLogger(__name__)


class Say(Protocol):
    """Shows a sentence in the lab's note."""

    def __call__(self, text: str, *, alarm: bool = False) -> None:
        """An `alarm` is read aloud at once."""


class Attempts:
    """Calls actions. After one that failed: `restore` shows what there was, `say` says it.

    An action keeps the history itself when it fails; `token` names that history in the report.
    """

    def __init__(self, restore: Callable[[], None], token: Callable[[], str], say: Say) -> None:
        self._restore, self._token, self._say = restore, token, say
        self._trying = False

    def __call__(self, action: Callable[..., None], *given: Any) -> None:
        """Call `action` with `given`; what it calls in turn belongs to the same attempt."""
        if self._trying:
            action(*given)
            return
        self._trying = True
        try:
            with attempted_by(self):
                action(*given)
        except PlayError as problem:
            self._say(because(problem), alarm=True)
        except Exception as problem:
            LOG.exception("a control of the lab failed")
            self._recover(problem)
        finally:
            self._trying = False

    def _recover(self, problem: Exception) -> None:
        try:
            self._restore()
        except Exception:
            LOG.exception("nor can the lab be shown as it was")
        self._say(broken(problem, self._token()), alarm=True)


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
