"""Why a broker is down, at every moment at which it is."""

from collections.abc import Iterator, Sequence

from ..engine.events import Event
from ..engine.history import Recorded
from ..engine.moves import Crash
from ..protocol.facts import Destroyed, LifecycleChanged
from ..protocol.replica.broker_state import Loss
from .snapshots import Snapshot
from .wording import offsets

Downs = dict[tuple[int, int], tuple[str, str]]
"""(broker, x) -> (value, text) of the track "down"."""


def downs(shots: Sequence[Snapshot]) -> Downs:
    """The reason stays until the broker runs again; nobody asks for it after that."""
    found: Downs = {}
    reasons: dict[int, tuple[str, str]] = {}
    for shot in shots:
        for step in shot.steps:
            reasons.update(_reasons(step))
        found.update({(id, shot.x): reason for id, reason in reasons.items()})
    return found


def _reasons(step: Recorded) -> Iterator[tuple[int, tuple[str, str]]]:
    if isinstance(step.move, Crash):
        yield step.move.broker, _crashed(step.move, step.events)
        return
    for event in step.events:
        if isinstance(event, LifecycleChanged) and event.state == "STOPPED":
            yield event.node, ("stopped", "shut down, log kept")


def _crashed(move: Crash, events: Sequence[Event]) -> tuple[str, str]:
    gone = [e for e in events if isinstance(e, Destroyed)]
    if move.loss is Loss.DISK:
        return "disk replaced", "disk replaced: log empty"
    if move.loss is Loss.UNFLUSHED and gone:
        return "tail lost", f"{offsets(gone[0].first, gone[0].last)} gone"
    return "crashed", "crashed, log kept"
