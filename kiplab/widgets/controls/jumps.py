"""Steps worth going to, with a button each; and links and searches in the page that lead to one."""

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any

from ...engine.events import Event, PropertyBroken
from ...plays.stage import Stage
from ...protocol.facts import Refused
from ...rows.columns import Rows
from ...rows.difference import first_difference
from ...rows.rows_of_stage import rows_of
from ..elements.kinds import Guide
from ..elements.labelled import button, offer, row
from ..history_tree.branch_tree import Tree
from ..history_tree.playback import Playback, open_playback

REFUSAL, VIOLATION, DIVERGENCE = "next refusal", "first violation", "first divergence"
TARGETS = (REFUSAL, VIOLATION, DIVERGENCE)
Target = int | str
"""The number of a step, or why there is none."""


def targets(playback: Playback, diverges: Target) -> dict[str, Target]:
    """Where each jump leads from where one stands; `diverges` is what `divergence` found.

    That one does not depend on where one stands, and takes longer.
    """
    steps = (next_refusal(playback), first_violation(playback), diverges)
    return dict(zip(TARGETS, steps, strict=True))


def next_refusal(playback: Playback) -> Target:
    """The next step at which a request is refused."""
    steps = (at for at, event in _moments(playback.whole) if isinstance(event, Refused))
    nothing = f"nothing is refused after step {playback.at}"
    return next((at for at in steps if at > playback.at), nothing)


def first_violation(playback: Playback) -> Target:
    """The first step at which a property breaks."""
    steps = (at for at, event in _moments(playback.whole) if isinstance(event, PropertyBroken))
    return next(steps, "no property is broken in this run")


def divergence(tree: Tree, rows_of: Callable[[Stage], Rows] = rows_of) -> Target:
    """The first step at which the picture differs from what `against` names."""
    other = against(tree)
    if other is None:
        return "this is the play as it was opened, under its own rules"
    playback, name = other
    first = first_difference(rows_of(tree.here.playback.whole), rows_of(playback.whole))
    return f"this run does not differ from {name}" if first is None else first


def against(tree: Tree) -> tuple[Playback, str] | None:
    """(playback, its name): what the branch where one is can differ from, None for nothing.

    For a branch that is its parent, for the play under other rules the play under its own.
    """
    here = tree.here
    if here.parent is not None:
        parent = tree.branch(here.parent)
        return parent.playback, parent.name
    if here.playback.features == tree.rules:
        return None
    return _as_opened(here.playback.own, tree.rules), "the play under its own rules"


# One play is switched to and fro between rules: what it was at first is worked out once.
_as_opened = lru_cache(maxsize=1)(open_playback)


def _moments(stage: Stage) -> Iterator[tuple[int, Event]]:
    """(step, event) for all that happened, in order."""
    for performed in stage.performed:
        for event in stage.events_of(performed):
            yield performed.moment, event


class JumpButtons:
    """Calls `seek` with the number of a step. `diverges` is set for the whole run."""

    def __init__(self, seek: Callable[[int], None]) -> None:
        self._seek = seek
        self._targets: dict[str, Target] = {}
        self.diverges: Target = ""
        self.buttons = {
            name: button(name.capitalize(), partial(self._jump, name)) for name in TARGETS
        }
        self.box = row(self.buttons.values())

    def _jump(self, name: str) -> None:
        target = self._targets[name]
        if isinstance(target, int):
            self._seek(target)

    def show(self, playback: Playback) -> None:
        """What can be reached from where one stands."""
        self._targets = targets(playback, self.diverges)
        for name, target in self._targets.items():
            here = f"this is the step: {target}" if target == playback.at else None
            reason = target if isinstance(target, str) else here
            offer(self.buttons[name], reason, f"Go to step {target}")


_SAID = {
    "link": "This is step {step}, which the text speaks of.",
    "search": "This is step {step}, where your words were found.",
}
"""By what has asked for it."""


class StepGuide:
    """Calls `seek` with the number of a step, and `say` with a sentence about it."""

    def __init__(self, seek: Callable[[int], None], say: Callable[..., None]) -> None:
        self._seek, self._say = seek, say
        self._playback: Playback | None = None
        self.element = Guide(self._asked)

    def show(self, playback: Playback) -> None:
        """Follow the playback."""
        if self._playback is None or playback.frames is not self._playback.frames:
            self.element.run += 1
        self._playback = playback
        self.element.play, self.element.at = playback.own.name, playback.at

    def _asked(self, wish: dict[str, Any]) -> None:
        if self._playback is None:
            return
        step = int(wish["step"])
        if step > self._playback.last:
            said = f"There is no step {step} here: this run ends at step {self._playback.last}."
            self._say(f"{said} Reset leads back to the play.", alarm=True)
            return
        self._seek(step)
        self._say(_SAID[wish["by"]].format(step=step))
