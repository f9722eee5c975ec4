"""The rules as controls: a release, a switch for each of three KIPs, a list of single guards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...protocol.features import Features
from ...protocol.guards import GUARDS, Guard, releases_of
from ..elements.labelled import button, checkbox, column, dropdown, row, watch, words
from ..markup import heading, muted
from .rule_switches import (
    EVERY_RELEASE,
    SWITCHES,
    at_release,
    clauses_of,
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
        self.release = dropdown("Rules of", [(f"Kafka {r}", r) for r in EVERY_RELEASE])
        self.release.value = own.release
        self.release.tooltip = (
            "What code every node runs; what you switched by hand stays. From 4.0 on eligible"
            " leader replicas are off."
        )
        watch(self.release, "value", self._released)
        self.kips = {kip: self._kip_box(kip) for kip in SWITCHES}
        self.own = button(
            "Rules as in the play", lambda: change(self._own), "Back to the play's own"
        )
        self.own.layout.margin = "2px 2px 2px auto"
        self.box = row([self.release, *self.kips.values(), self.own])
        self.guards = {id: self._guard_box(guard) for id, guard in GUARDS.items()}
        self.list = column(_in_groups(self.guards), max_height="320px", overflow="auto")

    def show(self, features: Features, own: Features) -> None:
        """Follow the features; nothing is called back."""
        self._features, self._own, self._showing = features, own, True
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
        box = self._box(kip, switch_words(kip))
        box.tooltip = clauses_of(kip)
        return box

    def _guard_box(self, guard: Guard) -> Any:
        words = f"{guard.id} ({guard.kind}, {releases_of(guard)})"
        box = self._box(guard.id, words)
        box.tooltip = hint_of(guard)
        return box

    def _switched(self, name: str, on: bool) -> None:
        if not self._showing:
            self._change(turned(self._features, name, on))

    def _released(self, release: str) -> None:
        if not self._showing:
            self._change(at_release(self._features, release))


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
