"""Eligible leader replicas (KIP-966) as plays, tokens and labels say them."""

import msgspec
import pytest
from msgspec.structs import replace

from kiplab.plays.grammar import parse
from kiplab.plays.header import features_asked_for, features_of, setup_of
from kiplab.plays.library import decode, encode
from kiplab.plays.play import format_play
from kiplab.plays.play_errors import PlayError
from kiplab.plays.rule_lines import under_rules
from kiplab.plays.runner import run_play
from kiplab.plays.values import feature_set
from kiplab.protocol.features import (
    Features,
    UnknownFeatureError,
    check_features,
    parse_features,
)

CLUSTER = "broker 1\nbroker 2\ntopic orders log=3@0\n"
OLD = (
    "kiplab1:Ry4LwXjaRY1BCsJADEWvErKuUq2rguDWC7hpRWIn1aHtpGRGQUrvbqqCux_e_y8Tjj29sMSO"
    "2o4AYLcu6nBV6VgBNv-4rUOS0TdWEXWsEXq57YtDXodGKd7h08YMAw1sPkstU3ooRywnVO6Z4gLsgbGBEzlKdHmaykv4gtXxlC8KccuqOmcoxtX_znl-AyJlN9I"
)
"""Kafka 4.3, written down before there was such a feature."""


@pytest.mark.parametrize(
    ("line", "elr"),
    [("kafka 4.3 elr=1", True), ("kafka 4.3 elr=0", False), ("kafka 4.3", False)],
)
def test_a_play_has_the_feature_where_it_says_so(line: str, elr: bool) -> None:
    play = parse(f"{line}\n{CLUSTER}")
    assert features_of(play).has_elr is elr
    assert run_play(play).cluster.features.has_elr is elr
    assert parse(format_play(play)) == play


@pytest.mark.parametrize(
    ("kafka", "elr", "has"),
    [
        ("4.3", None, True),
        ("4.1", None, True),
        ("4.1/4.0-IV3", None, False),
        ("4.0", None, False),
        ("3.9", None, False),
        ("4.3", 0, False),
        ("4.0", 1, True),
        (None, 1, True),
    ],
)
def test_a_release_that_is_asked_for_is_a_new_cluster(
    kafka: str | None, elr: int | None, has: bool
) -> None:
    features = features_asked_for(parse(f"kafka 4.2\n{CLUSTER}"), None, kafka, (), (), elr)
    assert features is not None
    assert features.has_elr is has


def test_labels_and_words_for_a_feature_set() -> None:
    features = parse_features("4.3", elr=1)
    assert features.label() == "4.3 elr=1"
    assert feature_set("@4.3+elr") == features
    assert feature_set("@4.3") == parse_features("4.3")
    off = parse_features("4.3", off=("966.elr-election", "pr-20629.last-known-by-leader"), elr=1)
    assert feature_set("@4.3+elr-966.elr-election-pr-20629.last-known-by-leader") == off
    assert parse_features("4.3", off=("966.elr",), elr=1).label() == "4.3 elr=1 -966.elr"


def test_a_play_under_other_rules_says_the_feature() -> None:
    play = parse(f"kafka 4.2\n{CLUSTER}")
    features = parse_features("4.3", elr=1)
    statements = under_rules(play.statements, features)
    assert "kafka 4.3 elr=1" in [s.text for s in statements]
    assert features_of(replace(play, statements=statements)) == features


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("isr=none leader=none elr=1,2 last-known=2", "isr=2 leader=none"),
        ("isr=none leader=none elr=1,2", "isr=1 leader=none"),
        ("isr=1 leader=1 elr=2", "isr=1 leader=1"),
    ],
)
def test_without_the_feature_a_topic_has_no_elr_and_the_last_member_stays(
    said: str, left: str
) -> None:
    play = parse(f"kafka 4.3 elr=1\nbroker 1\nbroker 2\ntopic orders replicas=1,2 {said}\n")
    for features in (parse_features("4.3"), parse_features("3.5")):
        lines = under_rules(play.statements, features)
        assert lines[-1].text == f"topic orders replicas=1,2 {left}"
        written = parse(format_play(replace(play, statements=lines)))
        assert setup_of(written, features) == setup_of(play, features)


def test_a_token_keeps_it_and_one_of_before_has_none() -> None:
    play = parse(f"kafka 4.3\n{CLUSTER}crash 1\n")
    with_elr = parse_features("4.3", elr=1)
    assert decode(encode(play, with_elr))[1] == with_elr
    without = parse_features("4.3")
    assert b"elr" not in msgspec.json.encode(without)
    assert encode(play, without) == OLD
    old, features = decode(OLD)
    assert (old.statements, features) == (play.statements, without)


@pytest.mark.parametrize(
    ("line", "column", "found"),
    [
        ("kafka 3.9 elr=1", 11, "need Kafka 4.0 or later, not 3.9"),
        ("kafka zk-2.2 elr=1", 14, "need Kafka 4.0 or later, not zk-2.2"),
        ("kafka 4.0/4.0-IV0 elr=1", 19, "metadata version 4.0-IV1 or later, not 4.0-IV0"),
        ("kafka 4.3 elr=2", 15, "'2' is not known here"),
        ("kafka 4.3 elr=1 elr=1", 17, "'elr' is given twice"),
    ],
)
def test_what_a_header_cannot_ask_for(line: str, column: int, found: str) -> None:
    with pytest.raises(PlayError) as problem:
        parse(f"{line}\n{CLUSTER}", "a.play")
    assert str(problem.value).startswith(f"a.play:1:{column}: ")
    assert found in str(problem.value)


@pytest.mark.parametrize(
    ("kafka", "topic", "found"),
    [
        ("4.3", "isr=none", "a partition without an ISR"),
        ("4.3", "isr=1 elr=2", "elr is said of a cluster without"),
        ("4.3", "isr=1 last-known=1", "last-known is said of a cluster without"),
        ("4.3 elr=1", "isr=1,2 elr=2", "broker 2 is in isr and elr"),
        ("4.3 elr=1", "isr=1 elr=3", "elr has broker 3"),
        ("4.3 elr=1", "isr=1 elr=2,2", "lists a broker twice"),
        ("4.3 elr=1", "isr=none last-known=1,2", "two last known leaders"),
    ],
)
def test_what_a_partition_cannot_be(kafka: str, topic: str, found: str) -> None:
    with pytest.raises(PlayError, match=found) as problem:
        parse(f"kafka {kafka}\nbroker 1\nbroker 2\ntopic orders {topic}\n", "a.play")
    assert str(problem.value).startswith("a.play:4:")


@pytest.mark.parametrize(
    ("line", "column", "found"),
    [
        ("upgrade elr=3", 13, "'3' is not known here"),
        ("upgrade all elr=1", 1, "does not say what is upgraded to what"),
        ("upgrade elr=1 metadata=4.3-IV0", 1, "does not say what is upgraded to what"),
        ("expect @3.9+elr verdict=safe", 8, "need Kafka 4.0 or later"),
    ],
)
def test_a_line_that_cannot_be_read(line: str, column: int, found: str) -> None:
    with pytest.raises(PlayError) as problem:
        parse(f"kafka 4.3\n{CLUSTER}{line}\n", "a.play")
    assert str(problem.value).startswith(f"a.play:5:{column}: ")
    assert found in str(problem.value)


@pytest.mark.parametrize(
    ("elr", "lines", "said"),
    [
        (0, "upgrade elr=0", "eligible.leader.replicas.version is 0 already"),
        (1, "upgrade elr=1", "eligible.leader.replicas.version is 1 already"),
    ],
)
def test_a_level_once_more_is_no_upgrade(elr: int, lines: str, said: str) -> None:
    with pytest.raises(PlayError, match=said):
        run_play(parse(f"kafka 4.3 elr={elr}\n{CLUSTER}{lines}\n"))


@pytest.mark.parametrize(
    ("features", "said"),
    [
        (Features("4.3", "4.3-IV0", elr=False), "elr is true, or left out"),
        (Features("3.9", "3.9-IV0", elr=True), "need Kafka 4.0 or later"),
        (Features("4.3", "3.9-IV0", elr=True), "metadata version 4.0-IV1 or later"),
    ],
)
def test_what_no_command_line_could_ask_for(features: Features, said: str) -> None:
    with pytest.raises(UnknownFeatureError, match=said):
        check_features(features)
