"""What the situations of ZooKeeper's time try of each release, and why the rest is not tried."""

from __future__ import annotations

from collections import Counter

import pytest

from kiplab.judge.zookeeper_era.real_mail import CONTROLLER_RELEASES
from kiplab.protocol.features import parse_features
from kiplab.protocol.guards import GUARDS, GuardKind
from tests.judge.zookeeper import control_coverage, controllers_command
from tests.judge.zookeeper.control_coverage import (
    ControlCoverage,
    ControlRule,
    Tried,
    asked_for_guards,
    asked_for_in,
    control_rules,
    coverage_lines,
    untried,
    why_untried,
)
from tests.judge.zookeeper.engine_sequences import (
    ENGINE_RELEASES,
    engine_sequences,
    features_judged,
)
from tests.judge.zookeeper.judged_situations import SITUATIONS

all_releases = pytest.mark.parametrize("patch", CONTROLLER_RELEASES)
FEATURES = {patch: parse_features(release) for patch, release in ENGINE_RELEASES.items()}


def tried(patch: str, without: str = "") -> Counter[ControlRule]:
    coverage = ControlCoverage()
    for name, situation in SITUATIONS.items():
        if name != without and not situation.why_not(patch):
            engine_sequences(situation, features_judged(situation, patch), coverage)
    return coverage.hits


@pytest.fixture(scope="module")
def hits() -> dict[str, Counter[ControlRule]]:
    return {patch: tried(patch) for patch in CONTROLLER_RELEASES}


@all_releases
def test_every_guard_error_and_kind_of_request_is_tried_or_says_why_not(
    patch: str, hits: dict[str, Counter[ControlRule]]
) -> None:
    nameless = [rule for rule, why in untried(hits[patch], FEATURES[patch]) if why is None]
    assert not nameless, "\n".join(coverage_lines(hits, FEATURES))


def test_every_reason_is_some_releases(hits: dict[str, Counter[ControlRule]]) -> None:
    """One that is nobody's any more is to go."""
    given = {why for patch in hits for _, why in untried(hits[patch], FEATURES[patch])}
    written = {value for name, value in vars(control_coverage).items() if is_reason(name, value)}
    assert written <= given


def is_reason(name: str, value: object) -> bool:
    is_own = name.startswith("_") and not name.startswith("__")
    return is_own and isinstance(value, str) and name != "_ASK_FOR_IT"


def test_guards_of_the_controller_are_tried_wherever_a_release_has_them(
    hits: dict[str, Counter[ControlRule]],
) -> None:
    """But for what brokers alone look at, each by the releases that have it."""
    for patch, features in FEATURES.items():
        for rule in control_rules(features):
            brokers = {"control_requests"} == asked_for_in(rule)
            if rule.tried is Tried.GUARD and not brokers:
                assert hits[patch][rule], f"Kafka {patch}: {rule}"


def test_the_refusal_that_brokers_give_to_a_whole_request_is_compared(
    hits: dict[str, Counter[ControlRule]],
) -> None:
    rule = ControlRule(Tried.GUARD, "380.control-request-epoch")
    assert [bool(hits[patch][rule]) for patch in CONTROLLER_RELEASES] == [False, *[True] * 4]


def test_what_a_guard_that_refuses_nothing_changes_counts_as_tried(
    hits: dict[str, Counter[ControlRule]],
) -> None:
    silent = {id for id in asked_for_guards() if GUARDS[id].kind is GuardKind.RULE}
    seen = {rule.name for rule in hits["3.4.1"] if rule.tried is Tried.GUARD}
    assert {"380.bounce-detection", "zookeeper.controller-check"} <= silent & seen


def test_without_a_situation_what_it_alone_tries_is_named() -> None:
    rule = ControlRule(Tried.GUARD, "841.registered")
    less = tried("3.4.1", without="alter-isr")
    assert (rule, None) in untried(less, FEATURES["3.4.1"])
    lines = list(coverage_lines({"3.4.1": less}, FEATURES))
    assert any(line.startswith(f"Kafka 3.4.1, {rule}: let a situation ask") for line in lines)


def test_a_release_without_alter_isr_says_so() -> None:
    asked = ControlRule(Tried.REQUEST, "AlterPartition")
    assert "2.7-IV2" in (why_untried(asked, FEATURES["2.6.3"]) or "")
    assert why_untried(asked, FEATURES["2.8.2"]) is None


def test_the_judge_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert controllers_command.main(["--recorded", "--release", "2.2.2"]) == 0
    said = capsys.readouterr().out
    assert "\nguard 380.bounce-detection" in said
    assert "\nKafka 2.2.2, guard zookeeper.leader-epoch: fake brokers do not look at it" in said
