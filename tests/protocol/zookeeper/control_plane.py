"""A small ZooKeeper with controllers on brokers, whose watches wait until a test lets them go."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from msgspec.structs import replace

from kiplab.protocol import ids, messages
from kiplab.protocol.facts import Fact
from kiplab.protocol.features import Features, parse_features
from kiplab.protocol.registrations import PartitionRegistration, partition, topic_of
from kiplab.protocol.zookeeper import ensemble_writes
from kiplab.protocol.zookeeper.controller_election import elect
from kiplab.protocol.zookeeper.controller_turn import ControllerTurn
from kiplab.protocol.zookeeper.ensemble import Ensemble, find, kafka_ensemble
from kiplab.protocol.zookeeper.ensemble_sessions import end_session, open_session
from kiplab.protocol.zookeeper.watch_events import watch_fired
from kiplab.protocol.zookeeper.znodes import (
    BrokerZnode,
    PartitionStateZnode,
    ReplicaAssignment,
    Stat,
    TopicZnode,
    broker_path,
    parent_path,
    partition_state_path,
    topic_path,
    znode,
)
from kiplab.protocol.zookeeper.zookeeper_controller import ZooKeeperController
from kiplab.protocol.zookeeper.zookeeper_shutdown import controlled_shutdown
from tests.protocol.building import instance, present

CONTROLLER = 0
Reply = TypeVar("Reply", bound=messages.Response)


def state(
    name: str,
    replicas: tuple[int, ...],
    *,
    leader: int,
    isr: tuple[int, ...] | None = None,
    unclean: bool = False,
) -> PartitionRegistration:
    """A partition of leader epoch 0 and version 0."""
    return PartitionRegistration(
        name=name,
        replicas=_ids(replicas),
        isr=_ids(replicas if isr is None else isr),
        leader=ids.BrokerId(leader),
        unclean_leader_election=unclean,
    )


@dataclass
class ControlPlane:
    """ZooKeeper, the controllers, the watches that went off and what was told."""

    features: Features
    ensemble: Ensemble
    sessions: dict[int, ids.SessionId] = field(default_factory=dict)
    controllers: dict[int, ZooKeeperController] = field(default_factory=dict)
    waiting: list[messages.Send] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    seen: dict[int, int] = field(default_factory=dict)

    # --- what happens --------------------------------------------------------------------------

    def start(self, broker: int) -> None:
        """A process opens a session, registers, and its controller takes part in elections."""
        self.register(broker)
        controller = ZooKeeperController(ids.BrokerId(broker))
        self.handled(elect(controller, self.ensemble, self.sessions[broker], self.features))

    def register(self, broker: int) -> None:
        """A broker whose own controller nobody looks at."""
        opened = open_session(self.ensemble, ids.BrokerId(broker), ids.Incarnation(0))
        self.ensemble, self.sessions[broker] = opened
        self.write(broker, *registration(broker))

    def die(self, broker: int) -> None:
        self._over(self.sessions.pop(broker))

    def _over(self, session: ids.SessionId) -> None:
        ended = end_session(self.ensemble, session)
        self.ensemble = ended.ensemble
        self.waiting += ended.fired

    def bounce(self, broker: int) -> None:
        """The znode is deleted and made anew before anybody can look."""
        old = self.sessions[broker]
        opened = open_session(self.ensemble, ids.BrokerId(broker), ids.Incarnation(1))
        self.ensemble, self.sessions[broker] = opened
        self.write(
            broker, ensemble_writes.Delete(broker_path(ids.BrokerId(broker))), *registration(broker)
        )
        self._over(old)

    def sees(self, event: Callable[[int], None], broker: int) -> None:
        """It happens to the broker, and the controllers look."""
        event(broker)
        self.look()

    def operator_writes(self, *operations: ensemble_writes.Operation) -> None:
        """A transaction in a session that belongs to no broker."""
        opened = open_session(self.ensemble, ids.BrokerId(99), ids.Incarnation(0))
        self.ensemble, self.sessions[99] = opened
        self.write(99, *operations)

    def write(self, broker: int, *operations: ensemble_writes.Operation) -> None:
        done = ensemble_writes.transact(self.ensemble, self.sessions[broker], operations)
        assert done.error is ensemble_writes.ZooKeeperError.NONE, done.error
        self.ensemble = done.ensemble
        self.waiting += done.fired

    def look(self) -> None:
        """Every watch that went off arrives, and those that go off because of it."""
        while self.waiting:
            sent = self.waiting.pop(0)
            owner = ids.host_of(sent.receiver)
            assert isinstance(sent.body, messages.WatcherEvent)
            if owner in self.controllers and owner in self.sessions:
                self.handled(watch_fired(self.turn(owner), sent.body, self.sessions[owner]))

    def turn(self, at: int) -> ControllerTurn:
        return ControllerTurn(self.controllers[at], self.ensemble, self.features)

    def shut_down(
        self, broker: int, epoch: int | None = None, *, at: int = CONTROLLER, version: int = 3
    ) -> messages.ControlledShutdownResponse:
        """ControlledShutdown at a controller, with the registered epoch unless one is given."""
        sent = self.epoch(broker) if epoch is None else ids.BrokerEpoch(epoch)
        request = messages.ControlledShutdownRequest(
            version=version, broker=ids.BrokerId(broker), broker_epoch=sent
        )
        done = controlled_shutdown(self.turn(at), request)
        return self.answer(messages.ControlledShutdownResponse, done)

    def answer(
        self, kind: type[Reply], done: ensemble_writes.Together[ZooKeeperController]
    ) -> Reply:
        """What comes of a request that is answered so."""
        self.handled(done)
        (sent,) = done.sends
        return instance(kind, sent.body)

    def handled(self, done: ensemble_writes.Together[ZooKeeperController]) -> None:
        self.controllers[done.node.broker] = done.node
        self.ensemble = done.ensemble
        self.waiting += done.fired
        self.facts += done.facts

    # --- what is seen --------------------------------------------------------------------------

    @property
    def controller(self) -> ZooKeeperController:
        return self.controllers[CONTROLLER]

    def epoch(self, broker: int) -> ids.BrokerEpoch:
        """The czxid of the broker's znode; -1 where it has none."""
        found = find(self.ensemble, broker_path(ids.BrokerId(broker)))
        return ids.NO_BROKER_EPOCH if found is None else ids.BrokerEpoch(found.stat.czxid)

    def queued(self, broker: int) -> tuple[Any, ...]:
        """All that waits for the broker at the controller on broker 0."""
        channels = {c.broker: c.queue for c in self.controller.channels}
        return channels.get(ids.BrokerId(broker), ())

    def new_mail(self, broker: int) -> list[str]:
        """What was queued since somebody asked last, in words: ``"LAI(F 1)"``."""
        queue = self.queued(broker)
        new = queue[min(self.seen.get(broker, 0), len(queue)) :]
        self.seen[broker] = len(queue)
        return [told_short(request, self.controller) for request in new]

    def forget_mail(self) -> None:
        channels = tuple(replace(c, queue=()) for c in self.controller.channels)
        self.controllers[CONTROLLER] = replace(self.controller, channels=channels)
        self.seen = {}

    def state_of(self, name: str) -> tuple[PartitionStateZnode, ids.PartitionEpoch]:
        """What the znode of a partition holds, and its version."""
        found = present(find(self.ensemble, partition_state_path(name)))
        assert isinstance(found.data, PartitionStateZnode)
        return found.data, found.stat.version

    def held(self, name: str) -> str:
        """``"leader 1, ISR 1 2, epoch 3, version 4"``, of the znode."""
        found = present(partition(self.ensemble.partitions, name))
        isr = " ".join(map(str, found.isr))
        return (
            f"leader {found.leader}, ISR {isr},"
            f" epoch {found.leader_epoch}, version {found.partition_epoch}"
        )


def told_short(request: object, controller: ZooKeeperController) -> str:
    """API and partitions with their leader epochs; UM* is one with every partition."""
    match request:
        case messages.LeaderAndIsrRequest():
            states = " ".join(f"{p.name[0]}{p.leader_epoch}" for p in request.partitions)
            return f"LAI({states})"
        case messages.UpdateMetadataRequest():
            full = {p.name for p in controller.partitions} == {p.name for p in request.partitions}
            states = " ".join(f"{p.name[0]}{p.leader_epoch}" for p in request.partitions)
            return "UM*" if full else f"UM({states})"
        case messages.StopReplicaRequest():
            return f"STOP({' '.join(i.partition[0] for i in request.items)})"
    raise AssertionError(request)


def registration(broker: int) -> tuple[ensemble_writes.Operation, ensemble_writes.Operation]:
    """As brokers of 2.2 and later register."""
    path = broker_path(ids.BrokerId(broker))
    data = BrokerZnode(ids.BrokerId(broker), ids.Incarnation(0))
    return ensemble_writes.Create(path, ephemeral=True), ensemble_writes.SetData(
        path, data, ids.PartitionEpoch(0)
    )


def control_plane(
    features: Features | str,
    *states: PartitionRegistration,
    brokers: tuple[int, ...] = (0, 1, 2),
    off: tuple[str, ...] = (),
) -> ControlPlane:
    """These brokers, the first of which is the controller of epoch 1, and these partitions."""
    if isinstance(features, str):
        features = parse_features(features, off=off)
    plane = ControlPlane(features, with_partitions(kafka_ensemble(), *states))
    for broker in brokers[1:]:
        plane.register(broker)
    plane.start(brokers[0])
    plane.look()
    plane.forget_mail()
    plane.facts.clear()
    return plane


def with_partitions(ensemble: Ensemble, *states: PartitionRegistration) -> Ensemble:
    """The znodes of these partitions, as an earlier controller wrote them."""
    znodes = {z.path: z for z in ensemble.znodes}
    stat = Stat(ids.Zxid(1), ids.Zxid(1))
    for topic in sorted({topic_of(s.name) for s in states}):
        own = [s for s in states if topic_of(s.name) == topic]
        assigned = tuple(ReplicaAssignment(s.name, s.replicas) for s in own)
        path = topic_path(topic)
        znodes[path] = znode(path, TopicZnode(topic, assigned), stat)
    for found in states:
        path = partition_state_path(found.name)
        data = PartitionStateZnode(
            found.name, found.leader, found.leader_epoch, ids.ControllerEpoch(0), found.isr
        )
        znodes[path] = znode(path, data, stat)
        while (path := parent_path(path)) not in znodes:
            znodes[path] = znode(path, None, stat)
    return replace(ensemble, znodes=tuple(znodes[path] for path in sorted(znodes)))


def _ids(brokers: tuple[int, ...]) -> tuple[ids.BrokerId, ...]:
    return tuple(ids.BrokerId(b) for b in brokers)


FOLLOWED = state("F-0", (1, 2), leader=1)
LED = state("L-0", (2, 1), leader=2)
IDLE = state("idle-0", (0,), leader=0)
"""Whoever is told of it is told of every partition."""
