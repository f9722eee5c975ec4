"""The rules as controls: a release, a switch for each of some KIPs, a list of single guards.

They are those of one mode: who keeps the metadata is for the play to say.
"""

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from msgspec.structs import replace

from ...protocol import features as feature_sets
from ...protocol.features import Features
from ...protocol.guards import ELR, GUARDS, SPECIFIED, Guard, GuardKind, named, releases_in
from ...protocol.ids import CONTROLLER
from ...protocol.releases import Mode, of_mode
from ..elements.kinds import Checkbox, Element, ToggleButton
from ..elements.labelled import button, checkbox, column, dropdown, row, watch, words
from ..markup import heading, muted


class Rulebook:
    """Calls `change` with the features that somebody chose."""

    def __init__(self, own: Features, change: Callable[[Features], None]) -> None:
        self._features, self._own = own, own
        self._change = change
        # A box that was ticked for rules that could not be shown is put back.
        self._showing = self._is_shown = False
        self.release = dropdown("Rules of", _releases(own.mode))
        self.release.value = own.release
        watch(self.release, "value", lambda release: self._choose(at_release, release))
        self.own = button("As in the play", lambda: change(self._own), "Back to the play's rules")
        self.box = row(())
        self.list = column((), max_height="320px", overflow="auto")
        self._fit(own)

    def _fit(self, features: Features) -> None:
        """Be the rules that such features have: made anew where others are to be switched."""
        mode, self._fits = features.mode, _switchable(features)
        self.release.options = tuple(_releases(mode))
        self.release.tooltip = _WHAT_RUNS[mode]
        kips, guards = self._fits
        self.kips: dict[str, Checkbox] = {}
        for kip in kips:
            said = switch_words(kip, mode)
            never = "\nNever built: no release of Kafka does this." * (kip == AS_SPECIFIED)
            clauses = (f"\n{i}: {g.clause}" for i, g in guards_of(mode).items() if i in named(kip))
            tooltip, short = f"{said}{never}{''.join(clauses)}", said.partition(" (")[0]
            chip = ToggleButton(description=short, tooltip=tooltip, classes=("kiplab-rule",))
            self.kips[kip] = self._switch(kip, chip)
        self.guards: dict[str, Checkbox] = {}
        for id in guards:
            guard = GUARDS[id]
            label = f"{id} ({guard.kind}, {releases_in(mode, guard)})"
            box = checkbox(label, tooltip=hint_of(guard), margin="2px 2px 2px 10px")
            self.guards[id] = self._switch(id, box)
        self.box.children = (self.release, *self.kips.values(), self.own)
        self.list.children = tuple(_in_groups(self.guards))

    def show(self, features: Features, own: Features) -> None:
        if self._is_shown and (features, own) == (self._features, self._own):
            return
        self._features, self._own, self._showing = features, own, True
        if _switchable(features) != self._fits:
            self._fit(features)
        self.release.value = features.release
        for name, box in (*self.kips.items(), *self.guards.items()):
            box.value = is_on(features, name)
        self.own.disabled = features == own
        self._showing, self._is_shown = False, True

    def _switch(self, name: str, part: Checkbox) -> Checkbox:
        watch(part, "value", lambda on: self._choose(turned, name, on))
        return part

    def _choose(self, rules: Callable[..., Features], *chosen: Any) -> None:
        if not self._showing:
            self._is_shown = False
            self._change(rules(self._features, *chosen))


_WHAT_RUNS = {
    Mode.KRAFT: "What code every node runs; what you switched by hand stays. From 4.0 on eligible"
    " leader replicas (KIP-966) have a switch.",
    Mode.ZOOKEEPER: "What code every broker runs, at its own inter-broker protocol; what you"
    " switched by hand stays where it fits.",
}


def _releases(mode: Mode) -> list[tuple[str, str]]:
    return [(f"Kafka {release}", release) for release in of_mode(mode)]


def _in_groups(boxes: dict[str, Checkbox]) -> Iterator[Element]:
    """Under a heading per KIP or issue: each switch, and its clause beside it.

    Groups in the order in which the table first names them, guards in Kafka's order.
    """
    groups: dict[str, list[str]] = {}
    for id in GUARDS:
        groups.setdefault(id.split(".")[0], []).append(id)
    subject = ""
    for id in filter(boxes.__contains__, chain.from_iterable(groups.values())):
        if GUARDS[id].subject != subject:
            subject = GUARDS[id].subject
            yield words(heading(subject))
        boxes[id].layout.flex = "0 0 47%"
        clause = words(muted(hint_of(GUARDS[id])), flex="1 1 auto")
        yield row([boxes[id], clause], flex="0 0 auto")


AS_SPECIFIED = f"704.{SPECIFIED}"
"""What KIP-704 wants, and no release does."""
SWITCHES = {Mode.KRAFT: ("841", "903", AS_SPECIFIED), Mode.ZOOKEEPER: ("380",)}
"""The KIPs with a switch of their own, in each mode."""
ELIGIBLE = f"966.{ELR}"
"""The switch of eligible leader replicas: the level of the feature, and no guard by hand."""


def _switchable(features: Features) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The KIPs and the single guards with a switch: those of a feature only where it is there."""
    elr = (ELIGIBLE,) if _with_elr(features, 1).has_elr else ()
    guards = guards_of(features.mode).items()
    there = (id for id, g in guards if g.kind is not GuardKind.FEATURE or features.has_elr)
    return (*SWITCHES[features.mode], *elr), tuple(there)


def _with_elr(features: Features, level: int) -> Features:
    """With the feature at this level, or as they are where it does not fit."""
    try:
        return feature_sets.with_elr(features, level)
    except feature_sets.UnknownFeatureError:
        return features


def is_on(features: Features, name: str) -> bool:
    """Whether a guard acts, or a KIP's refusals; guards of another mode do not count."""
    if name == ELIGIBLE:
        return features.has_elr
    active = features.active(CONTROLLER)
    ids = [id for id in named(name) if features.mode in GUARDS[id].modes]
    refusals = [id for id in ids if GUARDS[id].kind is GuardKind.REFUSAL]
    return all(id in active for id in refusals or ids)


def guards_of(mode: Mode) -> dict[str, Guard]:
    return {id: guard for id, guard in GUARDS.items() if mode in guard.modes}


def turned(features: Features, name: str, on: bool) -> Features:
    """`features` with a guard or a KIP on or off; what the release does by itself needs no word."""
    if name == ELIGIBLE:
        return feature_sets.with_elr(features, int(on))
    ids = named(name)
    rest = tuple((id, value) for id, value in features.overrides if id not in ids)
    natural = replace(features, overrides=rest)
    return natural if is_on(natural, name) is on else feature_sets.switched(natural, name, on)


def at_release(features: Features, release: str) -> Features:
    """Every node on `release` at its own metadata version; switches stay where they fit it."""
    bare = feature_sets.parse_features(release)
    kept = tuple(override for override in features.overrides if _fits(bare, override))
    return replace(_with_elr(bare, int(features.has_elr)), overrides=kept)


def _fits(bare: Features, override: tuple[str, bool]) -> bool:
    try:
        feature_sets.fitting(feature_sets.check_features(replace(bare, overrides=(override,))))
    except feature_sets.UnknownFeatureError:
        return False
    return True


def left_behind(before: Features, after: Features) -> str:
    """A sentence about switches that do not fit the release that came; empty for none."""
    bare = feature_sets.parse_features(after.release)
    lost = [id for id, on in before.overrides if not _fits(bare, (id, on))]
    if before.release == after.release or not lost:
        return ""
    verb, pronoun = ("does", "is") if len(lost) == 1 else ("do", "are")
    who = f"{', '.join(lost)}, switched by hand, {verb} not fit Kafka {after.release}"
    return f"{who}, and {pronoun} left out."


def switch_words(name: str, mode: Mode) -> str:
    """``"KIP-841 (Kafka 3.3 and later)"``: since when a mode has a KIP; ``"... as specified"``."""
    if name == AS_SPECIFIED:
        return "KIP-704 as specified"
    if name == ELIGIBLE:
        return "KIP-966 (eligible leader replicas, Kafka 4.0 and later)"
    refusal = next(g for id, g in guards_of(mode).items() if id in named(name) and g.error)
    first = next(release for release in of_mode(mode) if release in refusal.releases)
    return f"KIP-{name} (Kafka {first} and later)"


def hint_of(guard: Guard) -> str:
    """A guard's clause, its error, and what switching it on brings along."""
    error = f" Refuses with {guard.error.name}." if guard.error else ""
    needs = f" Needs {guard.requires}: switched on here, that comes with it."
    return f"{guard.clause}{error}{needs if guard.requires else ''}"
