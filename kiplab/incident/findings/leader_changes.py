"""Elections that a later loss may go back to."""

from collections.abc import Iterator

from ..states import LogEvent
from .finding import Finding
from .finding_words import DISK, brokers, epoch_words, prevented_by, process
from .rule import Thresholds, rule


def elected(event: LogEvent) -> int | None:
    """The broker that the record made leader; None where it made none or the leader stays."""
    before, after = event.before, event.after
    if before is None or after is None or after.leader < 0 or after.leader == before.leader:
        return None
    return after.leader


def is_unclean(event: LogEvent) -> bool:
    """Whether the record elects outside the ISR and the ELR, or begins a recovery (KIP-704)."""
    broker, before = elected(event), event.before
    if broker is None or before is None:
        return False
    recovers = event.record.fields.get("leaderRecoveryState") == 1
    return recovers or broker not in (*before.isr, *before.elr)


def is_other_process(event: LogEvent) -> bool:
    """Whether the elected broker was in sync, or eligible, as an earlier process."""
    broker, before = elected(event), event.before
    if broker is None or before is None or is_unclean(event):
        return False
    joined, present = before.joined.get(broker), event.cluster.lives.get(broker)
    if joined is None or present is None or joined.broker_epoch == present.epoch:
        return False
    # Up to 3.8 a process that registers again has a new epoch and the same incarnation id.
    earlier = process(event.cluster, broker, joined.broker_epoch)
    return earlier is None or earlier.incarnation != present.incarnation


@rule("F1", "occasion")
def other_life(event: LogEvent, _: Thresholds) -> Iterator[Finding]:
    """A clean election of a broker that had been in sync as an earlier incarnation."""
    broker, before = elected(event), event.before
    if broker is None or before is None or not is_other_process(event):
        return
    joined, present = before.joined[broker], event.cluster.lives[broker]
    by_elr = event.cluster.has_elr and broker in before.elr
    said = (
        f"{broker} was elected cleanly at {event.record.offset}; it had been in sync as "
        f"{epoch_words(joined)} and was registered as epoch {present.epoch} "
        f"(at {present.registered.offset}): another process, "
    )
    why = "and the controller held its stop for clean." if by_elr else "whose disk nobody checked."
    yield other_life.finding(
        event,
        f"{said}{why}{_stop(event, broker)}",
        kind="note" if by_elr else "occasion",
        lives=((broker, joined.broker_epoch), (broker, present.epoch)),
        cannot_say=DISK.format(broker),
        **({} if by_elr else prevented_by("966.elr-unclean-shutdown")),
    )


def _stop(event: LogEvent, broker: int) -> str:
    """What the log has of the end of the process before."""
    earlier = event.cluster.earlier_lives.get(broker, ())
    if earlier and earlier[-1].shutting_down_since:
        return " The process before had asked for a controlled shutdown."
    return ""


@rule("F3", "occasion")
def unclean(event: LogEvent, _: Thresholds) -> Iterator[Finding]:
    """An election of a broker that was in neither the ISR nor the ELR, or with recovery."""
    broker, before = elected(event), event.before
    if broker is None or before is None or not is_unclean(event):
        return
    members = tuple(member for member in (*before.isr, *before.elr) if member != broker)
    yield unclean.finding(
        event,
        f"{broker} was elected uncleanly at {event.record.offset}: the ISR was "
        f"{brokers(before.isr)}.",
        lives=tuple((b, before.joined[b].broker_epoch) for b in members if b in before.joined),
        cannot_say="whether committed records were missing on the new leader",
    )
