"""Producers in the cluster: brokers in reach, answers due, retries."""

from collections.abc import Iterator

from ..protocol.clients import producer as client
from ..protocol.clients.producer import Producer
from ..protocol.facts import Appended, BatchQueued, ProducerInformed
from ..protocol.ids import NO_LEADER
from ..protocol.replica.broker_state import Broker
from . import consumers, moves, nodes
from .cluster import Cluster, broker
from .events import Event, Moved


def write(cluster: Cluster, move: moves.ProduceAs) -> Moved:
    """A batch more; it is sent at once unless another one is ahead of it."""
    mine = producer_of(cluster, move.producer, move.partition)
    if mine is None:
        mine = Producer(name=move.producer, partition=move.partition, update_requested=True)
    ahead = mine.batches[0].number if mine.batches else None
    mine = client.queued(mine, move.count, cluster.clock, acks_all=move.acks_all)
    if ahead is None:
        return _turn(cluster, mine)
    of = {"producer": mine.name, "partition": mine.partition}
    fact = BatchQueued(**of, number=mine.batch_count, count=move.count, behind=ahead)
    return consumers.with_client(cluster, "producers", mine), [fact]


def resend(cluster: Cluster, move: moves.Resend) -> Moved:
    """A turn of its sender: expired batches fail, an unanswered request is given up, the rest is
    sent. In a run with a clock, batches that are not due yet wait.
    """
    events: list[Event] = []
    for mine in [p for p in cluster.producers if p.name == move.producer]:
        cluster, more = _resend(cluster, mine)
        events += more
    return cluster, events


def _resend(cluster: Cluster, mine: Producer) -> Moved:
    events: list[Event] = []
    if cluster.clock is not None:
        mine, failed = client.expired(mine, cluster.clock)
        events += failed
    if not mine.batches or mine.batches[0].due_ms > cluster.now_ms:
        return consumers.with_client(cluster, "producers", mine), events
    if mine.waits_at != NO_LEADER:
        near = consumers.reachable(cluster, mine.waits_at) is not None
        mine, facts = client.given_up(mine, reachable=near, now_ms=cluster.clock)
        events += facts
        if cluster.clock is not None:
            return consumers.with_client(cluster, "producers", mine), events
    cluster, more = _turn(cluster, mine)
    return cluster, [*events, *more]


def answers(cluster: Cluster, events: list[Event]) -> Moved:
    """Each waiting producer gets the answer that the last move brought, and sends its next batch.
    Over a cut link no answer comes, and no event tells of it.
    """
    for mine in cluster.producers:
        if mine.waits_at == NO_LEADER:
            continue
        node = broker(cluster, mine.waits_at)
        if node is None or not node.up or node.incarnation != mine.batches[0].incarnation:
            node = None
        elif consumers.reachable(cluster, node.id) is None:
            continue
        after, facts = client.answered(mine, node, cluster.features, cluster.clock)
        if after is mine:
            continue
        events = [*events, *facts]
        cluster = consumers.with_client(cluster, "producers", after)
        if len(after.batches) < len(mine.batches):
            cluster, more = _turn(cluster, after)
            events += more
    return cluster, events


def _turn(cluster: Cluster, mine: Producer) -> Moved:
    """Refresh the metadata if the leader is in doubt, then send batches until one waits."""
    events: list[Event] = []
    broker = consumers.informant(cluster, None) if mine.update_requested else None
    if broker is not None:
        mine, more_events = _informed(mine, broker)
        events += more_events
    while mine.batches and mine.waits_at == NO_LEADER:
        before = len(mine.batches)
        leader = consumers.reachable(cluster, mine.leader)
        mine, after, facts = client.send(mine, leader, cluster.features, cluster.clock)
        if after is not None:
            cluster = nodes.with_state(cluster, after.id, after)
        events += facts
        if len(mine.batches) == before:
            break
    return consumers.with_client(cluster, "producers", mine), events


def _informed(mine: Producer, broker: Broker) -> tuple[Producer, list[Event]]:
    state = consumers.known_state(broker, mine.partition)
    if state is None:
        return mine, []
    mine = client.informed(mine, state)
    fact = ProducerInformed(
        node=broker.id,
        producer=mine.name,
        partition=mine.partition,
        leader=mine.leader,
        leader_epoch=mine.leader_epoch,
    )
    return mine, [fact]


def turn_ms(mine: Producer) -> int:
    """The time of the next action of a producer that has something to send."""
    return min(mine.batches[0].due_ms, _failing_ms(mine))


def next_turns(cluster: Cluster) -> Iterator[tuple[int, moves.Move]]:
    """The times at which turns of all producers would change something.

    A try that would be refused as the last one was is left out.
    """
    for mine in cluster.producers:
        if mine.batches:
            sends = mine.waits_at != NO_LEADER or not _pointless(cluster, mine)
            at = turn_ms(mine) if sends else _failing_ms(mine)
            yield max(cluster.now_ms, at), moves.Resend(mine.name)


def _failing_ms(mine: Producer) -> int:
    return min(b.created_ms for b in mine.batches) + client.DELIVERY_TIMEOUT_MS


def _pointless(cluster: Cluster, mine: Producer) -> bool:
    broker = consumers.informant(cluster, None) if mine.update_requested else None
    knows = mine if broker is None else _informed(mine, broker)[0]
    leader = consumers.reachable(cluster, knows.leader)
    if leader is None:
        return True
    _, _, facts = client.send(knows, leader, cluster.features, cluster.clock)
    return not any(isinstance(fact, Appended) for fact in facts)


def producer_of(cluster: Cluster, name: str, of: str) -> Producer | None:
    """The producer called `name` on partition `of`, or None."""
    return next((p for p in cluster.producers if p.name == name and p.partition == of), None)
