"""One play in two columns: where the engine's controller decides, and where a real one does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
from msgspec.structs import replace

from ...engine.cluster import Cluster
from ...engine.events import Event
from ...engine.history import History
from ...engine.truth import truth
from ...plays.play import Play
from ...plays.runner import do_line, open_stage, run_play
from ...plays.stage import Performed, Stage
from ...plays.transcript import told_events
from ...protocol.errors import KafkaError
from ...protocol.facts import ControllerResigned, RecordWritten, Refused
from ...protocol.features import Features
from ..conversation.partings import told
from .decided_step import step_decided_by
from .decisions import (
    ControllerQuestion,
    DecidingKafka,
    Decision,
    RequestAsked,
    SessionOver,
    UnaskableError,
)
from .renaming import Renaming
from .scene import untold


class ColumnLine(msgspec.Struct, frozen=True):
    """One line of a play, and what followed from it in both columns.

    `step` is its number in every transcript and picture, `play` the line itself.
    """

    step: int
    play: str
    engine: tuple[str, ...]
    kafka: tuple[str, ...]
    agree: bool


class TwoColumns(msgspec.Struct, frozen=True):
    """Both runs of a play. `decisions` are Kafka's, `renaming` what is called otherwise there."""

    engine: Stage
    kafka: Stage
    decisions: tuple[Decision, ...]
    renaming: Renaming

    @property
    def lines(self) -> tuple[ColumnLine, ...]:
        """Every line that does something."""
        both = zip(self.engine.performed, self.kafka.performed, strict=True)
        return tuple(_line(self, mine, theirs) for mine, theirs in both)

    @property
    def agree(self) -> bool:
        """Whether the columns say the same, line by line."""
        return all(line.agree for line in self.lines)

    @property
    def requests(self) -> int:
        """How many requests the real controller answered."""
        return sum(isinstance(made.question, RequestAsked) for made in self.decisions)

    @property
    def records(self) -> int:
        """How many records it wrote meanwhile."""
        return sum(len(made.written) for made in self.decisions)


class _Noted:
    """Keeps what is decided."""

    def __init__(self, kafka: DecidingKafka) -> None:
        self._kafka = kafka
        self.decisions: list[Decision] = []

    @property
    def renaming(self) -> Renaming:
        return self._kafka.renaming

    def decide(self, question: ControllerQuestion, cluster: Cluster, expected: int) -> Decision:
        self.decisions.append(self._kafka.decide(question, cluster, expected))
        return self.decisions[-1]


def play_in_two_columns(
    play: Play, features: Features, kafka_for: Callable[[Cluster], DecidingKafka]
) -> TwoColumns:
    """Run a play in both; `kafka_for` gives the real controller of a cluster that begins so.

    Raises PlayError, with the line, for what cannot be done in the engine, or cannot be told to a
    real controller.
    """
    engine = run_play(play, features)
    begun = open_stage(play, features)
    noted = _Noted(kafka_for(begun.cluster))
    history = History(begun.cluster, doing=step_decided_by(noted))
    stage = replace(begun, history=history, strict=False)
    for line, statement in enumerate(play.statements, 1):
        # What is expected is held against the engine.
        if statement.verb != "expect":
            try:
                stage = do_line(stage, statement, line)
            except UnaskableError as why:
                raise untold(play, line, str(why)) from None
    return TwoColumns(engine, stage, tuple(noted.decisions), noted.renaming)


# --- one line -------------------------------------------------------------------------------------


def _line(both: TwoColumns, mine: Performed, theirs: Performed) -> ColumnLine:
    engine, kafka = both.engine, both.kafka
    agree = _same(engine.events_of(mine), kafka.events_of(theirs), _of_its_own(both.decisions))
    return ColumnLine(
        step=mine.moment,
        play=mine.statement.text,
        engine=tuple(_told(engine, mine)),
        kafka=tuple(_told(kafka, theirs)),
        agree=agree and _held(engine, mine) == _held(kafka, theirs),
    )


def _of_its_own(decisions: tuple[Decision, ...]) -> frozenset[str]:
    """Records that the engine has none of: of a controller's taking over, of a version raised."""
    return frozenset(
        written.name
        for made in decisions
        if not isinstance(made.question, RequestAsked | SessionOver)
        for written in made.written
        if written.record is None
    )


def _told(stage: Stage, performed: Performed) -> Iterator[str]:
    """What a transcript says of a line, and every metadata record."""
    sentences = dict(told_events(stage, performed))
    for id, event in stage.named_events_of(performed):
        if isinstance(event, RecordWritten):
            yield f"@{event.offset} {event.text}"
        elif id in sentences:
            yield sentences[id]


def _held(stage: Stage, performed: Performed) -> Any:
    """What the controller holds for true after a line."""
    steps = stage.history.steps
    held = truth(steps[performed.last - 1].cluster if performed.last else stage.history.start)
    return held.registrations, held.partitions, held.next_offset


def _same(mine: tuple[Event, ...], theirs: tuple[Event, ...], own: frozenset[str]) -> bool:
    """Records in their order, as far as that means anything; all else whatever its order."""
    written = [
        told(e for e in events if isinstance(e, RecordWritten) and e.record not in own)
        for events in (mine, theirs)
    ]
    return written[0] == written[1] and Counter(_comparable(mine)) == Counter(_comparable(theirs))


def _comparable(events: tuple[Event, ...]) -> Iterator[Event]:
    """What Kafka can say as well: no answer names the check that failed, none the partition over
    which a controller has resigned, and that it has is said by nobody.
    """
    for event in events:
        if isinstance(event, Refused):
            whole = event.error is KafkaError.UNKNOWN_SERVER_ERROR
            partition = None if whole else event.partition
            yield replace(event, guard=None, compared=(), partition=partition)
        elif not isinstance(event, RecordWritten | ControllerResigned):
            yield event
