"""What can be done with controller, ZooKeeper, time, partitions, messages, clients: as offers."""

from msgspec.structs import astuple, replace

from ...engine import moves
from ...engine.cluster import Cluster, Message, MessageName
from ...engine.consumers import consumer_of
from ...engine.impossible_moves import why_not
from ...engine.nodes import has_zookeeper
from ...engine.truth import partition_of
from ...plays.play import Statement
from ...plays.stage import Pattern, Stage
from ...plays.values import DEFAULT_CONSUMER, node_word
from ...protocol.clients.consumer import Reset
from ...protocol.ids import CONTROLLER, NO_LEADER, ZOOKEEPER, BrokerId, node_name
from ...protocol.registrations import topic_of
from ...protocol.replica.broker_state import replica_of
from .broker_offers import Offer, link_offer, offer_of, tried


def about_controller(cluster: Cluster) -> tuple[Offer, ...]:
    return (offer_of(cluster, moves.FailOver()),)


def about_zookeeper(cluster: Cluster) -> tuple[Offer, ...]:
    """What an operator does in ZooKeeper, and what can happen to sessions and links with it."""
    names = {node.id: node_name(node.id) for node in cluster.brokers}
    more = "ZooKeeper ends its session and deletes its ephemeral znodes"
    sessions = ((moves.ExpireSession(id), f"Expire {name}") for id, name in names.items())
    ends = (offer_of(cluster, end, label, more) for end, label in sessions)
    links = (link_offer(cluster, ZOOKEEPER, id, name) for id, name in names.items())
    return (*about_controller(cluster), *ends, *links)


WAITS_MS = (500, 2_000, 9_000)


def about_time(stage: Stage) -> tuple[Offer, ...]:
    """How long to wait, in a run with a clock; nothing in one without."""
    advice = "Time passes; everything that falls due is done"
    spans = {ms: f"{ms}ms" if ms % 1_000 else f"{ms // 1_000}s" for ms in WAITS_MS}
    return tuple(
        tried(stage, Statement("advance", (span,)), moves.Offered(f"Wait {ms / 1_000:g} s", advice))
        for ms, span in spans.items()
        if stage.cluster.timed
    )


# --- partitions -----------------------------------------------------------------------------------


def about_partition(cluster: Cluster, name: str) -> tuple[Offer, ...]:
    return tuple(offer_of(cluster, moves.Elect(name, unclean)) for unclean in (False, True))


def more_about_partition(cluster: Cluster, name: str) -> tuple[Offer, ...]:
    """The end of a recovery; the other value of unclean.leader.election.enable of its topic."""
    state = partition_of(cluster, name)
    on = state is None or not state.unclean_leader_election
    label = f"unclean.leader.election.enable={'true' if on else 'false'}"
    setting = offer_of(cluster, moves.Configure(topic_of(name), on), label, _who_reads(cluster))
    return (_by_leader(cluster, moves.FinishLeaderRecovery, name), setting)


def delete_records(cluster: Cluster, name: str) -> Offer:
    """Have the leader delete everything that is committed."""
    return _by_leader(cluster, moves.DeleteRecords, name)


def _by_leader(
    cluster: Cluster, kind: type[moves.FinishLeaderRecovery | moves.DeleteRecords], name: str
) -> Offer:
    """What the leader of a partition does: its line needs not say who that is."""
    offer = offer_of(cluster, kind(name, _leader(cluster, name)))
    return replace(offer, line=replace(offer.line, args=()))


def _leader(cluster: Cluster, name: str) -> BrokerId:
    state = partition_of(cluster, name)
    return NO_LEADER if state is None else state.leader


def _who_reads(cluster: Cluster) -> str:
    """When a controller makes use of unclean.leader.election.enable."""
    if has_zookeeper(cluster):
        return "The controller elects at once when it is turned on, and reads it at each election"
    if "kafka-12670.unclean-by-config" in cluster.features.active(CONTROLLER):
        return "The controller reads it at its next election, within 300 s"
    return "A controller of this release does not read it (KAFKA-12670)"


# --- messages -------------------------------------------------------------------------------------


def about_message(cluster: Cluster, message: Message) -> tuple[Offer, ...]:
    """Deliver it or drop it; send it again, time it out, lose its reply."""
    name = message.name
    fates = (moves.Deliver, moves.Drop, moves.Duplicate, moves.TimeOut, moves.LoseReply)
    offers = (offer_of(cluster, fate(name)) for fate in fates)
    return tuple(replace(offer, line=in_short(cluster, offer.line, name)) for offer in offers)


def in_short(cluster: Cluster, line: Statement, message: MessageName) -> Statement:
    """A line speaks of the oldest message that it fits: kind and sender are mostly enough."""
    kind, sender = message.kind, message.sender
    alike = (m.name for m in cluster.messages if (m.name.kind, m.name.sender) == (kind, sender))
    return line if next(alike, None) != message else replace(line, args=line.args[:1])


def route(message: Message) -> str:
    """``"broker 1 → controller"``."""
    return f"{node_name(message.name.sender)} → {node_name(message.receiver)}"


# --- clients --------------------------------------------------------------------------------------


def produce(
    cluster: Cluster, name: str, count: int, acks: str, to: BrokerId | None = None
) -> Offer:
    """Write `count` records; `acks` is "all" or "1", `to` another broker than the leader."""
    leader = _leader(cluster, name) if to is None else to
    args = [("count", str(count)), *([] if to is None else [("to", str(to))])]
    line = Statement("produce", (name,), (*args, *([("acks", "1")] if acks == "1" else [])))
    move = moves.Produce(name, leader, count, acks != "1")
    reason = f"{name} has no leader" if leader == NO_LEADER else why_not(cluster, move)
    return Offer(move.offered.label, line, reason, move.offered.advice)


def sends_again(cluster: Cluster, partition: str) -> tuple[Offer, ...]:
    """One for each producer that keeps something for a partition."""
    return tuple(
        offer_of(cluster, moves.Resend(p.name), f"{p.name} sends again", "It asks who leads first")
        for p in cluster.producers
        if p.partition == partition and p.batches
    )


def about_producer(
    cluster: Cluster, who: str, name: str, count: int, acks: str
) -> tuple[Offer, ...]:
    """What a producer can do with a partition; it keeps batches until they are acknowledged."""
    writes = moves.ProduceAs(name, who, count, acks != "1")
    return offer_of(cluster, writes), offer_of(cluster, moves.Resend(who))


def about_consumer(cluster: Cluster, name: str, partition: str) -> tuple[Offer, ...]:
    reads: tuple[moves.Move, ...] = (moves.Poll(partition, name), moves.RefreshMetadata(name))
    resets = (moves.ResetOffset(partition, to, name) for to in (Reset.EARLIEST, Reset.LATEST))
    return tuple(offer_of(cluster, move) for move in (*reads, *resets))


def believes_to_lead(cluster: Cluster, name: str) -> tuple[BrokerId, ...]:
    """The brokers that would take a write for a partition: more than one after a takeover."""
    replicas = {node.id: replica_of(node, name) for node in cluster.brokers}
    return tuple(id for id, played in replicas.items() if played and played.leading is not None)


def consumers(cluster: Cluster) -> tuple[str, ...]:
    """All consumers, or the name that the first one would have."""
    return tuple(dict.fromkeys((*(c.name for c in cluster.consumers), DEFAULT_CONSUMER)))


def producers(cluster: Cluster) -> tuple[str, ...]:
    """All producers with a name, or the name that the first one would have."""
    return tuple(dict.fromkeys((*(p.name for p in cluster.producers), "producer")))


def reading(cluster: Cluster, name: str, partition: str) -> str:
    """Where a consumer is: ``"next offset 5, from broker 1"``."""
    consumer = consumer_of(cluster, name, partition)
    if consumer is None:
        return "has read nothing yet"
    whom = f"from {node_name(consumer.reads_from)}" if consumer.leader >= 0 else "knows no leader"
    doubt = ", its position is in doubt" if consumer.validating else ""
    asks = ", it asks who leads first" if consumer.update_requested else ""
    return f"next offset {consumer.position}, {whom}{doubt}{asks}"


# --- holding back ---------------------------------------------------------------------------------


def hold(stage: Stage, kind: str, sender: BrokerId | None) -> Offer:
    asked, standing = Pattern(kind, sender), standing_holds(stage)
    overlapping = [kept for pattern, kept in standing if _overlap(pattern, asked)]
    covered = any(kept and _covers(pattern, asked) for pattern, kept in standing)
    reason = None
    if stage.manual:
        reason = "in this play every message waits until it is delivered"
    elif covered and all(overlapping):
        reason = "it is held back already"
    return Offer("Hold back", _line("hold", kind, sender), reason, "What is sent from now on waits")


def let_flow(stage: Stage, kind: str, sender: BrokerId | None) -> Offer:
    """Stop holding messages back: waiting ones arrive, and new ones are delivered at once."""
    asked = Pattern(kind, sender)
    held = any(kept and _overlap(pattern, asked) for pattern, kept in standing_holds(stage))
    kept_back = (m for m in stage.cluster.messages if m.name in stage.held_messages)
    waiting = any(asked.fits(m.name, m.receiver) for m in kept_back)
    reason = None if held or waiting else "nothing of that kind is held back"
    advice = "Waiting messages arrive, and nothing is held back from now on"
    return Offer("Let it flow", _line("release", kind, sender), reason, advice)


def standing_holds(stage: Stage) -> tuple[tuple[Pattern, bool], ...]:
    """What `hold` (True) and `release` (False) said, without what a later line took back."""
    standing: list[tuple[Pattern, bool]] = []
    for pattern, kept in stage.holds:
        standing = [(p, k) for p, k in standing if not _covers(pattern, p)]
        if kept or any(_overlap(pattern, p) for p, _ in standing):
            standing.append((pattern, kept))
    return tuple(standing)


def holds_in_words(stage: Stage) -> str:
    """``"Held back from now on: fetch, but not fetch from broker 2"``; empty for nothing."""
    patterns = [("" if kept else "but not ") + _words(p) for p, kept in standing_holds(stage)]
    return f"Held back from now on: {', '.join(patterns)}." if patterns else ""


def _line(verb: str, kind: str, sender: BrokerId | None) -> Statement:
    return Statement(verb, (kind,), () if sender is None else (("from", node_word(sender)),))


def _words(pattern: Pattern) -> str:
    sender = "" if pattern.sender is None else f" from {node_name(pattern.sender)}"
    receiver = "" if pattern.receiver is None else f" to {node_name(pattern.receiver)}"
    exact = "" if pattern.ordinal is None else f" #{pattern.ordinal}"
    return f"{pattern.kind}{exact}{sender}{receiver}"


def _covers(wide: Pattern, narrow: Pattern) -> bool:
    """Whether everything that `narrow` fits, `wide` fits too."""
    return all(w in (None, n) for w, n in zip(astuple(wide), astuple(narrow), strict=True))


def _overlap(one: Pattern, other: Pattern) -> bool:
    pairs = zip(astuple(one), astuple(other), strict=True)
    return all(None in (a, b) or a == b for a, b in pairs)
