"""The effect of a broker's turn that a real one has taken: its state, its messages, facts.

The engine's broker takes the same turn. If both agree in every visible field, the engine's words
are Kafka's too, except that Kafka never says which check has failed. If they differ, every field is
Kafka's from then on, and the events are read off the fields.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from msgspec.structs import asdict, replace

from ...engine.route_kinds import NodeEffect
from ...protocol import errors, facts, ids, messages
from ...protocol.features import Features
from ...protocol.log import EMPTY, EpochStart, Log
from ...protocol.messages.replication_messages import IsrMember
from ...protocol.registrations import LeaderRecoveryState
from ...protocol.replica import broker_state
from ...protocol.replica.broker_parts import process_of, with_log, with_replica
from ...protocol.replica.broker_state import log_of, replica_of
from ..partition import observed_broker as observed
from ..partition.partition_process import ProducedTurn
from .deciding import LeaderQuestion

LEADERS_WORD = (
    facts.NotProposed,
    facts.IsrProposed,
    facts.IsrReverted,
    facts.IsrStuck,
    facts.BecameLeader,
    facts.BecameFollower,
    facts.Fetched,
    facts.HighWatermarkMoved,
    facts.Appended,
    facts.Refused,
)
"""Facts of what the fields show: where these are Kafka's, it is Kafka that says them."""


class LedTurn(NamedTuple):
    """A broker before a turn, the turn, and what the engine makes of it."""

    was: broker_state.Broker
    question: LeaderQuestion
    mine: NodeEffect


def leader_effect(
    turn: LedTurn,
    kafka: observed.ObservedBroker,
    names: Sequence[ids.PartitionName],
    features: Features,
) -> tuple[NodeEffect, tuple[observed.Parting, ...]]:
    """The effect, and where Kafka and the engine part; `kafka` is the state there."""
    broker, sends, reported = turn.mine
    observation = observed.EngineObservation(features.code_of(broker.id), names)
    expected = observation.of(broker, [send.body for send in sends], reported)
    # Of a partition that the broker does not play nothing is compared.
    states = zip(names, expected.partitions, kafka.partitions, strict=True)
    played = (mine if replica_of(broker, name) else theirs for name, mine, theirs in states)
    expected = replace(expected, partitions=tuple(played))
    partings = tuple(observed.observed_partings(kafka, expected, names))
    if partings:
        return _Parted(turn, kafka, observation).effect(), partings
    # Kafka proposes a follower, or does not: it gives no reason.
    own = (
        replace(fact, guard=None, compared=()) if isinstance(fact, facts.Refused) else fact
        for fact in reported
        if not isinstance(fact, facts.NotProposed)
    )
    return (broker, sends, tuple(own)), ()


class _Parted:
    """A turn after which every field is as it is in `seen`. What is seen the same stays the
    engine's own: it knows more, such as the order of an ISR, and what an observer has noted.
    """

    def __init__(
        self, turn: LedTurn, seen: observed.ObservedBroker, by: observed.EngineObservation
    ) -> None:
        self.was, self.question, (self.broker, self.sends, self.facts) = turn
        self.seen, self.observation, self.names = seen, by, by.names

    def effect(self) -> NodeEffect:
        for name, partition in zip(self.names, self.seen.partitions, strict=True):
            if self.observation.partition(self.broker, name) != partition:
                self._hold(name, partition)
        is_request = [isinstance(s.body, messages.AlterPartitionRequest) for s in self.sends]
        both = list(zip(self.sends, is_request, strict=True))
        replies = [self._reply(send) for send, is_asking in both if not is_asking]
        requests = self._requests([send for send, is_asking in both if is_asking])
        kept = (fact for fact in self.facts if not isinstance(fact, LEADERS_WORD))
        return self.broker, (*replies, *requests), (*kept, *self._happened())

    # --- what is held ---------------------------------------------------------------------------

    def _hold(self, name: ids.PartitionName, partition: observed.SeenPartition) -> None:
        replica = replica_of(self.broker, name)
        if replica is None:
            return
        flushed = min(log_of(self.broker, name).flushed, partition.end)
        log = Log(tuple(EpochStart(*e) for e in partition.epochs), partition.end, flushed)
        played = replace(
            replica,
            leader=ids.NO_LEADER if partition.leader is None else partition.leader,
            leader_epoch=partition.leader_epoch,
            partition_epoch=partition.partition_epoch,
            high_watermark=partition.high_watermark,
            leading=self._leading(replica.leading, name, partition),
        )
        self.broker = with_replica(with_log(self.broker, name, log), played)

    def _leading(
        self,
        mine: broker_state.Leading | None,
        name: ids.PartitionName,
        partition: observed.SeenPartition,
    ) -> broker_state.Leading | None:
        if partition.start_offset is None:
            return None
        state = mine.isr_state if mine is not None else broker_state.IsrState(())
        sent = state.sent
        if partition.proposed is None:
            sent = None
        elif sent is None or self.observation.proposal(sent) != partition.proposed:
            sent = _item(name, partition.proposed)
        recovery = state.recovery if sent is not None else LeaderRecoveryState(partition.recovery)
        isr = state.isr if tuple(sorted(state.isr)) == partition.isr else partition.isr
        earlier = {remote.broker: remote for remote in mine.remotes} if mine is not None else {}
        remotes = (self._remote(earlier.get(r.broker), r) for r in partition.remotes)
        now = broker_state.IsrState(isr, sent, recovery)
        return broker_state.Leading(partition.start_offset, now, tuple(remotes))

    def _remote(
        self, mine: broker_state.RemoteReplica | None, remote: observed.SeenRemote
    ) -> broker_state.RemoteReplica:
        if mine is None or self.observation.remote(mine) == remote:
            return mine or broker_state.RemoteReplica(**asdict(remote))
        # What a release has no field for is as the engine has it.
        epoch = mine.epoch if remote.epoch is None else remote.epoch
        return replace(mine, **asdict(remote) | {"epoch": epoch})

    # --- what is sent ---------------------------------------------------------------------------

    def _reply(self, send: messages.Send) -> messages.Send:
        question, read, error = self.question, self.seen.read, errors.KafkaError(self.seen.error)
        is_reply = isinstance(send.body, messages.FetchResponse)
        if not is_reply or not isinstance(question, messages.FetchRequest):
            return send
        replica = replica_of(self.broker, question.partition)
        epoch = ids.NO_LEADER_EPOCH if replica is None else replica.leader_epoch
        fields: dict[str, Any] = {"leader_epoch": epoch}
        if read is not None:
            fields["records"] = _records(read, question.offset)
            fields["high_watermark"] = read.high_watermark
            fields["diverging"] = None if read.diverging is None else EpochStart(*read.diverging)
        elif error is errors.KafkaError.OFFSET_OUT_OF_RANGE:
            end = log_of(self.broker, question.partition).end
            fields |= {"error": error, "diverging": EpochStart(ids.NO_LEADER_EPOCH, end)}
        else:
            fields = {"error": error}
        response = messages.FetchResponse(partition=question.partition, **fields)
        return messages.Send(send.receiver, response)

    def _requests(self, mine: list[messages.Send]) -> list[messages.Send]:
        """What the AlterPartition manager has sent, which waits for an answer from now on."""
        bodies: list[Any] = [send.body for send in mine]
        if tuple(map(self.observation.request, bodies)) == self.seen.sent:
            return mine
        requests = [
            messages.AlterPartitionRequest(
                version=sent.version,
                broker=sent.broker,
                broker_epoch=sent.broker_epoch,
                items=tuple(_item(self.names[item.partition], item) for item in sent.items),
            )
            for sent in self.seen.sent
        ]
        items = requests[-1].items if requests else ()
        process = replace(process_of(self.broker), items=items, in_flight=items)
        self.broker = replace(self.broker, process=process)
        return [messages.Send(ids.CONTROLLER, request) for request in requests]

    # --- what has happened, read off the fields -------------------------------------------------

    def _happened(self) -> Iterator[facts.Fact]:
        question, error = self.question, self.seen.error
        if error and isinstance(question, messages.FetchRequest | ProducedTurn):
            yield facts.Refused(
                node=self.broker.id,
                request="produce" if isinstance(question, ProducedTurn) else "fetch",
                error=errors.KafkaError(error),
                guard=None,
                partition=question.partition,
            )
        for name in self.names:
            where: dict[str, Any] = {"node": self.broker.id, "partition": name}
            first, end = log_of(self.was, name).end, log_of(self.broker, name).end
            if end > first:
                yield facts.Appended(**where, first=first, last=ids.Offset(end - 1))
            before, after = replica_of(self.was, name), replica_of(self.broker, name)
            if after is not None:
                yield from self._played(where, before, after)

    def _played(
        self,
        where: dict[str, Any],
        before: broker_state.Replica | None,
        after: broker_state.Replica,
    ) -> Iterator[facts.Fact]:
        earlier, leading, epoch = before and before.leading, after.leading, after.leader_epoch
        if before is None or (before.leader_epoch, not earlier) != (epoch, not leading):
            if leading is None:
                yield facts.BecameFollower(**where, leader=after.leader, leader_epoch=epoch)
            else:
                start = leading.start_offset
                yield facts.BecameLeader(**where, leader_epoch=epoch, start_offset=start)
        question, read = self.question, self.seen.read
        if isinstance(question, messages.FetchRequest) and read is not None:
            yield from self._fetched(where, question, read)
        if leading is None:
            return
        yield from self._isr(where, earlier.isr_state.sent if earlier else None, leading.isr_state)
        mark = before.high_watermark if before is not None else ids.Offset(0)
        if after.high_watermark > mark:
            yield facts.HighWatermarkMoved(**where, before=mark, after=after.high_watermark)

    def _fetched(
        self, where: dict[str, Any], fetch: messages.FetchRequest, read: observed.SeenRead
    ) -> Iterator[facts.Fact]:
        if read.diverging is None and fetch.partition == where["partition"]:
            offset, end = fetch.offset, log_of(self.broker, fetch.partition).end
            follower, caught_up = fetch.replica, offset >= end
            yield facts.Fetched(**where, follower=follower, offset=offset, caught_up=caught_up)

    def _isr(
        self,
        where: dict[str, Any],
        earlier: messages.AlterPartitionItem | None,
        state: broker_state.IsrState,
    ) -> Iterator[facts.Fact]:
        if state.sent is not None and state.sent != earlier:
            yield facts.IsrProposed(**where, isr=state.proposed, maximal=state.maximal)
        if earlier is None or not isinstance(self.question, messages.AlterPartitionResponse):
            return
        results = (r for r in self.question.results if r.partition == where["partition"])
        error = next((result.error for result in results), None)
        if error and state.sent is None:
            yield facts.IsrReverted(**where, isr=state.isr, error=error)
        elif error:
            yield facts.IsrStuck(**where, error=error)


def _records(read: observed.SeenRead, offset: ids.Offset) -> Log:
    """What a fetch from `offset` on has read."""
    if read.diverging is not None:
        return EMPTY
    end = ids.Offset(read.records[-1][1] + 1) if read.records else offset
    starts: dict[ids.LeaderEpoch, EpochStart] = {}
    for epoch, first in read.records:
        starts.setdefault(epoch, EpochStart(epoch, first))
    return Log(tuple(starts.values()), end, end)


def _item(name: ids.PartitionName, proposal: observed.SeenProposal) -> messages.AlterPartitionItem:
    """What a leader has asked for."""
    members = (IsrMember(broker, max(epoch, ids.NO_BROKER_EPOCH)) for broker, epoch in proposal.isr)
    return messages.AlterPartitionItem(
        partition=name,
        leader_epoch=proposal.leader_epoch,
        partition_epoch=proposal.partition_epoch,
        isr=tuple(members),
        recovery=proposal.recovery,
    )
