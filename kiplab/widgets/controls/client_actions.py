"""What clients can do: a producer writes, a consumer reads on, asks who leads, goes elsewhere."""

from ...engine import moves
from ...engine.cluster import Cluster
from ...engine.consumers import consumer_of
from ...engine.impossible_moves import why_not
from ...engine.truth import partition_of
from ...plays.play import Statement
from ...plays.values import DEFAULT_CONSUMER
from ...protocol.clients.consumer import Reset
from ...protocol.ids import NO_LEADER, BrokerId, node_name
from ...protocol.replica.broker_state import Broker
from .choices import Choice, choice_of


def produce(
    cluster: Cluster, name: str, count: int, acks: str, to: BrokerId | None = None
) -> Choice:
    """Write `count` records; `acks` is "all" or "1", `to` another broker than the leader."""
    state = partition_of(cluster, name)
    leader = NO_LEADER if state is None else state.leader
    args = [("count", str(count)), *([] if to is None else [("to", str(to))])]
    line = Statement("produce", (name,), (*args, *([("acks", "1")] if acks == "1" else [])))
    believed = leader if to is None else to
    reason: str | None = f"{name} has no leader"
    if believed != NO_LEADER:
        reason = why_not(cluster, moves.Produce(name, believed, count, acks != "1"))
    return Choice("Produce", line, reason, "A producer writes to the broker that it takes to lead")


def delete_records(cluster: Cluster, name: str) -> Choice:
    """Have the leader delete everything that is committed."""
    state = partition_of(cluster, name)
    leader = NO_LEADER if state is None else state.leader
    reason = why_not(cluster, moves.DeleteRecords(name, leader))
    told = "An admin client has the leader delete all committed records"
    return Choice("Delete records", Statement("delete-records", (name,)), reason, told)


def sends_again(cluster: Cluster, partition: str) -> tuple[Choice, ...]:
    """One for each producer that keeps something for a partition."""
    waiting = (p.name for p in cluster.producers if p.partition == partition and p.batches)
    return tuple(
        choice_of(cluster, moves.Resend(name), f"{name} sends again", "It asks who leads first")
        for name in waiting
    )


def about_producer(
    cluster: Cluster, who: str, name: str, count: int, acks: str
) -> tuple[Choice, ...]:
    """What a producer can do with a partition; it keeps what nobody has acknowledged."""
    writes = moves.ProduceAs(name, who, count, acks != "1")
    said = "It sends the records to whom it takes for the leader, and keeps them until it is told"
    again = "It asks who leads where that is in doubt, and sends what is not acknowledged"
    return (
        choice_of(cluster, writes, "Send", said),
        choice_of(cluster, moves.Resend(who), "Send again", again),
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


def about_consumer(cluster: Cluster, name: str, partition: str) -> tuple[Choice, ...]:
    """What a consumer can do with a partition."""
    earliest = moves.ResetOffset(partition, Reset.EARLIEST, name)
    latest = moves.ResetOffset(partition, Reset.LATEST, name)
    refresh = moves.RefreshMetadata(name)
    return (
        choice_of(cluster, moves.Poll(partition, name), "Poll", "It reads on from where it is"),
        choice_of(cluster, refresh, "Refresh metadata", "It asks a broker who leads"),
        choice_of(cluster, earliest, "Reset to earliest", "It goes to the beginning"),
        choice_of(cluster, latest, "Reset to latest", "It goes to the end"),
    )


def reading(cluster: Cluster, name: str, partition: str) -> str:
    """Where a consumer is: ``"next offset 5, from broker 1"``."""
    found = consumer_of(cluster, name, partition)
    if found is None:
        return "has read nothing yet"
    whom = f"from {node_name(found.reads_from)}" if found.leader >= 0 else "knows no leader"
    doubt = ", its position is in doubt" if found.validating else ""
    asks = ", it asks who leads first" if found.update_requested else ""
    return f"next offset {found.position}, {whom}{doubt}{asks}"
