"""A partition's state after one more record of the metadata log.

Source: PartitionRegistration (3.5.0, 4.3.1) and ReplicationControlManager.removeTopicElrs (4.3.1).
A field that a record does not have keeps its value; a dump leaves out what is at its default.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from ..records import UNKNOWN, LogRecord, Moment
from ..states import NO_LEADER, BrokerLife, Joined, PartitionKey, PartitionState

NO_LEADER_CHANGE = -2
ISR_CHANGES = 11
"""How many times of changes of the ISR a state keeps."""


class Around(NamedTuple):
    """What a partition's change is seen against: the broker lives, and the topic's
    min.insync.replicas, None where no record sets it. `exact` is False for a checkpoint's records.
    """

    lives: Mapping[int, BrokerLife]
    minimum: int | None = None
    exact: bool = True


def created(record: LogRecord, topic: str, around: Around) -> PartitionState:
    """The partition of a PartitionRecord."""
    fields, at = record.fields, record.moment
    leader, elr = fields["leader"], _ids(fields, "eligibleLeaderReplicas", ())
    replicas, isr = tuple(fields["replicas"]), tuple(fields["isr"])
    recovering = fields.get("leaderRecoveryState", 0) == 1
    return PartitionState(
        key=PartitionKey(fields["topicId"], fields["partitionId"]),
        topic=topic,
        replicas=replicas,
        isr=isr,
        leader=leader,
        leader_epoch=fields["leaderEpoch"],
        partition_epoch=fields["partitionEpoch"],
        recovering=recovering,
        adding=_ids(fields, "addingReplicas", ()),
        removing=_ids(fields, "removingReplicas", ()),
        directories=_ids(fields, "directories", ()),
        elr=elr,
        last_known=_ids(fields, "lastKnownElr", ()),
        joined={b: _joined_now(b, at, around) for b in (*isr, *elr)},
        led_since=at,
        leaderless_since=at if leader == NO_LEADER else None,
        recovering_since=at if recovering else None,
        alone_since=at if len(isr) == 1 else None,
        below_since=at if _below(isr, replicas, around) else None,
    )


def changed(before: PartitionState, record: LogRecord, around: Around) -> PartitionState:
    """The partition after a PartitionChangeRecord, which has no epochs: the partition epoch rises
    with each, the leader epoch with each that names a leader, be it the same one.
    """
    fields, at = record.fields, Moment(record.offset, record.time)
    named = fields.get("leader", NO_LEADER_CHANGE)
    leader = before.leader if named == NO_LEADER_CHANGE else named
    elected = leader if leader != before.leader else NO_LEADER
    recovery = fields.get("leaderRecoveryState", -1)
    recovering = before.recovering if recovery == -1 else recovery == 1
    isr, elr = _ids(fields, "isr", before.isr), _ids(fields, "eligibleLeaderReplicas", before.elr)
    replicas = _ids(fields, "replicas", before.replicas)
    unclean = elected != NO_LEADER and elected not in before.isr and elected not in before.elr
    return PartitionState(
        key=before.key,
        topic=before.topic,
        replicas=replicas,
        isr=isr,
        leader=leader,
        leader_epoch=before.leader_epoch + (named != NO_LEADER_CHANGE),
        partition_epoch=before.partition_epoch + 1,
        recovering=recovering,
        adding=_ids(fields, "addingReplicas", before.adding),
        removing=_ids(fields, "removingReplicas", before.removing),
        directories=_ids(fields, "directories", before.directories),
        elr=elr,
        last_known=_ids(fields, "lastKnownElr", before.last_known),
        joined=_joined(before, isr, elr, elected, at, around),
        led_since=before.led_since if named == NO_LEADER_CHANGE else at,
        leaderless_since=(before.leaderless_since or at) if leader == NO_LEADER else None,
        recovering_since=(before.recovering_since or at) if recovering else None,
        alone_since=(before.alone_since or at) if len(isr) == 1 else None,
        below_since=(before.below_since or at) if _below(isr, replicas, around) else None,
        isr_changes=_isr_changes(before, isr, record.time),
        passed_over=_passed_over(before, isr, unclean or recovery == 1),
    )


def cleared(before: PartitionState, _at: Moment, _around: Around) -> PartitionState:
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


def settled(before: PartitionState, at: Moment, around: Around) -> PartitionState:
    """The partition after its min.insync.replicas was set."""
    below = _below(before.isr, before.replicas, around)
    if below == (before.below_since is not None):
        return before
    return msgspec.structs.replace(before, below_since=at if below else None)


def _ids(fields: dict[str, Any], name: str, default: tuple[Any, ...]) -> tuple[Any, ...]:
    value = fields.get(name)
    return default if value is None else tuple(value)


def _below(isr: tuple[int, ...], replicas: tuple[int, ...], around: Around) -> bool:
    # Kafka asks for no more members than there are replicas (Partition.effectiveMinIsr). A minimum
    # that no record sets is taken as 1.
    return len(isr) < min(around.minimum or 1, len(replicas))


def _joined_now(broker: int, at: Moment, around: Around) -> Joined:
    life = around.lives.get(broker)
    if life is None or life.ended is not None:
        return Joined(UNKNOWN, at, exact=False)
    return Joined(life.epoch, at, around.exact)


def _joined(
    before: PartitionState,
    isr: tuple[int, ...],
    elr: tuple[int, ...],
    elected: int,
    at: Moment,
    around: Around,
) -> Mapping[int, Joined]:
    """A member that stays in the ISR, or waits in the ELR, keeps what it has. One that is elected
    under a later broker epoch is what the others copy from then on: it joins anew.
    """
    if elected == NO_LEADER and isr == before.isr and elr == before.elr:
        return before.joined
    kept, stayed = before.joined, before.isr
    joined = {b: kept[b] if b in stayed else _joined_now(b, at, around) for b in isr}
    for broker in elr:
        joined[broker] = kept.get(broker) or _joined_now(broker, at, around)
    life = around.lives.get(elected)
    if elected in joined and life and joined[elected].broker_epoch != life.epoch:
        joined[elected] = _joined_now(elected, at, around)
    return joined


def _isr_changes(before: PartitionState, isr: tuple[int, ...], time: int) -> tuple[int, ...]:
    if isr == before.isr:
        return before.isr_changes
    return (*before.isr_changes, time)[-ISR_CHANGES:]


def _passed_over(before: PartitionState, isr: tuple[int, ...], unclean: bool) -> tuple[int, ...]:
    if unclean:
        return tuple(b for b in (*before.isr, *before.elr) if b not in isr)
    if not before.passed_over or isr == before.isr:
        return before.passed_over
    return tuple(b for b in before.passed_over if b not in isr)
