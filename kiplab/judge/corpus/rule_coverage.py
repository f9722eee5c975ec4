"""What conversations have tried of the controller: guards, errors, records and transitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec
from msgspec.structs import replace

from ...engine import moves
from ...engine.cluster import Cluster
from ...engine.events import Dropped, Event
from ...engine.step import Step, step
from ...protocol.errors import KafkaError
from ...protocol.facts import RecordWritten, Refused
from ...protocol.features import switched
from ...protocol.guards import GUARDS, GuardKind
from ...protocol.ids import CONTROLLER
from .controller_rules import ControllerRule, Family, guards_asked_for
from .controller_transitions import transitions

ENOUGH = 20
"""Hits that a rule needs before it counts as tried."""


_SILENT = tuple(id for id in guards_asked_for() if GUARDS[id].kind is GuardKind.RULE)
"""Guards that refuse nothing: that one acted is seen only by what happens without it."""


class RuleCoverage:
    """Hits of each rule. Of a guard that refuses nothing only the first `ENOUGH` are looked for:
    each takes a second engine without it, which comes to something else.
    """

    def __init__(self) -> None:
        self.hits: Counter[ControllerRule] = Counter()

    def see(self, before: Cluster, move: moves.Move, done: Step) -> None:
        """One move of the engine: the cluster before it, and what it came to."""
        for rule in _rules(before, move, done):
            self.hits[rule] += 1
        if isinstance(move, moves.Deliver | moves.ExpireSession):
            self._see_silent_guards(before, move, done.events)

    def _see_silent_guards(
        self, before: Cluster, move: moves.Move, events: tuple[Event, ...]
    ) -> None:
        active = before.features.active(CONTROLLER)
        for guard in _SILENT:
            rule = ControllerRule(Family.GUARD, guard)
            wanted = guard in active and self.hits[rule] < ENOUGH
            if wanted and _decides(guard, before, move, events):
                self.hits[rule] += 1


def _decides(guard: str, before: Cluster, move: moves.Move, events: tuple[Event, ...]) -> bool:
    """Whether something else is answered or written when the guard is off."""
    without = replace(before, features=switched(before.features, guard, False))
    return _visible(step(without, move).events) != _visible(events)


def _visible(events: Iterable[Event]) -> list[Event]:
    return [event for event in events if isinstance(event, Dropped | RecordWritten)]


def _rules(before: Cluster, move: moves.Move, done: Step) -> Iterator[ControllerRule]:
    for event in done.events:
        if isinstance(event, Refused) and event.guard is not None:
            yield ControllerRule(Family.GUARD, event.guard)
        elif isinstance(event, RecordWritten):
            yield ControllerRule(Family.RECORD, event.record)
        elif isinstance(event, Dropped):
            yield from (ControllerRule(Family.ERROR, error.name) for error in errors_in(event.body))
    for transition in transitions(before, move, done):
        yield ControllerRule(Family.TRANSITION, transition)


def errors_in(value: object) -> Iterator[KafkaError]:
    """Every error inside an answer."""
    if isinstance(value, KafkaError):
        yield value
    elif isinstance(value, msgspec.Struct):
        yield from (error for part in msgspec.structs.astuple(value) for error in errors_in(part))
    elif isinstance(value, tuple):
        yield from (error for part in value for error in errors_in(part))
