"""Switches: a KIP is on when it refuses what it was written to refuse."""

from __future__ import annotations

import pytest

from kiplab.protocol.features import parse_features
from kiplab.protocol.guards import GUARDS
from kiplab.widgets.controls.rule_switches import SWITCHES, at_release, is_on, since_words, turned


@pytest.mark.parametrize(
    ("kafka", "on"), [("3.2", []), ("3.3", ["841"]), ("3.4", ["841"]), ("3.5", ["841", "903"])]
)
def test_each_release_has_its_kips(kafka: str, on: list[str]) -> None:
    features = parse_features(kafka)
    assert [kip for kip in ("841", "903") if is_on(features, kip)] == on


@pytest.mark.parametrize("name", [*SWITCHES, *GUARDS])
@pytest.mark.parametrize("kafka", ["3.2", "3.5", "3.9"])
def test_a_switch_turned_and_turned_back_leaves_no_trace(name: str, kafka: str) -> None:
    features = parse_features(kafka)
    was = is_on(features, name)
    other = turned(features, name, not was)
    assert is_on(other, name) is not was
    assert turned(other, name, was) == features


def test_another_release_keeps_what_was_switched_by_hand() -> None:
    features = turned(parse_features("3.5"), "903", False)
    assert at_release(features, "3.7").label() == "3.7 -903"


def test_a_kip_says_since_when() -> None:
    assert since_words("841") == "Kafka 3.3 and later"
    assert since_words("903") == "Kafka 3.5 and later"
