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
from ...protocol.ids import BrokerId, controller_on
from ...protocol.messages import (
    AlterPartitionRequest,
    ControlledShutdownRequest,
    ElectLeadersRequest,
    WatcherEvent,
)
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
        answers, self._answers = self._answers, []
        altered, self._altered = self._altered, []
        return Passage(
            title=title,
            controller_epoch=self._cluster.controller_epoch(),
            requests=self._cluster.heard(),
            answers=tuple(answers),
            znodes=self._cluster.znodes(),
            altered=tuple(altered),
        )

    def _hearing(self, cluster: Cluster) -> Iterator[int]:
        """Brokers for whom the engine's controller has nothing more in its queue."""
        state = state_of(cluster, controller_on(self._controller))
        for channel in state.channels:
            here = channel.broker
            is_idle = not channel.queue and here != self._controller
            if is_idle and self._cluster.fake(here).hears and not _under_way(cluster, here):
                yield here

    # --- what reaches the controller --------------------------------------------------------------

    def _tell(self, message: Message, before: Cluster) -> None:
        body = message.body
        if isinstance(body, WatcherEvent):
            self._watch(body.path, before)
        elif isinstance(body, ControlledShutdownRequest):
            self._shut_down(body)
        elif isinstance(body, AlterPartitionRequest):
            self._alter(body)
        elif isinstance(body, ElectLeadersRequest):
            self._cluster.elect(body)
        else:
            return
        self._cluster.settle()

    def _watch(self, path: str, before: Cluster) -> None:
        if not path.startswith(ISR_CHANGES_PATH):
            self._cluster.tell(path)
            return
        told = below(ensemble_of(before).znodes, ISR_CHANGES_PATH)
        names = [n for z in told if isinstance(z.data, IsrChangeZnode) for n in z.data.partitions]
        self._cluster.settle(tuple(dict.fromkeys(map(topic_of, names))))

    def _shut_down(self, body: ControlledShutdownRequest) -> None:
        cluster, epoch = self._cluster, body.broker_epoch
        stamped = cluster.generations.name(body.broker, epoch)
        error, left = cluster.asked.shut_down(
            body.broker, body.version, cluster.czxid(body.broker, epoch)
        )
        self._answers.append(ShutdownAnswer(body.broker, stamped, error, left))

    def _alter(self, body: AlterPartitionRequest) -> None:
        self._altered.append(self._cluster.alter(body))

    # --- what happens without it ------------------------------------------------------------------

    def _ears(self, before: Cluster, after: Cluster) -> None:
        """Processes begin and end, links go down and come back."""
        for node in after.brokers:
            if node.id == self._controller:
                continue
            hears, fake = self._can_hear(after, node.id), self._cluster.fake(node.id)
            if self._can_hear(before, node.id) and _incarnation(before, node.id) != _incarnation(
                after, node.id
            ):
                fake.turn_deaf()
            if hears and not fake.hears:
                fake.hear()
            elif not hears:
                fake.turn_deaf()

    def _can_hear(self, cluster: Cluster, broker: BrokerId) -> bool:
        here = broker_of(cluster, broker)
        is_up = here is not None and here.process is not None
        return is_up and not is_cut(cluster, controller_on(self._controller), broker)

    def _zookeeper(self, before: Cluster, recorded: Recorded) -> None:
        after, changed = recorded.cluster, False
        for broker in newly_gone(before, after):
            self._cluster.end_session(broker)
            changed = True
        for broker, epoch in newly_registered(before, after):
            self._cluster.register(broker, epoch)
            changed = True
        for state, version in written_states(before, after):
            self._cluster.write_state(state, version)
            changed = True
        if isinstance(recorded.move, moves.FailOver):
            self._cluster.drop_controller()
            changed = True
        if changed:
            self._cluster.settle()


def _incarnation(cluster: Cluster, broker: BrokerId) -> int:
    here = broker_of(cluster, broker)
    return -1 if here is None else here.incarnation


def _under_way(cluster: Cluster, broker: BrokerId) -> bool:
    return any(
        message.receiver == broker and isinstance(message.body, ControlRequest)
        for message in cluster.messages
    )


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
