"""The rules as controls: a release, a switch for each of some KIPs, a list of single guards.

They are those of one mode: who keeps the metadata is for the play to say.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...protocol.features import Features
from ...protocol.guards import GUARDS, Guard, releases_in
from ...protocol.releases import Mode, of_mode
from ..elements.labelled import button, checkbox, column, dropdown, row, watch, words
from ..markup import heading, muted
from .rule_switches import (
    SWITCHES,
    at_release,
    clauses_of,
    guards_of,
    hint_of,
    is_on,
    switch_words,
    turned,
)


class Rulebook:
    """Calls `change` with the features that somebody chose."""

    def __init__(self, own: Features, change: Callable[[Features], None]) -> None:
        self._features, self._own = own, own
        self._change = change
        self._showing = False
        self.release = dropdown("Rules of", _releases(own.mode))
        self.release.value = own.release
        watch(self.release, "value", self._released)
        self.own = button(
            "Rules as in the play", lambda: change(self._own), "Back to the play's own"
        )
        self.own.layout.margin = "2px 2px 2px auto"
        self.box = row(())
        self.list = column((), max_height="320px", overflow="auto")
        self._fit(own.mode)

    def _fit(self, mode: Mode) -> None:
        """Be the rules of a mode: made anew when a play of another one is loaded."""
        self._mode = mode
        self.release.options = tuple(_releases(mode))
        self.release.tooltip = _WHAT_RUNS[mode]
        self.kips = {kip: self._kip_box(kip) for kip in SWITCHES[mode]}
        self.guards = {id: self._guard_box(guard) for id, guard in guards_of(mode).items()}
        self.box.children = (self.release, *self.kips.values(), self.own)
        self.list.children = tuple(_in_groups(self.guards))

    def show(self, features: Features, own: Features) -> None:
        """Follow the features; nothing is called back."""
        self._features, self._own, self._showing = features, own, True
        if features.mode is not self._mode:
            self._fit(features.mode)
        self.release.value = features.release
        for name, box in (*self.kips.items(), *self.guards.items()):
            box.value = is_on(features, name)
        self.own.disabled = features == own
        self._showing = False

    def _box(self, name: str, words: str) -> Any:
        box = checkbox(words, margin="2px 2px 2px 10px")
        watch(box, "value", lambda on: self._switched(name, on))
        return box

    def _kip_box(self, kip: str) -> Any:
        box = self._box(kip, switch_words(kip, self._mode))
        box.tooltip = clauses_of(kip, self._mode)
        return box

    def _guard_box(self, guard: Guard) -> Any:
        words = f"{guard.id} ({guard.kind}, {releases_in(self._mode, guard)})"
        box = self._box(guard.id, words)
        box.tooltip = hint_of(guard)
        return box

    def _switched(self, name: str, on: bool) -> None:
        if not self._showing:
            self._change(turned(self._features, name, on))

    def _released(self, release: str) -> None:
        if not self._showing:
            self._change(at_release(self._features, release))


_WHAT_RUNS = {
    Mode.KRAFT: "What code every node runs; what you switched by hand stays. From 4.0 on eligible"
    " leader replicas are off.",
    Mode.ZOOKEEPER: "What code every broker runs, at its own inter-broker protocol; what you"
    " switched by hand stays where it fits.",
}


def _releases(mode: Mode) -> list[tuple[str, str]]:
    return [(f"Kafka {release}", release) for release in of_mode(mode)]


def _in_groups(boxes: dict[str, Any]) -> list[Any]:
    """Under a heading per KIP or issue: each switch, and its clause beside it."""
    made: list[Any] = []
    subject = ""
    for id, box in sorted(boxes.items(), key=lambda item: _place(item[0])):
        if GUARDS[id].subject != subject:
            subject = GUARDS[id].subject
            made.append(words(heading(subject)))
        box.layout.flex = "0 0 47%"
        clause = words(muted(hint_of(GUARDS[id])), flex="1 1 auto")
        made.append(row([box, clause], flex="0 0 auto"))
    return made


def _place(id: str) -> tuple[int, int]:
    """Groups in the order in which the table first names them, guards in Kafka's order."""
    ids = list(GUARDS)
    group = next(n for n, other in enumerate(ids) if other.split(".")[0] == id.split(".")[0])
    return group, ids.index(id)
