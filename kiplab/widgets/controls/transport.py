"""First, back, play, step, last, a slider; undo and reset: moving through the steps of a run.

Below: steps worth going to, with a button each; links and searches in the page that lead to one.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from typing import Any

from ...engine.events import Event, PropertyBroken
from ...plays.stage import Stage
from ...protocol.facts import Refused
from ...rows.columns import Rows
from ...rows.difference import first_difference
from ...rows.rows_of_stage import rows_of
from ..elements.kinds import Guide, Player, Slider, StepSheet, Style
from ..elements.labelled import button, checkbox, dropdown, offer, row, watch
from ..history_tree.branch_tree import Branch, Tree
from ..history_tree.playback import Playback, open_playback
from ..still_fallback import GAP
from .actions import LabLike

SPEEDS = {"slow": 2_000, "normal": 1_000, "fast": 350}
"""Milliseconds from one step to the next."""


class Transport:
    """Calls `tick` with the number of a step when the player goes there. `is_playing` says whether
    it goes on by itself, `is_the_play` whether no line of one's own has been done. Step, Back and
    Play stop at each of `stops` and at no other step. At the last step of the play Step leads on to
    the gap, and calls `leave`, if there is that.
    """

    def __init__(
        self,
        lab: LabLike,
        tick: Callable[[int], None],
        stops: Callable[[], Sequence[int]],
        leave: Callable[[], None] | None = None,
    ) -> None:
        self._lab, self._tick, self._stops, self._leave = lab, tick, stops, leave
        self.is_playing, self.is_the_play = False, True
        self.first = button("First", lambda: lab.seek(0), "To the start")
        self.back = button("Back", self._go_back, "One step back")
        self.play = button("Play", self._pressed_play)
        self.play.layout.width = "62px"
        self.step = button("Step", self._pressed_step)
        self.step.button_style = "primary"
        self.last = button("Last", lambda: lab.seek(self.end), "To the end")
        self.undo, self.reset = button("Undo", lab.undo), button("Reset", lab.reset)
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
        often = "every 2 seconds, every second, or three times a second"
        self.speed.tooltip = f"How fast Play steps: {often}"
        watch(self.speed, "value", partial(setattr, self.player, "interval"))
        self.speed.value = SPEEDS["normal"]
        tooltip = "Play until a request is refused"
        self.until_refusal = checkbox("stop at a refusal", tooltip=tooltip, margin="2px 8px")
        watch(self.until_refusal, "value", lambda _: self.pause())

    @property
    def _at(self) -> int:
        return self._lab.playback.at

    @property
    def end(self) -> int:
        """Where Step and Play come to their end: a line that is not applicable is passed over."""
        return self._stops()[-1]

    def show(self) -> None:
        """Follow the Lab; nothing is called back."""
        playback = self._lab.playback
        # While a longer run gives way to a shorter one both clip themselves: see `_slid`.
        self.slider.max = playback.last
        if not self.is_playing:
            self.player.max = self.end
        self.player.stops = tuple(self._stops())
        for part, name, value in self.sheet(playback):
            setattr(part, name, value)
        self.play.disabled = self.end == 0
        self._label()

    def sheet(self, playback: Playback) -> StepSheet:
        """What a step makes of the controls."""
        is_first, is_last = playback.at == 0, playback.at >= self.end
        leads = is_last and self.is_the_play and self._leave is not None
        yield from ((part, "value", playback.at) for part in (self.slider, self.player))
        yield from ((button, "disabled", is_first) for button in (self.first, self.back))
        yield self.last, "disabled", is_last
        yield self.step, "disabled", is_last and not leads
        yield self.step, "leads", GAP if leads else ""
        yield self.step, "description", "Now: the gap" if leads else "Step"
        tooltip = "Your prediction, beside what happened" if leads else "One step on"
        yield self.step, "tooltip", tooltip

    @property
    def moves(self) -> dict[str, str]:
        """Which parts go where, for a `Reel`."""
        names = ("first", "back", "step", "last")
        return {getattr(self, name).id: name for name in names} | {self.slider.id: "to"}

    def _pressed_step(self) -> None:
        if not self.step.leads:
            self._lab.seek(min((s for s in self._stops() if s > self._at), default=self._at))
        elif self._leave is not None:
            self._leave()

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
        if self.is_playing or self.end == 0:
            self.pause()
            return
        if self._at >= self.end:
            self._tick(0)
        refusal = next_refusal(self._lab.playback) if self.until_refusal.value else ""
        self.player.max = self.end if isinstance(refusal, str) else refusal
        self.player.value = self._at
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

    def _go_back(self) -> None:
        self._lab.seek(max((stop for stop in self._stops() if stop < self._at), default=0))

    def _slid(self, value: int) -> None:
        if value != self._at:
            self._lab.seek(value)

    def _label(self) -> None:
        self.play.description = "Pause" if self.is_playing else "Play"
        again = "Play again from the start" if self._at >= self.end else "Step on by itself"
        self.play.tooltip = "Stay at this step" if self.is_playing else again


# --- jumps ----------------------------------------------------------------------------------------


TARGETS = ("next refusal", "first violation", "first divergence")
Target = int | str
"""The number of the step, or why there is no such step."""


def next_refusal(playback: Playback) -> Target:
    nothing = f"nothing is refused after step {playback.at}"
    return next((at for at in _steps_with(Refused, playback) if at > playback.at), nothing)


def first_violation(playback: Playback) -> Target:
    return next(_steps_with(PropertyBroken, playback), "no property is broken in this run")


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


def _steps_with(kind: type[Event], playback: Playback) -> Iterator[int]:
    stage = playback.whole
    events = ((p.moment, event) for p in stage.performed for event in stage.events_of(p))
    return (at for at, event in events if isinstance(event, kind))


class JumpButtons:
    """A button for each target; `diverges` is `divergence` of the whole run, which takes long."""

    def __init__(self, lab: LabLike) -> None:
        self._lab = lab
        self._targets: dict[str, Target] = {}
        self.diverges: Target = ""
        jumps = {name: partial(self._jump, name) for name in TARGETS}
        self.buttons = {name: button(name.capitalize(), jump) for name, jump in jumps.items()}
        self.box = row(self.buttons.values())

    def _jump(self, name: str) -> None:
        target = self._targets[name]
        if isinstance(target, int):
            self._lab.seek(target)

    def show(self) -> None:
        playback = self._lab.playback
        steps = (next_refusal(playback), first_violation(playback), self.diverges)
        self._targets = dict(zip(TARGETS, steps, strict=True))
        for name, target in self._targets.items():
            here = f"this is the step: {target}" if target == playback.at else None
            reason = target if isinstance(target, str) else here
            offer(self.buttons[name], reason, f"Go to step {target}")


class StepGuide:
    """Calls `say` with a sentence about the step that it leads to."""

    def __init__(self, lab: LabLike, say: Callable[..., None]) -> None:
        self._lab, self._say = lab, say
        self._frames: object = None
        self.element = Guide(self._lead)

    def show(self) -> None:
        playback = self._lab.playback
        if playback.frames is not self._frames:
            self._frames = playback.frames
            self.element.run += 1
        self.element.play, self.element.at = playback.own.name, playback.at

    def _lead(self, wish: dict[str, Any]) -> None:
        step, last = int(wish["step"]), self._lab.playback.last
        if step > last:
            sentence = f"There is no step {step} here: this run ends at step {last}."
            self._say(f"{sentence} Reset leads back to the play.", alarm=True)
            return
        self._lab.seek(step)
        said = {"link": "which the text names", "search": "where your words were found"}
        self._say(f"This is step {step}, {said[wish['by']]}.")
