"""What the picture shows: the partition followed, kinds of messages, a range, what is folded."""

from collections.abc import Callable
from typing import Any

from ...plays.stage import Stage
from ...rows.columns import Rows, api_name
from ...rows.view import kinds_in
from ..elements.kinds import Slider, ToggleButton
from ..elements.labelled import button, checkbox, column, dropdown, row, watch, words
from ..markup import muted
from ..view_model import ViewModel
from .actions import LabLike

_METRICS = "Metrics an operator would see"
_MARGIN = "2px 18px 2px 2px"
_FOLD = "Fold quiet steps where there is no room for every step"


class MessageSwitch:
    """`box` has a toggle where the picture marks messages where they arrive: it shows arrows."""

    def __init__(self, view: ViewModel, change: Callable[[dict[str, Any]], None]) -> None:
        self._view, self.box = view, row(())
        self.toggle = ToggleButton(tooltip="Metadata is marked where it arrives: show every arrow")
        watch(self.toggle, "value", lambda shown: change({"every_message": shown}))

    def show(self) -> None:
        """Follow the Lab."""
        count, shown = self._view.count_of_marked(), self._view.options.get("every_message", False)
        self.toggle.description = f"{count} messages: {'hide' if shown else 'show'}"
        self.toggle.value = shown
        self.box.children = (self.toggle,) if count else ()


class ViewControls:
    """Calls `change` with the options of `drawing_so_far` that somebody chose: `partition`,
    `kinds`, `between` and `fold`, each None as long as it is left alone, and `metrics`.
    """

    def __init__(
        self,
        lab: LabLike,
        change: Callable[[dict[str, Any]], None],
        rows_of: Callable[[Stage], Rows],
    ) -> None:
        self._lab, self._change, self._rows_of = lab, change, rows_of
        self._showing = False
        self._frames: object = None
        self.partition = dropdown("Partition followed", ())
        self.fold = checkbox(_FOLD, value=True, margin=_MARGIN)
        self.metrics = checkbox(_METRICS, margin=_MARGIN)
        self.kinds: dict[str, Any] = {}
        self._kinds = row([], flex_flow="row wrap")
        self.first = Slider(description="first step")
        self.last = Slider(description="last step", value=1)
        self.everything = button("Show everything", self.reset, "Every step and every message")
        for control in (self.partition, self.fold, self.metrics):
            watch(control, "value", self._chosen)
        watch(
            self.first, "value", lambda first: self._moved(first, max(first + 1, self.last.value))
        )
        watch(self.last, "value", lambda last: self._moved(min(last - 1, self.first.value), last))
        self.everything.layout.align_self = "flex-start"
        range_ = column([self.first, self.last], width="100%")
        ticks = row([self.fold, self.metrics], flex_flow="row wrap")
        self.box = column([self.partition, self._kinds, ticks, range_, self.everything])

    @property
    def options(self) -> dict[str, Any]:
        ticked = tuple(kind for kind, box in self.kinds.items() if box.value)
        all_steps = (self.first.value, self.last.value) == (0, self.last.max)
        return {
            "partition": self.partition.value if len(self.partition.options) > 1 else None,
            "kinds": None if len(ticked) == len(self.kinds) else ticked,
            "between": None if all_steps else (self.first.value, self.last.value),
            "fold": None if self.fold.value else False,
            "metrics": self.metrics.value,
        }

    def show(self) -> None:
        """Follow the Lab: another run may have more steps and other kinds of messages."""
        playback = self._lab.playback
        if playback.frames is self._frames:
            return
        self._frames, self._showing = playback.frames, True
        rows = self._rows_of(playback.whole)
        self._offer_partitions(rows.meta.partitions, rows.busiest)
        self._offer_kinds(kinds_in(rows))
        to_the_end = self.last.value == self.last.max
        self.first.max = self.last.max = max(playback.last, 1)
        if to_the_end:
            self.last.value = self.last.max
        self._showing = False

    def reset(self) -> None:
        """All steps, all messages, folded where there is no room."""
        self._showing = True
        for box in (*self.kinds.values(), self.fold):
            box.value = True
        self.first.value, self.last.value = 0, self.last.max
        self._showing = False
        self._chosen()

    def _offer_partitions(self, names: tuple[str, ...], busiest: str) -> None:
        if names != self.partition.options:
            self.partition.options = names
            self.partition.value = busiest or None
        self.partition.layout.display = "" if len(names) > 1 else "none"

    def _offer_kinds(self, kinds: tuple[str, ...]) -> None:
        """A box per kind that has arrows in this run; those that were there stay as they are."""
        for kind in [kind for kind in kinds if kind not in self.kinds]:
            box = checkbox(f"{api_name(kind)} messages", value=True, margin=_MARGIN)
            watch(box, "value", self._chosen)
            self.kinds[kind] = box
        heading = "Arrows for" if kinds else "No message in this run takes a step or is refused."
        self._kinds.children = (words(muted(heading)), *(self.kinds[kind] for kind in kinds))

    def _moved(self, first: int, last: int) -> None:
        """The one that is moved pushes the other along, as far as it goes."""
        showing, self._showing = self._showing, True
        self.first.value, self.last.value = min(first, self.last.max - 1), max(last, 1)
        self._showing = showing
        self._chosen()

    def _chosen(self, _value: object = None) -> None:
        if not self._showing:
            self._change(self.options)
