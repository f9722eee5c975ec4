"""What the engine's controller sends and answers in a play, in the form that is compared."""

from collections.abc import Iterator

from ...engine import moves
from ...engine.channels import find
from ...engine.cluster import Cluster, Message
from ...engine.events import Dropped, Sent
from ...engine.given_situation import Setup
from ...engine.history import Recorded
from ...engine.nodes import ensemble_of
from ...protocol import messages
from ...protocol.ids import NO_BROKER_EPOCH, BrokerId, controller_on
from ...protocol.messages.api_message import ControlRequest
from ...protocol.registrations import topic_of
from ..zookeeper_era.engine_control_requests import alter_answer, engine_request, engine_znode
from ..zookeeper_era.sequences import NO_EPOCH, AlterAnswer, Passage, SentRequest, ShutdownAnswer


class Generations:
    """The incarnations of brokers in a play, in the order of their registrations, by names such as
    ``"b1g2"``: the second registration of broker 1. `by_epoch` has them by broker and epoch.
    """

    def __init__(self) -> None:
        self.by_epoch: dict[tuple[int, int], str] = {}

    def begin(self, broker: int, epoch: int) -> str:
        """The next one of a broker: it has this epoch in the play."""
        name = f"b{broker}g{len(self.of(broker)) + 1}"
        self.by_epoch[broker, epoch] = name
        return name

    def of(self, broker: int) -> dict[int, str]:
        """Every epoch that a broker has had, and the generation's name."""
        return {epoch: name for (b, epoch), name in self.by_epoch.items() if b == broker}

    def name(self, broker: int, epoch: int) -> str:
        """Whose epoch that is."""
        if epoch == NO_BROKER_EPOCH:
            return NO_EPOCH
        return self.by_epoch.get((broker, epoch), f"unknown epoch {epoch}")

    @property
    def epochs(self) -> dict[str, int]:
        """The epochs by name."""
        return {name: epoch for (_, epoch), name in self.by_epoch.items()}


_ANSWERS = (
    messages.LeaderAndIsrResponse,
    messages.UpdateMetadataResponse,
    messages.StopReplicaResponse,
)


class EngineEar:
    """Listens to every broker but the controller's own, step after step of a play."""

    def __init__(self, setup: Setup) -> None:
        self.controller_id = BrokerId(first_controller(setup))
        self.generations = Generations()
        self._topics = sorted(topic_of(partition.name) for partition in setup.partitions)
        self._requests: list[SentRequest] = []
        self._answers: list[ShutdownAnswer] = []
        self._altered: list[AlterAnswer] = []
        for broker in sorted(setup.brokers, key=lambda one: one.epoch):
            if broker.up and broker.id != self.controller_id:
                self.generations.begin(broker.id, broker.epoch)

    def follow(self, before: Cluster, recorded: Recorded) -> None:
        """One step of the engine."""
        message = delivered(before, recorded)
        if message is not None and is_control_request_of(message, self.controller_id):
            self._requests.append(self._request(message, before, recorded))
        elif message is not None and message.receiver == controller_on(self.controller_id):
            for reply in _sent_by(message.receiver, before, recorded):
                self._keep(message.body, reply)
        for broker, epoch in newly_registered(before, recorded.cluster):
            self.generations.begin(broker, epoch)

    def _request(self, message: Message, before: Cluster, recorded: Recorded) -> SentRequest:
        assert isinstance(message.body, ControlRequest)
        return engine_request(
            broker=message.receiver,
            generation=[*self.generations.of(message.receiver).values()][-1],
            request=message.body,
            answer=answered(message, before, recorded),
            generations=self.generations.by_epoch,
        )

    def _keep(self, request: object, reply: object) -> None:
        if isinstance(reply, messages.ControlledShutdownResponse):
            assert isinstance(request, messages.ControlledShutdownRequest)
            stamped = self.generations.name(request.broker, request.broker_epoch)
            left = tuple(sorted(topic_of(name) for name in reply.remaining))
            answer = ShutdownAnswer(request.broker, stamped, int(reply.error), left)
            self._answers.append(answer)
        elif isinstance(reply, messages.AlterPartitionResponse):
            assert isinstance(request, messages.AlterPartitionRequest)
            stamped = self.generations.name(request.broker, request.broker_epoch)
            self._altered.append(alter_answer(request, reply, stamped))

    def passage(self, title: str, cluster: Cluster) -> Passage:
        """What was heard since the last one, and what ZooKeeper has now."""
        znodes = (engine_znode(cluster, topic) for topic in self._topics)
        passage = Passage(
            title=title,
            controller_epoch=ensemble_of(cluster).controller_epoch,
            requests=tuple(sorted(self._requests, key=lambda sent: sent.broker)),
            answers=tuple(self._answers),
            znodes=tuple(znode for znode in znodes if znode is not None),
            altered=tuple(self._altered),
        )
        self._requests, self._answers, self._altered = [], [], []
        return passage


# --- what a step is ---------------------------------------------------------------------------


def delivered(before: Cluster, recorded: Recorded) -> Message | None:
    """The message that arrived in a step, if one did."""
    move = recorded.move
    return find(before, move.message) if isinstance(move, moves.Deliver) else None


def is_control_request_of(message: Message, controller: BrokerId) -> bool:
    """Whether it is a controller's request to another broker."""
    is_its = message.name.sender == controller_on(controller)
    return is_its and isinstance(message.body, ControlRequest) and message.receiver != controller


def answered(message: Message, before: Cluster, recorded: Recorded) -> int:
    """The error that a broker has answered in a step."""
    sent = _sent_by(message.receiver, before, recorded)
    return next((int(body.error) for body in sent if isinstance(body, _ANSWERS)), 0)


def _sent_by(node: BrokerId, before: Cluster, recorded: Recorded) -> list[object]:
    """What a node has sent in a step, even if whom it answers is gone."""
    earlier = {message.name for message in before.messages}
    events = (event for event in recorded.events if isinstance(event, Sent | Dropped))
    new = (e for e in events if e.message.sender == node and e.message not in earlier)
    return [*{event.message: event.body for event in new}.values()]


def newly_registered(before: Cluster, after: Cluster) -> Iterator[tuple[int, int]]:
    """(broker, epoch) of each registration that came in a step."""
    earlier = _registered(before)
    yield from (one for one in _registered(after) if one not in earlier)


def newly_gone(before: Cluster, after: Cluster) -> Iterator[int]:
    """The broker of each registration that went."""
    left = _registered(after)
    yield from (broker for broker, epoch in _registered(before) if (broker, epoch) not in left)


def _registered(cluster: Cluster) -> list[tuple[int, int]]:
    return [(r.broker, r.epoch) for r in ensemble_of(cluster).registrations]


def first_controller(setup: Setup) -> int:
    """The broker that is the controller when a play begins."""
    if setup.controller is not None:
        return setup.controller
    return min(broker.id for broker in setup.brokers if broker.up)
