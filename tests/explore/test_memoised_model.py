"""The memoised model is the engine's, sooner: state by state over whole reachable graphs."""

from __future__ import annotations

from typing import Any

import pytest

from kiplab.explore.levels.all_levels import level_named
from kiplab.explore.levels.level_table import Level
from kiplab.explore.search.engine_model import EngineModel
from kiplab.explore.search.memoised_model import MemoisedModel
from tests.explore.guard_rules import FAR_REACHING, rules_of_the_tables

PARTITION = level_named("partition")
RULES = rules_of_the_tables(first="3.2")


def bounds(writes: int, crashes: int, fences: int) -> dict[str, int]:
    return {"writes": writes, "crashes": crashes, "fences": fences}


def assert_same_graph(cluster: Any, within: dict[str, int], level: Level = PARTITION) -> None:
    engine, memoised = EngineModel(level, cluster, within), MemoisedModel(level, cluster, within)
    known = {memoised.first(): engine.first()}
    before: dict[Any, set[str]] = {memoised.first(): set()}
    todo = list(known)
    for state in todo:
        expected = list(engine.successors(known[state]))
        found = list(memoised.successors(state))
        assert [a for a, _, _ in found] == [a for a, _, _ in expected]
        for (_, after, broken), (_, same, violated) in zip(found, expected, strict=True):
            assert (memoised.cluster(after), memoised.budgets_left(after)) == same
            # The engine's model says again what broke before; nobody searches beyond that.
            assert set(violated) - before[state] <= set(broken) <= set(violated)
            if after not in known:
                known[after] = same
                before[after] = before[state] | set(violated)
                todo.append(after)
    assert len(set(known.values())) == len(known)
    assert memoised.seen.guards == engine.seen.guards
    assert memoised.seen.committed == engine.seen.committed


@pytest.mark.parametrize("rules", FAR_REACHING, ids=str)
def test_one_crash(start: Any, rules: dict[str, Any]) -> None:
    assert_same_graph(start(**rules), bounds(0, 1, 0))


@pytest.mark.parametrize("rules", RULES, ids=str)
def test_a_crash_and_a_write_between_two_brokers(start: Any, rules: dict[str, Any]) -> None:
    assert_same_graph(start(**rules, play="kafka-14139"), bounds(1, 1, 0))


def test_a_write_and_a_crash_between_three_brokers(start: Any) -> None:
    assert_same_graph(start(), bounds(1, 1, 0))


def test_a_spurious_fencing(start: Any) -> None:
    assert_same_graph(start(), bounds(0, 0, 1))
