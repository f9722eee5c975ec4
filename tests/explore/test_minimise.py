"""From any failing run to a locally minimal play: what is kept, what goes, and what never may."""

import json
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest

import kiplab
from kiplab.cli.command import main
from kiplab.engine import moves
from kiplab.engine.enabled import PROGRESS, Menu, enabled
from kiplab.engine.events import PropertyBroken
from kiplab.engine.history import History
from kiplab.engine.setup import cluster_of
from kiplab.explore.levels.level_table import ExploreError
from kiplab.explore.search.explored import situation_lines
from kiplab.explore.shrink.minimise import Minimised, minimise
from kiplab.explore.shrink.shortening import Trial, goal_of, moved
from kiplab.plays.grammar import VERBS, parse
from kiplab.plays.header import setup_of
from kiplab.plays.library import load
from kiplab.plays.move_lines import written
from kiplab.plays.play import Play, Statement, format_play
from kiplab.plays.play_errors import PlayError
from kiplab.plays.runner import run_play
from kiplab.plays.stage import Stage
from kiplab.protocol.features import parse_features
from kiplab.protocol.replica.broker_state import Loss

STUDENT = """\
title     A student's afternoon
kafka     3.4
broker    1 epoch=101   # the leader
broker    2 epoch=102
broker    3 epoch=103
topic     orders replicas=1,2,3 isr=1 leader=1 leader-epoch=5 log=100@5

# first some traffic
produce   orders-0 count=40
fetch     3
flush     1
hold      alter-partition from=1 n=1
catch-up  2                          # 1 asks for 2
checkpoint 1
heartbeat 3
crash     2 disk=replaced
expire    2
start     2
unfence   2
deliver   alter-partition from=1
produce   orders-0 count=5
crash     1
expire    1
"""
FAILING = [
    ("kafka-14139", {}),
    ("kafka-14139", {"kafka": "3.5", "off": "903"}),
    ("last-replica", {}),
    ("841-by-903-while-fenced", {"off": ("841", "903")}),
    ("841-by-903-after-return", {"off": ("841", "903")}),
]


def actions(play: Play) -> list[int]:
    idle = ("", "expect")
    lines = enumerate(play.statements)
    return [n for n, s in lines if s.verb not in idle and not VERBS[s.verb].header]


def without(play: Play, place: int) -> Play:
    lines = (*play.statements[:place], *play.statements[place + 1 :])
    kept = tuple(s for s in lines if s.verb != "expect")
    return msgspec.structs.replace(play, statements=kept)


def breaks(play: Play, property: str) -> list[bool]:
    """For every time that it breaks, whether a fault excuses it."""
    try:
        steps = run_play(play).history.steps
    except PlayError:
        return []
    return [
        any(o.excused for o in step.cluster.observed if o.partition == event.partition)
        for step in steps
        for event in step.events
        if isinstance(event, PropertyBroken) and event.property == property
    ]


def assert_minimal(found: Minimised) -> None:
    report = kiplab.run(found.play).report()
    assert report["expectations"]["failed"] == 0
    assert report["expectations"]["held"] > 0
    assert found.minimal
    assert not any(a == b == Statement() for a, b in pairwise(found.play.statements)), "blank lines"
    excused = all(breaks(found.play, found.violated))
    for place in actions(found.play):
        # Breaking where a fault excuses it is another story than breaking where none does.
        again = breaks(without(found.play, place), found.violated)
        assert (not again) if excused else all(again), found.play.statements[place]


def student() -> Stage:
    return run_play(parse(STUDENT, "student"))


@pytest.fixture(scope="module")
def short() -> Minimised:
    return minimise(student())


@pytest.mark.parametrize(("play", "rules"), FAILING, ids=str)
def test_no_single_line_of_the_result_can_be_dropped(play: str, rules: dict[str, Any]) -> None:
    found = kiplab.minimise(kiplab.run(play, **rules))
    assert_minimal(found)
    assert kiplab.run(found.play).stage.features == kiplab.run(play, **rules).stage.features


def test_a_students_run_keeps_header_and_comments(short: Minimised) -> None:
    found = short
    assert_minimal(found)
    assert found.violated == "no-committed-record-lost"
    assert found.play.title == "A student's afternoon"
    assert "# the leader" in found.text()
    assert "# 1 asks for 2" in found.text()
    said = [s.text for s in found.play.statements]
    assert "checkpoint 1" not in said
    assert "heartbeat 3" not in said
    assert "fetch 2" in said
    assert not any("count=40" in line or "n=1" in line for line in said)
    assert found.dropped == len(actions(student().play)) - found.lines


def test_a_line_moves_beside_others_about_the_same_broker_if_nothing_depends_on_its_place() -> None:
    """Two disks are lost in between; the order of the two stories is free."""
    mixed = STUDENT.replace("crash     2 disk=replaced", "crash 2 disk=replaced\ncrash 3")
    stage = run_play(parse(mixed.replace("start     2", "start 2\nexpire 3"), "student"))
    body = tuple(s for s in stage.play.statements[6:] if s.verb)
    head = msgspec.structs.replace(stage.play, statements=stage.play.statements[:6])
    trial = Trial(head, goal_of(stage, "no-committed-record-lost"), 1_000)
    assert trial.holds(body)
    after = body
    while (again := moved(trial, after)) != after:
        after = again
    assert sorted(s.text for s in after) == sorted(s.text for s in body)
    third = [n for n, s in enumerate(after) if s.words[:1] == ("3",)]
    assert third == list(range(third[0], third[0] + 4))


def test_a_schedule_of_the_spark_cell() -> None:
    """Timed, with many advances; a token like any other."""
    study = kiplab.fleet.schedules(60, spark=False)
    found = minimise(study.losing[0].token)
    assert_minimal(found)
    assert found.dropped > 0


def walked(seed: int) -> Play | None:
    """Random moves from two replicas in sync, as a play, if they break something."""
    play, rules, dice = load("isr-two-of-three"), parse_features("3.2"), Random(seed)
    menu = Menu(
        kinds=PROGRESS.kinds | {moves.Crash},
        timers=(moves.Timer.FETCH, moves.Timer.HEARTBEAT),
        losses=(Loss.DISK,),
    )
    history = History(cluster_of(setup_of(play, rules)))
    for _ in range(70):
        history = history.do(dice.choice(list(enabled(history.cluster, menu))))
        if history.cluster.broken:
            return written(play, history, situation_lines(play, rules))
    return None


def test_a_random_walk() -> None:
    """Written move by move, in `manual`: every message is delivered by a line of its own."""
    walk = next(w for w in map(walked, range(500)) if w is not None)
    found = minimise(parse(format_play(walk), "walk"))
    assert_minimal(found)
    assert found.lines < len(actions(walk))
    assert not any(s.arg("n") for s in found.play.statements)


def test_a_counterexample_of_the_explorer_is_as_short_already() -> None:
    explored = kiplab.explore("kafka-14139", kafka="3.4", writes=0)
    assert explored.play is not None
    found = minimise(explored.play)
    assert found.lines <= len(actions(explored.play))
    assert_minimal(found)


def test_an_innocent_loss_is_not_traded_for_an_excused_one(short: Minimised) -> None:
    """Losing the last replica is shorter, and another story."""
    assert not any(o.excused for o in run_play(short.play).cluster.observed)
    assert any(s.verb == "deliver" for s in short.play.statements)


def test_another_property_than_the_verdict(short: Minimised) -> None:
    found = minimise(student(), "no-stale-epoch-in-isr")
    assert found.violated == "no-stale-epoch-in-isr"
    assert found.lines < short.lines
    assert_minimal(found)


def test_the_same_every_time_and_what_is_minimal_stays_as_it_is(short: Minimised) -> None:
    assert minimise(student()) == short
    assert minimise(short.play).play == short.play


def test_bounded_work_says_so() -> None:
    few = minimise(student(), tries=5)
    assert (few.tries, few.minimal) == (5, False)
    assert "5 attempts were not enough" in few.sentence
    assert kiplab.run(few.play).report()["expectations"]["failed"] == 0


def test_where_nothing_breaks_there_is_nothing_to_minimise() -> None:
    with pytest.raises(PlayError, match="nothing breaks on Kafka"):
        kiplab.minimise("isr-two-of-three")
    with pytest.raises(PlayError, match="a run that breaks logs-match"):
        kiplab.minimise("kafka-14139", "logs-match")
    with pytest.raises(ExploreError, match="electable-holds-committed"):
        kiplab.minimise("kafka-14139", "luck")


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "short.play"
    assert main(["minimise", "kafka-14139", "-o", str(out), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["minimal"]
    assert (found["property"], found["lines"]) == ("no-committed-record-lost", 8)
    assert out.read_text(encoding="utf-8") == found["play"]
    assert main(["play", str(out)]) == 0


@pytest.mark.parametrize(
    "words", [["isr-two-of-three"], ["kafka-14139", "--property", "luck"], ["nowhere"]]
)
def test_the_command_refuses_in_one_sentence(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["minimise", *words]) == 2
    assert capsys.readouterr().err.startswith("kiplab: ")
