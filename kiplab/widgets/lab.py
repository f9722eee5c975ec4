"""`Lab`: a run in one's hands. Step through it, break it elsewhere, change its rules."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from logging import getLogger
from pathlib import Path
from typing import Any

from ..pages.page_files import AUTO
from ..plays.header import features_asked_for
from ..plays.library import find
from ..plays.play import Play, Statement
from ..plays.play_errors import PlayError
from ..protocol.features import Features
from ..runs import Run
from . import still_fallback
from .controls import actions, branches, inspector, offering, rulebook, view_options
from .controls.broker_offers import GoTo
from .controls.inflight import InFlight
from .controls.inject import Inject
from .controls.picture_menu import PictureMenu
from .controls.transport import JumpButtons, StepGuide, Transport
from .elements.kinds import StepSheet, ToggleButton
from .elements.labelled import button, column, watch, words
from .elements.surface import Daylight, Surface
from .history_tree import branch_tree as trees
from .history_tree import lab_file
from .history_tree import playback as playbacks
from .lab_layout import CONTROLS, folds_of, in_hand, laid_out
from .markup import because, broken, forked, note, on_record, story_bar, transcript
from .view_model import Reel, ViewModel

WIDTH, TRANSCRIPT_HEIGHT = 840, 300
"""Pixels a notebook has beside the list of files at 1280; the page's room once that is known."""
WIDTHS = (440, 1500)
RULES_HIGH = 34
"""Pixels of the row of rules above the picture."""
_LOGS = "The log of every broker beside its lane, as it is at this step"
_LOG = getLogger(__name__)


class Lab:
    """A play with buttons: show it as the last value of a notebook cell.

    `play` is a name, a file, a token or a Play; `kafka`, `on` and `off` are as for `kiplab.run`.
    `after` is something to wait for: until it is locked the lab only says so. `controls` says how
    much there is to press: "step" goes through the run, "act" also acts on the picture and switches
    KIPs, "all" has everything; a button leads from the first two to the next. `logs` draws the log
    of every broker beside its lane, as it is at the step where one stands; the button "Logs" does
    so too. `width` is in pixels; without one the picture is as wide as there is room, and lower in
    a low window. `theme` is "light", "dark" or "auto": that of the page, also when it changes.
    Raises PlayError for a play that there is none of, ValueError for such a theme or such controls.

    Without a browser: `do("crash 2")`, `seek(3)`, `switch("903", True)`, then `run`; `branches`,
    `go_to(name)`, `undo()`, `token`, `save()` and `load("kiplab1:...")`.
    """

    def __init__(
        self,
        play: str | Path | Play,
        *,
        kafka: str | None = None,
        on: str | tuple[str, ...] = (),
        off: str | tuple[str, ...] = (),
        elr: int | None = None,
        after: still_fallback.Lock | None = None,
        controls: str = CONTROLS[-1],
        logs: bool = False,
        width: int | None = None,
        theme: str = AUTO,
    ) -> None:
        if controls not in CONTROLS:
            raise ValueError(f"there are no controls {controls!r}; there are {', '.join(CONTROLS)}")
        play_found, shared = (play, None) if isinstance(play, Play) else find(play)
        off, on = ((names,) if isinstance(names, str) else tuple(names) for names in (off, on))
        features = features_asked_for(play_found, shared, kafka, off, on, elr)
        tree = trees.plant(playbacks.open_playback(play_found, features))
        self._root = column([words(note(still_fallback.WAIT))], width="100%")
        self.box = Surface(self._root, pictures=True)
        self.daylight = Daylight(theme, self.box)
        look = {"theme": self.daylight.theme, "legend": False, "logs": logs}
        self._view = ViewModel(tree, width=width or WIDTH, **look)
        self._asked_width, self._controls = width, controls
        self._after = after
        self._waits: Any = None
        if after is None or after.locked:
            self._open()
        else:
            after.when_locked(self._open)

    @property
    def tree(self) -> trees.Tree:
        """The whole history."""
        return self._view.tree

    @property
    def playback(self) -> playbacks.Playback:
        """The branch where one is: its lines, its steps, where one stands."""
        return self.tree.here.playback

    # --- what one can do ------------------------------------------------------------------------

    def seek(self, at: int) -> None:
        """Stand on step `at`."""
        self._turn_to(trees.seek(self.tree, at))

    def act(self, statement: Statement) -> None:
        """Do a line where one stands: on a branch of one's own, which begins here if need be.

        One that cannot be done is explained, and changes nothing.
        """
        with self._explained():
            before = self.tree
            after = trees.act(before, statement)
            self._turn_to(after, forked(before, after))

    def do(self, line: str) -> None:
        """As `act`, for a line as it is written in a play: ``crash 2 disk=replaced``."""
        with self._explained():
            self.act(playbacks.read_line(self.playback, line))

    def undo(self) -> None:
        """Take back the last line of this branch; the play keeps its lines, and says so."""
        with self._explained():
            after = trees.undo(self.tree)
            self._turn_to(after, f"You are on {after.here.name}.")

    def change_rules(self, features: Features) -> None:
        """The same lines of this branch under other rules."""
        sentence = f"The same steps under Kafka {features.label()}."
        lost = rulebook.left_behind(self.playback.features, features)
        self._turn_to(trees.rerun(self.tree, features), f"{sentence} {lost}".rstrip())

    def switch(self, name: str, on: bool) -> None:
        """Turn a guard, or a KIP's refusals and rules, on or off: ``switch("903", True)``."""
        self.change_rules(rulebook.turned(self.playback.features, name, on))

    def reset(self) -> None:
        """Back to the play, at its start; branches and rules stay."""
        self._view.hide_before()
        after = trees.reset(self.tree)
        rules = after.here.playback.features
        kept = f", under Kafka {rules.label()}" if rules != after.rules else ""
        self._turn_to(after, f"This is the play again, at its start{kept}.")

    # --- branches -------------------------------------------------------------------------------

    @property
    def branches(self) -> tuple[str, ...]:
        """The names of all branches; the first one is the play."""
        return self.tree.names

    @property
    def branch(self) -> str:
        """The name of the branch where one is."""
        return self.tree.here.name

    def go_to(self, name: str) -> None:
        """Go to another branch. Raises PlayError if there is none of that name, as do all below."""
        self._turn_to(trees.switch(self.tree, self.tree.named(name).id), f"You are on {name}.")

    def rename(self, name: str, new: str) -> None:
        """Give a branch another name."""
        self._turn_to(trees.rename(self.tree, self.tree.named(name).id, new))

    def delete(self, name: str) -> None:
        """Forget a branch. What forked from it stays."""
        self._turn_to(trees.delete(self.tree, self.tree.named(name).id), f"{name} is deleted.")

    def save(self, file: str | Path = "") -> Path:
        """Write all branches to a file, or the one where one is to a file ending in ``.play``.

        Beside the notebook unless `file` says where; returns the file. PlayError if it cannot be.
        """
        return lab_file.save(self.tree, file)

    def load(self, source: str | Path) -> None:
        """Take a token, a play or a saved lab in place of all there is.

        Raises PlayError for what is none of these or damaged; nothing has changed then.
        """
        self._turn_to(lab_file.load(source), "Loaded.")

    # --- what one can read ----------------------------------------------------------------------

    @property
    def run(self) -> Run:
        """The run as it is now, to its last step; lines that could not be done are left out."""
        return self._view.run

    @property
    def token(self) -> str:
        """The branch where one is, in one line; `kiplab play TOKEN` and `kiplab.Lab(token)`."""
        return self.run.token

    @property
    def is_open(self) -> bool:
        """Whether there are controls, or still a wait."""
        return self._after is None or self._after.locked

    def __repr__(self) -> str:
        if not self.is_open:
            return f"<Lab of {self.playback.own.name!r}: {still_fallback.WAIT}>"
        at = f"step {self.playback.at} of {self.playback.last}"
        return f"<Lab of {self.playback.own.name!r} at {at}>"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        """A reference to the widgets, and words where there are none: notebooks stay small."""
        return self.box.bundle(repr(self), **options)

    def _ipython_display_(self) -> None:
        """The widgets; and a still picture of the run for a notebook that is read without a kernel.
        While a prediction is awaited there is none: title, legend and verdict would give it away.
        """
        kept, waits = (self._kept_drawing(), "") if self.is_open else (None, still_fallback.WAIT)
        self._waits = still_fallback.show(self.box, repr(self), kept, waits)

    def _kept_drawing(self) -> dict[str, Any]:
        return self._view.drawing_of_all(theme=self.daylight.still, legend=True)

    # --- parts ----------------------------------------------------------------------------------

    def _open(self) -> None:
        self._root.children = (words(note(still_fallback.OPENING)),)
        self._view.set_options({"theme": self.daylight.theme} | self._wide, self._high)
        self.box.attempt = self._attempt
        with self.box.batch():
            self._furnish()
            self._show()
        if self._waits is not None:
            still_fallback.show_opened(self._waits, self._kept_drawing())

    def _furnish(self) -> None:
        """Every part, once. Those in `_followers` are kept up to date."""
        leave = None if self._after is None else partial(self._after.passed, still_fallback.GAP)
        self.transport = Transport(self, self._tick, lambda: tuple(self._view.stops), leave)
        self.reel = Reel(self._sheet, self.seek, self.transport.moves)
        self.transport.box.children += (self.reel,)
        self.touching = PictureMenu(self, self._view, self._go)
        self.picture = self.touching.picture
        self.jumps = JumpButtons(self)
        self.guide = StepGuide(self, self._say)
        view = self._view
        mean = "What the signs in the picture mean"
        self.signs = actions.PictureDrawer("Signs", mean, view.legend)
        self.logs = ToggleButton(description="Logs", tooltip=_LOGS, value=view.options["logs"])
        watch(self.logs, "value", lambda shown: self._set_options({"logs": shown}))
        self.messages = view_options.MessageSwitch(view, self._set_options)
        self.invariants = inspector.InvariantStrip(self)
        self.rulebook = rulebook.Rulebook(self.tree.rules, self.change_rules)
        self.ghost = view_options.Ghost(self, view, self.picture)
        self.touching.box.children = (*self.touching.box.children, self.ghost.box)
        self.verdict, self.facts, self.note = words(), words(), words()
        self.more_controls = button("More to do with it", self._raise_controls)
        self.transcript = words()
        self.hands, self.account, self.view_box = column([]), column([]), column([])
        self.inspector = inspector.Inspector(self)
        self.telling = inspector.Telling(self._view.rows_so_far)
        self.branching = branches.Branches(view, self._turn_to)
        self.sharing = branches.Sharing(view, self._turn_to)
        self.folds = folds_of(self)
        self._followers = (
            *(self.touching, self.jumps, self.guide),
            *(self.signs, self.messages, self.invariants, self.folds, self.ghost),
        )
        self._fit()
        self._lay_out(self.box.controls)
        self.box.observe(lambda change: self._lay_out(change["new"]), "controls")
        self.daylight.follow(lambda theme: self._set_options({"theme": theme}))
        self.box.observe(lambda _: self._set_options(self._wide, self._high), "room")

    def _lay_out(self, kept: str) -> None:
        """As much to press as was asked for, or more where this reader has `kept` more."""
        self._controls = controls = max(self._controls, kept, key=CONTROLS.index)
        self.touching.acts = controls != "step"
        display = "" if self.touching.acts else "none"
        self.transport.undo.layout.display = self.transport.reset.layout.display = display
        self._root.children = laid_out(self, controls)
        self.signs.toggle.value = not self.touching.acts

    def _raise_controls(self) -> None:
        self.box.keep_controls(CONTROLS[CONTROLS.index(self._controls) + 1])

    def _fit(self) -> None:
        """What depends on the brokers and partitions: made anew when another play is loaded."""
        self._fitted = self.tree.trunk.playback.own
        self.inject = Inject(self)
        self.what_next = offering.WhatNext(self, self._go, self.inject.box)
        self.in_flight = InFlight(self)
        self.hands.children = in_hand(self)
        self.account.children = (self.transcript, self.in_flight.box)
        self.view_controls = view_options.ViewControls(self, self._set_options, self._view.rows_of)
        self.view_box.children = (self.view_controls.box,)

    # --- changing what is shown -----------------------------------------------------------------

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except PlayError as problem:
            self._say(because(problem), alarm=True)

    def _attempt(self, action: Callable[..., None], *arguments: Any) -> None:
        """Do what a page asks for. After a failure all is shown as it was, and the note says why.

        An action keeps the history itself when it fails.
        """
        try:
            with self._explained():
                action(*arguments)
        except Exception as problem:
            _LOG.exception("a control of the lab failed")
            self._restore()
            self._say(broken(problem, self.token), alarm=True)

    def _tick(self, at: int) -> None:
        self._turn_to(trees.seek(self.tree, at), playing=True)

    def _go(self, to: GoTo) -> None:
        self.seek(to.step)
        if to.acts:
            self.what_next.open()

    def _turn_to(self, tree: trees.Tree, sentence: str = "", *, playing: bool = False) -> None:
        with self._view.kept(), self.box.batch():
            self._view.take(tree)
            if self.is_open:
                if not playing:
                    self.transport.pause()
                self._show(sentence)

    def _set_options(self, options: dict[str, Any], high: int | None = None) -> None:
        with self._view.kept(), self.box.batch():
            if self._view.set_options(options, high):
                self.picture.drawing = self._view.drawing()
                self._turn_reel()
                for part in (self.signs, self.messages, self.ghost):
                    part.show()
                self.branching.comparison.repaint()

    @property
    def _wide(self) -> dict[str, int]:
        """The width of a picture in the room of the page; empty while that is unknown."""
        least, most, room = *WIDTHS, self.box.room
        return {"width": self._asked_width or max(least, min(room[0], most))} if room else {}

    @property
    def _high(self) -> int | None:
        """Its height: the signs lie below it where one only steps, else the rules above it."""
        steps, room = self._controls == "step", self.box.room
        other = self._view.legend()["layout"]["height"] if steps else RULES_HIGH
        return room[1] - other if room else None

    def _restore(self) -> None:
        try:
            with self.box.batch():
                self.transport.pause()
                self._show()
        except Exception:
            _LOG.exception("nor can the lab be shown as it was")

    def _show(self, sentence: str = "") -> None:
        view, playback, here = self._view, self.playback, self.tree.here
        self._turn_reel()
        for element, name, value in self._sheet(playback.at):
            setattr(element, name, value)
        if self._fitted is not playback.own:
            self._fit()
        self.jumps.diverges = view.diverges
        for part in (self.inject, self.what_next, self.in_flight, *self._followers):
            part.show()
        self.transport.show_branch(here)
        self.rulebook.show(playback.features, self.tree.rules)
        self.transcript.value = transcript(playback, TRANSCRIPT_HEIGHT)
        self._say(sentence)
        if self._after is not None and playback.at >= self.transport.end:
            self._after.passed(still_fallback.RUN)

    def _sheet(self, at: int) -> StepSheet:
        """What is shown of a step and depends on nothing else: a page goes to it by itself."""
        view, playback = self._view, playbacks.seek(self.playback, at)
        branch = self.branch if self.tree.here.parent else ""
        yield self.picture, "drawing", view.drawing(at)
        is_end = at >= self.transport.end
        yield self.verdict, "value", story_bar(playback, view.moment(at), branch, is_end=is_end)
        partition = view.options.get("partition") or view.rows.busiest
        yield self.facts, "value", on_record(playback, partition)
        yield self.note, "value", ""
        yield self.guide.element, "at", at
        yield from self.transport.sheet(playback)

    def _turn_reel(self) -> None:
        """What pages hold of the steps is that of this branch in this look."""
        self.transport.is_the_play = self.tree.here.parent is None
        self.transport.show()
        about = self._view.edition, self.tree.current, self.branch
        playback = self.playback
        self.reel.show(playback.at, playback.last, tuple(self._view.stops), about)

    def _say(self, text: str, *, alarm: bool = False) -> None:
        if self.is_open:
            self.note.value = note(text, alarm=alarm)
        elif text:
            print(text)
