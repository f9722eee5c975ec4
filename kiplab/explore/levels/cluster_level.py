"""The level "cluster": every message by itself, sessions, heartbeats and controlled shutdowns.

The actions, each one step of a search, with the bound that each uses up:

write (writes), fence (fences, if the broker runs), start
    As at the level "partition", but the image comes later.
fetch
    Fire(FETCH): the request leaves, of a follower that has none under way.
deliver
    One message arrives, the first of its connection.
race (races)
    A fetch of an earlier incarnation of a broker and one of the next arrive at their leader at
    once.
crash (crashes)
    Crash(NOTHING) or Crash(DISK) of whoever runs.
recover
    FinishRecovery.
beat
    Fire(HEARTBEAT), where it may bring the broker further; the answer comes at once.
shutdown (shutdowns)
    ShutDown of whoever is RUNNING.
lag (lags)
    Fire(LAG_CHECK) of a leader: members that are behind are to leave the ISR.
retry
    Fire(RETRY) of a leader whose AlterPartition failed as a whole.

Metadata arrives message by message. A state is engine.canonical of the cluster, with what is left
of the bounds: the spaces are far larger than those of the level "partition". With one crash, a
counterexample is found in seconds; that there is none takes minutes on two brokers and hours on
three, which is said before the search begins.
"""

from collections.abc import Callable, Iterable

from msgspec.structs import replace

from ...engine import moves
from ...engine.canonical import canonical
from ...engine.cluster import Cluster, Message
from ...engine.properties import GIVEN_WHILE_RECOVERING_STAYS
from ...engine.truth import registration_of, sessions
from ...protocol.ids import NO_LEADER, BrokerId
from ...protocol.messages import ANSWERED
from ...protocol.replica.broker_state import Broker, Lifecycle, Loss, Volatile
from .level_table import CAN_DATA_BE_LOST, Action, Bound, Kind, Level, one_partition
from .offers import (
    OF_CLIENTS,
    arrivals,
    deliver_first,
    has_session,
    incarnations_under_way,
    is_down,
    leads,
    on,
    produce,
    registered,
    spurious,
    to_brokers,
)

_LOSSES = (Loss.NOTHING, Loss.DISK)


def _admit(cluster: Cluster) -> Cluster:
    one_partition(cluster)
    # Who reads and writes, and what time it is, is no part of this level.
    return _normal(replace(cluster, consumers=(), producers=(), timed=False, now_ms=0))


def _normal(cluster: Cluster) -> Cluster:
    """Which properties broke before, unasked for, makes no difference to what can happen."""
    return canonical(replace(cluster, broken=()) if cluster.broken else cluster)


# --- what is offered to whom ----------------------------------------------------------------------


def _may_fetch(cluster: Cluster, node: Broker, process: Volatile | None) -> bool:
    """A fetcher thread has one request under way at a time."""
    if process is None or not any(
        r.leading is None and r.leader != NO_LEADER for r in process.replicas
    ):
        return False
    incarnation = node.id, node.incarnation
    return not any(_is_of(m, "fetch", incarnation) for m in cluster.messages)


def _is_of(message: Message, kind: str, incarnation: tuple[BrokerId, int]) -> bool:
    """Whether a request of this incarnation, or the answer to it, is under way."""
    if message.name.kind == kind:
        return message.name[:2] == incarnation
    receiver = message.receiver, message.receiver_incarnation
    return ANSWERED.get(message.name.kind) == kind and receiver == incarnation


def _may_beat(cluster: Cluster, node: Broker, process: Volatile | None) -> bool:
    """Where a heartbeat may bring the broker further: a healthy one's only keeps its session."""
    if process is None:
        return False
    known = registration_of(cluster, node.id)
    leaving = process.lifecycle is Lifecycle.PENDING_CONTROLLED_SHUTDOWN
    waiting = any(s.leaving for s in sessions(cluster))
    return leaving or waiting or (known is not None and known.fenced and process.ready_to_unfence)


def _recovers(_cluster: Cluster, _node: Broker, process: Volatile | None) -> bool:
    if process is None or process.lifecycle is not Lifecycle.RECOVERY:
        return False
    return not process.ready_to_unfence


def _is_running(_cluster: Cluster, _node: Broker, process: Volatile | None) -> bool:
    return process is not None and process.lifecycle is Lifecycle.RUNNING


def _has_unsent(_cluster: Cluster, _node: Broker, process: Volatile | None) -> bool:
    return process is not None and bool(process.items) and not process.in_flight


def _crashes(cluster: Cluster) -> Iterable[Action]:
    running = (b.id for b in cluster.brokers if b.process is not None)
    return (Action("crash", id, what=loss.value) for id in running for loss in _LOSSES)


def _crash(_cluster: Cluster, action: Action) -> tuple[moves.Move, ...]:
    return (moves.Crash(action.node, Loss(action.what)),)


def _races(cluster: Cluster) -> Iterable[Action]:
    """Fetches of two incarnations of one broker, to one leader: the earlier one, by its place."""
    for node in cluster.brokers:
        for leader in cluster.brokers:
            incarnations = incarnations_under_way(cluster, "fetch", node.id, leader.id)
            for incarnation in range(len(incarnations) - 1):
                yield Action("race", node.id, "fetch", incarnation, leader.id)


def _race(cluster: Cluster, action: Action) -> tuple[moves.Move, ...]:
    earlier, *_ = deliver_first(cluster, action)
    later, *_ = deliver_first(cluster, replace(action, incarnation=action.incarnation + 1))
    return (moves.Race(earlier.message, later.message),)


def _fire(timer: moves.Timer) -> Callable[..., tuple[moves.Move, ...]]:
    return on(lambda node: moves.Fire(node, timer))


def _costs(bound: str) -> Callable[[Cluster, Action], str]:
    return lambda _cluster, _action: bound


CLUSTER = Level(
    name="cluster",
    sentence="every message by itself: fetches, answers, metadata; heartbeats, controlled shutdown",
    kinds=(
        Kind(
            name="write",
            words="a record is written",
            offered=to_brokers("write", leads),
            moves=produce,
            costs=_costs("writes"),
        ),
        Kind(
            name="fetch",
            words="a follower asks for records",
            offered=to_brokers("fetch", _may_fetch),
            moves=_fire(moves.Timer.FETCH),
        ),
        Kind(name="deliver", words="a message arrives", offered=arrivals, moves=deliver_first),
        Kind(
            name="race",
            words="two fetches arrive at once",
            offered=_races,
            moves=_race,
            costs=_costs("races"),
        ),
        Kind(
            name="crash",
            words="a broker dies, with its disk or without",
            offered=_crashes,
            moves=_crash,
            costs=_costs("crashes"),
        ),
        Kind(
            name="start",
            words="a broker starts and is registered",
            offered=to_brokers("start", is_down),
            moves=on(moves.Start),
            came=registered,
        ),
        Kind(
            name="recover",
            words="a broker has recovered its logs",
            offered=to_brokers("recover", _recovers),
            moves=on(moves.FinishRecovery),
        ),
        Kind(
            name="beat",
            words="a heartbeat",
            offered=to_brokers("beat", _may_beat),
            moves=_fire(moves.Timer.HEARTBEAT),
        ),
        Kind(
            name="fence",
            words="a session ends",
            offered=to_brokers("fence", has_session),
            moves=on(moves.ExpireSession),
            costs=spurious,
        ),
        Kind(
            name="shutdown",
            words="a controlled shutdown begins",
            offered=to_brokers("shutdown", _is_running),
            moves=on(moves.ShutDown),
            costs=_costs("shutdowns"),
        ),
        Kind(
            name="lag",
            words="a leader looks for members that lag",
            offered=to_brokers("lag", leads),
            moves=_fire(moves.Timer.LAG_CHECK),
            costs=_costs("lags"),
        ),
        Kind(
            name="retry",
            words="a request that failed is sent again",
            offered=to_brokers("retry", _has_unsent),
            moves=_fire(moves.Timer.RETRY),
        ),
    ),
    holds=("alter-partition", "alter-partition-reply", "fetch", "fetch-reply", "metadata"),
    bounds=(
        Bound("writes", 1, "record written", "records written", 11, 5),
        Bound("crashes", 1, "crash", "crashes", 600, 150),
        Bound(
            "fences",
            0,
            "session that ends although its broker runs",
            "sessions that end although their brokers run",
            300,
            90,
        ),
        Bound("shutdowns", 0, "controlled shutdown", "controlled shutdowns", 350, 90),
        Bound("lags", 0, "look for members that lag", "looks for members that lag", 5, 3),
        Bound("races", 0, "pair of fetches at once", "pairs of fetches at once", 1.2, 1.2),
    ),
    smallest=1_100,
    normal=_normal,
    admit=_admit,
    asks=CAN_DATA_BE_LOST,
    blind=(*OF_CLIENTS, GIVEN_WHILE_RECOVERING_STAYS.id),
)
