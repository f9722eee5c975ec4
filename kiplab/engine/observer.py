"""The observer: sees every log at once, and says when a property stops holding.

It runs after each move and looks only at what the move changed. No rule reads what it knows.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import is_

from msgspec.structs import replace

from ..protocol.facts import (
    BecameLeader,
    Destroyed,
    HighWatermarkMoved,
    IsrChanged,
    LeaderElected,
    Polled,
    RecordsDeleted,
)
from ..protocol.ids import Offset
from ..protocol.log import (
    first_difference,
    holds,
    up_to,
)
from ..protocol.messages import AlterPartitionRequest
from ..protocol.replica.broker_state import log_of, replica_of
from ..protocol.zookeeper_facts import CheckpointLost
from . import properties
from .at_rest import broken_with_zookeeper
from .broken_properties import checks
from .cluster import Cluster, broker
from .events import CommittedLost, Delivered, Event, PropertyBroken
from .nodes import has_zookeeper
from .observations import updated, with_deleted
from .truth import Truth, is_same_truth, partition_of, truth
from .unclean_reigns import Broken


def observe(
    before: Cluster, after: Cluster, events: Iterable[Event]
) -> tuple[Cluster, list[Event]]:
    """`after` with the observer's knowledge brought up to date, and what it noticed."""
    zookeeper = has_zookeeper(after)
    if not (zookeeper or may_matter(before, after)):
        return after, []
    noticed: list[Event] = []
    broken: list[Broken] = []
    events = tuple([e for e in events if type(e) in _MAY_BE_HEEDED and heeds(e)])
    observed = tuple([updated(after, o, events) for o in after.observed])
    if not all(map(is_, observed, after.observed)):
        after = replace(after, observed=observed)
    for event in events:
        if isinstance(event, RecordsDeleted) and (after.consumers or after.producers):
            readers = tuple(with_deleted(reader, event) for reader in after.consumers)
            writers = tuple(with_deleted(writer, event) for writer in after.producers)
            after = replace(after, consumers=readers, producers=writers)
        elif isinstance(event, BecameLeader):
            after, lost = _takes_over(after, event)
            noticed += lost
            broken += [_loss(found) for found in lost]
    broken += checks(before, after)
    if zookeeper:
        broken += broken_with_zookeeper(after, events)
    for found, name, detail in broken:
        after, fact = _report(after, found, name, detail)
        noticed += fact
    return after, noticed


_HEEDED = frozenset(
    (
        *(BecameLeader, Destroyed, HighWatermarkMoved, IsrChanged, LeaderElected, Polled),
        *(CheckpointLost, RecordsDeleted),
    )
)
_MAY_BE_HEEDED = _HEEDED | {Delivered}


def heeds(event: Event) -> bool:
    """Whether the observer hears of such an event; it sees the rest with its own eyes."""
    if type(event) is Delivered:
        return isinstance(event.body, AlterPartitionRequest)
    return type(event) in _HEEDED


def broken_now(cluster: Cluster) -> tuple[str, ...]:
    """Ids of the properties that do not hold in `cluster` as it stands, whatever led there."""
    return tuple(dict.fromkeys(found.id for found, _, _ in checks(cluster, cluster)))


def may_matter(before: Cluster, after: Cluster) -> bool:
    """Whether the move changed anything that a property speaks of: most heartbeats do not."""
    if not is_same_truth(before, after) and _decides_otherwise(truth(before), truth(after)):
        return True
    if after.consumers is not before.consumers or after.producers is not before.producers:
        return True
    if after.brokers is before.brokers:
        return False
    for was, now in zip(before.brokers, after.brokers, strict=True):
        if was is now:
            continue
        old, new = was.process, now.process
        if now.durable is not was.durable or old is None or new is None:
            return True
        if new.replicas is not old.replicas or new.epoch != old.epoch:
            return True
    return False


def _decides_otherwise(was: Truth, now: Truth) -> bool:
    return not (
        now.partitions is was.partitions
        and now.registrations is was.registrations
        and now.controller_epoch == was.controller_epoch
    )


def _report(
    cluster: Cluster, found: properties.Property, name: str, detail: str
) -> tuple[Cluster, list[Event]]:
    """Only the first time that a property breaks for a partition is news."""
    if (found.id, name) in cluster.broken:
        return cluster, []
    excused = any(o.excused for o in cluster.observed if o.partition == name)
    promised = properties.is_promised(
        found,
        cluster.features,
        excused=excused,
        forged=cluster.forged or (cluster.inherited and bool(found.needs)),
    )
    fact = PropertyBroken(property=found.id, partition=name, detail=detail, promised=promised)
    return replace(cluster, broken=(*cluster.broken, (found.id, name))), [fact]


# --- loss ---------------------------------------------------------------------------------------


def _takes_over(cluster: Cluster, event: BecameLeader) -> tuple[Cluster, list[CommittedLost]]:
    """A leader begins: whatever it lacks of the committed records is lost from here on."""
    known = next((o for o in cluster.observed if o.partition == event.partition), None)
    node = broker(cluster, event.node)
    state = partition_of(cluster, event.partition)
    if known is None or node is None or state is None or state.leader != event.node:
        return cluster, []
    mine = log_of(node, event.partition)
    if holds(mine, known.committed):
        return cluster, []
    lost = CommittedLost(
        partition=event.partition,
        leader=event.node,
        first=first_difference(mine, known.committed),
        last=Offset(known.committed.end - 1),
    )
    # What is lost is lost once: from now on the new leader's records are the ones that count.
    replica = replica_of(node, event.partition)
    mark = replica.high_watermark if replica is not None else Offset(0)
    now = replace(known, committed=up_to(mine, mark))
    observed = tuple(now if o is known else o for o in cluster.observed)
    return replace(cluster, observed=observed), [lost]


def _loss(found: CommittedLost) -> Broken:
    detail = (
        f"broker {found.leader} leads {found.partition} without offsets {found.first}-{found.last}"
    )
    return properties.NO_COMMITTED_RECORD_LOST, found.partition, detail
