"""No search proves a falsehood because a table is a copy: guards that nobody compiled."""

from functools import cache
from typing import Any

import pytest

from kiplab.explore.compiled.compiled_search import CompiledModel
from kiplab.explore.compiled.fitting import WITHOUT_EFFECT, NotCompiledError
from kiplab.explore.compiled.word_layout import RULES
from kiplab.explore.levels.all_levels import level_named
from kiplab.explore.levels.level_table import ExploreError
from kiplab.explore.search.explore_play import explore
from kiplab.protocol import features
from kiplab.protocol.guards import GUARDS, Guard, GuardKind
from kiplab.protocol.kraft import alter_partition
from kiplab.protocol.releases import Mode
from tests.explore.bounds import begun, bounds
from tests.explore.guard_rules import OF_KRAFT, rules_of_the_tables, switched_off, switched_on
from tests.explore.test_memoised_model import assert_same_graph

MADE_UP = "903.trust-the-leader"
ALTERNATIVE = Guard(
    id=MADE_UP,
    kip=903,
    clause="The controller takes every ISR that a leader asks for.",
    kind=GuardKind.ALTERNATIVE,
    built=(),
)


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> str:
    """An alternative in the table of guards, and a rule that asks for it."""
    judged = alter_partition._first_refusal

    def trusting(case: Any, active: frozenset[str]) -> Any:
        return None if MADE_UP in active else judged(case, active)

    monkeypatch.setattr(features, "_active", cache(features._active.__wrapped__))
    monkeypatch.setitem(GUARDS, MADE_UP, ALTERNATIVE)
    monkeypatch.setattr(alter_partition, "_first_refusal", trusting)
    return MADE_UP


def unsettled() -> list[str]:
    """What the tables of the compiled search lack or have too much, a sentence for each guard."""
    tables = (
        "RULES (kiplab/explore/compiled/word_layout.py)",
        "kiplab/explore/compiled/guards_without_effect.toml",
    )
    known = [
        id
        for id, guard in GUARDS.items()
        # A cluster with a feature is refused as a whole.
        if Mode.KRAFT in guard.modes and guard.kind is not GuardKind.FEATURE
    ]
    said = [
        f"nobody says what {id} does to the compiled search: compile its check and add it to"
        f" {tables[0]}, or add it to {tables[1]} with the reason why it makes no difference there"
        for id in known
        if id not in RULES and id not in WITHOUT_EFFECT
    ]
    for table, ids in zip(tables, ([*RULES], [*WITHOUT_EFFECT]), strict=True):
        gone = [id for id in ids if id not in known]
        said += [f"{id} is no guard of KRaft: take it out of {table}" for id in gone]
    both = [id for id in RULES if id in WITHOUT_EFFECT]
    return said + [f"{id} is compiled: take it out of {tables[1]}" for id in both]


def test_every_guard_is_compiled_or_said_to_have_no_effect() -> None:
    assert not unsettled(), "\n".join(unsettled())
    assert all(reason.endswith(".") for reason in WITHOUT_EFFECT.values())


def test_a_guard_of_which_nothing_is_said_is_named_with_its_tables(made_up: str) -> None:
    (said,) = (line for line in unsettled() if made_up in line)
    assert said.startswith(f"nobody says what {made_up} does to the compiled search: compile its")
    assert "add it to kiplab/explore/compiled/guards_without_effect.toml" in said


@pytest.mark.parametrize("first", ["3.2", "3.3"])
def test_the_comparisons_with_step_switch_every_guard_off_and_on(first: str) -> None:
    rules = rules_of_the_tables(first)
    assert switched_off(rules) == switched_on(rules) == set(OF_KRAFT)


def test_a_guard_that_nobody_compiled_is_refused_by_name(made_up: str) -> None:
    with pytest.raises(ExploreError, match=f"nothing is compiled for {made_up}"):
        explore("kafka-14139", kafka="3.5", on=made_up, engine="compiled", writes=0, crashes=1)


def test_where_it_is_off_it_changes_nothing(made_up: str) -> None:
    assert made_up in GUARDS
    found = explore("kafka-14139", kafka="3.5", engine="compiled", writes=0, crashes=1)
    assert (found.engine, found.verdict) == ("compiled", "proved")


def test_the_engine_finds_what_it_breaks_and_so_does_auto(made_up: str) -> None:
    said: list[str] = []
    step = explore("kafka-14139", kafka="3.5", on=made_up, engine="step", writes=0, crashes=1)
    auto = explore("kafka-14139", kafka="3.5", on=made_up, writes=2, fences=1, say=said.append)
    assert (step.verdict, step.steps) == ("refuted", 6)
    assert (auto.verdict, auto.engine) == ("refuted", "step")
    assert auto.steps == step.steps
    assert any(made_up in sentence for sentence in said)


def test_the_memoised_model_honours_what_step_honours(made_up: str) -> None:
    """It has no table of guards, and none to refuse: its effects are those of the rules."""
    assert_same_graph(begun(play="kafka-14139", on=(made_up,)), bounds(0, 1, 0))


def test_a_level_with_another_menu_is_refused() -> None:
    from msgspec.structs import replace

    level = level_named("partition")
    within = level.with_defaults({})
    for other in (replace(level, kinds=level.kinds[::-1]), replace(level, kinds=level.kinds[1:])):
        with pytest.raises(NotCompiledError, match="actions and bounds"):
            CompiledModel(other, begun(), within)
    with pytest.raises(NotCompiledError, match="actions and bounds"):
        CompiledModel(level, begun(), dict(reversed(within.items())))
