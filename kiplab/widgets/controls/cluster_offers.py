"""What can be done with controller, ZooKeeper, time, partitions, messages, clients: as offers."""

from msgspec.structs import replace

from ...engine import moves
from ...engine.cluster import Cluster, Message, MessageName
from ...engine.consumers import consumer_of
from ...engine.impossible_moves import why_not
from ...engine.nodes import has_zookeeper
from ...engine.truth import partition_of
from ...plays.play import Statement
from ...plays.stage import Stage
from ...plays.values import DEFAULT_CONSUMER
from ...protocol.clients.consumer import Reset
from ...protocol.ids import CONTROLLER, NO_LEADER, ZOOKEEPER, BrokerId, broker_list, node_name
from ...protocol.registrations import PartitionRegistration, topic_of
from ...protocol.replica.broker_state import Broker
from .broker_offers import Offer, link_offer, offer_of, tried


def about_controller(cluster: Cluster) -> tuple[Offer, ...]:
    """What can happen to the controller."""
    return (offer_of(cluster, moves.FailOver(), "Fail over"),)


def about_zookeeper(cluster: Cluster) -> tuple[Offer, ...]:
    """What an operator does in ZooKeeper, and what can happen to sessions and links with it."""
    names = {node.id: node_name(node.id) for node in cluster.brokers}
    advice = "ZooKeeper ends its session, and what was ephemeral in it is gone"
    ends = (
        offer_of(cluster, moves.ExpireSession(id), f"Expire {name}", advice)
        for id, name in names.items()
    )
    links = (link_offer(cluster, ZOOKEEPER, id, name) for id, name in names.items())
    return (*about_controller(cluster), *ends, *links)


def about_time(stage: Stage) -> tuple[Offer, ...]:
    """How long to wait, in a run with a clock; nothing in one without."""
    if not stage.cluster.timed:
        return ()
    advice = "Time passes; whatever falls due on the way is done"
    spans = (("0.5 s", "500ms"), ("2 s", "2s"), ("9 s", "9s"))
    return tuple(
        tried(stage, Statement("advance", (span,)), None, f"Wait {words}", advice)
        for words, span in spans
    )


# --- partitions -----------------------------------------------------------------------------------


def about_partition(cluster: Cluster, name: str) -> tuple[Offer, ...]:
    """Elections of one partition that an operator can ask for."""
    return (
        offer_of(cluster, moves.Elect(name), "Elect preferred"),
        offer_of(cluster, moves.Elect(name, unclean=True), "Elect unclean"),
    )


def more_about_partition(cluster: Cluster, name: str) -> tuple[Offer, ...]:
    """What else can be done with a partition."""
    reason = why_not(cluster, moves.FinishLeaderRecovery(name, _leader(cluster, name)))
    advice = "The leader is done recovering from an unclean election, and says so (KIP-704)"
    return (
        Offer("Finish recovery", Statement("finish-recovery", (name,)), reason, advice),
        _setting(cluster, name),
    )


def delete_records(cluster: Cluster, name: str) -> Offer:
    """Have the leader delete everything that is committed."""
    reason = why_not(cluster, moves.DeleteRecords(name, _leader(cluster, name)))
    advice = "An admin client has the leader delete all committed records"
    return Offer("Delete records", Statement("delete-records", (name,)), reason, advice)


def _leader(cluster: Cluster, name: str) -> BrokerId:
    state = partition_of(cluster, name)
    return NO_LEADER if state is None else state.leader


def _setting(cluster: Cluster, name: str) -> Offer:
    """The other value of unclean.leader.election.enable of its topic."""
    state = partition_of(cluster, name)
    on = state is None or not state.unclean_leader_election
    label = f"unclean.leader.election.enable={'true' if on else 'false'}"
    return offer_of(cluster, moves.Configure(topic_of(name), on), label, _who_reads(cluster))


def _who_reads(cluster: Cluster) -> str:
    """When a controller makes use of unclean.leader.election.enable."""
    if has_zookeeper(cluster):
        return "The controller elects at once where it is turned on, and reads it at each election"
    if "kafka-12670.unclean-by-config" in cluster.features.active(CONTROLLER):
        return "The controller reads it when it elects next, within 300 s"
    return "A controller of this release does not read it (KAFKA-12670)"


def leads(state: PartitionRegistration) -> str:
    """A partition in a few words: ``"leader 1, ISR {1, 2}"``."""
    leader = f"leader {state.leader}" if state.leader >= 0 else "no leader"
    return f"{leader}, ISR {broker_list(state.isr)}"


# --- messages -------------------------------------------------------------------------------------


def about_message(cluster: Cluster, message: Message) -> tuple[Offer, ...]:
    """Deliver it or drop it; send it again, time it out, lose its reply."""
    name = message.name
    found = (offer_of(cluster, family(name), label) for label, family in _FATES.items())
    return tuple(replace(one, line=in_short(cluster, one.line, name)) for one in found)


_FATES: dict[str, type[moves.AboutMessage]] = {
    "Deliver": moves.Deliver,
    "Drop": moves.Drop,
    "Duplicate": moves.Duplicate,
    "Time out": moves.TimeOut,
    "Lose reply": moves.LoseReply,
}


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
    reason: str | None = f"{name} has no leader"
    if leader != NO_LEADER:
        reason = why_not(cluster, moves.Produce(name, leader, count, acks != "1"))
    return Offer("Produce", line, reason, "A producer writes to the broker that it takes to lead")


def sends_again(cluster: Cluster, partition: str) -> tuple[Offer, ...]:
    """One for each producer that keeps something for a partition."""
    waiting = (p.name for p in cluster.producers if p.partition == partition and p.batches)
    return tuple(
        offer_of(cluster, moves.Resend(name), f"{name} sends again", "It asks who leads first")
        for name in waiting
    )


def about_producer(
    cluster: Cluster, who: str, name: str, count: int, acks: str
) -> tuple[Offer, ...]:
    """What a producer can do with a partition; it keeps what nobody has acknowledged."""
    writes = moves.ProduceAs(name, who, count, acks != "1")
    return offer_of(cluster, writes, "Send"), offer_of(cluster, moves.Resend(who), "Send again")


def about_consumer(cluster: Cluster, name: str, partition: str) -> tuple[Offer, ...]:
    """What a consumer can do with a partition."""
    return (
        offer_of(cluster, moves.Poll(partition, name), "Poll"),
        offer_of(cluster, moves.RefreshMetadata(name), "Refresh metadata"),
        *(
            offer_of(cluster, moves.ResetOffset(partition, to, name), f"Reset to {to.value}")
            for to in (Reset.EARLIEST, Reset.LATEST)
        ),
    )


def believes_to_lead(cluster: Cluster, name: str) -> tuple[BrokerId, ...]:
    """The brokers that would take a write for a partition: more than one after a takeover."""
    return tuple(node.id for node in cluster.brokers if _leads(node, name))


def _leads(node: Broker, name: str) -> bool:
    replicas = node.process.replicas if node.process is not None else ()
    return any(r.partition == name and r.leading is not None for r in replicas)


def consumers(cluster: Cluster) -> tuple[str, ...]:
    """Everybody who reads, and who would be the first."""
    return tuple(dict.fromkeys((*(c.name for c in cluster.consumers), DEFAULT_CONSUMER)))


def producers(cluster: Cluster) -> tuple[str, ...]:
    """Everybody who writes under a name, and who would be the first."""
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
