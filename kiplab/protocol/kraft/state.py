"""The controller's state: what the metadata log says, and what only a sitting controller knows."""

from __future__ import annotations

import msgspec

from ..ids import (
    BrokerEpoch,
    BrokerId,
    ControllerEpoch,
    LeaderEpoch,
    PartitionEpoch,
)


class Registration(msgspec.Struct, frozen=True, cache_hash=True):
    """BrokerRegistration, replayed from the metadata log."""

    broker: BrokerId
    epoch: BrokerEpoch
    incarnation: int
    fenced: bool = True
    in_controlled_shutdown: bool = False
    record_offset: int = 0
    """Offset of the RegisterBrokerRecord that a broker must have replicated to be unfenced."""


class PartitionRegistration(msgspec.Struct, frozen=True, cache_hash=True):
    """A partition as the metadata log has it. Lists are ordered; ``replicas[0]`` is preferred.

    The last two are its topic's min.insync.replicas and unclean.leader.election.enable.
    """

    name: str
    replicas: tuple[BrokerId, ...]
    isr: tuple[BrokerId, ...]
    leader: BrokerId
    leader_epoch: LeaderEpoch = LeaderEpoch(0)
    partition_epoch: PartitionEpoch = PartitionEpoch(0)
    recovery: int = 0
    adding: tuple[BrokerId, ...] = ()
    removing: tuple[BrokerId, ...] = ()
    min_insync_replicas: int = 1
    unclean_leader_election: bool = False


class HeartbeatState(msgspec.Struct, frozen=True, cache_hash=True):
    """What only the active controller remembers of a broker; lost at a controller failover.

    Offsets are -1 while unknown. `last_contact_ms` stays 0 in a run without a clock.
    """

    broker: BrokerId
    fenced: bool = True
    last_contact_ms: int = 0
    metadata_offset: int = -1
    controlled_shutdown_offset: int = -1


class Controller(msgspec.Struct, frozen=True, cache_hash=True):
    """The active controller. Registrations and heartbeats are sorted by broker id."""

    epoch: ControllerEpoch = ControllerEpoch(1)
    next_offset: int = 0
    """Offset of the next metadata record; new broker epochs are minted from it."""
    registrations: tuple[Registration, ...] = ()
    partitions: tuple[PartitionRegistration, ...] = ()
    heartbeats: tuple[HeartbeatState, ...] = ()


def registration(registrations: tuple[Registration, ...], broker: BrokerId) -> Registration | None:
    """The registration of `broker`, or None."""
    for found in registrations:
        if found.broker == broker:
            return found
    return None


def partition(
    partitions: tuple[PartitionRegistration, ...], name: str
) -> PartitionRegistration | None:
    """The partition called `name`, or None."""
    for found in partitions:
        if found.name == name:
            return found
    return None


def heartbeat(controller: Controller, broker: BrokerId) -> HeartbeatState | None:
    """What the sitting controller knows of `broker`, or None."""
    for found in controller.heartbeats:
        if found.broker == broker:
            return found
    return None


def is_active(found: Registration | None, active: frozenset[str]) -> bool:
    """Whether a broker may lead and be in a new ISR.

    KIP-841: a broker in controlled shutdown is not eligible; releases before it ask only whether
    the broker is fenced.
    """
    if found is None or found.fenced:
        return False
    return not (found.in_controlled_shutdown and "841.active-leader" in active)
