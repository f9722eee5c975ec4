"""Blocks of work: a range of schedules in, one row per schedule and feature set out."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from ...machine import without_collector
from ...protocol.features import Features
from .random_schedule import Window, schedule
from .shared_outcomes import outcomes

SCHEMA = (
    "features int, schedule bigint, stale_join boolean, lost boolean, lost_records bigint,"
    " excused boolean, arrived string, refused_by string, broke_promise boolean, moves bigint"
)
BLOCK_SCHEDULES = 250
"""About a second of work: short enough to spread evenly, long enough to make Spark's cost small."""


class BlockOrder(msgspec.Struct, frozen=True, kw_only=True):
    """Run the schedules first..last-1 under each of `sets`."""

    sets: tuple[Features, ...]
    window: Window
    seed: int
    first: int
    last: int


def orders(sets: Sequence[Features], window: Window, seed: int, n: int) -> list[BlockOrder]:
    """All blocks of a study of `n` schedules."""
    return [
        BlockOrder(
            sets=tuple(sets),
            window=window,
            seed=seed,
            first=first,
            last=min(first + BLOCK_SCHEDULES, n),
        )
        for first in range(0, n, BLOCK_SCHEDULES)
    ]


def work_off(payload: bytes) -> list[dict[str, Any]]:
    """The rows of one order: a function of the order alone, wherever it runs."""
    order = msgspec.json.decode(payload, type=BlockOrder)
    with without_collector():
        return [row for index in range(order.first, order.last) for row in _rows(order, index)]


def _rows(order: BlockOrder, index: int) -> Iterator[dict[str, Any]]:
    row_outcomes = outcomes(schedule(order.window, order.seed, index), order.sets)
    for number, outcome in enumerate(row_outcomes):
        yield {"features": number, "schedule": index, **msgspec.structs.asdict(outcome)}
