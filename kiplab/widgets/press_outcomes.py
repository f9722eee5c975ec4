"""What became of a press, in sentences."""

from collections.abc import Callable

from ..plays.play_errors import PlayError
from .elements.labelled import words
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
