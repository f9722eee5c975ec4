"""The engine with ZooKeeper, driven move by move by a caller who keeps the clock.

A run with ZooKeeper has no clock. Here the rules of leaders and followers get one all the same, and
the caller ends sessions. The controller runs on a broker of its own, which has no replica and never
fails. Some messages stay under way until the caller delivers them: AlterPartition requests, the
answers to brokers that shut down, and with `deaf` all messages for the controller.
"""

from collections.abc import Callable

from msgspec.structs import replace

from ...engine import moves
from ...engine.cluster import Cluster, Message
from ...engine.events import Dropped
from ...engine.nodes import incarnation_of, with_state
from ...engine.step import step
from ...engine.truth import partition_of, session_lasts
from ...protocol import messages
from ...protocol.features import Features
from ...protocol.ids import NO_LEADER, BrokerId, controller_on
from ...protocol.replica import disk
from ...protocol.replica.broker_state import Loss, replica_of
from .driven_engine import PARTITION, DoneMove, DrivenEngine, begun, header_of
from .outside_events import OutsideSchedule

HOST = BrokerId(0)
"""Where the controller lives."""


def zookeeper_header_of(schedule: OutsideSchedule) -> str:
    """How every play of a schedule begins."""
    lines = f"controller broker={schedule.host}\nbroker {HOST} epoch=39\n"
    return lines + header_of(schedule)


def first_with_zookeeper(schedule: OutsideSchedule, features: Features) -> Cluster:
    """The situation that a schedule begins with; its clock stands at 0."""
    return replace(begun(zookeeper_header_of(schedule), features), timed=True)


class DrivenZooKeeper(DrivenEngine):
    """`deaf` says that the controller, which runs on `host`, gets no message; `lost` has the number
    of moves `done` each time that it fell silent.
    """

    def __init__(
        self, first: Cluster, after: Callable[[Cluster, DoneMove], None], host: BrokerId = HOST
    ) -> None:
        super().__init__(first, after)
        self.deaf = False
        self.lost: list[int] = []
        self.host = host
        self.kept_requests: tuple[Message, ...] = ()

    def expire(self, b: int) -> None:
        """ZooKeeper ends the session of a broker; the caller, who keeps the clock, knows when."""
        before = self.cluster
        made = step(replace(before, timed=False), moves.ExpireSession(BrokerId(b)))
        self.cluster = replace(made.cluster, timed=True)
        self.done.append(DoneMove(self.now, moves.ExpireSession(BrokerId(b)), made.events))
        self.after(before, self.done[-1])
        if self.deaf and b == self.host:
            for other in self.cluster.brokers:
                if other.id != HOST or self.host == HOST:
                    self._lose_events_of(controller_on(other.id))

    def lose_controller(self) -> None:
        """The controller gets and sends no more messages; its session lasts."""
        self.deaf = True
        self.lost.append(len(self.done))
        self._keep_sent()

    def _keep_sent(self) -> None:
        if self.host == HOST:
            return
        requests = tuple(m for m in self.cluster.messages if self._asks_the_lost(m))
        left = tuple(m for m in self.cluster.messages if m not in requests)
        self.cluster = replace(self.cluster, messages=left)
        self.kept_requests = (*self.kept_requests, *requests)

    def _asks_the_lost(self, message: Message | Dropped) -> bool:
        asks = isinstance(message.body, messages.AlterPartitionRequest)
        return asks and self.deaf and message.receiver == controller_on(self.host)

    def keep_requests(self, move: DoneMove) -> None:
        """Requests of leaders to a lost controller are the first that they send to the next one:
        BrokerToControllerRequestThread (2.7.0 to 3.4.1), under the broker epoch of the time.
        """
        for event in move.events:
            if isinstance(event, Dropped) and self._asks_the_lost(event):
                kept = Message(
                    name=event.message,
                    receiver=event.receiver,
                    receiver_incarnation=incarnation_of(self.cluster, HOST),
                    lane=event.body.api.lane,
                    body=event.body,
                )
                self.kept_requests = (*self.kept_requests, kept)

    def on_their_way(self) -> tuple[Message, ...]:
        """Also the kept requests, which leaders will send to the next controller."""
        return *super().on_their_way(), *self.kept_requests

    def find_controller(self) -> None:
        """Its session is over; a broker without a replica is elected, and reads everything.

        The last requests of the one before are lost with it.
        """
        if self.host == HOST:
            self._lose_events_of(controller_on(HOST))
            self.expire(HOST)
            # The controller learns that its session is over before any of its requests arrives, and
            # forgets them all. Requests that were only lost it would send again.
            self._each(
                moves.Deliver,
                lambda m: m.receiver == HOST and isinstance(m.body, messages.SessionExpired),
            )
        else:
            self._each(moves.Drop, lambda m: m.name.sender == controller_on(self.host))
        self._keep_sent()
        incarnation = incarnation_of(self.cluster, HOST)
        requests = (
            replace(m, receiver=controller_on(HOST), receiver_incarnation=incarnation)
            for m in self.kept_requests
        )
        self.cluster = replace(self.cluster, messages=(*self.cluster.messages, *requests))
        self.kept_requests, self.deaf, self.host = (), False, HOST
        self.flow()

    def _each(
        self, move: type[moves.Deliver | moves.Drop], meant: Callable[[Message], bool]
    ) -> None:
        for m in filter(meant, self.cluster.messages):
            self.do(move(m.name))

    def _lose_events_of(self, node: BrokerId) -> None:
        """The watch events for the end of a session, and those that start an election.

        It is no move: ZooKeeper loses no watch event of a session that lasts. The kernel has no
        controller for as long.
        """
        left = (
            m
            for m in self.cluster.messages
            if not (isinstance(m.body, messages.WatcherEvent) and m.receiver == node)
        )
        self.cluster = replace(self.cluster, messages=tuple(left))

    def shut_down_unanswered(self, b: int) -> None:
        """A try that no controller answers."""
        self.do(moves.ShutDown(BrokerId(b)))
        asks = messages.ControlledShutdownRequest
        self._each(moves.Drop, lambda m: m.name.sender == b and isinstance(m.body, asks))

    def ask_until_gone(self, b: int) -> None:
        """A broker that shuts down hears what the controller says, and asks again."""
        while self.node(b).process is not None:
            answer = self.answer_to(b)
            again = moves.ShutDown(BrokerId(b))
            self.do(again if answer is None else moves.Deliver(answer.name))
            self.flow()

    def is_held(self, message: Message) -> bool:
        """As of every engine, and answers to those who shut down."""
        if isinstance(message.body, messages.ControlledShutdownResponse):
            return True
        ends = message.receiver, message.name.sender
        deaf = {controller_on(HOST), controller_on(self.host)}
        return super().is_held(message) or (self.deaf and bool({*ends} & deaf))

    def answer_to(self, b: int) -> Message | None:
        """The answer to a broker that shuts down, if it is under way."""
        for m in self.cluster.messages:
            if m.receiver == b and isinstance(m.body, messages.ControlledShutdownResponse):
                return m
        return None

    def knows_who_leads(self, b: int) -> bool:
        """Whether a process knows the current leader."""
        replica = replica_of(self.node(b), PARTITION)
        state = partition_of(self.cluster, PARTITION)
        assert state is not None
        if replica is None or state.leader == NO_LEADER:
            return False
        return replica.leader_epoch == state.leader_epoch

    def is_registered(self, b: int) -> bool:
        """Whether ZooKeeper holds a session of the broker."""
        return session_lasts(self.cluster, BrokerId(b))

    def without_disk(self, b: int) -> None:
        """A process that has not registered yet is gone, and its disk with it."""
        node, _, facts = disk.crash(self.node(b), Loss.DISK)
        self.cluster = with_state(self.cluster, BrokerId(b), node)
        self.done.append(DoneMove(self.now, moves.Crash(BrokerId(b), Loss.DISK), tuple(facts)))
