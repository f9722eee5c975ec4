"""A play under other rules, as text: what asks for rules is said anew, and all else as it was."""

import pytest

from kiplab.plays.grammar import parse
from kiplab.plays.header import features_of
from kiplab.plays.library import load, names
from kiplab.plays.play import Play, format_play
from kiplab.plays.rule_lines import rules, under_rules
from kiplab.plays.runner import open_stage
from kiplab.protocol.features import Features, parse_features
from kiplab.protocol.releases import Mode, of_mode

HEADER = "title T\nbroker 1 kafka=3.5\nbroker 2 fenced=yes\n{}\ntopic t log=3@1\n"
SOME = [parse_features(release, off=("704",)) for release in (of_mode(Mode.KRAFT)[-1], "zk-3.4")]


def written(play: Play, features: Features) -> Play:
    """Its text under other rules, read again."""
    lines = (s for s in under_rules(play.statements, features) if s.verb != "expect")
    return parse(format_play(Play(tuple(lines), play.name)), play.name)


def lines(text: str, features: Features) -> list[str]:
    return [s.text for s in under_rules(parse(text, "t").statements, features)]


@pytest.mark.parametrize("features", SOME, ids=lambda f: f.mode)
@pytest.mark.parametrize("name", names())
def test_a_play_written_under_rules_of_any_mode_begins_as_it_does_under_them(
    name: str, features: Features
) -> None:
    play = load(name)
    again = written(play, features)
    assert features_of(again) == features
    assert open_stage(again).cluster == open_stage(play, features).cluster


def test_rules_stand_where_the_plays_own_did_and_say_what_a_controller_is_besides() -> None:
    text = HEADER.format("controller kafka=3.6 auto-leader-rebalance=yes")
    assert lines(text, parse_features("3.7", off=("903.fetch-epoch",))) == [
        "title T",
        "broker 1",
        "broker 2 fenced=yes",
        "kafka 3.7",
        "metadata 3.7-IV4",
        "off 903.fetch-epoch",
        "controller auto-leader-rebalance=yes",
        "topic t log=3@1",
    ]


def test_which_broker_is_the_controller_is_said_again() -> None:
    text = (
        "title T\nkafka zk-2.1\ncontroller broker=2 epoch=5\nbroker 1\nbroker 2\ntopic t\n"
        "given next-metadata-offset=131 zookeeper-servers=2\n"
    )
    changed = lines(text, parse_features("zk-2.2"))
    assert changed[1:4] == ["kafka zk-2.2", "metadata 2.2-IV1", "controller broker=2 epoch=5"]
    assert changed[-1] == "given next-metadata-offset=131 zookeeper-servers=2"


def test_what_is_said_of_the_other_mode_is_left_out() -> None:
    zookeeper = (
        "kafka zk-2.2\ncontroller broker=1 epoch=5\nbroker 1\ntopic t\ngiven zookeeper-servers=2\n"
    )
    in_kraft = lines(zookeeper, parse_features("3.5"))
    assert in_kraft == ["kafka 3.5", "metadata 3.5-IV2", "broker 1", "topic t"]
    kraft = HEADER.format("controller kafka=3.6\ntimed")
    assert "broker 2" in (with_zookeeper := lines(kraft, parse_features("zk-2.2")))
    assert not {"timed", "controller", "controller kafka=3.6"} & {*with_zookeeper}


def test_without_a_line_of_a_controller_its_release_gets_one() -> None:
    features = features_of(parse(HEADER.format("controller kafka=3.6"), "t"))
    assert [s.text for s in rules(features)][2:] == ["controller kafka=3.6"]
    assert "controller kafka=3.6" in lines(HEADER.format("manual"), features)
