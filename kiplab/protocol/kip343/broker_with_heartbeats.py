"""A broker that sends MetadataHeartbeats: its start, heartbeats, self-fencing and shutdown.

The input is a start, a heartbeat that is due, an answer, or the end of broker.heartbeat.timeout.ms.
A process registers like any broker of ZooKeeper mode, except for the version in its registration.
It is INITIAL, and refuses clients and followers, until an answer makes it ACTIVE. A heartbeat goes
to the controller that the process knows, and names the wanted state. Only an answer without an
error counts as contact. NOT_CONTROLLER makes the process read the controller from ZooKeeper; any
other error changes nothing. The timeout runs from the sending of the last heartbeat with such an
answer; the controller's runs from the arrival. When it ends, the process fences itself: it is
INACTIVE by its own decision until an answer changes that. To shut down it asks for STOPPING, and
stops when an answer says INACTIVE.
The text has no default for the timeout, and says that it should be longer than the controller's.
Plays of this mode have no clock: the line `fence-itself` ends the timeout.
The output is the broker, heartbeats, and facts.

Source: none; KIP-343 as it is written.
"""

from ..errors import KafkaError
from ..facts import Fact, LifecycleChanged
from ..features import Features
from ..ids import BrokerId, controller_on
from ..messages import (
    MembershipState,
    MetadataHeartbeatRequest,
    MetadataHeartbeatResponse,
    Send,
    SessionExpired,
)
from ..messages.heartbeat_messages import state_word
from ..releases import RELEASES
from ..replica.broker_parts import BrokerEffect, process_of, with_process
from ..replica.broker_state import Broker, Lifecycle
from ..zookeeper import broker_in_zookeeper
from ..zookeeper.broker_in_zookeeper import broker_info_version, controller_of_broker, stop
from ..zookeeper.ensemble import Ensemble
from ..zookeeper.ensemble_writes import Together
from ..zookeeper.zookeeper_controller import ZooKeeperController
from ..zookeeper_facts import BrokerStateChanged
from .heartbeat_controller import FIRST_WITH_HEARTBEATS, HeartbeatController, seeded


def control_plane(broker: BrokerId, features: Features) -> ZooKeeperController:
    """The controller that a process of this broker has in it."""
    # A broker with the code of KIP-343, at any inter-broker protocol version.
    if RELEASES[features.release_of(broker)].specified == 343:
        return HeartbeatController(broker)
    return ZooKeeperController(broker)


def first_state(broker: BrokerId, features: Features) -> MembershipState | None:
    """The state of a process before its first answer; None of one that sends no heartbeats."""
    # KIP-343, Compatibility, Deprecation, and Migration Plan: at an older inter-broker protocol
    # brokers neither send heartbeats nor fence themselves.
    speaks = broker_info_version(broker, features) >= FIRST_WITH_HEARTBEATS
    return MembershipState.INITIAL if speaks else None


def start_with_heartbeats(
    broker: Broker, ensemble: Ensemble, features: Features, now_ms: int | None, server: int = 0
) -> Together[Broker]:
    """A new process, as in every release; what it may become the controller with is another one."""
    plane = control_plane(broker.id, features)
    done = broker_in_zookeeper.start(broker, ensemble, features, now_ms, server, plane)
    node = with_process(done.node, state=first_state(broker.id, features))
    return _seeded(done._replace(node=node), features)


def session_expired_with_heartbeats(
    broker: Broker,
    ensemble: Ensemble,
    event: SessionExpired,
    features: Features,
    now_ms: int | None,
) -> Together[Broker]:
    """The process registers again, and so has another incarnation id: it is INITIAL again."""
    done = broker_in_zookeeper.session_expired(broker, ensemble, event, features, now_ms)
    if done.node is broker:
        return done
    if process_of(done.node).state is not None:
        done = done._replace(node=with_process(done.node, state=MembershipState.INITIAL))
    return _seeded(done, features)


def send_heartbeat(broker: Broker, ensemble: Ensemble | None) -> BrokerEffect:
    """Send the wanted state to the controller; without ZooKeeper, to the last known one."""
    process = process_of(broker)
    controller = process.controller
    if controller is None and ensemble is not None:
        named, _ = controller_of_broker(broker, ensemble)
        controller = None if named is None else controller_on(named)
    if controller is None:
        return broker, (), ()
    stopping = process.lifecycle is Lifecycle.PENDING_CONTROLLED_SHUTDOWN
    target = MembershipState.STOPPING if stopping else MembershipState.ACTIVE
    request = MetadataHeartbeatRequest(
        broker=broker.id, incarnation_id=process.epoch, target_state=int(target)
    )
    if controller != process.controller:
        broker = with_process(broker, controller=controller)
    return broker, (Send(controller, request),), ()


def why_no_heartbeat(broker: Broker) -> str | None:
    """Why this process sends no heartbeat; None if it does."""
    if process_of(broker).state is not None:
        return None
    has = f"broker {broker.id} has a session with ZooKeeper"
    return f"{has}, and sends the controller no heartbeats"


def heartbeat_answered(
    broker: Broker,
    ensemble: Ensemble,
    response: MetadataHeartbeatResponse,
    request: MetadataHeartbeatRequest,
) -> Together[Broker]:
    """Be what the controller says; of an error, only the way to the controller is learned.

    An answer to an earlier incarnation of the process changes nothing.
    """
    process = process_of(broker)
    if process.state is None or request.incarnation_id != process.epoch:
        return Together(broker, ensemble)
    if response.error is KafkaError.NOT_CONTROLLER:
        return Together(with_process(broker, controller=None), ensemble)
    if response.error is not KafkaError.NONE:
        return Together(broker, ensemble)
    state = MembershipState(response.current_state)
    broker, facts = _now(broker, state, "the controller says so")
    leaving = process.lifecycle is Lifecycle.PENDING_CONTROLLED_SHUTDOWN
    if leaving and state is MembershipState.INACTIVE:
        done = stop(broker, ensemble)
        return done._replace(facts=(*facts, *done.facts))
    return Together(broker, ensemble, facts=facts)


def fence_itself(broker: Broker) -> BrokerEffect:
    """broker.heartbeat.timeout.ms have passed since the last heartbeat that was acknowledged."""
    broker, facts = _now(broker, MembershipState.INACTIVE, "it cannot reach the controller")
    return broker, (), facts


def why_not_fence_itself(broker: Broker, features: Features) -> str | None:
    """Why this process would not fence itself; None if it would."""
    reason = why_no_heartbeat(broker)
    if reason is not None:
        return f"{reason}: it never fences itself"
    if process_of(broker).state in (MembershipState.INITIAL, MembershipState.INACTIVE):
        return f"broker {broker.id} is fenced already"
    # KIP-343, Controller Heartbeat, Broker-Side Heartbeat Timeout: who cannot contact the
    # controller within a certain time fences itself.
    if "343.fence-itself" not in features.active(broker.id):
        return f"343.fence-itself is off: broker {broker.id} keeps serving"
    return None


def stops_by_heartbeats(broker: Broker, features: Features) -> bool:
    """Whether this process asks for its controlled shutdown by a heartbeat."""
    # KIP-343, Controller Logic: a broker that targets stopping is put into that state.
    return process_of(broker).state is not None and "343.stopping" in features.active(broker.id)


def begin_stopping(broker: Broker, ensemble: Ensemble) -> Together[Broker]:
    """Controlled shutdown begins, or goes on: a heartbeat asks for STOPPING."""
    leaving = Lifecycle.PENDING_CONTROLLED_SHUTDOWN
    facts: tuple[Fact, ...] = ()
    if process_of(broker).lifecycle is not leaving:
        facts = (LifecycleChanged(broker.id, leaving),)
        broker = with_process(broker, lifecycle=leaving)
    broker, sends, _ = send_heartbeat(broker, ensemble)
    return Together(broker, ensemble, sends, facts=facts)


def _now(broker: Broker, state: MembershipState, reason: str) -> tuple[Broker, tuple[Fact, ...]]:
    process = process_of(broker)
    if process.state is state or process.state is None:
        return broker, ()
    fact = BrokerStateChanged(broker.id, state_word(process.state), state_word(state), reason)
    return with_process(broker, state=state), (fact,)


def _seeded(done: Together[Broker], features: Features) -> Together[Broker]:
    """The controller in the process may have been elected on the way."""
    plane = process_of(done.node).control_plane
    assert isinstance(plane, ZooKeeperController)
    elected = seeded(Together(plane, done.ensemble, (), done.fired, done.facts), features)
    node = with_process(done.node, control_plane=elected.node)
    return Together(node, elected.ensemble, done.sends, elected.fired, elected.facts)
