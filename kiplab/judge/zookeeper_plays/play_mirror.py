"""What happens in the engine to brokers and to ZooKeeper, done to a real controller's.

Only the controller's own doing is left to the real one. Whatever else the engine does, brokers and
operators and ZooKeeper itself, is done again, step by step: registrations come and go, leaders
write or ask for another ISR, requests reach the controller, and its requests reach brokers when
they do in the engine.
"""

from collections.abc import Iterator

from ...engine import moves
from ...engine.cluster import Cluster, Message
from ...engine.cluster import broker as broker_of
from ...engine.history import Recorded
from ...engine.nodes import ensemble_of, is_cut, state_of
from ...protocol import messages
from ...protocol.ids import BrokerId, controller_on
from ...protocol.messages.api_message import ControlRequest
from ...protocol.registrations import topic_of
from ...protocol.zookeeper.ensemble import below, find
from ...protocol.zookeeper.znodes import ISR_CHANGES_PATH, IsrChangeZnode, PartitionStateZnode
from ..zookeeper_era.sequences import AlterAnswer, Passage, ShutdownAnswer
from .engine_ear import answered, delivered, is_control_request_of, newly_gone, newly_registered
from .played_cluster import PlayedCluster


class PlayMirror:
    """``mirror.follow(before, step)`` for each step of a line, then ``mirror.passage(...)``."""

    def __init__(self, cluster: PlayedCluster) -> None:
        self._cluster = cluster
        self._controller = BrokerId(cluster.controller_id)
        self._answers: list[ShutdownAnswer] = []
        self._altered: list[AlterAnswer] = []

    def follow(self, before: Cluster, recorded: Recorded) -> None:
        """Do what one step did."""
        message, after = delivered(before, recorded), recorded.cluster
        self._ears(before, after)
        if message is not None and is_control_request_of(message, self._controller):
            self._cluster.hear_one(message.receiver, answered(message, before, recorded))
        elif message is not None and message.receiver == controller_on(self._controller):
            self._tell(message, before)
            return
        self._zookeeper(before, recorded)

    def passage(self, title: str, cluster: Cluster) -> Passage:
        """What came of a line, whatever the engine's controller has sent in it."""
        self._cluster.settle()
        for broker in self._hearing(cluster):
            self._cluster.hear_all(broker)
        passage = Passage(
            title=title,
            controller_epoch=self._cluster.controller_epoch(),
            requests=self._cluster.heard(),
            answers=tuple(self._answers),
            znodes=self._cluster.znodes(),
            altered=tuple(self._altered),
        )
        self._answers, self._altered = [], []
        return passage

    def _hearing(self, cluster: Cluster) -> Iterator[int]:
        """Brokers for whom the engine's controller has nothing more in its queue."""
        state = state_of(cluster, controller_on(self._controller))
        busy = {m.receiver for m in cluster.messages if isinstance(m.body, ControlRequest)}
        for channel in state.channels:
            is_idle = not channel.queue and channel.broker not in {self._controller, *busy}
            if is_idle and self._cluster.fake(channel.broker).hears:
                yield channel.broker

    # --- what reaches the controller --------------------------------------------------------------

    def _tell(self, message: Message, before: Cluster) -> None:
        match message.body:
            case messages.WatcherEvent(path=path):
                self._watch(path, before)
            case messages.ControlledShutdownRequest() as request:
                self._answers.append(self._cluster.shut_down(request))
            case messages.AlterPartitionRequest() as request:
                self._altered.append(self._cluster.alter(request))
            case messages.ElectLeadersRequest() as request:
                self._cluster.asked.elect(request)
            case _:
                return
        self._cluster.settle()

    def _watch(self, path: str, before: Cluster) -> None:
        if not path.startswith(ISR_CHANGES_PATH):
            self._cluster.tell(path)
            return
        changes = [znode.data for znode in below(ensemble_of(before).znodes, ISR_CHANGES_PATH)]
        names = [n for data in changes if isinstance(data, IsrChangeZnode) for n in data.partitions]
        self._cluster.settle(tuple(dict.fromkeys(map(topic_of, names))))

    # --- what happens without it ------------------------------------------------------------------

    def _ears(self, before: Cluster, after: Cluster) -> None:
        """Processes begin and end, links go down and come back."""
        for node in after.brokers:
            if node.id == self._controller:
                continue
            earlier, fake = broker_of(before, node.id), self._cluster.fake(node.id)
            is_another = earlier is None or earlier.incarnation != node.incarnation
            if is_another and self._can_hear(before, node.id):
                fake.turn_deaf()
            if self._can_hear(after, node.id):
                fake.hear()
            else:
                fake.turn_deaf()

    def _can_hear(self, cluster: Cluster, broker: BrokerId) -> bool:
        node = broker_of(cluster, broker)
        is_up = node is not None and node.process is not None
        return is_up and not is_cut(cluster, controller_on(self._controller), broker)

    def _zookeeper(self, before: Cluster, recorded: Recorded) -> None:
        after = recorded.cluster
        gone, new = list(newly_gone(before, after)), list(newly_registered(before, after))
        states = list(written_states(before, after))
        for broker in gone:
            self._cluster.end_session(broker)
        for broker, epoch in new:
            self._cluster.register(broker, epoch)
        for state, version in states:
            self._cluster.write_state(state, version)
        is_deposed = isinstance(recorded.move, moves.FailOver)
        if is_deposed:
            self._cluster.drop_controller()
        if gone or new or states or is_deposed:
            self._cluster.settle()


def written_states(before: Cluster, after: Cluster) -> Iterator[tuple[PartitionStateZnode, int]]:
    """States of partitions that were written in a step, each with the version that was there."""
    if ensemble_of(before).znodes is ensemble_of(after).znodes:
        return
    for znode in ensemble_of(after).znodes:
        earlier = find(ensemble_of(before), znode.path)
        if earlier is None or not isinstance(znode.data, PartitionStateZnode):
            continue
        if earlier.stat.version != znode.stat.version:
            yield znode.data, earlier.stat.version
