"""The requests that a controller makes of one change, and its queue for each broker.

Requests are collected in a batch and then queued all at once: first LeaderAndIsr for every broker
that is to get one, then UpdateMetadata, then StopReplica. Each has the broker epoch that the
controller knows at that moment, not when it is sent. A dead broker gets nothing, and one whose
channel was closed loses its queue. A controller never sends a request again after an answer, even
after an error.

At 2.1 and 2.2 a broker that is to stop replicas gets an empty StopReplica first, and then one for
each replica. One request for all of them is only for those without a callback for the answer, and
every caller has one. From 2.3 on it is one request, and from its version 3 on it has the leader
epochs that were known when it was made (KIP-570).
"""

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from .. import messages
from ..facts import Fact
from ..ids import NO_BROKER_EPOCH, NO_LEADER, BrokerId
from ..messages.api_message import ControlRequest
from ..registrations import PartitionRegistration
from ..zookeeper_facts import QueueDropped, RequestsQueued
from .controller_turn import ControllerTurn
from .zookeeper_controller import (
    BrokerChannel,
    QueuedRequest,
    ZooKeeperController,
    cached,
    epoch_of,
)

STOPS_TOGETHER = (2, 3)
"""From this code on."""


class RequestBatch:
    """The requests of one change, until they are put into the queues.

    Source: ControllerBrokerRequestBatch (2.1.1 to 3.4.1).
    """

    def __init__(self) -> None:
        self.states: dict[BrokerId, dict[str, PartitionRegistration]] = {}
        self.updated: set[BrokerId] = set()
        self.metadata: dict[str, PartitionRegistration] = {}
        self.stops: dict[BrokerId, list[messages.StopReplicaItem]] = {}

    def lead_or_follow(
        self, turn: ControllerTurn, brokers: Iterable[BrokerId], state: PartitionRegistration
    ) -> None:
        """LeaderAndIsr to these brokers, and UpdateMetadata to all that live.

        Source: addLeaderAndIsrRequestForBrokers (2.1.1 to 3.4.1).
        """
        for broker in brokers:
            self.states.setdefault(broker, {})[state.name] = state
        self.update(turn, turn.controller.live_brokers, (state.name,))

    def update(
        self, turn: ControllerTurn, brokers: Iterable[BrokerId], names: Iterable[str]
    ) -> None:
        """UpdateMetadata to these brokers: what the controller remembers of these partitions.

        Source: addUpdateMetadataRequestForBrokers (2.1.1 to 3.4.1).
        """
        self.updated.update(brokers)
        self.metadata.update((name, cached(turn.controller, name)) for name in names)

    def stop(self, turn: ControllerTurn, broker: BrokerId, name: str) -> None:
        """StopReplica to the broker, without deleting the replica.

        Source: addStopReplicaRequestForBrokers (2.1.1 to 3.4.1).
        """
        epoch = cached(turn.controller, name).leader_epoch
        self.stops.setdefault(broker, []).append(messages.StopReplicaItem(name, epoch))


def queue(turn: ControllerTurn, batch: RequestBatch) -> ControllerTurn:
    """Put the requests of the batch into the queues of the brokers that live.

    Source: ControllerBrokerRequestBatch.sendRequestsToBrokers and
    ControllerChannelManager.sendRequest (2.1.1 to 3.4.1).
    """
    for broker in turn.controller.live_brokers:
        requests = tuple(_requests(turn, batch, broker))
        if requests:
            turn = _queued(turn, broker, requests)
    return turn


def send_update_metadata(
    turn: ControllerTurn, brokers: Iterable[BrokerId], names: Iterable[str]
) -> ControllerTurn:
    """One UpdateMetadata to each of these brokers; 2.1 takes no partition for all of them.

    Source: KafkaController.sendUpdateMetadataRequest (2.1.1 to 3.4.1).
    """
    names = tuple(names)
    if turn.code < (2, 2) and not names:
        names = all_partitions(turn.controller)
    batch = RequestBatch()
    batch.update(turn, brokers, names)
    return queue(turn, batch)


def all_partitions(controller: ZooKeeperController) -> tuple[str, ...]:
    """The names of all partitions that the controller knows.

    Source: ControllerContext.partitionsWithLeaders (2.8.2, 3.4.1).
    """
    return tuple(p.name for p in controller.partitions)


def add_channel(controller: ZooKeeperController, broker: BrokerId) -> ZooKeeperController:
    """A queue for a new broker. Source: ControllerChannelManager.addBroker (2.1.1 to 3.4.1)."""
    if any(channel.broker == broker for channel in controller.channels):
        return controller
    channels = sorted([*controller.channels, BrokerChannel(broker)], key=lambda c: c.broker)
    return replace(controller, channels=tuple(channels))


def remove_channel(turn: ControllerTurn, broker: BrokerId) -> ControllerTurn:
    """Close the connection to the broker: what was queued is gone.

    Source: ControllerChannelManager.removeExistingBroker (2.1.1 to 3.4.1).
    """
    gone = [channel for channel in turn.controller.channels if channel.broker == broker]
    left = tuple(c for c in turn.controller.channels if c.broker != broker)
    return turn.holding(replace(turn.controller, channels=left), *dropped(turn.controller, gone))


def dropped(
    controller: ZooKeeperController, channels: Iterable[BrokerChannel]
) -> tuple[QueueDropped, ...]:
    """Facts of queues that go unsent. Source: none; Kafka clears the queue without a word."""
    return tuple(
        QueueDropped(controller.node, c.broker, tuple(r.in_words() for r in c.queue))
        for c in channels
        if c.queue
    )


def answered(
    controller: ZooKeeperController, broker: BrokerId, request: messages.Request
) -> tuple[ZooKeeperController, tuple[messages.Send, ...], tuple[Fact, ...]]:
    """The broker has answered the head of its queue: after any answer the next one follows.

    An answer to anything else comes over a connection that is closed.

    Source: RequestSendThread.doWork and KafkaController.processLeaderAndIsrResponseReceived (2.1.1
    to 3.4.1), of which offline log directories are left out.
    """
    channels = tuple(
        replace(c, queue=c.queue[1:]) if c.broker == broker and c.queue[:1] == (request,) else c
        for c in controller.channels
    )
    if channels == controller.channels:
        return controller, (), ()
    return replace(controller, channels=channels), (), ()


def _queued(
    turn: ControllerTurn, broker: BrokerId, requests: tuple[QueuedRequest, ...]
) -> ControllerTurn:
    """A broker without a channel is passed over: `380.live-set-first` is about such a moment."""
    controller = turn.controller
    if all(channel.broker != broker for channel in controller.channels):
        return turn
    channels = tuple(
        replace(c, queue=(*c.queue, *requests)) if c.broker == broker else c
        for c in controller.channels
    )
    fact = RequestsQueued(controller.node, broker, tuple(r.in_words() for r in requests))
    return turn.holding(replace(controller, channels=channels), fact)


def _requests(
    turn: ControllerTurn, batch: RequestBatch, broker: BrokerId
) -> Iterable[QueuedRequest]:
    live = turn.controller.live_brokers
    if broker in batch.states:
        states = _by_name(batch.states[broker])
        leaders = {state.leader for state in states} - {NO_LEADER}
        live_leaders = tuple(b for b in live if b in leaders)
        header = _header(turn, broker, messages.LeaderAndIsrRequest)
        yield messages.LeaderAndIsrRequest(**header, partitions=states, live_leaders=live_leaders)
    if broker in batch.updated:
        states = _by_name(batch.metadata)
        header = _header(turn, broker, messages.UpdateMetadataRequest)
        yield messages.UpdateMetadataRequest(**header, partitions=states, live_brokers=live)
    if broker in batch.stops:
        yield from _stop_replica(turn, broker, batch.stops[broker])


def _by_name(states: dict[str, PartitionRegistration]) -> tuple[PartitionRegistration, ...]:
    return tuple(states[name] for name in sorted(states))


def _header(turn: ControllerTurn, broker: BrokerId, kind: type[ControlRequest]) -> dict[str, Any]:
    """The broker epoch is of the moment at which the request is queued."""
    controller = turn.controller
    version = kind.version_sent(turn.features, controller.node)
    epoch = epoch_of(controller, broker) if version >= kind.epoch_since else None
    return {
        "version": version,
        "controller": controller.broker,
        "controller_epoch": controller.epoch,
        "broker_epoch": NO_BROKER_EPOCH if epoch is None else epoch,
    }


def _stop_replica(
    turn: ControllerTurn, broker: BrokerId, items: list[messages.StopReplicaItem]
) -> Iterable[messages.StopReplicaRequest]:
    header = _header(turn, broker, messages.StopReplicaRequest)
    ordered = tuple(sorted(items, key=lambda item: item.partition))
    # KIP-570: from version 3 on a StopReplica carries the leader epoch of each replica.
    named = header["version"] >= 3
    bare = ordered if named else tuple(messages.StopReplicaItem(i.partition) for i in ordered)
    together = turn.code >= STOPS_TOGETHER
    for stopped in (bare,) if together else ((), *((item,) for item in bare)):
        yield messages.StopReplicaRequest(**header, items=stopped)
