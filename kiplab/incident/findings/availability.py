"""What lasted too long: no leader, too small an ISR, a recovery that nothing ended."""

from collections.abc import Iterator

from ..log_items import OffsetAndTime
from ..states import ClusterState, PartitionState
from .finding import Finding
from .finding_words import joined_as, lasted, process
from .leader_changes import is_held_clean, is_other_process, is_unclean
from .rule import LEADER, EndOfLog, LoggedChange, change_rule, ended, lasting_rule, open_since

RECOVERING_MS = 10 * 60_000
"""A leader asks for a change of the ISR as soon as a follower has caught up, which ends it: ten
minutes is the time of a large log."""
BELOW_MS = 60_000
"""A broker restarts within a minute, and then producers with acks=all go on."""


@lasting_rule("F6", "sure", "leaderless_since", lambda asked, _: asked.leaderless_ms)
def leaderless(state: PartitionState, _: ClusterState) -> str:
    """A partition without a leader for longer than the limit."""
    eligible = f" and the eligible leader replicas {list(state.elr)}" if state.elr else ""
    return f"No leader {{}}; the ISR was {list(state.isr)}{eligible}."


@lasting_rule("F7", "sure", "below_since", lambda *_: BELOW_MS)
def below_min_isr(state: PartitionState, cluster: ClusterState) -> str:
    """An ISR smaller than min.insync.replicas for longer than a minute."""
    size = cluster.min_insync_replicas(state.topic)
    needed = "1, assumed: no record sets it" if size is None else size
    return f"The ISR {list(state.isr)} was smaller than min.insync.replicas ({needed}) {{}}."


@lasting_rule("F5", "sure", "recovering_since", lambda _, is_open: -1 if is_open else RECOVERING_MS)
def recovering_left(state: PartitionState, _: ClusterState) -> str:
    """A partition that is RECOVERING at the end of the log, or for longer than ten minutes."""
    if len(state.replicas) == 1:
        return "RECOVERING {}. It has one replica, and only a change of the ISR ends that."
    return "RECOVERING {}. The next change of the ISR that the leader asks for ends it."


def _still_gone(end: EndOfLog) -> Iterator[Finding]:
    for state, since in open_since(end, "leaderless_since"):
        if _is_gone(state) and since != end.first:
            said = f"{_gone_words(state, end.cluster, since)} Nobody leads at the end."
            who = {"incarnations": joined_as(state, (*state.isr, *state.elr))}
            yield alone_then_gone.open_finding(since, said, partitions=(state.name,), **who)


@change_rule("F2", "note", LEADER, at_end=_still_gone)
def alone_then_gone(change: LoggedChange) -> Iterator[Finding]:
    """An ISR of one whose only member is then fenced or stops, so that nobody leads."""
    event, was, broker = change.event, change.before, change.elected
    since = ended(event, "leaderless_since")
    if since is None or not _is_gone(was):
        return
    present = event.cluster.incarnations.get(broker)
    as_epoch = f", as epoch {present.epoch}," if present else ""
    said = f"{_gone_words(was, event.cluster, since)} Broker {broker}{as_epoch}"
    unchecked = is_other_process(change) and not is_held_clean(change)
    yield alone_then_gone.finding(
        event,
        f"{said} leads from {change.offset} on; nobody led {lasted(since, event.record.moment)}.",
        since,
        kind="occasion" if unchecked or is_unclean(change) else "note",
        incarnations=joined_as(was, (*was.isr, *was.elr)),
        cannot_say="whether anything was written while there was one member",
    )


def _is_gone(state: PartitionState) -> bool:
    """With eligible leader replicas the last member leaves the ISR too (KIP-966)."""
    return len(state.isr) < 2 <= len(state.replicas)


def _gone_words(state: PartitionState, cluster: ClusterState, at: OffsetAndTime) -> str:
    if not state.isr:
        # A record may have taken members off the ELR since.
        eligible = f"the eligible leader replicas were {list(state.elr)}" if state.elr else ""
        end = eligible or "no replica was eligible"
        wiped = state.eligible_until
        end += f", and until {wiped[1]} {list(wiped[0])}" if wiped else ""
        return f"The ISR became empty at {at.offset}; in the end {end}."
    (last,) = state.isr
    since = f" since {state.alone_since.offset}" if state.alone_since else ""
    was = process(cluster, last, state.joined[last].broker_epoch) if state.joined else None
    # Neither where its log directory went offline (KIP-858): the process goes on then.
    stop, fence = (was.shutting_down_since, was.changed) if was else (None, None)
    how = "was fenced" if fence and fence.offset > at.offset else "went"
    how = "was shut down" if stop and stop.offset <= at.offset else how
    return f"Broker {last} was alone in the ISR{since} and {how} at {at.offset}."
