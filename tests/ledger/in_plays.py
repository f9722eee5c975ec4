"""Entries of the ledger that are seen in plays and rows: rules at work, expectations, properties.

A rule is seen at work: the play that the entry names changes without it, and if it refuses,
it is among the refused. A line of a play stands in it and holds. A property breaks or holds where
the entry says so. Each check yields sentences; no sentence means that the entry holds.
"""

from collections.abc import Iterator
from functools import cache
from typing import ClassVar

import msgspec
from msgspec.structs import replace

from kiplab.engine import events, properties
from kiplab.plays import library, runner, values
from kiplab.plays.stage import Stage
from kiplab.protocol import facts, features, guards, ids
from tests.fidelity.held_vectors import ids_of
from tests.protocol.looked_at import Vector, all_vectors, without

Wrong = Iterator[str]


@cache
def staged(play: str, at: str) -> Stage:
    """The play under a feature set, ``""`` for its own. Raises PlayError if there is none."""
    return runner.run_play(library.load(play), values.feature_set(at) if at else None)


class Shown(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An entry. What its fields are called says which kind it is."""

    kind: ClassVar[str]
    """In the words of the page's table of counts."""

    def wrong(self) -> Wrong:
        """What to mend. Raises PlayError for a feature set that there is none of."""
        raise NotImplementedError


class RuleAtWork(Shown, frozen=True):
    """A guard, and a play that changes when it is switched off."""

    kind = "a rule at work"
    guard: str
    play: str
    at: str = ""

    def wrong(self) -> Wrong:
        guard, where = guards.GUARDS.get(self.guard), f"{self.play} {self.at}".strip()
        if guard is None:
            yield f"there is no guard {self.guard}"
            return
        if self.play not in library.names():
            yield f"there is no play {self.play}"
            return
        stage = staged(self.play, self.at)
        nodes = (ids.CONTROLLER, *(node for node, _ in stage.features.nodes))
        if not any(self.guard in stage.features.active(node) for node in nodes):
            yield f"{self.guard} is not on in {where}"
            return
        off = runner.run_play(stage.play, features.switched(stage.features, self.guard, False))
        refused = {event.guard for event in stage.events if isinstance(event, facts.Refused)}
        if _happened(off) == _happened(stage):
            yield f"{where} goes the same way without {self.guard}: name a play that needs it"
        elif guard.error is not None and self.guard not in refused:
            yield f"{self.guard} refuses nothing in {where}"


def _happened(stage: Stage) -> list[events.Event]:
    """The events, whatever is promised of them: that hangs on the guards themselves."""
    return [
        replace(event, promised=False) if isinstance(event, events.PropertyBroken) else event
        for event in stage.events
    ]


class RuleInTest(Shown, frozen=True):
    """A guard, and a row of tests/protocol that fails when it is switched off: the id of one of
    Kafka's own test cases, the first word of the row's name, or its test.
    """

    kind = "a rule at work"
    guard: str
    row: str

    def wrong(self) -> Wrong:
        if self.guard not in guards.GUARDS:
            yield f"there is no guard {self.guard}"
            return
        rows = [vector for vector in _vectors() if self.row in names_of(vector)]
        if not rows:
            yield f"there is no row {self.row} in tests/protocol/test_vectors_*.py"
        elif all(row.passes(without(self.guard)) for row in rows):
            yield f"{self.row} passes without {self.guard}: name a row that needs it"


_vectors = cache(all_vectors)


def names_of(vector: Vector) -> set[str]:
    """What a row of tests/protocol is called: by its test, by its name, by Kafka's tests' ids."""
    return {vector.test.__name__, vector.row.partition(" ")[0], *ids_of(vector)}


class Played(Shown, frozen=True):
    """A play, and a line of it that begins with `expect`, which holds."""

    kind = "a play"
    play: str
    expect: str

    def wrong(self) -> Wrong:
        if self.play not in library.names():
            yield f"there is no play {self.play}"
            return
        first = self.expect.split()[0]
        stage = staged(self.play, first if first.startswith("@") else "")
        line = " ".join(f"expect {self.expect}".split())
        statuses = [e.status for e in stage.expectations if e.text == line]
        if not statuses:
            yield f"{self.play} has no line `{line}`"
        elif "held" not in statuses:
            yield f"`{line}` of {self.play} {statuses[0]}"


class PropertyInPlay(Shown, frozen=True):
    """A property, and a play in which it breaks, or holds, or each under other features."""

    kind = "a property"
    property: str
    play: str
    breaks: str | None = None
    holds: str | None = None

    def wrong(self) -> Wrong:
        if self.property not in properties.PROPERTIES:
            there_are = ", ".join(properties.PROPERTIES)
            yield f"there is no property {self.property}; they are {there_are}"
            return
        if self.play not in library.names():
            yield f"there is no play {self.play}"
            return
        if self.breaks is None and self.holds is None:
            yield f"say where {self.property} `breaks`, or `holds`, in {self.play}"
        for at, breaks in ((self.breaks, True), (self.holds, False)):
            if at is None:
                continue
            broken = {id for id, _ in staged(self.play, at).cluster.broken}
            if (self.property in broken) is not breaks:
                does = "holds" if breaks else "breaks"
                yield f"{self.property} {does} in {self.play} {at}".rstrip()
