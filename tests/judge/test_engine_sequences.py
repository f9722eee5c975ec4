"""The engine's controller beside real ones of five releases, in every situation that is judged."""

from typing import get_args

import pytest

from kiplab.judge.zookeeper_era.engine_control_requests import as_in_the_engine
from kiplab.judge.zookeeper_era.real_control_requests import CONTROLLER_RELEASES, recorded_sequences
from kiplab.judge.zookeeper_era.sequences import Passage
from kiplab.protocol.features import Features, parse_features, switched
from tests.judge.zookeeper.engine_sequences import (
    ENGINE_RELEASES,
    NOT_TOLD,
    TOLD,
    engine_differences,
    engine_sequences,
    features_judged,
)
from tests.judge.zookeeper.judged_situations import SITUATIONS
from tests.judge.zookeeper.situations import Listen, SituationStep

RECORDED = [
    (patch, name)
    for patch in CONTROLLER_RELEASES
    for name, situation in SITUATIONS.items()
    if not situation.why_not(patch)
]


def of_the_engine(name: str, features: Features) -> list[Passage]:
    return [as_in_the_engine(passage) for passage in engine_sequences(SITUATIONS[name], features)]


@pytest.mark.parametrize(("patch", "name"), RECORDED)
def test_the_engine_sends_what_the_real_controller_sent(patch: str, name: str) -> None:
    told = engine_differences(SITUATIONS[name], patch, recorded_sequences(patch)[name])
    assert not (lines := list(told)), "\n".join(lines)


def test_every_step_is_told_to_the_engine_or_says_why_not() -> None:
    steps = set(get_args(SituationStep)) - {Listen}
    assert set(TOLD) | set(NOT_TOLD) == steps, "add the step to TOLD or to NOT_TOLD"
    assert not set(TOLD) & set(NOT_TOLD)


def test_only_the_end_of_one_situation_is_not_told() -> None:
    untold = {
        name: len(recorded_sequences(patch)[name]) - len(of_the_engine(name, features))
        for patch, name in RECORDED
        if (features := features_judged(SITUATIONS[name], patch))
    }
    assert {name: count for name, count in untold.items() if count} == {"beginnings": 1}


def test_every_release_that_is_judged_has_one_of_the_engine() -> None:
    assert tuple(ENGINE_RELEASES) == CONTROLLER_RELEASES


# --- teeth ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("guard", "name"),
    [
        ("380.bounce-detection", "bounce"),
        ("380.bounce-detection", "late-answer"),
        ("380.shutdown-epoch", "stale-shutdown"),
        ("380.control-request-epoch", "earlier-mail"),
        ("zookeeper.controller-check", "deposed"),
    ],
)
def test_an_engine_without_a_rule_is_told_from_2_2_2(guard: str, name: str) -> None:
    features = parse_features("zk-2.2")
    without = of_the_engine(name, switched(features, guard, False))
    assert without != of_the_engine(name, features)


def test_an_engine_with_the_order_of_the_kip_is_told_from_the_code() -> None:
    features = parse_features("zk-2.2")
    in_order = of_the_engine("one-change", switched(features, "380.live-set-first", True))
    assert in_order != of_the_engine("one-change", features)


@pytest.mark.parametrize(
    ("one", "other"), [("2.1.1", "2.2.2"), ("2.2.2", "2.6.3"), ("2.6.3", "3.4.1")]
)
def test_releases_that_differ_are_told_from_each_other(one: str, other: str) -> None:
    told = (
        of_the_engine("stale-shutdown", features_judged(SITUATIONS["stale-shutdown"], patch))
        for patch in (one, other)
    )
    first, second = ([[(s.api, s.stopped) for s in p.requests] for p in ps] for ps in told)
    assert first != second
