"""What the observer keeps in mind from an unclean election on: what is given, what is committed.

An unclean election excuses every loss, for good: `Observed.excused`. But its leader recovers, and
from then on durability is worth something again. A recovery begins with the election. While the
partition is RECOVERING the observer notes what consumers are given by brokers of that leader epoch,
or a later one; and all the time what leaders of such epochs commit. A leader of an earlier epoch
that has not heard of the election may still commit and answer: nothing that a recovery does could
keep that, and it is no part of a recovery. Another unclean election begins another recovery, with
nothing committed, but with what was given: that its leader contradicts it is what a recovery is to
prevent.
"""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from ..protocol import facts, ids, log
from ..protocol.registrations import LeaderRecoveryState, PartitionRegistration
from ..protocol.replica.broker_state import log_of, replica_of
from . import properties
from .cluster import Cluster, Observed, UncleanLeaderEpoch, broker
from .events import Event

Broken = tuple[properties.Property, str, str]
"""(property, partition, what was seen)."""


def with_unclean_epoch(
    cluster: Cluster, known: Observed, state: PartitionRegistration, events: Iterable[Event]
) -> Observed:
    """The observer's knowledge with what `events` say of the recovery, if there is one."""
    unclean_epoch = known.unclean_epoch
    for event in events:
        if isinstance(event, facts.LeaderElected) and event.partition == known.partition:
            unclean_epoch = _begun(unclean_epoch, event)
        elif unclean_epoch is not None:
            unclean_epoch = _followed(cluster, unclean_epoch, state, event)
    if unclean_epoch is not None and unclean_epoch.given.epochs and not _recovering(state):
        unclean_epoch = replace(unclean_epoch, given=log.EMPTY)
    return (
        known
        if unclean_epoch is known.unclean_epoch
        else replace(known, unclean_epoch=unclean_epoch)
    )


def _begun(
    unclean_epoch: UncleanLeaderEpoch | None, event: facts.LeaderElected
) -> UncleanLeaderEpoch | None:
    if not event.unclean:
        return unclean_epoch
    return UncleanLeaderEpoch(
        event.leader_epoch, given=log.EMPTY if unclean_epoch is None else unclean_epoch.given
    )


def _followed(
    cluster: Cluster, unclean_epoch: UncleanLeaderEpoch, state: PartitionRegistration, event: Event
) -> UncleanLeaderEpoch:
    if getattr(event, "partition", None) != state.name:
        return unclean_epoch
    if isinstance(event, facts.BecameLeader) and event.node == state.leader and _recovering(state):
        return _settled(cluster, unclean_epoch, state, event.node)
    if isinstance(event, facts.HighWatermarkMoved) and _obeys(
        cluster, unclean_epoch, state, event.node
    ):
        return _committed(cluster, unclean_epoch, state, event)
    if isinstance(event, facts.Polled) and _recovering(state):
        return _given(cluster, unclean_epoch, state, event)
    if isinstance(event, facts.RecordsDeleted):
        return _without_deleted(unclean_epoch, event)
    return unclean_epoch


def _recovering(state: PartitionRegistration) -> bool:
    return state.recovery is LeaderRecoveryState.RECOVERING


def _obeys(
    cluster: Cluster,
    unclean_epoch: UncleanLeaderEpoch,
    state: PartitionRegistration,
    node: ids.BrokerId,
) -> bool:
    """Whether a broker has heard of the election."""
    found = broker(cluster, node)
    replica = replica_of(found, state.name) if found is not None else None
    return replica is not None and replica.leader_epoch >= unclean_epoch.epoch


def _log(cluster: Cluster, state: PartitionRegistration, node: ids.BrokerId) -> log.Log:
    found = broker(cluster, node)
    return log.EMPTY if found is None else log_of(found, state.name)


def _settled(
    cluster: Cluster,
    unclean_epoch: UncleanLeaderEpoch,
    state: PartitionRegistration,
    leader: ids.BrokerId,
) -> UncleanLeaderEpoch:
    """A leader that begins to recover: what it has committed is all that counts."""
    found = broker(cluster, leader)
    replica = replica_of(found, state.name) if found is not None else None
    mark = ids.Offset(0) if replica is None else replica.high_watermark
    return replace(unclean_epoch, committed=log.up_to(_log(cluster, state, leader), mark))


def _committed(
    cluster: Cluster,
    unclean_epoch: UncleanLeaderEpoch,
    state: PartitionRegistration,
    event: facts.HighWatermarkMoved,
) -> UncleanLeaderEpoch:
    known, mine = unclean_epoch.committed, _log(cluster, state, event.node)
    if event.after <= known.end or not log.holds(mine, known):
        return unclean_epoch
    return replace(
        unclean_epoch, committed=log.delete_before(log.up_to(mine, event.after), known.start)
    )


def _given(
    cluster: Cluster,
    unclean_epoch: UncleanLeaderEpoch,
    state: PartitionRegistration,
    event: facts.Polled,
) -> UncleanLeaderEpoch:
    if event.last < event.first or not _obeys(cluster, unclean_epoch, state, event.node):
        return unclean_epoch
    mine = log.up_to(_log(cluster, state, event.node), ids.Offset(event.last + 1))
    return replace(
        unclean_epoch, given=log.overlaid(unclean_epoch.given, log.records_from(mine, event.first))
    )


def _without_deleted(
    unclean_epoch: UncleanLeaderEpoch, event: facts.RecordsDeleted
) -> UncleanLeaderEpoch:
    """What is deleted on purpose is not lost."""

    def left(known: log.Log) -> log.Log:
        return log.delete_before(known, ids.Offset(min(event.start, known.end)))

    return replace(
        unclean_epoch, committed=left(unclean_epoch.committed), given=left(unclean_epoch.given)
    )


def contradictions(
    cluster: Cluster, known: Observed, state: PartitionRegistration
) -> Iterator[Broken]:
    """What the broker that leads, and knows that it does, lacks of the records of that leader
    epoch.
    """
    unclean_epoch, leader = known.unclean_epoch, broker(cluster, state.leader)
    if unclean_epoch is None or leader is None or state.leader == ids.NO_LEADER:
        return
    replica = replica_of(leader, state.name)
    if replica is None or replica.leading is None or replica.leader_epoch != state.leader_epoch:
        return
    mine, who = log_of(leader, state.name), f"broker {leader.id} leads without offset"
    missing = log.first_missing(mine, unclean_epoch.given)
    if missing is not None:
        seen = f"{who} {missing}, which a consumer was given while the leader recovered"
        yield properties.GIVEN_WHILE_RECOVERING_STAYS, state.name, seen
    missing = None if _recovering(state) else log.first_missing(mine, unclean_epoch.committed)
    if missing is not None:
        seen = f"{who} {missing}, which was committed after an unclean election"
        yield properties.RECOVERED_RECORDS_STAY, state.name, seen
