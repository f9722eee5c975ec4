"""`schedules`: the same random schedules under several feature sets, on Spark or without it.

A block of work is a range of schedules; it returns one row for each schedule and feature set.
"""

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

import msgspec

from ...engine.cluster import Cluster
from ...engine.events import CommittedLost, Delivered, PropertyBroken
from ...engine.history import Recorded
from ...engine.properties import NO_STALE_EPOCH_IN_ISR
from ...engine.truth import registration_of
from ...machine import without_collector
from ...plays.play import Play
from ...plays.runner import run_play
from ...protocol.facts import Refused
from ...protocol.features import Features, parse_features
from ...protocol.ids import BrokerId
from ...protocol.messages import AlterPartitionRequest
from ...spark import run_blocks
from .random_schedule import FOLLOWER, LEADER, Window, check, schedule
from .result import Schedules

FeatureSets = Mapping[str, Features | str] | Sequence[Features | str]
SCHEMA = (
    "features int, schedule bigint, stale_join boolean, lost boolean, lost_records bigint,"
    " excused boolean, arrived string, refused_by string, broke_promise boolean, moves bigint"
)
BLOCK_SCHEDULES = 25
"""About half a second of work: short enough to spread evenly, long for what Spark costs."""


def schedules(
    n: int = 500,
    *,
    features: FeatureSets | None = None,
    window: Window | None = None,
    seed: int = 0,
    master: str | None = None,
    partitions: int | None = None,
    progress: bool | None = None,
    spark: bool = True,
) -> Schedules:
    """Run `n` random timed schedules around a delayed AlterPartition under every feature set.

    Every feature set gets the same schedules, and the engine runs each as a play. The result
    is conditional: shares of schedules, given that the follower crashes in this `window`.

    `features` maps names to feature sets (``Features``, or a release such as ``"3.4"``), or lists
    them; None means Kafka 3.5 without KIP-841 and KIP-903, with one of them, with both. `master` is
    a Spark master or a Spark Connect address, None this machine (or SPARK_REMOTE); `partitions` is
    the number of tasks. `spark` False runs everything in this process. The result depends on `n`,
    `features`, `window` and `seed` alone, not on where or in how many pieces it was worked out.

    Raises ValueError for a number or a window that makes no sense, SparkUnavailable without Spark.
    """
    window = check(Window() if window is None else window)
    sets = _named(usual() if features is None else features)
    if n < 1:
        raise ValueError(f"n is {n}; expected 1 schedule or more")
    if not sets:
        raise ValueError("there is no feature set; expected at least one, as in features=['3.5']")
    blocks = orders(tuple(sets.values()), window, seed, n)
    if spark:
        runs = run_blocks(
            work_off, blocks, schema=SCHEMA, master=master, partitions=partitions, progress=progress
        ).to_pylist()
    else:
        runs = [row for block in blocks for row in _rows_of(block)]
    runs.sort(key=itemgetter("features", "schedule"))
    return Schedules(sets=sets, window=window, seed=seed, n=n, runs=runs)


def usual() -> dict[str, Features]:
    """Kafka 3.5 without KIP-841 and KIP-903, with one of them, with both."""
    return {
        "neither": parse_features("3.5", off=("841", "903")),
        "KIP-841 only": parse_features("3.5", off=("903",)),
        "KIP-903 only": parse_features("3.5", off=("841",)),
        "both": parse_features("3.5"),
    }


def _named(features: FeatureSets) -> dict[str, Features]:
    if isinstance(features, Mapping):
        return {name: _features(features_given) for name, features_given in features.items()}
    return {one.label(): one for one in map(_features, features)}


def _features(features: Features | str) -> Features:
    return parse_features(features) if isinstance(features, str) else features


class BlockOrder(msgspec.Struct, frozen=True, kw_only=True):
    """Run the schedules first..last-1 under each of `sets`."""

    sets: tuple[Features, ...]
    window: Window
    seed: int
    first: int
    last: int


def orders(sets: tuple[Features, ...], window: Window, seed: int, n: int) -> list[BlockOrder]:
    """All blocks of a study of `n` schedules."""
    ends = [*range(BLOCK_SCHEDULES, n, BLOCK_SCHEDULES), n]
    return [
        BlockOrder(sets=sets, window=window, seed=seed, first=first, last=last)
        for first, last in zip([0, *ends], ends, strict=False)
    ]


def work_off(payload: bytes) -> list[dict[str, Any]]:
    """The rows of one order: a function of the order alone, wherever it runs."""
    return _rows_of(msgspec.json.decode(payload, type=BlockOrder))


def _rows_of(order: BlockOrder) -> list[dict[str, Any]]:
    rows = []
    with without_collector():
        for index in range(order.first, order.last):
            play = schedule(order.window, order.seed, index)
            for number, features in enumerate(order.sets):
                ended = msgspec.structs.asdict(outcome(play, features))
                rows.append({"features": number, "schedule": index, **ended})
    return rows


# --- what becomes of one schedule -----------------------------------------------------------------

STAGES = UNNOTICED, FENCED, REGISTERED, UNFENCED = "unnoticed", "fenced", "registered", "unfenced"
"""How far the controller was with the follower's crash when the delayed request arrived."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """One schedule, one feature set.

    `stale_join`: the ISR held another incarnation than the one that caught up. `lost`: a leader
    took over without committed records (`lost_records` of them). `excused`: it did so after every
    member of the ISR had died without those records, the exception that KIP-903 concedes ("the last
    replica"); such a loss is counted in `lost` too. `arrived` is one of STAGES. `refused_by` is the
    guard that refused the delayed request, None when it was accepted. `broke_promise`: a property
    broke where it was promised, which is a bug. `moves` counts the engine's steps.
    """

    stale_join: bool
    lost: bool
    lost_records: int
    excused: bool
    arrived: str
    refused_by: str | None
    broke_promise: bool
    moves: int


def outcome(play: Play, features: Features) -> Outcome:
    """Run a schedule under `features`. Raises PlayError when it is too long."""
    history = run_play(play, features).history
    events = [event for step in history.steps for event in step.events]
    losses = [event for event in events if isinstance(event, CommittedLost)]
    broken = [event for event in events if isinstance(event, PropertyBroken)]
    arrival = next(step for step in history.steps if _is_the_request(step))
    refusal = next((event for event in arrival.events if isinstance(event, Refused)), None)
    return Outcome(
        stale_join=any(event.property == NO_STALE_EPOCH_IN_ISR.id for event in broken),
        lost=bool(losses),
        lost_records=sum(event.last - event.first + 1 for event in losses),
        excused=bool(losses) and any(known.excused for known in history.cluster.observed),
        arrived=_noticed(history.start, arrival.cluster),
        refused_by=None if refusal is None else refusal.guard or refusal.error.name,
        broke_promise=any(event.promised for event in broken),
        moves=len(history.steps),
    )


def _is_the_request(step: Recorded) -> bool:
    first = step.events[0] if step.events else None
    return (
        isinstance(first, Delivered)
        and isinstance(first.body, AlterPartitionRequest)
        and first.message[:2] == (LEADER, 1)
    )


def _noticed(start: Cluster, now: Cluster) -> str:
    was, registration = (registration_of(each, BrokerId(FOLLOWER)) for each in (start, now))
    fenced = registration is None or registration.fenced
    if registration is not None and was is not None and registration.epoch == was.epoch:
        return FENCED if fenced else UNNOTICED
    return REGISTERED if fenced else UNFENCED
