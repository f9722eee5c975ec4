"""A study before it runs: its scenarios, in blocks of replications."""

from hashlib import sha256
from typing import Any

import msgspec

from ..parameters.scenario import Scenario
from .work_orders import METHODS, NAIVE, FleetOrder

_FORMAT = 2

BlockKey = tuple[str, int]
"""Scenario and block: what is worked out once."""


class Workload(msgspec.Struct, frozen=True, kw_only=True):
    """`blocks` blocks of `block_replications` replications of one scenario.

    `years` are the partition-years of one replication. The size of a block is part of a study;
    the number of blocks is not: a study may be gone on with for longer.
    """

    scenario: Scenario
    block_replications: int
    blocks: int
    years: float

    def orders(self, **about: Any) -> list[FleetOrder]:
        """Its blocks in order, each with what an order says beside: seed, feature sets, method."""
        size, scenario = self.block_replications, self.scenario
        return [
            FleetOrder(scenario=scenario, block=n, first=n * size, last=(n + 1) * size, **about)
            for n in range(self.blocks)
        ]


class StudyPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be worked out, and by which code.

    Raises ValueError for a plan without work, or with one scenario twice.
    """

    workloads: tuple[Workload, ...]
    feature_sets: tuple[str, ...]
    study_seed: int
    code: str
    method: str = NAIVE

    def __post_init__(self) -> None:
        ids = [load.scenario.scenario_id for load in self.workloads]
        if not ids or len(ids) != len(set(ids)):
            raise ValueError("a study has one scenario or more, and each of them once")
        if not self.feature_sets or len(self.feature_sets) != len(set(self.feature_sets)):
            raise ValueError("a study has one feature set or more, and each of them once")
        if any(load.blocks < 1 or load.block_replications < 1 for load in self.workloads):
            raise ValueError("a scenario has one block or more, of one replication or more")
        if self.method not in METHODS:
            raise ValueError(f"there is no method {self.method!r}; there are {', '.join(METHODS)}")

    @property
    def orders(self) -> list[FleetOrder]:
        """All blocks, mixed: neighbours in the grid cost alike, and no task gets all dear ones."""
        about = {"study_seed": self.study_seed, "feature_sets": self.feature_sets}
        every = [order for w in self.workloads for order in w.orders(method=self.method, **about)]
        return sorted(every, key=lambda order: _mixed(*key_of(order)))

    @property
    def identity(self) -> dict[str, Any]:
        """What makes this study another than any other, ready for JSON."""
        scenarios = {
            load.scenario.scenario_id: {
                "block_replications": load.block_replications,
                "scenario": msgspec.to_builtins(load.scenario),
            }
            for load in self.workloads
        }
        return {
            "format": _FORMAT,
            "code": self.code,
            "study_seed": self.study_seed,
            "method": self.method,
            "feature_sets": list(self.feature_sets),
            "scenarios": dict(sorted(scenarios.items())),
        }


def key_of(order: FleetOrder) -> BlockKey:
    """What an order's answer is kept under."""
    return order.scenario.scenario_id, order.block


def _mixed(scenario_id: str, block: int) -> bytes:
    return sha256(f"{scenario_id} {block}".encode()).digest()
