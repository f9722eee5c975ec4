"""Small clusters: broker 1 leads in leader epoch 5; broker n has epoch 100 + n."""

from kiplab.engine import moves
from kiplab.engine.cluster import Cluster
from kiplab.engine.enabled import Menu, enabled
from kiplab.engine.events import Event
from kiplab.engine.setup import BrokerSetup, ConsumerSetup, PartitionSetup, Setup, cluster_of
from kiplab.engine.step import step
from kiplab.protocol.features import Features
from kiplab.protocol.ids import BrokerEpoch, BrokerId, LeaderEpoch, PartitionEpoch

BROKER_1, BROKER_2, BROKER_9 = BrokerId(1), BrokerId(2), BrokerId(9)
Batches = tuple[tuple[int, int], ...]
"""What a log holds: (records, leader epoch) pairs in order."""
DELIVERIES = Menu(kinds=frozenset({moves.Deliver}))


def cluster(
    features: Features, *partitions: PartitionSetup, consumers: tuple[ConsumerSetup, ...] = ()
) -> Cluster:
    """The brokers are those that the partitions are on."""
    ids = sorted({id for partition in partitions for id in partition.replicas})
    return cluster_of(
        Setup(
            features=features,
            brokers=tuple(BrokerSetup(id=id, epoch=BrokerEpoch(100 + id)) for id in ids),
            partitions=partitions,
            consumers=consumers,
        )
    )


def partition(
    name: str, replicas: int, *, isr: int, log: Batches, behind: Batches | None = None
) -> PartitionSetup:
    """On brokers 1 to `replicas`, in sync on 1 to `isr`; the last has `behind` instead of `log`."""
    ids = tuple(BrokerId(id) for id in range(1, replicas + 1))
    return PartitionSetup(
        name=name,
        replicas=ids,
        isr=ids[:isr],
        leader=BROKER_1,
        leader_epoch=LeaderEpoch(5),
        partition_epoch=PartitionEpoch(10),
        log=_batches(log),
        logs=() if behind is None else ((ids[-1], _batches(behind)),),
    )


def _batches(log: Batches) -> tuple[tuple[int, LeaderEpoch], ...]:
    return tuple((records, LeaderEpoch(epoch)) for records, epoch in log)


def does_alone(here: Cluster, *line: moves.Move) -> tuple[Cluster, tuple[Event, ...]]:
    """The moves one after the other; the events of the last."""
    events: tuple[Event, ...] = ()
    for move in line:
        done = step(here, move)
        here, events = done.cluster, done.events
    return here, events


def does(here: Cluster, *line: moves.Move) -> tuple[Cluster, tuple[Event, ...]]:
    """The moves one after the other, each with what follows from it; the events of the last."""
    events: tuple[Event, ...] = ()
    for move in line:
        here, events = does_alone(here, move)
        while ready := enabled(here, DELIVERIES):
            here, more = does_alone(here, ready[0])
            events = (*events, *more)
    return here, events
