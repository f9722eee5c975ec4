"""A real controller that begins as a play does, among fake brokers that are told what to hear."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from types import TracebackType
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ...engine.given_situation import Setup
from ...protocol.ids import BrokerEpoch
from ...protocol.messages import AlterPartitionRequest, ElectLeadersRequest
from ...protocol.registrations import topic_of
from ...protocol.zookeeper.znodes import PartitionStateZnode
from ..wire.message_schemas import ReleaseSchemas
from ..zookeeper_era.asked_controller import BROKER_NOT_AVAILABLE, AskedController, Barrier
from ..zookeeper_era.control_answers import (
    IDLE,
    MARKER,
    Journal,
    Received,
    TooQuietError,
    is_bare_marker,
    sent_request,
    wait_until,
)
from ..zookeeper_era.engine_control_requests import alter_answer
from ..zookeeper_era.gates import BackgroundLoop, Gate
from ..zookeeper_era.kafka_server import KafkaServer
from ..zookeeper_era.kafka_znodes import (
    CONTROLLER_EPOCH,
    add_registration,
    commit,
    create_topic,
    end,
    registration,
    session,
    state_of,
    state_path,
    state_text,
    write_first_znodes,
    znode_of,
)
from ..zookeeper_era.sequences import AlterAnswer, SentRequest, StateZnode
from ..zookeeper_server.zookeeper_process import ZooKeeperProcess
from .engine_ear import Generations, first_controller
from .permitted_broker import PermittedBroker

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


class PlayedCluster:
    """``with PlayedCluster("2.2.2", setup, "", schemas) as cluster: ...``

    The real broker is the one that `setup` has for its controller. `protocol` is its
    inter.broker.protocol.version, its own if empty. Raises what `KafkaServer` raises, and
    TooQuietError where it does not take over.
    """

    def __init__(self, patch: str, setup: Setup, protocol: str, schemas: ReleaseSchemas) -> None:
        self._patch, self._setup, self._schemas = patch, setup, schemas
        self._more: dict[str, str | int] = {
            **_QUIET,
            **({"inter.broker.protocol.version": protocol} if protocol else {}),
        }
        self.controller_id = first_controller(setup)
        self.generations = Generations()
        self.czxids: dict[str, int] = {}
        self.is_missed = False
        self._journal = Journal()
        self._fakes: dict[int, PermittedBroker] = {}
        self._sessions: dict[int, KazooClient] = {}

    def __enter__(self) -> PlayedCluster:
        with ExitStack() as stack:
            self._begin(stack)
            self._ends = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ends.close()

    # --- how it begins ----------------------------------------------------------------------------

    def _begin(self, stack: ExitStack) -> None:
        zookeeper = stack.enter_context(ZooKeeperProcess())
        self._port = int(zookeeper.addresses[0].rpartition(":")[2])
        self._client: KazooClient = session(self._port, "")
        stack.callback(end, self._client)
        self._loop = stack.enter_context(BackgroundLoop())
        self._gate = Gate(self._loop, self._port)
        stack.callback(self._gate.close)
        stack.callback(self._end_fakes)
        write_first_znodes(self._client, self._setup)
        self._register_all()
        where = f"127.0.0.1:{self._gate.port}"
        kafka = KafkaServer(self._patch, where, self.controller_id, self._more)
        self._kafka = stack.enter_context(kafka)
        self.asked = AskedController(self._patch, kafka.port, self._client, self._schemas)
        self._take_over()

    def _register_all(self) -> None:
        for broker in sorted(self._setup.brokers, key=lambda one: one.epoch):
            if broker.id != self.controller_id:
                self.fake(broker.id)
                if broker.up:
                    self.register(broker.id, broker.epoch)
                else:
                    self.fake(broker.id).turn_deaf()

    def _take_over(self) -> None:
        self.wait_for_controller(self._setup.controller_epoch - 1)
        for name in (MARKER, IDLE):
            create_topic(self._client, name, (self.controller_id,))
        self._barrier = Barrier(self._client, self._journal, self.asked.about_nobody)
        self._barrier.come_to_rest(sorted(self._sessions), ())
        self._journal.take()
        for fake in self._fakes.values():
            fake.shut()
        self._gate.hold_watches()

    def _end_fakes(self) -> None:
        for client in self._sessions.values():
            end(client)
        for fake in self._fakes.values():
            fake.turn_deaf()

    # --- brokers ----------------------------------------------------------------------------------

    def fake(self, broker: int) -> PermittedBroker:
        """The broker of that id."""
        if broker not in self._fakes:
            made = PermittedBroker(broker, self._loop, self._journal, self._schemas)
            self._fakes[broker] = made
        return self._fakes[broker]

    def register(self, broker: int, epoch: int) -> None:
        """Its next generation, which the play knows by its epoch, registers in a new session."""
        client = session(self._port, "")
        transaction = client.transaction()
        said = registration(self._patch, self.fake(broker).port)
        add_registration(transaction, broker, said)
        commit(transaction)
        self._sessions[broker] = client
        name = self.generations.begin(broker, epoch)
        self.czxids[name] = client.exists(znode_of(broker)).czxid
        self.fake(broker).live_as(self.czxids[name], name)

    def end_session(self, broker: int) -> None:
        """ZooKeeper forgets it."""
        end(self._sessions.pop(broker))

    def czxid(self, broker: int, epoch: int) -> int:
        """What an epoch of the play is in ZooKeeper; one that nobody has had keeps its place in the
        order of those that somebody had.
        """
        if epoch < 0:
            return epoch
        known = self.generations.epochs_of(broker)
        below = [(had, self.czxids[name]) for had, name in known if had <= epoch]
        if not below:
            return 0
        had, czxid = below[-1]
        return czxid + (epoch - had)

    # --- the controller ---------------------------------------------------------------------------

    def controller_epoch(self) -> int:
        """As ZooKeeper has it."""
        return int(self._client.get(CONTROLLER_EPOCH)[0])

    def wait_for_controller(self, earlier_epoch: int) -> None:
        """Until the next one has taken over. Raises TooQuietError if none does."""
        wait_until(lambda: self.controller_epoch() > earlier_epoch, "another controller epoch")
        wait_until(self._is_active, "an active controller")

    def _is_active(self) -> bool:
        return self.asked.about_nobody() == BROKER_NOT_AVAILABLE

    def drop_controller(self) -> None:
        """An operator deletes its znode."""
        self._client.delete("/controller")

    def tell(self, path: str) -> None:
        """Let it hear that a watch of this path fired, and wait until it has done what follows."""
        epoch = self.controller_epoch()
        self._gate.let_through(path)
        if path == "/controller":
            self.wait_for_controller(epoch)
        self.settle()

    def settle(self, changed: tuple[str, ...] = ()) -> None:
        """Until it has done all that it knows of; it is told of `changed` topics on the way."""
        self._barrier.come_to_rest((), changed)

    def alter(self, request: AlterPartitionRequest) -> AlterAnswer:
        """What it answers to a leader's AlterPartition."""
        epoch = BrokerEpoch(self.czxid(request.broker, request.broker_epoch))
        answer = self.asked.alter(replace(request, broker_epoch=epoch))
        stamped = self.generations.name(request.broker, request.broker_epoch)
        return alter_answer(request, answer, stamped)

    def elect(self, request: ElectLeadersRequest) -> None:
        """An operator asks it for an election."""
        self.asked.elect(request)

    def write_state(self, state: PartitionStateZnode, version: int) -> None:
        """A leader writes the state over the version that it knows; in vain over another."""
        from kazoo.exceptions import BadVersionError

        said = state.leader, state.leader_epoch, state.isr, state.controller_epoch
        with suppress(BadVersionError):
            path = state_path(topic_of(state.partition))
            self._client.set(path, state_text(*said, state.recovery), version)

    # --- what is heard ----------------------------------------------------------------------------

    def hear_one(self, broker: int, error: int) -> None:
        """Let the broker hear one request, and answer it so; in vain where none comes in time."""
        heard = self._journal.now

        def is_it(received: Received) -> bool:
            return received.broker == broker and not is_bare_marker(received)

        self.fake(broker).let_one(error)
        patience_s = _GIVEN_UP_S if self.is_missed else _LATE_S
        try:
            self._journal.wait_for(is_it, "a request", since=heard, patience_s=patience_s)
        except TooQuietError:
            self.is_missed = True
            self.fake(broker).shut()

    def hear_all(self, broker: int) -> None:
        """Let it hear all that was queued for it until now."""
        self.fake(broker).open()
        try:
            self._barrier.reach(broker)
        except TooQuietError:
            self.is_missed = True
        self.fake(broker).shut()

    def heard(self) -> tuple[SentRequest, ...]:
        """What brokers heard since the last time, broker after broker."""
        names = {(int(n[1 : n.index("g")]), czxid): n for n, czxid in self.czxids.items()}
        told = [one for one in self._journal.take() if not is_bare_marker(one)]
        return tuple(sent_request(one, names) for one in sorted(told, key=lambda one: one.broker))

    def znodes(self) -> tuple[StateZnode, ...]:
        """The state of every partition of the play."""
        topics = sorted(topic_of(partition.name) for partition in self._setup.partitions)
        found = (state_of(self._client, topic) for topic in topics)
        return tuple(state for state in found if state is not None)
