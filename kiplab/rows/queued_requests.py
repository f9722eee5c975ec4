"""What waits in a controller's queues, and for which incarnation of each broker it was put there.

From 2.2 on a request says for which broker epoch it is (KIP-380). Before, nobody wrote that down:
an observer who saw it being queued knows all the same.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..engine.cluster import Cluster, MessageName
from ..engine.events import Event, Sent
from ..engine.nodes import state_of
from ..engine.truth import registration_of
from ..protocol.ids import NO_BROKER_EPOCH, BrokerEpoch, BrokerId, controller_on
from ..protocol.messages.api_message import ControlRequest
from ..protocol.releases import Mode
from ..protocol.zookeeper.zookeeper_controller import BrokerChannel, ZooKeeperController
from ..protocol.zookeeper_facts import RequestsQueued

Key = tuple[BrokerId, BrokerId]
"""The address of a controller, and a broker that it keeps a queue for."""


class Waiting(NamedTuple):
    """What a controller still has to tell `broker`, the next request first; for each of them the
    broker epoch that the broker was registered with when it was queued, or that stands on it.
    """

    kept_by: BrokerId
    """The address of the controller."""
    broker: BrokerId
    requests: tuple[str, ...]
    meant_for: tuple[BrokerEpoch, ...]


class QueueWatch:
    """Follows the queues of a run, move by move. In KRaft there are none, and it finds nothing."""

    def __init__(self, start: Cluster) -> None:
        self._is_kraft = start.features.mode is Mode.KRAFT
        self._meant: dict[Key, list[BrokerEpoch]] = {}
        self._registered: dict[BrokerId, BrokerEpoch] = {}
        self._lives: dict[tuple[BrokerId, BrokerEpoch], BrokerEpoch] = {}
        """By what a broker takes for its epoch: the one that it was registered with then."""
        self.sent_for: dict[MessageName, BrokerEpoch] = {}
        """By the name of a request that is or was on its way: for which incarnation it is."""
        self._learn(start)
        for key, channel in _channels(start):
            self._meant[key] = [self._epoch(key[1])] * len(channel.queue)

    def note(self, events: Sequence[Event], after: Cluster) -> None:
        """A move has been made: `after` is what it came to."""
        if self._is_kraft:
            return
        heads = {key: epochs[:] for key, epochs in self._meant.items()}
        self._learn(after)
        for event in events:
            if isinstance(event, RequestsQueued):
                more = [self._epoch(event.broker)] * len(event.requests)
                self._meant.setdefault((event.node, event.broker), []).extend(more)
        for event in events:
            if isinstance(event, Sent) and isinstance(event.body, ControlRequest):
                self._sent(event, after, heads)
        left = {key: len(channel.queue) for key, channel in _channels(after)}
        # Whatever is gone went from the front: answered, or dropped together with all others.
        self._meant = {k: e[len(e) - left[k] :] for k, e in self._meant.items() if left.get(k)}

    def waiting(self, cluster: Cluster) -> Iterator[Waiting]:
        """Every queue of `cluster` with something in it; `cluster` is what was noted last."""
        for key, channel in _channels(cluster):
            if channel.queue:
                unwritten = self._meant.get(key) or [self._epoch(channel.broker)]
                unwritten = unwritten[:1] * (len(channel.queue) - len(unwritten)) + unwritten
                epochs = tuple(
                    self._incarnation(channel.broker, body.broker_epoch, meant)
                    for body, meant in zip(channel.queue, unwritten, strict=True)
                )
                words = tuple(body.in_words() for body in channel.queue)
                yield Waiting(*key, words, epochs)

    def _sent(self, event: Sent, after: Cluster, before: dict[Key, list[BrokerEpoch]]) -> None:
        """A request leaves the head of its queue, in which it stays until it is answered."""
        assert isinstance(event.body, ControlRequest)
        key = (event.message.sender, event.receiver)
        queue = dict(_channels(after)).get(key, BrokerChannel(event.receiver)).queue
        epochs = self._meant.get(key) or before.get(key) or [self._epoch(event.receiver)]
        place = len(epochs) - len(queue)
        meant = epochs[place] if 0 <= place < len(epochs) else epochs[0]
        stamped = event.body.broker_epoch
        self.sent_for[event.message] = self._incarnation(event.receiver, stamped, meant)

    def _learn(self, cluster: Cluster) -> None:
        for broker in cluster.brokers:
            found = registration_of(cluster, broker.id)
            if found is not None:
                self._registered[broker.id] = found.epoch
                if broker.process is not None and found.incarnation == broker.incarnation:
                    # The same number; where session ids are generations (380.session-id), not.
                    self._lives.setdefault((broker.id, broker.process.epoch), found.epoch)

    def _incarnation(
        self, broker: BrokerId, stamped: BrokerEpoch, meant: BrokerEpoch
    ) -> BrokerEpoch:
        """The epoch under which the incarnation that a request is for was registered."""
        if stamped == NO_BROKER_EPOCH:
            return meant
        return self._lives.get((broker, stamped), stamped)

    def _epoch(self, broker: BrokerId) -> BrokerEpoch:
        """The last one that it was registered with."""
        return self._registered.get(broker, NO_BROKER_EPOCH)


def _channels(cluster: Cluster) -> Iterator[tuple[Key, BrokerChannel]]:
    for node in cluster.brokers:
        address = controller_on(node.id)
        state = state_of(cluster, address)
        if isinstance(state, ZooKeeperController):
            for channel in state.channels:
                yield (address, channel.broker), channel
