"""The metrics that an operator would see move, under Kafka's names, read off a run.

A metric is an entry of metrics.toml: what it counts, who reports it, since which release a cluster
has it. Here stands how it is read off the clusters and moves of a run. Nothing is decided here. A
gauge of brokers is what each broker says of itself, from the metadata it has: a leader that has not
heard of its successor still counts its partitions, and a broker that is down reports nothing.

A ``...PerSec`` is a rate in Kafka, of one process. Steps have no seconds, so it is how often it was
marked so far, through all processes of a node: it never goes back.

With ZooKeeper only gauges of brokers are read: every broker has a controller there, which counts
for itself, active or not, and leaders that write the ISR to ZooKeeper get no answer to count.

Left out: what tells of time (latencies, lags), of the queue of the controller
(TimedOutBrokerHeartbeatCount counts heartbeats that waited there too long, not brokers that were
fenced), and of disks, clients and reassignments.
Source: the classes named by each entry, at the last tag of every release from 3.2 to 4.3 (of 3.9,
3.9.0-rc3; of 4.0 to 4.3 the sources of 4.0.2, 4.1.2, 4.2.1 and 4.3.1); for the first release also
2.8.2, 3.0.0 and 3.1.0.
"""

import tomllib
from collections.abc import Callable, Iterator
from importlib.resources import files
from typing import Any, NamedTuple

import msgspec

from ..engine.cluster import broker
from ..engine.truth import Truth, truth
from ..protocol import errors, facts, messages
from ..protocol.ids import CONTROLLER, NO_LEADER, BrokerId
from ..protocol.registrations import partition
from ..protocol.releases import CodeVersion, Mode, Release
from ..protocol.replica.broker_state import IsrState, Replica, replica_of
from . import columns, snapshots

REPLICA_MANAGER = "kafka.server:type=ReplicaManager"


class Led(NamedTuple):
    """A partition as the broker knows it that takes itself for its leader."""

    replica: Replica
    isr: tuple[BrokerId, ...]
    adding: tuple[BrokerId, ...]
    code: CodeVersion


class Metric(msgspec.Struct, frozen=True, kw_only=True):
    """One metric. `bean` is where JMX has it, `since` the first release whose KRaft clusters report
    it, `with_zookeeper` the first with ZooKeeper of which it is read (None: of none), `source`
    where it is counted. A gauge is read off what a broker leads, partition by partition, or it is
    a `total` of what the controller holds; of the others `marked` says who counts one more, once
    each, because of a move.
    """

    name: str
    counts: str
    source: str
    kind: columns.MetricKind = "gauge"
    bean: str = REPLICA_MANAGER
    since: tuple[int, int] = (2, 8)
    is_counted: Callable[[Led], bool] | None = None
    total: Callable[[Truth], int] | None = None
    marked: Callable[[snapshots.Moment], Iterator[BrokerId]] | None = None
    with_zookeeper: tuple[int, int] | None = None

    def is_read_at(self, release: Release) -> bool:
        """Whether code of `release` reports it, as far as it is read here."""
        first = self.since if release.mode is Mode.KRAFT else self.with_zookeeper
        return first is not None and release.code >= first

    @property
    def by_brokers(self) -> bool:
        """Whether every broker reports it for itself; else the controller does."""
        return self.bean == REPLICA_MANAGER


# --- gauges of brokers --------------------------------------------------------------------------


def _least(led: Led) -> int:
    """min.insync.replicas; from 3.7 on never more than there are replicas.

    Source: Partition.effectiveMinIsr, 3.7 to 4.3.
    """
    least, replicas = led.replica.min_insync_replicas, len(led.replica.replicas)
    return min(least, replicas) if led.code >= (3, 7) else least


# --- counts of the controller -------------------------------------------------------------------


def _elected_uncleanly(moment: snapshots.Moment) -> Iterator[BrokerId]:
    """One for each partition whose leader was not in the ISR or the ELR that it had before; from
    4.1 on, whose leader is to recover from now on.

    Source: ControllerMetricsChanges.handlePartitionChange and
    PartitionRegistration.electionWasClean, 3.9 and 4.0; TopicDelta.updateElectionStats, 4.1 to 4.3.
    """
    after, code = truth(moment.step.cluster).partitions, moment.code(CONTROLLER)
    elected = {e.partition for e in moment.step.events if isinstance(e, facts.LeaderElected)}
    for old in truth(moment.before).partitions:
        new = partition(after, old.name) if old.name in elected else None
        if new is not None:
            was_outside = new.leader != NO_LEADER and new.leader not in (*old.isr, *old.elr)
            if (new.recovery and not old.recovery) if code >= (4, 1) else was_outside:
                yield CONTROLLER


# --- ISRs that leaders asked for ------------------------------------------------------------------


class _Handed(NamedTuple):
    """A result of AlterPartition that reaches the very proposal that it answers."""

    replica: Replica
    state: IsrState
    result: messages.AlterPartitionResult

    @property
    def is_adopted(self) -> bool:
        """Accepted, and of no older epoch than the leader knows by now."""
        result, replica = self.result, self.replica
        if result.error or result.leader_epoch != replica.leader_epoch:
            return False
        return result.partition_epoch >= replica.partition_epoch


def _handed(moment: snapshots.Moment) -> Iterator[tuple[BrokerId, _Handed]]:
    """What a delivered answer hands to the partitions of its broker. An error of the whole request
    (STALE_BROKER_EPOCH among them) is retried, reaches none of them, and is counted nowhere; nor is
    an answer that comes after the metadata which says the same: by then nothing is pending.

    Source: DefaultAlterPartitionManager.handleAlterPartitionResponse and
    Partition.submitAlterPartition, 3.2 (DefaultAlterIsrManager) to 4.3.
    """
    delivered = moment.delivered
    if delivered is None or not isinstance(delivered.body, messages.AlterPartitionResponse):
        return
    node, request = broker(moment.before, delivered.receiver), moment.answered
    if node is None or node.process is None or request is None or delivered.body.error:
        return
    results = {result.partition: result for result in delivered.body.results}
    retried = any(r.error is errors.KafkaError.NOT_CONTROLLER for r in results.values())
    if node.process.in_flight != request.items or retried:
        return
    for item in request.items:
        mine, result = replica_of(node, item.partition), results.get(item.partition)
        if mine is None or mine.leading is None or result is None:
            continue
        if mine.leading.isr_state.sent == item:
            yield node.id, _Handed(mine, mine.leading.isr_state, result)


def _changed(moment: snapshots.Moment, *, growing: bool) -> Iterator[BrokerId]:
    """Leaders whose proposal was adopted: one that asked for more members, or for fewer."""
    for node, handed in _handed(moment):
        asked_for_more = len(handed.state.proposed) > len(handed.state.isr)
        if handed.is_adopted and asked_for_more is growing:
            yield node


def _failed(moment: snapshots.Moment) -> Iterator[BrokerId]:
    """Answers with an error or for an older epoch, and proposals that were not even sent, because
    the manager still has one of the same partition (OPERATION_NOT_ATTEMPTED).

    Source: Partition.handleAlterPartitionError and handleAlterPartitionUpdate, 3.2 to 4.3.
    """
    yield from (node for node, handed in _handed(moment) if not handed.is_adopted)
    for event in moment.step.events:
        if isinstance(event, facts.IsrProposed):
            mine = snapshots.replica_at(moment.step.cluster, event.node, event.partition)
            if mine is not None and mine.leading is not None and not mine.leading.isr_state.sent:
                yield event.node


# --- the table ----------------------------------------------------------------------------------

_IS_COUNTED: dict[str, Callable[[Led], bool]] = {
    # Against the replicas assigned, those being added left out; the ISR is the committed one.
    "UnderReplicatedPartitions": lambda led: (
        len(led.isr) < sum(b not in led.adding for b in led.replica.replicas)
    ),
    "UnderMinIsrPartitionCount": lambda led: len(led.isr) < _least(led),
    "AtMinIsrPartitionCount": lambda led: len(led.isr) == _least(led),
    "LeaderCount": lambda _: True,
}
_TOTALS: dict[str, Callable[[Truth], int]] = {
    "OfflinePartitionsCount": lambda truth: sum(p.leader == NO_LEADER for p in truth.partitions),
    "PreferredReplicaImbalanceCount": lambda truth: sum(
        p.leader != p.replicas[0] for p in truth.partitions
    ),
    "ActiveBrokerCount": lambda truth: sum(not r.fenced for r in truth.registrations),
    "FencedBrokerCount": lambda truth: sum(r.fenced for r in truth.registrations),
    "ActiveControllerCount": lambda _: 1,
}
_MARKED: dict[str, Callable[[snapshots.Moment], Iterator[BrokerId]]] = {
    "IsrShrinksPerSec": lambda moment: _changed(moment, growing=False),
    "IsrExpandsPerSec": lambda moment: _changed(moment, growing=True),
    "FailedIsrUpdatesPerSec": _failed,
    "UncleanLeaderElectionsPerSec": _elected_uncleanly,
    "ElectionFromEligibleLeaderReplicasPerSec": lambda moment: (
        CONTROLLER for e in moment.step.events if isinstance(e, facts.LeaderElected) and e.from_elr
    ),
    "NewActiveControllersCount": lambda moment: (
        CONTROLLER for e in moment.step.events if isinstance(e, facts.ControllerResigned)
    ),
}


def _metric(name: str, entry: dict[str, Any]) -> Metric:
    """`entry` is of metrics.toml; how the metric is read stands in one of the tables above."""
    return Metric(
        name=name,
        is_counted=_IS_COUNTED.get(name),
        total=_TOTALS.get(name),
        marked=_MARKED.get(name),
        **entry | {key: tuple(own) for key, own in entry.items() if isinstance(own, list)},
    )


_FILE = (files(__package__) / "metrics.toml").read_text("utf-8")
METRICS = {name: _metric(name, entry) for name, entry in tomllib.loads(_FILE).items()}
"""Every metric by name: those of brokers first."""
