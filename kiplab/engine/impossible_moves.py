"""`why_not`: the reason why a move cannot be done now, in words for people."""

from collections.abc import Callable
from typing import Any

from ..protocol import features as feature_rules
from ..protocol import ids, log, registrations, releases
from ..protocol.clients.consumer import Reset
from ..protocol.messages import KINDS, AlterPartitionRequest, ApiRequest, WatcherEvent
from ..protocol.replica.broker_state import Broker, Lifecycle, log_of, replica_of
from ..protocol.replica.recovering import is_recovering
from ..protocol.zookeeper.ensemble import session_of
from . import channels, consumers, moves, producers, routes, zookeeper_routes
from .cluster import Cluster, Message, MessageName, broker
from .nodes import due_ms, ensemble_of, has_zookeeper, is_cut, kind_of, state_of
from .truth import controller_of, registration_of, session_lasts, stale_sessions, truth


class ImpossibleMoveError(ValueError):
    """A move that cannot be done in this situation; the cluster is as it was."""

    def __init__(self, move: moves.Move, reason: str) -> None:
        super().__init__(reason)
        self.move = move
        self.reason = reason


def why_not(cluster: Cluster, move: moves.Move) -> str | None:
    """None when `move` can be done now, else one sentence that says what is in its way."""
    return _CHECKS[type(move)](cluster, move)


def _deliver(cluster: Cluster, move: moves.Deliver | moves.LoseReply) -> str | None:
    message = channels.find(cluster, move.message)
    if message is None:
        return _not_in_flight(cluster, move.message)
    if cluster.cut and is_cut(cluster, message.name.sender, message.receiver):
        ends = f"{ids.node_name(message.name.sender)} and {ids.node_name(message.receiver)}"
        return f"the link between {ends} is cut"
    earlier = channels.blocker(cluster, message)
    if earlier is not None:
        return f"{earlier.name} is ahead of it on the same connection"
    return _needs_zookeeper(cluster, message) if cluster.cut else None


def _needs_zookeeper(cluster: Cluster, message: Message) -> str | None:
    """Whoever handles it asks ZooKeeper on the way."""
    at = message.receiver
    joint = (kind_of(cluster, at), type(message.body)) in zookeeper_routes.JOINT_ROUTES
    if not joint or not is_cut(cluster, at, ids.ZOOKEEPER):
        return None
    if zookeeper_routes.needs_no_zookeeper(cluster, message):
        return None
    return f"{ids.node_name(at)} has to ask ZooKeeper for it, and the link between them is cut"


def _drop(cluster: Cluster, move: moves.Drop) -> str | None:
    """ZooKeeper's client gets every event of its session, in order, however often it reconnects.

    Source: ClientCnxn.SendThread.primeConnection, which sets watches anew (ZooKeeper 3.5.9).
    """
    message = channels.find(cluster, move.message)
    if message is None:
        return _not_in_flight(cluster, move.message)
    body = message.body
    if isinstance(body, WatcherEvent) and session_of(ensemble_of(cluster), body.session):
        who = ids.node_name(message.receiver)
        return f"{who} gets every watch event while its session lasts; only its end loses one"
    return None


def _about_request(cluster: Cluster, move: moves.TimeOut | moves.Duplicate) -> str | None:
    message = channels.find(cluster, move.message)
    if message is None:
        return _not_in_flight(cluster, move.message)
    is_request = isinstance(message.body, ApiRequest)
    return None if is_request else f"only a request can be retried, and {move.message.kind} is none"


def _duplicate(cluster: Cluster, move: moves.Duplicate) -> str | None:
    name = move.message
    sender = broker(cluster, ids.host_of(name.sender))
    gone = sender is not None and (sender.process is None or sender.incarnation != name.incarnation)
    reason = _about_request(cluster, move)
    return reason or ("the process that sent it is gone, and sends nothing again" if gone else None)


def _lose_reply(cluster: Cluster, move: moves.LoseReply) -> str | None:
    return _about_request(cluster, moves.TimeOut(move.message)) or _deliver(cluster, move)


def _race(cluster: Cluster, move: moves.Race) -> str | None:
    names = move.message, move.other
    reason = next(filter(None, (_deliver(cluster, moves.Deliver(name)) for name in names)), None)
    one, other = (channels.find(cluster, name) for name in names)
    if reason is not None or one is None or other is None:
        return reason
    if one is other:
        return "it takes two to race"
    if one.receiver != other.receiver:
        ends = f"{ids.node_name(one.receiver)} and {ids.node_name(other.receiver)}"
        return f"{one.name} and {other.name} do not meet: they go to {ends}"
    kinds = kind_of(cluster, one.receiver), type(one.body)
    if type(one.body) is not type(other.body) or kinds not in routes.AT_ONCE:
        return "only two fetches race: whatever else arrives is done with before the next"
    if one.body.about() != other.body.about():
        return f"they ask for {one.body.about()} and {other.body.about()}, which share nothing"
    return None


def _not_in_flight(cluster: Cluster, name: MessageName) -> str:
    flying = ", ".join(str(m.name) for m in cluster.messages) or "nothing"
    return f"{name} is not in flight (in flight: {flying})"


def _advance(cluster: Cluster, move: moves.Advance) -> str | None:
    if not cluster.timed and has_zookeeper(cluster):
        return "a run with ZooKeeper has no clock; `expire` ends a session"
    if not cluster.timed:
        return "this run has no clock; write `timed` in the play's header to give it one"
    return None if move.ms > 0 else "time only goes forward"


def _fire(cluster: Cluster, move: moves.Fire) -> str | None:
    state, who = state_of(cluster, move.node), ids.node_name(move.node)
    if state is None:
        return f"there is no {who}" if move.node < 0 else _running(cluster, move.node)[1]
    if not routes.has_timer(type(state), move.timer):
        if has_zookeeper(cluster):
            return f"with ZooKeeper nobody has a {move.timer} timer"
        return f"{who} has no {move.timer} timer"
    idle = routes.IDLE.get((type(state), move.timer))
    nothing = None if idle is None else idle(state, cluster)
    if nothing is not None or not cluster.timed:
        return nothing
    due = due_ms(state, move.timer)
    return f"the {move.timer} timer of {who} is due at {due} ms" if due > cluster.now_ms else None


def _raw(cluster: Cluster, move: moves.RawRequest) -> str | None:
    why = routes.NOT_ADDRESSED.get((kind_of(cluster, move.receiver), type(move.body)))
    if why is None:
        return _unspoken(cluster, move)
    return f"{KINDS[type(move.body)]} is nothing to send to {ids.node_name(move.receiver)}: {why}"


def _unspoken(cluster: Cluster, move: moves.RawRequest) -> str | None:
    """A real controller closes the connection."""
    if move.receiver == ids.CONTROLLER and has_zookeeper(cluster):
        kind = KINDS[type(move.body)]
        return f"{kind} is asked of KRaft's controller, and this cluster has ZooKeeper"
    if not isinstance(move.body, AlterPartitionRequest):
        return None
    release = releases.RELEASES[cluster.features.release_of(move.receiver)]
    version, oldest = move.body.version, release.oldest_alter_partition
    if release.alter_partition == releases.NEVER_SPOKEN:
        return f"Kafka {release.name} has no AlterPartition: leaders write the ISR to ZooKeeper"
    older = f"Kafka {release.name} speaks AlterPartition from version {oldest} on, not {version}"
    return older if version < oldest else None


def _expire(cluster: Cluster, move: moves.ExpireSession) -> str | None:
    if not session_lasts(cluster, move.broker):
        if has_zookeeper(cluster):
            return f"broker {move.broker} has no session with ZooKeeper"
        if registration_of(cluster, move.broker) is None:
            return f"broker {move.broker} is not registered"
        return f"broker {move.broker} is fenced already: it has no session"
    if cluster.timed and move.broker not in stale_sessions(cluster):
        return f"the session of broker {move.broker} is not over yet, or another one is older"
    return None


def _heartbeat_timeout(cluster: Cluster, move: moves.HeartbeatTimeout) -> str | None:
    if broker(cluster, move.broker) is None:
        return _no_broker(cluster, move.broker)
    if releases.RELEASES[cluster.features.release].mode is releases.Mode.KRAFT:
        return "there are no MetadataHeartbeats in KRaft; `expire` ends a session"
    return zookeeper_routes.why_no_timeout(cluster, move)


def _produce(cluster: Cluster, move: moves.Produce) -> str | None:
    if move.broker == ids.NO_LEADER:
        return f"{move.partition} has no leader, so there is nobody to write to"
    node, reason = _answering(cluster, move.broker)
    if node is None:
        return reason
    replica = replica_of(node, move.partition)
    if replica is None or replica.leading is None:
        return f"broker {move.broker} does not lead {move.partition} (NOT_LEADER_OR_FOLLOWER)"
    return None if move.count > 0 else "at least one record has to be written"


def _end_transaction(cluster: Cluster, move: moves.EndTransaction) -> str | None:
    reason = _produce(cluster, moves.Produce(move.partition, move.broker, 1))
    node = broker(cluster, move.broker)
    if reason is not None or node is None:
        return reason
    whose = f"broker {move.broker}'s log of {move.partition}"
    nothing = f"no transaction is open in {whose}; `produce` with transaction=open begins one"
    return nothing if log.open_transaction(log_of(node, move.partition)) is None else None


def _produce_as(cluster: Cluster, move: moves.ProduceAs) -> str | None:
    unknown = _no_partition(cluster, move.partition)
    return unknown or (None if move.count > 0 else "at least one record has to be written")


def _resend(cluster: Cluster, move: moves.Resend) -> str | None:
    writers = list(producers.producers_of(cluster, move.producer))
    if not writers:
        return f"{move.producer} has written nothing yet; `produce` with producer= begins"
    at = min((producers.turn_ms(p) for p in writers if p.batches), default=None)
    if at is None:
        return f"everything that {move.producer} wrote is acknowledged"
    if cluster.timed and at > cluster.now_ms:
        return f"{move.producer} waits with what it has to send until {at} ms"
    return None


def _delete_records(cluster: Cluster, move: moves.DeleteRecords) -> str | None:
    """Whoever answers may refuse: that is no impossible move."""
    if unknown := _no_partition(cluster, move.partition):
        return unknown
    if move.broker == ids.NO_LEADER:
        return f"{move.partition} has no leader, so there is nobody to ask"
    if move.before is not None and move.before < 0:
        return "an offset is 0 or more"
    return _answering(cluster, move.broker)[1]


def _answering(cluster: Cluster, id: ids.BrokerId) -> tuple[Broker | None, str | None]:
    """A broker that a client reaches."""
    broker, reason = _running(cluster, id)
    if broker is not None and is_cut(cluster, ids.CLIENT, id):
        return None, f"the link between client and broker {id} is cut"
    return broker, reason


def _refresh(cluster: Cluster, move: moves.RefreshMetadata) -> str | None:
    if not any(consumers.consumers_of(cluster, move.consumer)):
        return f"{move.consumer} reads nothing yet; let it poll first"
    if consumers.informant(cluster, move.broker) is not None:
        return None
    if move.broker is None:
        return "no broker that knows the metadata can be reached"
    if broker(cluster, move.broker) is None:
        return _no_broker(cluster, move.broker)
    return f"broker {move.broker} does not answer: it is down, cut off, or has no metadata yet"


def _reset(cluster: Cluster, move: moves.ResetOffset) -> str | None:
    if move.to is Reset.NONE:
        return "a consumer goes to the earliest or to the latest offset"
    if consumers.consumer_of(cluster, move.consumer, move.partition) is None:
        return f"{move.consumer} does not read {move.partition} yet; poll it first"
    return None


def _needs_running(cluster: Cluster, move: moves.Crash | moves.ShutDown) -> str | None:
    return _running(cluster, move.broker)[1]


def _start(cluster: Cluster, move: moves.Start) -> str | None:
    node = broker(cluster, move.broker)
    if node is None:
        return _no_broker(cluster, move.broker)
    if node.process is not None:
        return f"broker {move.broker} is running already"
    return zookeeper_routes.why_not_start(cluster, move) if has_zookeeper(cluster) else None


def _finish_recovery(cluster: Cluster, move: moves.FinishRecovery) -> str | None:
    node, reason = _running(cluster, move.broker)
    if node is None or node.process is None:
        return reason
    if node.process.lifecycle is not Lifecycle.RECOVERY:
        state = f"broker {move.broker} is {node.process.lifecycle}"
        if has_zookeeper(cluster):
            return f"{state}: with ZooKeeper nobody is fenced"
        return f"{state}; it recovers once it is registered"
    is_ready = node.process.ready_to_unfence
    return f"broker {move.broker} has recovered already" if is_ready else None


def _finish_leader_recovery(cluster: Cluster, move: moves.FinishLeaderRecovery) -> str | None:
    if unknown := _no_partition(cluster, move.partition):
        return unknown
    if move.broker == ids.NO_LEADER:
        return f"{move.partition} has no leader, so nobody recovers it"
    node, reason = _running(cluster, move.broker)
    if node is None:
        return reason
    replica = replica_of(node, move.partition)
    if replica is None or replica.leading is None:
        return f"broker {move.broker} does not lead {move.partition}"
    if not is_recovering(replica):
        return _recovers_nothing(cluster, move)
    if replica.leading.isr_state.sent is not None:
        return f"broker {move.broker} has said so already, and waits for the controller's answer"
    return None


def _recovers_nothing(cluster: Cluster, move: moves.FinishLeaderRecovery) -> str:
    nothing = f"broker {move.broker} does not recover {move.partition}"
    if "704.leader-recovers" in cluster.features.active(move.broker):
        return f"{nothing}: it has nothing to finish"
    switch = "`on 704.specified` lets leaders do what KIP-704 says"
    return f"{nothing}: no release of Kafka recovers anything; {switch}"


def _cut(cluster: Cluster, move: moves.Cut) -> str | None:
    if move.one == move.other:
        return "a link has two ends"
    other = ids.ZOOKEEPER if controller_of(cluster) == ids.CONTROLLER else ids.CONTROLLER
    if other in (move.one, move.other):
        apart = f"there is no {ids.node_name(other)} apart from the brokers in this cluster"
        instead = "; cut the link to zookeeper, or to the broker that is the controller"
        return apart + (instead if other == ids.CONTROLLER else "")
    return "that link is cut already" if is_cut(cluster, move.one, move.other) else None


def _heal(cluster: Cluster, move: moves.Heal) -> str | None:
    return None if is_cut(cluster, move.one, move.other) else "that link is not cut"


def _configure(cluster: Cluster, move: moves.Configure) -> str | None:
    settings: dict[str, set[bool]] = {}
    for state in truth(cluster).partitions:
        of_topic = settings.setdefault(registrations.topic_of(state.name), set())
        of_topic.add(state.unclean_leader_election)
    if move.topic not in settings:
        return f"there is no topic {move.topic} (there is {', '.join(settings)})"
    if settings[move.topic] == {move.unclean_leader_election}:
        value = "true" if move.unclean_leader_election else "false"
        return f"unclean.leader.election.enable of {move.topic} is {value} already"
    return None


def _no_partition(cluster: Cluster, name: str) -> str | None:
    names = [p.name for p in truth(cluster).partitions]
    return None if name in names else f"there is no partition {name} (there is {', '.join(names)})"


def _upgrade(cluster: Cluster, move: moves.Upgrade) -> str | None:
    try:
        feature_rules.check_release(move.release)
    except feature_rules.UnknownFeatureError as error:
        return str(error)
    if move.node not in (None, ids.CONTROLLER) and broker(cluster, move.node) is None:
        return _no_broker(cluster, move.node)
    version, now = cluster.features.metadata_version, cluster.features.release
    if releases.RELEASES[move.release].mode is not releases.RELEASES[now].mode:
        return f"Kafka {move.release} and Kafka {now} keep their metadata in different places"
    if not releases.supports(move.release, version):
        return f"{releases.not_supported(move.release, version)}, and does not start"
    return None


_FIRST_FINALIZED = "3.3-IV0"
"""The first metadata version that the metadata log itself tells of."""


def _upgrade_metadata(cluster: Cluster, move: moves.UpgradeMetadata) -> str | None:
    """An upgrade only raises.

    Source: FeatureControlManager.updateFeature and updateMetadataVersion (3.3.0, 3.9.0-rc3).
    """
    current = cluster.features.metadata_version
    try:
        feature_rules.at_metadata_version(cluster.features, move.metadata_version)
    except feature_rules.UnknownFeatureError as error:
        return str(error)
    for node, release in cluster.features.nodes:
        if not releases.supports(release, move.metadata_version):
            knows = releases.known_to(release)
            return f"{ids.node_name(node)} runs Kafka {release}, which knows {knows}"
    if not releases.at_least(move.metadata_version, current):
        return f"the metadata version is {current} already, and an upgrade lowers nothing"
    finalizes = cluster.features.code_of(ids.CONTROLLER) >= (3, 3)
    if finalizes and not releases.at_least(move.metadata_version, _FIRST_FINALIZED):
        return f"no metadata version below {_FIRST_FINALIZED} can be upgraded to"
    return None


def _running(cluster: Cluster, id: ids.BrokerId) -> tuple[Broker | None, str | None]:
    node = broker(cluster, id)
    if node is None:
        return None, _no_broker(cluster, id)
    return (None, f"broker {id} is down") if node.process is None else (node, None)


def _no_broker(cluster: Cluster, id: ids.BrokerId) -> str:
    return f"there is no broker {id} (there is {', '.join(str(b.id) for b in cluster.brokers)})"


_CHECKS: dict[type, Callable[[Cluster, Any], str | None]] = {
    moves.Deliver: _deliver,
    moves.Drop: _drop,
    moves.TimeOut: _about_request,
    moves.Duplicate: _duplicate,
    moves.LoseReply: _lose_reply,
    moves.Race: _race,
    moves.Advance: _advance,
    moves.Fire: _fire,
    moves.ExpireSession: _expire,
    moves.HeartbeatTimeout: _heartbeat_timeout,
    moves.Produce: _produce,
    moves.EndTransaction: _end_transaction,
    moves.ProduceAs: _produce_as,
    moves.Resend: _resend,
    moves.DeleteRecords: _delete_records,
    moves.Poll: lambda cluster, move: _no_partition(cluster, move.partition),
    moves.RefreshMetadata: _refresh,
    moves.ResetOffset: _reset,
    moves.Crash: _needs_running,
    moves.Start: _start,
    moves.ShutDown: _needs_running,
    moves.FinishRecovery: _finish_recovery,
    moves.FinishLeaderRecovery: _finish_leader_recovery,
    moves.Cut: _cut,
    moves.Heal: _heal,
    moves.FailOver: lambda *_: None,
    moves.Elect: lambda cluster, move: _no_partition(cluster, move.partition),
    moves.Configure: _configure,
    moves.Upgrade: _upgrade,
    moves.UpgradeMetadata: _upgrade_metadata,
    moves.RawRequest: _raw,
}
