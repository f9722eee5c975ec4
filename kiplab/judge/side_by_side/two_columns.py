"""One play in two columns: where the engine decides, and where a real Kafka does.

That is a real controller, real brokers, or both; all else is the engine's in either column.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

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
from ...protocol.facts import (
    Appended,
    BecameFollower,
    BecameLeader,
    BrokerChanged,
    ControllerResigned,
    Fetched,
    HighWatermarkMoved,
    IsrChanged,
    IsrProposed,
    IsrReverted,
    IsrStuck,
    LeaderElected,
    NotProposed,
    RecordWritten,
    Refused,
)
from ...protocol.features import Features
from ...protocol.ids import CONTROLLER
from ...protocol.replica.broker_state import Broker
from ..conversation.real_controller import record_texts
from .decided_step import step_decided_by
from .decisions import (
    ControllerQuestion,
    DecidingKafka,
    Decision,
    RequestAsked,
    SessionOver,
    UnaskableError,
)
from .leader_questions import DecidingLeaders
from .led_step import begun
from .renaming import Renaming
from .scene import untold


class Judges(msgspec.Struct, frozen=True):
    """Which of the nodes are Kafka's own, in its column."""

    decides: bool = True
    """The controller."""
    leads: bool = False
    """Every broker, as far as its Partitions go."""


class RealNodes(NamedTuple):
    """A real controller and real brokers, or what they have said before; None is the engine's."""

    deciding: DecidingKafka | None = None
    leading: DecidingLeaders | None = None


class ColumnLine(msgspec.Struct, frozen=True):
    """One line of a play, and what followed from it in both columns.

    `step` is its number in every transcript and picture, `play` the line itself; `own` says of each
    sentence of Kafka's column whether that is Kafka's own.
    """

    step: int
    play: str
    engine: tuple[str, ...]
    kafka: tuple[str, ...]
    agree: bool
    own: tuple[bool, ...]


class TwoColumns(msgspec.Struct, frozen=True):
    """Both runs of a play. `decisions` are Kafka's, `renaming` what is called otherwise there;
    `judges` says who is Kafka's own, and real brokers have taken so many `turns`.
    """

    engine: Stage
    kafka: Stage
    decisions: tuple[Decision, ...]
    renaming: Renaming
    judges: Judges
    turns: int

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
    play: Play, features: Features, kafka_for: Callable[[Cluster], RealNodes]
) -> TwoColumns:
    """Run a play in both; `kafka_for` gives the real nodes of a cluster that begins so.

    Raises PlayError, with the line, for what cannot be done in the engine, or cannot be told to a
    real controller or leader.
    """
    engine = run_play(play, features)
    begun = open_stage(play, features)
    nodes = kafka_for(begun.cluster)
    noted = _Noted(nodes.deciding) if nodes.deciding is not None else None
    leaders = nodes.leading
    start = _begun(play, begun.cluster, leaders) if leaders is not None else begun.cluster
    history = History(start, doing=step_decided_by(noted, leaders))
    stage = replace(begun, history=history, strict=False)
    for line, statement in enumerate(play.statements, 1):
        # What is expected is held against the engine.
        if statement.verb != "expect":
            try:
                stage = do_line(stage, statement, line)
            except UnaskableError as why:
                raise untold(play, line, str(why), why.who) from None
    return TwoColumns(
        engine,
        stage,
        tuple(noted.decisions) if noted is not None else (),
        noted.renaming if noted is not None else Renaming(),
        Judges(noted is not None, leaders is not None),
        leaders.turns if leaders is not None else 0,
    )


def _begun(play: Play, start: Cluster, leaders: DecidingLeaders) -> Cluster:
    """Only a log can be too long for real brokers: the header's first line of a topic says it."""
    try:
        return begun(start, leaders)
    except UnaskableError as why:
        lines = (n for n, said in enumerate(play.statements, 1) if said.verb == "topic")
        raise untold(play, next(lines, 1), str(why), why.who) from None


_CONTROLLERS_WORD = (RecordWritten, IsrChanged, LeaderElected, BrokerChanged)
_LEADERS_WORD = (
    Appended,
    BecameFollower,
    BecameLeader,
    Fetched,
    HighWatermarkMoved,
    IsrProposed,
    IsrReverted,
    IsrStuck,
)
_LEADER_REFUSES = ("fetch", "produce", "delete-records")


def is_kafkas_own(event: Event, judges: Judges) -> bool:
    """Whether Kafka has said or done it, in its column, and not the engine in its stead."""
    if isinstance(event, Refused):
        asked = event.request in _LEADER_REFUSES
        return judges.decides if event.node == CONTROLLER else judges.leads and asked
    if isinstance(event, _CONTROLLERS_WORD):
        return judges.decides
    return judges.leads and isinstance(event, _LEADERS_WORD)


# --- one line -------------------------------------------------------------------------------------


def _line(both: TwoColumns, mine: Performed, theirs: Performed) -> ColumnLine:
    engine, kafka = both.engine, both.kafka
    agree = _same(engine.events_of(mine), kafka.events_of(theirs), both)
    kafkas = tuple(_told(kafka, theirs))
    return ColumnLine(
        step=mine.moment,
        play=mine.statement.text,
        engine=tuple(sentence for _, sentence in _told(engine, mine)),
        kafka=tuple(sentence for _, sentence in kafkas),
        agree=agree and _held(engine, mine) == _held(kafka, theirs),
        own=tuple(is_kafkas_own(event, both.judges) for event, _ in kafkas),
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


def _told(stage: Stage, performed: Performed) -> Iterator[tuple[Event, str]]:
    """What a transcript says of a line, and every metadata record; and the event that says so."""
    sentences = dict(told_events(stage, performed))
    for id, event in stage.named_events_of(performed):
        if isinstance(event, RecordWritten):
            yield event, f"@{event.offset} {event.text}"
        elif id in sentences:
            yield event, sentences[id]


def _held(stage: Stage, performed: Performed) -> Any:
    """What the controller holds for true after a line, and each broker of its partitions."""
    steps = stage.history.steps
    cluster = steps[performed.last - 1].cluster if performed.last else stage.history.start
    held, nodes = truth(cluster), cluster.brokers
    brokers = [(n.id, n.incarnation, n.durable, _played(n)) for n in nodes]
    return held.registrations, held.partitions, held.next_offset, brokers


def _played(node: Broker) -> Any:
    process = node.process
    return None if process is None else (process.replicas, process.items, process.in_flight)


def _same(mine: tuple[Event, ...], theirs: tuple[Event, ...], both: TwoColumns) -> bool:
    """Records in their order, as far as that means anything; all else whatever its order."""
    own = _of_its_own(both.decisions)
    written = [
        record_texts(e for e in events if isinstance(e, RecordWritten) and e.record not in own)
        for events in (mine, theirs)
    ]
    counted = [Counter(_comparable(events, both.judges)) for events in (mine, theirs)]
    return written[0] == written[1] and counted[0] == counted[1]


def _comparable(events: tuple[Event, ...], judges: Judges) -> Iterator[Event]:
    """What Kafka can say as well: no answer names the check that failed, none the partition over
    which a controller has resigned, and that it has is said by nobody; nor is why a leader asks for
    nobody.
    """
    for event in events:
        if judges.leads and isinstance(event, NotProposed):
            continue
        if isinstance(event, Refused):
            whole = event.error is KafkaError.UNKNOWN_SERVER_ERROR
            partition = None if whole else event.partition
            yield replace(event, guard=None, compared=(), partition=partition)
        elif not isinstance(event, RecordWritten | ControllerResigned):
            yield event
