"""`step`, but for what a real controller decides, and real brokers.

Brokers, clients and the world are the engine's. Where a controller would decide, the real one is
asked, and its answer and its records are what happens: the records are replayed, the brokers get
the metadata that comes of them, and whoever asked gets the answer. Of the engine's own decision
only what no log says is kept: when which broker was heard of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from ...engine import moves
from ...engine.channels import find, post, without
from ...engine.cluster import Cluster, Message
from ...engine.events import Event, Happened, Moved
from ...engine.impossible_moves import ImpossibleMoveError, why_not
from ...engine.nodes import state_of, with_state
from ...engine.observer import observe
from ...engine.routes import MODE_MOVES, ROUTES
from ...engine.step import Step, carried_out, step
from ...engine.world_moves import delivered, reply_lost
from ...protocol.errors import KafkaError
from ...protocol.facts import Fact, RecordWritten, Refused
from ...protocol.features import Features
from ...protocol.ids import ALL_BROKERS, CONTROLLER, MetadataOffset
from ...protocol.kraft.records import record_text
from ...protocol.kraft.replay import commit, image
from ...protocol.messages import (
    KINDS,
    AlterPartitionResponse,
    ElectLeadersResponse,
    Request,
    Response,
    Send,
)
from .decisions import (
    DecidingKafka,
    Decision,
    RequestAsked,
    SessionOver,
    TakeOver,
    UnaskableError,
    VersionRaised,
    Written,
)
from .leader_questions import DecidingLeaders
from .led_step import led, must_be_told, noticed

_OF_THE_LOG = ("next_offset", "write_offset", "registrations", "partitions")
"""What a controller reads in its log, or of it; all else is the memory of a sitting one."""
Decided = tuple[Any, tuple[Send, ...], tuple[Fact, ...]]
"""The controller after a decision, what it sends, and what it wrote."""


def step_decided_by(
    kafka: DecidingKafka | None, leaders: DecidingLeaders | None = None
) -> Callable[[Cluster, moves.Move], Step]:
    """A `step` in which `kafka` is the controller, and `leaders` are brokers; None is the engine's.

    It raises ImpossibleMoveError as `step` does, and UnaskableError for a move that no real
    controller, or no real leader, can be told.
    """

    def decided_step(cluster: Cluster, move: moves.Move) -> Step:
        reason = why_not(cluster, move)
        if reason is not None:
            raise ImpossibleMoveError(move, reason)
        found = _decided(cluster, move, kafka) if kafka is not None else None
        if leaders is None:
            return step(cluster, move) if found is None else _observed(cluster, found)
        taken = led(cluster, move, leaders) if found is None else None
        if taken is not None:
            return _observed(cluster, taken)
        after, events = carried_out(cluster, move) if found is None else found
        must_be_told(cluster, after, leaders)
        after, more = noticed(cluster, after, leaders)
        return _observed(cluster, (after, [*events, *more]))

    return decided_step


def _observed(before: Cluster, moved: Moved) -> Step:
    after, events = moved
    after, seen = observe(before, after, events)
    return Step(after, (*events, *seen))


def _decided(cluster: Cluster, move: moves.Move, kafka: DecidingKafka) -> Moved | None:
    """What becomes of a move that the controller has a say in; None for any other."""
    match move:
        case moves.Deliver() | moves.LoseReply():
            message = find(cluster, move.message)
            if message is None or message.receiver != CONTROLLER:
                return None
            lost = isinstance(move, moves.LoseReply)
            return _answered(cluster, message, kafka, lost=lost)
        case moves.ExpireSession():
            return _expired(cluster, move, kafka)
        case moves.FailOver():
            return _taken_over(cluster, move, kafka)
        case moves.UpgradeMetadata():
            return _raised(cluster, move, kafka)
        case moves.Upgrade() if move.node in (None, CONTROLLER):
            raise UnaskableError("a real controller stays on its release while a play runs")
        case moves.Configure():
            raise UnaskableError("the settings of a real controller's topics stay as they are made")
        case moves.Fire() if move.node == CONTROLLER:
            raise UnaskableError(
                "what a real controller does unasked every 300 s is switched off, so that nothing"
                " happens by itself"
            )
    return None


# --- one kind of question after the other ---------------------------------------------------------


def _answered(cluster: Cluster, message: Message, kafka: DecidingKafka, *, lost: bool) -> Moved:
    request: Any = message.body
    node = state_of(cluster, CONTROLLER)
    mine: Decided = ROUTES[type(node), type(request)](node, message, cluster)
    decision = kafka.decide(RequestAsked(request), cluster, _records_in(mine[2]))
    node, sends, facts = _what_follows(cluster, mine, decision)
    facts = (*_refusals(request, decision.response), *facts)
    answer = (Send(message.name.sender, decision.response),) if decision.response else ()
    event = delivered(cluster, message)
    cluster = with_state(without(cluster, message), CONTROLLER, node)
    cluster, sent = post(cluster, CONTROLLER, (*sends, *answer), message)
    events: list[Event] = [event, *facts, *sent]
    return reply_lost(cluster, message, events) if lost else (cluster, events)


def _expired(cluster: Cluster, move: moves.ExpireSession, kafka: DecidingKafka) -> Moved:
    rule = MODE_MOVES[type(state_of(cluster, CONTROLLER)), moves.ExpireSession]
    ((_, mine),) = rule(cluster, move)
    decision = kafka.decide(SessionOver(move.broker), cluster, _records_in(mine[2]))
    node, sends, facts = _what_follows(cluster, mine, decision)
    cluster, sent = post(with_state(cluster, CONTROLLER, node), CONTROLLER, sends)
    return cluster, [*facts, *sent]


def _taken_over(cluster: Cluster, move: moves.FailOver, kafka: DecidingKafka) -> Moved:
    decision = kafka.decide(TakeOver(), cluster, 0)
    done = step(cluster, move)
    return done.cluster, [*done.events, *_of_its_own(decision)]


def _raised(cluster: Cluster, move: moves.UpgradeMetadata, kafka: DecidingKafka) -> Moved:
    decision = kafka.decide(VersionRaised(move.metadata_version), cluster, 0)
    if decision.refused:
        text = f"the metadata version stays as it is: {decision.refused}"
        return cluster, [Happened(text=text)]
    done = step(cluster, move)
    return done.cluster, [*done.events, *_of_its_own(decision)]


def _of_its_own(decision: Decision) -> Iterator[RecordWritten]:
    """Records of a change that the engine keeps no record of."""
    return (written_fact(written) for written in decision.written)


# --- what a decision comes to ---------------------------------------------------------------------


def _what_follows(cluster: Cluster, mine: Decided, decision: Decision) -> Decided:
    """Kafka's records replayed. What only a sitting controller knows is as the engine has it, but
    that whoever has been fenced, or has not, is so by the log.
    """
    after, facts = state_of(cluster, CONTROLLER), []
    for written in decision.written:
        after, found = _replayed(after, written, cluster.features)
        facts += found
    sends = (Send(ALL_BROKERS, image(after)),) if decision.written else ()
    memory = mine[0]
    if [fact for fact in mine[2] if isinstance(fact, RecordWritten)] != [
        fact for fact in facts if isinstance(fact, RecordWritten)
    ]:
        memory = _as_the_log_says(memory, after)
    said = {name: getattr(after, name) for name in _OF_THE_LOG}
    return replace(memory, **said), sends, tuple(facts)


def _replayed(controller: Any, written: Written, features: Features) -> tuple[Any, list[Fact]]:
    controller = replace(controller, next_offset=MetadataOffset(written.offset))
    told: list[Fact] = [written_fact(written)]
    if written.record is None:
        return replace(controller, next_offset=MetadataOffset(written.offset + 1)), told
    controller, _, facts = commit(controller, [written.record], features)
    return controller, [*told, *(f for f in facts if not isinstance(f, RecordWritten))]


def _as_the_log_says(memory: Any, after: Any) -> Any:
    fenced = {known.broker: known.fenced for known in after.registrations}
    return replace(
        memory,
        heartbeats=tuple(
            replace(known, fenced=fenced.get(known.broker, True)) for known in memory.heartbeats
        ),
    )


def written_fact(written: Written) -> RecordWritten:
    """A record of Kafka's as the engine tells of its own."""
    text = record_text(written.record) if written.record is not None else written.name
    return RecordWritten(
        offset=written.offset,
        record=written.name,
        text=text + written.beyond,
        version=written.version,
    )


def _records_in(facts: Iterable[Fact]) -> int:
    return sum(isinstance(fact, RecordWritten) for fact in facts)


def _refusals(request: Request, response: Response | None) -> Iterator[Refused]:
    """Kafka says which error, and never which check."""
    kind = KINDS[type(request)]
    for partition, error in _errors(response):
        if error is not KafkaError.NONE:
            yield Refused(
                node=CONTROLLER, request=kind, error=error, guard=None, partition=partition
            )


def _errors(response: Response | None) -> Iterator[tuple[str | None, KafkaError]]:
    if isinstance(response, ElectLeadersResponse):
        yield from response.results
        return
    yield None, getattr(response, "error", KafkaError.NONE)
    if isinstance(response, AlterPartitionResponse):
        yield from ((result.partition, result.error) for result in response.results)
