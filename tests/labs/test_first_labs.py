"""What labs 00, 01 and 02 say of their runs: no cell of theirs asserts it beside a question."""

import re

import kiplab
from kiplab.classroom.exercises.committed import acknowledged, committed, schedule
from kiplab.plays.grammar import parse
from kiplab.plays.library import load
from kiplab.plays.play import format_play
from kiplab.plays.runner import run_play
from kiplab.protocol.replica.broker_state import log_of
from kiplab.rows.rows_of_stage import rows_of
from kiplab.rows.sentences import sentences
from kiplab.widgets.lab_layout import folds_of
from tests.labs.running import NAMES, explained, prose


def test_lab_00_the_slow_request_is_refused_for_its_epoch() -> None:
    first = kiplab.run("timeline-first")
    (refusal,) = first.refusals
    assert refusal["compared"] == [{"name": "leader epoch", "requested": "5", "held": "6"}]
    isr = [s.value for s in first.rows().spans if s.track == "ISR"]
    assert isr[0] == "{1, 3}"


def test_lab_00_broker_3_dies_at_step_4_and_the_isr_has_it_until_5() -> None:
    rows = kiplab.run("timeline-first").rows()
    assert next(m.x for m in rows.moments if m.text.startswith("crash 3")) == 4
    isr = next(s for s in rows.spans if s.track == "ISR")
    assert (isr.value, isr.x1) == ("{1, 3}", 5)
    dies, ends = "[step 4](#timeline-first-step-4)", "[step 5](#timeline-first-step-5)"
    assert f"Broker 3 dies at {dies}, and the ISR is {{1, 3}} until {ends}" in prose("00-start")


def test_lab_00_broker_1_leads_until_step_11() -> None:
    spans = kiplab.run("timeline-first").rows().spans
    led = [(s.x0, s.x1) for s in spans if s.lane == "broker 1" and s.value == "leader"]
    assert led == [(0, 11)]


def test_lab_00_a_crash_moves_nothing_that_the_controller_holds() -> None:
    stage = kiplab.run("timeline-first").stage
    died = next(p for p in stage.performed if p.statement.verb == "crash")
    before, after = (stage.history.steps[n].cluster for n in (died.first - 1, died.last - 1))
    assert after.controller is before.controller


def test_lab_00_answers_whether_anything_was_lost() -> None:
    first = kiplab.run("timeline-first")
    assert first.verdict == "safe"
    three = first.stage.history.steps[-1].cluster
    assert [log_of(node, "orders-0").end for node in three.brokers] == [100, 100, 100]
    assert "**Did I lose anything?** In this run, no." in explained("00-start")["discuss"]


def test_lab_00_says_how_long_the_others_take() -> None:
    minutes = [int(re.findall(r"\*About (\d+) minutes", prose(name))[0]) for name in NAMES]
    assert f"Each lab takes {min(minutes)} to {max(minutes)} minutes" in prose("00-start")


def test_lab_00_consumers_are_there_as_its_table_says() -> None:
    assert "consumers, which read up to the high watermark" in prose("00-start")


def test_lab_01_the_words_of_its_lab_have_log_ends_and_high_watermarks() -> None:
    """What it says of where to look, at the step where the two part."""
    lab = kiplab.Lab("isr-stale-member")
    assert "This run so far" in "".join(folds_of(lab).headings)
    lab.seek(2)
    (said,) = (s for s in sentences(rows_of(lab.playback.here)) if s.startswith("At the end"))
    found = re.findall(r"broker (\d): .*?log ends at offset (\d+), high watermark (\d+)", said)
    assert found == [("1", "110", "100"), ("2", "110", "100"), ("3", "100", "100")]
    assert "high watermark" not in kiplab.run("isr-stale-member").text()


def test_lab_01_from_a_fetch_the_leader_learns_what_the_follower_had_before_it() -> None:
    """Schedule F with a second round each is schedule A."""
    heard = r"broker 1 learns that broker 2 has orders-0 up to offset (\d+)"
    assert re.findall(heard, kiplab.Run(schedule("F")).text()) == ["100"]
    assert re.findall(heard, kiplab.Run(schedule("A")).text()) == ["100", "110"]
    twice = f"{format_play(schedule('F').play)}fetch 2\nfetch 3\n"
    assert not committed(schedule("F"))
    assert committed(run_play(parse(twice)))


def test_lab_01_what_is_committed_in_step_7_is_not_acknowledged() -> None:
    """So acks=all asks for more than that: an ISR that is not too small, as its table says."""
    stage = kiplab.run("isr-committed").stage
    assert (committed(stage, 120), acknowledged(stage, 120)) == (True, False)
    assert "committed *and* the ISR is not too small" in prose("01-isr-and-high-watermark")


def test_lab_02_a_broker_epoch_is_the_offset_of_its_registration() -> None:
    ticks = kiplab.run("timeline-first", kafka="3.6").frames()["ticks"]
    registered = ticks.loc[ticks["record"] == "RegisterBrokerRecord", ["offset", "short"]]
    assert len(registered)
    assert all(f"epoch {row.offset}" in str(row.short) for row in registered.itertuples())


def test_lab_02_three_reigns_on_36_stay_one() -> None:
    """What its text says after the make or break: the same lines, on Kafka 3.6."""
    header, _, _ = format_play(load("epochs-twelve")).partition("\ncrash")
    lines = "\ncrash 3\nexpire 3\ncrash 2\nexpire 2\n"
    play = parse(f"{header}{lines}")
    reigns = [
        kiplab.run(play, kafka=kafka).partitions[0]["leader_epoch"] for kafka in ("3.5", "3.6")
    ]
    assert reigns == [7, 5]
