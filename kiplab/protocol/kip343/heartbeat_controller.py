"""The controller of KIP-343: one of ZooKeeper mode that keeps a state for each broker.

KIP-343 changes which brokers count as present. In a release every broker that is registered in
ZooKeeper is present. Here a registered broker is known, and only an ACTIVE or STOPPING one is
present. So an inactive broker is in `known_brokers` and not in `live`, and everything that a
release's controller does about live brokers (elections, metadata, queues) treats it as absent.

The controller declares a broker active, inactive or stopping. The input is an event in progress and
the state of a broker. The text defines the states, but not the effects of a change. An inactive
broker "is treated the same as an absent one". So a broker that becomes inactive is treated as if
its znode were gone (onBrokerFailure: others lead, it leaves the ISRs, its channel is closed). One
that becomes active is treated as newly registered (onBrokerStartup: it learns everything). A broker
that wants to stop is in controlled shutdown: others lead its partitions. The text does not say how
that ends; here the broker is declared inactive once it leads nothing, which is the answer that it
waits for. The output is the event, and a BrokerDeclared for each change of a state.

Most events of ZooKeeper are handled as in a release. The registered brokers are compared with the
known ones. A new broker is inactive until it sends a heartbeat, unless it registered with a version
without heartbeats. A broker with another incarnation id replaces the old one. A change that a
heartbeat has announced before its watch event has no further effect. A new controller has no
heartbeats yet: the text says that at first everyone is inactive, which would leave every partition
without a leader; so it takes every registered broker for active, with a full timeout.

Source: none; KIP-343 as it is written.
"""

from typing import cast

import msgspec
from msgspec.structs import replace

from ..features import Features
from ..ids import BrokerEpoch, BrokerId, SessionId
from ..messages import MembershipState, WatcherEvent
from ..messages.heartbeat_messages import state_word
from ..zookeeper import broker_change
from ..zookeeper.control_channels import add_channel, remove_channel
from ..zookeeper.controller_election import stand_down_if_moved
from ..zookeeper.controller_turn import ControllerMovedError, ControllerTurn
from ..zookeeper.ensemble import below
from ..zookeeper.ensemble_writes import Together
from ..zookeeper.watch_events import watch_fired
from ..zookeeper.znodes import BROKER_IDS_PATH, BrokerZnode
from ..zookeeper.zookeeper_controller import LiveBroker, ZooKeeperController
from ..zookeeper.zookeeper_shutdown import let_go, still_led
from ..zookeeper_facts import BrokerDeclared, BrokersCompared


class KnownBroker(msgspec.Struct, frozen=True, cache_hash=True):
    """A registered broker: its incarnation id, which is the czxid of its znode, and its state.

    `legacy` is who registered with a BrokerInfo below version 5, and sends no heartbeats.
    """

    broker: BrokerId
    incarnation_id: BrokerEpoch
    state: MembershipState = MembershipState.INACTIVE
    legacy: bool = False


class HeartbeatController(ZooKeeperController, frozen=True, cache_hash=True):
    """`known_brokers` is sorted by broker, and empty while the controller is not active."""

    known_brokers: tuple[KnownBroker, ...] = ()


def known_broker(controller: HeartbeatController, broker: BrokerId) -> KnownBroker | None:
    """The controller's state of a registered broker; None of any other."""
    return next((entry for entry in controller.known_brokers if entry.broker == broker), None)


FIRST_WITH_HEARTBEATS = 5
"""The version of BrokerInfo that a broker registers with that sends heartbeats."""


def plane_of(turn: ControllerTurn) -> HeartbeatController:
    """The controller of this event."""
    return cast("HeartbeatController", turn.controller)


def registered(turn: ControllerTurn) -> tuple[KnownBroker, ...]:
    """Registered brokers in the first state that a new controller gives them."""
    versions = {
        z.data.broker: z.data.version
        for z in below(turn.ensemble.znodes, BROKER_IDS_PATH)
        if isinstance(z.data, BrokerZnode)
    }
    registered = broker_change.registered_brokers(turn)
    return tuple(_at_first(turn, b, versions[b.broker]) for b in registered)


def declared(
    turn: ControllerTurn, entry: KnownBroker, state: MembershipState, reason: str
) -> ControllerTurn:
    """`found` changes state, with what that brings. Raises ControllerMovedError."""
    before = known_broker(plane_of(turn), entry.broker)
    turn = _told(turn, before, replace(entry, state=state), reason)
    counts = state is not MembershipState.INACTIVE
    is_live = entry.broker in turn.controller.live_brokers
    if counts and not is_live:
        return _joined(turn, entry)
    return turn if counts or not is_live else _gone(turn, entry.broker)


def forgotten(turn: ControllerTurn, broker: BrokerId) -> ControllerTurn:
    """Its znode is gone. Raises ControllerMovedError."""
    is_live = broker in turn.controller.live_brokers
    others = tuple(k for k in plane_of(turn).known_brokers if k.broker != broker)
    turn = turn.holding(replace(plane_of(turn), known_brokers=others))
    return _gone(turn, broker) if is_live else turn


def bounced(turn: ControllerTurn, entry: KnownBroker, reason: str) -> ControllerTurn:
    """Another incarnation of a known broker replaces the old one. Raises ControllerMovedError."""
    return declared(forgotten(turn, entry.broker), entry, entry.state, reason)


def active_again(turn: ControllerTurn, entry: KnownBroker) -> ControllerTurn:
    """It wants to be active, from INACTIVE or STOPPING. Raises ControllerMovedError."""
    if entry.state is MembershipState.STOPPING:
        staying = tuple(b for b in turn.controller.shutting_down if b != entry.broker)
        turn = turn.holding(replace(turn.controller, shutting_down=staying))
        turn = broker_change.on_broker_startup(turn, (entry.broker,))
    return declared(turn, entry, MembershipState.ACTIVE, "it wants to be active")


def stopping(turn: ControllerTurn, entry: KnownBroker) -> ControllerTurn:
    """It wants to stop: inactive, once it leads nothing. Raises ControllerMovedError."""
    if entry.state is MembershipState.INACTIVE:
        return turn
    turn = let_go(turn, entry.broker)
    if still_led(turn.controller, entry.broker):
        return declared(turn, entry, MembershipState.STOPPING, "it wants to stop")
    return declared(turn, entry, MembershipState.INACTIVE, "it wants to stop, and leads nothing")


def _at_first(turn: ControllerTurn, live_broker: LiveBroker, version: int) -> KnownBroker:
    legacy = version < FIRST_WITH_HEARTBEATS
    # KIP-343, Compatibility, Deprecation, and Migration Plan: who registers with an older version
    # is always active.
    active = legacy and "343.legacy-active" in turn.active
    # KIP-343, Broker State: at first a broker is inactive.
    waits = "343.inactive-at-first" in turn.active and not active
    state = MembershipState.INACTIVE if waits else MembershipState.ACTIVE
    return KnownBroker(live_broker.broker, live_broker.epoch, state, legacy)


def _told(
    turn: ControllerTurn, before: KnownBroker | None, entry: KnownBroker, reason: str
) -> ControllerTurn:
    if before == entry:
        return turn
    plane = plane_of(turn)
    others = [k for k in plane.known_brokers if k.broker != entry.broker]
    entries = tuple(sorted([*others, entry], key=lambda k: k.broker))
    turn = turn.holding(replace(plane, known_brokers=entries))
    if before is not None and before.state is entry.state:
        return turn
    fact = BrokerDeclared(
        turn.controller.node,
        entry.broker,
        incarnation_id=entry.incarnation_id,
        before="" if before is None else state_word(before.state),
        after=state_word(entry.state),
        reason=reason,
    )
    return turn.holding(turn.controller, fact)


def _joined(turn: ControllerTurn, entry: KnownBroker) -> ControllerTurn:
    turn = broker_change.adding(turn, (LiveBroker(entry.broker, entry.incarnation_id),))
    controller = add_channel(turn.controller, entry.broker)
    return broker_change.on_broker_startup(turn.holding(controller), (entry.broker,))


def _gone(turn: ControllerTurn, broker: BrokerId) -> ControllerTurn:
    turn = broker_change.removing(remove_channel(turn, broker), (broker,))
    return broker_change.on_broker_failure(turn, (broker,))


# --- watches, and an election ---------------------------------------------------------------------


def heartbeat_watch_fired(
    turn: ControllerTurn, event: WatcherEvent, session: SessionId
) -> Together[ZooKeeperController]:
    """Handle the event whole; one of another session than the process has changes nothing."""
    return seeded(watch_fired(turn, event, session, brokers_compared), turn.features)


def seeded(
    done: Together[ZooKeeperController], features: Features
) -> Together[ZooKeeperController]:
    """If this controller has just been elected: everyone who is registered is known."""
    controller = at_rest(done, features)
    if controller is done:
        return done
    turn = ControllerTurn(controller.node, done.ensemble, features, done.fired, done.facts)
    # KIP-343, Broker State: at first every broker is inactive. Of a controller failover the text
    # says nothing.
    if "343.failover-keeps-active" in turn.active:
        return controller
    try:
        for broker in registered(turn):
            turn = declared(turn, broker, broker.state, "the controller is new")
    except ControllerMovedError as moved:
        turn = stand_down_if_moved(moved.turn)
    return turn.done(*done.sends)


def at_rest(
    done: Together[ZooKeeperController], features: Features
) -> Together[ZooKeeperController]:
    """A newly elected controller, with every registered broker active; any other as it is."""
    controller = done.node
    if not isinstance(controller, HeartbeatController) or controller.known_brokers:
        return done
    if not controller.active:
        return done
    brokers = registered(ControllerTurn(controller, done.ensemble, features))
    known_brokers = tuple(replace(k, state=MembershipState.ACTIVE) for k in brokers)
    return done._replace(node=replace(controller, known_brokers=known_brokers))


def brokers_compared(turn: ControllerTurn) -> ControllerTurn:
    """Compare the registered with the known, and declare. Raises ControllerMovedError."""
    turn, _ = turn.children(BROKER_IDS_PATH)
    now = {k.broker: k for k in registered(turn)}
    ids_before = {k.broker: k.incarnation_id for k in plane_of(turn).known_brokers}
    ids_now = {k.broker: k.incarnation_id for k in now.values()}
    fact = BrokersCompared(
        node=turn.controller.node,
        new=tuple(b for b in now if b not in ids_before),
        bounced=tuple(
            (b, ids_before[b], ids_now[b])
            for b in now
            if ids_before.get(b, ids_now[b]) != ids_now[b]
        ),
        dead=tuple(b for b in ids_before if b not in now),
    )
    turn = turn.holding(turn.controller, fact)
    for broker in fact.new:
        turn = declared(turn, now[broker], now[broker].state, "it has registered")
    for broker, _, _ in fact.bounced:
        turn = bounced(turn, now[broker], "it has registered again")
    for broker in fact.dead:
        turn = forgotten(turn, broker)
    return turn
