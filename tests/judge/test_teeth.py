"""Would it be noticed? Engines that are wrong in one rule, asked what real Kafka was asked."""

from __future__ import annotations

import pytest

from kiplab.protocol.features import Features, switched
from kiplab.protocol.guards import GUARDS
from kiplab.protocol.kraft import fencing
from kiplab.protocol.releases import RELEASES
from tests.judge.kraft.kraft_judge import Switch, judge_recording, load
from tests.judge.kraft.pairs import JudgedPair, judged_pairs, pair_named
from tests.judge.kraft.rules import controller_guards, why_unreachable
from tests.judge.kraft.wrong_engines import ENGINES
from tests.judge.skeleton.coverage import GUARD, Rule
from tests.judge.skeleton.wrong_engines import WrongEngine, built

AT_LEAST = 20


def differs(pair: JudgedPair, switch: Switch = lambda features: features) -> bool:
    """Whether the engine parts from what was recorded, in the few conversations that stand for all
    of the pair.
    """
    recording = load(pair)
    places = recording.head.covering
    return bool(judge_recording(pair, recording, places, switch=switch, first_only=True).parted)


def test_there_are_many_wrong_engines() -> None:
    seen = [engine for engine in ENGINES if not engine.unseen]
    assert len(seen) >= AT_LEAST
    assert len({engine.rule for engine in ENGINES}) == len(ENGINES)


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.rule)
def test_a_wrong_engine_is_caught_at_its_first_difference(engine: WrongEngine) -> None:
    with built(engine):
        noticed = differs(pair_named(engine.subject))
    assert noticed != bool(engine.unseen), "say so in tests/judge/kraft/wrong_engines.py"


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


@pytest.mark.parametrize("guard", controller_guards())
def test_an_engine_with_another_guard_is_caught(guard: str) -> None:
    pair = first_pair(guard)
    on = not GUARDS[guard].built

    def switch(features: Features) -> Features:
        return switched(features, guard, on)

    why = why_unreachable(Rule(GUARD, guard), pair)
    assert differs(pair, switch) == (why is None), why
