"""The levels by name: those of KRaft here, and that of zookeeper_level.py.

Each constant's docstring lists its actions, each one step of a search, with the bound that it uses
up. action_kinds.py has their effects.
"""

from collections.abc import Callable, Iterator
from typing import Any

from msgspec.structs import replace

from ...engine import properties
from ...engine.canonical import canonical
from ...engine.cluster import Cluster, broker
from ...engine.truth import truth
from ...plays.play_errors import PlayError
from . import action_kinds as actions
from . import level_table as table
from . import normal_partition, normal_recovery
from .zookeeper_level import ZOOKEEPER

OF_RECOVERY = properties.GIVEN_WHILE_RECOVERING_STAYS.id, properties.RECOVERED_RECORDS_STAY.id
"""What is promised after an unclean election."""


def _admission(
    level: str, normal: Callable[[Cluster], Cluster], **unread: Any
) -> Callable[[Cluster], Cluster]:
    """`Level.admit`: who writes, what time it is, and what is `unread` is no part of the level."""

    def admit(cluster: Cluster) -> Cluster:
        for problem, expected in _problems(cluster, level):
            raise PlayError(problem, expected=expected)
        return normal(replace(cluster, producers=(), timed=False, now_ms=0, **unread))

    return admit


def _problems(cluster: Cluster, level: str) -> Iterator[tuple[str, str]]:
    """(what a level of KRaft cannot speak of, what is expected), the first one first."""
    names = [p.name for p in truth(cluster).partitions]
    if len(names) != 1:
        there = f"{len(names)} ({', '.join(names) or 'none'})"
        problem = f"the search covers one partition, and the play has {there}"
        yield problem, "a play with one `topic` line"
    if level == "cluster":
        return
    state, elsewhere = truth(cluster).partitions[0], "level cluster explores that"
    for id in state.replicas:
        if broker(cluster, id) is None:
            problem = f"{state.name} has a replica on broker {id}, which the play does not have"
            yield problem, f"level {level} needs a `broker` line for each replica"
    if level == "partition" and (state.recovery or state.unclean_leader_election):
        yield f"{state.name} recovers from an unclean election, or may have one", elsewhere
    if state.adding or state.removing:
        yield f"{state.name} is being reassigned", elsewhere
    deleted = any(r.log.start for b in cluster.brokers for r in b.durable.replicas)
    if level == "partition" and deleted:
        yield f"records of {state.name} were deleted before the play begins", elsewhere
    if any(r.in_controlled_shutdown for r in truth(cluster).registrations):
        problem = "a broker is shutting down as the play begins"
        yield problem, "level cluster explores controlled shutdowns"


def _normal(cluster: Cluster) -> Cluster:
    """Which properties broke before, unasked for, makes no difference to what can happen."""
    return canonical(replace(cluster, broken=()) if cluster.broken else cluster)


PARTITION = table.Level(
    name="partition",
    sentence="one partition; an AlterPartition may be slow, metadata may lag, a fetch is one step",
    kinds=(
        actions.WRITE,
        actions.FETCH,
        actions.DELIVER_REQUEST,
        actions.VIEW,
        actions.CRASH_WITH_DISK,
        actions.START_WITH_IMAGE,
        actions.FENCE,
        actions.UNFENCE,
        actions.KILL,
        actions.STOP,
    ),
    brokers=actions.with_replicas,
    holds=("alter-partition", "metadata"),
    bounds=(
        table.Bound("writes", 1, "record written", "records written", 10, 5),
        table.Bound("crashes", 1, "crash that loses a disk", "crashes that lose a disk", 100, 24),
        table.Bound("fences", 0, *table.SPURIOUS, 90, 28),
        table.Bound("kills", 0, *table.KEEPS_DISK, 90, 20, optional=True),
        table.Bound("stops", 0, "orderly stop", "orderly stops", 90, 20, optional=True),
    ),
    smallest=10,
    normal=normal_partition.normal,
    admit=_admission("partition", normal_partition.normal, consumers=()),
    asks=table.CAN_DATA_BE_LOST,
    blind=(*table.OF_CLIENTS, *OF_RECOVERY),
)
"""One partition, a delayed AlterPartition, brokers that lose their disks.

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
kill (kills)
    Crash(NOTHING) of whoever runs: the process is gone, and its log stays.
stop (stops)
    ShutDown of whoever is unfenced, its heartbeats and their answers: a controlled shutdown that
    the controller grants at once. That of a leader is, if nobody else is unfenced.

A start that the controller refuses, because the old session still lasts, leaves a process that
only waits, as good as down: it is left out. normal_partition.py says what a state is.
"""

CLUSTER = table.Level(
    name="cluster",
    sentence="every message by itself: fetches, answers, metadata; heartbeats, controlled shutdown",
    kinds=(
        actions.WRITE,
        actions.SEND_FETCH,
        actions.DELIVER,
        actions.RACE,
        actions.CRASH_OR_BOTH,
        actions.START_REGISTERED,
        actions.RECOVER,
        actions.BEAT,
        actions.FENCE,
        actions.SHUT_DOWN,
        actions.LAG,
        actions.RETRY,
    ),
    brokers=actions.with_replicas,
    holds=("alter-partition", "alter-partition-reply", "fetch", "fetch-reply", "metadata"),
    bounds=(
        table.Bound("writes", 1, "record written", "records written", 11, 5),
        table.Bound("crashes", 1, "crash", "crashes", 600, 150),
        table.Bound("fences", 0, *table.SPURIOUS, 300, 90),
        table.Bound("shutdowns", 0, "controlled shutdown", "controlled shutdowns", 350, 90),
        table.Bound("lags", 0, "check for members that lag", "checks for members that lag", 5, 3),
        table.Bound("races", 0, "pair of fetches at once", "pairs of fetches at once", 1.2, 1.2),
    ),
    smallest=1_100,
    normal=_normal,
    admit=_admission("cluster", _normal, consumers=()),
    asks=table.CAN_DATA_BE_LOST,
    blind=(*table.OF_CLIENTS, properties.GIVEN_WHILE_RECOVERING_STAYS.id),
)
"""Every message by itself, sessions, heartbeats and controlled shutdowns.

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

RECOVERY = table.Level(
    name="recovery",
    sentence="one partition; unclean elections, leaders that recover, and consumers that read",
    kinds=(
        *PARTITION.kinds[:4],
        actions.CRASH,
        actions.WIPE,
        *PARTITION.kinds[5:8],
        actions.ELECT_UNCLEANLY,
        actions.FINISH,
        actions.READ,
    ),
    brokers=actions.with_replicas,
    holds=PARTITION.holds,
    bounds=(
        table.Bound("writes", 1, "record written", "records written", 6, 5),
        table.Bound("elections", 2, "unclean election", "unclean elections", 3, 2),
        table.Bound("crashes", 0, *table.KEEPS_DISK, 70, 20),
        table.Bound("wipes", 0, "crash that loses a disk", "crashes that lose a disk", 70, 20),
        table.Bound("fences", 1, *table.SPURIOUS, 70, 20),
    ),
    smallest=3,
    normal=normal_recovery.normal,
    admit=_admission("recovery", normal_recovery.normal),
    asks=OF_RECOVERY,
    blind=table.OF_CLIENTS,
)
"""Unclean elections, leaders that recover from them, consumers that read.

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

LEVELS = {level.name: level for level in (PARTITION, CLUSTER, RECOVERY, ZOOKEEPER)}


def level_named(name: str) -> table.Level:
    """The level of this name. Raises ExploreError that lists what there is."""
    if name not in LEVELS:
        listed = "; ".join(f"{level.name}: {level.sentence}" for level in LEVELS.values())
        raise table.ExploreError(f"there is no level {name!r}; the levels are {listed}")
    return LEVELS[name]
