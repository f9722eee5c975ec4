"""A leader that reaches all nodes but its controller, in the engine: the subject of KIP-343.

KIP-343 was never built, and plays of it have no clock: here the caller keeps one. The leader sends
heartbeats, and fences itself when its timeout has passed since it sent the last answered one. At
every turn the engine is asked whether it still names the leader to clients.
"""

from ...engine import moves
from ...engine.cluster import Cluster
from ...engine.events import Delivered
from ...engine.step import step
from ...protocol.errors import KafkaError
from ...protocol.facts import Refused
from ...protocol.features import Features, parse_features
from ...protocol.ids import BrokerId
from ...protocol.messages import MetadataHeartbeatResponse
from .driven_engine import PARTITION, DoneMove, DrivenEngine, begun
from .driven_zookeeper import HOST, zookeeper_header_of
from .outside_events import OutsideSchedule

FEATURES_OF_343: dict[str, Features] = {
    "none": parse_features("kip-343", off=("343.specified",)),
    "343": parse_features("kip-343"),
}
"""By feature set."""
_LEADER = BrokerId(1)
_SITUATION = OutsideSchedule(replicas=2, leader=_LEADER, end=1, events=())
_HEADER = f"{zookeeper_header_of(_SITUATION)}\nconsumer {PARTITION} position=10"


class SilentController(DrivenEngine):
    """`answered` is when (ms) the last heartbeat was sent that was answered."""

    def __init__(self, features: Features) -> None:
        super().__init__(begun(_HEADER, features), self._note)
        self.sent = self.answered = 0

    def heartbeat(self, at: int) -> None:
        """The leader tells the controller that it is there, if it does so at all."""
        self.sent = at
        self.attempt(moves.Fire(_LEADER, moves.Timer.HEARTBEAT))
        self.flow()

    def cut_off(self) -> None:
        """From now on a heartbeat waits on its way."""
        self.do(moves.Cut(_LEADER, HOST))
        self.heartbeat(0)

    def serves(self) -> bool:
        """Whether it tells a client who leads."""
        outcome = step(self.cluster, moves.RefreshMetadata(broker=_LEADER))
        return not any(isinstance(event, Refused) for event in outcome.events)

    def _note(self, _before: Cluster, move: DoneMove) -> None:
        for event in move.events:
            body = event.body if isinstance(event, Delivered) else None
            if isinstance(body, MetadataHeartbeatResponse) and body.error is KafkaError.NONE:
                self.answered = self.sent


def served_while_cut_ms(features: Features, silent_ms: int, lasts_ms: int, timeout_ms: int) -> int:
    """For how long a leader goes on telling what it knew, cut off for `lasts_ms`; its last
    heartbeat before that was `silent_ms` ago.
    """
    engine = SilentController(features)
    engine.heartbeat(-silent_ms)
    engine.cut_off()
    fence = min(max(0, engine.answered + timeout_ms), lasts_ms)
    served = fence * engine.serves()
    if fence < lasts_ms:
        engine.attempt(moves.HeartbeatTimeout(_LEADER, at_controller=False))
    return served + (lasts_ms - fence) * engine.serves()
