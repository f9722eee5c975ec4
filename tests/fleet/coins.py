"""A block function that is simple and real: coins thrown by a counter-based generator.

Executors import it from here, so it stands in a module of its own.
"""

from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec

from kiplab.fleet.parameters import Parameters, Scenario
from kiplab.fleet.pipeline.study_plan import FleetOrder, Partial, StudyPlan, Workload
from kiplab.fleet.pipeline.study_run import StudyOutcome, run_study

SETS = ("none", "841", "841+903")
METRICS = ("heads", "tails_us")


def coin(share: float) -> Scenario:
    """It falls on heads with probability `share`, which is kept as the share of lost tails."""
    return Scenario(feature_sets=SETS, parameters=Parameters(tail_lost=share))


def throw(order: FleetOrder) -> list[Partial]:
    """Every replication is thrown once, and every feature set sees its own part of the throw."""
    thrown = [_throw(order, replication) for replication in range(order.first, order.last)]
    return [
        _partial(order, number, features, metric, thrown)
        for number, features in enumerate(order.feature_sets)
        for metric in METRICS
    ]


def refuse_block_3(order: FleetOrder) -> list[Partial]:
    if order.block == 3:
        raise ArithmeticError("the coin stands on its edge")
    return throw(order)


def forget_a_set(order: FleetOrder) -> list[Partial]:
    return throw(order)[:-1]


def find_itself_wrong(order: FleetOrder) -> list[Partial]:
    return [msgspec.structs.replace(one, checks=2) for one in throw(order)]


def _throw(order: FleetOrder, replication: int) -> float:
    key = f"{order.study_seed} {replication}".encode()
    return int.from_bytes(blake2b(key, digest_size=8).digest(), "big") / 2**64


def _partial(
    order: FleetOrder, number: int, features: str, metric: str, thrown: list[float]
) -> Partial:
    whole = order.scenario.parameters.tail_lost
    share = whole / (1 + number)
    heads = [value for value in thrown if value < share]
    first = [value for value in heads if value < whole / (1 + whole)]
    counted = len(heads) if metric == "heads" else sum(int(v * 10**15) for v in thrown)
    weights = [share * (1 + value) for value in heads]
    return Partial(
        scenario_id=order.scenario.scenario_id,
        block=order.block,
        features=features,
        metric=metric,
        replications=order.last - order.first,
        # More than 64 bits hold, as in a block of 292,000 partition-years.
        exposure_us=(order.last - order.first) * 10**20,
        events=counted,
        clusters_hit=len(heads),
        sum_w=_one_after_the_other(weights),
        sum_w2=_one_after_the_other([w * w for w in weights]),
        max_w=max(weights, default=0.0),
        cross=len(first),
    )


def _one_after_the_other(values: list[float]) -> float:
    total = 0.0
    for value in values:
        total += value
    return total


def plan(**changes: Any) -> StudyPlan:
    """Two coins, five blocks of each, forty throws in a block."""
    settings: dict[str, Any] = {
        "shares": (0.5, 0.03),
        "blocks": 5,
        "block_replications": 40,
        "study_seed": 7,
        "feature_sets": SETS,
        "code": "0123abcd",
        **changes,
    }
    loads = tuple(
        Workload(
            scenario=coin(share),
            block_replications=settings["block_replications"],
            blocks=settings["blocks"],
            years=2.5,
        )
        for share in settings["shares"]
    )
    return StudyPlan(
        workloads=loads,
        feature_sets=settings["feature_sets"],
        study_seed=settings["study_seed"],
        code=settings["code"],
    )


def work_out(
    folder: Path, given: StudyPlan | None = None, work: Any = throw, **options: Any
) -> StudyOutcome:
    """Every block is a wave: how long it takes is not to decide what a test sees."""
    settings = {"spark": False, "keep_every_s": 0, **options}
    return run_study(given or plan(), work, folder, **settings)
