"""The engine's broker, to which the same turns happen: a cluster of that one broker alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import replace

from ...engine import moves
from ...engine.cluster import Cluster, Message, MessageName
from ...engine.events import Dropped, Event, Sent
from ...engine.nodes import state_of, with_due, with_state
from ...engine.step import step
from ...protocol.errors import KafkaError
from ...protocol.facts import Refused
from ...protocol.features import Features
from ...protocol.ids import CONTROLLER, BrokerId, Incarnation
from ...protocol.kraft.controller_state import Controller
from ...protocol.log import EMPTY, Log
from ...protocol.messages import (
    KINDS,
    AlterPartitionItem,
    AlterPartitionRequest,
    AlterPartitionResponse,
    Body,
    FetchRequest,
    FetchResponse,
    MetadataUpdate,
    Request,
)
from ...protocol.replica.broker_parts import process_of
from ...protocol.replica.broker_state import (
    Broker,
    Leading,
    Lifecycle,
    RemoteReplica,
    Replica,
    Volatile,
    log_of,
    replica_of,
)
from .broker_sight import (
    NO_EPOCHS,
    BrokerSight,
    SeenItem,
    SeenPartition,
    SeenProposal,
    SeenRead,
    SeenRemote,
    SeenRequest,
)
from .broker_turns import (
    LEADER,
    LEADER_BROKER_EPOCH,
    BrokerTurn,
    LagTurn,
    LostTurn,
    PauseTurn,
    ProducedTurn,
    ReplicatedTurn,
    RetryTurn,
    index_of,
    partition_name,
)


class EngineLeader:
    """A fresh broker under `features`, with so many partitions of one topic and empty logs."""

    def __init__(self, features: Features, partitions: int, *, timed: bool) -> None:
        self._names = [partition_name(index) for index in range(partitions)]
        # From 3.5 on a leader knows its followers' broker epochs.
        self._has_epochs = features.code_of(LEADER) >= (3, 5)
        running = Volatile(
            lifecycle=Lifecycle.RUNNING,
            epoch=LEADER_BROKER_EPOCH,
            ready_to_unfence=True,
            published=True,
        )
        broker = Broker(LEADER, process=running)
        self.cluster = Cluster(features, Controller(), (broker,), timed=timed)
        self._turns: dict[type, Callable[[Any], list[Event]]] = {
            FetchRequest: self._fetch,
            MetadataUpdate: self._metadata,
            AlterPartitionResponse: self._answered,
            ProducedTurn: self._produced,
            ReplicatedTurn: self._replicated,
            LagTurn: lambda _: self._fire(moves.Timer.LAG_CHECK),
            RetryTurn: lambda _: self._fire(moves.Timer.RETRY),
            LostTurn: self._lost,
            PauseTurn: lambda turn: self._do(moves.Advance(turn.ms)),
        }

    def do(self, turn: BrokerTurn) -> BrokerSight:
        """What is seen after the turn."""
        return self._seen(self._turns[type(turn)](turn))

    @property
    def under_way(self) -> AlterPartitionRequest | None:
        """The AlterPartition request that waits for an answer."""
        message = self._request()
        body = message.body if message is not None else None
        return body if isinstance(body, AlterPartitionRequest) else None

    @property
    def is_due_again(self) -> bool:
        """Whether items wait to be sent again."""
        process = process_of(self.broker)
        return bool(process.items) and not process.in_flight

    @property
    def items(self) -> tuple[AlterPartitionItem, ...]:
        """What waits for an answer, or to be sent."""
        return process_of(self.broker).items

    @property
    def broker(self) -> Broker:
        """The broker that is judged."""
        (broker,) = self.cluster.brokers
        return broker

    def replica(self, partition: str) -> Replica | None:
        """How it plays a partition."""
        return replica_of(self.broker, partition)

    def log(self, partition: str) -> Log:
        """Its log of a partition."""
        return log_of(self.broker, partition)

    # --- turns ----------------------------------------------------------------------------------

    def _fetch(self, turn: FetchRequest) -> list[Event]:
        self._do(moves.RawRequest(turn.replica, LEADER, turn))
        return self._do(moves.Deliver(self.cluster.messages[-1].name))

    def _metadata(self, turn: MetadataUpdate) -> list[Event]:
        return self._arrives(CONTROLLER, turn, None)

    def _answered(self, turn: AlterPartitionResponse) -> list[Event]:
        request = self.under_way
        left = tuple(m for m in self.cluster.messages if m.body is not request)
        self.cluster = replace(self.cluster, messages=left)
        return self._arrives(CONTROLLER, turn, request)

    def _replicated(self, turn: ReplicatedTurn) -> list[Event]:
        replica, mine = self.replica(turn.partition), self.log(turn.partition)
        assert replica is not None, f"{turn.partition} is not played"
        request = FetchRequest(
            version=12,
            partition=turn.partition,
            replica=LEADER,
            replica_epoch=LEADER_BROKER_EPOCH,
            leader_epoch=replica.leader_epoch,
            offset=mine.end,
        )
        response = FetchResponse(
            partition=turn.partition,
            leader_epoch=replica.leader_epoch,
            records=turn.records,
            high_watermark=turn.high_watermark,
        )
        return self._arrives(replica.leader, response, request)

    def _produced(self, turn: ProducedTurn) -> list[Event]:
        return self._do(moves.Produce(turn.partition, LEADER, turn.count, turn.acks_all))

    def _lost(self, _turn: LostTurn) -> list[Event]:
        asked = self._request()
        assert asked is not None, "nothing is under way"
        return self._do(moves.TimeOut(asked.name))

    def _fire(self, timer: moves.Timer) -> list[Event]:
        # The judge says when a timer is due.
        broker = with_due(state_of(self.cluster, LEADER), timer, self.cluster.now_ms)
        self.cluster = with_state(self.cluster, LEADER, broker)
        return self._do(moves.Fire(LEADER, timer))

    def _arrives(self, sender: BrokerId, body: Body, request: Request | None) -> list[Event]:
        """A message of somebody who is not in this cluster."""
        name = MessageName(sender, Incarnation(0), KINDS[type(body)], len(self.cluster.messages))
        message = Message(name, LEADER, Incarnation(1), body.api.lane, body, request)
        held = (*self.cluster.messages, message)
        self.cluster = replace(self.cluster, messages=held)
        return self._do(moves.Deliver(name))

    def _request(self) -> Message | None:
        found = (m for m in self.cluster.messages if isinstance(m.body, AlterPartitionRequest))
        return next(found, None)

    def _do(self, move: moves.Move) -> list[Event]:
        done = step(self.cluster, move)
        self.cluster = done.cluster
        return list(done.events)

    # --- what is seen ---------------------------------------------------------------------------

    def _seen(self, events: Iterable[Event]) -> BrokerSight:
        events = list(events)
        # Nobody is there to hear the answer to a fetch, so that it is lost.
        replies = [e.body for e in events if isinstance(e, Dropped)]
        reply = next((body for body in replies if isinstance(body, FetchResponse)), None)
        refused = [e.error for e in events if isinstance(e, Refused)]
        error = reply.error if reply is not None else next(iter(refused), KafkaError.NONE)
        bodies = (e.body for e in events if isinstance(e, Sent))
        return BrokerSight(
            error=int(error),
            read=None if reply is None or reply.error else _read(reply),
            sent=tuple(
                self._sent(body) for body in bodies if isinstance(body, AlterPartitionRequest)
            ),
            partitions=tuple(map(self._partition, self._names)),
        )

    def _sent(self, request: AlterPartitionRequest) -> SeenRequest:
        items = sorted(map(self._item, request.items), key=lambda item: item.partition)
        return SeenRequest(request.version, request.broker, request.broker_epoch, tuple(items))

    def _item(self, item: AlterPartitionItem) -> SeenItem:
        asked = self._proposal(item)
        return SeenItem(
            asked.leader_epoch,
            asked.partition_epoch,
            asked.recovery,
            asked.isr,
            index_of(item.partition),
        )

    def _proposal(self, item: AlterPartitionItem) -> SeenProposal:
        isr = sorted((m.broker, m.epoch if self._has_epochs else NO_EPOCHS) for m in item.isr)
        return SeenProposal(item.leader_epoch, item.partition_epoch, item.recovery, tuple(isr))

    def _partition(self, name: str) -> SeenPartition:
        replica, log = self.replica(name), self.log(name)
        leading = replica.leading if replica is not None else None
        epochs = tuple((entry.epoch, entry.offset) for entry in log.epochs)
        if replica is None:
            return SeenPartition(None, -1, 0, None, (), (), 0, None, (), 0, log.end, epochs)
        return SeenPartition(
            leader=replica.leader,
            leader_epoch=replica.leader_epoch,
            partition_epoch=replica.partition_epoch,
            high_watermark=replica.high_watermark,
            end=log.end,
            epochs=epochs,
            **self._led(leading),
        )

    def _led(self, leading: Leading | None) -> dict[str, Any]:
        if leading is None:
            empty: dict[str, Any] = {"isr": (), "maximal": (), "remotes": (), "recovery": 0}
            return empty | {"start_offset": None, "proposed": None}
        state = leading.isr_state
        return {
            "start_offset": leading.start_offset,
            "isr": tuple(sorted(state.isr)),
            "maximal": tuple(sorted(state.maximal)),
            # A pending state is always RECOVERED, whatever the committed one is.
            "recovery": int(state.recovery) if state.sent is None else 0,
            "proposed": None if state.sent is None else self._proposal(state.sent),
            "remotes": tuple(map(self._remote, sorted(leading.remotes, key=lambda r: r.broker))),
        }

    def _remote(self, remote: RemoteReplica) -> SeenRemote:
        return SeenRemote(
            broker=remote.broker,
            end=remote.end,
            leader_end_at_last_fetch=remote.leader_end_at_last_fetch,
            last_fetch_ms=remote.last_fetch_ms,
            last_caught_up_ms=remote.last_caught_up_ms,
            epoch=remote.epoch if self._has_epochs else None,
        )


def _read(reply: FetchResponse) -> SeenRead:
    part = reply.diverging
    return SeenRead(
        high_watermark=reply.high_watermark,
        diverging=None if part is None else (part.epoch, part.offset),
        records=tuple(_each(reply.records)),
    )


def _each(records: Log) -> Iterable[tuple[int, int]]:
    """Every record as (leader epoch, offset)."""
    if records == EMPTY or not records.epochs:
        return
    ends = [*(entry.offset for entry in records.epochs[1:]), records.end]
    for entry, end in zip(records.epochs, ends, strict=True):
        for offset in range(entry.offset, end):
            yield entry.epoch, offset
