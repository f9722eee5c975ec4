"""Cells and bounds on Spark, one a task: the answers of this process, wherever they come from."""

from __future__ import annotations

from typing import Any

import pytest

from kiplab.explore.matrix.cells import Matrix
from kiplab.explore.matrix.guard_matrix import matrix
from kiplab.explore.matrix.sweep import sweep
from kiplab.explore.search.explored import Explored

pytestmark = pytest.mark.spark
PAIR = ("841", "903")


def facts(found: Matrix) -> list[tuple[Any, ...]]:
    return [(c.off, c.verdict, c.steps, c.states, c.violated, c.play) for c in found.cells]


def of(found: Explored) -> tuple[Any, ...]:
    return found.verdict, found.steps, found.states, found.transitions, found.play, found.vacuity


@pytest.mark.usefixtures("spark")
def test_a_matrix_on_spark_is_the_matrix_of_this_machine() -> None:
    there = matrix("kafka-14139", guards=PAIR, writes=0, spark=True)
    here = matrix("kafka-14139", guards=PAIR, writes=0, processes=1)
    assert facts(there) == facts(here)
    assert there.minimal == [["841", "903"]]


@pytest.mark.usefixtures("spark")
def test_a_sweep_of_bounds_on_spark_is_that_of_this_machine() -> None:
    bounds = [{"writes": 0, "crashes": 0}, {"writes": 0}, {"writes": 1}]
    there = sweep("kafka-14139", bounds, kafka="3.4", spark=True)
    here = sweep("kafka-14139", bounds, kafka="3.4", processes=1)
    assert [of(one) for one in there] == [of(one) for one in here]
    assert [one.bounds["writes"] for one in there] == [0, 0, 1]
