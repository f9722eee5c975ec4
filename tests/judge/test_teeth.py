"""Would it be noticed? Engines that are wrong in one rule, asked what real Kafka was asked."""

from __future__ import annotations

import pytest

from kiplab.judge.corpus.controller_rules import ControllerRule, Family, guards_asked_for
from kiplab.judge.corpus.judged_pairs import JudgedPair, judged_pairs, pair_named
from kiplab.judge.corpus.judging import AnotherGeneratorError, Switch, judge_recorded
from kiplab.judge.corpus.unreachable_rules import why_unreachable
from kiplab.protocol.features import Features, switched
from kiplab.protocol.guards import GUARDS
from kiplab.protocol.kraft import fencing
from kiplab.protocol.releases import RELEASES
from tests.judge.kraft.wrong_engines import ENGINES
from tests.judge.skeleton.wrong_engines import WrongEngine, built
from tests.judge.test_corpus import RECORDINGS

AT_LEAST = 20


def is_caught(pair: JudgedPair, switch: Switch | None = None) -> bool:
    """Whether the engine parts from what was recorded, or comes to ask something else."""
    try:
        judged = judge_recorded(pair, RECORDINGS, switch=switch, first_only=True)
    except AnotherGeneratorError:
        # Another generator that asks a right engine the same: tests/judge/test_corpus.py knows.
        return True
    return bool(judged.differences)


def test_there_are_many_wrong_engines() -> None:
    seen = [engine for engine in ENGINES if not engine.unseen]
    assert len(seen) >= AT_LEAST
    assert len({engine.rule for engine in ENGINES}) == len(ENGINES)


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.rule)
def test_a_wrong_engine_is_caught_at_its_first_difference(engine: WrongEngine) -> None:
    with built(engine):
        caught = is_caught(pair_named(engine.subject))
    assert caught != bool(engine.unseen), "say so in tests/judge/wrong_engines.py"


def test_a_wrong_engine_is_the_right_one_again() -> None:
    fence_first = next(engine for engine in ENGINES if engine.module is fencing)
    rule = fencing.fencing_records
    right = rule.__code__
    with built(fence_first):
        assert rule.__code__ != right
    assert rule.__code__ is right


def test_a_rule_that_has_moved_is_named() -> None:
    gone = ENGINES[0]._replace(right="for there is no such line")
    moved = "has moved; say in the list of wrong engines where it is now"
    with pytest.raises(AssertionError, match=moved), built(gone):
        pass


# --- guards ---------------------------------------------------------------------------------------


def first_pair(guard: str) -> JudgedPair:
    """The newest pair of the first release that does what the guard says, or that could."""
    newest = [pair for pair in judged_pairs() if pair.is_newest]
    having = [pair for pair in newest if GUARDS[guard].built_in(RELEASES[pair.release])]
    return (having or newest)[0]


@pytest.mark.parametrize("guard", guards_asked_for())
def test_an_engine_with_another_guard_is_caught(guard: str) -> None:
    pair = first_pair(guard)
    on = not GUARDS[guard].built

    def switch(features: Features) -> Features:
        return switched(features, guard, on)

    why = why_unreachable(ControllerRule(Family.GUARD, guard), pair)
    assert is_caught(pair, switch) == (why is None), why
