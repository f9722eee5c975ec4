"""Elections that a later loss may go back to."""

from collections.abc import Iterator

from ...protocol.guards import GUARDS
from ...protocol.releases import METADATA_LEVEL
from ..log_items import UNKNOWN
from ..states import NO_LEADER
from .finding import Finding
from .finding_words import first_release, is_before, joined_as, prevented_by, process
from .rule import BACK, ELR, EPOCH, LEADER, LoggedChange, change_rule

UNCLEAN = "unclean.leader.election.enable"
BY_ITSELF = {"fenced", "controlled shutdown", "registration"}
"""Nobody asks for these elections: unclean.leader.election.enable is true, if only in a file."""
LACKS = "whether broker {} lacked committed records"


def is_unclean(change: LoggedChange) -> bool:
    """Whether the record elects uncleanly."""
    return change.before.elects_uncleanly(change.after)


def is_last_leader(change: LoggedChange) -> bool:
    """Whether it elects the last known leader uncleanly, as both lists are empty (KIP-966).

    One record may strike off the last eligible leader replica and elect.
    """
    before, after = change.before, change.after
    is_last = not before.isr and after.leader in before.last_known and not after.elr
    return is_last and is_unclean(change)


def is_other_process(change: LoggedChange) -> bool:
    """Whether it elects cleanly who was in sync, or eligible, as an earlier process."""
    broker, cluster = change.elected, change.event.cluster
    joined, present = change.before.joined.get(broker), cluster.incarnations.get(broker)
    if joined is None or present is None or is_unclean(change):
        return False
    if joined.broker_epoch == UNKNOWN:  # It had registered before the log begins.
        return present.registered.offset > joined.at.offset
    # Up to 3.8 a process that registers again has a new epoch and the same incarnation id.
    earlier = process(cluster, broker, joined.broker_epoch)
    same = earlier is not None and earlier.incarnation_id == present.incarnation_id
    return joined.broker_epoch != present.epoch and not same


def is_held_clean(change: LoggedChange) -> bool:
    """Whether the controller had judged its stop before: the other way off the ELR is a strike."""
    return change.event.cluster.has_elr and change.elected in change.before.elr


def lost_directories(change: LoggedChange) -> list[str]:
    """Log directories of the process that was in sync, which the elected one has not registered."""
    broker, cluster = change.elected, change.event.cluster
    earlier = process(cluster, broker, change.before.joined[broker].broker_epoch)
    present = cluster.incarnations[broker].directories
    return [one for one in (earlier.directories if earlier else ()) if one not in present]


@change_rule("F1", "occasion", LEADER)
def other_life(change: LoggedChange) -> Iterator[Finding]:
    """A clean election of a broker that had been in sync as an earlier incarnation."""
    if not is_other_process(change):
        return
    broker, cluster, lost = change.elected, change.event.cluster, lost_directories(change)
    held_clean, judged = is_held_clean(change), "the controller held its stop for clean"
    joined, present = change.before.joined[broker], cluster.incarnations[broker]
    why = f"and {judged}" if held_clean else "whose disk nobody checked"
    since = f"(since {joined.at.offset})" if joined.exact else "or earlier"
    was = f"broker epoch {joined.broker_epoch} {since}"
    if joined.broker_epoch == UNKNOWN:
        was = f"a process that registered before this log begins (since {joined.at.offset})"
    earlier = process(cluster, broker, joined.broker_epoch)
    stopped = earlier is not None and earlier.shutting_down_since is not None
    if stopped:
        why += ". The process before had asked for a controlled shutdown"
    # A rolling restart does this to each partition with one replica, and nobody else can lead it.
    is_usual = held_clean or (stopped and len(change.before.replicas) == 1)
    if lost:
        why += f". The log directory {', '.join(lost)} of the process before is gone"
    yield other_life.finding(
        change.event,
        f"Broker {broker} was elected cleanly at {change.offset}; it had been in sync as {was} and "
        f"was registered as epoch {present.epoch} (at {present.registered.offset}): "
        f"another process, {why}.",
        kind="note" if is_usual and not lost else "occasion",
        incarnations=(*joined_as(change.before, [broker]), (broker, present.epoch)),
        cannot_say=f"what the disk of broker {broker} held: no metadata record mentions a message",
        **({} if is_usual else prevented_by("966.elr-unclean-shutdown")),
    )


@change_rule("F3", "occasion", LEADER | BACK)
def unclean(change: LoggedChange) -> Iterator[Finding]:
    """An election of a broker that was in neither the ISR nor the ELR, or with recovery."""
    broker, before = change.elected, change.before
    back = [b for b in before.passed_over if b in change.after.isr and b not in before.isr]
    if back and broker == NO_LEADER:
        yield _back_in_sync(change, back)
    if not is_unclean(change) or is_last_leader(change):
        return
    members = [b for b in dict.fromkeys((*before.isr, *before.elr)) if b != broker]
    eligible = f" and the eligible leader replicas {list(before.elr)}" if before.elr else ""
    said = f"Broker {broker} was elected uncleanly at {change.offset}; the ISR was "
    said += f"{list(before.isr)}{eligible}. {_whose_doing(change)} A replica that follows it "
    said += f"truncates what broker {broker} does not have."
    cannot_say, incarnations = LACKS.format(broker), joined_as(before, members)
    yield unclean.finding(change.event, said, incarnations=incarnations, cannot_say=cannot_say)


def _back_in_sync(change: LoggedChange, back: list[int]) -> Finding:
    said = (
        f"Brokers {list(back)}, which an unclean election had passed over, joined the ISR again at "
    )
    said += f"{change.offset}: what the new leader did not have was truncated before that."
    cannot_say = "whether there was anything that the new leader did not have"
    who = joined_as(change.after, back)
    return unclean.finding(change.event, said, kind="note", incarnations=who, cannot_say=cannot_say)


def _whose_doing(change: LoggedChange) -> str:
    """By hand, by configuration, or that the log cannot tell."""
    cluster, first = change.event.cluster, first_release("kafka-12670.unclean-by-config")
    if BY_ITSELF.issuperset(change.event.handlers):
        return f"By configuration: {UNCLEAN} is true."
    if "reassignment" in change.event.handlers:
        return f"A reassignment was cancelled, and {UNCLEAN} is true."
    # Controllers register from 3.7 on. Before that the newest of the brokers stands for theirs.
    known = [one.release for one in cluster.incarnations.values() if one.release]
    release = cluster.controller_release or max(known, default="")
    if is_before(release, first):
        this = "this" if cluster.controller_release else "the newest broker"
        return f"By hand: a controller does it by itself from {first} on, and {this} is {release}."
    own = cluster.topic_settings.get(change.before.topic, {}).get(UNCLEAN)
    setting = (own or cluster.cluster_settings.get(UNCLEAN, "")).lower()
    if setting == "true" and "unfenced" in change.event.handlers:
        return f"By configuration: {UNCLEAN} is true."
    if setting:
        either = " or by configuration" * (setting == "true")
        return f"By hand{either}: {UNCLEAN} is {setting}."
    return f"By hand or by configuration, the log cannot tell: no record sets {UNCLEAN}."


@change_rule("F16", "sure", LEADER | ELR)
def dead_leader(change: LoggedChange) -> Iterator[Finding]:
    """A leader that is fenced or not registered, or -1 as the last known leader."""
    before, broker = change.before, change.elected
    present = change.event.cluster.incarnations.get(broker)
    if present and (present.fenced or present.ended):
        state = "not registered" if present.ended else "fenced"
        said = f"Broker {broker} was made leader at {change.offset} while it was {state}."
        better = ["kafka-19522.live-last-leader"] if broker in before.last_known else []
        more = prevented_by(*better) | {"incarnations": ((broker, present.epoch),)}
        yield dead_leader.finding(change.event, said, **more)
    if NO_LEADER in change.after.last_known and NO_LEADER not in before.last_known:
        said = f"The last known leader became -1 at {change.offset}: once the ISR and the ELR are "
        said += "empty, a controller of 4.0 finds no leader, not even by hand."
        better = ["pr-20629.last-known-by-leader"]
        yield dead_leader.finding(change.event, said, **prevented_by(*better))


@change_rule("F19", "note", EPOCH)
def leader_epoch_without_leader_change(change: LoggedChange) -> Iterator[Finding]:
    """A new leader epoch under the same leader, with its reason."""
    before, after = change.before, change.after
    why, guards = "The log does not show why.", []
    level = change.event.cluster.features.get("metadata.version", 0)
    if set(after.replicas) != set(before.replicas):
        why = "A reassignment that takes a replica away begins a new leader epoch."
    elif set(before.isr) - set(after.isr):
        guards = ["kafka-15021.shrink-keeps-epoch"]
        version = GUARDS[guards[0]].metadata_version or ""
        why = f"Below metadata version {version} an ISR that shrinks begins a new leader epoch."
        if level >= METADATA_LEVEL[version]:  # PartitionChangeBuilder, 3.6 to 3.9.
            why = "An ISR that shrinks begins one also while a cluster leaves ZooKeeper."
            guards = []
    said = f"Leader epoch {after.leader_epoch} begins at {change.offset} and broker {after.leader} "
    said += f"stays leader. {why}"
    yield leader_epoch_without_leader_change.finding(change.event, said, **prevented_by(*guards))
