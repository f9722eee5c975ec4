"""The engine's broker, to which the same turns happen: a cluster of that one broker alone."""

from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from kiplab.engine import cluster, moves
from kiplab.engine.events import Dropped, Event, Sent
from kiplab.engine.nodes import state_of, with_due, with_state
from kiplab.engine.step import step
from kiplab.judge.partition import partition_process as turns
from kiplab.judge.partition.observed_broker import EngineObservation, ObservedBroker
from kiplab.protocol import messages
from kiplab.protocol.features import Features
from kiplab.protocol.ids import CONTROLLER, BrokerId, Incarnation
from kiplab.protocol.kraft.controller_state import Controller
from kiplab.protocol.log import Log
from kiplab.protocol.replica import broker_parts, broker_state


class EngineLeader:
    """A fresh broker under `features`, with so many partitions of one topic and empty logs."""

    def __init__(self, features: Features, partitions: int, *, timed: bool) -> None:
        names = tuple(map(turns.partition_name, range(partitions)))
        self._sight = EngineObservation(features.code_of(turns.LEADER), names)
        running = broker_state.Volatile(
            lifecycle=broker_state.Lifecycle.RUNNING,
            epoch=turns.LEADER_BROKER_EPOCH,
            ready_to_unfence=True,
            published=True,
        )
        broker = broker_state.Broker(turns.LEADER, process=running)
        self.cluster = cluster.Cluster(features, Controller(), (broker,), timed=timed)
        self._turns: dict[type, Callable[[Any], list[Event]]] = {
            messages.FetchRequest: self._fetch,
            messages.MetadataUpdate: lambda turn: self._arrives(CONTROLLER, turn, None),
            messages.AlterPartitionResponse: self._answered,
            turns.ProducedTurn: lambda turn: self._do(
                moves.Produce(turn.partition, turns.LEADER, turn.count, turn.acks_all)
            ),
            turns.ReplicatedTurn: self._replicated,
            turns.LagTurn: lambda _: self._fire(moves.Timer.LAG_CHECK),
            turns.RetryTurn: lambda _: self._fire(moves.Timer.RETRY),
            turns.LostTurn: self._lost,
            turns.PauseTurn: lambda turn: self._do(moves.Advance(turn.ms)),
        }

    def answer(
        self, turn: turns.BrokerTurn, _real: ObservedBroker | None = None, /
    ) -> ObservedBroker:
        """What is observed after the turn: nothing is left open to real brokers."""
        return self._seen(self._turns[type(turn)](turn))

    @property
    def under_way(self) -> messages.AlterPartitionRequest | None:
        """The AlterPartition request that waits for an answer."""
        message = self._request()
        body = message.body if message is not None else None
        return body if isinstance(body, messages.AlterPartitionRequest) else None

    @property
    def is_due_again(self) -> bool:
        """Whether items wait to be sent again."""
        process = broker_parts.process_of(self.broker)
        return bool(process.items) and not process.in_flight

    @property
    def items(self) -> tuple[messages.AlterPartitionItem, ...]:
        """What waits for an answer, or to be sent."""
        return broker_parts.process_of(self.broker).items

    @property
    def broker(self) -> broker_state.Broker:
        (broker,) = self.cluster.brokers
        return broker

    def replica(self, partition: str) -> broker_state.Replica | None:
        return broker_state.replica_of(self.broker, partition)

    def log(self, partition: str) -> Log:
        return broker_state.log_of(self.broker, partition)

    # --- turns ----------------------------------------------------------------------------------

    def _fetch(self, turn: messages.FetchRequest) -> list[Event]:
        self._do(moves.RawRequest(turn.replica, turns.LEADER, turn))
        return self._do(moves.Deliver(self.cluster.messages[-1].name))

    def _answered(self, turn: messages.AlterPartitionResponse) -> list[Event]:
        request = self.under_way
        left = tuple(m for m in self.cluster.messages if m.body is not request)
        self.cluster = replace(self.cluster, messages=left)
        return self._arrives(CONTROLLER, turn, request)

    def _replicated(self, turn: turns.ReplicatedTurn) -> list[Event]:
        replica, mine = self.replica(turn.partition), self.log(turn.partition)
        assert replica is not None, f"{turn.partition} is not played"
        request = messages.FetchRequest(
            version=12,
            partition=turn.partition,
            replica=turns.LEADER,
            replica_epoch=turns.LEADER_BROKER_EPOCH,
            leader_epoch=replica.leader_epoch,
            offset=mine.end,
        )
        response = messages.FetchResponse(
            partition=turn.partition,
            leader_epoch=replica.leader_epoch,
            records=turn.records,
            high_watermark=turn.high_watermark,
        )
        return self._arrives(replica.leader, response, request)

    def _lost(self, _turn: turns.LostTurn) -> list[Event]:
        asked = self._request()
        assert asked is not None, "nothing is under way"
        return self._do(moves.TimeOut(asked.name))

    def _fire(self, timer: moves.Timer) -> list[Event]:
        # The judge says when a timer is due.
        broker = with_due(state_of(self.cluster, turns.LEADER), timer, self.cluster.now_ms)
        self.cluster = with_state(self.cluster, turns.LEADER, broker)
        return self._do(moves.Fire(turns.LEADER, timer))

    def _arrives(
        self, sender: BrokerId, body: messages.Body, request: messages.Request | None
    ) -> list[Event]:
        """A message of somebody who is not in this cluster."""
        name = cluster.MessageName(
            sender, Incarnation(0), messages.KINDS[type(body)], len(self.cluster.messages)
        )
        message = cluster.Message(name, turns.LEADER, Incarnation(1), body.api.lane, body, request)
        held = (*self.cluster.messages, message)
        self.cluster = replace(self.cluster, messages=held)
        return self._do(moves.Deliver(name))

    def _request(self) -> cluster.Message | None:
        found = (
            m for m in self.cluster.messages if isinstance(m.body, messages.AlterPartitionRequest)
        )
        return next(found, None)

    def _do(self, move: moves.Move) -> list[Event]:
        done = step(self.cluster, move)
        self.cluster = done.cluster
        return list(done.events)

    # --- what is seen ---------------------------------------------------------------------------

    def _seen(self, events: Sequence[Event]) -> ObservedBroker:
        # Nobody is there to hear the answer to a fetch, so that it is lost.
        replies = [e.body for e in events if isinstance(e, Dropped)]
        bodies = [body for body in replies if isinstance(body, messages.FetchResponse)]
        sent = [e.body for e in events if isinstance(e, Sent)]
        facts: Any = events
        return self._sight.of(self.broker, [*bodies, *sent], facts)
