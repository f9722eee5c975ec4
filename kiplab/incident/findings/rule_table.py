"""Every rule, and what all of them find in an event or at the end of a log."""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

import msgspec

from ..log_items import UNKNOWN, OffsetAndTime
from ..states import ClusterState, LogEvent, PartitionState
from . import availability, broker_processes, eligible_leaders, in_sync_joins, leader_changes
from .finding import Finding
from .rule import EPOCH, USUAL, EndOfLog, FindingRule, Thresholds, change_of, deeds

_SUBJECTS = (leader_changes, in_sync_joins, availability, eligible_leaders, broker_processes)
_RULES = [v for subject in _SUBJECTS for v in vars(subject).values() if isinstance(v, FindingRule)]
RULES = {rule.name: rule for rule in sorted(_RULES, key=lambda rule: int(rule.id[1:]))}
"""By name, in the order of their numbers."""


_NEW_EPOCH = leader_changes.leader_epoch_without_leader_change.name


@cache
def _asked(did: int) -> tuple[list[Any], list[Any]]:
    asked = [rule for rule in RULES.values() if rule.asks_for & did]
    return [r.of_change for r in asked if r.of_change], [r.of_event for r in asked if r.of_event]


def findings_of(
    event: LogEvent,
    thresholds: Thresholds = USUAL,
    leaves_out: Callable[[str, int], bool] = lambda *_: False,
) -> list[Finding]:
    """What the rules find in one event. Those of one rule and one `event` are told as one.

    `leaves_out` is asked with those two for a note that a log may have a million of.
    """
    found: list[Finding] = []
    did = deeds(event)
    if did & EPOCH and leaves_out(_NEW_EPOCH, event.origin):
        did -= EPOCH
    of_changes, of_events = _asked(did)
    if of_changes:  # Made once for all rules: a log has millions.
        change = change_of(event, thresholds)
        for of_change in of_changes:
            found += of_change(change)
    for of_event in of_events:
        found += of_event(event, thresholds)
    return found


def findings_at_end(
    cluster: ClusterState,
    partitions: Iterable[PartitionState],
    last: OffsetAndTime,
    thresholds: Thresholds = USUAL,
    first: OffsetAndTime | None = None,
) -> Iterator[Finding]:
    """What is still so where the log ends, at the moment `last` of its last record.

    One fence writes one batch: what began at one time has the offset of the first as its `event`.
    """
    end = EndOfLog(cluster, tuple(partitions), last, thresholds, first)
    begun: dict[tuple[str, int], int] = {}
    for rule in RULES.values():
        found = rule.at_end(end) if rule.at_end else ()
        for finding in sorted(found, key=lambda finding: finding.offset):
            when = finding.offset if finding.time == UNKNOWN else finding.time
            event = begun.setdefault((rule.name, when), finding.event)
            yield msgspec.structs.replace(finding, event=event)
