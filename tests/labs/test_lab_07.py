"""Lab 07: what it says of four failures, of three checks, of session ids, and of real Kafka."""

import re
from typing import Any

import pytest

import kiplab
from kiplab.classroom.exercises.late_messages import CHECKS, MESSAGES
from kiplab.judge.zookeeper_server.zookeeper_process import RECORDED
from kiplab.plays.library import load
from kiplab.protocol.facts import IsrChanged, LeaderElected, Polled
from kiplab.protocol.zookeeper_facts import BrokersCompared, CheckpointLost
from kiplab.rows.rows_of_stage import rows_of
from tests.classroom.answers import ANSWERS, judged
from tests.labs.running import cells, prose, texts

LAB = "07-controlled-shutdown-bounce"
PLAY, BEFORE, SINCE, BETWEEN = "380-stale-stop-replica", "zk-2.1", "zk-2.2", "zk-2.2/2.1-IV2"
LINE = r"`(Received controlled shutdown request .+?\.)`"


def compared(play: str, **features: Any) -> list[BrokersCompared]:
    """What the controller found whenever it looked."""
    events = kiplab.run(play, **features).events
    return [e for e in events if isinstance(e, BrokersCompared)]


def stale(play: str, **features: Any) -> list[str]:
    """The requests that were refused for a broker epoch."""
    refusals = kiplab.run(play, **features).refusals
    return [str(r["request"]) for r in refusals if r["error"] == "STALE_BROKER_EPOCH"]


# --- the run of the Lab -------------------------------------------------------------------------


def test_on_2_1_the_controller_finds_no_change_and_on_2_2_a_bounce() -> None:
    nothing, _ = compared(PLAY)
    assert (nothing.new, nothing.bounced, nothing.dead) == ((), (), ())
    found, _ = compared(PLAY, kafka=SINCE)
    assert (found.new, found.bounced, found.dead) == ((), ((1, 100, 135),), ())
    assert "(1, **135**)" in texts(LAB)["twin-why"]


def test_what_waited_is_obeyed_on_2_1_and_refused_whole_on_2_2() -> None:
    assert stale(PLAY) == []
    assert set(stale(PLAY, kafka=SINCE)) == {"leader-and-isr", "update-metadata", "stop-replica"}


def test_broker_1_fetches_neither_partition_on_2_1_and_joins_both_isrs_on_2_2() -> None:
    for features, joined in ((BEFORE, set()), (SINCE, {"F-0", "L-0"})):
        events = kiplab.run(PLAY, kafka=features).events
        isrs = [e for e in events if isinstance(e, IsrChanged)]
        assert {e.partition for e in isrs if 1 in e.after and 1 not in e.before} == joined


def test_on_2_2_broker_2_leads_l_for_a_bounce_that_took_no_time() -> None:
    run = kiplab.run(MESSAGES["D"], kafka=SINCE)
    elected = [e for e in run.events if isinstance(e, LeaderElected)]
    assert [(e.partition, e.leader) for e in elected] == [("L-0", 2)]


def test_the_line_of_the_log_that_it_begins_with_is_one_that_2_2_writes() -> None:
    (line,) = re.findall(LINE, cells(LAB, "markdown")["title"])
    messages = rows_of(kiplab.run(MESSAGES["B"], kafka=SINCE).stage).messages
    assert [text for m in messages for text in m.log if line in text]


# --- four plays, three checks -------------------------------------------------------------------


def test_the_plays_of_the_lab_are_those_that_are_judged() -> None:
    assert [id for id, code in cells(LAB, "code").items() if "MESSAGES" in code] == [
        *("setup", "symptoms", "objects", "exit-compare", "exit-story")
    ]
    text = cells(LAB, "markdown")["needed-text"]
    assert [guard for guard in CHECKS.values() if f"`{guard}`" not in text] == [CHECKS["M"]]
    assert f'off="{CHECKS["M"]}"' in text


@pytest.mark.parametrize("play", MESSAGES.values())
def test_each_does_harm_on_2_1_and_none_on_2_2(play: str) -> None:
    assert kiplab.run(play, kafka=BEFORE).verdict == "harm"
    assert kiplab.run(play, kafka=SINCE).verdict == "safe"


def test_who_objects_is_who_refuses_it_first() -> None:
    assert set(stale(MESSAGES["A"], kafka=SINCE)) >= {"stop-replica", "leader-and-isr"}
    assert stale(MESSAGES["B"], kafka=SINCE) == ["controlled-shutdown"]
    assert "leader-and-isr" in stale(MESSAGES["C"], kafka=SINCE)
    assert stale(MESSAGES["D"], kafka=SINCE) == []


def test_without_the_look_nothing_comes_after_what_was_refused() -> None:
    for letter in "AC":
        run = kiplab.run(MESSAGES[letter], kafka=SINCE, off=CHECKS["L"])
        assert all(e.bounced == () for e in run.events if isinstance(e, BrokersCompared))
        assert {r["guard"] for r in run.refusals} >= {CHECKS["M"]}
    assert "a leader does not know that it leads" in run.sentence


def test_the_old_line_of_the_checkpoint_goes_and_the_consumer_gets_nothing() -> None:
    run = kiplab.run(MESSAGES["C"])
    lost = [(e.partition, e.high_watermark) for e in run.events if isinstance(e, CheckpointLost)]
    assert lost == [("L-0", 900)]
    (poll,) = (e for e in run.events if isinstance(e, Polled))
    assert (poll.node, poll.first, poll.last, poll.high_watermark) == (1, 850, 849, 0)


def test_the_run_that_takes_broker_1_out_again_is_in_its_explanation() -> None:
    right = ANSWERS["bounce/late-shutdown"].right
    assert texts(LAB)["late-shutdown-why"].startswith(f"`{right}`\n")
    token = judged("bounce/late-shutdown", right).token
    assert kiplab.run(token).sentence == kiplab.run(MESSAGES["B"]).sentence
    assert stale(token, kafka=SINCE) == ["controlled-shutdown"]


def test_its_four_assumptions_are_numbered_as_in_kip_380() -> None:
    rows = re.findall(r"^\| (\d) \| .+? \| ([A-D]) \| ([MSL]): ", texts(LAB)["assumptions"], re.M)
    assert rows == [("1", "A", "M"), ("2", "B", "S"), ("3", "C", "M"), ("4", "D", "L")]


# --- the number that was rejected ---------------------------------------------------------------


def test_a_session_id_that_falls_hides_a_bounce_which_its_czxid_shows() -> None:
    assert kiplab.run("380-session-id").verdict == "harm"
    assert kiplab.run("380-session-id", off="380.session-id").verdict == "safe"


def test_of_a_real_zookeeper_two_incarnations_are_kept() -> None:
    incarnations = kiplab.two_incarnations(live=False)
    assert incarnations == RECORDED
    assert incarnations.second.czxid > incarnations.first.czxid
    assert incarnations.second.session <= incarnations.first.session
    assert [
        hex(incarnation.session >> 56) for incarnation in (incarnations.first, incarnations.second)
    ] == ["0x2", "0x1"]
    assert str(incarnations).endswith("\nRecorded, of ZooKeeper 3.9.5.")


# --- real Kafka ---------------------------------------------------------------------------------


def test_real_controllers_send_nothing_for_a_bounce_on_2_1_and_everything_on_2_2() -> None:
    heard = kiplab.real_control_requests("bounce").heard
    assert heard["2.1.1"][-1].requests == ()
    assert {sent.stamped for sent in heard["2.2.2"][-1].to(1)} == {"b1g3"}


def test_real_requests_of_a_shutdown_reach_the_next_incarnation_with_the_epoch_before() -> None:
    heard = kiplab.real_control_requests("earlier-mail").heard
    old, new = (heard[patch][1].to(1) for patch in ("2.1.1", "2.2.2"))
    assert [sent.api for sent in old] == [sent.api for sent in new]
    assert {(sent.generation, sent.stamped) for sent in new} == {("b1g2", "b1g1")}
    leaders = {
        patch: znode.leader
        for patch, passages in heard.items()
        for znode in passages[-1].znodes
        if znode.topic == "F"
    }
    assert leaders == {"2.1.1": -1, "2.2.2": 1}


def test_a_real_controller_of_2_2_refuses_the_second_try() -> None:
    heard = kiplab.real_control_requests("stale-shutdown").heard
    errors = {patch: [a.error for a in heard[patch][-2].answers] for patch in heard}
    assert errors == {"2.1.1": [0], "2.2.2": [77]}


def test_a_real_broker_loses_the_line_of_l_on_2_1_and_in_the_middle_of_the_upgrade() -> None:
    stories = kiplab.real_checkpoint().stories
    after = {name: story.after_old_mail for name, story in stories.items()}
    whole = {"F": 5, "L": 9}
    assert after == {"2.1.1": {"F": 5}, "2.2.2": whole, "2.2.2/2.1": {"F": 5}}


# --- what it says besides -----------------------------------------------------------------------


def test_its_exit_ticket_is_about_the_middle_of_the_upgrade() -> None:
    assert f'"{BETWEEN}"' in cells(LAB, "code")["exit-compare"]


def test_the_plays_that_its_table_names_do_what_it_says() -> None:
    (found,) = compared("380-session-expiry")
    assert [broker for broker, *_ in found.bounced] == [1]
    named = re.findall(r"`(380-[a-z-]+)`", prose(LAB))
    assert [name for name in named if not load(name).statements] == []
