"""Elections that a later loss may go back to."""

from collections.abc import Iterator

from ...protocol.guards import GUARDS
from ..states import NO_LEADER, ClusterState
from .finding import Finding
from .finding_words import and_words, first_release, joined_as, numbers, prevented_by, process
from .rule import Change, change_rule


def is_unclean(change: Change) -> bool:
    """Whether the record elects outside the ISR and the ELR, or begins a recovery (KIP-704)."""
    if change.elected == NO_LEADER:
        return False
    recovers = change.event.record.fields.get("leaderRecoveryState") == 1
    return recovers or change.elected not in (*change.before.isr, *change.before.elr)


def is_other_process(change: Change) -> bool:
    """Whether the elected broker was in sync, or eligible, as an earlier process."""
    broker, cluster = change.elected, change.event.cluster
    joined, present = change.before.joined.get(broker), cluster.lives.get(broker)
    if joined is None or present is None or is_unclean(change):
        return False
    # Up to 3.8 a process that registers again has a new epoch and the same incarnation id.
    earlier = process(cluster, broker, joined.broker_epoch)
    return joined.broker_epoch != present.epoch and (
        earlier is None or earlier.incarnation != present.incarnation
    )


@change_rule("F1", "occasion")
def other_life(change: Change) -> Iterator[Finding]:
    """A clean election of a broker that had been in sync as an earlier incarnation."""
    if not is_other_process(change):
        return
    broker, cluster = change.elected, change.event.cluster
    joined, present = change.before.joined[broker], cluster.lives[broker]
    by_elr = cluster.has_elr and broker in change.before.elr
    why = "and the controller held its stop for clean." if by_elr else "whose disk nobody checked."
    since = f"(since {joined.at.offset})" if joined.exact else "or earlier"
    earlier = process(cluster, broker, joined.broker_epoch)
    if earlier and earlier.shutting_down_since:
        why += " The process before had asked for a controlled shutdown."
    yield other_life.finding(
        change.event,
        f"{broker} was elected cleanly at {change.offset}; it had been in sync as broker epoch "
        f"{joined.broker_epoch} {since} and was registered as epoch {present.epoch} "
        f"(at {present.registered.offset}): another process, {why}",
        kind="note" if by_elr else "occasion",
        lives=((broker, joined.broker_epoch), (broker, present.epoch)),
        cannot_say=f"what the disk of {broker} held: no record of metadata mentions a message",
        **prevented_by(*["966.elr-unclean-shutdown"] * (not by_elr)),
    )


@change_rule("F3", "occasion")
def unclean(change: Change) -> Iterator[Finding]:
    """An election of a broker that was in neither the ISR nor the ELR, or with recovery."""
    yield from _back_in_sync(change)
    broker, before = change.elected, change.before
    if not is_unclean(change) or is_last_leader(change):
        return
    members = [b for b in dict.fromkeys((*before.isr, *before.elr)) if b != broker]
    eligible = f" and the eligible leader replicas {list(before.elr)}" if before.elr else ""
    said = f"{broker} was elected uncleanly at {change.offset}; the ISR was {list(before.isr)}"
    said = f"{said}{eligible}. {_whose_doing(change)}"
    if members:
        said += f" What {and_words(members)} alone had is truncated when it follows {broker}."
    yield unclean.finding(
        change.event,
        said,
        lives=joined_as(before, members),
        cannot_say=f"whether committed records were missing on {broker}",
    )


def _back_in_sync(change: Change) -> Iterator[Finding]:
    before, after = change.before, change.after
    back = [b for b in before.passed_over if b in after.isr and b not in before.isr]
    if back and change.elected == NO_LEADER:
        yield unclean.finding(
            change.event,
            f"{and_words(back)}, which an unclean election had passed over, joined the ISR again "
            f"at {change.offset}: what it alone had was truncated before.",
            kind="note",
            lives=joined_as(after, back),
            cannot_say="whether it had anything that the new leader did not have",
        )


def _whose_doing(change: Change) -> str:
    """By hand, by configuration, or that the log cannot tell."""
    cluster, first = change.event.cluster, first_release("kafka-12670.unclean-by-config")
    # Controllers register from 3.7 on. Before that the release of the brokers stands for theirs.
    known = [life.release for life in cluster.lives.values() if life.release]
    release = cluster.controller_release or min(known, key=numbers, default="")
    if release and numbers(release) < numbers(first):
        return f"By hand: controllers do it by themselves from {first} on, this is {release}."
    setting = _setting(cluster, change.before.topic)
    if setting == "false":
        return "By hand: unclean.leader.election.enable is false."
    by_hand = "by hand or " * ("unclean election" in change.event.handlers)
    if setting == "true":
        return f"{by_hand}by configuration: unclean.leader.election.enable is true.".capitalize()
    return (
        "By hand or by configuration, the log cannot tell: no record sets "
        "unclean.leader.election.enable, and a controller's own file is not in the log."
    )


def _setting(cluster: ClusterState, topic: str) -> str:
    name = "unclean.leader.election.enable"
    own = cluster.topic_settings.get(topic, {}).get(name)
    return (own or cluster.cluster_settings.get(name, "")).lower()


def is_last_leader(change: Change) -> bool:
    """Whether the record elects the last known leader, as both lists are empty (KIP-966).

    One record may strike off the last eligible leader replica and elect.
    """
    before, after = change.before, change.after
    is_last = not before.isr and after.leader in before.last_known and not after.elr
    return is_last and is_unclean(change)


@change_rule("F13", "occasion")
def last_leader(change: Change) -> Iterator[Finding]:
    """An unclean election of the last known leader: the ISR and the ELR are empty."""
    if not is_last_leader(change):
        return
    broker, before = change.elected, change.before
    said = f"{broker}, the last known leader, was elected uncleanly at {change.offset}: no "
    said += "eligible leader replica was left."
    struck = [b for b in before.elr if b != broker]
    if struck:
        said += f" {and_words(struck)} was the last one, and had not stopped cleanly."
    yield last_leader.finding(
        change.event,
        said,
        lives=joined_as(before, struck),
        cannot_say=f"whether committed records were missing on {broker}",
    )


@change_rule("F16", "sure")
def dead_leader(change: Change) -> Iterator[Finding]:
    """A leader that is fenced or not registered, or -1 as the last known leader."""
    before, broker = change.before, change.elected
    present = change.event.cluster.lives.get(broker)
    if present and (present.fenced or present.ended):
        state = "not registered" if present.ended else "fenced"
        yield dead_leader.finding(
            change.event,
            f"{broker} was made leader at {change.offset} while it was {state}.",
            lives=((broker, present.epoch),),
            **prevented_by(*["kafka-19522.live-last-leader"] * (broker in before.last_known)),
        )
    if NO_LEADER in change.after.last_known and NO_LEADER not in before.last_known:
        yield dead_leader.finding(
            change.event,
            f"The last known leader became -1 at {change.offset}: once the ISR and the ELR are "
            "empty, not even an unclean election by hand finds a leader.",
            **prevented_by("pr-20629.last-known-by-leader"),
        )


@change_rule("F19", "note")
def leader_epoch_without_leader_change(change: Change) -> Iterator[Finding]:
    """A new leader epoch under the same leader, with its reason."""
    before, after = change.before, change.after
    if after.leader != before.leader or after.leader_epoch == before.leader_epoch:
        return
    why, guards = "The log does not show why.", []
    if set(after.replicas) != set(before.replicas):
        why = "A reassignment that takes a replica away begins a new leader epoch."
    elif set(before.isr) - set(after.isr):
        guards = ["kafka-15021.shrink-keeps-epoch"]
        version = GUARDS[guards[0]].metadata_version
        why = f"Below metadata version {version} an ISR that shrinks begins a new leader epoch."
    yield leader_epoch_without_leader_change.finding(
        change.event,
        f"Leader epoch {after.leader_epoch} begins at {change.offset} and {after.leader} stays "
        f"leader. {why}",
        **prevented_by(*guards),
    )
