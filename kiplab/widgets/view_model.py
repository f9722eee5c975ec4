"""What a Lab shows of its history: rows and drawings, worked out again only where lines change; and
the steps of a run for a page that goes from one to the next by itself, without its kernel.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..figures.timeline.sheet import followed_partition
from ..figures.timeline.whole_runs import drawing_so_far, legend_so_far, low_enough, stops_in
from ..plays.stage import Stage
from ..rows.columns import MomentRow, Rows
from ..rows.rows_of_stage import rows_of, rows_until
from ..runs import Run
from .controls.transport import divergence
from .elements.kinds import Element, StepSheet
from .history_tree.branch_tree import Tree
from .history_tree.playback import Playback, as_played

STAGES_KEPT = 6
GHOST_HIGH = 44
"""Pixels that the run before takes and the words of the axis do not."""


class ViewModel:
    """`tree` is the history, `rows` the branch where one is, `options` those of the picture,
    `high` the pixels that there are for it, once known.

    `edition` is another number whenever the pictures are others.
    `stops` are the steps at which Step, Back and Play stop, as the axis has them. `diverges` is
    what `transport.divergence` says of that branch; `before` is the run that it was until its rules
    were switched, and None once something else is done.
    """

    def __init__(self, tree: Tree, **options: Any) -> None:
        self.tree, self.options = tree, options
        self.edition = 0
        self.high: int | None = None
        self.before: Playback | None = None
        self._unchanging = tuple(options)
        self._kept_rows: tuple[tuple[Stage, Rows], ...] = ()
        self._derive()

    def _derive(self) -> None:
        self.rows = self.rows_of(self.tree.here.playback.whole)
        self.diverges = divergence(self.tree, self.rows_of)
        self._so_far = self.rows, self.tree.here.playback.whole, self.rows
        self._low = 0.0
        self._fit()

    def rows_of(self, stage: Stage) -> Rows:
        """The rows of a stage; those of the stages that were asked for last are kept."""
        rows = next((rows for kept, rows in self._kept_rows if kept is stage), None)
        if rows is None:
            rows = rows_of(stage)
        others = tuple(pair for pair in self._kept_rows if pair[0] is not stage)
        self._kept_rows = ((stage, rows), *others[: STAGES_KEPT - 1])
        return rows

    def moment(self, at: int) -> MomentRow:
        return self.stops.get(at) or self.rows.moments[at]

    @property
    def run(self) -> Run:
        """The branch where one is, without the lines that could not be done."""
        return Run(as_played(self.tree.here.playback))

    def set_options(self, options: dict[str, Any], high: int | None = None) -> bool:
        """Set options, or the height; returns whether that changes the picture."""
        before = self.options, self._low
        self.options, self.high = self.options | options, high or self.high
        self._fit()
        return (self.options, self._low) != before

    def _fit(self) -> None:
        self.edition += 1
        self.stops = stops_in(self.rows, **self.options)
        if self.high is not None:
            high = self.high - (GHOST_HIGH if self.before is not None else 0)
            self._low = low_enough(self.rows, high, **self.options) or 0

    def take(self, tree: Tree) -> None:
        """Show another history, or another step of this one."""
        before, self.tree = self.tree, tree
        if tree.trunk.playback.own is not before.trunk.playback.own:
            # Another play has other partitions and other steps to look at.
            self.options = {key: self.options[key] for key in self._unchanging}
        frames_before, frames = _frames_shown(before), _frames_shown(tree)
        if any(now is not then for now, then in zip(frames, frames_before, strict=True)):
            was, now = before.here.playback, tree.here.playback
            same_lines = before.current == tree.current and was.play == now.play
            self.before = was if same_lines and was.frames is not now.frames else None
            self._derive()

    def hide_before(self) -> None:
        self.before = None
        self._fit()

    @contextmanager
    def kept(self) -> Iterator[None]:
        """What cannot be shown has not happened: if the body fails, all is as it was."""
        before = dict(vars(self))
        try:
            yield
        except BaseException:
            vars(self).update(before)
            raise

    def rows_so_far(self, at: int | None = None) -> Rows:
        """The rows up to step `at`, by default to where one stands."""
        if at is not None and at != self.tree.here.playback.at:
            return rows_until(self.rows, self.tree.here.playback.frames[at].stage)
        here, (whole, stage, rows) = self.tree.here.playback.here, self._so_far
        if whole is not self.rows or stage is not here:
            rows = rows_until(self.rows, here)
            self._so_far = self.rows, here, rows
        return rows

    def drawing(self, at: int | None = None, **other: Any) -> dict[str, Any]:
        """The picture up to step `at`, else to where one stands; `other` replace `options`."""
        now = self.rows_so_far(at)
        drawing = drawing_so_far(now, self.rows, **{"low": self._low, **self.options, **other})
        # The bar above the picture says the verdict; and title and question: `low` is never None.
        drawing["data"] = [trace for trace in drawing["data"] if trace["name"] != "verdict"]
        return drawing

    def drawing_of_all(self, **other: Any) -> dict[str, Any]:
        """The whole run, as high as it likes; `other` as for `drawing`."""
        return drawing_so_far(self.rows, self.rows, **self.options | other)

    @property
    def followed(self) -> str:
        return followed_partition(self.options.get("partition"), self.rows)

    def legend(self) -> dict[str, Any]:
        """What the signs in the pictures of this run mean."""
        return legend_so_far(self.rows, **self.options)


def _frames_shown(tree: Tree) -> tuple[object, object]:
    """The steps of the branch where one is, and of its parent."""
    here = tree.here
    parent = None if here.parent is None else tree.branch(here.parent).playback.frames
    return here.playback.frames, parent


# --- steps in a page ------------------------------------------------------------------------------


class Pool:
    """Steps are nearly the same: each item of a list is sent once, and lists are places in it."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self._places: dict[str, int] = {}

    def packed(self, value: Any) -> Any:
        """`value` with the items of its lists replaced by their places."""
        if isinstance(value, dict):
            return {key: self.packed(each) for key, each in value.items()}
        is_list = isinstance(value, list | tuple)
        return [self._place(item) for item in value] if is_list else value

    def _place(self, item: Any) -> int:
        item = self.packed(item)
        key = json.dumps(item)
        if key not in self._places:
            self._places[key] = len(self.items)
            self.items.append(item)
        return self._places[key]


class Reel(Element):
    """Asks `sheet` for what is shown at a step, and calls `go` with the step to which a page went.

    `moves` says which parts go where: their ids, and "first", "back", "step", "last" or "to" for
    the value that is set. Invisible.
    """

    kind = "reel"
    heeds = ("at",)
    at: int = 0
    last: int = 0
    stops: tuple[int, ...] = ()
    moves: dict[str, str]
    edition: int = 0
    sheets: dict[str, Any]

    def __init__(
        self, sheet: Callable[[int], StepSheet], go: Callable[[int], None], moves: dict[str, str]
    ) -> None:
        self._sheet, self._go = sheet, go
        self._about: tuple[object, ...] = ()
        self._since = 0
        super().__init__(moves=moves, sheets={})

    def show(self, at: int, last: int, stops: tuple[int, ...], about: tuple[object, ...]) -> None:
        """Stand on step `at`. `about` is the look and the run: another has other pictures."""
        if about != self._about:
            self.edition += 1
            if about[1:] != self._about[1:]:
                self._since = self.edition
            self._about = about
            self.sheets = {}
        self.at, self.last, self.stops = at, last, stops

    def described(self, names: tuple[str, ...] | None = None) -> dict[str, Any]:
        """Who begins anew asks anew: all traits are told without the sheets that were sent last."""
        told = super().described(names)
        return told if names else {**told, "sheets": {}}

    def receive(self, name: str, value: Any) -> None:
        """A page has gone to a step, or wants some; `value` begins with the edition it knows."""
        edition, *steps = map(int, value)
        if name == "at" and edition >= self._since:
            self._go(steps[0])
        elif name == "sheets" and edition == self.edition:
            pool = Pool()
            packed: dict[str, dict[str, dict[str, Any]]] = {}
            for step in (step for step in steps if step <= self.last):
                shown = packed.setdefault(str(step), {})
                for part, trait, its in self._sheet(step):
                    shown.setdefault(part.id, {})[trait] = pool.packed(its)
            # Steps that are asked for once more are sent once more.
            self.sheets = {}
            self.sheets = {"edition": edition, "steps": packed, "items": pool.items}
