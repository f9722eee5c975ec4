"""The metrics that an operator would see move, under Kafka's names, read off a run.

A metric is one entry of METRICS: what it counts, who reports it, since which release a KRaft
cluster has it, and how it is read off the clusters and moves of a run. Nothing is decided here. A
gauge of brokers is what each broker says of itself, from the metadata it has: a leader that has not
heard of its successor still counts its partitions, and a broker that is down reports nothing.

A ``...PerSec`` is a rate in Kafka, of one process. Steps have no seconds, so it is how often it was
marked so far, through all processes of a node: it never goes back.

Left out: what tells of time (latencies, lags), of the queue of the controller
(TimedOutBrokerHeartbeatCount counts heartbeats that waited there too long, not brokers that were
fenced), and of disks, clients and reassignments.
Source: the classes named by each entry, at the last tag of every release from 3.2 to 3.9 (of 3.9,
3.9.0-rc3); for the first release also 2.8.2, 3.0.0 and 3.1.0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import msgspec

from ..engine.cluster import Cluster, broker
from ..engine.events import Delivered
from ..engine.truth import Truth, truth
from ..protocol.errors import KafkaError
from ..protocol.facts import ControllerResigned, IsrProposed, LeaderElected
from ..protocol.ids import CONTROLLER, NO_LEADER, BrokerId
from ..protocol.messages import (
    AlterPartitionRequest,
    AlterPartitionResponse,
    AlterPartitionResult,
)
from ..protocol.registrations import PartitionRegistration, partition
from ..protocol.releases import CodeVersion
from ..protocol.replica.broker_state import Broker, IsrState, Replica, replica_of
from .columns import MetricKind, MetricRow
from .log_moment import Moment
from .snapshots import Snapshot
from .wording import lane_of

REPLICA_MANAGER = "kafka.server:type=ReplicaManager"
KAFKA_CONTROLLER = "kafka.controller:type=KafkaController"
CONTROLLER_STATS = "kafka.controller:type=ControllerStats"


class Led(NamedTuple):
    """A partition as the broker knows it that takes itself for its leader."""

    replica: Replica
    isr: tuple[BrokerId, ...]
    adding: tuple[BrokerId, ...]
    code: CodeVersion


class Metric(msgspec.Struct, frozen=True, kw_only=True):
    """One metric. `bean` is where JMX has it, `since` the first release whose KRaft clusters report
    it, `source` where it is counted. A gauge is read off what a broker leads, partition by
    partition, or off what the controller holds; of the others `marked` says who counts one more,
    once each, because of a move.
    """

    name: str
    kind: MetricKind
    bean: str
    since: tuple[int, int]
    counts: str
    source: str
    is_counted: Callable[[Led], bool] | None = None
    held: Callable[[Truth], int] | None = None
    marked: Callable[[Moment], Iterator[BrokerId]] | None = None

    @property
    def by_brokers(self) -> bool:
        """Whether every broker reports it for itself; else the controller does."""
        return self.bean == REPLICA_MANAGER


# --- gauges of brokers --------------------------------------------------------------------------


def _led(node: Broker, code: CodeVersion) -> Iterator[Led]:
    """What a running broker takes itself for the leader of.

    Source: ReplicaManager.leaderPartitionsIterator, 3.2 to 3.9.
    """
    process = node.process
    image = process.image if process is not None else None
    for replica in process.replicas if process is not None else ():
        if replica.leading is not None:
            seen = partition(image.partitions, replica.partition) if image is not None else None
            adding = seen.adding if seen is not None else ()
            yield Led(replica, replica.leading.isr_state.isr, adding, code)


def _is_under_replicated(led: Led) -> bool:
    """Against the replicas assigned, those being added left out; the ISR is the committed one."""
    assigned = [b for b in led.replica.replicas if b not in led.adding]
    return len(led.isr) < len(assigned)


def _least(led: Led) -> int:
    """min.insync.replicas; from 3.7 on never more than there are replicas.

    Source: Partition.effectiveMinIsr, 3.7 to 3.9.
    """
    least, replicas = led.replica.min_insync_replicas, len(led.replica.replicas)
    return min(least, replicas) if led.code >= (3, 7) else least


# --- meters of brokers --------------------------------------------------------------------------


class Handed(NamedTuple):
    """A result of AlterPartition that reaches the very proposal that it answers."""

    replica: Replica
    state: IsrState
    result: AlterPartitionResult

    @property
    def is_adopted(self) -> bool:
        """Accepted, and of no older epoch than the leader knows by now."""
        result, replica = self.result, self.replica
        is_current = result.leader_epoch == replica.leader_epoch
        return (
            result.error is KafkaError.NONE
            and is_current
            and result.partition_epoch >= replica.partition_epoch
        )

    @property
    def is_growing(self) -> bool:
        """Whether the proposal had asked for more members."""
        return len(self.state.proposed) > len(self.state.isr)


def _handed(moment: Moment) -> Iterator[tuple[BrokerId, Handed]]:
    """What a delivered answer hands to the partitions of its broker. An error of the whole request
    (STALE_BROKER_EPOCH among them) is retried, reaches none of them, and is counted nowhere; nor is
    an answer that comes after the metadata which says the same: by then nothing is pending.

    Source: DefaultAlterPartitionManager.handleAlterPartitionResponse and
    Partition.submitAlterPartition, 3.2 (DefaultAlterIsrManager) to 3.9.
    """
    delivered = moment.delivered
    if delivered is None or not isinstance(delivered.body, AlterPartitionResponse):
        return
    node, request = broker(moment.before, delivered.receiver), _asked_for(delivered, moment.before)
    if node is None or node.process is None or request is None or delivered.body.error:
        return
    results = {result.partition: result for result in delivered.body.results}
    if node.process.in_flight != request.items or _is_retried(results.values()):
        return
    for item in request.items:
        mine, result = replica_of(node, item.partition), results.get(item.partition)
        if mine is None or mine.leading is None or result is None:
            continue
        if mine.leading.isr_state.sent == item:
            yield node.id, Handed(mine, mine.leading.isr_state, result)


def _is_retried(results: Iterable[AlterPartitionResult]) -> bool:
    return any(result.error is KafkaError.NOT_CONTROLLER for result in results)


def _asked_for(event: Delivered, before: Cluster) -> AlterPartitionRequest | None:
    asked = next((m.request for m in before.messages if m.name == event.message), None)
    return asked if isinstance(asked, AlterPartitionRequest) else None


def _changed(moment: Moment, *, growing: bool) -> Iterator[BrokerId]:
    for node, handed in _handed(moment):
        if handed.is_adopted and handed.is_growing is growing:
            yield node


def _failed(moment: Moment) -> Iterator[BrokerId]:
    """Answers with an error or for an older epoch, and proposals that were not even sent, because
    the manager still has one of the same partition (OPERATION_NOT_ATTEMPTED).

    Source: Partition.handleAlterPartitionError and handleAlterPartitionUpdate, 3.2 to 3.9.
    """
    yield from (node for node, handed in _handed(moment) if not handed.is_adopted)
    for event in moment.step.events:
        if isinstance(event, IsrProposed):
            node = broker(moment.step.cluster, event.node)
            mine = replica_of(node, event.partition) if node is not None else None
            if mine is not None and mine.leading is not None and not mine.leading.isr_state.sent:
                yield event.node


# --- counts of the controller -------------------------------------------------------------------


def _elected_uncleanly(moment: Moment) -> Iterator[BrokerId]:
    """One for each partition whose leader was not in the ISR that it had before.

    Source: ControllerMetricsChanges.handlePartitionChange and
    PartitionRegistration.electionWasClean, 3.9.
    """
    after = truth(moment.step.cluster).partitions
    elected = {e.partition for e in moment.step.events if isinstance(e, LeaderElected)}
    for old in truth(moment.before).partitions:
        new = partition(after, old.name) if old.name in elected else None
        if new is not None and _has_leader(new) and new.leader not in old.isr:
            yield CONTROLLER


def _has_leader(registered: PartitionRegistration) -> bool:
    return registered.leader != NO_LEADER


def _new_controllers(moment: Moment) -> Iterator[BrokerId]:
    return (CONTROLLER for e in moment.step.events if isinstance(e, ControllerResigned))


# --- the table ----------------------------------------------------------------------------------

_ENTRIES = (
    Metric(
        name="UnderReplicatedPartitions",
        kind="gauge",
        bean=REPLICA_MANAGER,
        since=(2, 8),
        counts="partitions that this broker leads whose ISR is smaller than their replicas",
        source="Partition.isUnderReplicated, 3.2 to 3.9",
        is_counted=_is_under_replicated,
    ),
    Metric(
        name="UnderMinIsrPartitionCount",
        kind="gauge",
        bean=REPLICA_MANAGER,
        since=(2, 8),
        counts="partitions that this broker leads with fewer than min.insync.replicas in the ISR",
        source="Partition.isUnderMinIsr, 3.2 to 3.9",
        is_counted=lambda led: len(led.isr) < _least(led),
    ),
    Metric(
        name="AtMinIsrPartitionCount",
        kind="gauge",
        bean=REPLICA_MANAGER,
        since=(2, 8),
        counts="partitions that this broker leads with just min.insync.replicas in the ISR",
        source="Partition.isAtMinIsr, 3.2 to 3.9",
        is_counted=lambda led: len(led.isr) == _least(led),
    ),
    Metric(
        name="LeaderCount",
        kind="gauge",
        bean=REPLICA_MANAGER,
        since=(2, 8),
        counts="partitions that this broker believes to lead",
        source="ReplicaManager.leaderPartitionsIterator, 3.2 to 3.9",
        is_counted=lambda _: True,
    ),
    Metric(
        name="IsrShrinksPerSec",
        kind="meter",
        bean=REPLICA_MANAGER,
        since=(2, 8),
        counts="smaller ISRs that this broker asked for and was granted, if the answer comes before"
        " the metadata; not those that the controller makes by itself",
        source="PendingShrinkIsr.notifyListener, 3.3 to 3.9; in 3.2"
        " Partition.handleAlterPartitionUpdate",
        marked=lambda moment: _changed(moment, growing=False),
    ),
    Metric(
        name="IsrExpandsPerSec",
        kind="meter",
        bean=REPLICA_MANAGER,
        since=(2, 8),
        counts="larger ISRs that this broker asked for and was granted, if the answer comes before"
        " the metadata",
        source="PendingExpandIsr.notifyListener, 3.3 to 3.9; in 3.2"
        " Partition.handleAlterPartitionUpdate",
        marked=lambda moment: _changed(moment, growing=True),
    ),
    Metric(
        name="FailedIsrUpdatesPerSec",
        kind="meter",
        bean=REPLICA_MANAGER,
        since=(2, 8),
        counts="ISRs that this broker asked for and was not granted",
        source="Partition.handleAlterPartitionError, 3.2 to 3.9",
        marked=_failed,
    ),
    Metric(
        name="OfflinePartitionsCount",
        kind="gauge",
        bean=KAFKA_CONTROLLER,
        since=(3, 0),
        counts="partitions without a leader",
        source="ControllerMetricsChanges.handlePartitionChange, 3.5 to 3.9; in 3.3 and 3.4"
        " ControllerMetricsManager, in 3.2 BrokersToIsrs.offlinePartitionCount",
        held=lambda held: sum(not _has_leader(p) for p in held.partitions),
    ),
    Metric(
        name="PreferredReplicaImbalanceCount",
        kind="gauge",
        bean=KAFKA_CONTROLLER,
        since=(3, 0),
        counts="partitions that their first replica does not lead",
        source="ControllerMetricsChanges.handlePartitionChange, 3.5 to 3.9; in 3.3 and 3.4"
        " ControllerMetricsManager, in 3.2 ReplicationControlManager.replay",
        held=lambda held: sum(p.leader != p.replicas[0] for p in held.partitions),
    ),
    Metric(
        name="UncleanLeaderElectionsPerSec",
        kind="meter",
        bean=CONTROLLER_STATS,
        since=(3, 9),
        counts="leaders elected from outside the ISR; before 3.9 no KRaft controller counts them",
        source="ControllerMetricsChanges.handlePartitionChange, 3.9",
        marked=_elected_uncleanly,
    ),
    Metric(
        name="ActiveBrokerCount",
        kind="gauge",
        bean=KAFKA_CONTROLLER,
        since=(3, 1),
        counts="registered brokers that are not fenced, also while they shut down",
        source="ControllerMetricsChanges.handleBrokerChange, 3.5 to 3.9; in 3.3 and 3.4"
        " ControllerMetricsManager, in 3.2 ClusterControlManager.updateMetrics",
        held=lambda held: sum(not r.fenced for r in held.registrations),
    ),
    Metric(
        name="FencedBrokerCount",
        kind="gauge",
        bean=KAFKA_CONTROLLER,
        since=(3, 1),
        counts="registered brokers that are fenced",
        source="ControllerMetricsChanges.handleBrokerChange, 3.5 to 3.9; in 3.3 and 3.4"
        " ControllerMetricsManager, in 3.2 ClusterControlManager.updateMetrics",
        held=lambda held: sum(r.fenced for r in held.registrations),
    ),
    Metric(
        name="ActiveControllerCount",
        kind="gauge",
        bean=KAFKA_CONTROLLER,
        since=(2, 8),
        counts="1 on the active controller, 0 on the others; their sum, which stays 1 while another"
        " one takes over within a step",
        source="QuorumControllerMetrics.setActive, 3.2 to 3.9",
        held=lambda _: 1,
    ),
    Metric(
        name="NewActiveControllersCount",
        kind="counter",
        bean=KAFKA_CONTROLLER,
        since=(3, 6),
        counts="controllers that became active since the run began",
        source="QuorumController.QuorumMetaLogListener.handleLeaderChange, 3.6 to 3.9",
        marked=_new_controllers,
    ),
)
METRICS = {metric.name: metric for metric in _ENTRIES}
"""Every metric by name: those of brokers first."""


# --- rows ---------------------------------------------------------------------------------------

_Key = tuple[str, BrokerId]
_Known = dict[tuple[int, int], dict[_Key, int]]
"""What was read of a state under some features, by the identity of both: most stay the same object
from step to step.
"""


def metric_rows(shots: Sequence[Snapshot]) -> Iterator[MetricRow]:
    """What every node reported through the run, metric after metric, node after node."""
    readings = list(_readings(shots))
    nodes: dict[str, set[BrokerId]] = {name: set() for name in METRICS}
    for name, node in {key for reading in readings for key in reading}:
        nodes[name].add(node)
    xs = [shot.x for shot in shots]
    for metric in METRICS.values():
        for node in sorted(nodes[metric.name]):
            values = [reading.get((metric.name, node)) for reading in readings]
            yield from _stretches(metric, node, xs, values)


def _readings(shots: Sequence[Snapshot]) -> Iterator[dict[_Key, int]]:
    counts: Counter[_Key] = Counter()
    known: _Known = {}
    before = shots[0].cluster
    for shot in shots:
        for step in shot.steps:
            counts.update(_marks(Moment(before, step)))
            before = step.cluster
        yield _reading(shot.cluster, counts, known)


def _reading(cluster: Cluster, counts: Counter[_Key], known: _Known) -> dict[_Key, int]:
    found = {key: counts[key] for key in _once(known, cluster, METRICS, _counting)}
    found |= _once(known, cluster, truth(cluster), _of_controller)
    for node in cluster.brokers:
        found |= _once(known, cluster, node, partial(_of_broker, node))
    return found


def _once(
    known: _Known,
    cluster: Cluster,
    state: object,
    read: Callable[[Cluster], Iterator[tuple[_Key, int]]],
) -> dict[_Key, int]:
    key = id(state), id(cluster.features)
    if key not in known:
        known[key] = dict(read(cluster))
    return known[key]


def _of_broker(node: Broker, cluster: Cluster) -> Iterator[tuple[_Key, int]]:
    """The gauges of a broker that runs."""
    if node.process is not None:
        led = list(_led(node, cluster.features.code_of(node.id)))
        for metric in METRICS.values():
            if metric.is_counted is not None and _has(cluster, metric, node.id):
                yield (metric.name, node.id), sum(map(metric.is_counted, led))


def _of_controller(cluster: Cluster) -> Iterator[tuple[_Key, int]]:
    for metric in METRICS.values():
        if metric.held is not None and _has(cluster, metric, CONTROLLER):
            yield (metric.name, CONTROLLER), metric.held(truth(cluster))


def _counting(cluster: Cluster) -> Iterator[tuple[_Key, int]]:
    """Who counts what, from 0 on; also a broker that is down, for what it counted before."""
    for metric in METRICS.values():
        if metric.marked is not None:
            for node in [b.id for b in cluster.brokers] if metric.by_brokers else [CONTROLLER]:
                if _has(cluster, metric, node):
                    yield (metric.name, node), 0


def _marks(moment: Moment) -> Iterator[_Key]:
    for metric in METRICS.values():
        for node in metric.marked(moment) if metric.marked is not None else ():
            if _has(moment.step.cluster, metric, node):
                yield metric.name, node


def _has(cluster: Cluster, metric: Metric, node: BrokerId) -> bool:
    """Whether the code that the node runs has this metric."""
    return cluster.features.code_of(node) >= metric.since


def _stretches(
    metric: Metric, node: BrokerId, xs: Sequence[int], values: Sequence[int | None]
) -> Iterator[MetricRow]:
    """Neighbours of one value as one row; where nothing is reported there is none."""
    starts = [n for n, value in enumerate(values) if n == 0 or values[n - 1] != value]
    ends = [*(xs[n] for n in starts[1:]), xs[-1] + 1]
    for n, end in zip(starts, ends, strict=True):
        value = values[n]
        if value is not None:
            yield MetricRow(metric.name, metric.kind, lane_of(node), xs[n], end, value)
