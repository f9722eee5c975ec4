"""A stage, moment by moment: what every row is read from."""

from collections.abc import Iterator
from itertools import count

import msgspec

from ..engine.cluster import Cluster
from ..engine.events import Event, NotApplicable
from ..engine.history import Recorded
from ..plays.play import Statement
from ..plays.stage import Performed, Stage, event_id


class Snapshot(msgspec.Struct, frozen=True):
    """The cluster after one moment, and the moves that led there.

    The one at x = 0 is the cluster before the first line, without a statement.
    """

    x: int
    cluster: Cluster
    first_step: int = 0
    steps: tuple[Recorded, ...] = ()
    line: int = 0
    statement: Statement | None = None
    not_applicable: NotApplicable | None = None

    @property
    def events(self) -> tuple[Event, ...]:
        """Everything that followed, in order."""
        return tuple(e for step in self.steps for e in step.events)

    def named_steps(self) -> Iterator[tuple[Recorded, list[tuple[str, Event]]]]:
        """Every move with what followed from it, each event with its id."""
        numbers = count(1)
        for step in self.steps:
            yield step, [(event_id(self.x, next(numbers)), event) for event in step.events]

    @property
    def last_id(self) -> str:
        """The id of the last event: of what was not applicable, where something was not."""
        return event_id(self.x, len(self.events) + (self.not_applicable is not None))


def snapshots(stage: Stage) -> tuple[Snapshot, ...]:
    """One per moment, x = 0 first; lines that moved nothing and took no moment are left out."""
    found = [Snapshot(0, stage.history.start)]
    for performed in _openers(stage):
        steps = stage.history.steps[performed.first : performed.last]
        found.append(
            Snapshot(
                x=performed.moment,
                cluster=steps[-1].cluster if steps else found[-1].cluster,
                first_step=performed.first,
                steps=steps,
                line=performed.line,
                statement=performed.statement,
                not_applicable=performed.not_applicable,
            )
        )
    return tuple(found)


def _openers(stage: Stage) -> Iterator[Performed]:
    moment = 0
    for performed in stage.performed:
        if performed.moment > moment:
            moment = performed.moment
            yield performed
