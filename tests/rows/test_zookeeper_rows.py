"""Runs of ZooKeeper's time as rows: czxids, queues, incarnations, what a controller missed."""

import pytest

from kiplab.figures.timeline.bounce_panels import OFF, ON
from kiplab.plays.library import load
from kiplab.plays.runner import run_play
from kiplab.protocol.features import parse_features
from kiplab.rows.columns import MessageRow, Rows, SpanRow
from kiplab.rows.difference import first_difference
from kiplab.rows.message_paths import drawn_messages
from kiplab.rows.rows_of_stage import rows_of
from kiplab.rows.sentences import sentences, summary
from kiplab.rows.view import until
from tests.figures.small_plays import FAILED_OVER, play
from tests.figures.zookeeper_plays import run, runs


def spans(rows: Rows, lane: str, track: str, partition: str = "") -> list[SpanRow]:
    return [
        s
        for s in rows.spans
        if (s.lane, s.track) == (lane, track) and s.partition in ("", partition or s.partition)
    ]


def mail(rows: Rows) -> list[MessageRow]:
    return [m for m in rows.messages if m.earlier_life]


@pytest.mark.parametrize("kafka", [OFF, ON])
def test_a_tile_has_the_czxid_whether_or_not_the_broker_knows_it(kafka: str) -> None:
    first, second = spans(run("stop replica", kafka), "broker 1", "uptime")
    assert (first.value, second.value) == ("100", "144")
    assert ("not told" in first.flags, "not told" in second.flags) == (kafka == OFF,) * 2


def test_a_queue_says_how_many_wait_and_for_which_incarnation() -> None:
    for kafka in (OFF, ON):
        before, after = spans(run("stop replica", kafka), "controller", "queue for broker 1")
        assert (before.value, before.flags) == ("7", ("for 100",))
        assert (after.x0, after.value, after.flags) == (2, "7", ("for 100", "earlier"))


@pytest.mark.parametrize(("kafka", "fate"), [(OFF, "delivered"), (ON, "refused")])
def test_mail_for_an_earlier_life_is_told_however_fast_it_is(kafka: str, fate: str) -> None:
    found = mail(run("stop replica", kafka))
    assert [m.kind for m in found].count("stop-replica") == 4
    assert {(m.x_arrived, m.meant_for, m.fate) for m in found} == {(3, 100, fate)}
    (told,) = [m for m in drawn_messages(run("stop replica", kafka), "F-0") if m.earlier_life]
    assert told.label.endswith("7 requests for czxid 100")
    assert "LeaderAndIsr" in told.label
    assert "StopReplica ×4" in told.label


def test_a_request_that_comes_to_the_incarnation_it_is_meant_for_is_routine() -> None:
    for kafka in (OFF, ON):
        rows = run("failed over", kafka)
        asked = [m for m in rows.messages if m.meant_for >= 0]
        assert asked
        assert not [m for m in asked if m.is_telling and m.fate != "dropped"]


def test_a_request_is_for_the_incarnation_it_names_where_session_ids_are_the_names() -> None:
    rows = rows_of(run_play(load("380-session-id")))
    meant = {m.meant_for for m in rows.messages if m.meant_for >= 0}
    assert mail(rows) == []
    assert meant == {90, 110, 134}


def test_who_knows_an_epoch_is_no_difference_until_it_makes_one() -> None:
    off, on = (rows_of(run_play(load("380-missed-bounce"), parse_features(k))) for k in (OFF, ON))
    assert first_difference(off, on) == 4


def test_while_it_is_on_its_way_nobody_knows_that_it_comes_to_another_life() -> None:
    (seen,) = [
        m
        for m in until(run("stop replica", ON), 2).messages
        if m.x_arrived is None and m.meant_for >= 0
    ]
    assert (seen.meant_for, seen.earlier_life) == (100, False)


def test_a_leader_epoch_that_is_known_already_is_no_refusal_to_look_at() -> None:
    for rows in runs():
        errors = {m.error for m in rows.messages if m.fate == "refused"}
        assert errors <= {"STALE_BROKER_EPOCH"}


def test_a_replica_that_is_assigned_and_not_fetched_is_idle() -> None:
    off, on = run("stop replica", OFF), run("stop replica", ON)
    idle = [s for s in spans(off, "broker 1", "role", "F-0") if "idle" in s.flags]
    assert (idle[0].x0, idle[-1].x1) == (2, 8)
    assert [s.x1 for s in spans(on, "broker 1", "role", "F-0") if "idle" in s.flags] == [4]
    assert "broker 1 is up, is assigned F-0 and does not fetch it" in summary(off)


def test_a_member_of_the_isr_that_nobody_talks_to_is_idle_too() -> None:
    roles = spans(run("missed bounce", OFF), "broker 1", "role", "F-0")
    assert (roles[-1].value, "idle" in roles[-1].flags) == ("in ISR", True)
    assert roles[-1].x1 == run("missed bounce", OFF).meta.end


def test_a_controller_says_what_it_found_or_that_it_found_nothing() -> None:
    def said(name: str, kafka: str) -> list[tuple[str, str]]:
        found = (m for m in run(name, kafka).marks if m.lane == "controller")
        return [(m.kind, m.text) for m in found]

    assert said("missed bounce", OFF) == [("unchanged", "compares brokers: nothing changed")]
    assert said("missed bounce", ON) == [("bounced", "1 bounced: 100 → 142")]
    assert ("compared", "dead {1}") in said("late shutdown", OFF)
    assert ("queue dropped", "7 requests for broker 1 dropped") in said("seen in time", ON)
    assert "nothing changed" in summary(run("missed bounce", OFF))
    assert "1 bounced" in summary(run("missed bounce", ON))


def test_a_broker_that_is_taken_for_shutting_down_is_passed_over() -> None:
    (span,) = spans(run("late shutdown", OFF), "broker 1", "passed over")
    assert (span.x0, span.x1) == (6, run("late shutdown", OFF).meta.end)
    assert not spans(run("late shutdown", ON), "broker 1", "passed over")


def test_a_checkpoint_that_loses_a_partition_is_a_mark() -> None:
    lost = [m for m in run("first mail", OFF).marks if m.kind == "checkpoint lost"]
    assert [(m.lane, m.partition) for m in lost] == [("broker 1", "L-0")]
    assert not [m for m in run("first mail", ON).marks if m.kind == "checkpoint lost"]


def test_a_registration_outlives_its_process_until_the_session_ends() -> None:
    rows = run("missed bounce", ON)
    (span,) = spans(rows, "broker 1", "registered")
    assert (span.x0, span.x1, span.value) == (1, 2, "100")
    first, second = spans(rows, "ZooKeeper", "broker 1")
    assert (first.x1, second.x0) == (2, 3)


def test_the_controller_is_one_of_the_brokers() -> None:
    found = [
        (s.value, s.flags) for s in spans(run("failed over", ON), "controller", "controller epoch")
    ]
    assert found[0] == ("5", ("broker 0",))
    assert found[-1][0] == "6"
    assert found[-1][1] != ("broker 0",)
    assert ("none", ()) in found or len(found) == 2


def test_ticks_are_transactions_in_the_order_of_their_zxids() -> None:
    for rows in runs():
        zxids = [tick.offset for tick in rows.ticks]
        assert zxids == sorted(zxids), "one transaction may write two znodes"
        assert {tick.version for tick in rows.ticks} <= {-1}
    shown = [tick.short for tick in run("missed bounce", ON).ticks]
    assert shown[:3] == ["session of 1 expires", "", "register 1 → czxid 142"]


def test_sentences_say_what_waits() -> None:
    told = sentences(run("stop replica", ON))
    assert any("7 requests wait for czxid 100 of broker 1" in line for line in told)


def test_every_event_named_by_a_tick_or_a_mark_is_there() -> None:
    for rows in runs():
        ids = {event.id for event in rows.events}
        assert {id for tick in rows.ticks for id in tick.events} <= ids
        assert {mark.event for mark in rows.marks} <= ids


def test_kraft_has_none_of_it() -> None:
    rows = play(FAILED_OVER)
    assert not [s for s in rows.spans if s.lane == "ZooKeeper" or s.track.startswith("queue")]
    assert not [m for m in rows.messages if m.meant_for >= 0 or m.earlier_life]
