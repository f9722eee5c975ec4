"""First, back, play, step, last, a slider; undo and reset: moving through the steps of a run.

There is never a backlog. Slider and player keep their position in the browser, and a surface has at
most one message under way: what changes until the kernel has answered is collapsed into the next
message. However slow the kernel, it sees few positions, and the last one always.

Below: steps worth going to, with a button each; links and searches in the page that lead to one.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any

from ...engine.events import Event, PropertyBroken
from ...plays.stage import Stage
from ...protocol.facts import Refused
from ...rows.columns import Rows
from ...rows.difference import first_difference
from ...rows.rows_of_stage import rows_of
from ..elements.kinds import Guide, Player, Slider, Style
from ..elements.labelled import button, checkbox, dropdown, offer, row, watch
from ..history_tree.branch_tree import Branch, Tree
from ..history_tree.playback import Playback, open_playback, seek

SPEEDS = {"slow": 2_000, "normal": 1_000, "fast": 350}
"""Milliseconds from one step to the next."""


class Transport:
    """Calls `seek` with the number of a step when somebody goes there, `tick` with it when the
    player does; `undo` and `reset`. `is_playing` says whether it goes on by itself.
    """

    def __init__(
        self,
        seek: Callable[[int], None],
        tick: Callable[[int], None],
        undo: Callable[[], None],
        reset: Callable[[], None],
    ) -> None:
        self._seek, self._tick = seek, tick
        self._playback: Playback | None = None
        self.is_playing = False
        self.first = button("First", lambda: seek(0), "To the start")
        self.back = button("Back", lambda: seek(self._at - 1), "One step back")
        self.play = button("Play", self._pressed_play)
        self.play.layout.width = "62px"
        self.step = button("Step", lambda: seek(self._at + 1), "One step on")
        self.step.button_style = "primary"
        self.last = button("Last", lambda: seek(self.slider.max), "To the end")
        self.undo, self.reset = button("Undo", undo), button("Reset", reset)
        style = Style(flex="1 1 auto", min_width="160px", margin="2px 8px 2px 16px")
        self.slider = Slider(description="step", layout=style)
        watch(self.slider, "value", self._slid)
        # The player counts in the browser. It has no words on it, so it is driven by ours.
        self.player = Player(max=1)
        for trait in ("value", "playing"):
            watch(self.player, trait, self._ticked)
        self._make_pace()
        steps = [self.first, self.back, self.play, self.step, self.last, self.slider]
        self.box = row([*steps, self.undo, self.reset, self.player], flex_flow="row wrap")
        self.pace = row([self.speed, self.until_refusal])

    def _make_pace(self) -> None:
        self.speed = dropdown("Speed", SPEEDS.items())
        self.speed.tooltip = (
            "How fast Play steps: every 2 seconds, every second, or three times a second"
        )
        watch(self.speed, "value", partial(setattr, self.player, "interval"))
        self.speed.value = SPEEDS["normal"]
        self.until_refusal = checkbox(
            "stop at a refusal", tooltip="Play until a request is refused", margin="2px 8px"
        )
        watch(self.until_refusal, "value", lambda _: self.pause())

    @property
    def _at(self) -> int:
        return 0 if self._playback is None else self._playback.at

    def show(self, playback: Playback) -> None:
        """Follow the playback; nothing is called back."""
        self._playback = playback
        # While a longer run gives way to a shorter one both clip themselves: see `_slid`.
        self.slider.max = playback.last
        self.slider.value = playback.at
        if not self.is_playing:
            self.player.max = playback.last
        self.player.value = playback.at
        self.first.disabled = self.back.disabled = playback.at == 0
        self.step.disabled = self.last.disabled = playback.at == playback.last
        self.play.disabled = playback.last == 0
        self._label()

    def show_branch(self, branch: Branch) -> None:
        """Offer to undo what was done on a branch, and to leave it for the play."""
        own = branch.own_lines
        nothing = None if own else "the lines are the play's own"
        offer(self.undo, nothing, f"Take back the last line here: {own[-1].text if own else ''}")
        offer(self.reset, nothing, "Back to the start of the play; your branches are kept")

    def pause(self) -> None:
        if self.is_playing:
            self.is_playing = self.player.playing = False
            self._label()

    def _pressed_play(self) -> None:
        if self.is_playing or self._playback is None or self._playback.last == 0:
            self.pause()
            return
        start = 0 if self._at == self._playback.last else self._at
        if start != self._at:
            self._tick(start)
        refusal = next_refusal(seek(self._playback, start)) if self.until_refusal.value else ""
        self.player.max = self._playback.last if isinstance(refusal, str) else refusal
        self.player.value = start
        self.is_playing = self.player.playing = True
        self._label()

    def _ticked(self, _: Any) -> None:
        """The player moved, or came to its end; perhaps both in one message."""
        # A position that was on its way when somebody paused comes too late.
        if not self.is_playing:
            return
        if self.player.value != self._at:
            self._tick(self.player.value)
        if not self.player.playing:
            self.pause()

    def _slid(self, value: int) -> None:
        if value != self._at:
            self._seek(value)

    def _label(self) -> None:
        self.play.description = "Pause" if self.is_playing else "Play"
        end = self._playback is not None and self._playback.at == self._playback.last
        again = "Play again from the start" if end else "Step on by itself"
        self.play.tooltip = "Stay at this step" if self.is_playing else again


# --- jumps ----------------------------------------------------------------------------------------


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
    steps = (at for at, event in _moments(playback.whole) if isinstance(event, Refused))
    nothing = f"nothing is refused after step {playback.at}"
    return next((at for at in steps if at > playback.at), nothing)


def first_violation(playback: Playback) -> Target:
    steps = (at for at, event in _moments(playback.whole) if isinstance(event, PropertyBroken))
    return next(steps, "no property is broken in this run")


def divergence(tree: Tree, rows_of: Callable[[Stage], Rows] = rows_of) -> Target:
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
        if self._playback is None or playback.frames is not self._playback.frames:
            self.element.run += 1
        self._playback = playback
        self.element.play, self.element.at = playback.own.name, playback.at

    def _asked(self, wish: dict[str, Any]) -> None:
        if self._playback is None:
            return
        step = int(wish["step"])
        if step > self._playback.last:
            sentence = f"There is no step {step} here: this run ends at step {self._playback.last}."
            self._say(f"{sentence} Reset leads back to the play.", alarm=True)
            return
        self._seek(step)
        self._say(_SAID[wish["by"]].format(step=step))
