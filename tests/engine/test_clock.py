"""Timed runs: what falls due is done when it is due, and nothing that would change nothing."""

import pytest

from kiplab.engine import events, moves
from kiplab.plays.grammar import parse
from kiplab.plays.runner import run_play
from kiplab.plays.stage import Stage
from kiplab.protocol import facts, ids
from kiplab.protocol.kraft.controller_state import Controller, heartbeat
from kiplab.protocol.registrations import registration
from kiplab.protocol.replica.broker_state import Broker, Lifecycle, Volatile
from tests.engine.small_clusters import BROKER_1, BROKER_2

HEADER = """\
kafka   3.5
broker  1  epoch=40
broker  2  epoch=41
topic   orders  replicas=1,2  isr=1,2  leader=1  leader-epoch=5  log=100@5  flushed=60
timed
"""
OUTSIDE = HEADER.replace("isr=1,2", "isr=1")


def run(lines: str, header: str = HEADER) -> Stage:
    return run_play(parse(header + lines, "test"))


def when(stage: Stage, wanted: type, **fields: object) -> list[int]:
    """The times at which such an event happened."""
    return [
        step.cluster.now_ms
        for step in stage.history.steps
        for event in step.events
        if isinstance(event, wanted)
        and all(getattr(event, name) == value for name, value in fields.items())
    ]


def fired(stage: Stage, broker: ids.BrokerId, timer: moves.Timer) -> list[int]:
    move = moves.Fire(broker, timer)
    return [s.cluster.now_ms for s in stage.history.steps if s.move == move]


def process(node: Broker) -> Volatile:
    assert node.process is not None, f"broker {node.id} is down"
    return node.process


# --- time ---------------------------------------------------------------------------------------


def test_time_passes_by_exactly_what_the_line_says() -> None:
    stage = run("advance 12345ms\nadvance 1ms\n")
    assert stage.cluster.now_ms == 12_346


def test_time_never_goes_back_and_never_stands_still() -> None:
    steps = run("crash 2\nadvance 20s\nstart 2\nadvance 2m\n").history.steps
    times = [s.cluster.now_ms for s in steps]
    assert times == sorted(times)
    assert all(s.move.ms > 0 for s in steps if isinstance(s.move, moves.Advance))


def test_equal_plays_have_equal_histories() -> None:
    lines = "crash 2 disk=replaced\nadvance 12s\nstart 2\nadvance 60s\n"
    assert run(lines).history == run(lines).history


# --- sessions -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("crash_ms", "last_tick_ms"), [(500, 0), (2_000, 2_000), (7_900, 6_000)])
def test_a_session_ends_strictly_after_the_timeout_since_the_last_heartbeat(
    crash_ms: int, last_tick_ms: int
) -> None:
    stage = run(f"advance {crash_ms}ms\ncrash 2\nadvance 20s\n")
    assert when(stage, facts.BrokerChanged, broker=2, change="fenced") == [last_tick_ms + 9_001]


def test_brokers_that_report_keep_their_sessions_for_ever() -> None:
    stage = run("advance 10m\n")
    assert when(stage, facts.BrokerChanged) == []
    assert len(fired(stage, BROKER_1, moves.Timer.HEARTBEAT)) < 10 * 60 // 2


def test_of_two_dead_brokers_the_one_silent_for_longer_is_fenced_first() -> None:
    stage = run("advance 3s\ncrash 1\nadvance 2s\ncrash 2\nadvance 20s\n")
    assert when(stage, facts.BrokerChanged, broker=1, change="fenced") == [2_000 + 9_001]
    assert when(stage, facts.BrokerChanged, broker=2, change="fenced") == [4_000 + 9_001]


def test_after_a_fail_over_the_first_heartbeat_makes_the_controller_look_who_is_silent() -> None:
    stage = run("crash 2\nadvance 1s\nfail-over\nadvance 20s\n")
    assert when(stage, facts.BrokerChanged, broker=BROKER_2) == [10_001]
    nobody = run("crash 1\ncrash 2\nadvance 1s\nfail-over\nadvance 20s\n")
    assert when(nobody, facts.BrokerChanged) == []


def test_heartbeats_that_are_held_back_cost_the_session_on_time() -> None:
    stage = run("advance 3s\nhold broker-heartbeat from=2\nadvance 30s\n")
    assert when(stage, facts.BrokerChanged, broker=2, change="fenced") == [2_000 + 9_001]
    assert len([m for m in stage.cluster.messages if m.name.kind == "broker-heartbeat"]) == 1


def test_a_broker_cut_off_from_the_controller_loses_its_session_and_gets_it_back() -> None:
    stage = run("advance 3s\ncut 2 controller\nadvance 30s\nheal 2 controller\nadvance 3s\n")
    assert when(stage, facts.BrokerChanged, broker=2, change="fenced") == [11_001]
    (back,) = when(stage, facts.BrokerChanged, broker=2, change="unfenced")
    assert 33_000 <= back <= 35_000


# --- registration -------------------------------------------------------------------------------


def test_a_new_incarnation_tries_until_the_session_of_the_old_one_is_over() -> None:
    stage = run("advance 1s\ncrash 2\nadvance 1s\nstart 2\nadvance 20s\n")
    refused = when(stage, facts.Refused, guard="631.one-live-incarnation")
    assert refused == [2_000, 4_000, 6_000, 8_000]
    assert when(stage, facts.BrokerChanged, broker=2, change="registered") == [10_000]
    assert process(stage.cluster.brokers[1]).lifecycle is Lifecycle.RUNNING


def test_the_session_ends_before_a_registration_of_the_same_millisecond() -> None:
    """Else the old incarnation would stay in the ISR: nobody looks there at a registration."""
    stage = run("advance 1s\ncrash 2\nadvance 2001ms\nstart 2\nadvance 20s\n")
    assert when(stage, facts.BrokerChanged, broker=2, change="fenced") == [9_001]
    assert when(stage, facts.BrokerChanged, broker=2, change="registered") == [9_001]
    assert when(stage, facts.IsrChanged, after=(1,)) == [9_001]


def test_a_broker_whose_heartbeats_are_held_recovers_but_stays_fenced() -> None:
    stage = run("crash 2\nadvance 15s\nhold broker-heartbeat from=2 life=2\nstart 2\nadvance 60s\n")
    assert process(stage.cluster.brokers[1]).lifecycle is Lifecycle.RECOVERY
    controller = stage.cluster.controller
    assert isinstance(controller, Controller)
    held, other = registration(controller.registrations, BROKER_2), heartbeat(controller, BROKER_1)
    assert held is not None
    assert held.fenced
    assert other is not None
    assert not other.fenced


def test_a_controlled_shutdown_ends_within_a_few_heartbeats() -> None:
    stage = run("shut-down 1\nadvance 60s\n")
    assert when(stage, facts.LeaderElected, leader=2) == [0]
    (stopped,) = when(stage, facts.LifecycleChanged, node=1, state="STOPPED")
    assert stopped <= 3 * 2_000


# --- replication --------------------------------------------------------------------------------


def test_a_follower_fetches_while_there_is_something_to_learn_and_then_rests() -> None:
    stage = run("produce orders-0 count=5\nadvance 10m\n")
    fetches = fired(stage, BROKER_2, moves.Timer.FETCH)
    assert fetches == sorted(fetches)
    assert 0 < len(fetches) < 10
    assert {r.high_watermark for b in stage.cluster.brokers for r in process(b).replicas} == {105}


def test_a_follower_outside_the_isr_joins_by_itself() -> None:
    assert when(run("advance 5s\n", OUTSIDE), facts.IsrChanged, after=(1, 2)) == [0]


def test_a_held_fetch_is_not_followed_by_another() -> None:
    stage = run("hold fetch from=2\nadvance 60s\n", OUTSIDE)
    assert [m.name.kind for m in stage.cluster.messages] == ["fetch"]


def test_a_held_answer_is_not_followed_by_another_fetch() -> None:
    stage = run("hold fetch-reply from=1\nadvance 60s\n", OUTSIDE)
    assert fired(stage, BROKER_2, moves.Timer.FETCH) == [0]


def test_a_follower_that_stops_fetching_leaves_the_isr_after_the_lag_time() -> None:
    stage = run("advance 1s\nhold fetch from=2\nproduce orders-0 count=5\nadvance 2m\n")
    (shrunk,) = when(stage, facts.IsrChanged, after=(1,))
    assert 30_000 < shrunk <= 46_000
    assert shrunk % 15_000 == 0


# --- disks --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("crash_s", "left"), [(29, 60), (31, 100)])
def test_what_is_not_flushed_is_flushed_after_thirty_seconds(crash_s: int, left: int) -> None:
    stage = run(f"advance {crash_s}s\ncrash 2 disk=tail-lost\n")
    assert stage.cluster.brokers[1].durable.replicas[0].log.end == left


def test_a_high_watermark_that_moved_is_checkpointed() -> None:
    stage = run("produce orders-0 count=5\nadvance 20s\n")
    assert {b.durable.replicas[0].checkpoint for b in stage.cluster.brokers} == {105}


def test_by_hand_nothing_happens_by_itself() -> None:
    stage = run("crash 2\nadvance 60s\n", HEADER + "manual\n")
    told = [e.text for e in stage.history.steps[-1].events if isinstance(e, events.Happened)]
    assert told == ["60000 ms pass"]
    assert when(stage, facts.BrokerChanged) == []
