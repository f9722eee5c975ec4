"""A real controller that begins as a play does, among fake brokers that are told what to hear."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Self

from msgspec.structs import replace

from ...engine.given_situation import Setup
from ...protocol.ids import BrokerEpoch
from ...protocol.messages import AlterPartitionRequest, ControlledShutdownRequest
from ...protocol.registrations import topic_of
from ...protocol.zookeeper.znodes import PartitionStateZnode
from ..wire.message_schemas import ReleaseSchemas
from ..zookeeper_era import asked_controller as znodes
from ..zookeeper_era import sequences
from ..zookeeper_era.asked_controller import AskedController, Barrier
from ..zookeeper_era.gates import BackgroundLoop, Gate, PermittedBroker
from ..zookeeper_era.kafka_server import KafkaServer
from ..zookeeper_server.zookeeper_process import ZooKeeperProcess
from .engine_ear import Generations, alter_answer, first_controller

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
    """``with PlayedCluster("2.2.2", setup, "", schemas) as cluster: ...``

    The real broker is the one that `setup` has for its controller. `protocol` is its
    inter.broker.protocol.version, its own if empty. Raises what `KafkaServer` raises, and
    TooQuietError where it does not take over.
    """

    def __init__(self, patch: str, setup: Setup, protocol: str, schemas: ReleaseSchemas) -> None:
        super().__init__()
        self._patch, self._setup, self._schemas = patch, setup, schemas
        self._settings = _QUIET | ({"inter.broker.protocol.version": protocol} if protocol else {})
        self.controller_id = first_controller(setup)
        self.generations = Generations()
        self.czxids: dict[str, int] = {}
        self.is_missed = False
        self._journal = sequences.Journal()
        self._fakes: dict[int, PermittedBroker] = {}
        self._sessions: dict[int, KazooClient] = {}

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
        self._port = int(zookeeper.addresses[0].rpartition(":")[2])
        self._client: KazooClient = self._session()
        self._loop = self.enter_context(BackgroundLoop())
        self._gate = Gate(self._loop, self._port)
        self.callback(self._gate.close)
        znodes.write_first_znodes(self._client, self._setup)
        for broker in sorted(self._setup.brokers, key=lambda one: one.epoch):
            if broker.id != self.controller_id and broker.up:
                self.register(broker.id, broker.epoch)
            elif broker.id != self.controller_id:
                self.fake(broker.id).turn_deaf()
        where = f"127.0.0.1:{self._gate.port}"
        kafka = KafkaServer(self._patch, where, self.controller_id, self._settings)
        self.enter_context(kafka)
        self.asked = AskedController(self._patch, kafka.port, self._client, self._schemas)
        self._take_over()

    def _session(self) -> KazooClient:
        """One that ends with the cluster."""
        client = znodes.session(self._port, "")
        self.callback(znodes.end, client)
        return client

    def _take_over(self) -> None:
        self.wait_for_controller(self._setup.controller_epoch - 1)
        for name in (sequences.MARKER, sequences.IDLE):
            znodes.create_topic(self._client, name, (self.controller_id,))
        self._barrier = Barrier(self._client, self._journal, self.asked.about_nobody)
        self._barrier.come_to_rest(sorted(self._sessions), ())
        self._journal.take()
        for fake in self._fakes.values():
            fake.shut()
        self._gate.hold_watches()

    # --- brokers ----------------------------------------------------------------------------------

    def fake(self, broker: int) -> PermittedBroker:
        """The broker of that id."""
        if broker not in self._fakes:
            made = PermittedBroker(broker, self._loop, self._journal, self._schemas)
            self._fakes[broker] = made
            self.callback(made.turn_deaf)
        return self._fakes[broker]

    def register(self, broker: int, epoch: int) -> None:
        """Its next generation, which the play knows by its epoch, registers in a new session."""
        client, fake = self._session(), self.fake(broker)
        transaction = client.transaction()
        data = znodes.registration(self._patch, fake.port)
        znodes.add_registration(transaction, broker, data)
        znodes.commit(transaction)
        self._sessions[broker] = client
        fake.generation = self.generations.begin(broker, epoch)
        fake.epoch = client.exists(znodes.znode_of(broker)).czxid
        self.czxids[fake.generation] = fake.epoch

    def end_session(self, broker: int) -> None:
        """ZooKeeper forgets it."""
        znodes.end(self._sessions.pop(broker))

    def _czxid(self, broker: int, epoch: int) -> int:
        """What an epoch of the play is in ZooKeeper; one that nobody has had keeps its place in the
        order of those that somebody had.
        """
        earlier = [(e, name) for e, name in self.generations.of(broker).items() if e <= epoch]
        if epoch < 0 or not earlier:
            return min(epoch, 0)
        last, name = earlier[-1]
        return self.czxids[name] + epoch - last

    # --- the controller ---------------------------------------------------------------------------

    def controller_epoch(self) -> int:
        """As ZooKeeper has it."""
        return int(self._client.get(znodes.CONTROLLER_EPOCH)[0])

    def wait_for_controller(self, earlier_epoch: int) -> None:
        """Until the next one has taken over. Raises TooQuietError if none does."""
        sequences.wait_until(
            lambda: self.controller_epoch() > earlier_epoch, "another controller epoch"
        )
        sequences.wait_until(self.asked.is_active, "an active controller")

    def drop_controller(self) -> None:
        """An operator deletes its znode."""
        self._client.delete("/controller")

    def tell(self, path: str) -> None:
        """Let it hear that a watch of this path fired, and wait until it has done what follows.

        Where /controller is gone it is elected again.
        """
        epoch = self.controller_epoch()
        is_elected = path == "/controller" and not self._client.exists(path)
        self._gate.let_through(path)
        if is_elected:
            self.wait_for_controller(epoch)
        self.settle()

    def settle(self, changed: tuple[str, ...] = ()) -> None:
        """Until it has done all that it knows of; it is told of `changed` topics on the way."""
        self._barrier.come_to_rest((), changed)

    def shut_down(self, request: ControlledShutdownRequest) -> sequences.ShutdownAnswer:
        """What it answers to a broker's ControlledShutdown."""
        broker, epoch = request.broker, request.broker_epoch
        answer = self.asked.shut_down(broker, request.version, self._czxid(broker, epoch))
        return sequences.ShutdownAnswer(broker, self.generations.name(broker, epoch), *answer)

    def alter(self, request: AlterPartitionRequest) -> sequences.AlterAnswer:
        """What it answers to a leader's AlterPartition."""
        epoch = BrokerEpoch(self._czxid(request.broker, request.broker_epoch))
        answer = self.asked.alter(replace(request, broker_epoch=epoch))
        stamped = self.generations.name(request.broker, request.broker_epoch)
        return alter_answer(request, answer, stamped)

    def write_state(self, state: PartitionStateZnode, version: int) -> None:
        """A leader writes the state over the version that it knows; in vain over another."""
        from kazoo.exceptions import BadVersionError

        path = znodes.state_path(topic_of(state.partition))
        text = znodes.state_text(state, state.controller_epoch)
        with suppress(BadVersionError):
            self._client.set(path, text, version)

    # --- what is heard ----------------------------------------------------------------------------

    def hear_one(self, broker: int, error: int) -> None:
        """Let the broker hear one request, and answer it so; in vain where none comes in time."""
        since, patience_s = self._journal.now, _GIVEN_UP_S if self.is_missed else _LATE_S

        def is_it(received: sequences.Received) -> bool:
            return received.broker == broker and not sequences.is_bare_marker(received)

        self.fake(broker).let_one(error)
        try:
            self._journal.wait_for(is_it, "a request", since=since, patience_s=patience_s)
        except sequences.TooQuietError:
            self.is_missed = True
            self.fake(broker).shut()

    def hear_all(self, broker: int) -> None:
        """Let it hear all that was queued for it until now."""
        self.fake(broker).open()
        try:
            self._barrier.reach(broker)
        except sequences.TooQuietError:
            self.is_missed = True
        self.fake(broker).shut()

    def heard(self) -> tuple[sequences.SentRequest, ...]:
        """What brokers heard since the last time, broker after broker."""
        named = self.generations.by_epoch.items()
        names = {(broker, self.czxids[name]): name for (broker, _), name in named}
        return sequences.sent_requests(self._journal.take(), names)

    def znodes(self) -> tuple[sequences.StateZnode, ...]:
        """The state of every partition of the play."""
        topics = sorted(topic_of(partition.name) for partition in self._setup.partitions)
        states = (znodes.state_of(self._client, topic) for topic in topics)
        return tuple(state for state in states if state is not None)
