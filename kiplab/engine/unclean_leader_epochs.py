"""The observer's memory from an unclean election on: the records that are read, and committed.

An unclean election excuses every loss, for good: `Observed.excused`. But its leader recovers, and
later records count again. A recovery begins with the election. While the partition is RECOVERING
the observer notes the records that brokers of that leader epoch, or a later one, give to consumers;
and all the time the records that leaders of such epochs commit. A leader of an earlier epoch
without news of the election may still commit and answer: no recovery could keep that, and it is no
part of one. Another unclean election begins another recovery. It has no committed records yet, but
keeps those that were given: a recovery is to prevent that its leader contradicts them.
"""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from ..protocol import facts, ids, log
from ..protocol.registrations import LeaderRecoveryState, PartitionRegistration
from ..protocol.replica.broker_state import Broker, log_of, replica_of
from . import properties
from .cluster import Cluster, Observed, UncleanLeaderEpoch, broker
from .events import Event

Broken = tuple[properties.Property, str, str]
"""(property, partition, what was seen)."""


def with_unclean_epoch(
    cluster: Cluster, observed: Observed, state: PartitionRegistration, events: Iterable[Event]
) -> Observed:
    """The observer's knowledge with what `events` say of the recovery, if there is one."""
    noted = observed.unclean_epoch
    for event in events:
        if getattr(event, "partition", None) != state.name:
            continue
        if isinstance(event, facts.LeaderElected) and event.unclean:
            given_records = log.EMPTY if noted is None else noted.consumed
            noted = UncleanLeaderEpoch(event.leader_epoch, consumed=given_records)
        elif noted is not None:
            noted = _followed(cluster, noted, state, event)
    if noted is not None and noted.consumed.epochs and not _recovering(state):
        noted = replace(noted, consumed=log.EMPTY)
    return observed if noted is observed.unclean_epoch else replace(observed, unclean_epoch=noted)


def _followed(
    cluster: Cluster, noted: UncleanLeaderEpoch, state: PartitionRegistration, event: Event
) -> UncleanLeaderEpoch:
    if isinstance(event, facts.RecordsDeleted):
        committed, given_records = (
            without_deleted(r, event) for r in (noted.committed, noted.consumed)
        )
        return replace(noted, committed=committed, consumed=given_records)
    if not isinstance(event, facts.BecameLeader | facts.HighWatermarkMoved | facts.Polled):
        return noted
    node = broker(cluster, event.node)
    mine = log.EMPTY if node is None else log_of(node, state.name)
    replica = None if node is None else replica_of(node, state.name)
    if isinstance(event, facts.BecameLeader):
        if event.node != state.leader or not _recovering(state):
            return noted
        # It begins to recover: what it has committed is all that counts.
        mark = ids.Offset(0) if replica is None else replica.high_watermark
        return replace(noted, committed=log.up_to(mine, mark))
    if replica is None or replica.leader_epoch < noted.epoch:
        # It does not know of the election yet.
        return noted
    if isinstance(event, facts.HighWatermarkMoved):
        return _committed(noted, mine, event)
    return _given(noted, mine, event) if _recovering(state) else noted


def _recovering(state: PartitionRegistration) -> bool:
    return state.recovery is LeaderRecoveryState.RECOVERING


def _committed(
    noted: UncleanLeaderEpoch, mine: log.Log, event: facts.HighWatermarkMoved
) -> UncleanLeaderEpoch:
    before = noted.committed
    if event.after <= before.end or not log.holds(mine, before):
        return noted
    return replace(noted, committed=log.delete_before(log.up_to(mine, event.after), before.start))


def _given(noted: UncleanLeaderEpoch, mine: log.Log, event: facts.Polled) -> UncleanLeaderEpoch:
    if event.last < event.first:
        return noted
    read = log.records_from(log.up_to(mine, ids.Offset(event.last + 1)), event.first)
    return replace(noted, consumed=log.overlaid(noted.consumed, read))


def without_deleted(records: log.Log, event: facts.RecordsDeleted) -> log.Log:
    """Deleted records are not lost."""
    return log.delete_before(records, ids.Offset(min(event.start, records.end)))


def knowing_leader(cluster: Cluster, state: PartitionRegistration) -> Broker | None:
    """The leader of a partition and its leader epoch, if the broker knows that it leads."""
    node = broker(cluster, state.leader)
    replica = None if node is None else replica_of(node, state.name)
    if replica is None or replica.leading is None or replica.leader_epoch != state.leader_epoch:
        return None
    return node


def contradictions(
    cluster: Cluster, observed: Observed, state: PartitionRegistration
) -> Iterator[Broken]:
    """The records of that leader epoch that are missing on the broker that knows it leads."""
    noted, leader = observed.unclean_epoch, knowing_leader(cluster, state)
    if noted is None or leader is None:
        return
    mine, who = log_of(leader, state.name), f"broker {leader.id} leads without offset"
    missing = log.first_missing(mine, noted.consumed)
    if missing is not None:
        seen = f"{who} {missing}, which a consumer was given while the leader recovered"
        yield properties.GIVEN_WHILE_RECOVERING_STAYS, state.name, seen
    missing = None if _recovering(state) else log.first_missing(mine, noted.committed)
    if missing is not None:
        seen = f"{who} {missing}, which was committed after an unclean election"
        yield properties.RECOVERED_RECORDS_STAY, state.name, seen
