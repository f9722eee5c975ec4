"""Every rule, and what all of them find in an event or at the end of a log."""

from collections.abc import Iterable, Iterator

import msgspec

from ..records import Moment
from ..states import ClusterState, LogEvent, PartitionState
from . import availability, broker_processes, eligible_leaders, in_sync_joins, leader_changes
from .finding import Finding
from .rule import USUAL, EndOfLog, Rule, RuleSubject, Thresholds

_ROOMS = (leader_changes, in_sync_joins, availability, eligible_leaders, broker_processes)
RULES: dict[str, Rule] = {
    found.name: found
    for found in sorted(
        (value for room in _ROOMS for value in vars(room).values() if isinstance(value, Rule)),
        key=lambda found: int(found.id[1:]),
    )
}
"""By name, in the order of their numbers."""


def _about(subject: RuleSubject) -> tuple[Rule, ...]:
    return tuple(rule for rule in RULES.values() if rule.subject in (subject, "log"))


_OF_PARTITION, _OF_BROKER, _OF_LOG = _about("partition"), _about("broker"), _about("log")


def findings_of(event: LogEvent, thresholds: Thresholds = USUAL) -> Iterator[Finding]:
    """What the rules find in one event. Those of one rule and one `event` are told as one."""
    if event.partition is not None:
        rules = _OF_PARTITION
    else:
        rules = _OF_LOG if event.life is None else _OF_BROKER
    for rule in rules:
        yield from rule(event, thresholds)


def findings_at_end(
    cluster: ClusterState,
    partitions: Iterable[PartitionState],
    last: Moment,
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
            event = first.setdefault((rule.name, finding.time), finding.event)
            yield msgspec.structs.replace(finding, event=event)
