"""The level "recovery": unclean elections, leaders that recover from them, consumers that read.

The actions, each one step of a search, with the bound that each uses up:

write (writes), fetch, deliver, view, start, fence (fences, if the broker runs), unfence
    As at the level "partition".
crash (crashes)
    Crash(NOTHING): the process is gone, and its log stays.
wipe (wipes)
    Crash(DISK): its log is gone, too.
elect (elections)
    An operator's Elect(unclean=True), where the partition has no leader. Where the topic allows it
    and the release obeys, the controller holds such elections by itself, for nothing.
finish
    FinishLeaderRecovery of a leader that recovers. As implemented nobody does.
read
    Poll, one turn of a consumer that has read nothing yet, for nothing: either of a new one, which
    knows the newest metadata that there is, or (`first`) of one that the play begins with and that
    knows what it was told then: one that is near a follower, if there is such a one. Nobody is
    needed any more once it has read: what it was given the observer keeps.

normal_recovery.py says what a state is.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from ...engine import moves
from ...engine.cluster import Cluster, broker
from ...engine.properties import GIVEN_WHILE_RECOVERING_STAYS, RECOVERED_RECORDS_STAY
from ...engine.truth import truth
from ...plays.play_errors import PlayError
from ...protocol.ids import CLIENT, NO_LEADER
from ...protocol.replica.broker_state import Broker, Loss, Volatile
from ...protocol.replica.recovering import is_recovering
from .level_table import Action, Bound, Kind, Level, one_partition
from .normal_recovery import READER, first_reader, normal
from .offers import OF_CLIENTS, on, runs, to_brokers
from .partition_level import PARTITION

NEW, FIRST = "new", "first"
"""Who reads: a new consumer, or the one that the play begins with."""


def _admit(cluster: Cluster) -> Cluster:
    name = one_partition(cluster)
    state = truth(cluster).partitions[0]
    strangers = [m for m in state.replicas if broker(cluster, m) is None]
    if strangers:
        problem = f"{name} has a replica on broker {strangers[0]}, which the play does not have"
        raise PlayError(problem, expected="level recovery needs a `broker` line for each replica")
    if state.adding or state.removing:
        raise PlayError(f"{name} is being reassigned", expected="level cluster explores that")
    if any(r.in_controlled_shutdown for r in truth(cluster).registrations):
        problem = "a broker is shutting down as the play begins"
        raise PlayError(problem, expected="level cluster explores controlled shutdowns")
    # Who writes, and what time it is, is no part of this level.
    return normal(replace(cluster, producers=(), timed=False, now_ms=0))


def _readers(cluster: Cluster) -> Iterable[Action]:
    yield Action("read", CLIENT, NEW)
    if first_reader(cluster):
        yield Action("read", CLIENT, FIRST)


def _read(cluster: Cluster, action: Action) -> tuple[moves.Move, ...]:
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


def _elections(cluster: Cluster) -> Iterable[Action]:
    """An operator asks where nobody leads: elsewhere the answer is that none is needed."""
    if truth(cluster).partitions[0].leader == NO_LEADER:
        yield Action("elect", CLIENT)


def _elect(cluster: Cluster, _action: Action) -> tuple[moves.Move, ...]:
    return (moves.Elect(truth(cluster).partitions[0].name, unclean=True),)


def _elected(cluster: Cluster, _action: Action) -> bool:
    return truth(cluster).partitions[0].leader != NO_LEADER


def _recovers(_cluster: Cluster, _node: Broker, process: Volatile | None) -> bool:
    return process is not None and any(is_recovering(r) for r in process.replicas)


def _finish(cluster: Cluster, action: Action) -> tuple[moves.Move, ...]:
    return (moves.FinishLeaderRecovery(truth(cluster).partitions[0].name, action.node),)


RECOVERY = Level(
    name="recovery",
    sentence="one partition; unclean elections, leaders that recover, and consumers that read",
    kinds=(
        *(PARTITION.kind(name) for name in ("write", "fetch", "deliver", "view")),
        Kind(
            name="crash",
            words="a broker dies, and its log stays",
            offered=to_brokers("crash", runs),
            moves=on(lambda node: moves.Crash(node, Loss.NOTHING)),
            costs=lambda _cluster, _action: "crashes",
        ),
        Kind(
            name="wipe",
            words="a broker dies and loses its disk",
            offered=to_brokers("wipe", runs),
            moves=on(lambda node: moves.Crash(node, Loss.DISK)),
            costs=lambda _cluster, _action: "wipes",
        ),
        *(PARTITION.kind(name) for name in ("start", "fence", "unfence")),
        Kind(
            name="elect",
            words="an operator holds an unclean election",
            offered=_elections,
            moves=_elect,
            costs=lambda _cluster, _action: "elections",
            came=_elected,
        ),
        Kind(
            name="finish",
            words="a leader has recovered",
            offered=to_brokers("finish", _recovers),
            moves=_finish,
        ),
        Kind(name="read", words="a consumer polls", offered=_readers, moves=_read),
    ),
    holds=PARTITION.holds,
    bounds=(
        Bound("writes", 1, "record written", "records written", 6, 5),
        Bound("elections", 2, "unclean election", "unclean elections", 3, 2),
        Bound("crashes", 0, "crash that loses nothing", "crashes that lose nothing", 70, 20),
        Bound("wipes", 0, "crash that loses a disk", "crashes that lose a disk", 70, 20),
        Bound(
            "fences",
            1,
            "session that ends although its broker runs",
            "sessions that end although their brokers run",
            70,
            20,
        ),
    ),
    smallest=3,
    normal=normal,
    admit=_admit,
    asks=(GIVEN_WHILE_RECOVERING_STAYS.id, RECOVERED_RECORDS_STAY.id),
    blind=OF_CLIENTS,
)
