"""Eligible leader replicas that were lost (KIP-966), and with them the way to a clean election."""

from collections.abc import Iterator

from ..states import NO_LEADER
from .finding import Finding
from .finding_words import and_words, joined_as
from .rule import Change, change_rule

CHANGE = "PARTITION_CHANGE_RECORD"
KEEPS_ELR = "4.3"
"""AssignReplicasToDirs keeps the ELR from here on: pull request 20716, which kiplab has no guard
for."""


def is_cleared_by_change(change: Change) -> bool:
    """Whether a change empties the ELR and says nothing of the ISR or the leader.

    What a registration strikes off is the rule at work: the process before had not stopped cleanly.
    """
    record = change.event.record
    if record.type != CHANGE or not change.before.elr or change.after.elr:
        return False
    if "isr" in record.fields or "leader" in record.fields:
        return False
    return "directories" in record.fields or "registration" not in change.event.handlers


@change_rule("F14", "sure")
def elr_cleared_leaderless(change: Change) -> Iterator[Finding]:
    """Eligible leader replicas that were cleared while the partition had no leader."""
    before = change.before
    if before.leader != NO_LEADER or change.elected != NO_LEADER:
        return
    if change.event.record.type == "CLEAR_ELR_RECORD" and (before.elr or before.last_known):
        why = "as min.insync.replicas was set"
    elif not is_cleared_by_change(change):
        return
    else:
        has_elr = change.event.cluster.has_elr
        why = f"as {'a broker reported directories' if has_elr else 'the feature was switched off'}"
    who = f"the eligible leader replicas {list(before.elr)}" if before.elr else "the last leader"
    yield elr_cleared_leaderless.finding(
        change.event,
        f"The controller forgot {who} at {change.offset}, {why}, while there was no leader: from "
        "then on nobody can be elected cleanly.",
        lives=joined_as(before, before.elr),
    )


@change_rule("F15", "sure")
def elr_wiped_by_directories(change: Change) -> Iterator[Finding]:
    """Eligible leader replicas that were lost as a broker reported its directories (up to 4.2)."""
    before = change.before
    # Without a leader it is graver: F14.
    if before.leader != NO_LEADER and is_cleared_by_change(change):
        yield elr_wiped_by_directories.finding(
            change.event,
            f"{and_words(before.elr)} was eligible until {change.offset}, where a broker reported "
            "the directories of its replicas and the controller emptied the list. From "
            f"{KEEPS_ELR} on it keeps it.",
            lives=joined_as(before, before.elr),
            release=KEEPS_ELR,
        )
