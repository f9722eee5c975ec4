"""What the controller elects unasked, 300 s after it has found a reason."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from kiplab.engine import impossible_moves, moves, nodes, routes
from kiplab.engine.cluster import Cluster
from kiplab.engine.truth import truth
from kiplab.plays.grammar import parse
from kiplab.plays.move_lines import written
from kiplab.plays.play import Play, format_play
from kiplab.plays.runner import do_line, open_stage, run_play
from kiplab.plays.stage import Stage
from kiplab.plays.verdict import verdict
from kiplab.protocol.facts import PeriodicElections
from kiplab.protocol.ids import CONTROLLER, NO_LEADER
from kiplab.protocol.kraft.controller_state import Controller, ControllerTimers

LEADERLESS = """\
timed
broker 1 fenced=yes down=yes
broker 2
topic orders replicas=1,2 isr=1 leader=none leader-epoch=5 log=80@4,20@5 unclean-leader-election=yes
replica orders-0 broker=2 log=80@4
"""
TWO = """\
timed
broker 1
broker 2
topic orders replicas=1,2 isr=1,2 leader=2
"""
REBALANCE = "controller auto-leader-rebalance=yes\n"


def run(*lines: str, header: str) -> Stage:
    return run_play(parse(header + "\n".join(lines)))


def leader(stage: Stage) -> int:
    return truth(stage.cluster).partitions[0].leader


def timers(cluster: Cluster) -> ControllerTimers:
    controller = nodes.state_of(cluster, CONTROLLER)
    assert isinstance(controller, Controller)
    return controller.timers


def told(stage: Stage) -> list[PeriodicElections]:
    return [e for e in stage.events if isinstance(e, PeriodicElections)]


# --- partitions that nobody leads -----------------------------------------------------------------


def test_a_partition_that_starts_without_a_leader_gets_one_after_300_s() -> None:
    header = "kafka 3.9\n" + LEADERLESS
    assert leader(run("advance 299999ms", header=header)) == NO_LEADER
    stage = run("advance 300s", header=header)
    assert leader(stage) == 2
    assert told(stage) == [PeriodicElections(unclean=True, elected=("orders-0",), left=())]
    assert verdict(stage) == "loss"


@pytest.mark.parametrize("who", ["all", "controller"])
def test_after_an_upgrade_to_3_9_it_takes_300_s_from_the_upgrade_on(who: str) -> None:
    header = "kafka 3.8\n" + LEADERLESS
    before = ("advance 1000s", f"upgrade {who} kafka=3.9")
    assert leader(run(*before, "advance 299999ms", header=header)) == NO_LEADER
    assert leader(run(*before, "advance 300s", header=header)) == 2
    again = (*before, "advance 100s", f"upgrade {who} kafka=3.8", before[1])
    assert leader(run(*again, "advance 299999ms", header=header)) == NO_LEADER


@pytest.mark.parametrize("kafka", ["3.8", "3.9\noff kafka-12670"])
def test_without_kafka_12670_nobody_ever_looks(kafka: str) -> None:
    stage = run("advance 1000s", header=f"kafka {kafka}\n{LEADERLESS}")
    assert leader(stage) == NO_LEADER
    assert timers(stage.cluster) == ControllerTimers()


def test_a_topic_that_does_not_allow_it_stays_without_a_leader() -> None:
    header = "kafka 3.9\n" + LEADERLESS.replace("unclean-leader-election=yes", "")
    stage = run("advance 1000s", header=header)
    assert leader(stage) == NO_LEADER
    assert told(stage) == []


def test_as_long_as_nobody_is_eligible_it_is_tried_every_300_s() -> None:
    lines = ("crash 2", "advance 910s")
    stage = run(*lines, header="kafka 3.9\n" + LEADERLESS)
    assert told(stage) == 3 * [PeriodicElections(unclean=True, elected=(), left=("orders-0",))]


# --- preferred leaders ----------------------------------------------------------------------------


@pytest.mark.parametrize("kafka", ["3.2", "3.5", "3.9"])
def test_the_preferred_leader_comes_back_after_300_s_if_the_play_asks_for_it(kafka: str) -> None:
    header = f"kafka {kafka}\n{REBALANCE}{TWO}"
    assert leader(run("advance 299999ms", header=header)) == 2
    stage = run("advance 300s", header=header)
    assert leader(stage) == 1
    assert told(stage) == [PeriodicElections(unclean=False, elected=("orders-0",), left=())]


@pytest.mark.parametrize("asked", ["", "controller auto-leader-rebalance=no\n"])
def test_else_the_leader_stays(asked: str) -> None:
    stage = run("advance 1000s", header=f"kafka 3.9\n{asked}{TWO}")
    assert leader(stage) == 2
    assert timers(stage.cluster) == ControllerTimers()


def test_300_s_count_from_when_the_preferred_leader_lost_the_partition() -> None:
    header = "kafka 3.9\n" + REBALANCE + TWO.replace("leader=2", "leader=1")
    lost = run("advance 100s", "crash 1", "advance 20s", "start 1", header=header)
    planned = timers(lost.cluster).balance_leaders
    assert leader(lost) == 2
    assert 400_000 < planned <= 420_000
    left = planned - lost.cluster.now_ms
    again = run(
        *("advance 100s", "crash 1", "advance 20s", "start 1"), f"advance {left}ms", header=header
    )
    assert leader(again) == 1


def test_a_new_controller_plans_anew() -> None:
    header = "kafka 3.9\n" + REBALANCE + TWO
    stage = run("advance 200s", "fail-over", "advance 200s", header=header)
    assert leader(stage) == 2
    assert timers(stage.cluster).balance_leaders == 500_000
    assert leader(run("advance 200s", "fail-over", "advance 300s", header=header)) == 1


def test_what_is_planned_is_held_although_the_reason_is_gone() -> None:
    header = "kafka 3.9\n" + REBALANCE + TWO
    stage = run("advance 100s", "elect orders-0", "advance 100s", header=header)
    assert leader(stage) == 1
    assert timers(stage.cluster).balance_leaders == 300_000
    done = run("advance 100s", "elect orders-0", "advance 500s", header=header)
    assert told(done) == []
    assert timers(done.cluster).balance_leaders == 0


# --- without a clock, and written down ------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "line", "reason"),
    [
        ("kafka 3.8", "elect-unclean", "KAFKA-12670"),
        ("kafka 3.9", "balance-leaders", "auto.leader.rebalance.enable is off"),
        ("timed\nkafka 3.9", "elect-unclean", "has scheduled no check"),
    ],
)
def test_a_task_that_the_controller_does_not_have(header: str, line: str, reason: str) -> None:
    stage = run_play(parse(f"{header}\nbroker 1\ntopic t"))
    timer = moves.Timer(line)
    assert reason in str(impossible_moves.why_not(stage.cluster, moves.Fire(CONTROLLER, timer)))


def test_without_a_clock_a_line_holds_them() -> None:
    header = "kafka 3.9\n" + REBALANCE + TWO.replace("timed\n", "")
    stage = run("balance-leaders", "expect orders-0 leader=1 leader-epoch=1", header=header)
    assert stage.expectations[0].status == "held"
    assert timers(stage.cluster) == ControllerTimers()


def test_a_timed_run_with_them_is_a_play() -> None:
    text = "kafka 3.9\n" + REBALANCE + TWO + "advance 400s\n"
    play = parse(text)
    stage = run_play(play)
    header = tuple(s for s in play.statements if s.verb != "advance")
    again = run_play(parse(format_play(Play(written(play, stage.history, header).statements))))
    assert again.cluster == stage.cluster


LINES = (
    *("crash 1", "crash 2", "start 1", "start 2", "shut-down 1"),
    *("elect orders-0", "elect orders-0 unclean=yes", "fail-over"),
    *("upgrade kafka=3.9", "upgrade kafka=3.5", "advance 20s", "advance 400s"),
)


@pytest.mark.parametrize("header", [LEADERLESS, REBALANCE + TWO])
@settings(max_examples=60)
@given(lines=st.lists(st.sampled_from(LINES), max_size=8))
def test_whatever_has_happened_nothing_is_left_to_plan(header: str, lines: list[str]) -> None:
    play = parse("kafka 3.5\n" + header + "\n".join(lines))
    stage = replace(open_stage(play), strict=False)
    for line, statement in enumerate(play.statements, 1):
        stage = do_line(stage, statement, line)
    for at in stage.history.steps:
        for node in nodes.control_planes(at.cluster):
            state = nodes.state_of(at.cluster, node)
            assert routes.PLANS[type(state)](state, at.cluster) is state
