"""What a turn of a broker comes to where a real one has taken it: its state, what it sends, facts.

The engine's broker takes the same turn. Where both hold the same in every field that is seen, the
engine's words are Kafka's too, but that Kafka never says which check has failed. Where they part,
every field is Kafka's from then on, and what has happened is read off the fields.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from ...engine.route_kinds import NodeEffect
from ...protocol import facts as node_facts
from ...protocol import ids
from ...protocol.errors import KafkaError
from ...protocol.features import Features
from ...protocol.log import EMPTY, EpochStart, Log
from ...protocol.messages import (
    AlterPartitionItem,
    AlterPartitionRequest,
    AlterPartitionResponse,
    FetchRequest,
    FetchResponse,
    Send,
)
from ...protocol.messages.replication_messages import IsrMember
from ...protocol.registrations import LeaderRecoveryState
from ...protocol.replica.broker_parts import with_log, with_replica
from ...protocol.replica.broker_state import (
    Broker,
    IsrState,
    Leading,
    RemoteReplica,
    log_of,
    replica_of,
)
from ..partition.broker_turns import ProducedTurn
from ..partition.observed_broker import (
    EngineObservation,
    ObservedBroker,
    ObservedParting,
    SeenPartition,
    SeenProposal,
    SeenRead,
    SeenRemote,
    SeenRequest,
    observed_partings,
)
from .deciding import LeaderQuestion

LEADERS_WORD = (
    node_facts.NotProposed,
    node_facts.IsrProposed,
    node_facts.IsrReverted,
    node_facts.IsrStuck,
    node_facts.BecameLeader,
    node_facts.BecameFollower,
    node_facts.Fetched,
    node_facts.HighWatermarkMoved,
    node_facts.Appended,
    node_facts.Refused,
)
"""Facts of what the fields show: where these are Kafka's, it is Kafka that says them."""


class LedTurn(NamedTuple):
    """A broker before a turn, the turn, and what the engine makes of it."""

    was: Broker
    question: LeaderQuestion
    mine: NodeEffect


class LedEffect(NamedTuple):
    """What becomes of it, and where Kafka and the engine part."""

    effect: NodeEffect
    partings: tuple[ObservedParting, ...]


def leader_effect(
    turn: LedTurn, seen: ObservedBroker, names: Sequence[ids.PartitionName], features: Features
) -> LedEffect:
    """`seen` is what is held after it, by Kafka."""
    broker, sends, facts = turn.mine
    observation = EngineObservation(features.code_of(broker.id), names)
    expected = observation.of(broker, [send.body for send in sends], facts)
    # Of a partition that the broker does not play nothing is compared.
    played = tuple(
        mine if replica_of(broker, name) is not None else theirs
        for name, mine, theirs in zip(names, expected.partitions, seen.partitions, strict=True)
    )
    partings = tuple(observed_partings(seen, replace(expected, partitions=played)))
    if not partings:
        return LedEffect((broker, sends, tuple(map(_unnamed, filter(_is_said, facts)))), ())
    return LedEffect(
        _parted(turn, seen, names, observation), tuple(_named(p, names) for p in partings)
    )


def _is_said(fact: node_facts.Fact) -> bool:
    """Kafka proposes somebody, or does not: why not is said by nobody."""
    return not isinstance(fact, node_facts.NotProposed)


def _unnamed(fact: node_facts.Fact) -> node_facts.Fact:
    return replace(fact, guard=None, compared=()) if isinstance(fact, node_facts.Refused) else fact


def _named(parting: ObservedParting, names: Sequence[ids.PartitionName]) -> ObservedParting:
    """An observed state numbers its partitions as those of one topic."""
    first, _, field = parting.what.rpartition(" ")
    place = first.rpartition("-")[2]
    return replace(parting, what=f"{names[int(place)]} {field}") if first else parting


# --- where they part ------------------------------------------------------------------------------


def _parted(
    turn: LedTurn,
    seen: ObservedBroker,
    names: Sequence[ids.PartitionName],
    observation: EngineObservation,
) -> NodeEffect:
    broker, sends, facts = turn.mine
    for name, partition in zip(names, seen.partitions, strict=True):
        if replica_of(broker, name) is not None:
            broker = with_partition(broker, name, partition, observation)
    others = [send for send in sends if not isinstance(send.body, AlterPartitionRequest)]
    replies = [_reply(turn, send, seen, broker) for send in others]
    asked = [send for send in sends if isinstance(send.body, AlterPartitionRequest)]
    broker, requests = _asked(broker, asked, seen, names, observation)
    kept = tuple(fact for fact in facts if not isinstance(fact, LEADERS_WORD))
    return broker, (*replies, *requests), (*kept, *_facts(turn, seen, broker, names))


def _reply(turn: LedTurn, send: Send, seen: ObservedBroker, broker: Broker) -> Send:
    if not isinstance(send.body, FetchResponse) or not isinstance(turn.question, FetchRequest):
        return send
    name = turn.question.partition
    if seen.read is None:
        error = KafkaError(seen.error)
        beyond = error is KafkaError.OFFSET_OUT_OF_RANGE
        end = EpochStart(ids.NO_LEADER_EPOCH, log_of(broker, name).end) if beyond else None
        epoch = _leader_epoch(broker, name) if beyond else ids.NO_LEADER_EPOCH
        response = FetchResponse(partition=name, leader_epoch=epoch, error=error, diverging=end)
    else:
        response = FetchResponse(
            partition=name,
            leader_epoch=_leader_epoch(broker, name),
            records=_records(seen.read, turn.question.offset),
            high_watermark=ids.Offset(seen.read.high_watermark),
            diverging=_part(seen.read),
        )
    return Send(send.receiver, response)


def _leader_epoch(broker: Broker, name: ids.PartitionName) -> ids.LeaderEpoch:
    replica = replica_of(broker, name)
    return ids.NO_LEADER_EPOCH if replica is None else replica.leader_epoch


def _part(read: SeenRead) -> EpochStart | None:
    if read.diverging is None:
        return None
    epoch, offset = read.diverging
    return EpochStart(ids.LeaderEpoch(epoch), ids.Offset(offset))


def _records(read: SeenRead, asked: ids.Offset) -> Log:
    if read.diverging is not None:
        return EMPTY
    end = ids.Offset(read.records[-1][1] + 1) if read.records else asked
    starts: list[EpochStart] = []
    for epoch, offset in read.records:
        if not starts or starts[-1].epoch != epoch:
            starts.append(EpochStart(ids.LeaderEpoch(epoch), ids.Offset(offset)))
    return Log(tuple(starts), end, end)


def _asked(
    broker: Broker,
    mine: list[Send],
    seen: ObservedBroker,
    names: Sequence[ids.PartitionName],
    observation: EngineObservation,
) -> tuple[Broker, tuple[Send, ...]]:
    """What the AlterPartition manager has sent, which waits for an answer from now on."""
    bodies: list[Any] = [send.body for send in mine]
    if tuple(map(observation.request, bodies)) == seen.sent:
        return broker, tuple(mine)
    requests = tuple(_request(asked, names) for asked in seen.sent)
    items = requests[-1].items if requests else ()
    assert broker.process is not None
    process = replace(broker.process, items=items, in_flight=items)
    sends = tuple(Send(ids.CONTROLLER, request) for request in requests)
    return replace(broker, process=process), sends


def _request(seen: SeenRequest, names: Sequence[ids.PartitionName]) -> AlterPartitionRequest:
    return AlterPartitionRequest(
        version=seen.version,
        broker=ids.BrokerId(seen.broker),
        broker_epoch=ids.BrokerEpoch(seen.broker_epoch),
        items=tuple(asked_item(names[item.partition], item) for item in seen.items),
    )


# --- what has happened, read off the fields -------------------------------------------------------


def _facts(
    turn: LedTurn, seen: ObservedBroker, broker: Broker, names: Sequence[ids.PartitionName]
) -> Iterator[node_facts.Fact]:
    yield from _refused(turn, seen, broker)
    for name in names:
        yield from _appended(turn.was, broker, name)
        yield from _roles(turn.was, broker, name)
        if isinstance(turn.question, FetchRequest) and turn.question.partition == name:
            yield from _fetched(turn.question, seen, broker)
        yield from _isr(turn, broker, name)
        yield from _committed(turn.was, broker, name)


def _refused(turn: LedTurn, seen: ObservedBroker, broker: Broker) -> Iterator[node_facts.Fact]:
    if seen.error and isinstance(turn.question, FetchRequest | ProducedTurn):
        fetch = isinstance(turn.question, FetchRequest)
        yield node_facts.Refused(
            node=broker.id,
            request="fetch" if fetch else "produce",
            error=KafkaError(seen.error),
            guard=None,
            partition=turn.question.partition,
        )


def _appended(was: Broker, broker: Broker, name: ids.PartitionName) -> Iterator[node_facts.Fact]:
    before, after = log_of(was, name).end, log_of(broker, name).end
    if after > before:
        last = ids.Offset(after - 1)
        yield node_facts.Appended(node=broker.id, partition=name, first=before, last=last)


def _roles(was: Broker, broker: Broker, name: ids.PartitionName) -> Iterator[node_facts.Fact]:
    before, after = replica_of(was, name), replica_of(broker, name)
    if after is None:
        return
    same = before is not None and before.leader_epoch == after.leader_epoch
    if same and before is not None and (before.leading is None) == (after.leading is None):
        return
    if after.leading is not None:
        yield node_facts.BecameLeader(
            node=broker.id,
            partition=name,
            leader_epoch=after.leader_epoch,
            start_offset=after.leading.start_offset,
        )
    else:
        yield node_facts.BecameFollower(
            node=broker.id, partition=name, leader=after.leader, leader_epoch=after.leader_epoch
        )


def _fetched(
    request: FetchRequest, seen: ObservedBroker, broker: Broker
) -> Iterator[node_facts.Fact]:
    if seen.read is not None and seen.read.diverging is None:
        end = log_of(broker, request.partition).end
        yield node_facts.Fetched(
            node=broker.id,
            partition=request.partition,
            follower=request.replica,
            offset=request.offset,
            caught_up=request.offset >= end,
        )


def _isr(turn: LedTurn, broker: Broker, name: ids.PartitionName) -> Iterator[node_facts.Fact]:
    before, after = replica_of(turn.was, name), replica_of(broker, name)
    if after is None or after.leading is None:
        return
    state = after.leading.isr_state
    earlier = before.leading.isr_state if before is not None and before.leading else None
    if state.sent is not None and (earlier is None or state.sent != earlier.sent):
        yield node_facts.IsrProposed(
            node=broker.id, partition=name, isr=state.proposed, maximal=state.maximal
        )
    pending = earlier is not None and earlier.sent is not None
    if pending and isinstance(turn.question, AlterPartitionResponse):
        error = next((r.error for r in turn.question.results if r.partition == name), None)
        if error and state.sent is None:
            yield node_facts.IsrReverted(node=broker.id, partition=name, isr=state.isr, error=error)
        elif error:
            yield node_facts.IsrStuck(node=broker.id, partition=name, error=error)


def _committed(was: Broker, broker: Broker, name: ids.PartitionName) -> Iterator[node_facts.Fact]:
    before, after = replica_of(was, name), replica_of(broker, name)
    if after is None or after.leading is None:
        return
    earlier = before.high_watermark if before is not None else ids.Offset(0)
    if after.high_watermark > earlier:
        mark = after.high_watermark
        yield node_facts.HighWatermarkMoved(
            node=broker.id, partition=name, before=earlier, after=mark
        )


def with_partition(
    broker: Broker, name: ids.PartitionName, seen: SeenPartition, observation: EngineObservation
) -> Broker:
    """`broker` with a partition that it plays as it is seen; itself where it is."""
    if observation.partition(broker, name) == seen:
        return broker
    replica, log = replica_of(broker, name), log_of(broker, name)
    assert replica is not None, f"{name} is not played"
    epochs = tuple(EpochStart(ids.LeaderEpoch(epoch), ids.Offset(at)) for epoch, at in seen.epochs)
    flushed = ids.Offset(min(log.flushed, seen.end))
    broker = with_log(broker, name, Log(epochs, ids.Offset(seen.end), flushed))
    played = replace(
        replica,
        leader=ids.BrokerId(ids.NO_LEADER if seen.leader is None else seen.leader),
        leader_epoch=ids.LeaderEpoch(seen.leader_epoch),
        partition_epoch=ids.PartitionEpoch(seen.partition_epoch),
        high_watermark=ids.Offset(seen.high_watermark),
        leading=None
        if seen.start_offset is None
        else _leading(replica.leading, name, seen, observation),
    )
    return with_replica(broker, played)


def _leading(
    mine: Leading | None,
    name: ids.PartitionName,
    seen: SeenPartition,
    observation: EngineObservation,
) -> Leading:
    known = {remote.broker: remote for remote in mine.remotes} if mine is not None else {}
    remotes = tuple(
        _remote(known.get(ids.BrokerId(r.broker)), r, observation) for r in seen.remotes
    )
    start = ids.Offset(seen.start_offset or 0)
    return Leading(start, _isr_state(mine, name, seen, observation), remotes)


def _isr_state(
    mine: Leading | None,
    name: ids.PartitionName,
    seen: SeenPartition,
    observation: EngineObservation,
) -> IsrState:
    known = mine.isr_state if mine is not None else IsrState(())
    same = tuple(sorted(known.isr)) == seen.isr
    sent = known.sent
    if seen.proposed is None:
        sent = None
    elif sent is None or observation.proposal(sent) != seen.proposed:
        sent = asked_item(name, seen.proposed)
    recovery = known.recovery if sent is not None else LeaderRecoveryState(seen.recovery)
    return IsrState(known.isr if same else _ids(seen.isr), sent, recovery)


def _remote(
    mine: RemoteReplica | None, seen: SeenRemote, observation: EngineObservation
) -> RemoteReplica:
    if mine is not None and observation.remote(mine) == seen:
        return mine
    # What a release has no field for is as the engine has it.
    epoch = mine.epoch if mine is not None and seen.epoch is None else seen.epoch
    return RemoteReplica(
        broker=ids.BrokerId(seen.broker),
        end=ids.Offset(seen.end),
        leader_end_at_last_fetch=ids.Offset(seen.leader_end_at_last_fetch),
        last_fetch_ms=seen.last_fetch_ms,
        last_caught_up_ms=seen.last_caught_up_ms,
        epoch=None if epoch is None else ids.BrokerEpoch(epoch),
        observed=mine.observed if mine is not None else ids.NO_BROKER_EPOCH,
    )


def asked_item(name: ids.PartitionName, seen: SeenProposal) -> AlterPartitionItem:
    """What a leader has asked for."""
    members = (
        IsrMember(ids.BrokerId(broker), ids.BrokerEpoch(max(epoch, ids.NO_BROKER_EPOCH)))
        for broker, epoch in seen.isr
    )
    return AlterPartitionItem(
        partition=name,
        leader_epoch=ids.LeaderEpoch(seen.leader_epoch),
        partition_epoch=ids.PartitionEpoch(seen.partition_epoch),
        isr=tuple(members),
        recovery=seen.recovery,
    )


def _ids(brokers: Iterable[int]) -> tuple[ids.BrokerId, ...]:
    return tuple(map(ids.BrokerId, brokers))
