"""The controller's state: what the metadata log says, and what only a sitting controller knows."""

from __future__ import annotations

import msgspec

from ..ids import BrokerId, ControllerEpoch
from ..registrations import PartitionRegistration, Registration


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

    @property
    def controller_epoch(self) -> ControllerEpoch:
        """`epoch`, under the name that it has in every mode."""
        return self.epoch


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
