"""What the note of a Lab says, in sentences."""

from __future__ import annotations

from ..plays.play_errors import PlayError
from .history_tree.branch_tree import Tree


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
    bench = before.here.bench
    left = bench.last - bench.at
    steps = "The step" if left == 1 else f"The {left} steps"
    kept = f" {steps} after step {bench.at} are kept on {before.here.name}."
    return f"You are on {after.here.name}.{kept if left else ''} Reset brings you back to the play."
