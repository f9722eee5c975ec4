"""Every rule, and what all of them find in an event or at the end of a log."""

from collections.abc import Iterable, Iterator

import msgspec

from ..log_items import UNKNOWN, OffsetAndTime
from ..states import ClusterState, LogEvent, PartitionState
from . import availability, broker_processes, eligible_leaders, in_sync_joins, leader_changes
from .finding import Finding
from .rule import USUAL, EndOfLog, FindingRule, Thresholds, change_of

_SUBJECTS = (leader_changes, in_sync_joins, availability, eligible_leaders, broker_processes)
_RULES = [v for subject in _SUBJECTS for v in vars(subject).values() if isinstance(v, FindingRule)]
RULES = {rule.name: rule for rule in sorted(_RULES, key=lambda rule: int(rule.id[1:]))}
"""By name, in the order of their numbers."""


_OF_CHANGES = [rule.of_change for rule in RULES.values() if rule.of_change]
_OF_EVENTS = [rule.of_event for rule in RULES.values() if rule.of_event]


def findings_of(event: LogEvent, thresholds: Thresholds = USUAL) -> Iterator[Finding]:
    """What the rules find in one event. Those of one rule and one `event` are told as one."""
    change = change_of(event, thresholds)
    if change is not None:  # Made once for all rules: a log has millions.
        for of_change in _OF_CHANGES:
            yield from of_change(change)
    for of_event in _OF_EVENTS:
        yield from of_event(event, thresholds)


def findings_at_end(
    cluster: ClusterState,
    partitions: Iterable[PartitionState],
    last: OffsetAndTime,
    thresholds: Thresholds = USUAL,
) -> Iterator[Finding]:
    """What is still so where the log ends, at the moment `last` of its last record.

    One fence writes one batch: what began at one time has the offset of the first as its `event`.
    """
    end = EndOfLog(cluster, tuple(partitions), last, thresholds)
    first: dict[tuple[str, int], int] = {}
    for rule in RULES.values():
        found = rule.at_end(end) if rule.at_end else ()
        for finding in sorted(found, key=lambda finding: finding.offset):
            when = finding.offset if finding.time == UNKNOWN else finding.time
            event = first.setdefault((rule.name, when), finding.event)
            yield msgspec.structs.replace(finding, event=event)
