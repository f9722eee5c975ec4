"""Cells and bounds on Spark, one a task: the answers of this process, wherever they come from."""

from typing import Any

import pytest

from kiplab.explore.matrix.cells import Matrix
from kiplab.explore.matrix.processes import on_spark
from kiplab.explore.search.explore_play import explore_play
from kiplab.explore.search.explored import Explored
from kiplab.explore.search.question import question_about, situation
from kiplab.matrices import matrix

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
def test_several_bounds_on_spark_are_those_of_this_machine() -> None:
    bounds = [{"writes": 0, "crashes": 0}, {"writes": 0}, {"writes": 1}]
    about = situation("kafka-14139", "3.4")
    questions = [question_about(*about, bounds=within) for within in bounds]
    there, here = on_spark(questions), [explore_play(question) for question in questions]
    assert [of(one) for one in there] == [of(one) for one in here]
    assert [one.bounds["writes"] for one in there] == [0, 0, 1]
