"""The compiled search is the engine's, sooner: state by state, and outcome by outcome."""

from typing import Any

import pytest

from kiplab.explore.compiled.compiled_search import PROPERTIES, CompiledModel, search_compiled
from kiplab.explore.compiled.fitting import NotCompiledError
from kiplab.explore.levels.level_table import CAN_DATA_BE_LOST, ExploreError
from kiplab.explore.search import explore_play
from kiplab.explore.search.breadth_first import EngineModel, search
from kiplab.explore.search.explore_play import explore
from kiplab.explore.search.memoised_model import MemoisedModel
from kiplab.explore.search_terms import PROVED, REFUTED, Halt, HaltReason, Progress
from kiplab.extras import MissingExtraError
from tests.explore.bounds import PARTITION, begun, bounds
from tests.explore.guard_rules import (
    FAR_REACHING,
    WITH_ELR,
    rules_of_the_tables,
    tried,
    with_effect,
)
from tests.repeated import in_long

PENDING = ("497.pending-outlives-metadata",)
ENOUGH = Halt(HaltReason.STATES, 1_000)
RULES = with_effect(rules_of_the_tables(first="3.3", has_elr=False))
QUICK = "tests/explore/test_compiled.py::test_every_state_of_two_brokers_without_a_write"


def assert_held_to_step(cluster: Any, within: dict[str, int]) -> None:
    """What the engine does after every state that can be reached, action by action.

    Words stand for one normal form each: a field that they left out would make two of it.
    """
    compiled = CompiledModel(PARTITION, cluster, within)
    engine = EngineModel(PARTITION, cluster, within)
    pack = compiled.encoding.pack
    assert compiled.first() == pack(*engine.first())
    stands_for = {compiled.first(): engine.first()}
    todo = [compiled.first()]
    for words in todo:
        state, expected = stands_for[words], []
        for action, after, broken in engine.successors(state):
            packed = pack(*after)
            if packed not in stands_for:
                todo.append(packed)
            assert stands_for.setdefault(packed, after) == after
            expected.append((action, packed, tuple(id for id in broken if id in PROPERTIES)))
        assert list(compiled.successors(words)) == expected, state
    assert compiled.coverage.guards == engine.coverage.guards
    assert compiled.coverage.committed == engine.coverage.committed


def assert_same_outcome(cluster: Any, within: dict[str, int], asked: tuple[str, ...]) -> str:
    """Verdict, states, transitions, layers, steps, the path itself; what fired and what did not."""
    memoised, compiled = (
        MemoisedModel(PARTITION, cluster, within),
        CompiledModel(PARTITION, cluster, within),
    )
    expected = search(memoised, asked)
    assert search_compiled(compiled, asked) == expected
    if expected.verdict == PROVED:
        assert compiled.coverage == memoised.coverage
    return expected.verdict


@pytest.mark.parametrize("rules", tried("3.3", QUICK, has_elr=False), ids=str)
def test_every_state_of_two_brokers_without_a_write(rules: dict[str, Any]) -> None:
    assert_held_to_step(begun(**rules, play="kafka-14139"), bounds(0, 1, 0))


@pytest.mark.parametrize("rules", [*FAR_REACHING[:2], *in_long(RULES, QUICK)], ids=str)
def test_every_state_of_two_brokers(rules: dict[str, Any]) -> None:
    assert_held_to_step(begun(**rules, play="kafka-14139"), bounds(1, 1, 0))


@pytest.mark.parametrize("rules", [*FAR_REACHING[:2], *in_long(FAR_REACHING[2:], QUICK)], ids=str)
def test_every_state_of_three_brokers(rules: dict[str, Any]) -> None:
    assert_held_to_step(begun(**rules), bounds(0, 1, 0))


def test_every_state_with_a_spurious_fencing() -> None:
    assert_held_to_step(begun(play="kafka-14139", off=("841", "903")), bounds(1, 0, 1))


@pytest.mark.parametrize("rules", [*FAR_REACHING[:2], *in_long(FAR_REACHING[2:])], ids=str)
def test_the_whole_graph_is_as_large(rules: dict[str, Any]) -> None:
    assert_same_outcome(begun(**rules, play="kafka-14139"), bounds(2, 1, 0), ())


@pytest.mark.long(quick="::test_the_same_shortest_way")
def test_a_crash_and_a_write_between_three_brokers() -> None:
    cluster = begun(on=PENDING)
    assert assert_same_outcome(cluster, bounds(1, 1, 0), CAN_DATA_BE_LOST) == PROVED


@pytest.mark.parametrize("on", [PENDING, *in_long([()])], ids=str)
@pytest.mark.parametrize("off", [("903",), *in_long([(), ("841",), ("841", "903")])])
def test_the_same_shortest_way(off: tuple[str, ...], on: tuple[str, ...]) -> None:
    assert_same_outcome(begun(off=off, on=on), bounds(1, 1, 0), CAN_DATA_BE_LOST)


def test_one_property_of_two() -> None:
    cluster = begun(off=("903",), play="kafka-14139")
    for id in PROPERTIES:
        assert assert_same_outcome(cluster, bounds(1, 2, 0), (id,)) == REFUTED


def test_arrays_grow() -> None:
    grown: list[int] = []

    def room(bytes: int) -> Halt | None:
        grown.append(bytes)
        return None

    compiled = CompiledModel(PARTITION, begun(), bounds(1, 1, 0))
    assert search_compiled(compiled, (), room=room).states == 8_434
    assert len(grown) >= 1


def test_a_ceiling_ends_as_unfinished() -> None:
    compiled = CompiledModel(PARTITION, begun(), bounds(1, 1, 1))
    found = search_compiled(compiled, (), room=lambda _bytes: Halt(HaltReason.MEMORY, 7))
    assert (found.verdict, found.halt) == ("unfinished", Halt(HaltReason.MEMORY, 7))
    # What is left of the last layer counts in both: states of the next one are no layer yet.
    assert 0 < found.frontier < found.states < sum(found.layers) + found.frontier


def test_a_limit_ends_as_unfinished() -> None:
    def stop(now: Progress) -> Halt | None:
        return ENOUGH if now.states > 1_000 else None

    found = search_compiled(CompiledModel(PARTITION, begun(), bounds(1, 1, 0)), (), stop)
    assert (found.verdict, found.halt) == ("unfinished", ENOUGH)


@pytest.mark.parametrize(
    ("rules", "within", "reason"),
    [
        ({"kafka": "3.2"}, bounds(1, 1, 0), "3.3"),
        ({"play": "timeline-first"}, bounds(1, 9, 0), "crashes"),
        (WITH_ELR, bounds(1, 1, 0), "KIP-966.*--elr 0"),
        ({}, {**bounds(1, 1, 0), "stops": 1}, "bounds"),
    ],
    ids=str,
)
def test_what_it_cannot_speak_of(
    rules: dict[str, Any], within: dict[str, int], reason: str
) -> None:
    with pytest.raises(NotCompiledError, match=reason):
        CompiledModel(PARTITION, begun(**rules), within)


def test_another_property_is_not_compiled() -> None:
    with pytest.raises(NotCompiledError, match="logs-match"):
        search_compiled(CompiledModel(PARTITION, begun(), bounds(0, 0, 0)), ("logs-match",))


def test_words_too_narrow_end_as_unfinished() -> None:
    compiled = CompiledModel(PARTITION, begun(), bounds(15, 0, 0))
    found = search_compiled(compiled, ())
    assert (found.verdict, found.halt) == ("unfinished", Halt(HaltReason.TOO_NARROW))
    assert "no room" in found.stopped


@pytest.mark.parametrize("kafka", ["3.4", "3.9"])
def test_the_front_door_finds_the_same_either_way(kafka: str) -> None:
    both = [explore("kafka-14139", kafka=kafka, engine=name) for name in ("step", "compiled")]
    step, compiled = both
    assert (step.engine, compiled.engine) == ("step", "compiled")
    assert compiled.path == step.path
    assert compiled.text() == step.text()
    assert compiled.vacuity == step.vacuity


def test_auto_compiles_where_bounds_are_large() -> None:
    small = explore("kafka-14139", kafka="3.4")
    large = explore("isr-two-of-three", writes=2, fences=1, states=20_000)
    assert (small.engine, large.engine) == ("step", "compiled")


def test_without_numba_the_engine_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explore_play, "find_spec", lambda _name: None)
    found = explore("isr-two-of-three", writes=2, fences=1, states=2_000)
    assert found.engine == "step"
    with pytest.raises(MissingExtraError, match=r"kiplab\[fleet\]"):
        explore("kafka-14139", engine="compiled")


def test_an_unknown_engine_is_refused() -> None:
    with pytest.raises(ExploreError, match="auto, step, compiled"):
        explore("kafka-14139", engine="fast")


def test_compiled_on_another_level_is_refused() -> None:
    with pytest.raises(ExploreError, match="level partition alone"):
        explore("kafka-14139", level="cluster", engine="compiled")
