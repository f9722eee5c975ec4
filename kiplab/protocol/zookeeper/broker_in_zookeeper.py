"""A broker in ZooKeeper mode: start, session, controlled shutdown, stop.

The input is a start, the end of the session, a shutdown, or a controller's answer to that. A
process opens a session and registers in it, from 2.2 on in one transaction that returns its broker
epoch (KIP-380). Then it reads /controller, and may become the controller. It has no metadata and
plays no replica until a controller's request. When its session has expired it resigns, opens
another and registers anew, with a new broker epoch: the process, its replicas and its metadata
stay. To shut down it asks the controller, three times at most, and stops after any answer; its
session is closed and its ephemeral znodes are gone. A crash leaves the session in ZooKeeper until
that expires. The output is the broker and ZooKeeper, a request for the controller, watches, facts.
"""

from msgspec.structs import replace

from .. import ids, messages
from ..errors import KafkaError
from ..facts import Fact, LifecycleChanged, Registered
from ..features import Features
from ..replica import disk
from ..replica.broker_parts import process_of, with_process
from ..replica.broker_state import Broker, Lifecycle, Volatile, first_timers
from ..zookeeper_facts import SessionEnded, SessionOpened, ShutdownTried, ZnodeChanged
from .controller_election import elect, resign
from .ensemble import Ensemble, find
from .ensemble_sessions import end_session, get, open_session
from .ensemble_writes import Create, Operation, SetData, Together, ZooKeeperError, transact
from .znodes import CONTROLLER_PATH, BrokerZnode, ControllerZnode, Stat, broker_path
from .zookeeper_controller import ZooKeeperController

SHUTDOWN_TRIES = 3
"""controlled.shutdown.max.retries: how often a controller is asked, the first time included."""


def why_not_start(broker: Broker, ensemble: Ensemble) -> str | None:
    """Why a process of this broker could not start now; None if it could.

    Source: KafkaZkClient.checkedEphemeralCreate, which throws NODEEXISTS (2.1.1, 2.2.2, 3.4.1).
    """
    path = broker_path(broker.id)
    if find(ensemble, path) is None:
        return None
    occupied = f"the session of an earlier incarnation of broker {broker.id} still holds {path}"
    way_out = f"the process would exit; `expire {broker.id}` ends that session"
    return f"{occupied}: NODEEXISTS, and {way_out}"


def start(
    broker: Broker,
    ensemble: Ensemble,
    features: Features,
    now_ms: int | None,
    server: int = 0,
    plane: ZooKeeperController | None = None,
) -> Together[Broker]:
    """A new process: a session at this server of ZooKeeper, a registration, a controller's part.

    `plane` is that part, where it is another one than a release has (KIP-343). Nobody may be
    registered under its id: see `why_not_start`.

    Source: KafkaServer.startup and KafkaController.startup (2.1.1, 2.2.2, 2.8.2, 3.4.1).
    """
    incarnation = ids.Incarnation(broker.incarnation + 1)
    opened = open_session(ensemble, broker.id, incarnation, server, now_ms)
    born = Volatile(
        lifecycle=Lifecycle.RUNNING,
        ready_to_unfence=True,
        published=True,
        timers=first_timers(now_ms),
        controller=None,
        session=opened.session,
        checkpoints=False,
    )
    broker = replace(disk.load(broker), incarnation=incarnation, process=born)
    starting = LifecycleChanged(broker.id, Lifecycle.STARTING)
    begun = SessionOpened(ids.ZOOKEEPER, broker.id, opened.session)
    plane = ZooKeeperController(broker=broker.id) if plane is None else plane
    done = _registered(broker, plane, opened.ensemble, features)
    running = LifecycleChanged(broker.id, Lifecycle.RUNNING)
    return done._replace(facts=(starting, begun, *done.facts, running))


def session_expired(
    broker: Broker,
    ensemble: Ensemble,
    event: messages.SessionExpired,
    features: Features,
    now_ms: int | None,
) -> Together[Broker]:
    """The process learns that its session has expired: it resigns, opens another, registers again.
    The end of an earlier session changes nothing.

    Source: KafkaController.Expire and RegisterBrokerAndReelect (2.1.1, 2.2.2, 3.4.1).
    """
    process = process_of(broker)
    if event.session != process.session:
        return Together(broker, ensemble)
    plane, resigned = resign(_plane(process))
    opened = open_session(ensemble, broker.id, broker.incarnation, 0, now_ms)
    broker = with_process(broker, session=opened.session)
    done = _registered(broker, plane, opened.ensemble, features)
    begun = SessionOpened(ids.ZOOKEEPER, broker.id, opened.session)
    return done._replace(facts=(*resigned, begun, *done.facts))


def begin_shutdown(
    broker: Broker, ensemble: Ensemble, features: Features, _now_ms: int | None
) -> Together[Broker]:
    """Ask the controller, or ask again; after three tries without an answer, stop.

    The second and the third try follow a try without an answer.

    Source: KafkaServer.controlledShutdown (2.1.1, 2.2.2, 2.8.2, 3.4.1).
    """
    process = process_of(broker)
    if process.shutdown_tries == SHUTDOWN_TRIES:
        return _failed(broker, ensemble, "nobody has answered")
    facts: tuple[Fact, ...] = ()
    leaving = Lifecycle.PENDING_CONTROLLED_SHUTDOWN
    if process.lifecycle is not leaving:
        facts = (LifecycleChanged(broker.id, leaving),)
    broker = with_process(broker, lifecycle=leaving, shutdown_tries=process.shutdown_tries + 1)
    controller, reason = controller_of_broker(broker, ensemble)
    if controller is None:
        done = _failed(broker, ensemble, reason)
        return done._replace(facts=(*facts, *done.facts))
    sends = (messages.Send(ids.controller_on(controller), _request(broker, features)),)
    return Together(broker, ensemble, sends, facts=facts)


def shutdown_answered(
    broker: Broker,
    ensemble: Ensemble,
    response: messages.ControlledShutdownResponse,
    _features: Features,
    _now_ms: int | None,
) -> Together[Broker]:
    """Stop when the controller is done with this broker; else there may be another try.

    Source: KafkaServer.controlledShutdown (2.1.1, 2.2.2, 2.8.2, 3.4.1).
    """
    if process_of(broker).lifecycle is not Lifecycle.PENDING_CONTROLLED_SHUTDOWN:
        return Together(broker, ensemble)
    if response.error is KafkaError.NONE and not response.remaining:
        return stop(broker, ensemble)
    left = f"it still leads {', '.join(response.remaining)}"
    return _failed(broker, ensemble, response.error.name if response.error else left)


# --- registration --------------------------------------------------------------------------------


def _registered(
    broker: Broker, plane: ZooKeeperController, ensemble: Ensemble, features: Features
) -> Together[Broker]:
    """Register in the session of the process, and have its controller stand for election.

    Source: KafkaZkClient.registerBroker (2.1.1, 2.2.2, 3.4.1).
    """
    session = _session(process_of(broker))
    path = broker_path(broker.id)
    done = transact(ensemble, session, _registration(broker, path, features))
    assert done.error is ZooKeeperError.NONE, f"{path}: {done.error}; see why_not_start"
    epoch = _epoch(done.results[-1], session, features.active(broker.id))
    zxid = done.ensemble.zxid
    text = f"broker {broker.id} is registered, czxid {zxid}"
    facts: tuple[Fact, ...] = (ZnodeChanged(ids.ZOOKEEPER, path, zxid, text),)
    if epoch != ids.NO_BROKER_EPOCH:
        facts = (*facts, Registered(broker.id, epoch))
    elected = elect(plane, done.ensemble, session, features)
    return Together(
        with_process(broker, epoch=epoch, control_plane=elected.node),
        elected.ensemble,
        elected.sends,
        (*done.fired, *elected.fired),
        (*facts, *elected.facts),
    )


def _registration(broker: Broker, path: str, features: Features) -> tuple[Operation, ...]:
    data = BrokerZnode(broker.id, broker.incarnation, broker_info_version(broker.id, features))
    if features.code_of(broker.id) < (2, 2):
        return (Create(path, data, ephemeral=True),)
    # KIP-380, Proposed Changes, Broker Registration in Zookeeper: the answer to a create has no
    # Stat, that to a setData does, and in one transaction no other write comes in between.
    return Create(path, ephemeral=True), SetData(path, data, ids.PartitionEpoch(0))


def broker_info_version(broker: ids.BrokerId, features: Features) -> int:
    """Of what a broker registers with: nothing but the number says what it is ready for.

    Source: BrokerInfo.apply (2.2.2), for 4; the 5 is KIP-343's. Kafka gave that number to something
    else at 2.7, which is not modelled.
    """
    # KIP-343, Compatibility, Deprecation, and Migration Plan: who wants the new behaviour registers
    # with version 5 in place of 4, and no new field.
    return 5 if "343.heartbeats" in features.active(broker) else 4


def _epoch(result: object, session: ids.SessionId, active: frozenset[str]) -> ids.BrokerEpoch:
    """The generation of this incarnation: what created its znode. Up to 2.1 there is none."""
    if not isinstance(result, Stat):
        return ids.NO_BROKER_EPOCH
    # KIP-380, Rejected Alternatives: the id of the session needs no transaction to be known, but a
    # later one need not be higher.
    return ids.BrokerEpoch(session if "380.session-id" in active else result.czxid)


# --- the way out ---------------------------------------------------------------------------------


def controller_of_broker(broker: Broker, ensemble: Ensemble) -> tuple[ids.BrokerId | None, str]:
    """The broker in /controller, if it is registered; else why there is no controller to ask.

    Source: KafkaServer.controlledShutdown (2.1.1 to 3.4.1), which looks both up for each try.
    """
    znode = get(ensemble, _session(process_of(broker)), CONTROLLER_PATH).znode
    if znode is None or not isinstance(znode.data, ControllerZnode):
        return None, "no controller is registered in ZooKeeper"
    controller = znode.data.broker
    if find(ensemble, broker_path(controller)) is None:
        return None, f"the controller, broker {controller}, is not registered in ZooKeeper"
    return controller, ""


def _request(broker: Broker, features: Features) -> messages.ControlledShutdownRequest:
    version = messages.ControlledShutdownRequest.version_sent(features, broker.id)
    epoch = process_of(broker).epoch if version >= 2 else ids.NO_BROKER_EPOCH
    return messages.ControlledShutdownRequest(version=version, broker=broker.id, broker_epoch=epoch)


def _failed(broker: Broker, ensemble: Ensemble, reason: str) -> Together[Broker]:
    """A try came to nothing; after the last one the process stops all the same."""
    left = SHUTDOWN_TRIES - process_of(broker).shutdown_tries
    fact = ShutdownTried(broker.id, reason, left)
    if left:
        return Together(broker, ensemble, facts=(fact,))
    done = stop(broker, ensemble)
    return done._replace(facts=(fact, *done.facts))


def stop(broker: Broker, ensemble: Ensemble) -> Together[Broker]:
    """Write what there is to write, stand down, close the session.

    Source: KafkaServer.shutdown (2.1.1, 2.2.2, 2.8.2, 3.4.1).
    """
    process = process_of(broker)
    session = _session(process)
    _, resigned = resign(_plane(process), "its process stops")
    stopped, _, facts = disk.stop_cleanly(broker)
    ended = end_session(ensemble, session)
    over = SessionEnded(ids.ZOOKEEPER, broker.id, session=session, expired=False)
    more_facts = (over,) if ended.ensemble is not ensemble else ()
    return Together(
        stopped, ended.ensemble, fired=ended.fired, facts=(*facts, *resigned, *more_facts)
    )


def _session(process: Volatile) -> ids.SessionId:
    assert process.session is not None, "a process in ZooKeeper mode has a session"
    return process.session


def _plane(process: Volatile) -> ZooKeeperController:
    assert isinstance(process.control_plane, ZooKeeperController)
    return process.control_plane
