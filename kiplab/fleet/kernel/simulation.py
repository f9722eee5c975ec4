"""`simulate`: replica sets over years, under several feature sets on the same schedules."""

from collections.abc import Sequence
from typing import Any

import msgspec

from . import set_words as word
from .machine_code import as_words, has_compiler, np, plain, words
from .mirrored_guards import CODE_OF_4_0, is_regular, mask_of
from .outside_streams import DELAYS, STREAM, STREAMS
from .quiet_time import QUIET_WORDS
from .set_events import ROW
from .simulation_loop import COUNTED, METRICS, live
from .world import World, compiled_world

METRIC_NAMES = (
    *("incidents", "expansions", "stale_join", "committed_loss", "race_loss", "last_replica_loss"),
    *("unclean_loss", "shock_loss", "offline", "offline_us", "under_min_us", "recovery_us"),
    "refused",
)
"""What is counted of each replication, in the order of the table."""


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """What was counted: `table` is an array with a whole number for each (replication, feature set,
    metric). `exposure_us` is each feature set's time, `events` how many came from
    outside, `steps` how many were worked out in all sets together, `checks` what went wrong (0).
    """

    first: int
    last: int
    feature_sets: tuple[str, ...]
    metrics: tuple[str, ...]
    table: Any
    exposure_us: int
    events: int
    steps: int
    checks: int

    def count(self, replication: int, features: str, metric: str) -> int:
        """Of one replication. Raises ValueError for a set or a metric that was not counted."""
        return int(self.of(features, metric)[replication - self.first])

    def total(self, features: str, metric: str) -> int:
        """Of all of them. Raises ValueError for a set or a metric that was not counted."""
        return sum(self.of(features, metric).tolist())  # more than a word may hold

    def of(self, features: str, metric: str) -> Any:
        """The numbers of every replication. Raises ValueError as `count`."""
        return self.table[:, self.feature_sets.index(features), self.metrics.index(metric)]


def simulate(
    world: World,
    *,
    seed: int,
    first: int,
    last: int,
    horizon_us: int,
    feature_sets: Sequence[str],
    compiled: bool = True,
    skips: bool = True,
) -> Counts:
    """Replications first..last-1, each a replica set over `horizon_us`, under every feature set.

    The numbers depend on the world, the seed, the replication and the feature set alone: not on
    how the replications are cut into pieces, on the other feature sets, on `compiled` or on `skips`
    (whether quiet time is skipped). Without numba everything runs as plain Python.

    Raises ValueError for a world, a range or a feature set that there is not.
    """
    if not 0 <= seed < 1 << 32:
        raise ValueError(f"a seed of {seed}; expected 0 to {(1 << 32) - 1}")
    if not 0 <= first < last < 1 << 32 or horizon_us < 1:
        raise ValueError(f"replications {first} to {last} of seed {seed}: nothing to simulate")
    masks = [mask_of(name) for name in feature_sets]
    if not masks:
        raise ValueError("there is no feature set; expected at least one, as in ['none']")
    skips = skips and all(map(is_regular, masks))
    words = compiled_world(world, lasts_on=any(mask & CODE_OF_4_0 for mask in masks))
    fast = compiled and has_compiler()
    states = [_room(word.STATE_WORDS, False) for _ in masks]
    states = as_words(states) if fast else states
    numbers = tuple(n if fast else [*map(int, n)] for n in (words.numbers, words.tables))
    clocks, room = (tuple(_room(n, fast) for n in sizes) for sizes in (_CLOCKS, _ROOM))
    for v, mask in enumerate(masks):
        states[v][word.GUARDS] = mask
    run = live if fast else plain(live)
    tables: list[Any] = []
    events = 0
    for start in range(first, last, _AT_ONCE):
        end = min(start + _AT_ONCE, last)
        table = _room((end - start) * len(masks) * COUNTED, fast)
        span = (seed, (start, end), horizon_us, skips)
        events += int(run(states, numbers, clocks, room, table, *span))
        tables.append(table)
    counted = np.concatenate(tables).reshape(last - first, len(masks), COUNTED)
    return Counts(
        first=first,
        last=last,
        feature_sets=tuple(feature_sets),
        metrics=METRIC_NAMES,
        table=counted[:, :, :METRICS],
        exposure_us=(last - first) * horizon_us,
        events=events,
        steps=int(counted[:, :, word.STEPS - word.COUNTS].sum()),
        checks=int(counted[:, :, word.CHECKS - word.COUNTS].sum()),
    )


_CLOCKS = STREAMS * STREAM, STREAMS, STREAMS
_ROOM = word.BROKERS * DELAYS, ROW, QUIET_WORDS, 1 + word.TOLD_WORDS
"""Words of each part of Clocks and of Scratch; nobody writes that trace."""
_AT_ONCE = 100
"""So many replications are run before Python looks whether it was interrupted."""


def _room(count: int, fast: bool) -> Any:
    return words(count) if fast else [0] * count
