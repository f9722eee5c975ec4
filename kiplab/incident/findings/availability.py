"""What lasted too long: no leader, too small an ISR, a recovery that nothing ended."""

from collections.abc import Iterator

from ..records import Moment
from ..states import LogEvent, PartitionState
from .finding import Finding
from .finding_words import duration_ms, lasted
from .rule import EndOfLog, Thresholds, rule


def ended(event: LogEvent, since: str) -> Moment | None:
    """Where what `since` names had begun, if the record ends it."""
    before, after = event.before, event.after
    began: Moment | None = getattr(before, since, None)
    return None if after is not None and getattr(after, since) else began


def open_since(
    end: EndOfLog, since: str, longer_ms: int = -1
) -> Iterator[tuple[PartitionState, Moment]]:
    """Partitions for which it is still so at the end, for longer than `longer_ms`."""
    for partition in end.partitions:
        began: Moment | None = getattr(partition, since)
        if began and (longer_ms < 0 or (duration_ms(began, end.last) or 0) > longer_ms):
            yield partition, began


def _still_leaderless(end: EndOfLog) -> Iterator[Finding]:
    for partition, since in open_since(end, "leaderless_since", end.thresholds.leaderless_ms):
        said = f"No leader since {since.offset}, {lasted(since, end.last)}, and none at the end."
        yield leaderless.open_finding(since, said, partition)


@rule("F6", "sure", at_end=_still_leaderless)
def leaderless(event: LogEvent, thresholds: Thresholds) -> Iterator[Finding]:
    """A partition without a leader for longer than the limit."""
    since = ended(event, "leaderless_since")
    if since is None or (duration_ms(since, event.record.moment) or 0) <= thresholds.leaderless_ms:
        return
    until = event.record
    end = f"{event.after.leader} leads from there." if event.after else "Its topic was deleted."
    said = f"No leader from {since.offset} to {until.offset}, {lasted(since, until.moment)}. {end}"
    yield leaderless.finding(event, said, since)
