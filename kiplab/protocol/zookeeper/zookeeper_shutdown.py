"""ControlledShutdown at a controller that runs on a broker.

The input is a broker's shutdown request. Checks in this order: whether this controller is active;
from 2.2 on whether the request is from an earlier incarnation of the broker; whether the broker is
known at all. Then, for partitions with more than one replica, other members of the ISR lead what it
leads, if there is one. It gets StopReplica for what it follows, and leaves those ISRs. From then on
it counts as shutting down, in the controller's memory alone, until the controller finds it gone.

The output is one answer: an error, or the partitions that the broker still leads. It means that
ZooKeeper is written and requests are queued, not that any broker has acted on them.
"""

from msgspec.structs import replace

from ..errors import KafkaError
from ..facts import Compared, Refused, compare
from ..ids import NO_BROKER_EPOCH, BrokerId
from ..messages import ControlledShutdownRequest, ControlledShutdownResponse, Send
from .broker_change import stop_replicas
from .control_channels import RequestBatch, queue
from .controller_turn import ControllerMovedError, ControllerTurn
from .ensemble_writes import Together
from .zookeeper_controller import ZooKeeperController, cached, epoch_of, hosted_by
from .zookeeper_elections import controlled_shutdown_election, elect_leaders_for

KIND = "controlled-shutdown"
EPOCH_SINCE = 2
"""The version of the request that carries the broker epoch."""


def controlled_shutdown(
    turn: ControllerTurn, request: ControlledShutdownRequest
) -> Together[ZooKeeperController]:
    """Let the broker go, or say why not.

    A controller that finds out here that it was deposed answers so, and goes on until its watch
    fires: Kafka catches that exception together with every other.

    Source: KafkaController.doControlledShutdown (2.1.1 to 3.4.1).
    """
    refused = _refusal(turn, request)
    if refused is not None:
        return _refuse(turn, request, refused)
    try:
        turn = let_go(turn, request.broker)
    except ControllerMovedError as moved:
        refused = moved.turn.moved_refusal(KIND, KafkaError.STALE_CONTROLLER_EPOCH)
        return _refuse(moved.turn, request, refused)
    reply = ControlledShutdownResponse(remaining=still_led(turn.controller, request.broker))
    return turn.done(Send(request.broker, reply))


def let_go(turn: ControllerTurn, broker: BrokerId) -> ControllerTurn:
    """The broker leads nothing any more that another can lead, and is in no ISR but as the last.

    Source: KafkaController.doControlledShutdown (2.1.1 to 3.4.1), from where the broker joins
    those that are shutting down.
    """
    leaving = tuple(sorted({*turn.controller.shutting_down, broker}))
    turn = turn.holding(replace(turn.controller, shutting_down=leaving))
    states = [cached(turn.controller, name) for name in hosted_by(turn.controller, broker)]
    led = tuple(s.name for s in states if len(s.replicas) > 1 and s.leader == broker)
    followed = tuple(s.name for s in states if len(s.replicas) > 1 and s.leader != broker)
    turn = elect_leaders_for(turn, led, controlled_shutdown_election).turn
    batch = RequestBatch()
    for name in followed:
        batch.stop(turn, broker, name)
    return stop_replicas(queue(turn, batch), {broker: followed})


def still_led(controller: ZooKeeperController, broker: BrokerId) -> tuple[str, ...]:
    """Partitions with more than one replica that the broker leads on.

    Source: KafkaController.doControlledShutdown (2.1.1 to 3.4.1): what its answer names.
    """
    return tuple(
        p.name for p in controller.partitions if p.leader == broker and len(p.replicas) > 1
    )


def _refusal(turn: ControllerTurn, request: ControlledShutdownRequest) -> Refused | None:
    # An event that waits while the session ends is answered as if another were the controller.
    if not turn.controller.active or not turn.has_session:
        return turn.refusal(KIND, KafkaError.STALE_CONTROLLER_EPOCH, None)
    epoch = epoch_of(turn.controller, request.broker)
    sent = request.broker_epoch if request.version >= EPOCH_SINCE else NO_BROKER_EPOCH
    # KIP-380, Proposed Changes, Controller Rejects ControlledShutdownRequest Sent from Former
    # Generations: a lower one than the known is refused; -1 is from a broker that knows of none.
    if "380.shutdown-epoch" in turn.active and sent != NO_BROKER_EPOCH:
        compared = compare(f"broker {request.broker} epoch", sent, epoch)
        if epoch is None:
            # The lookup of its epoch throws before anybody asks whether the broker is there.
            return turn.refusal(KIND, KafkaError.UNKNOWN_SERVER_ERROR, None, compared)
        if sent < epoch:
            error = KafkaError.STALE_BROKER_EPOCH
            return turn.refusal(KIND, error, "380.shutdown-epoch", compared)
    if epoch is None:
        compared = Compared(f"broker {request.broker}", "live", "unknown")
        return turn.refusal(KIND, KafkaError.BROKER_NOT_AVAILABLE, None, compared)
    return None


def _refuse(
    turn: ControllerTurn, request: ControlledShutdownRequest, refused: Refused
) -> Together[ZooKeeperController]:
    reply = ControlledShutdownResponse(error=refused.error)
    return turn.holding(turn.controller, refused).done(Send(request.broker, reply))
