"""The situation a run begins with: registered brokers, partitions, logs."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from ..protocol.ids import Incarnation, MetadataOffset
from ..protocol.kraft.broker_lifecycle import metadata_arrived
from ..protocol.kraft.contacts import carried_over
from ..protocol.kraft.controller_state import Controller, HeartbeatState
from ..protocol.kraft.periodic_elections import plan
from ..protocol.kraft.replay import image
from ..protocol.messages import MetadataUpdate
from ..protocol.registrations import PartitionRegistration, Registration
from ..protocol.releases import RELEASES, Mode
from ..protocol.replica.broker_state import Broker, Lifecycle, Volatile
from .cluster import Cluster
from .first_logs import first_consumers, first_disk, first_free_offset, first_observed
from .given_situation import BrokerSetup, ConsumerSetup, PartitionSetup, Setup
from .zookeeper_setup import first_with_zookeeper

__all__ = [
    "FIRST_CLUSTERS",
    "BrokerSetup",
    "ConsumerSetup",
    "PartitionSetup",
    "Setup",
    "cluster_of",
]


def cluster_of(setup: Setup) -> Cluster:
    """The first cluster of a run: metadata replicated, roles played, nothing in flight."""
    return FIRST_CLUSTERS[RELEASES[setup.features.release].mode](setup)


def _in_kraft(setup: Setup) -> Cluster:
    brokers = tuple(sorted(setup.brokers, key=lambda b: b.id))
    controller = Controller(
        next_offset=first_free_offset(setup),
        registrations=tuple(_registration(b) for b in brokers),
        partitions=tuple(_partition(p) for p in sorted(setup.partitions, key=lambda p: p.name)),
        heartbeats=tuple(_heartbeat(b, first_free_offset(setup)) for b in brokers),
        auto_leader_rebalance=setup.auto_leader_rebalance,
    )
    controller = carried_over(controller, setup.features)
    if setup.timed:
        controller = plan(controller, setup.features, 0)
    update = image(controller)
    nodes = tuple(_broker(b, setup, update) for b in brokers)
    observed = tuple(first_observed(p, controller, nodes) for p in controller.partitions)
    return Cluster(
        features=setup.features,
        controller=controller,
        brokers=nodes,
        observed=observed,
        timed=setup.timed,
        consumers=first_consumers(setup, controller, observed),
    )


FIRST_CLUSTERS: dict[Mode, Callable[[Setup], Cluster]] = {
    Mode.KRAFT: _in_kraft,
    Mode.ZOOKEEPER: first_with_zookeeper,
}
"""How the cluster of each mode begins."""


def _registration(given: BrokerSetup) -> Registration:
    return Registration(
        broker=given.id,
        epoch=given.epoch,
        incarnation=Incarnation(1),
        fenced=given.fenced,
        in_controlled_shutdown=given.in_controlled_shutdown,
        record_offset=MetadataOffset(given.epoch),
    )


def _heartbeat(given: BrokerSetup, next_offset: MetadataOffset) -> HeartbeatState:
    last = MetadataOffset(next_offset - 1)
    return HeartbeatState(given.id, fenced=given.fenced, metadata_offset=last)


def _partition(given: PartitionSetup) -> PartitionRegistration:
    return PartitionRegistration(
        name=given.name,
        replicas=given.replicas,
        isr=given.isr,
        leader=given.leader,
        leader_epoch=given.leader_epoch,
        partition_epoch=given.partition_epoch,
        recovery=given.recovery,
        adding=given.adding,
        removing=given.removing,
        min_insync_replicas=given.min_insync_replicas,
        unclean_leader_election=given.unclean_leader_election,
    )


def _broker(given: BrokerSetup, setup: Setup, update: MetadataUpdate) -> Broker:
    down = Broker(given.id, durable=first_disk(setup, given.id))
    if not given.up:
        return down
    ready = Volatile(
        lifecycle=Lifecycle.RECOVERY if given.fenced else Lifecycle.RUNNING,
        epoch=given.epoch,
        ready_to_unfence=not given.fenced,
        published=True,
    )
    clock = 0 if setup.timed else None
    running = replace(down, process=ready)
    node, _, _ = metadata_arrived(running, update, setup.features, clock)
    return node
