"""What the situations of ZooKeeper's time try of each release, and why the rest is not tried."""

from collections import Counter
from collections.abc import Iterator

import pytest

from kiplab.judge.zookeeper_era.real_control_requests import CONTROLLER_RELEASES
from kiplab.protocol import guards, zookeeper
from tests.judge.skeleton import judging
from tests.judge.skeleton.coverage import GUARD, Rule, guards_in
from tests.judge.zookeeper import control_coverage, telling
from tests.judge.zookeeper.controller_judges import FEATURES, ControllersJudge
from tests.judge.zookeeper.situations import situations, why_not

all_releases = pytest.mark.parametrize("patch", CONTROLLER_RELEASES)
Hits = dict[str, Counter[Rule]]


def tried(patch: str, without: str = "") -> Counter[Rule]:
    coverage = control_coverage.ControlCoverage()
    for name, situation in situations().items():
        if name != without and not why_not(name, patch):
            telling.engine_sequences(situation, telling.features_judged(situation, patch), coverage)
    return coverage.hits


def untried(hits: Counter[Rule], patch: str) -> Iterator[tuple[Rule, str | None]]:
    for rule in control_coverage.control_rules(FEATURES[patch]):
        if not hits[rule]:
            yield rule, control_coverage.why_untried(rule, FEATURES[patch])


@pytest.fixture(scope="module")
def hits() -> Hits:
    return {patch: tried(patch) for patch in CONTROLLER_RELEASES}


@all_releases
def test_every_guard_error_and_kind_of_request_is_tried_or_says_why_not(
    patch: str, hits: Hits
) -> None:
    nameless = [rule for rule, why in untried(hits[patch], patch) if why is None]
    assert not nameless, f"{', '.join(map(str, nameless))}: {ControllersJudge().remedy}"


def test_every_reason_is_some_releases(hits: Hits) -> None:
    """One that is nobody's any more is to go."""
    reasons = {why for patch in hits for _, why in untried(hits[patch], patch)}
    written = {value for name, value in vars(control_coverage).items() if is_reason(name, value)}
    assert written <= reasons


def is_reason(name: str, value: object) -> bool:
    return name.startswith("_") and not name.startswith("__") and isinstance(value, str)


def test_guards_of_the_controller_are_tried_wherever_a_release_has_them(hits: Hits) -> None:
    """But for what brokers alone look at, each by the releases that have it."""
    for patch, features in FEATURES.items():
        for rule in control_coverage.control_rules(features):
            if rule.family == GUARD and control_coverage.asked_for_in(rule) != {"control_requests"}:
                assert hits[patch][rule], f"Kafka {patch}: {rule}"


def test_the_refusal_that_brokers_give_to_a_whole_request_is_compared(hits: Hits) -> None:
    rule = Rule(GUARD, "380.control-request-epoch")
    assert [bool(hits[patch][rule]) for patch in CONTROLLER_RELEASES] == [False, *[True] * 4]


def test_what_a_guard_that_refuses_nothing_changes_counts_as_tried(hits: Hits) -> None:
    silent = {id for id in guards_in(zookeeper) if guards.GUARDS[id].kind is guards.GuardKind.RULE}
    seen = {rule.name for rule in hits["3.4.1"] if rule.family == GUARD}
    assert {"380.bounce-detection", "zookeeper.controller-check"} <= silent & seen


def test_without_a_situation_what_it_alone_tries_is_named() -> None:
    rule = Rule(GUARD, "841.registered")
    less = tried("3.4.1", without="alter-isr")
    assert (rule, None) in untried(less, "3.4.1")
    judged = judging.Judged("3.4.1", False, "3.4.1", 1, 1, (), less, 0.0)
    lines = list(judging.untried_lines(ControllersJudge(), [judged]))
    assert any(line.startswith(f"3.4.1: {rule} was tried 0 times") for line in lines)
