"""A real controller that begins as a play does, among fake brokers that are told what to hear, and
to which what happens in the engine to brokers and to ZooKeeper is done.

Whatever brokers, operators and ZooKeeper itself do in the engine is done again, step by step:
registrations come and go, leaders write or ask for another ISR, requests reach the controller, and
its requests reach brokers when they do in the engine.
"""

from collections.abc import Iterator
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Self

from msgspec.structs import replace

from ...engine import history, moves
from ...engine.cluster import Cluster, Message
from ...engine.cluster import broker as broker_of
from ...engine.nodes import ensemble_of, is_cut, state_of
from ...engine.setup import Setup
from ...protocol import messages, registrations
from ...protocol.ids import BrokerEpoch, BrokerId, controller_on
from ...protocol.zookeeper.ensemble import below, find
from ...protocol.zookeeper.znodes import (
    CONTROLLER_PATH,
    ISR_CHANGES_PATH,
    IsrChangeZnode,
    PartitionStateZnode,
)
from ..wire.metadata_log import ReleaseSchemas
from ..zookeeper_era import asked_controller as znodes
from ..zookeeper_era import kafka_server, sequences
from ..zookeeper_era.gates import BackgroundLoop, Gate, PermittedBroker
from ..zookeeper_server.zookeeper_process import ZooKeeperProcess
from . import engine_ear

if TYPE_CHECKING:
    from kazoo.client import KazooClient

_NEVER_MS = 3_600_000
_QUIET = {
    # The real broker takes nobody out of an ISR, and no request is given up, while a play stands.
    "replica.lag.time.max.ms": _NEVER_MS,
    "controller.socket.timeout.ms": _NEVER_MS,
}
_LATE_S, _GIVEN_UP_S = 15.0, 2.0
"""How long a request is waited for, and how long once one did not come."""


class PlayedCluster(ExitStack):
    """``with PlayedCluster("2.2.2", setup, "", schemas) as cluster: ...``, then ``follow`` for each
    step of a line, and ``passage``.

    The real broker is the one that `setup` has for its controller. `protocol` is its
    inter.broker.protocol.version, its own if empty. Raises what `KafkaServer` raises, and
    TooQuietError where it does not take over.
    """

    def __init__(self, patch: str, setup: Setup, protocol: str, schemas: ReleaseSchemas) -> None:
        super().__init__()
        self._patch, self._setup, self._schemas = patch, setup, schemas
        self._settings = _QUIET | ({"inter.broker.protocol.version": protocol} if protocol else {})
        self.controller_id = BrokerId(engine_ear.first_controller(setup))
        self.generations = engine_ear.Generations()
        self.is_missed = False
        self._czxids: dict[str, int] = {}
        self._journal = sequences.Journal()
        self._fakes: dict[int, PermittedBroker] = {}
        self._sessions: dict[int, KazooClient] = {}
        self._answers: list[sequences.ShutdownAnswer] = []
        self._altered: list[sequences.AlterAnswer] = []

    def __enter__(self) -> Self:
        try:
            self._begin()
        except BaseException:
            self.close()
            raise
        return self

    # --- how it begins ----------------------------------------------------------------------------

    def _begin(self) -> None:
        zookeeper = self.enter_context(ZooKeeperProcess())
        (self._address,) = zookeeper.addresses
        self.client: KazooClient = znodes.session(self._address)
        self.callback(znodes.end, self.client)
        self._loop = self.enter_context(BackgroundLoop())
        self._gate = Gate(self._loop, int(self._address.rpartition(":")[2]))
        self.callback(self._gate.close)
        self.callback(self._end_sessions)
        znodes.write_first_znodes(self.client, self._setup)
        for broker in sorted(self._setup.brokers, key=lambda one: one.epoch):
            if broker.id != self.controller_id and broker.up:
                self._register(broker.id, broker.epoch)
            elif broker.id != self.controller_id:
                self.fake(broker.id).turn_deaf()
        where = f"127.0.0.1:{self._gate.port}"
        server = kafka_server.KafkaServer(self._patch, where, self.controller_id, self._settings)
        port = self.enter_context(server).port
        self.kafka = znodes.AskedController(self._patch, port, self.client, self._schemas)
        self._take_over()

    def _end_sessions(self) -> None:
        for client in self._sessions.values():
            znodes.end(client)

    def _take_over(self) -> None:
        self._wait_for_controller(self._setup.controller_epoch - 1)
        for name in (sequences.MARKER, sequences.IDLE):
            znodes.create_topic(self.client, name, (self.controller_id,))
        self._barrier = znodes.Barrier(self.client, self._journal, self.kafka.about_nobody)
        self._barrier.come_to_rest(sorted(self._sessions), ())
        self._journal.take()
        for fake in self._fakes.values():
            fake.shut()
        self._gate.holds_watches = True

    def fake(self, broker: int) -> PermittedBroker:
        """The broker of that id."""
        if broker not in self._fakes:
            permitted_broker = PermittedBroker(broker, self._loop, self._journal, self._schemas)
            self._fakes[broker] = permitted_broker
            self.callback(permitted_broker.turn_deaf)
        return self._fakes[broker]

    def _register(self, broker: int, epoch: int) -> None:
        """Its next generation, which the play knows by its epoch, registers in a new session."""
        client, fake = znodes.session(self._address), self.fake(broker)
        transaction = client.transaction()
        data = znodes.registration(self._patch, fake.port)
        znodes.add_registration(transaction, broker, data)
        znodes.commit(transaction)
        self._sessions[broker] = client
        fake.generation = self.generations.begin(broker, epoch)
        fake.epoch = client.exists(znodes.znode_of(broker)).czxid
        self._czxids[fake.generation] = fake.epoch

    def _wait_for_controller(self, earlier: int) -> None:
        """Wait until the next one has taken over. Raises TooQuietError if none does."""
        sequences.wait_until(lambda: self.controller_epoch() > earlier, "another controller epoch")
        sequences.wait_until(self.kafka.is_active, "an active controller")

    # --- what is read -----------------------------------------------------------------------------

    def controller_epoch(self) -> int:
        """As ZooKeeper has it."""
        return int(self.client.get(znodes.CONTROLLER_EPOCH)[0])

    def znodes(self) -> tuple[sequences.StateZnode, ...]:
        """The state of every partition of the play."""
        topics = sorted(registrations.topic_of(each.name) for each in self._setup.partitions)
        states = (znodes.state_of(self.client, topic) for topic in topics)
        return tuple(state for state in states if state is not None)

    def settle(self, changed: tuple[str, ...] = ()) -> None:
        """Wait until it has processed all events; `changed` topics are announced on the way."""
        self._barrier.come_to_rest((), changed)

    def passage(self, title: str, cluster: Cluster) -> sequences.Passage:
        """The passage of a line, also where the engine's controller has sent nothing."""
        self.settle()
        for broker in self._hearing(cluster):
            self._hear_all(broker)
        named = self.generations.by_epoch.items()
        names = {(broker, self._czxids[name]): name for (broker, _), name in named}
        passage = sequences.Passage(
            title=title,
            controller_epoch=self.controller_epoch(),
            requests=sequences.sent_requests(self._journal.take(), names),
            answers=tuple(self._answers),
            znodes=self.znodes(),
            altered=tuple(self._altered),
        )
        self._answers, self._altered = [], []
        return passage

    def _hearing(self, cluster: Cluster) -> Iterator[int]:
        """Brokers for whom the engine's controller has nothing more in its queue."""
        state = state_of(cluster, controller_on(self.controller_id))
        busy = {m.receiver for m in cluster.messages if isinstance(m.body, messages.ControlRequest)}
        for channel in state.channels:
            is_idle = not channel.queue and channel.broker not in {self.controller_id, *busy}
            if is_idle and self.fake(channel.broker).hears:
                yield channel.broker

    def _hear_all(self, broker: int) -> None:
        """Deliver to it all requests that were queued until now."""
        self.fake(broker).open()
        try:
            self._barrier.reach(broker)
        except sequences.TooQuietError:
            self.is_missed = True
        self.fake(broker).shut()

    # --- one step ---------------------------------------------------------------------------------

    def follow(self, before: Cluster, recorded: history.Recorded) -> None:
        """Do what one step of the engine did."""
        message, after = engine_ear.delivered(before, recorded), recorded.cluster
        self._begin_and_end(before, after)
        if message is not None and engine_ear.is_control_request_of(message, self.controller_id):
            self._hear_one(message.receiver, engine_ear.answered(message, before, recorded))
        elif message is not None and message.receiver == controller_on(self.controller_id):
            self._tell(message, before)
            return
        self._write(before, recorded)

    def _hear_one(self, broker: int, error: int) -> None:
        """Deliver one request to the broker and answer it so, unless none comes in time."""
        since = len(self._journal.received)

        def is_it(received: sequences.Received) -> bool:
            return received.broker == broker and not sequences.is_bare_marker(received)

        self.fake(broker).let_one(error)
        try:
            patience_s = _GIVEN_UP_S if self.is_missed else _LATE_S
            self._journal.wait_for(is_it, "a request", since, patience_s)
        except sequences.TooQuietError:
            self.is_missed = True
            self.fake(broker).shut()

    def _tell(self, message: Message, before: Cluster) -> None:
        """What reaches the controller."""
        match message.body:
            case messages.WatcherEvent(path=path) if path.startswith(ISR_CHANGES_PATH):
                self.settle(_changed_topics(before))
            case messages.WatcherEvent(path=path):
                self.tell(path)
            case messages.ControlledShutdownRequest() as request:
                self._shut_down(request)
            case messages.AlterPartitionRequest() as request:
                self._alter(request)
            case messages.ElectLeadersRequest() as request:
                self.kafka.elect(request)
            case _:
                return
        self.settle()

    def tell(self, path: str) -> None:
        """Deliver the watch event of this path, and wait until it is processed.

        Where /controller is gone it is elected again.
        """
        epoch = self.controller_epoch()
        is_elected = path == CONTROLLER_PATH and not self.client.exists(path)
        self._gate.let_through(path)
        if is_elected:
            self._wait_for_controller(epoch)
        self.settle()

    def _shut_down(self, request: messages.ControlledShutdownRequest) -> None:
        broker, epoch = request.broker, request.broker_epoch
        answer = self.kafka.shut_down(broker, request.version, self._czxid(broker, epoch))
        stamped = self.generations.name(broker, epoch)
        self._answers.append(sequences.ShutdownAnswer(broker, stamped, *answer))

    def _alter(self, request: messages.AlterPartitionRequest) -> None:
        epoch = BrokerEpoch(self._czxid(request.broker, request.broker_epoch))
        answer = self.kafka.alter(replace(request, broker_epoch=epoch))
        stamped = self.generations.name(request.broker, request.broker_epoch)
        self._altered.append(engine_ear.alter_answer(request, answer, stamped))

    def _czxid(self, broker: int, epoch: int) -> int:
        """A play's epoch in ZooKeeper; one that nobody had keeps its place in the order."""
        earlier = [(e, name) for e, name in self.generations.of(broker).items() if e <= epoch]
        if epoch < 0 or not earlier:
            return min(epoch, 0)
        last, name = earlier[-1]
        return self._czxids[name] + epoch - last

    def _begin_and_end(self, before: Cluster, after: Cluster) -> None:
        """Processes begin and end, links go down and come back."""
        for node in after.brokers:
            if node.id == self.controller_id:
                continue
            earlier, fake = broker_of(before, node.id), self.fake(node.id)
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
        return is_up and not is_cut(cluster, controller_on(self.controller_id), broker)

    def _write(self, before: Cluster, recorded: history.Recorded) -> None:
        """Sessions end and begin, leaders write, an operator deletes the controller's znode."""
        after = recorded.cluster
        gone = list(engine_ear.newly_gone(before, after))
        new = list(engine_ear.newly_registered(before, after))
        states = list(written_states(before, after))
        for broker in gone:
            znodes.end(self._sessions.pop(broker))
        for broker, epoch in new:
            self._register(broker, epoch)
        for state, version in states:
            self._write_state(state, version)
        is_deposed = isinstance(recorded.move, moves.FailOver)
        if is_deposed:
            self.client.delete(CONTROLLER_PATH)
        if gone or new or states or is_deposed:
            self.settle()

    def _write_state(self, state: PartitionStateZnode, version: int) -> None:
        """A leader writes the state over the version that it knows; in vain over another."""
        from kazoo.exceptions import BadVersionError

        path = znodes.state_path(registrations.topic_of(state.partition))
        text = znodes.state_text(state, state.controller_epoch)
        with suppress(BadVersionError):
            self.client.set(path, text, version)


def _changed_topics(cluster: Cluster) -> tuple[str, ...]:
    """Those of which leaders have notified the controller."""
    changes = [znode.data for znode in below(ensemble_of(cluster).znodes, ISR_CHANGES_PATH)]
    names = [n for data in changes if isinstance(data, IsrChangeZnode) for n in data.partitions]
    return tuple(dict.fromkeys(map(registrations.topic_of, names)))


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
