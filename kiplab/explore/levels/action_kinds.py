"""Kinds of actions at a level: their nodes, and the moves of the engine that they consist of."""

from collections.abc import Callable, Iterable

from msgspec.structs import replace

from ...engine import moves
from ...engine.channels import blocker
from ...engine.cluster import Cluster, broker
from ...engine.truth import registration_of, session_lasts, sessions, truth
from ...protocol.ids import CLIENT, CONTROLLER, NO_BROKER_EPOCH, NO_LEADER, BrokerId
from ...protocol.messages import ANSWERED
from ...protocol.replica.broker_state import Broker, Lifecycle, Loss
from ...protocol.replica.recovering import is_recovering
from .level_table import Action, Kind
from .normal_recovery import READER, first_reader

NEW, FIRST = "new", "first"
"""The reader: a new consumer, or the one that the play begins with."""
Moves = tuple[moves.Move, ...]

# --- to whom --------------------------------------------------------------------------------------


def with_replicas(cluster: Cluster) -> list[Broker]:
    """The brokers that have a replica of the only partition."""
    replicas = truth(cluster).partitions[0].replicas
    return [b for b in cluster.brokers if b.id in replicas]


def leads(_cluster: Cluster, node: Broker) -> bool:
    """Whether it leads, or believes so."""
    return node.process is not None and any(r.leading is not None for r in node.process.replicas)


def follows(_cluster: Cluster, node: Broker) -> bool:
    """Whether it follows a leader."""
    return node.process is not None and any(
        r.leading is None and r.leader != NO_LEADER for r in node.process.replicas
    )


def runs(_cluster: Cluster, node: Broker) -> bool:
    """Whether a process runs."""
    return node.process is not None


def is_down(_cluster: Cluster, node: Broker) -> bool:
    """Whether none does."""
    return node.process is None


def has_session(cluster: Cluster, node: Broker) -> bool:
    """Whether the controller still counts on it."""
    return session_lasts(cluster, node.id)


def _is_fenced(cluster: Cluster, node: Broker) -> bool:
    registration = registration_of(cluster, node.id)
    return node.process is not None and registration is not None and registration.fenced


def _has_news(cluster: Cluster, node: Broker) -> bool:
    return any(m.receiver == node.id and m.name.kind == "metadata" for m in cluster.messages)


def _may_fetch(cluster: Cluster, node: Broker) -> bool:
    """A fetcher thread has one request under way at a time."""
    incarnation = node.id, node.incarnation
    return follows(cluster, node) and not any(
        m.name[:2] == incarnation
        if m.name.kind == "fetch"
        else ANSWERED.get(m.name.kind) == "fetch"
        and (m.receiver, m.receiver_incarnation) == incarnation
        for m in cluster.messages
    )


def _may_beat(cluster: Cluster, node: Broker) -> bool:
    """Where a heartbeat may bring the broker further: a healthy one's only keeps its session."""
    process = node.process
    if process is None:
        return False
    leaving = process.lifecycle is Lifecycle.PENDING_CONTROLLED_SHUTDOWN
    if leaving or any(s.leaving for s in sessions(cluster)):
        return True
    return _is_fenced(cluster, node) and process.ready_to_unfence


def _recovers_logs(_cluster: Cluster, node: Broker) -> bool:
    process = node.process
    if process is None or process.ready_to_unfence:
        return False
    return process.lifecycle is Lifecycle.RECOVERY


def _has_unsent(_cluster: Cluster, node: Broker) -> bool:
    process = node.process
    return process is not None and bool(process.items) and not process.in_flight


# --- messages -------------------------------------------------------------------------------------


def _arrivals(cluster: Cluster) -> Iterable[Action]:
    """The first message of each connection. Incarnations count among those with such a message."""
    first: dict[Action, None] = {}
    for message in cluster.messages:
        name, to = message.name, message.receiver
        if blocker(cluster, message) is None:
            incarnations = _incarnations_under_way(cluster, name.kind, name.sender, to)
            incarnation = incarnations.index(name.incarnation)
            first[Action("deliver", name.sender, name.kind, incarnation, to)] = None
    return sorted(first, key=lambda a: (a.what, a.node, a.incarnation, a.to))


def _incarnations_under_way(
    cluster: Cluster, kind: str, sender: BrokerId, to: BrokerId | None
) -> list[int]:
    fits = (m.name for m in cluster.messages if m.receiver == to)
    return sorted({n.incarnation for n in fits if n.kind == kind and n.sender == sender})


def _deliver_first(cluster: Cluster, action: Action) -> tuple[moves.Deliver, ...]:
    """The message that an action of `_arrivals` means; none where there is no such message."""
    incarnations = _incarnations_under_way(cluster, action.what, action.node, action.to)
    wanted = (action.node, incarnations[action.incarnation], action.what)
    fits = (m for m in cluster.messages if m.name[:3] == wanted and m.receiver == action.to)
    return tuple(moves.Deliver(m.name) for m in fits)[:1]


def _requests(cluster: Cluster) -> Iterable[Action]:
    names = sorted(m.name[:2] for m in cluster.messages if m.name.kind == "alter-partition")
    return (Action("deliver", sender, incarnation=incarnation) for sender, incarnation in names)


def _deliver_request(cluster: Cluster, action: Action) -> Moves:
    request = (action.node, action.incarnation, "alter-partition")
    # Whoever looks at more messages than it needs depends on them (hidden_parts.py).
    name = next((m.name for m in cluster.messages if m.name[:3] == request), None)
    return () if name is None else (moves.Deliver(name),)


def _news(cluster: Cluster, action: Action) -> tuple[moves.Deliver, ...]:
    """The images under way to a broker; a new process replicates up to its own registration."""
    news = (m for m in cluster.messages if m.receiver == action.node and m.name.kind == "metadata")
    return tuple(moves.Deliver(m.name) for m in news)


def _catch_up(cluster: Cluster, action: Action) -> Moves:
    """A broker applies the metadata log in batches: only the last image of a batch is delivered."""
    news = _news(cluster, action)
    return (*(moves.Drop(image.message) for image in news[:-1]), *news[-1:])


def _races(cluster: Cluster) -> Iterable[Action]:
    """Fetches of two incarnations of one broker, to one leader: the earlier one, by its place."""
    for node in cluster.brokers:
        for leader in cluster.brokers:
            incarnations = _incarnations_under_way(cluster, "fetch", node.id, leader.id)
            for incarnation in range(len(incarnations) - 1):
                yield Action("race", node.id, "fetch", incarnation, leader.id)


def _race(cluster: Cluster, action: Action) -> Moves:
    earlier, *_ = _deliver_first(cluster, action)
    later, *_ = _deliver_first(cluster, replace(action, incarnation=action.incarnation + 1))
    return (moves.Race(earlier.message, later.message),)


# --- brokers, operators, clients ------------------------------------------------------------------


def on(move: Callable[[BrokerId], moves.Move]) -> Callable[[Cluster, Action], Moves]:
    """The action is this one move."""
    return lambda _cluster, action: (move(action.node),)


def _fire(timer: moves.Timer) -> Callable[[Cluster, Action], Moves]:
    return on(lambda node: moves.Fire(node, timer))


def _crashes(cluster: Cluster) -> Iterable[Action]:
    running = (b.id for b in cluster.brokers if b.process is not None)
    losses = Loss.NOTHING, Loss.DISK
    return (Action("crash", id, what=loss.value) for id in running for loss in losses)


def _produce(cluster: Cluster, action: Action) -> Moves:
    """One record to the broker, for the partition that it leads, or believes to lead."""
    node = broker(cluster, action.node)
    process = None if node is None else node.process
    led = (r.partition for r in process.replicas if r.leading is not None) if process else ()
    return tuple(moves.Produce(partition, action.node, 1) for partition in led)[:1]


def _may_stop(cluster: Cluster, node: Broker) -> bool:
    """Whether the controller lets a broker go without waiting for others.

    A leader waits until every other active broker has the metadata with its successor.
    """
    active = [s.broker for s in sessions(cluster) if not s.fenced]
    if node.process is None or node.id not in active:
        return False
    return active == [node.id] or truth(cluster).partitions[0].leader != node.id


def _last_heartbeats(cluster: Cluster, action: Action) -> Moves:
    """One that says the wish, and of a leader another one, which is answered."""
    node = broker(cluster, action.node)
    runs_still = node is not None and node.process is not None
    return (moves.Fire(action.node, moves.Timer.HEARTBEAT),) if runs_still else ()


def _registered(cluster: Cluster, action: Action) -> bool:
    node = broker(cluster, action.node)
    return node is not None and node.process is not None and node.process.epoch != NO_BROKER_EPOCH


def _unfence(cluster: Cluster, action: Action) -> Moves:
    node = broker(cluster, action.node)
    due = node is not None and _recovers_logs(cluster, node)
    # Up to 3.2 a broker has to know the whole metadata log before it is unfenced (KAFKA-13959).
    whole = cluster.features.code_of(CONTROLLER) < (3, 3)
    return (
        *(_catch_up(cluster, action) if whole else ()),
        *((moves.FinishRecovery(action.node),) if due else ()),
        moves.Fire(action.node, moves.Timer.HEARTBEAT),
    )


def _unclean_elections(cluster: Cluster) -> Iterable[Action]:
    """An operator asks only for partitions without a leader: elsewhere no election is needed."""
    if truth(cluster).partitions[0].leader == NO_LEADER:
        yield Action("elect", CLIENT)


def _better_leaders(cluster: Cluster) -> Iterable[Action]:
    for state in truth(cluster).partitions:
        if state.leader != state.replicas[0]:
            yield Action("elect", CLIENT, state.name)


def _readers(cluster: Cluster) -> Iterable[Action]:
    yield Action("read", CLIENT, NEW)
    if first_reader(cluster):
        yield Action("read", CLIENT, FIRST)


def _read(cluster: Cluster, action: Action) -> Moves:
    name = truth(cluster).partitions[0].name
    if action.what == FIRST:
        return tuple(moves.Poll(name, c.name) for c in first_reader(cluster))
    # In a play all of them are introduced at the top, and know then what was known there.
    names = [
        c.name for c in cluster.consumers if c.name.startswith(READER) and not c.observed.epochs
    ]
    if not names:
        return (moves.Poll(name, f"{READER}1"),)
    return (moves.RefreshMetadata(names[0]), moves.Poll(name, names[0]))


# --- the kinds of actions, and what they use up; levels choose among them -------------------------

WRITE = Kind("write", _produce, leads, costs="writes")
FETCH = Kind("fetch", _fire(moves.Timer.FETCH), follows)
SEND_FETCH = Kind("fetch", _fire(moves.Timer.FETCH), _may_fetch)
DELIVER = Kind("deliver", _deliver_first, offered=_arrivals)
DELIVER_REQUEST = Kind("deliver", _deliver_request, offered=_requests)
RACE = Kind("race", _race, offered=_races, costs="races")
VIEW = Kind("view", _catch_up, _has_news)
CRASH = Kind("crash", on(moves.Crash), runs, costs="crashes")
WIPE = Kind("wipe", on(lambda node: moves.Crash(node, Loss.DISK)), runs, costs="wipes")
CRASH_WITH_DISK = Kind("crash", WIPE.moves, runs, costs="crashes")
CRASH_OR_BOTH = Kind(
    "crash",
    lambda _cluster, action: (moves.Crash(action.node, Loss(action.what)),),
    offered=_crashes,
    costs="crashes",
)
START = Kind("start", on(moves.Start), is_down)
START_REGISTERED = Kind("start", on(moves.Start), is_down, came=_registered)
START_WITH_IMAGE = Kind("start", on(moves.Start), is_down, came=_registered, then=_news)
RECOVER = Kind("recover", on(moves.FinishRecovery), _recovers_logs)
BEAT = Kind("beat", _fire(moves.Timer.HEARTBEAT), _may_beat)
FENCE = Kind("fence", on(moves.ExpireSession), has_session, costs="fences", of_running=True)
EXPIRE = Kind("expire", on(moves.ExpireSession), has_session, costs="expiries", of_running=True)
UNFENCE = Kind("unfence", _unfence, _is_fenced)
SHUT_DOWN = Kind(
    "shutdown",
    on(moves.ShutDown),
    lambda _, node: node.process is not None and node.process.lifecycle is Lifecycle.RUNNING,
    costs="shutdowns",
)
KILL = Kind("kill", on(moves.Crash), runs, costs="kills")
STOP = Kind("stop", on(moves.ShutDown), _may_stop, costs="stops", again=_last_heartbeats)
ASK_TO_SHUT_DOWN = Kind("shutdown", on(moves.ShutDown), runs, costs="shutdowns")
LAG = Kind("lag", _fire(moves.Timer.LAG_CHECK), leads, costs="lags")
RETRY = Kind("retry", _fire(moves.Timer.RETRY), _has_unsent)
ELECT_UNCLEANLY = Kind(
    "elect",
    lambda cluster, _: (moves.Elect(truth(cluster).partitions[0].name, unclean=True),),
    offered=_unclean_elections,
    costs="elections",
    came=lambda cluster, _: truth(cluster).partitions[0].leader != NO_LEADER,
)
ELECT_PREFERRED = Kind(
    "elect",
    lambda _, action: (moves.Elect(action.what, unclean=False),),
    offered=_better_leaders,
    costs="elections",
)
FINISH = Kind(
    "finish",
    lambda cluster, action: (
        moves.FinishLeaderRecovery(truth(cluster).partitions[0].name, action.node),
    ),
    lambda _, node: node.process is not None and any(map(is_recovering, node.process.replicas)),
)
READ = Kind("read", _read, offered=_readers)
