"""Requests and answers of the engine's controller in a play, in the form that is compared."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from msgspec.structs import replace

from ...engine import channels, history, moves, nodes
from ...engine.cluster import Cluster, Message
from ...engine.events import Dropped, Sent
from ...engine.setup import Setup
from ...protocol import messages
from ...protocol.ids import NO_BROKER_EPOCH, BrokerId, controller_on
from ...protocol.messages.api_message import ControlRequest
from ...protocol.registrations import PartitionRegistration, topic_of
from ...protocol.zookeeper.ensemble import find
from ...protocol.zookeeper.znodes import PartitionStateZnode, partition_state_path
from ..zookeeper_era import sequences


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
            return sequences.NO_EPOCH
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
_APIS: dict[type[ControlRequest], str] = {
    messages.LeaderAndIsrRequest: sequences.LEADER_AND_ISR,
    messages.UpdateMetadataRequest: sequences.UPDATE_METADATA,
    messages.StopReplicaRequest: sequences.STOP_REPLICA,
}
_LEADER_EPOCHS = 3
"""The first version of StopReplica that has them (KIP-570)."""
_RECOVERY = 6
"""The first LeaderAndIsr with LeaderRecoveryState (KIP-704); no UpdateMetadata has it."""
_NOT_IN_THE_ENGINE = 0


class EngineEar:
    """Listens to every broker but the controller's own, step after step of a play."""

    def __init__(self, setup: Setup) -> None:
        self.controller_id = BrokerId(first_controller(setup))
        self.generations = Generations()
        self._topics = sorted(topic_of(partition.name) for partition in setup.partitions)
        self._requests: list[sequences.SentRequest] = []
        self._answers: list[sequences.ShutdownAnswer] = []
        self._altered: list[sequences.AlterAnswer] = []
        for broker in sorted(setup.brokers, key=lambda one: one.epoch):
            if broker.up and broker.id != self.controller_id:
                self.generations.begin(broker.id, broker.epoch)

    def follow(self, before: Cluster, recorded: history.Recorded) -> None:
        """One step of the engine."""
        message = delivered(before, recorded)
        if message is not None and is_control_request_of(message, self.controller_id):
            self._requests.append(self._request(message, before, recorded))
        elif message is not None and message.receiver == controller_on(self.controller_id):
            for reply in _sent_by(message.receiver, before, recorded):
                self._keep(message.body, reply)
        for broker, epoch in newly_registered(before, recorded.cluster):
            self.generations.begin(broker, epoch)

    def _request(
        self, message: Message, before: Cluster, recorded: history.Recorded
    ) -> sequences.SentRequest:
        request: Any = message.body
        broker, version = message.receiver, request.version
        partitions = getattr(request, "partitions", ())
        has_recovery = isinstance(request, messages.LeaderAndIsrRequest) and version >= _RECOVERY
        without = {} if has_recovery else {"leader_recovery_state": 0}
        sent_partitions = [
            sequences.SentPartition(
                topic=topic_of(partition.name),
                controller_epoch=_NOT_IN_THE_ENGINE,
                replicas=partition.replicas,
                **_state(partition, partition.partition_epoch) | without,
            )
            for partition in partitions
            if topic_of(partition.name) != sequences.IDLE
        ]
        items = request.items if isinstance(request, messages.StopReplicaRequest) else ()
        stopped = [
            sequences.StoppedReplica(
                topic_of(item.partition),
                item.delete,
                item.leader_epoch if version >= _LEADER_EPOCHS else None,
            )
            for item in items
        ]
        live = getattr(request, "live_brokers", getattr(request, "live_leaders", ()))
        return sequences.SentRequest(
            broker=broker,
            generation=[*self.generations.of(broker).values()][-1],
            api=_APIS[type(request)],
            version=version,
            sender=request.controller,
            controller_epoch=request.controller_epoch,
            stamped=self.generations.name(broker, request.broker_epoch),
            answer=answered(message, before, recorded),
            full=len(sent_partitions) < len(partitions),
            partitions=tuple(sorted(sent_partitions, key=lambda partition: partition.topic)),
            stopped=tuple(sorted(stopped, key=lambda replica: replica.topic)),
            live=tuple(sorted(live)),
        )

    def _keep(self, request: Any, reply: object) -> None:
        if isinstance(reply, messages.ControlledShutdownResponse):
            stamped = self.generations.name(request.broker, request.broker_epoch)
            left = tuple(sorted(topic_of(name) for name in reply.remaining))
            answer = sequences.ShutdownAnswer(request.broker, stamped, int(reply.error), left)
            self._answers.append(answer)
        elif isinstance(reply, messages.AlterPartitionResponse):
            stamped = self.generations.name(request.broker, request.broker_epoch)
            self._altered.append(alter_answer(request, reply, stamped))

    def passage(self, title: str, cluster: Cluster) -> sequences.Passage:
        """The messages since the last passage, and the current znodes."""
        znodes = (engine_znode(cluster, topic) for topic in self._topics)
        passage = sequences.Passage(
            title=title,
            controller_epoch=nodes.ensemble_of(cluster).controller_epoch,
            requests=tuple(sorted(self._requests, key=lambda sent: sent.broker)),
            answers=tuple(self._answers),
            znodes=tuple(znode for znode in znodes if znode is not None),
            altered=tuple(self._altered),
        )
        self._requests, self._answers, self._altered = [], [], []
        return passage


# --- what a step is ---------------------------------------------------------------------------


def delivered(before: Cluster, recorded: history.Recorded) -> Message | None:
    """The message that arrived in a step, if one did."""
    move = recorded.move
    return channels.find(before, move.message) if isinstance(move, moves.Deliver) else None


def is_control_request_of(message: Message, controller: BrokerId) -> bool:
    """Whether it is a controller's request to another broker."""
    is_its = message.name.sender == controller_on(controller)
    return is_its and isinstance(message.body, ControlRequest) and message.receiver != controller


def answered(message: Message, before: Cluster, recorded: history.Recorded) -> int:
    """The error that a broker has answered in a step."""
    sent = _sent_by(message.receiver, before, recorded)
    return next((int(body.error) for body in sent if isinstance(body, _ANSWERS)), 0)


def _sent_by(node: BrokerId, before: Cluster, recorded: history.Recorded) -> list[object]:
    """The messages that a node has sent in a step, even to a receiver that is gone."""
    earlier = {message.name for message in before.messages}
    events = (event for event in recorded.events if isinstance(event, Sent | Dropped))
    new = (e for e in events if e.message.sender == node and e.message not in earlier)
    return [*{event.message: event.body for event in new}.values()]


def newly_registered(before: Cluster, after: Cluster) -> Iterator[tuple[int, int]]:
    """(broker, epoch) of each registration that came in a step."""
    earlier, now = (nodes.ensemble_of(cluster).registrations for cluster in (before, after))
    epochs = {(entry.broker, entry.epoch) for entry in earlier}
    yield from ((e.broker, e.epoch) for e in now if (e.broker, e.epoch) not in epochs)


def newly_gone(before: Cluster, after: Cluster) -> Iterator[int]:
    """The broker of each registration that went."""
    yield from (broker for broker, _ in newly_registered(after, before))


def first_controller(setup: Setup) -> int:
    """The broker that is the controller when a play begins."""
    if setup.controller is not None:
        return setup.controller
    return min(broker.id for broker in setup.brokers if broker.up)


def partition_name(topic: str) -> str:
    """The engine's name for the one partition of a topic."""
    return f"{topic}-0"


def alter_answer(
    request: messages.AlterPartitionRequest, answer: messages.AlterPartitionResponse, stamped: str
) -> sequences.AlterAnswer:
    """An answer of either controller; `stamped` is the generation whose epoch was sent along."""
    partitions = [
        sequences.AlteredPartition(
            topic=topic_of(result.partition),
            error=int(result.error),
            **({} if result.error else _state(result, result.partition_epoch)),
        )
        for result in answer.results
    ]
    return sequences.AlterAnswer(
        request.broker, stamped, request.version, int(answer.error), tuple(partitions)
    )


def _state(
    state: messages.AlterPartitionResult | PartitionStateZnode | PartitionRegistration, version: int
) -> dict[str, Any]:
    return {
        "leader": state.leader,
        "isr": state.isr,
        "leader_epoch": state.leader_epoch,
        "zk_version": version,
        "leader_recovery_state": int(state.recovery),
    }


def engine_znode(cluster: Cluster, topic: str) -> sequences.StateZnode | None:
    """The state of a topic's partition in the engine's ZooKeeper; None where there is none."""
    znode = find(nodes.ensemble_of(cluster), partition_state_path(partition_name(topic)))
    state = znode.data if znode is not None else None
    if znode is None or not isinstance(state, PartitionStateZnode):
        return None
    epoch = state.controller_epoch
    fields = _state(state, znode.stat.version)
    return sequences.StateZnode(topic=topic, controller_epoch=epoch, **fields)


def as_in_the_engine(passage: sequences.Passage) -> sequences.Passage:
    """A passage as both can be compared.

    In the engine's requests a partition has no controller epoch of its own, is never marked as new,
    and has no list of replicas that are offline: no broker makes anything of the three in what the
    engine models. Up to 2.5 one batch has a StopReplica for every replica, in the order of a hash
    table; here they are in the order of their names.
    """
    requests: list[sequences.SentRequest] = []
    for _, batch in groupby(passage.requests, key=_of_one_batch):
        for sent in sorted(batch, key=_stopped_alone):
            partitions = (
                replace(one, controller_epoch=_NOT_IN_THE_ENGINE, is_new=False, offline=())
                for one in sent.partitions
            )
            requests.append(replace(sent, partitions=tuple(partitions)))
    return replace(passage, requests=tuple(requests))


def _of_one_batch(sent: sequences.SentRequest) -> tuple[bool, sequences.SentRequest]:
    """Alike for requests to stop one replica each, if they follow each other."""
    alone = bool(_stopped_alone(sent))
    return alone, replace(sent, stopped=()) if alone else sent


def _stopped_alone(sent: sequences.SentRequest) -> str:
    return sent.stopped[0].topic if len(sent.stopped) == 1 else ""
