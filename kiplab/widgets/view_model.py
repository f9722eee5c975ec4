"""What a Lab shows of its history: rows and drawings, worked out again only where lines change."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..figures.timeline.sheet import followed_partition
from ..figures.timeline.under_way import drawing_so_far, legend_so_far, low_enough, stops_in
from ..plays.stage import Stage
from ..rows.columns import MomentRow, Rows
from ..rows.message_paths import marked_messages
from ..rows.rows_of_stage import rows_of, rows_until
from ..runs import Run
from .controls.transport import divergence
from .history_tree.branch_tree import Tree
from .history_tree.playback import as_played

STAGES_KEPT = 6


class ViewModel:
    """`tree` is the history, `rows` the branch where one is, `options` those of the picture,
    `high` the pixels that there are for it, once known.

    `stops` are the steps at which Step, Back and Play stop, as the axis has them. `diverges` is
    what `transport.divergence` says of that branch.
    """

    def __init__(self, tree: Tree, **options: Any) -> None:
        self.tree, self.options = tree, options
        self.high: int | None = None
        self._unchanging = tuple(options)
        self._kept_rows: tuple[tuple[Stage, Rows], ...] = ()
        self._derive()

    def _derive(self) -> None:
        self.rows = self.rows_of(self.tree.here.playback.whole)
        self.diverges = divergence(self.tree, self.rows_of)
        self._so_far = self.rows, self.tree.here.playback.whole, self.rows
        self._low: float | None = None
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
        """What the axis says of a step."""
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
        self.stops = stops_in(self.rows, **self.options)
        if self.high is not None:
            self._low = low_enough(self.rows, self.high, **self.options)

    def take(self, tree: Tree) -> None:
        """Show another history, or another step of this one."""
        before, self.tree = self.tree, tree
        if tree.trunk.playback.own is not before.trunk.playback.own:
            # Another play has other partitions and other steps to look at.
            self.options = {key: self.options[key] for key in self._unchanging}
        frames_before, frames = _frames_shown(before), _frames_shown(tree)
        if any(now is not then for now, then in zip(frames, frames_before, strict=True)):
            self._derive()

    @contextmanager
    def kept(self) -> Iterator[None]:
        """What cannot be shown has not happened: if the body fails, all is as it was."""
        before = dict(vars(self))
        try:
            yield
        except BaseException:
            vars(self).update(before)
            raise

    def rows_so_far(self) -> Rows:
        here, (whole, stage, rows) = self.tree.here.playback.here, self._so_far
        if whole is not self.rows or stage is not here:
            rows = rows_until(self.rows, here)
            self._so_far = self.rows, here, rows
        return rows

    def drawing(self, **other: Any) -> dict[str, Any]:
        """What has happened up to where one stands, on the sheet of the whole run.

        `other` are options in place of those in `options`.
        """
        now = self.rows_so_far()
        drawing = drawing_so_far(now, self.rows, **{"low": self._low, **self.options, **other})
        # The bar above the picture has the verdict.
        drawing["data"] = [trace for trace in drawing["data"] if trace["name"] != "verdict"]
        return drawing

    def drawing_of_all(self, **other: Any) -> dict[str, Any]:
        """The whole run, as high as it likes; `other` as for `drawing`."""
        return drawing_so_far(self.rows, self.rows, **self.options | other)

    def count_of_marked(self) -> int:
        """How many messages of the run the picture marks where they arrive, if nobody asks."""
        partition = followed_partition(self.options.get("partition"), self.rows)
        return len(marked_messages(self.rows, partition))

    def legend(self) -> dict[str, Any]:
        """What the signs in the pictures of this run mean."""
        return legend_so_far(self.rows, **self.options)


def _frames_shown(tree: Tree) -> tuple[object, object]:
    """The steps of the branch where one is, and of its parent."""
    here = tree.here
    parent = None if here.parent is None else tree.branch(here.parent).playback.frames
    return here.playback.frames, parent
