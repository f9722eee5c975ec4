"""What a controller of KIP-343 makes of its watches, and of having been elected.

In comes an event of ZooKeeper. Most of them are for the controller of a release, and are handled as
there. Brokers that come and go are compared with what is known of them. A new broker is inactive,
until it sends a heartbeat, unless it registered as one that knows none; one with another
incarnation id than is known is a new one in the place of the old; what a heartbeat has said before
its watch arrived is found to be so, and nothing follows. A controller that has just been elected
has heard of nobody: the text says that at first everyone is inactive, which would leave every
partition without a leader; so it takes whoever is registered for active, with a full timeout.
Out go declarations, and what follows from them.
"""

from msgspec.structs import replace

from ..features import Features
from ..ids import SessionId
from ..messages import MembershipState, WatcherEvent
from ..zookeeper.controller_election import stand_down_if_moved
from ..zookeeper.controller_turn import ControllerMovedError, ControllerTurn
from ..zookeeper.ensemble import Ensemble
from ..zookeeper.ensemble_reads import children
from ..zookeeper.ensemble_writes import Together
from ..zookeeper.watch_events import watch_fired
from ..zookeeper.znodes import BROKER_IDS_PATH
from ..zookeeper.zookeeper_controller import ZooKeeperController
from ..zookeeper_facts import BrokersCompared
from .heartbeat_controller import (
    HeartbeatController,
    KnownBroker,
    bounced,
    declared,
    forgotten,
    known_broker,
    plane_of,
    registered,
)


def heartbeat_watch_fired(
    controller: HeartbeatController,
    ensemble: Ensemble,
    event: WatcherEvent,
    session: SessionId,
    features: Features,
) -> Together[ZooKeeperController]:
    """Handle the event whole; one of another session than the process has changes nothing.

    Source: none; KIP-343 as it is written.
    """
    done = watch_fired(controller, ensemble, event, session, features, brokers_compared)
    return seeded(done, features)


def seeded(
    done: Together[ZooKeeperController], features: Features
) -> Together[ZooKeeperController]:
    """If this controller has just been elected: everyone who is registered is known.

    Source: none; KIP-343 as it is written.
    """
    known = at_rest(done, features)
    if known is done:
        return done
    turn = ControllerTurn(known.node, done.ensemble, features, done.fired, done.facts)
    # KIP-343, Broker State: at first every broker is inactive. Of a controller failover the text
    # says nothing.
    if "343.failover-keeps-active" in turn.active:
        return known
    try:
        for broker in registered(turn):
            turn = declared(turn, broker, broker.state, "the controller is new")
    except ControllerMovedError as moved:
        turn = stand_down_if_moved(moved.turn)
    return turn.done(*done.sends)


def at_rest(
    done: Together[ZooKeeperController], features: Features
) -> Together[ZooKeeperController]:
    """A controller that has just been elected, with every registered broker active; any other as
    it is.

    Source: none; KIP-343 as it is written.
    """
    controller = done.node
    if not isinstance(controller, HeartbeatController) or not controller.active or controller.known:
        return done
    found = registered(ControllerTurn(controller, done.ensemble, features))
    known = tuple(replace(k, state=MembershipState.ACTIVE) for k in found)
    return done._replace(node=replace(controller, known=known))


def brokers_compared(turn: ControllerTurn) -> ControllerTurn:
    """Compare who is registered with who is known, and declare what follows.

    Raises ControllerMovedError.

    Source: none; KIP-343 as it is written.
    """
    read = children(turn.ensemble, turn.controller.session, BROKER_IDS_PATH, watch=True)
    turn = turn._replace(ensemble=read.ensemble)
    now = registered(turn)
    before = plane_of(turn).known
    new = [k for k in now if known_broker(plane_of(turn), k.broker) is None]
    others = [(_of(before, k), k) for k in now if k not in new]
    again = [(old, k) for old, k in others if old.incarnation_id != k.incarnation_id]
    dead = [k.broker for k in before if k.broker not in {found.broker for found in now}]
    fact = BrokersCompared(
        node=turn.controller.node,
        new=tuple(k.broker for k in new),
        bounced=tuple((k.broker, old.incarnation_id, k.incarnation_id) for old, k in again),
        dead=tuple(dead),
    )
    turn = turn.holding(turn.controller, fact)
    for found in new:
        turn = declared(turn, found, found.state, "it has registered")
    for _, found in again:
        turn = bounced(turn, found, "it has registered anew")
    for broker in dead:
        turn = forgotten(turn, broker)
    return turn


def _of(known: tuple[KnownBroker, ...], found: KnownBroker) -> KnownBroker:
    return next(k for k in known if k.broker == found.broker)
