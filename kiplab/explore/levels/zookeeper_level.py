"""The level "zookeeper": a controller's queues, watches, sessions, and brokers that come back.

The actions, each one step of a search, with the bound that each uses up:

deliver
    One message arrives, the first of its connection: a watch event, a request for a controlled
    shutdown or the answer to it, the end of a session, or the head of the controller's queue for a
    broker. A request queued for one incarnation of a broker goes to the next.
drain
    All that is queued for a broker arrives, one after the other: short for as many `deliver`.
start
    A broker that is down comes up. While its earlier session lasts it could not register: left out.
crash (crashes)
    Crash(NOTHING): the process is gone, its log and its session stay.
expire (expiries, if the broker runs; the session of one that is gone ends for nothing)
    ExpireSession of a broker that has a session.
shutdown (shutdowns)
    A broker requests its controlled shutdown, or repeats the request.
elect (elections)
    An operator's Elect, where another broker leads than the first replica.

AT_ONCE, NEVER_SENT and NOT_ASKED list what is not offered, and why. A message that they do not
name is held; tests/explore/test_zookeeper_scope.py misses such a guard, and lists the moves that
are left out. Above all there is no data: no records are written or fetched, so that an ISR only
shrinks, and no property is about records. The controller's broker stays up and keeps its session.
Therefore requests that it queues for itself arrive at once: no later event makes a difference to
that broker, and nothing depends on its state. Answers to requests of the controller arrive at once,
too: they only let the next request of the queue go, and that waits as well as they would.
tests/explore/test_zookeeper_level.py compares both with a search that holds everything.

Two brokers are enough for each of KIP-380's four failures, and with the default bounds a search of
two takes a second. On three brokers, as in KIP-380's plays, a proof looks at thousands of states.

The four properties are checked at rest (engine/at_rest.py), when nothing is under way any more: a
way there has to let everything arrive. normal_zookeeper.py defines a state.
"""

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import get_args

from msgspec.structs import replace

from ...engine import moves, properties
from ...engine.cluster import Cluster
from ...engine.nodes import has_zookeeper, state_of
from ...engine.truth import controller_of
from ...plays.play_errors import PlayError
from ...protocol import messages
from ...protocol.guards import GUARDS
from ...protocol.ids import BrokerId, host_of
from ...protocol.replica.broker_state import Broker
from ...protocol.zookeeper.zookeeper_controller import QueuedRequest, ZooKeeperController
from . import action_kinds as actions
from .level_table import OF_CLIENTS, SPURIOUS, Action, Bound, Kind, Level
from .normal_zookeeper import normal

QUEUED = tuple(messages.KINDS[body] for body in get_args(QueuedRequest))
"""Kinds of requests that a controller queues."""

# --- messages -------------------------------------------------------------------------------------

_FILE = tomllib.loads((files(__package__) / "zookeeper_scope.toml").read_text("utf-8"))
_WHY: dict[str, str] = _FILE["why"]
NO_DATA = _WHY["no_data"]
"""Why much of what a broker does is no part of this level."""


def _left_out(table: str) -> dict[str, str]:
    """Names of a table of zookeeper_scope.toml, each with the reason why."""
    return {name: _WHY[why] for why, names in _FILE[table].items() for name in names}


AT_ONCE = {getattr(messages, name): why for name, why in _left_out("at_once").items()}
"""Messages that arrive within the action that sends them, and why: types of their bodies."""
NEVER_SENT: Mapping[type, str] = {
    **{getattr(messages, name): why for name, why in _left_out("never_sent").items()},
    **{
        body: _WHY["kraft"]
        for body in messages.KINDS
        if body.__module__ == messages.broker_messages.__name__ and body not in AT_ONCE
    },
    **{
        body: _WHY["heartbeats"]
        for body in messages.KINDS
        if body.__module__ == messages.heartbeat_messages.__name__
    },
}
"""Messages that there are none of."""
HELD = tuple(kind for body, kind in messages.KINDS.items() if body not in {**AT_ONCE, **NEVER_SENT})
"""Kinds of all other messages: that one of them arrives is an action."""

# --- guards ---------------------------------------------------------------------------------------

NOT_ASKED: Mapping[str, str] = {
    **_left_out("not_asked"),
    **{
        guard.id: _WHY["heartbeats"]
        for guard in GUARDS.values()
        if guard.kip == 343 and guard.id != "343.heartbeats"
    },
}
"""Guards of ZooKeeper mode that no rule asks for here; for heartbeats every start asks."""

# --- actions --------------------------------------------------------------------------------------


def _admit(cluster: Cluster) -> Cluster:
    if not has_zookeeper(cluster):
        problem = f"Kafka {cluster.features.release} has no ZooKeeper"
        raise PlayError(problem, expected="levels partition, cluster and recovery explore KRaft")
    if controller_of(cluster) is None:
        raise PlayError(
            "no broker is the controller as the play begins",
            expected="a broker that is up: level zookeeper is about the controller's requests",
        )
    if type(state_of(cluster, _controller(cluster))) is not ZooKeeperController:
        problem = "its controllers learn from heartbeats which brokers live (KIP-343)"
        raise PlayError(problem, expected="no level explores that; a play can show it")
    if "380.session-id" in cluster.features.active(_controller(cluster)):
        problem = "380.session-id uses session ids as broker epochs"
        raise PlayError(problem, expected="level zookeeper only knows the order of sessions")
    # Who reads and writes is no part of this level.
    return normal(replace(cluster, consumers=(), producers=()))


def _controller(cluster: Cluster) -> BrokerId:
    """The address of the controller: in all that a search meets it is the one of the beginning."""
    broker_id = controller_of(cluster)
    assert broker_id is not None, "nothing at this level ends the controller's session"
    return broker_id


def _own_queue(cluster: Cluster) -> tuple[tuple[str, BrokerId], ...]:
    host = host_of(_controller(cluster))
    return tuple((kind, host) for kind in QUEUED)


def _others(cluster: Cluster) -> tuple[Broker, ...]:
    """Every broker but the controller's."""
    host = host_of(_controller(cluster))
    return tuple(b for b in cluster.brokers if b.id != host)


def _waits_long(cluster: Cluster, node: Broker) -> bool:
    """Whether more than one request is queued for a broker that runs."""
    plane = state_of(cluster, _controller(cluster))
    assert isinstance(plane, ZooKeeperController)
    queued = (len(c.queue) for c in plane.channels if c.broker == node.id)
    return node.process is not None and sum(queued) > 1


def _next_queued(cluster: Cluster, action: Action) -> tuple[moves.Deliver, ...]:
    """The head of the queue for a broker, on its way while the broker is up."""
    heads = (m for m in cluster.messages if m.receiver == action.node and m.name.kind in QUEUED)
    return tuple(moves.Deliver(m.name) for m in heads)[:1]


_ASKED_TO_SHUT_DOWN = "request for a controlled shutdown", "requests for controlled shutdowns"
ZOOKEEPER = Level(
    name="zookeeper",
    sentence="a controller's queues, watches, sessions; brokers that leave and come back; no data",
    kinds=(
        actions.DELIVER,
        Kind("drain", _next_queued, _waits_long, again=_next_queued),
        actions.START,
        actions.CRASH,
        actions.EXPIRE,
        actions.ASK_TO_SHUT_DOWN,
        actions.ELECT_PREFERRED,
    ),
    brokers=_others,
    holds=HELD,
    bounds=(
        Bound("shutdowns", 1, *_ASKED_TO_SHUT_DOWN, 390, 6),
        Bound("crashes", 1, "crash", "crashes", 20, 20),
        Bound("expiries", 0, *SPURIOUS, 20, 20),
        Bound("elections", 0, "preferred election", "preferred elections", 5, 3),
    ),
    smallest=1,
    normal=normal,
    admit=_admit,
    asks=(
        properties.LEADER_SERVES.id,
        properties.REPLICA_FETCHES.id,
        properties.BROKER_ELECTABLE.id,
        properties.CHECKPOINT_KEEPS_PARTITIONS.id,
    ),
    blind=(
        *OF_CLIENTS,
        properties.NO_COMMITTED_RECORD_LOST.id,
        properties.ELECTABLE_HOLDS_COMMITTED.id,
        properties.NO_STALE_EPOCH_IN_ISR.id,
        properties.GIVEN_WHILE_RECOVERING_STAYS.id,
        properties.RECOVERED_RECORDS_STAY.id,
    ),
    unasked=NOT_ASKED,
    passes=_own_queue,
)
