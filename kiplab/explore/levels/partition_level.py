"""The level "partition": one partition, a delayed AlterPartition, brokers that lose their disks.

The actions, each one step of a search, with the bound that each uses up:

write (writes)
    Produce, 1 record with acks=all, to whoever leads or believes so.
fetch
    Fire(FETCH) of whoever follows somebody; the request and its answer flow.
deliver
    An AlterPartition request in flight arrives; its answer flows.
view
    The newest metadata image arrives at whom it would change; older images are skipped.
crash (crashes)
    Crash(DISK) of whoever runs: the process is gone, and with it its log.
start
    Start of whoever is down; the registration flows, and the image that has it.
fence (fences, if the broker runs; the session of one that is gone ends for nothing)
    ExpireSession of whoever has a session.
unfence
    FinishRecovery if it is due, then a heartbeat and its answer, of whoever runs and is fenced.

A start that the controller refuses, because the old session still lasts, leaves a process that
only waits, as good as down: it is left out. normal_partition.py says what a state is.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from ...engine import moves
from ...engine.cluster import Cluster, broker
from ...engine.properties import GIVEN_WHILE_RECOVERING_STAYS, RECOVERED_RECORDS_STAY
from ...engine.truth import registration_of, truth
from ...plays.play_errors import PlayError
from ...protocol.ids import CONTROLLER, NO_LEADER
from ...protocol.replica.broker_state import Broker, Lifecycle, Loss, Volatile
from .level_table import CAN_DATA_BE_LOST, Action, Bound, Kind, Level, one_partition
from .normal_partition import normal
from .offers import (
    OF_CLIENTS,
    has_session,
    is_down,
    leads,
    on,
    produce,
    registered,
    runs,
    spurious,
    to_brokers,
)


def _admit(cluster: Cluster) -> Cluster:
    name = one_partition(cluster)
    state = truth(cluster).partitions[0]
    strangers = [m for m in state.replicas if broker(cluster, m) is None]
    if strangers:
        problem = f"{name} has a replica on broker {strangers[0]}, which the play does not have"
        raise PlayError(problem, expected="level partition needs a `broker` line for each replica")
    if state.recovery or state.unclean_leader_election:
        problem = f"{name} recovers from an unclean election, or may have one"
        raise PlayError(problem, expected="level cluster explores that")
    if state.adding or state.removing:
        raise PlayError(f"{name} is being reassigned", expected="level cluster explores that")
    if any(r.log.start for b in cluster.brokers for r in b.durable.replicas):
        problem = f"records of {name} were deleted before the play begins"
        raise PlayError(problem, expected="level cluster explores that")
    if any(r.in_controlled_shutdown for r in truth(cluster).registrations):
        problem = "a broker is shutting down as the play begins"
        raise PlayError(problem, expected="level cluster explores controlled shutdowns")
    # Who reads and writes, and what time it is, is no part of this level.
    return normal(replace(cluster, consumers=(), producers=(), timed=False, now_ms=0))


def _follows(_cluster: Cluster, _node: Broker, process: Volatile | None) -> bool:
    return process is not None and any(
        r.leading is None and r.leader != NO_LEADER for r in process.replicas
    )


def _is_fenced(cluster: Cluster, node: Broker, process: Volatile | None) -> bool:
    known = registration_of(cluster, node.id)
    return process is not None and known is not None and known.fenced


def _has_news(cluster: Cluster, node: Broker, _process: Volatile | None) -> bool:
    return any(m.receiver == node.id and m.name.kind == "metadata" for m in cluster.messages)


def _requests(cluster: Cluster) -> Iterable[Action]:
    names = sorted(m.name[:2] for m in cluster.messages if m.name.kind == "alter-partition")
    return (Action("deliver", sender, incarnation=incarnation) for sender, incarnation in names)


def _deliver(cluster: Cluster, action: Action) -> tuple[moves.Move, ...]:
    wanted = (action.node, action.incarnation, "alter-partition")
    name = next((m.name for m in cluster.messages if m.name[:3] == wanted), None)
    return () if name is None else (moves.Deliver(name),)


def _catch_up(cluster: Cluster, action: Action) -> tuple[moves.Move, ...]:
    """A broker applies the metadata log in batches: what a batch means is the image after it."""
    news = [
        m.name for m in cluster.messages if m.receiver == action.node and m.name.kind == "metadata"
    ]
    return (*map(moves.Drop, news[:-1]), *map(moves.Deliver, news[-1:]))


def _first_images(cluster: Cluster, action: Action) -> tuple[moves.Move, ...]:
    """A process that plays no replica yet replicates up to its own registration."""
    news = (m for m in cluster.messages if m.name.kind == "metadata")
    return tuple(moves.Deliver(m.name) for m in news if m.receiver == action.node)


def _unfence(cluster: Cluster, action: Action) -> tuple[moves.Move, ...]:
    node = broker(cluster, action.node)
    process = node.process if node is not None else None
    recovering = process is not None and process.lifecycle is Lifecycle.RECOVERY
    due = recovering and process is not None and not process.ready_to_unfence
    # Up to 3.2 a broker has to know the whole metadata log before it is unfenced (KAFKA-13959).
    whole = cluster.features.code_of(CONTROLLER) < (3, 3)
    return (
        *(_catch_up(cluster, action) if whole else ()),
        *((moves.FinishRecovery(action.node),) if due else ()),
        moves.Fire(action.node, moves.Timer.HEARTBEAT),
    )


PARTITION = Level(
    name="partition",
    sentence="one partition; an AlterPartition may be slow, metadata may lag, a fetch is one step",
    kinds=(
        Kind(
            name="write",
            words="a record is written",
            offered=to_brokers("write", leads),
            moves=produce,
            costs=lambda _cluster, _action: "writes",
        ),
        Kind(
            name="fetch",
            words="a follower fetches",
            offered=to_brokers("fetch", _follows),
            moves=on(lambda node: moves.Fire(node, moves.Timer.FETCH)),
        ),
        Kind(
            name="deliver",
            words="an AlterPartition request arrives",
            offered=_requests,
            moves=_deliver,
        ),
        Kind(
            name="view",
            words="a broker learns the newest metadata",
            offered=to_brokers("view", _has_news),
            moves=_catch_up,
        ),
        Kind(
            name="crash",
            words="a broker dies and loses its disk",
            offered=to_brokers("crash", runs),
            moves=on(lambda node: moves.Crash(node, Loss.DISK)),
            costs=lambda _cluster, _action: "crashes",
        ),
        Kind(
            name="start",
            words="a broker starts and is registered",
            offered=to_brokers("start", is_down),
            moves=on(moves.Start),
            then=_first_images,
            came=registered,
        ),
        Kind(
            name="fence",
            words="a session ends",
            offered=to_brokers("fence", has_session),
            moves=on(moves.ExpireSession),
            costs=spurious,
        ),
        Kind(
            name="unfence",
            words="a broker is unfenced",
            offered=to_brokers("unfence", _is_fenced),
            moves=_unfence,
        ),
    ),
    holds=("alter-partition", "metadata"),
    bounds=(
        Bound("writes", 1, "record written", "records written", 10, 5),
        Bound("crashes", 1, "crash that loses a disk", "crashes that lose a disk", 100, 24),
        Bound(
            "fences",
            0,
            "session that ends although its broker runs",
            "sessions that end although their brokers run",
            90,
            28,
        ),
    ),
    smallest=10,
    normal=normal,
    admit=_admit,
    asks=CAN_DATA_BE_LOST,
    blind=(*OF_CLIENTS, GIVEN_WHILE_RECOVERING_STAYS.id, RECOVERED_RECORDS_STAY.id),
)
