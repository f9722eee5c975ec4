"""Blocks of work: a feature set and a range of schedules in, one row per schedule out."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from ..protocol.features import Features
from .outcomes import outcome
from .random_schedule import Window, schedule

SCHEMA = (
    "features int, schedule bigint, stale_join boolean, lost boolean, lost_records bigint,"
    " excused boolean, arrived string, refused_by string, broke_promise boolean, moves bigint"
)
BLOCK_SCHEDULES = 250
"""About a second of work: short enough to spread evenly, long enough to make Spark's cost small."""


class BlockOrder(msgspec.Struct, frozen=True, kw_only=True):
    """Run the schedules first..last-1 under `features`, the set number `number` of a study."""

    number: int
    features: Features
    window: Window
    seed: int
    first: int
    last: int


def orders(sets: Sequence[Features], window: Window, seed: int, n: int) -> list[BlockOrder]:
    """All blocks of a study of `n` schedules: the same schedules for every feature set."""
    return [
        BlockOrder(
            number=number,
            features=features,
            window=window,
            seed=seed,
            first=first,
            last=min(first + BLOCK_SCHEDULES, n),
        )
        for number, features in enumerate(sets)
        for first in range(0, n, BLOCK_SCHEDULES)
    ]


def work_off(payload: bytes) -> list[dict[str, Any]]:
    """The rows of one order: a function of the order alone, wherever it runs."""
    order = msgspec.json.decode(payload, type=BlockOrder)
    with _without_collector():
        return [_row(order, index) for index in range(order.first, order.last)]


def _row(order: BlockOrder, index: int) -> dict[str, Any]:
    found = outcome(schedule(order.window, order.seed, index), order.features)
    return {"features": order.number, "schedule": index, **msgspec.structs.asdict(found)}


@contextlib.contextmanager
def _without_collector() -> Iterator[None]:
    """Frozen values form no cycles: looking for some takes a sixth of the time and finds none."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
