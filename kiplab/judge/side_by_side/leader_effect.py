"""What a turn of a broker comes to where a real one has taken it: its state, what it sends, facts.

The engine's broker takes the same turn. Where both hold the same in every field that is seen, the
engine's words are Kafka's too, but that Kafka never says which check has failed. Where they part,
every field is Kafka's from then on, and what has happened is read off the fields.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from msgspec.structs import asdict, replace

from ...engine.route_kinds import NodeEffect
from ...protocol import facts, ids, messages
from ...protocol.errors import KafkaError
from ...protocol.features import Features
from ...protocol.log import EMPTY, EpochStart, Log
from ...protocol.messages.replication_messages import IsrMember
from ...protocol.registrations import LeaderRecoveryState
from ...protocol.replica import broker_state
from ...protocol.replica.broker_parts import process_of, with_log, with_replica
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


class LedEffect(NamedTuple):
    """What becomes of it, and where Kafka and the engine part."""

    effect: NodeEffect
    partings: tuple[observed.Parting, ...]


def leader_effect(
    turn: LedTurn,
    observed_broker: observed.ObservedBroker,
    names: Sequence[ids.PartitionName],
    features: Features,
) -> LedEffect:
    """`seen` is what is held after it, by Kafka."""
    broker, sends, told = turn.mine
    observation = observed.EngineObservation(features.code_of(broker.id), names)
    expected = observation.of(broker, [send.body for send in sends], told)
    # Of a partition that the broker does not play nothing is compared.
    played = tuple(
        mine if broker_state.replica_of(broker, name) is not None else theirs
        for name, mine, theirs in zip(
            names, expected.partitions, observed_broker.partitions, strict=True
        )
    )
    expected = replace(expected, partitions=played)
    partings = tuple(observed.observed_partings(observed_broker, expected, names))
    if partings:
        return LedEffect(_Parted(turn, observed_broker, observation).effect(), partings)
    # Kafka proposes somebody, or does not: why not is said by nobody.
    said = (_unnamed(fact) for fact in told if not isinstance(fact, facts.NotProposed))
    return LedEffect((broker, sends, tuple(said)), ())


def _unnamed(fact: facts.Fact) -> facts.Fact:
    return replace(fact, guard=None, compared=()) if isinstance(fact, facts.Refused) else fact


class _Parted:
    """A turn after which every field is as it is `seen`. What is seen the same stays the engine's
    own: it knows more, such as the order of an ISR, and what an observer has noted.
    """

    def __init__(
        self,
        turn: LedTurn,
        seen: observed.ObservedBroker,
        observation: observed.EngineObservation,
    ) -> None:
        self.was, self.question, (self.broker, self.sends, self.facts) = turn
        self.seen, self.observation, self.names = seen, observation, observation.names

    def effect(self) -> NodeEffect:
        for name, partition in zip(self.names, self.seen.partitions, strict=True):
            if self.observation.partition(self.broker, name) != partition:
                self._hold(name, partition)
        replies = tuple(
            self._reply(send)
            for send in self.sends
            if not isinstance(send.body, messages.AlterPartitionRequest)
        )
        sends = (*replies, *self._requests())
        kept = tuple(fact for fact in self.facts if not isinstance(fact, LEADERS_WORD))
        return self.broker, sends, (*kept, *self._happened())

    # --- what is held ---------------------------------------------------------------------------

    def _hold(self, name: ids.PartitionName, partition: observed.SeenPartition) -> None:
        replica, log = (
            broker_state.replica_of(self.broker, name),
            broker_state.log_of(self.broker, name),
        )
        if replica is None:
            return
        epochs = tuple(EpochStart(*entry) for entry in partition.epochs)
        log = Log(epochs, partition.end, min(log.flushed, partition.end))
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
        remotes = tuple(
            self._remote(earlier.get(remote.broker), remote) for remote in partition.remotes
        )
        return broker_state.Leading(
            partition.start_offset, broker_state.IsrState(isr, sent, recovery), remotes
        )

    def _remote(
        self, mine: broker_state.RemoteReplica | None, seen_remote: observed.SeenRemote
    ) -> broker_state.RemoteReplica:
        if mine is None or self.observation.remote(mine) == seen_remote:
            return mine or broker_state.RemoteReplica(**asdict(seen_remote))
        # What a release has no field for is as the engine has it.
        epoch = mine.epoch if seen_remote.epoch is None else seen_remote.epoch
        return replace(mine, **asdict(seen_remote) | {"epoch": epoch})

    # --- what is sent ---------------------------------------------------------------------------

    def _reply(self, send: messages.Send) -> messages.Send:
        question, read = self.question, self.seen.read
        is_reply = isinstance(send.body, messages.FetchResponse)
        if not is_reply or not isinstance(question, messages.FetchRequest):
            return send
        name, replica = question.partition, broker_state.replica_of(self.broker, question.partition)
        epoch = ids.NO_LEADER_EPOCH if replica is None else replica.leader_epoch
        response = messages.FetchResponse(partition=name, leader_epoch=epoch)
        if read is not None:
            response = replace(
                response,
                records=_records(read, question.offset),
                high_watermark=read.high_watermark,
                diverging=None if read.diverging is None else EpochStart(*read.diverging),
            )
        elif self.seen.error == KafkaError.OFFSET_OUT_OF_RANGE:
            end = EpochStart(ids.NO_LEADER_EPOCH, broker_state.log_of(self.broker, name).end)
            response = replace(response, error=KafkaError(self.seen.error), diverging=end)
        else:
            error = KafkaError(self.seen.error)
            response = replace(response, leader_epoch=ids.NO_LEADER_EPOCH, error=error)
        return messages.Send(send.receiver, response)

    def _requests(self) -> tuple[messages.Send, ...]:
        """What the AlterPartition manager has sent, which waits for an answer from now on."""
        sends = [s for s in self.sends if isinstance(s.body, messages.AlterPartitionRequest)]
        bodies: list[Any] = [send.body for send in sends]
        if tuple(map(self.observation.request, bodies)) == self.seen.sent:
            return tuple(sends)
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
        return tuple(messages.Send(ids.CONTROLLER, request) for request in requests)

    # --- what has happened, read off the fields -------------------------------------------------

    def _happened(self) -> Iterator[facts.Fact]:
        question, error = self.question, self.seen.error
        if error and isinstance(question, messages.FetchRequest | ProducedTurn):
            yield facts.Refused(
                node=self.broker.id,
                request="produce" if isinstance(question, ProducedTurn) else "fetch",
                error=KafkaError(error),
                guard=None,
                partition=question.partition,
            )
        for name in self.names:
            where: dict[str, Any] = {"node": self.broker.id, "partition": name}
            first, end = (
                broker_state.log_of(self.was, name).end,
                broker_state.log_of(self.broker, name).end,
            )
            if end > first:
                yield facts.Appended(**where, first=first, last=ids.Offset(end - 1))
            yield from self._played(name, where, end)

    def _played(
        self, name: ids.PartitionName, where: dict[str, Any], end: ids.Offset
    ) -> Iterator[facts.Fact]:
        before, after = (
            broker_state.replica_of(self.was, name),
            broker_state.replica_of(self.broker, name),
        )
        if after is None:
            return
        earlier, leading, epoch = before and before.leading, after.leading, after.leader_epoch
        if before is None or (before.leader_epoch, not earlier) != (epoch, not leading):
            if leading is None:
                yield facts.BecameFollower(**where, leader=after.leader, leader_epoch=epoch)
            else:
                start = leading.start_offset
                yield facts.BecameLeader(**where, leader_epoch=epoch, start_offset=start)
        yield from self._fetched(where, end)
        if leading is None:
            return
        yield from self._isr(where, earlier.isr_state.sent if earlier else None, leading.isr_state)
        mark = before.high_watermark if before is not None else ids.Offset(0)
        if after.high_watermark > mark:
            yield facts.HighWatermarkMoved(**where, before=mark, after=after.high_watermark)

    def _fetched(self, where: dict[str, Any], end: ids.Offset) -> Iterator[facts.Fact]:
        question, read = self.question, self.seen.read
        if not isinstance(question, messages.FetchRequest) or read is None or read.diverging:
            return
        if question.partition == where["partition"]:
            follower, offset = question.replica, question.offset
            caught_up = offset >= end
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


def _records(read: observed.SeenRead, asked: ids.Offset) -> Log:
    if read.diverging is not None:
        return EMPTY
    end = ids.Offset(read.records[-1][1] + 1) if read.records else asked
    starts: dict[ids.LeaderEpoch, EpochStart] = {}
    for epoch, offset in read.records:
        starts.setdefault(epoch, EpochStart(epoch, offset))
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
