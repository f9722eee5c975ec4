"""Would it be noticed? Engines that are wrong in one rule, asked what real Kafka was asked."""

from collections.abc import Callable

import pytest

from kiplab.protocol.kraft import fencing
from tests.judge.kraft import kraft_judge, pairs, rules, wrong_engines
from tests.judge.skeleton.coverage import GUARD, Rule
from tests.judge.skeleton.wrong_engines import WrongEngine, built

AT_LEAST = 20


def differs(pair: pairs.JudgedPair, switch: kraft_judge.Switch = lambda features: features) -> bool:
    """Whether the engine parts from what was recorded, in the few conversations that stand for all
    of the pair.
    """
    recording = kraft_judge.load(pair)
    return kraft_judge.parts(pair, recording, recording.head.covering, switch)


def fails(test: Callable[[], None]) -> bool:
    """Whether a test fails."""
    try:
        test()
    except AssertionError:
        return True
    return False


def test_there_are_many_wrong_engines() -> None:
    seen = [engine for engine in wrong_engines.ENGINES if not engine.unseen]
    assert len(seen) >= AT_LEAST
    assert len({engine.rule for engine in wrong_engines.ENGINES}) == len(wrong_engines.ENGINES)


@pytest.mark.parametrize("engine", wrong_engines.ENGINES, ids=lambda engine: engine.rule)
def test_a_wrong_engine_is_caught_at_its_first_difference(engine: WrongEngine) -> None:
    with built(engine):
        noticed = fails(engine.test) if engine.test else differs(pairs.pair_named(engine.subject))
    assert noticed != bool(engine.unseen), "say so in tests/judge/kraft/wrong_engines.py"


def test_a_wrong_engine_is_the_right_one_again() -> None:
    fence_first = next(engine for engine in wrong_engines.ENGINES if engine.module is fencing)
    rule = fencing.fencing_records
    right = rule.__code__
    with built(fence_first):
        assert rule.__code__ != right
    assert rule.__code__ is right


def test_a_rule_that_has_moved_is_named() -> None:
    gone = wrong_engines.ENGINES[0]._replace(right="for there is no such line")
    moved = "has moved; say in the list of wrong engines where it is now"
    with pytest.raises(AssertionError, match=moved), built(gone):
        pass


@pytest.mark.parametrize("guard", rules.controller_guards())
def test_an_engine_with_another_guard_is_caught(guard: str) -> None:
    pair = rules.pair_that_notices(guard)
    why = rules.why_unreachable(Rule(GUARD, guard), pair)
    assert differs(pair, rules.with_the_other(guard)) == (why is None), why
