"""What the observer keeps in mind from an unclean election on: what is given, what is committed.

An unclean election excuses every loss, for good: `Observed.excused`. But its leader recovers, and
from then on durability is worth something again. A reign begins with the election. While the
partition is RECOVERING the observer notes what consumers are given by brokers of that leader epoch,
or a later one; and all the time what leaders of such epochs commit. A leader of an earlier epoch
that has not heard of the election may still commit and answer: nothing that a recovery does could
keep that, and it is no part of a reign. Another unclean election begins another reign, with nothing
committed, but with what was given: that its leader contradicts it is what a recovery is to prevent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from ..protocol.facts import (
    BecameLeader,
    HighWatermarkMoved,
    LeaderElected,
    Polled,
    RecordsDeleted,
)
from ..protocol.ids import NO_LEADER, BrokerId, Offset
from ..protocol.log import (
    EMPTY,
    Log,
    delete_before,
    first_missing,
    holds,
    overlaid,
    records_from,
    up_to,
)
from ..protocol.registrations import LeaderRecoveryState, PartitionRegistration
from ..protocol.replica.broker_state import log_of, replica_of
from . import properties
from .cluster import Cluster, Observed, UncleanReign, broker
from .events import Event

Broken = tuple[properties.Property, str, str]
"""(property, partition, what was seen)."""


def with_reign(
    cluster: Cluster, known: Observed, state: PartitionRegistration, events: Iterable[Event]
) -> Observed:
    """The observer's knowledge with what `events` say of the reign, if there is one."""
    reign = known.reign
    for event in events:
        if isinstance(event, LeaderElected) and event.partition == known.partition:
            reign = _begun(reign, event)
        elif reign is not None:
            reign = _followed(cluster, reign, state, event)
    if reign is not None and reign.given.epochs and not _recovering(state):
        reign = replace(reign, given=EMPTY)
    return known if reign is known.reign else replace(known, reign=reign)


def _begun(reign: UncleanReign | None, event: LeaderElected) -> UncleanReign | None:
    if not event.unclean:
        return reign
    return UncleanReign(event.leader_epoch, given=EMPTY if reign is None else reign.given)


def _followed(
    cluster: Cluster, reign: UncleanReign, state: PartitionRegistration, event: Event
) -> UncleanReign:
    if getattr(event, "partition", None) != state.name:
        return reign
    if isinstance(event, BecameLeader) and event.node == state.leader and _recovering(state):
        return _settled(cluster, reign, state, event.node)
    if isinstance(event, HighWatermarkMoved) and _obeys(cluster, reign, state, event.node):
        return _committed(cluster, reign, state, event)
    if isinstance(event, Polled) and _recovering(state):
        return _given(cluster, reign, state, event)
    if isinstance(event, RecordsDeleted):
        return _without_deleted(reign, event)
    return reign


def _recovering(state: PartitionRegistration) -> bool:
    return state.recovery is LeaderRecoveryState.RECOVERING


def _obeys(
    cluster: Cluster, reign: UncleanReign, state: PartitionRegistration, node: BrokerId
) -> bool:
    """Whether a broker has heard of the election."""
    found = broker(cluster, node)
    replica = replica_of(found, state.name) if found is not None else None
    return replica is not None and replica.leader_epoch >= reign.epoch


def _log(cluster: Cluster, state: PartitionRegistration, node: BrokerId) -> Log:
    found = broker(cluster, node)
    return EMPTY if found is None else log_of(found, state.name)


def _settled(
    cluster: Cluster, reign: UncleanReign, state: PartitionRegistration, leader: BrokerId
) -> UncleanReign:
    """A leader that begins to recover: what it has committed is all that counts."""
    found = broker(cluster, leader)
    replica = replica_of(found, state.name) if found is not None else None
    mark = Offset(0) if replica is None else replica.high_watermark
    return replace(reign, committed=up_to(_log(cluster, state, leader), mark))


def _committed(
    cluster: Cluster, reign: UncleanReign, state: PartitionRegistration, event: HighWatermarkMoved
) -> UncleanReign:
    known, mine = reign.committed, _log(cluster, state, event.node)
    if event.after <= known.end or not holds(mine, known):
        return reign
    return replace(reign, committed=delete_before(up_to(mine, event.after), known.start))


def _given(
    cluster: Cluster, reign: UncleanReign, state: PartitionRegistration, event: Polled
) -> UncleanReign:
    if event.last < event.first or not _obeys(cluster, reign, state, event.node):
        return reign
    mine = up_to(_log(cluster, state, event.node), Offset(event.last + 1))
    return replace(reign, given=overlaid(reign.given, records_from(mine, event.first)))


def _without_deleted(reign: UncleanReign, event: RecordsDeleted) -> UncleanReign:
    """What is deleted on purpose is not lost."""

    def left(known: Log) -> Log:
        return delete_before(known, Offset(min(event.start, known.end)))

    return replace(reign, committed=left(reign.committed), given=left(reign.given))


def contradictions(
    cluster: Cluster, known: Observed, state: PartitionRegistration
) -> Iterator[Broken]:
    """What the broker that leads, and knows that it does, lacks of the reign's records."""
    reign, leader = known.reign, broker(cluster, state.leader)
    if reign is None or leader is None or state.leader == NO_LEADER:
        return
    replica = replica_of(leader, state.name)
    if replica is None or replica.leading is None or replica.leader_epoch != state.leader_epoch:
        return
    mine, who = log_of(leader, state.name), f"broker {leader.id} leads without offset"
    missing = first_missing(mine, reign.given)
    if missing is not None:
        seen = f"{who} {missing}, which a consumer was given while the leader recovered"
        yield properties.GIVEN_WHILE_RECOVERING_STAYS, state.name, seen
    missing = None if _recovering(state) else first_missing(mine, reign.committed)
    if missing is not None:
        seen = f"{who} {missing}, which was committed after an unclean election"
        yield properties.RECOVERED_RECORDS_STAY, state.name, seen
