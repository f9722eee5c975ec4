"""`why_not`: the reason why a move cannot be done now, in words for people."""

from collections.abc import Callable
from typing import Any

from ..protocol import features as feature_rules
from ..protocol import ids, log, registrations, releases
from ..protocol.clients.consumer import Reset
from ..protocol.messages import KINDS, AlterPartitionRequest, ApiRequest, WatcherEvent
from ..protocol.replica.broker_parts import process_of
from ..protocol.replica.broker_state import Lifecycle, log_of, replica_of
from ..protocol.replica.recovering import is_recovering
from ..protocol.zookeeper.ensemble import session_of
from . import channels, consumers, moves, producers, routes, zookeeper_routes
from .cluster import Cluster, Message, broker
from .nodes import due_ms, ensemble_of, has_zookeeper, is_cut, kind_of, leads, state_of
from .truth import controller_of, registration_of, session_lasts, stale_sessions, truth


class ImpossibleMoveError(ValueError):
    """A move that cannot be done in this situation; the cluster is as it was."""

    def __init__(self, move: moves.Move, reason: str) -> None:
        super().__init__(reason)
        self.move = move
        self.reason = reason


def why_not(cluster: Cluster, move: moves.Move) -> str | None:
    """None when `move` can be done now, else one sentence that says what is in its way."""
    for check in _CHECKS[type(move)]:
        reason = check(cluster, move)
        if reason is not None:
            return reason
    return None


def check_possible(cluster: Cluster, move: moves.Move) -> None:
    """Raises ImpossibleMoveError with the reason that `why_not` gives, where it gives one."""
    reason = why_not(cluster, move)
    if reason is not None:
        raise ImpossibleMoveError(move, reason)


MoveCheck = Callable[[Cluster, Any], str | None]
"""(cluster, move) to what is in its way. It counts on the checks before it in the move's row."""


def _when(blocked: Callable[[Cluster, Any], bool], reason: str) -> MoveCheck:
    """A check whose reason names nothing but fields of the move."""
    return lambda cluster, move: reason.format(move) if blocked(cluster, move) else None


def _not_in_flight(cluster: Cluster, move: moves.AboutMessage) -> str | None:
    if channels.find(cluster, move.message) is not None:
        return None
    flying = ", ".join(str(m.name) for m in cluster.messages) or "nothing"
    return f"{move.message} is not in flight (in flight: {flying})"


def _cannot_arrive(cluster: Cluster, move: moves.Deliver | moves.LoseReply) -> str | None:
    message = channels.find(cluster, move.message)
    if message is None:
        return _not_in_flight(cluster, move)
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


def _never_dropped(cluster: Cluster, move: moves.Drop) -> str | None:
    """ZooKeeper's client gets every event of its session, in order, however often it reconnects.

    Source: ClientCnxn.SendThread.primeConnection, which sets watches anew (ZooKeeper 3.5.9).
    """
    message = channels.in_flight(cluster, move.message)
    body = message.body
    if isinstance(body, WatcherEvent) and session_of(ensemble_of(cluster), body.session):
        who = ids.node_name(message.receiver)
        return f"{who} gets every watch event while its session lasts; only its end loses one"
    return None


def _do_not_race(cluster: Cluster, move: moves.Race) -> str | None:
    one, other = (channels.in_flight(cluster, name) for name in (move.message, move.other))
    if one is other:
        return "a race needs two messages"
    if one.receiver != other.receiver:
        ends = f"{ids.node_name(one.receiver)} and {ids.node_name(other.receiver)}"
        return f"{one.name} and {other.name} do not meet: they go to {ends}"
    kinds = kind_of(cluster, one.receiver), type(one.body)
    if type(one.body) is not type(other.body) or kinds not in routes.AT_ONCE:
        return "only two fetches race: every other message is processed before the next"
    if one.body.about() != other.body.about():
        return f"they are about {one.body.about()} and {other.body.about()}, which share no state"
    return None


def _unspoken(cluster: Cluster, move: moves.RawRequest) -> str | None:
    """A real controller closes the connection."""
    kind = KINDS[type(move.body)]
    why = routes.NOT_ADDRESSED.get((kind_of(cluster, move.receiver), type(move.body)))
    if why is not None:
        return f"{kind} cannot be sent to {ids.node_name(move.receiver)}: {why}"
    if move.receiver == ids.CONTROLLER and has_zookeeper(cluster):
        return f"{kind} is for KRaft's controller, and this cluster has ZooKeeper"
    if not isinstance(move.body, AlterPartitionRequest):
        return None
    release = releases.RELEASES[cluster.features.release_of(move.receiver)]
    version, oldest = move.body.version, release.oldest_alter_partition
    if release.alter_partition == releases.NEVER_SPOKEN:
        return f"Kafka {release.name} has no AlterPartition: leaders write the ISR to ZooKeeper"
    older = f"Kafka {release.name} speaks AlterPartition from version {oldest} on, not {version}"
    return older if version < oldest else None


def _not_due(cluster: Cluster, move: moves.Fire) -> str | None:
    state, who = state_of(cluster, move.node), ids.node_name(move.node)
    if state is None:
        return f"there is no {who}" if move.node < 0 else _not_running(cluster, move.node)
    key = type(state), move.timer
    if key not in routes.TIMERS and key not in zookeeper_routes.JOINT_TIMERS:
        if has_zookeeper(cluster):
            return f"with ZooKeeper nobody has a {move.timer} timer"
        return f"{who} has no {move.timer} timer"
    idle = routes.IDLE.get(key)
    nothing = None if idle is None else idle(state, cluster)
    if nothing is not None or not cluster.timed:
        return nothing
    due = due_ms(state, move.timer)
    return f"the {move.timer} timer of {who} is due at {due} ms" if due > cluster.now_ms else None


def _session_lasts(cluster: Cluster, move: moves.ExpireSession) -> str | None:
    if not session_lasts(cluster, move.broker):
        if has_zookeeper(cluster):
            return f"broker {move.broker} has no session with ZooKeeper"
        if registration_of(cluster, move.broker) is None:
            return f"broker {move.broker} is not registered"
        return f"broker {move.broker} is fenced already: it has no session"
    if cluster.timed and move.broker not in stale_sessions(cluster):
        return f"the session of broker {move.broker} is not over yet, or another one is older"
    return None


def _no_timeout(cluster: Cluster, move: moves.HeartbeatTimeout) -> str | None:
    if releases.RELEASES[cluster.features.release].mode is releases.Mode.KRAFT:
        return "there are no MetadataHeartbeats in KRaft; `expire` ends a session"
    return zookeeper_routes.why_no_timeout(cluster, move)


def _no_broker(cluster: Cluster, id: ids.BrokerId) -> str | None:
    if broker(cluster, id) is not None:
        return None
    return f"there is no broker {id} (there is {', '.join(str(b.id) for b in cluster.brokers)})"


def _not_running(cluster: Cluster, id: ids.BrokerId) -> str | None:
    down = f"broker {id} is down" if state_of(cluster, id) is None else None
    return _no_broker(cluster, id) or down


def _does_not_start(cluster: Cluster, move: moves.Start) -> str | None:
    if state_of(cluster, move.broker) is not None:
        return f"broker {move.broker} is running already"
    return zookeeper_routes.why_not_start(cluster, move) if has_zookeeper(cluster) else None


def _cannot_remove(cluster: Cluster, move: moves.RemoveDirectory) -> str | None:
    node = broker(cluster, move.broker)
    directories = () if node is None else node.durable.directories
    if node is not None and node.up:
        return f"broker {move.broker} is running"
    if move.directory not in directories:
        listed = ", ".join(map(str, directories))
        return f"broker {move.broker} has no log directory {move.directory} (it has {listed})"
    return None if directories[1:] else f"broker {move.broker} needs a log directory"


def _recovers_no_logs(cluster: Cluster, move: moves.FinishRecovery) -> str | None:
    process = process_of(state_of(cluster, move.broker))
    if process.lifecycle is not Lifecycle.RECOVERY:
        state = f"broker {move.broker} is {process.lifecycle}"
        if has_zookeeper(cluster):
            return f"{state}: with ZooKeeper nobody is fenced"
        return f"{state}; it recovers once it is registered"
    return f"broker {move.broker} has recovered already" if process.ready_to_unfence else None


def _no_partition(cluster: Cluster, move: Any) -> str | None:
    names, name = [p.name for p in truth(cluster).partitions], move.partition
    return None if name in names else f"there is no partition {name} (there is {', '.join(names)})"


def _recovers_nothing(cluster: Cluster, move: moves.FinishLeaderRecovery) -> str | None:
    replica = replica_of(state_of(cluster, move.broker), move.partition)
    if replica is None or not is_recovering(replica):
        nothing = f"broker {move.broker} does not recover {move.partition}"
        if "704.leader-recovers" in cluster.features.active(move.broker):
            return f"{nothing}: it has nothing to finish"
        switch = "`on 704.specified` lets leaders do what KIP-704 says"
        return f"{nothing}: no release of Kafka recovers anything; {switch}"
    if replica.leading is not None and replica.leading.isr_state.sent is not None:
        return f"broker {move.broker} has reported it already, and waits for the controller's reply"
    return None


def _nothing_to_resend(cluster: Cluster, move: moves.Resend) -> str | None:
    writers = [p for p in cluster.producers if p.name == move.producer]
    if not writers:
        return f"{move.producer} has written nothing yet; `produce` with producer= begins"
    at = min((producers.turn_ms(p) for p in writers if p.batches), default=None)
    if at is None:
        return f"everything that {move.producer} wrote is acknowledged"
    if cluster.timed and at > cluster.now_ms:
        return f"{move.producer} sends its next batch at {at} ms"
    return None


def _no_metadata(cluster: Cluster, move: moves.RefreshMetadata) -> str | None:
    if not any(c.name == move.consumer for c in cluster.consumers):
        return f"{move.consumer} reads nothing yet; let it poll first"
    if consumers.informant(cluster, move.broker) is not None:
        return None
    if move.broker is None:
        return "no broker that knows the metadata can be reached"
    silent = f"broker {move.broker} does not answer: it is down, cut off, or has no metadata yet"
    return _no_broker(cluster, move.broker) or silent


def _no_reset(cluster: Cluster, move: moves.ResetOffset) -> str | None:
    if move.to is Reset.NONE:
        return "a consumer goes to the earliest or to the latest offset"
    if consumers.consumer_of(cluster, move.consumer, move.partition) is None:
        return f"{move.consumer} does not read {move.partition} yet; poll it first"
    return None


def _cannot_cut(cluster: Cluster, move: moves.Cut) -> str | None:
    if move.one == move.other:
        return "a link has two ends"
    other = ids.ZOOKEEPER if controller_of(cluster) == ids.CONTROLLER else ids.CONTROLLER
    if other in (move.one, move.other):
        apart = f"there is no {ids.node_name(other)} apart from the brokers in this cluster"
        instead = "; cut the link to zookeeper, or to the broker that is the controller"
        return apart + (instead if other == ids.CONTROLLER else "")
    return "that link is cut already" if is_cut(cluster, move.one, move.other) else None


def _no_topic(cluster: Cluster, move: moves.Configure | moves.DeleteTopic) -> str | None:
    topics = dict.fromkeys(registrations.topic_of(p.name) for p in truth(cluster).partitions)
    if move.topic in topics:
        return None
    return f"there is no topic {move.topic} (there is {', '.join(topics) or 'none'})"


def _set_already(cluster: Cluster, move: moves.Configure) -> str | None:
    """Of a topic a value that it has already is not written again.

    Source: ConfigurationControlManager.incrementalAlterConfigResource (3.9.0-rc3, 4.3.1).
    """
    states = truth(cluster).partitions
    of_topic = [p for p in states if registrations.topic_of(p.name) == move.topic]
    count = move.min_insync_replicas
    if count is None:
        is_set = {p.unclean_leader_election for p in of_topic} == {move.unclean_leader_election}
        value = "true" if move.unclean_leader_election else "false"
        setting = f"unclean.leader.election.enable of {move.topic} is {value} already"
    elif has_zookeeper(cluster):
        return "min.insync.replicas of a topic stays what it is in a run with ZooKeeper"
    else:
        has_own = move.topic in state_of(cluster, ids.CONTROLLER).topics_with_min_insync
        is_set = has_own and {p.min_insync_replicas for p in of_topic} == {count}
        setting = f"min.insync.replicas of {move.topic} is {count} already"
    return setting if is_set else None


def _not_for_all_brokers(cluster: Cluster, move: moves.ConfigureBrokers) -> str | None:
    """Source: ConfigurationControlManager.isDisallowedBrokerMinIsrTransition and
    isDisallowedClusterMinIsrTransition (4.0.2, 4.3.1), which answer with INVALID_CONFIG.
    """
    if has_zookeeper(cluster):
        return "min.insync.replicas of brokers stays what it is in a run with ZooKeeper"
    if move.broker is None and move.min_insync_replicas is not None:
        return None
    if cluster.features.has_elr and move.broker is not None:
        return "INVALID_CONFIG: no broker has a min.insync.replicas of its own with KIP-966"
    if cluster.features.has_elr:
        return "INVALID_CONFIG: the cluster-level min.insync.replicas is not removed with KIP-966"
    return "kiplab knows a cluster-level min.insync.replicas only, and does not remove it"


def _unknown(check: Callable[[], object]) -> str | None:
    try:
        check()
    except feature_rules.UnknownFeatureError as error:
        return str(error)
    return None


def _cannot_upgrade(cluster: Cluster, move: moves.Upgrade) -> str | None:
    unknown = _unknown(lambda: feature_rules.check_release(move.release))
    if unknown is None and move.node not in (None, ids.CONTROLLER):
        unknown = _no_broker(cluster, move.node)
    if unknown is not None:
        return unknown
    version, now = cluster.features.metadata_version, cluster.features.release
    if releases.RELEASES[move.release].mode is not releases.RELEASES[now].mode:
        return f"Kafka {move.release} and Kafka {now} keep their metadata in different places"
    if not releases.supports(move.release, version):
        return f"{releases.not_supported(move.release, version)}, and does not start"
    return None


_FIRST_FINALIZED = "3.3-IV0"
"""The first metadata version that the metadata log itself tells of."""


def _cannot_finalize(cluster: Cluster, move: moves.UpgradeMetadata) -> str | None:
    """An upgrade only raises.

    Source: FeatureControlManager.updateFeature and updateMetadataVersion (3.3.0, 3.9.0-rc3).
    """
    current, wanted = cluster.features.metadata_version, move.metadata_version
    unknown = _unknown(lambda: feature_rules.at_metadata_version(cluster.features, wanted))
    if unknown is not None:
        return unknown
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


def _cannot_switch_elr(cluster: Cluster, move: moves.UpgradeElr) -> str | None:
    """Source: FeatureControlManager.updateFeature (4.3.1)."""
    unknown = _unknown(lambda: feature_rules.with_elr(cluster.features, move.level))
    already = f"eligible.leader.replicas.version is {move.level} already"
    return unknown or (already if cluster.features.has_elr is bool(move.level) else None)


def _no_such_broker(cluster: Cluster, move: Any) -> str | None:
    return _no_broker(cluster, move.broker)


def _down(cluster: Cluster, move: Any) -> str | None:
    return _not_running(cluster, move.broker)


def _is_sender_gone(cluster: Cluster, move: moves.Duplicate) -> bool:
    name = move.message
    sender = broker(cluster, ids.host_of(name.sender))
    if sender is None:
        return False
    return sender.process is None or sender.incarnation != name.incarnation


def _led_by_nobody(so: str) -> MoveCheck:
    """A line that names no broker means the leader."""
    reason = f"{{0.partition}} has no leader: {so}"
    return _when(lambda _, m: m.broker == ids.NO_LEADER, reason)


def _does_not_lead(cluster: Cluster, move: Any) -> bool:
    return not leads(state_of(cluster, move.broker), move.partition)


_NO_REQUEST = _when(
    lambda world, m: not isinstance(channels.in_flight(world, m.message).body, ApiRequest),
    "only a request can be retried, and {0.message.kind} is none",
)
_CUT_OFF = _when(
    lambda world, m: is_cut(world, ids.CLIENT, m.broker),
    "the link between client and broker {0.broker} is cut",
)
_NO_RECORDS = _when(lambda _, m: m.count <= 0, "at least one record has to be written")
_NOT_LEADING = "broker {0.broker} does not lead {0.partition}"
_TO_WRITE = (
    *(_led_by_nobody("there is no broker to write to"), _down, _CUT_OFF),
    _when(_does_not_lead, f"{_NOT_LEADING} (NOT_LEADER_OR_FOLLOWER)"),
)
_CHECKS: dict[type, tuple[MoveCheck, ...]] = {
    moves.Deliver: (_cannot_arrive,),
    moves.Drop: (_not_in_flight, _never_dropped),
    moves.TimeOut: (_not_in_flight, _NO_REQUEST),
    moves.Duplicate: (
        *(_not_in_flight, _NO_REQUEST),
        _when(_is_sender_gone, "the process that sent it no longer runs, and cannot send it again"),
    ),
    moves.LoseReply: (_not_in_flight, _NO_REQUEST, _cannot_arrive),
    moves.Race: (
        lambda cluster, move: why_not(cluster, moves.Deliver(move.message)),
        lambda cluster, move: why_not(cluster, moves.Deliver(move.other)),
        _do_not_race,
    ),
    moves.Advance: (
        _when(
            lambda world, _: not world.timed and has_zookeeper(world),
            "a run with ZooKeeper has no clock; `expire` ends a session",
        ),
        _when(
            lambda world, _: not world.timed,
            "this run has no clock; write `timed` in the play's header to give it one",
        ),
        _when(lambda _, m: m.ms <= 0, "time only goes forward"),
    ),
    moves.Fire: (_not_due,),
    moves.ExpireSession: (_session_lasts,),
    moves.HeartbeatTimeout: (_no_such_broker, _no_timeout),
    moves.Produce: (*_TO_WRITE, _NO_RECORDS),
    moves.EndTransaction: (
        *_TO_WRITE,
        _when(
            lambda world, m: (
                log.open_transaction(log_of(state_of(world, m.broker), m.partition)) is None
            ),
            "no transaction is open in broker {0.broker}'s log of {0.partition};"
            " `produce` with transaction=open begins one",
        ),
    ),
    moves.ProduceAs: (_no_partition, _NO_RECORDS),
    moves.Resend: (_nothing_to_resend,),
    # Whoever answers may refuse: that is no impossible move.
    moves.DeleteRecords: (
        *(_no_partition, _led_by_nobody("there is no broker to send it to")),
        _when(lambda _, m: m.before is not None and m.before < 0, "an offset is 0 or more"),
        *(_down, _CUT_OFF),
    ),
    moves.Poll: (_no_partition,),
    moves.RefreshMetadata: (_no_metadata,),
    moves.ResetOffset: (_no_reset,),
    moves.Crash: (_down,),
    moves.RemoveDirectory: (
        _no_such_broker,
        _when(lambda world, _: has_zookeeper(world), "a run with ZooKeeper has no log directories"),
        _cannot_remove,
    ),
    moves.Start: (_no_such_broker, _does_not_start),
    moves.ShutDown: (_down,),
    moves.FinishRecovery: (_down, _recovers_no_logs),
    moves.FinishLeaderRecovery: (
        *(_no_partition, _led_by_nobody("no broker recovers it")),
        *(_down, _when(_does_not_lead, _NOT_LEADING), _recovers_nothing),
    ),
    moves.Cut: (_cannot_cut,),
    moves.Heal: (
        _when(lambda world, m: not is_cut(world, m.one, m.other), "that link is not cut"),
    ),
    moves.FailOver: (),
    moves.Elect: (_no_partition,),
    moves.Configure: (_no_topic, _set_already),
    moves.ConfigureBrokers: (_not_for_all_brokers,),
    moves.DeleteTopic: (
        _no_topic,
        _when(lambda world, _: has_zookeeper(world), "topics stay in a run with ZooKeeper"),
    ),
    moves.Upgrade: (_cannot_upgrade,),
    moves.UpgradeMetadata: (_cannot_finalize,),
    moves.UpgradeElr: (_cannot_switch_elr,),
    moves.RawRequest: (_unspoken,),
}
"""The possible obstacles of each move, in order."""
