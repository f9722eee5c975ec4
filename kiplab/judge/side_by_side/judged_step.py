"""`step`, with real nodes deciding: a real controller, real brokers, or both.

All else is the engine's: clients, the network, disks, followers' fetchers, registrations and
heartbeats. The engine takes every turn too. A real controller's records are replayed, brokers get
the resulting metadata, and the sender gets its answer. After a turn the broker has the state of its
real broker.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from ...engine import moves, nodes
from ...engine.cluster import Cluster, Message, broker
from ...engine.events import Event, Happened, Moved
from ...engine.impossible_moves import check_possible
from ...engine.route_kinds import NodeEffect
from ...engine.step import DecidedEffect, Step, carried_out, observed
from ...engine.truth import truth
from ...protocol import log, messages
from ...protocol.errors import KafkaError
from ...protocol.facts import Fact, RecordWritten, Refused, TopicConfigured, TopicDeleted
from ...protocol.ids import ALL_BROKERS, CONTROLLER, BrokerId, MetadataOffset
from ...protocol.kraft.records import record_text
from ...protocol.kraft.replay import commit, image
from ...protocol.replica.broker_parts import process_of
from ...protocol.replica.broker_state import Broker, Volatile, log_of, replica_of
from ..partition import partition_process as turns
from . import deciding
from .leader_effect import LedTurn, leader_effect

_OF_THE_LOG = ("next_offset", "write_offset", "registrations", "partitions", "elr_lists")
"""What a controller reads in its log, or of it; all else is the memory of a sitting one."""


def begun(cluster: Cluster, leaders: deciding.DecidingLeaders) -> Cluster:
    """Every broker that runs when a play begins is a process that has begun."""
    for node in cluster.brokers:
        image = node.process.image if node.process is not None else None
        if image is not None and _is_driven(node, cluster):
            turn = LedTurn(node, deciding.ProcessBegun(image), (node, (), ()))
            after, _, _ = _taken(turn, cluster, leaders)
            cluster = nodes.with_state(cluster, node.id, after)
    return cluster


def _is_driven(broker: Broker, cluster: Cluster) -> bool:
    """Whether there are partitions, and the broker's release has a Partition that is driven."""
    release = cluster.features.release_of(broker.id)
    return bool(truth(cluster).partitions) and release in turns.partition_releases()


class DecidedStep:
    """A `step` in which `ask` asks the controller, and `leaders` are brokers; None: the engine's.
    It raises what `step` does, and UnaskableError for a move that no real one can be told.
    """

    def __init__(
        self, ask: deciding.AskKafka | None, leaders: deciding.DecidingLeaders | None = None
    ) -> None:
        self._ask, self._leaders = ask, leaders
        # Whether a real broker took a turn of the last move.
        self._led = False

    def __call__(self, cluster: Cluster, move: moves.Move) -> Step:
        """As `step`. Raises ImpossibleMoveError for a move that cannot happen."""
        check_possible(cluster, move)
        if self._ask is not None:
            _controller_can_be_told(move)
        if self._leaders is not None:
            _leaders_can_be_told(cluster, move)
        self._led = False
        after, events = self._carry_out(cluster, move)
        if self._leaders is not None and not self._led:
            after, more = _noticed(cluster, after, self._leaders)
            events = [*events, *more]
        return observed(cluster, (after, events))

    def _carry_out(self, cluster: Cluster, move: moves.Move) -> Moved:
        """The move; for a change without a record in the engine, Kafka's records are events."""
        question: deciding.ControllerQuestion = deciding.TakeOver()
        if isinstance(move, moves.UpgradeMetadata):
            question = deciding.VersionRaised(move.metadata_version)
        if isinstance(move, moves.UpgradeElr):
            question = deciding.Operated(move)
        alone = moves.FailOver | moves.UpgradeMetadata | moves.UpgradeElr
        if self._ask is None or not isinstance(move, alone):
            return carried_out(cluster, move, self._decide, checked=True)
        decision = self._ask(question, cluster, 0)
        if decision.refused:
            text = f"everything stays as it is: {decision.refused}"
            return cluster, [Happened(text=text)]
        after, events = carried_out(cluster, move, checked=True)
        # What the engine writes of a feature is written by Kafka here.
        told = (event for event in events if not isinstance(event, RecordWritten))
        return after, [*told, *map(_written_fact, decision.written)]

    def _decide(
        self, cluster: Cluster, at: BrokerId, cause: Message | moves.Move, mine: NodeEffect
    ) -> DecidedEffect:
        if at == CONTROLLER:
            return mine if self._ask is None else _ruling(self._ask, cluster, cause, mine)
        was = nodes.state_of(cluster, at)
        if self._leaders is None or not isinstance(was, Broker):
            return mine
        question = _question(was, cause, mine) if _is_driven(was, cluster) else None
        if question is None:
            return mine
        self._led = True
        return _taken(LedTurn(was, question, mine), cluster, self._leaders)


# --- what cannot be told --------------------------------------------------------------------------


def _controller_can_be_told(move: moves.Move) -> None:
    match move:
        case moves.Upgrade() if move.node in (None, CONTROLLER):
            why = "a real controller stays on its release while a play runs"
        case moves.Fire() if move.node == CONTROLLER:
            own = "what a real controller does by itself every 300 s"
            why = f"{own} is switched off, so that nothing happens by itself"
        case _:
            return
    raise deciding.UnaskableError(why)


def _leaders_can_be_told(cluster: Cluster, move: moves.Move) -> None:
    match move:
        case moves.Produce() if move.transaction:
            raise _unaskable("a real broker receives no transaction")
        case moves.Configure() | moves.ConfigureBrokers() | moves.DeleteTopic():
            raise _unaskable("a real broker's topics and their settings stay as they are made")
        case moves.Race():
            raise _unaskable("its threads meet where nobody can hold one up")
        case moves.Upgrade():
            for node in cluster.brokers:
                if move.node in (None, node.id) and node.up and _is_driven(node, cluster):
                    raise _unaskable(
                        "a real broker that runs another release begins anew, and broker"
                        f" {node.id} is up: let it stop, upgrade it, and start it"
                    )


def _unaskable(why: str) -> deciding.UnaskableError:
    """Why no real broker can be sent this."""
    alone = "with `--judge controller` brokers are the engine's"
    return deciding.UnaskableError(f"{why}; {alone}", "leader")


def _noticed(before: Cluster, after: Cluster, leaders: deciding.DecidingLeaders) -> Moved:
    """Who waits for an answer to AlterPartition no more, without having got one, has noticed that
    none will come. Raises UnaskableError for whatever else the engine changes in a running broker's
    partitions: it is no turn of a real broker.
    """
    events: list[Event] = []
    for node in after.brokers:
        was = broker(before, node.id)
        if was is None or was.process is None or node.process is None:
            continue
        if was.incarnation != node.incarnation or not _is_driven(node, after):
            continue
        if _replicas(was) != _replicas(node):
            raise _unaskable(f"a real broker does not do that here, and broker {node.id} would")
        if was.process.in_flight and not node.process.in_flight:
            turn = LedTurn(was, turns.LostTurn(), (node, (), ()))
            state, _, facts = _taken(turn, after, leaders)
            after = nodes.with_state(after, node.id, state)
            events += facts
    return after, events


def _replicas(node: Broker) -> Any:
    logs = [(kept.log.start, kept.log.end, kept.log.epochs) for kept in node.durable.replicas]
    return process_of(node).replicas, logs


# --- a real controller ----------------------------------------------------------------------------


def _ruling(
    ask: deciding.AskKafka, cluster: Cluster, cause: Message | moves.Move, mine: NodeEffect
) -> NodeEffect:
    """Kafka's records replayed, and its answer. What only a sitting controller knows is as the
    engine has it, but that whoever has been fenced, or has not, is so by the log.
    """
    expected = len(_records(mine[2]))
    if isinstance(cause, moves.ExpireSession):
        question = deciding.SessionOver(cause.broker)
        return _replayed(cluster, mine, ask(question, cluster, expected))
    if isinstance(cause, deciding.OperatorMove):
        operated = _replayed(cluster, mine, ask(deciding.Operated(cause), cluster, expected))
        done = (fact for fact in mine[2] if isinstance(fact, TopicConfigured | TopicDeleted))
        return operated[0], operated[1], (*operated[2], *done)
    if not isinstance(cause, Message):
        return mine
    request: Any = cause.body
    decision = ask(deciding.RequestAsked(request), cluster, expected)
    node, sends, facts = _replayed(cluster, mine, decision)
    refused = tuple(_refusals(request, decision.response))
    answer = (messages.Send(cause.name.sender, decision.response),) if decision.response else ()
    return node, (*sends, *answer), (*refused, *facts)


def _replayed(cluster: Cluster, mine: NodeEffect, decision: deciding.Decision) -> NodeEffect:
    after: Any = nodes.state_of(cluster, CONTROLLER)
    facts: list[Fact] = []
    for written in decision.written:
        beyond = MetadataOffset(written.offset + (written.record is None))
        after = replace(after, next_offset=beyond)
        facts.append(_written_fact(written))
        if written.record is not None:
            after, _, more = commit(after, [written.record], cluster.features)
            facts += (fact for fact in more if not isinstance(fact, RecordWritten))
    sends = (messages.Send(ALL_BROKERS, image(after)),) if decision.written else ()
    memory: Any = mine[0]
    if _records(mine[2]) != _records(facts):
        fenced = {entry.broker: entry.fenced for entry in after.registrations}
        beats = (replace(b, fenced=fenced.get(b.broker, True)) for b in memory.heartbeats)
        memory = replace(memory, heartbeats=tuple(beats))
    logged = {name: getattr(after, name) for name in _OF_THE_LOG}
    return replace(memory, **logged), sends, tuple(facts)


def _records(facts: Iterable[Fact]) -> list[Fact]:
    return [fact for fact in facts if isinstance(fact, RecordWritten)]


def _written_fact(written: deciding.Written) -> RecordWritten:
    """A record of Kafka's as the engine tells of its own."""
    name, record = written.name, written.record
    text = record_text(record) if record is not None else name
    return RecordWritten(offset=written.offset, record=name, text=text, version=written.version)


def _refusals(request: messages.Request, response: messages.Response | None) -> Iterator[Refused]:
    """Kafka says which error, and never which check."""
    error = getattr(response, "error", KafkaError.NONE)
    errors: list[tuple[str | None, KafkaError]] = [(None, error)]
    by_partition = messages.ElectLeadersResponse | messages.AssignReplicasToDirsResponse
    if isinstance(response, by_partition):
        errors += response.results
    if isinstance(response, messages.AlterPartitionResponse):
        errors += [(result.partition, result.error) for result in response.results]
    kind = messages.KINDS[type(request)]
    for name, error in errors:
        if error is not KafkaError.NONE:
            yield Refused(node=CONTROLLER, request=kind, error=error, guard=None, partition=name)


# --- real brokers ---------------------------------------------------------------------------------


def _taken(turn: LedTurn, cluster: Cluster, leaders: deciding.DecidingLeaders) -> DecidedEffect:
    # What a process begins with, and the epoch that it has by then, is in the engine's broker.
    begins = isinstance(turn.question, deciding.ProcessBegun)
    who = replace(turn.was, process=turn.mine[0].process) if begins else turn.was
    held = leaders.decide(who, turn.question, cluster)
    if held is None:
        return turn.mine
    names = tuple(state.name for state in truth(cluster).partitions)
    (state, sends, facts), partings = leader_effect(turn, held, names, cluster.features)
    parted = (Happened(text=f"broker {turn.was.id}: {parting}") for parting in partings)
    return state, sends, (*facts, *parted)


def _question(
    was: Broker, cause: Message | moves.Move, mine: NodeEffect
) -> deciding.LeaderQuestion | None:
    """None for a turn that does not reach its Partitions."""
    match cause:
        case Message():
            return _arrived(was, mine[0], cause)
        case moves.Produce():
            return turns.ProducedTurn(cause.partition, cause.count, cause.acks_all)
        case moves.Fire(timer=moves.Timer.RETRY):
            return turns.RetryTurn()
        case moves.Fire(timer=moves.Timer.LAG_CHECK):
            return turns.LagTurn(tuple(r.partition for r in process_of(was).replicas))
    return None


def _arrived(was: Broker, after: Broker, message: Message) -> deciding.LeaderQuestion | None:
    process, body, now = process_of(was), message.body, after.process
    if now is not None and now.image is not None and now.published and not process.published:
        return deciding.ProcessBegun(now.image)
    match body:
        case messages.FetchRequest() if replica_of(was, body.partition) is not None:
            return body
        case messages.AlterPartitionResponse():
            # An answer to a request that was given up, or to a copy, has no receiver.
            items = getattr(message.request, "items", None)
            return body if process.in_flight == items else None
        case messages.MetadataUpdate() if process.published:
            return _metadata(was.id, process, body)
        case messages.FetchResponse():
            return _fetched(was, after, body, message)
    return None


def _metadata(
    who: BrokerId, process: Volatile, update: messages.MetadataUpdate
) -> deciding.LeaderQuestion | None:
    latest = process.image
    if latest is not None and latest.offset >= update.offset:
        return None
    earlier = {s.name: s.partition_epoch for s in (latest.partitions if latest else ())}
    own = (state for state in update.partitions if who in state.replicas)
    changed = (s.name for s in own if earlier.get(s.name) != s.partition_epoch)
    return deciding.MetadataPlayed(update, tuple(changed))


def _fetched(
    was: Broker, after: Broker, reply: messages.FetchResponse, message: Message
) -> deciding.LeaderQuestion | None:
    """What the engine's fetcher makes of an answer: a shorter log, or a longer one."""
    name, request = reply.partition, message.request
    replica, mine, now = replica_of(was, name), log_of(was, name), log_of(after, name)
    is_newest = isinstance(request, messages.FetchRequest) and request.offset == mine.end
    if replica is None or replica.leading is not None or not is_newest:
        return None
    if reply.leader_epoch != replica.leader_epoch:
        return None
    if reply.diverging is not None:
        return turns.TruncatedTurn(name, now.end)
    return turns.ReplicatedTurn(name, log.records_from(now, mine.end), reply.high_watermark)
