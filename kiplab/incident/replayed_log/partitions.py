"""A partition's state after one more record of the metadata log.

Source: PartitionRegistration (3.5.0, 4.3.1) and ReplicationControlManager.removeTopicElrs (4.3.1).
A field that a record does not have keeps its value; a dump leaves out what is at its default.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from ..log_items import UNKNOWN, LogRecord, OffsetAndTime
from ..states import NO_LEADER, Joined, PartitionKey, PartitionState, RegisteredIncarnation

NO_LEADER_CHANGE = -2
UNCHANGED = -1
"""A recovery state."""
ISR_CHANGES = 11
"""How many times of changes of the ISR a state keeps."""

LISTS = {
    "isr": "isr",
    "replicas": "replicas",
    "addingReplicas": "adding",
    "removingReplicas": "removing",
    "directories": "directories",
    "eligibleLeaderReplicas": "elr",
    "lastKnownElr": "last_known",
}


class Around(NamedTuple):
    """What a partition's change is seen against: the incarnations of brokers, and the topic's
    min.insync.replicas, None where no record sets it. `exact` is False for a checkpoint's records.
    """

    registered: Mapping[int, RegisteredIncarnation]
    minimum: int | None = None
    exact: bool = True


def created(record: LogRecord, topic: str, around: Around) -> PartitionState:
    """The partition of a PartitionRecord."""
    fields, at = record.fields, record.moment
    lists = {LISTS[n]: tuple(v) for n, v in fields.items() if n in LISTS and v is not None}
    replicas, isr, leader = lists["replicas"], lists["isr"], fields["leader"]
    recovering = fields.get("leaderRecoveryState", 0) == 1
    return PartitionState(
        key=PartitionKey(fields["topicId"], fields["partitionId"]),
        topic=topic,
        leader=leader,
        leader_epoch=fields["leaderEpoch"],
        partition_epoch=fields["partitionEpoch"],
        recovering=recovering,
        joined={b: _joined_now(b, at, around) for b in (*isr, *lists.get("elr", ()))},
        led_since=at,
        leaderless_since=at if leader == NO_LEADER else None,
        recovering_since=at if recovering else None,
        alone_since=at if len(isr) == 1 else None,
        below_since=at if _below(isr, replicas, around) else None,
        **lists,
    )


def changed(before: PartitionState, record: LogRecord, around: Around) -> PartitionState:
    """The partition after a PartitionChangeRecord, which has no epochs: the partition epoch rises
    with each, the leader epoch with each that names a leader, be it the same one.
    """
    fields, at = record.fields, OffsetAndTime(record.offset, record.time)
    changes: dict[str, Any] = {"partition_epoch": before.partition_epoch + 1}
    for name, value in fields.items():
        if name in LISTS and value is not None:
            changes[LISTS[name]] = tuple(value)
    stayed, isr, elected = before.isr, changes.get("isr", before.isr), NO_LEADER
    leader = fields.get("leader", NO_LEADER_CHANGE)
    if leader != NO_LEADER_CHANGE:
        elected = leader if leader != before.leader else NO_LEADER
        changes["leader"], changes["led_since"] = leader, at
        changes["leader_epoch"] = before.leader_epoch + 1
        changes["leaderless_since"] = (
            (before.leaderless_since or at) if leader == NO_LEADER else None
        )
    recovery = fields.get("leaderRecoveryState", UNCHANGED)
    if recovery != UNCHANGED:
        changes["recovering"] = recovery == 1
        changes["recovering_since"] = (before.recovering_since or at) if recovery == 1 else None
    if isr != stayed or "replicas" in changes:
        below = _below(isr, changes.get("replicas", before.replicas), around)
        changes["below_since"] = (before.below_since or at) if below else None
    if isr != stayed:
        changes["alone_since"] = at if len(isr) == 1 else None
        changes["isr_changes"] = (*before.isr_changes[1 - ISR_CHANGES :], at.time)
        if len(isr) > len(stayed):
            changes["eligible_until"] = None
    elif before.elr and leader == NO_LEADER_CHANGE and changes.get("elr") == ():
        changes["eligible_until"] = (before.elr, at.offset)
    if isr != stayed or elected != NO_LEADER or "elr" in changes:
        changes["joined"] = _joined(
            before, isr, changes.get("elr", before.elr), elected, at, around
        )
    after = msgspec.structs.replace(before, **changes)
    unclean = recovery == 1 or (elected != NO_LEADER and before.elects_uncleanly(after))
    if not unclean and not before.passed_over:
        return after
    gone = (*stayed, *before.elr) if unclean else before.passed_over
    return msgspec.structs.replace(after, passed_over=tuple(b for b in gone if b not in isr))


def cleared(before: PartitionState, _at: OffsetAndTime, _around: Around) -> PartitionState:
    """The partition after a ClearElrRecord: where it had a list, its partition epoch rises."""
    if not (before.elr or before.last_known):
        return before
    return msgspec.structs.replace(
        before,
        elr=(),
        last_known=(),
        partition_epoch=before.partition_epoch + 1,
        joined={b: joined for b, joined in before.joined.items() if b in before.isr},
    )


def settled(before: PartitionState, at: OffsetAndTime, around: Around) -> PartitionState:
    """The partition after its min.insync.replicas was set."""
    below = _below(before.isr, before.replicas, around)
    if below == (before.below_since is not None):
        return before
    return msgspec.structs.replace(before, below_since=at if below else None)


def _below(isr: tuple[int, ...], replicas: tuple[int, ...], around: Around) -> bool:
    # Kafka asks for no more members than there are replicas (Partition.effectiveMinIsr). A minimum
    # that no record sets is taken as 1.
    members = len(isr)
    return members < len(replicas) and members < (around.minimum or 1)


def _joined_now(broker: int, at: OffsetAndTime, around: Around) -> Joined:
    incarnation = around.registered.get(broker)
    if incarnation is None or incarnation.ended is not None:
        return Joined(UNKNOWN, at, exact=False)
    return Joined(incarnation.epoch, at, around.exact)


def _joined(
    before: PartitionState,
    isr: tuple[int, ...],
    elr: tuple[int, ...],
    elected: int,
    at: OffsetAndTime,
    around: Around,
) -> Mapping[int, Joined]:
    """A member that stays in the ISR, or waits in the ELR, keeps what it has. One that is elected
    under a later broker epoch is what the others copy from then on: it joins anew.
    """
    kept, stayed, joined = before.joined, before.isr, {}
    for broker in isr:
        joined[broker] = kept[broker] if broker in stayed else _joined_now(broker, at, around)
    for broker in elr:
        joined[broker] = kept.get(broker) or _joined_now(broker, at, around)
    incarnation = around.registered.get(elected) if elected in joined else None
    if incarnation and joined[elected].broker_epoch != incarnation.epoch:
        joined[elected] = _joined_now(elected, at, around)
    return joined
