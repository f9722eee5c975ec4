"""One bounce before a late controller, in the engine with ZooKeeper: the subject of KIP-380.

A broker asks for its controlled shutdown and may stop, so requests for it are in its controller's
queue. But the threads that send them, and the one that gets ZooKeeper's watch events, run only
after a while. If the next incarnation of the broker is registered by then, it gets requests for the
one before, and the watch events report an unchanged broker.
"""

import msgspec

from ...engine import moves
from ...engine.at_rest import broken_with_zookeeper, is_at_rest
from ...engine.cluster import Cluster, Message
from ...engine.events import Delivered
from ...protocol.facts import Refused
from ...protocol.ids import BrokerId, controller_on
from ...protocol.messages import WatcherEvent
from ...protocol.messages.api_message import ControlRequest
from ...protocol.zookeeper.zookeeper_controller import ZooKeeperController
from .driven_engine import DoneMove
from .driven_zookeeper import HOST, DrivenZooKeeper
from .outside_events import Outside

_GUARD = "380.control-request-epoch"
_MAIL, _STOPS, _STARTS = range(3)
"""At one moment the lower comes first."""


class LateBounce(msgspec.Struct, frozen=True):
    """What came of a bounce: the next incarnation was asked what was meant for the one before, and
    `applied` or `refused` it; the controller `missed` that there is another incarnation.
    """

    applied: bool
    refused: bool
    missed: bool


class LateController(DrivenZooKeeper):
    """`late` says that its threads have not come yet to what concerns broker `b`; `meant` is what
    waits for an incarnation of it that is over.
    """

    def __init__(self, cluster: Cluster, b: int) -> None:
        super().__init__(cluster, self._note)
        self.b = b
        self.late = True
        self.meant: tuple[ControlRequest, ...] = ()
        self.applied = self.refused = False

    def is_held(self, message: Message) -> bool:
        """As with every controller; while it is late also watches, and what it asks of `b`."""
        to_host = message.receiver == controller_on(HOST)
        is_event = to_host and isinstance(message.body, WatcherEvent)
        waits = self.late and (is_event or self._is_control_request(message))
        return waits or super().is_held(message)

    def starts(self) -> None:
        """Its next incarnation registers; what waits for it by now is for the one before."""
        self.meant = self._queue()
        self.do(moves.Start(BrokerId(self.b)))
        self.flow()

    def comes_to_it(self) -> None:
        """The threads send what waits, then the controller hears of the watches."""
        while mail := next(filter(self._is_control_request, self.cluster.messages), None):
            self.do(moves.Deliver(mail.name))
            self.flow()
        self.late = False
        self.flow()

    def outcome(self) -> LateBounce:
        """When nothing is under way any more."""
        assert is_at_rest(self.cluster)
        missed = any(True for _ in broken_with_zookeeper(self.cluster, ()))
        return LateBounce(self.applied, self.refused, missed)

    def _is_control_request(self, message: Message) -> bool:
        return isinstance(message.body, ControlRequest) and message.receiver == self.b

    def _queue(self) -> tuple[ControlRequest, ...]:
        plane = self.process(HOST).control_plane
        assert isinstance(plane, ZooKeeperController)
        return next((c.queue for c in plane.channels if c.broker == self.b), ())

    def _note(self, _before: Cluster, move: DoneMove) -> None:
        come = (e for e in move.events if isinstance(e, Delivered) and e.receiver == self.b)
        if any(event.body in self.meant for event in come):
            guards = {event.guard for event in move.events if isinstance(event, Refused)}
            self.refused |= _GUARD in guards
            self.applied |= _GUARD not in guards


def late_bounce(cluster: Cluster, bounce: Outside) -> LateBounce:
    """A bounce of a cluster at rest; its `queued` is how late the controller is."""
    engine = LateController(cluster, bounce.broker)
    engine.do(moves.ShutDown(BrokerId(bounce.broker)))
    engine.flow()
    back = bounce.shutdown + bounce.restart + bounce.ready
    steps = (
        (bounce.queued, _MAIL, engine.comes_to_it),
        (bounce.shutdown, _STOPS, lambda: engine.ask_until_gone(bounce.broker)),
        (back, _STARTS, engine.starts),
    )
    for _, _, what in sorted(steps, key=lambda step: step[:2]):
        what()
    return engine.outcome()
