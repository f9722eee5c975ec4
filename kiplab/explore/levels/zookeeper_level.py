"""The level "zookeeper": what it does not offer, and its normal form. levels.toml has its actions,
and zookeeper_scope.toml what is left out, and why.
"""

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import get_args

from msgspec.structs import replace

from ...engine import moves
from ...engine.canonical import canonical
from ...engine.cluster import Cluster, Message, Observed
from ...engine.nodes import ensemble_of, has_zookeeper, state_of
from ...engine.truth import controller_of
from ...plays.play_errors import PlayError
from ...protocol import log, messages
from ...protocol.guards import GUARDS
from ...protocol.ids import BrokerId, Incarnation, SessionId, Zxid, host_of
from ...protocol.replica.broker_state import Broker, Durable, Volatile
from ...protocol.zookeeper.ensemble import Ensemble
from ...protocol.zookeeper.znodes import BrokerZnode, Stat, Znode
from ...protocol.zookeeper.zookeeper_controller import QueuedRequest, ZooKeeperController
from .level_table import Action, Kind

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


_OF_KRAFT = {messages.broker_messages.__name__, messages.directory_messages.__name__}
AT_ONCE = {getattr(messages, name): why for name, why in _left_out("at_once").items()}
"""Messages that arrive within the action that sends them, and why: types of their bodies."""
NEVER_SENT: Mapping[type, str] = {
    **{getattr(messages, name): why for name, why in _left_out("never_sent").items()},
    **{
        body: _WHY["kraft"]
        for body in messages.KINDS
        if body.__module__ in _OF_KRAFT and body not in AT_ONCE
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


def admit(cluster: Cluster) -> Cluster:
    """As `Level.admit`. Raises PlayError for a play that the level cannot speak of."""
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


def own_queue(cluster: Cluster) -> tuple[tuple[str, BrokerId], ...]:
    """What the controller queues for its own broker: (kind, receiver)."""
    host = host_of(_controller(cluster))
    return tuple((kind, host) for kind in QUEUED)


def others(cluster: Cluster) -> tuple[Broker, ...]:
    """Every broker but the controller's."""
    host = host_of(_controller(cluster))
    return tuple(b for b in cluster.brokers if b.id != host)


def _waits_long(cluster: Cluster, node: Broker) -> bool:
    plane = state_of(cluster, _controller(cluster))
    assert isinstance(plane, ZooKeeperController)
    queued = (len(c.queue) for c in plane.channels if c.broker == node.id)
    return node.process is not None and sum(queued) > 1


def _next_queued(cluster: Cluster, action: Action) -> tuple[moves.Deliver, ...]:
    """The head of the queue for a broker, on its way while the broker is up."""
    heads = (m for m in cluster.messages if m.receiver == action.node and m.name.kind in QUEUED)
    return tuple(moves.Deliver(m.name) for m in heads)[:1]


DRAIN = Kind("drain", _next_queued, _waits_long, again=_next_queued)

# --- a state --------------------------------------------------------------------------------------


def normal(cluster: Cluster) -> Cluster:
    """The representative of all clusters that no action of this level can tell apart: `canonical`,
    of the parts that a rule could still read. levels.toml lists what is no part of a state.
    """
    return canonical(
        replace(
            cluster,
            controller=_ensemble(ensemble_of(cluster)),
            brokers=tuple(_broker(b) for b in cluster.brokers),
            messages=_in_flight(cluster.messages),
            observed=tuple(Observed(o.partition) for o in cluster.observed),
            broken=(),
        )
    )


def _ensemble(ensemble: Ensemble) -> Ensemble:
    """The numbers that come next are higher than all that are known: how much is no matter."""
    return replace(
        ensemble,
        zxid=Zxid(ensemble.zxid + 1),
        znodes=tuple(_znode(z) for z in ensemble.znodes),
        last_sessions=tuple(SessionId(last + 1) for last in ensemble.last_sessions),
    )


def _znode(znode: Znode) -> Znode:
    created = znode.stat.czxid if isinstance(znode.data, BrokerZnode) else Zxid(0)
    stat = Stat(created, Zxid(0), znode.stat.version, znode.stat.ephemeral_owner)
    return znode if stat == znode.stat else replace(znode, stat=stat)


def _broker(node: Broker) -> Broker:
    kept = tuple(replace(r, log=log.truncate(r.log, r.log.end)) for r in node.durable.replicas)
    process = None if node.process is None else _process(node.process)
    return replace(node, durable=Durable(kept), process=process)


def _process(volatile: Volatile) -> Volatile:
    image, plane = volatile.image, volatile.control_plane
    if image is not None:
        # An UpdateMetadata says who lives, and nothing of which incarnation it is.
        alive = tuple(replace(r, incarnation=_SOME_LIFE) for r in image.registrations)
        image = replace(image, registrations=alive, partitions=())
    assert isinstance(plane, ZooKeeperController)
    queues = (replace(c, queue=tuple(_request(r) for r in c.queue)) for c in plane.channels)
    if plane.channels:
        plane = replace(plane, channels=tuple(queues))
    return replace(volatile, image=image, control_plane=plane)


_SOME_LIFE = Incarnation(-1)
"""Below 0 nothing is counted: what names no incarnation in particular tells no two states apart."""


def _request(request: QueuedRequest) -> QueuedRequest:
    if isinstance(request, messages.UpdateMetadataRequest) and request.partitions:
        return replace(request, partitions=())
    return request


def _in_flight(sent: tuple[Message, ...]) -> tuple[Message, ...]:
    """In the order of their connections, and of each as they were sent."""
    ordered = sorted(sent, key=lambda m: (m.receiver, m.lane, m.name[:2]))
    return tuple(
        replace(m, body=_request(m.body))
        if isinstance(m.body, messages.UpdateMetadataRequest)
        else m
        for m in ordered
    )
