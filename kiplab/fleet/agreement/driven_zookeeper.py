"""The engine with ZooKeeper, driven move by move by somebody who keeps the clock.

A run with ZooKeeper has none: here the rules of leaders and followers get to see one all the same,
and whoever drives says when a session is over. The controller lives on a broker of its own, which
has no replica and is never hit. What a schedule delays, or a controller that is away cannot hear,
stays on its way until somebody delivers it: AlterPartition requests, the answers to those who shut
down, and with `deaf` whatever is for the controller.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from ...engine import moves
from ...engine.cluster import Cluster, Message
from ...engine.nodes import with_state
from ...engine.step import step
from ...engine.truth import partition_of, session_lasts
from ...protocol.features import Features
from ...protocol.ids import NO_LEADER, ZOOKEEPER, BrokerId, controller_on
from ...protocol.messages import (
    ControlledShutdownRequest,
    ControlledShutdownResponse,
    WatcherEvent,
)
from ...protocol.replica import disk
from ...protocol.replica.broker_state import Loss, replica_of
from .driven_engine import PARTITION, DoneMove, DrivenEngine, begun, header_of
from .outside_events import OutsideSchedule

HOST = BrokerId(0)
"""Where the controller lives."""
_LINES = f"controller broker={HOST}\nbroker {HOST} epoch=39\n"


def zookeeper_header_of(schedule: OutsideSchedule) -> str:
    """How every play of a schedule begins."""
    return _LINES + header_of(schedule)


def first_with_zookeeper(schedule: OutsideSchedule, features: Features) -> Cluster:
    """The situation that a schedule begins with; its clock stands at 0."""
    return replace(begun(zookeeper_header_of(schedule), features), timed=True)


class DrivenZooKeeper(DrivenEngine):
    """`deaf` says that nobody hears what is for the controller."""

    def __init__(self, first: Cluster, after: Callable[[Cluster, DoneMove], None]) -> None:
        super().__init__(first, after)
        self.deaf = False

    def expire(self, b: int) -> None:
        """ZooKeeper ends the session of a broker: it is the clock's keeper who knows when."""
        before = self.cluster
        made = step(replace(before, timed=False), moves.ExpireSession(BrokerId(b)))
        self.cluster = replace(made.cluster, timed=True)
        self.done.append(DoneMove(self.now, moves.ExpireSession(BrokerId(b)), made.events))
        self.after(before, self.done[-1])

    def lose_controller(self) -> None:
        """The controller hears nothing any more, and says nothing; its session lasts."""
        self.deaf = True

    def find_controller(self) -> None:
        """Its session is over; the same broker registers anew, is elected, and reads everything."""
        for m in self.cluster.messages:
            if m.name.sender == controller_on(HOST):
                self.do(moves.Drop(m.name))
        self._lose_events_of(controller_on(HOST))
        self.expire(HOST)
        for b in self.cluster.brokers:
            self._lose_events_of(controller_on(b.id))
        self.deaf = False
        self.flow()

    def _lose_events_of(self, node: BrokerId) -> None:
        """What ZooKeeper would tell of a session that is over, or who would stand for election."""
        for m in self.cluster.messages:
            if isinstance(m.body, WatcherEvent) and m.receiver == node:
                self.do(moves.Drop(m.name))

    def shut_down_unheard(self, b: int) -> None:
        """A try that no controller answers."""
        self.do(moves.ShutDown(BrokerId(b)))
        for m in self.cluster.messages:
            if m.name.sender == b and isinstance(m.body, ControlledShutdownRequest):
                self.do(moves.Drop(m.name))

    def is_held(self, message: Message) -> bool:
        """As of every engine, and answers to those who shut down."""
        if isinstance(message.body, ControlledShutdownResponse):
            return True
        ends = message.receiver, message.name.sender
        return super().is_held(message) or (self.deaf and controller_on(HOST) in ends)

    def answer_to(self, b: int) -> Message | None:
        """What a broker that shuts down is told, if it is on its way."""
        for m in self.cluster.messages:
            if m.receiver == b and isinstance(m.body, ControlledShutdownResponse):
                return m
        return None

    def knows_who_leads(self, b: int) -> bool:
        """Whether a process has heard of the leader that there is."""
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

    def links_of(self, b: int, ids: range) -> tuple[BrokerId, ...]:
        """Whom a broker does not reach when it is cut off."""
        return (ZOOKEEPER, HOST, *(BrokerId(c) for c in ids if c != b))
