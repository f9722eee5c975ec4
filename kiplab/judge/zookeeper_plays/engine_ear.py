"""What the engine's controller sends and answers in a play, in the form that is compared."""

from collections.abc import Iterator, Mapping
from itertools import groupby

from msgspec.structs import replace

from ...engine import channels, moves
from ...engine.cluster import Cluster, Message
from ...engine.events import Dropped, Sent
from ...engine.given_situation import Setup
from ...engine.history import Recorded
from ...engine.nodes import ensemble_of
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

    def _request(
        self, message: Message, before: Cluster, recorded: Recorded
    ) -> sequences.SentRequest:
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
            answer = sequences.ShutdownAnswer(request.broker, stamped, int(reply.error), left)
            self._answers.append(answer)
        elif isinstance(reply, messages.AlterPartitionResponse):
            assert isinstance(request, messages.AlterPartitionRequest)
            stamped = self.generations.name(request.broker, request.broker_epoch)
            self._altered.append(alter_answer(request, reply, stamped))

    def passage(self, title: str, cluster: Cluster) -> sequences.Passage:
        """What was heard since the last one, and what ZooKeeper has now."""
        znodes = (engine_znode(cluster, topic) for topic in self._topics)
        passage = sequences.Passage(
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
    return channels.find(before, move.message) if isinstance(move, moves.Deliver) else None


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


_APIS: dict[type[ControlRequest], str] = {
    messages.LeaderAndIsrRequest: sequences.LEADER_AND_ISR,
    messages.UpdateMetadataRequest: sequences.UPDATE_METADATA,
    messages.StopReplicaRequest: sequences.STOP_REPLICA,
}
_WITH_LEADER_EPOCHS = 3
"""The first version of StopReplica that has them (KIP-570)."""
_WITH_RECOVERY = 6
"""The first version of LeaderAndIsr that has LeaderRecoveryState (KIP-704); UpdateMetadata has none
in any version.
"""
_NOT_IN_THE_ENGINE = 0


def partition_name(topic: str) -> str:
    """The engine's name for the one partition of a topic."""
    return f"{topic}-0"


def engine_request(
    broker: int,
    generation: str,
    request: ControlRequest,
    answer: int,
    generations: Mapping[tuple[int, int], str],
) -> sequences.SentRequest:
    """A request that reached a broker; `generations` are named by broker and czxid."""
    partitions = getattr(request, "partitions", ())
    items = request.items if isinstance(request, messages.StopReplicaRequest) else ()
    says = isinstance(request, messages.LeaderAndIsrRequest) and request.version >= _WITH_RECOVERY
    told = [_told(p, says_recovery=says) for p in partitions if topic_of(p.name) != sequences.IDLE]
    stops_by_epoch = request.version >= _WITH_LEADER_EPOCHS
    stopped = [
        sequences.StoppedReplica(
            topic_of(i.partition), i.delete, i.leader_epoch if stops_by_epoch else None
        )
        for i in items
    ]
    epoch = request.broker_epoch
    known = generations.get((broker, epoch), f"unknown epoch {epoch}")
    return sequences.SentRequest(
        broker=broker,
        generation=generation,
        api=_APIS[type(request)],
        version=request.version,
        sender=request.controller,
        controller_epoch=request.controller_epoch,
        stamped=sequences.NO_EPOCH if epoch == NO_BROKER_EPOCH else known,
        answer=answer,
        full=any(topic_of(p.name) == sequences.IDLE for p in partitions),
        partitions=tuple(sorted(told, key=lambda partition: partition.topic)),
        stopped=tuple(sorted(stopped, key=lambda replica: replica.topic)),
        live=tuple(sorted(getattr(request, "live_brokers", getattr(request, "live_leaders", ())))),
    )


def alter_answer(
    request: messages.AlterPartitionRequest, answer: messages.AlterPartitionResponse, stamped: str
) -> sequences.AlterAnswer:
    """An answer of either controller; `stamped` is the generation whose epoch was sent along."""
    return sequences.AlterAnswer(
        broker=request.broker,
        stamped=stamped,
        version=request.version,
        error=int(answer.error),
        partitions=tuple(map(_altered, answer.results)),
    )


def _altered(result: messages.AlterPartitionResult) -> sequences.AlteredPartition:
    topic = topic_of(result.partition)
    if result.error:
        return sequences.AlteredPartition(topic, int(result.error))
    return sequences.AlteredPartition(
        topic=topic,
        error=int(result.error),
        leader=result.leader,
        isr=result.isr,
        leader_epoch=result.leader_epoch,
        zk_version=result.partition_epoch,
        leader_recovery_state=int(result.recovery),
    )


def engine_znode(cluster: Cluster, topic: str) -> sequences.StateZnode | None:
    """The state of a topic's partition in the engine's ZooKeeper; None where there is none."""
    znode = find(ensemble_of(cluster), partition_state_path(partition_name(topic)))
    state = znode.data if znode is not None else None
    if znode is None or not isinstance(state, PartitionStateZnode):
        return None
    return sequences.StateZnode(
        topic=topic,
        leader=state.leader,
        isr=state.isr,
        leader_epoch=state.leader_epoch,
        controller_epoch=state.controller_epoch,
        zk_version=znode.stat.version,
        leader_recovery_state=int(state.recovery),
    )


def as_in_the_engine(passage: sequences.Passage) -> sequences.Passage:
    """A passage as both can be compared.

    In the engine's requests a partition has no controller epoch of its own, is never marked as new,
    and has no list of replicas that are offline: no broker makes anything of the three in what the
    engine models. Up to 2.5 one batch has a StopReplica for every replica, in the order of a hash
    table; here they are in the order of their names.
    """
    requests: list[sequences.SentRequest] = []
    for _, batch in groupby(passage.requests, key=_of_one_batch):
        requests += sorted(map(_in_the_engine, batch), key=_stopped_alone)
    return replace(passage, requests=tuple(requests))


def _of_one_batch(sent: sequences.SentRequest) -> tuple[bool, sequences.SentRequest]:
    """Alike for requests to stop one replica each, if they follow each other."""
    alone = bool(_stopped_alone(sent))
    return alone, replace(sent, stopped=()) if alone else sent


def _stopped_alone(sent: sequences.SentRequest) -> str:
    return sent.stopped[0].topic if len(sent.stopped) == 1 else ""


def _in_the_engine(sent: sequences.SentRequest) -> sequences.SentRequest:
    partitions = tuple(
        replace(told, controller_epoch=_NOT_IN_THE_ENGINE, is_new=False, offline=())
        for told in sent.partitions
    )
    return replace(sent, partitions=partitions)


def _told(partition: PartitionRegistration, *, says_recovery: bool) -> sequences.SentPartition:
    return sequences.SentPartition(
        topic=topic_of(partition.name),
        leader=partition.leader,
        isr=partition.isr,
        leader_epoch=partition.leader_epoch,
        zk_version=partition.partition_epoch,
        controller_epoch=_NOT_IN_THE_ENGINE,
        replicas=partition.replicas,
        leader_recovery_state=int(partition.recovery) if says_recovery else 0,
    )
