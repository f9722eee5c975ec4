"""The memoised model is the engine's, sooner: state by state over whole reachable graphs."""

from typing import Any

import pytest

from kiplab.explore.levels.level_table import Level
from kiplab.explore.search import shared_memory
from kiplab.explore.search.breadth_first import EngineModel, search
from kiplab.explore.search.hidden_parts import UnforeseenError
from kiplab.explore.search.memoised_model import MemoisedModel
from kiplab.explore.search.shared_memory import SharedMemory
from kiplab.protocol.ids import CONTROLLER
from tests.explore.bounds import PARTITION, begun, bounds
from tests.explore.guard_rules import FAR_REACHING, rules_of_the_tables, tried, with_effect
from tests.repeated import in_long

RULES = with_effect(rules_of_the_tables(first="3.2"))
QUICK = "tests/explore/test_memoised_model.py::test_a_crash_between_two_brokers"


def assert_same_graph(
    cluster: Any,
    within: dict[str, int],
    level: Level = PARTITION,
    memory: SharedMemory | None = None,
) -> None:
    engine = EngineModel(level, cluster, within)
    memoised = MemoisedModel(level, cluster, within, memory)
    known = {memoised.first(): engine.first()}
    before: dict[Any, set[str]] = {memoised.first(): set()}
    todo = list(known)
    for state in todo:
        expected = list(engine.successors(known[state]))
        found = list(memoised.successors(state))
        assert [a for a, _, _ in found] == [a for a, _, _ in expected]
        for (_, after, broken), (_, same, violated) in zip(found, expected, strict=True):
            assert after == memoised.parts.state_of(*same)
            # The engine's model says again what broke before; nobody searches beyond that.
            assert set(violated) - before[state] <= set(broken) <= set(violated)
            if after not in known:
                known[after] = same
                before[after] = before[state] | set(violated)
                todo.append(after)
    assert len(set(known.values())) == len(known)
    assert memoised.coverage.guards == engine.coverage.guards
    assert memoised.coverage.committed == engine.coverage.committed


@pytest.mark.parametrize("rules", [*FAR_REACHING[:2], *in_long(FAR_REACHING[2:], QUICK)], ids=str)
def test_one_crash(rules: dict[str, Any]) -> None:
    assert_same_graph(begun(**rules), bounds(0, 1, 0))


@pytest.fixture(scope="module")
def memory() -> SharedMemory:
    return SharedMemory()


@pytest.mark.parametrize("rules", tried("3.2", QUICK), ids=str)
def test_a_crash_between_two_brokers(rules: dict[str, Any], memory: SharedMemory) -> None:
    assert_same_graph(begun(**rules, play="kafka-14139"), bounds(0, 1, 0), memory=memory)


@pytest.mark.parametrize("rules", [*FAR_REACHING[1:3], *in_long(RULES, QUICK)], ids=str)
def test_a_crash_and_a_write_between_two_brokers(
    rules: dict[str, Any], memory: SharedMemory
) -> None:
    """One search after the other with the same memory: each meets the effects of its own rules."""
    assert_same_graph(begun(**rules, play="kafka-14139"), bounds(1, 1, 0), memory=memory)


def test_a_memory_serves_searches_that_differ_in_their_guards() -> None:
    memory, within = SharedMemory(), bounds(0, 1, 0)
    worked_out = []
    for off in ((), ("903",), ("841",), ("903",)):
        model = MemoisedModel(PARTITION, begun(off=off, play="kafka-14139"), within, memory)
        search(model, ())
        worked_out.append(memory.count)
    first, second, third, fourth = worked_out
    assert first < second < 2 * first, "without KIP-903 some is as it was"
    assert fourth == third, "all of that has been searched before"
    search(MemoisedModel(PARTITION, begun(), within, memory), ())
    assert memory.parts.places.keys() == {1, 2, 3}, "another start begins with an empty memory"


def test_a_full_memory_is_emptied(monkeypatch: pytest.MonkeyPatch) -> None:
    memory, within = SharedMemory(), bounds(0, 1, 0)
    search(MemoisedModel(PARTITION, begun(play="kafka-14139"), within, memory), ())
    monkeypatch.setattr(shared_memory, "EFFECTS_MAX", memory.count)
    MemoisedModel(PARTITION, begun(play="kafka-14139"), within, memory)
    assert memory.count == 0


def test_only_questions_about_guards_are_noted() -> None:
    features = shared_memory.traced(begun().features)
    assert "841.registered" in features.active(CONTROLLER)
    assert features.fetch_version() == begun().features.fetch_version()
    assert [about for about, _, _ in features.questions] == ["841.registered", "fetch version"]
    with pytest.raises(UnforeseenError, match="overrides"):
        features.label()


@pytest.mark.long(quick=QUICK)
def test_a_write_and_a_crash_between_three_brokers() -> None:
    assert_same_graph(begun(), bounds(1, 1, 0))


def test_a_spurious_fencing() -> None:
    assert_same_graph(begun(play="kafka-14139"), bounds(0, 0, 1))
