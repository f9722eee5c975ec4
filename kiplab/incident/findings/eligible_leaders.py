"""Eligible leader replicas that were lost (KIP-966), and with them a clean election."""

from collections.abc import Iterator

from ..states import NO_LEADER
from .finding import Finding
from .finding_words import first_release, is_before, joined_as, prevented_by
from .leader_changes import LACKS, is_last_leader
from .rule import ELR, LEADER, LoggedChange, change_rule

DIRECTORIES_KEEP_ELR = "pr-20716.dirs-keep-elr"
STRIKES_OFF = {"registration", "unregistration"}
"""The rule at work: the process before had not stopped cleanly, or the broker is gone."""


def is_cleared_by_change(change: LoggedChange) -> bool:
    """Whether a change empties the ELR and says nothing of the ISR or the leader."""
    record, handlers = change.event.record, change.event.handlers
    if record.type != "PARTITION_CHANGE_RECORD" or not change.before.elr or change.after.elr:
        return False
    if record.fields.keys() & {"isr", "leader", "replicas"}:
        return False
    return "directories" in record.fields or not STRIKES_OFF.intersection(handlers)


@change_rule("F14", "sure", ELR)
def elr_cleared_leaderless(change: LoggedChange) -> Iterator[Finding]:
    """Eligible leader replicas that were cleared while the partition had no leader."""
    before, has_elr = change.before, change.event.cluster.has_elr
    if before.leader != NO_LEADER or change.elected != NO_LEADER or before.isr:
        return
    if is_cleared_by_change(change):
        why = "as a broker reported directories" if has_elr else "as the feature is switched off"
    elif change.event.record.type == "CLEAR_ELR_RECORD" and (before.elr or before.last_known):
        why = "as min.insync.replicas was set"
    else:
        return
    eligible = f"the eligible leader replicas {list(before.elr)}"
    who = eligible if before.elr else "the last known leader"
    said = f"The controller forgot {who} at {change.offset}, {why}, while there was no leader: "
    said += "from then on nobody can be elected " + ("cleanly." if before.elr else "as that one.")
    incarnations = joined_as(before, before.elr)
    yield elr_cleared_leaderless.finding(change.event, said, incarnations=incarnations)


@change_rule("F15", "sure", ELR)
def elr_wiped_by_directories(change: LoggedChange) -> Iterator[Finding]:
    """Eligible leader replicas that were lost as a broker reported its directories (up to 4.2)."""
    elr, cluster = change.before.elr, change.event.cluster
    release, first = cluster.controller_release, first_release(DIRECTORIES_KEEP_ELR)
    # Without the feature any change empties it.
    wipes = cluster.has_elr and (not release or is_before(release, first))
    # Without a leader it is graver: F14.
    if wipes and change.before.leader != NO_LEADER and is_cleared_by_change(change):
        said = f"The eligible leader replicas were {list(elr)} until {change.offset}, where a "
        said += "broker reported the directories of its replicas and the controller emptied the "
        said += f"list. From {first} on it keeps it."
        better, were = prevented_by(DIRECTORIES_KEEP_ELR), joined_as(change.before, elr)
        yield elr_wiped_by_directories.finding(change.event, said, incarnations=were, **better)


@change_rule("F13", "occasion", LEADER)
def last_leader(change: LoggedChange) -> Iterator[Finding]:
    """An unclean election of the last known leader: the ISR and the ELR are empty."""
    broker, before = change.elected, change.before
    if not is_last_leader(change):
        return
    said = f"Broker {broker}, the last known leader, was elected uncleanly at {change.offset}: no "
    said += "eligible leader replica was left."
    struck = [b for b in before.elr if b != broker]
    if struck:
        said += f" Broker {struck[0]} was the last one, and had not stopped cleanly."
    cannot_say, incarnations = LACKS.format(broker), joined_as(before, struck)
    yield last_leader.finding(change.event, said, incarnations=incarnations, cannot_say=cannot_say)
