"""One question as a small order, worked off wherever there is room: here, in a process, on Spark.

What comes back depends on the order alone.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from ...plays.play import Play
from ...protocol.features import Features
from ..search.explore_play import explore_play
from ..search.explored import Explored
from ..search.limits import MEMORY_MB


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `explore_play`: a situation, its rules, what is asked within what."""

    play: Play
    features: Features
    level: str = "partition"
    property: str | tuple[str, ...] | None = None
    bounds: dict[str, int] = {}
    seconds: float | None = None
    states: int | None = None
    memory_mb: int = MEMORY_MB


def answer(order: Order, cancel: Callable[[], bool] | None = None) -> Explored:
    """The search that the order asks for, until `cancel` says stop.

    Raises what `explore_play` raises.
    """
    return explore_play(
        order.play,
        order.features,
        level=order.level,
        property=order.property,
        bounds=order.bounds,
        seconds=order.seconds,
        states=order.states,
        memory_mb=order.memory_mb,
        cancel=cancel,
    )


def work_off(payload: bytes) -> bytes:
    """`answer` from JSON to JSON, on one line each."""
    return msgspec.json.encode(answer(msgspec.json.decode(payload, type=Order)))


def answered(payload: bytes) -> Explored:
    """What `work_off` wrote."""
    return msgspec.json.decode(payload, type=Explored)
