"""Which request or timer of the controller wrote a change of a partition, by the order of records.

One event of the controller writes its records one behind the other, across batches. Those of a
fence, a registration or an end stand before the record that names the broker, those of an unfencing
or a controlled shutdown behind it.

Source: handleBrokerFenced, handleBrokerUnfenced, handleBrokerInControlledShutdown,
handleBrokerShutdown, handleBrokerUnregistered and handleDirectoriesOffline of
ReplicationControlManager (3.5.0, 4.3.1).
"""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from ...protocol.releases import METADATA_LEVEL
from ..log_items import UNKNOWN
from ..states import NO_LEADER, Handler, LogEvent, PartitionState
from .registered_brokers import broker_of

LOOK_AHEAD = 20_000
"""As many changes wait for the record that names their broker; the first of more are told alone."""
APART_MS = 200
"""Neighbours that are further apart are of two events: a controller appends the records of one at
once, and gathers them for 25 ms (controller.quorum.append.linger.ms).
"""
_CHANGE = "PARTITION_CHANGE_RECORD"
_ABOUT_BROKERS: dict[str, Handler] = {
    "REGISTER_BROKER_RECORD": "registration",
    "UNREGISTER_BROKER_RECORD": "unregistration",
    "FENCE_BROKER_RECORD": "fenced",
    "UNFENCE_BROKER_RECORD": "unfenced",
}
_OTHERS: dict[str, Handler] = {
    "PARTITION_RECORD": "created",
    "TOPIC_RECORD": "created",
    "REMOVE_TOPIC_RECORD": "removed",
    "CLEAR_ELR_RECORD": "settings",
    "CONFIG_RECORD": "settings",
    "FEATURE_LEVEL_RECORD": "settings",
}
_NAMED_LAST = {"registration", "unregistration", "fenced", "directories"}
_STOPS_ARE_WRITTEN = METADATA_LEVEL["3.3-IV3"]
_OF_AN_ELECTION = {"isr", "leader", "leaderRecoveryState"}
_OF_A_REASSIGNMENT = {"replicas", "addingReplicas", "removingReplicas"}


def with_handlers(events: Iterable[LogEvent]) -> Iterator[Sequence[LogEvent]]:
    """The events with their handlers, in the same order, some at a time."""
    waiting: list[LogEvent] = []
    opener: LogEvent | None = None
    end, written = UNKNOWN - 1, UNKNOWN
    for event in events:
        record = event.record
        behind = record.offset == end + 1 and record.time - written < APART_MS
        end, written = record.offset, record.time
        if record.type != _CHANGE:
            opener = msgspec.structs.replace(event, handlers=(_handler(event),))
            yield [*_told(waiting, event if behind else None), opener]
            waiting = []
        elif behind and opener and _fits_behind(opener, event):
            yield (_with(event, opener.handlers, opener),)
        else:
            opener = None
            if waiting and (not behind or len(waiting) == LOOK_AHEAD):
                yield _told(waiting, None)
                waiting = []
            waiting.append(event)
    yield _told(waiting, None)


def _handler(event: LogEvent) -> Handler:
    """The handler of a record that is no change of a partition."""
    record = event.record
    if record.type != "BROKER_REGISTRATION_CHANGE_RECORD":
        return _ABOUT_BROKERS.get(record.type) or _OTHERS.get(record.type, "unknown")
    fenced = record.fields.get("fenced", 0)
    if fenced:
        return "fenced" if fenced == 1 else "unfenced"
    stops = record.fields.get("inControlledShutdown", 0)
    return "controlled shutdown" if stops else "directories"


def _told(changes: list[LogEvent], closer: LogEvent | None) -> list[LogEvent]:
    """Changes one behind the other, and the event behind them."""
    first, sure = _first_of(closer, changes) if closer else len(changes), False
    told = [_with(event, (_alone(event),), None) for event in changes[:first]]
    for event in changes[first:]:
        assert closer is not None
        handler, alone = _handler(closer), _alone(event)
        # A leader may have asked for the first of them just before; what stands behind a change
        # that no leader asks for is of the same event as that.
        sure = sure or alone != "AlterPartition"
        told.append(_with(event, (handler,) if sure else (handler, alone), closer))
    return told


def _with(event: LogEvent, handlers: tuple[Handler, ...], cause: LogEvent | None) -> LogEvent:
    at = cause.record.offset if cause else UNKNOWN
    one = event
    return LogEvent(one.record, one.cluster, one.before, one.after, one.incarnation, handlers, at)


def _fits_behind(opener: LogEvent, event: LogEvent) -> bool:
    before, after = _sides(event)
    (handler,) = opener.handlers
    if handler == "unfenced":
        return before.leader == NO_LEADER != after.leader
    # Where it alone is the ISR, its fence writes once more that nobody leads.
    stops = handler == "controlled shutdown" and before.leader != NO_LEADER
    return stops and _out(before, after, broker_of(opener.record)[0])


def _first_of(closer: LogEvent, changes: list[LogEvent]) -> int:
    """From which change on the event of `closer` wrote them."""
    handler = _handler(closer)
    process = closer.incarnation
    if process is None or handler not in _NAMED_LAST:
        return len(changes)
    if handler == "registration" and process.registered != closer.record.moment:
        return len(changes)  # A process that registers again takes nothing back (KAFKA-16952).
    broker, epoch = broker_of(closer.record)
    first = len(changes)
    while first and _out(*_sides(changes[first - 1]), broker):
        # The broker epoch is the offset of the first record of the registration.
        if handler == "registration" and changes[first - 1].record.offset < epoch:
            break
        first -= 1
    return first


def _sides(event: LogEvent) -> tuple[PartitionState, PartitionState]:
    # A change of a partition that is not known is no event.
    assert event.before is not None
    assert event.after is not None
    return event.before, event.after


def _out(before: PartitionState, after: PartitionState, broker: int) -> bool:
    """Whether the broker is out of the ISR or the ELR, or, the last of the ISR, leads no more."""
    if before.replicas != after.replicas:
        return False  # A reassignment.
    if broker in before.isr and broker not in after.isr:
        return True
    if broker in before.elr and broker not in after.elr and broker not in after.isr:
        return True
    # A fence writes once more that nobody leads, which begins a leader epoch.
    leads_no_more = after.leader == NO_LEADER and after.leader_epoch != before.leader_epoch
    return leads_no_more and before.isr == (broker,)


def _alone(event: LogEvent) -> Handler:
    """The handler of a change that no broker's record stands beside."""
    before, after = _sides(event)
    fields = event.record.fields
    if not _OF_A_REASSIGNMENT.isdisjoint(fields):
        if not before.ends_reassignment(after):
            return "reassignment"
        # A leader asks for another ISR, and that ends a recovery: else any event has ended it.
        is_other = NO_LEADER in (before.leader, after.leader) or after.recovering
        return "unknown" if is_other or after.isr == before.isr else "AlterPartition"
    if "directories" in fields:  # A report of directories may elect as well.
        return "directories"
    if _OF_AN_ELECTION.isdisjoint(fields):
        return "directories" if event.cluster.has_elr else "unknown"
    if after.leader == before.leader and after.leader != NO_LEADER:
        return "AlterPartition"
    if before.elects_uncleanly(after):
        return "unclean election"
    if after.isr == before.isr and before.leader != NO_LEADER and after.leader == after.replicas[0]:
        return "preferred election"
    return _without_its_broker(event) if _out(before, after, before.leader) else "unknown"


def _without_its_broker(event: LogEvent) -> Handler:
    """Why a leader went without a record that names it. Below metadata version 3.3-IV3 nothing else
    is written of a controlled shutdown, nor where a second controller goes on with it; and a log
    may end before the fence.
    """
    before, _ = _sides(event)
    incarnation = event.cluster.incarnations.get(before.leader)
    level = event.cluster.features.get("metadata.version", _STOPS_ARE_WRITTEN)
    stopping = incarnation is not None and incarnation.shutting_down_since is not None
    return "controlled shutdown" if stopping or level < _STOPS_ARE_WRITTEN else "unknown"
