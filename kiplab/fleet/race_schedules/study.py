"""`schedules`: the same random schedules under several feature sets, on Spark or without it."""

from collections.abc import Mapping, Sequence

from ...protocol.features import Features, parse_features
from ...spark import run_blocks, run_blocks_plainly
from .random_schedule import Window, check
from .result import Schedules
from .schedule_blocks import SCHEMA, orders, work_off

FeatureSets = Mapping[str, Features | str] | Sequence[Features | str]


def schedules(
    n: int = 5_000,
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

    Each goes through the engine, step by step; every feature set gets the same schedules. What
    comes out is conditional: shares of schedules, given that the follower crashes in this `window`.

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
    blocks = orders(list(sets.values()), window, seed, n)
    if spark:
        # Each costs Spark some 60 ms; too few, and one core is left alone with the last of them.
        tasks = max(8, len(blocks) // 2) if partitions is None else partitions
        runs = run_blocks(
            work_off, blocks, schema=SCHEMA, master=master, partitions=tasks, progress=progress
        )
    else:
        runs = run_blocks_plainly(work_off, blocks, SCHEMA)
    runs = runs.sort_by([("features", "ascending"), ("schedule", "ascending")])
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
