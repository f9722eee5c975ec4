"""What the picture shows: the partition followed, kinds of messages, a range, what is folded; and
below it the run before a switch of its rules, pale, where it was another.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from html import escape
from typing import Any

import msgspec

from ...plays.stage import Stage
from ...rows.columns import Rows, api_name
from ...rows.difference import NOTHING, differences, first_difference
from ...rows.message_paths import marked_messages
from ...rows.run_titles import titles
from ...rows.view import kinds_in
from ..elements.kinds import Container, PlotlyPicture, Slider, Style, ToggleButton
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
        shown = self._view.options.get("every_message", False)
        count = len(marked_messages(self._view.rows, self._view.followed))
        self.toggle.description = f"{count} messages: {'hide' if shown else 'show'}"
        self.toggle.value = shown
        self.box.children = (self.toggle,) if count else ()


class ViewControls:
    """Calls `change` with the options of `drawing_so_far` that somebody chose: `partition`,
    `kinds`, `between` and `fold`, each None as long as it is left alone, and `metrics`.
    """

    def __init__(
        self, lab: LabLike, change: Callable[..., None], rows_of: Callable[[Stage], Rows]
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
        low, high = self.first, self.last
        watch(low, "value", lambda first: self._moved(first, max(first + 1, high.value)))
        watch(high, "value", lambda last: self._moved(min(last - 1, low.value), last))
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
        names = rows.meta.partitions
        if names != self.partition.options:
            self.partition.options = names
            self.partition.value = rows.busiest or None
        self.partition.layout.display = "" if len(names) > 1 else "none"
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


# --- the run before a switch ----------------------------------------------------------------------

ROWS_MAX, BELOW_NUMBERS = 4, 20
"""How many rows are told, and pixels from the upper edge of the axis to them."""
_TELLING = ("committed records", "answer", "ISR", "role", "leader")
"""What is told of all that differs, the most telling first."""


class Ghost:
    """The run before its rules were switched, until another line is done: below the axis of
    `picture`, pale, where it was another; ◆ marks the first difference.
    """

    def __init__(self, lab: LabLike, view: ViewModel, picture: PlotlyPicture) -> None:
        self._lab, self._view, self._picture = lab, view, picture
        self.rows = words(margin="0")
        self.hide = button("Hide", self._hide, "Hide the run before the switch")
        self.box = Container(children=(self.rows, self.hide), classes=("kiplab-ghost",))

    def _hide(self) -> None:
        self._view.hide_before()
        self._lab.seek(self._lab.playback.at)

    def show(self) -> None:
        """Follow the picture: what comes later is not told."""
        before, layout = self._view.before, self._picture.drawing["layout"]
        top = layout["meta"]["places"]["axis"][0] + BELOW_NUMBERS
        display = "none" if before is None else "block"
        self.box.layout = Style(top=f"{top}px", width=f"{layout['width']}px", display=display)
        self.rows.value = "" if before is None else "".join(self._lines(before.whole, top))

    def _lines(self, before: Stage, top: int) -> Iterator[str]:
        view, places = self._view, self._picture.drawing["layout"]["meta"]["places"]
        runs, steps, at = (view.rows, view.rows_of(before)), places["steps"], self._lab.playback.at
        last = min(at, (view.options.get("between") or (0, at))[1])
        first = first_difference(*runs)
        rules = escape(titles(runs)[1])
        if first is None:
            yield f"<p>No difference: this run was the same under {rules}.</p>"
            return
        later = ", later than here" * (first > last)
        told = f"First difference: step {first}{later}. Pale: this run under {rules}, before."
        yield f"<p>◆ {told}</p>"
        if first > last:
            return
        left, above = _ends(steps, first, last)[0], places["lanes"][0][1]
        look = f"left:{left}px;top:{above - top}px;height:{top - above}px"
        yield f'<i class="kiplab-parted" style="{look}"></i>'
        for name, stretches in _otherwise(*runs, view.followed, range(first, last + 1)).items():
            spans = ""
            for (left, right), was in ((_ends(steps, *ends), escape(w)) for *ends, w in stretches):
                look = f"left:{left}px;--wide:{right - left}px"
                spans += f'<span title="{was}" style="{look}">{was}</span>'
            yield f'<div class="kiplab-was"><b>{escape(name)}</b>{spans}</div>'


def _otherwise(
    now: Rows, before: Rows, partition: str, steps: range
) -> dict[str, list[tuple[int, int, str]]]:
    """What was otherwise before, from which step to which, by the names of rows."""
    told: dict[tuple[int, str], list[tuple[int, int, str]]] = {}
    others = tuple(name for name in now.meta.partitions if name != partition)
    for difference in (one for x in steps for one in differences(now, before, at=x)):
        x, node, field, _, was = msgspec.structs.astuple(difference)
        kind = field.partition(" of ")[0].partition(" to ")[0]
        is_of_another = node in others or field.endswith(others)
        if kind in _TELLING and was != NOTHING and not is_of_another:
            name = kind if node == partition else f"{node} {kind}"
            row = told.setdefault((_TELLING.index(kind), name), [])
            x0 = row.pop()[0] if row and row[-1][1:] == (x, was) else x
            row.append((x0, x + 1, was))
    return {key[1]: told[key] for key in sorted(told)[:ROWS_MAX]}


def _ends(steps: list[list[int]], x0: int, x1: int) -> tuple[int, int]:
    """Pixels from where step `x0` begins to where `x1` does; several steps may share a column."""
    numbers, pixels = zip(*steps, strict=True)
    wide = pixels[1] - pixels[0] if pixels[1:] else 0
    first, last = (max(bisect_right(numbers, x) - 1, 0) for x in (x0, x1 - 1))
    return pixels[first], pixels[last] + wide
