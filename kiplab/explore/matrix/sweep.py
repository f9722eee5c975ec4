"""Big questions in pieces: cells or bounds, one search a task, on Spark or without it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ...plays.header import features_of
from ...plays.library import find
from ...plays.play import Play
from ...plays.play_features import chosen
from ..levels.all_levels import level_named
from ..levels.level_table import ExploreError
from ..search import announcements
from ..search.explored import Explored
from ..search.limits import MEMORY_MB
from .processes import MaybeExplored, answers, processes_and_memory
from .tasks import Order, answer, answered, work_off

SCHEMA = "explored binary"


def sweep(
    play: str | Path | Play,
    bounds: Sequence[Mapping[str, int]],
    *,
    kafka: str | None = None,
    on: str | tuple[str, ...] = (),
    off: str | tuple[str, ...] = (),
    level: str = "partition",
    property: str | tuple[str, ...] | None = None,
    seconds: float | None = None,
    states: int | None = None,
    memory_mb: int = MEMORY_MB,
    spark: bool = False,
    master: str | None = None,
    processes: int | None = None,
    progress: Callable[[int, int], object] | None = None,
    say: Callable[[str], object] | None = None,
) -> list[Explored]:
    """One question within several bounds: ``sweep("isr-two-of-three", [{"writes": 2}, ...])``.

    The results stand in the order of `bounds`, and are those of `kiplab.explore` for each. With
    `spark` every search is a task of its own, on `master` or this machine; else `processes`
    searches run at a time (by default one per core), all together within `memory_mb`. What will be
    long is announced, and progress shown, as by `kiplab.matrix`. Raises as `kiplab.explore`.
    """
    crew, each_mb = (
        (1, memory_mb) if spark else processes_and_memory(processes, memory_mb, len(bounds))
    )
    found, told_with = (play, None) if isinstance(play, Play) else find(play)
    given = chosen(found, told_with, kafka, _tuple(off), _tuple(on))
    features = features_of(found) if given is None else given
    orders = [
        Order(
            play=found,
            features=features,
            level=level,
            property=property,
            bounds=dict(within),
            seconds=seconds,
            states=states,
            memory_mb=each_mb,
        )
        for within in bounds
    ]
    for order in orders:
        tried = try_out(order)
        if tried.predicted:
            words = level_named(level).in_words(tried.bounds)
            (say or announcements.say)(f"within {words}: {tried.predicted}")
    if spark:
        return on_spark(orders, master=master)
    told = answers(orders, processes=crew, told=progress or announcements.of_cells("searches"))
    return [_there(one, order) for one, order in zip(told, orders, strict=True)]


def _tuple(names: str | tuple[str, ...]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _there(one: MaybeExplored, order: Order) -> Explored:
    if one is None:
        raise ExploreError(
            f"the process that searched within {order.bounds} is gone, probably for want of"
            " memory; give it smaller bounds, or memory_mb="
        )
    return one


def try_out(order: Order) -> Explored:
    """The search, cancelled as it begins: what is wrong with an order is said here, before it
    travels, and `predicted` is what is to be expected of it."""
    return answer(order, lambda: True)


def announcement(what: str, count: int, crew: int, predicted: str) -> str:
    """A prediction for each of many searches, `crew` of them at a time."""
    return f"{count} {what}, {crew} at a time; where nothing breaks, for each: {predicted}"


def on_spark(
    orders: Sequence[Order], *, master: str | None = None, progress: bool | None = None
) -> list[Explored]:
    """The answers, one order a task. Raises SparkUnavailable without Spark."""
    from ...spark import run_blocks

    payloads = [msgspec.json.encode(order) for order in orders]
    table = run_blocks(
        task,
        payloads,
        schema=SCHEMA,
        master=master,
        partitions=max(len(payloads), 1),
        progress=progress,
    )
    return [answered(row) for row in table["explored"].to_pylist()]


def task(payload: bytes) -> list[dict[str, Any]]:
    """One order as a block of kiplab.spark: a row with its answer."""
    return [{"explored": work_off(payload)}]
