"""Lab 05: what it says of the late Fetch, of the four designs, of the searches and of the race."""

import re
from typing import Any

import pytest

import kiplab
from kiplab.classroom.exercises.why_from_fetch import DESIGNS, MOMENTS
from kiplab.explore.search.explore_play import explore
from kiplab.plays.library import load
from kiplab.plays.runner import run_play
from kiplab.protocol.messages import AlterPartitionRequest
from tests.classroom.answers import ANSWERS, judged
from tests.labs.running import cells, prose, texts

LAB = "05-why-from-fetch"
SOURCE, REIGN = "903.epoch-from-metadata", "903.bump-leader-epochs"


def asked_for(play: str, **features: Any) -> list[dict[int, int]]:
    """Member and broker epoch of every ISR that was asked for."""
    events = kiplab.run(play, **features).events
    bodies = (getattr(e, "body", None) for e in events if type(e).__name__ == "Delivered")
    requests = (b for b in bodies if isinstance(b, AlterPartitionRequest))
    return [{m.broker: m.epoch for m in r.items[0].isr} for r in requests]


def test_the_leader_asks_for_250_by_a_fetch_of_102() -> None:
    assert asked_for("903-late-fetch", on=SOURCE) == [{1: 101, 2: 250}]


def test_were_the_metadata_behind_it_would_ask_for_102_and_be_refused() -> None:
    lines = "hold metadata to=1; hold fetch from=2; fetch 2; crash 2 disk=replaced; expire 2"
    lines = f"{lines}; start 2; unfence 2; deliver fetch from=2 life=1"
    token = judged("fetch/old-fetch", lines).token
    rules: list[dict[str, Any]] = [{}, {"kafka": "3.5", "off": SOURCE}]
    for features in rules:
        assert kiplab.run(token, **features).verdict == "safe"
        assert asked_for(token, **features) == [{1: 101, 2: 102}]


def test_the_table_of_the_checkpoint_plays_the_four_designs_that_are_judged() -> None:
    code = cells(LAB, "code")["sources"]
    rows = dict(re.findall(r'"([a-z A-Z]+)": \("(3\.\d)", (?:\w+|\(\))\)', code))
    assert rows == {name: features.release for name, features in DESIGNS.items()}
    assert [play in code for play in MOMENTS.values()] == [True, True]
    assert re.findall(r"^\| \d \| \*\*([^*]+)\*\*", prose(LAB), re.MULTILINE) == [*DESIGNS]


@pytest.mark.parametrize(("kafka", "on"), [("3.4", REIGN), ("3.5", SOURCE), ("3.5", ())])
def test_where_a_fetch_is_never_slow_all_three_are_proved(
    kafka: str, on: str | tuple[str, ...]
) -> None:
    assert explore("kafka-14139", kafka=kafka, on=on).verdict == "proved"


@pytest.mark.long(quick="::test_a_search_in_which_two_fetches_may_meet_finds_the_race_by_itself")
def test_by_message_the_epoch_from_metadata_is_refuted_in_13_steps() -> None:
    found = explore("kafka-14139", kafka="3.5", on=SOURCE, level="cluster", writes=0)
    assert (found.verdict, found.steps) == ("refuted", 13)
    assert "in 13 steps" in texts(LAB)["finer-why"]
    assert found.text()
    assert "deliver    fetch from=2" in found.text()


def test_its_table_of_partitions_is_that_of_the_play() -> None:
    rows = re.findall(r"^\| `([a-z]+)-0` \| ([\d, ]+) \| (\d) \| ([\d, ]+) \|", prose(LAB), re.M)
    topics = [s for s in load("903-bump-price").statements if s.verb == "topic"]
    assert [
        (name, replicas.replace(" ", ""), leader, isr.replace(" ", ""))
        for name, replicas, leader, isr in rows
    ] == [(s.words[0], s.arg("replicas"), s.arg("leader"), s.arg("isr")) for s in topics]


def test_the_run_that_loses_by_a_right_number_is_safe_with_the_epoch_from_fetch() -> None:
    token = judged("fetch/old-fetch", ANSWERS["fetch/old-fetch"].right).token
    assert kiplab.run(token).verdict == "loss"
    assert kiplab.run(token, kafka="3.5", off=SOURCE).verdict == "safe"
    assert run_play(load("903-from-metadata")).cluster.broken == ()


def test_the_lock_of_3_7_has_the_race_asked_with_the_epoch_of_the_fetch() -> None:
    race = "kafka-15221"
    assert asked_for(race, kafka="3.6")[0] == {1: 101, 2: 250}
    assert asked_for(race, kafka="3.7")[0] == {1: 101, 2: 102}


def test_a_search_in_which_two_fetches_may_meet_finds_the_race_by_itself() -> None:
    found = explore("kafka-14139", kafka="3.6", level="cluster", writes=0, races=1)
    assert (found.verdict, found.steps) == ("refuted", 11)
    assert found.text()
    assert "race       fetch from=2 n=1 life=1 with=2" in found.text()


@pytest.mark.parametrize(("kafka", "said"), [("3.6", "loss"), ("3.7", "safe")])
def test_a_real_controller_decides_the_race_the_same(kafka: str, said: str) -> None:
    asked = kiplab.real("kafka-15221", kafka=kafka, live=False, judge="controller")
    assert (asked.agree, asked.verdict) == (True, {"engine": said, "kafka": said})
