"""What the engine's controller sends and answers in a play, in the form that is compared."""

from collections.abc import Iterator

from ...engine import moves
from ...engine.channels import find
from ...engine.cluster import Cluster, Message
from ...engine.events import Dropped, Sent
from ...engine.given_situation import Setup
from ...engine.history import Recorded
from ...engine.nodes import ensemble_of
from ...protocol.ids import NO_BROKER_EPOCH, BrokerId, controller_on
from ...protocol.messages import (
    AlterPartitionRequest,
    AlterPartitionResponse,
    ControlledShutdownRequest,
    ControlledShutdownResponse,
    LeaderAndIsrResponse,
    StopReplicaResponse,
    UpdateMetadataResponse,
)
from ...protocol.messages.api_message import ControlRequest
from ...protocol.registrations import topic_of
from ..zookeeper_era.engine_control_requests import alter_answer, engine_request, engine_znode
from ..zookeeper_era.sequences import NO_EPOCH, AlterAnswer, Passage, SentRequest, ShutdownAnswer


class Generations:
    """The incarnations of brokers in a play, in the order of their registrations, by names such as
    ``"b1g2"``: the second registration of broker 1.
    """

    def __init__(self) -> None:
        self._known: dict[int, list[tuple[int, str]]] = {}

    def begin(self, broker: int, epoch: int) -> str:
        """The next one of a broker: it has this epoch in the play."""
        known = self._known.setdefault(broker, [])
        known.append((epoch, f"b{broker}g{len(known) + 1}"))
        return known[-1][1]

    def epochs_of(self, broker: int) -> list[tuple[int, str]]:
        """Every epoch that a broker has had, and the generation's name."""
        return self._known.get(broker, [])

    def now(self, broker: int) -> str:
        """The last one of a broker that has registered."""
        return self._known[broker][-1][1]

    def name(self, broker: int, epoch: int) -> str:
        """Whose epoch that is."""
        if epoch == NO_BROKER_EPOCH:
            return NO_EPOCH
        return dict(self.epochs_of(broker)).get(epoch, f"unknown epoch {epoch}")

    @property
    def by_epoch(self) -> dict[tuple[int, int], str]:
        """The names by broker and epoch."""
        return {(b, epoch): name for b, known in self._known.items() for epoch, name in known}

    @property
    def epochs(self) -> tuple[tuple[str, int], ...]:
        """The epochs by name."""
        return tuple((name, epoch) for known in self._known.values() for epoch, name in known)


_ANSWERS = (LeaderAndIsrResponse, UpdateMetadataResponse, StopReplicaResponse)


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

    def hear(self, before: Cluster, recorded: Recorded) -> None:
        """One step of the engine."""
        message = delivered(before, recorded)
        if message is not None:
            self._hear(message, before, recorded)
        for broker, epoch in newly_registered(before, recorded.cluster):
            self.generations.begin(broker, epoch)

    def _hear(self, message: Message, before: Cluster, recorded: Recorded) -> None:
        body = message.body
        if is_control_request_of(message, self.controller_id):
            assert isinstance(body, ControlRequest)
            self._requests.append(
                engine_request(
                    broker=message.receiver,
                    generation=self.generations.now(message.receiver),
                    request=body,
                    answer=answered(message, before, recorded),
                    generations=self.generations.by_epoch,
                )
            )
        elif message.receiver == controller_on(self.controller_id):
            for reply in said_by(message.receiver, before, recorded):
                self._keep(body, reply)

    def _keep(self, asked: object, reply: object) -> None:
        if isinstance(reply, ControlledShutdownResponse):
            assert isinstance(asked, ControlledShutdownRequest)
            stamped = self.generations.name(asked.broker, asked.broker_epoch)
            left = tuple(sorted(topic_of(name) for name in reply.remaining))
            answer = ShutdownAnswer(asked.broker, stamped, int(reply.error), left)
            self._answers.append(answer)
        elif isinstance(reply, AlterPartitionResponse):
            assert isinstance(asked, AlterPartitionRequest)
            stamped = self.generations.name(asked.broker, asked.broker_epoch)
            self._altered.append(alter_answer(asked, reply, stamped))

    def passage(self, title: str, cluster: Cluster) -> Passage:
        """What was heard since the last one, and what ZooKeeper has now."""
        requests, self._requests = self._requests, []
        answers, self._answers = self._answers, []
        altered, self._altered = self._altered, []
        znodes = (engine_znode(cluster, topic) for topic in self._topics)
        return Passage(
            title=title,
            controller_epoch=ensemble_of(cluster).controller_epoch,
            requests=tuple(sorted(requests, key=lambda sent: sent.broker)),
            answers=tuple(answers),
            znodes=tuple(znode for znode in znodes if znode is not None),
            altered=tuple(altered),
        )


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
    said = said_by(message.receiver, before, recorded)
    return next((int(body.error) for body in said if isinstance(body, _ANSWERS)), 0)


def said_by(node: BrokerId, before: Cluster, recorded: Recorded) -> Iterator[object]:
    """What a node has said in a step, even if whom it answers is gone."""
    earlier = {message.name for message in before.messages}
    said = {
        event.message: event.body
        for event in recorded.events
        if isinstance(event, Sent | Dropped)
        and event.message.sender == node
        and event.message not in earlier
    }
    yield from said.values()


def newly_registered(before: Cluster, after: Cluster) -> Iterator[tuple[int, int]]:
    """(broker, epoch) of each registration that came in a step."""
    known = _registered(before)
    yield from (one for one in _registered(after) if one not in known)


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
