"""Control requests for an earlier incarnation: symptoms, objectors and checks, and session ids that
fall.
"""

import pytest

from kiplab.classroom.exercises.check_result import Checked
from kiplab.classroom.exercises.late_messages import (
    BEFORE,
    CHECKS,
    MESSAGES,
    OWN,
    SYMPTOMS,
    check_needed_checks,
    check_session_ids,
    check_symptoms,
    check_who_objects,
    one_check_off,
    played,
)
from kiplab.plays.verdict import HARM, verdict
from kiplab.protocol.features import parse_features
from kiplab.runs import run

RISES = "hold watcher-event; crash 1; expire 1; start 1 server=1; release watcher-event"
FALLS = RISES.replace(" server=1", "")
NEEDED = ["ML", "S", "ML", "L"]


@pytest.mark.parametrize("play", MESSAGES)
def test_a_message_that_is_late_has_one_of_the_symptoms_and_no_other(play: str) -> None:
    stage = played(play, parse_features(BEFORE))
    assert verdict(stage) == HARM
    assert [has(stage) for has in SYMPTOMS].count(True) == 1


@pytest.mark.parametrize("answer", ["DACB", "d a c b", ["D", "A", "C", "B"], ("d", "a", "c", "b")])
def test_letters_may_be_written_in_many_ways(answer: object) -> None:
    assert check_symptoms(answer).right


@pytest.mark.parametrize("answer", [NEEDED, ["lm", "s", "LM", "l"], "ML, S, ML, L", "ML S ML L"])
def test_the_checks_of_a_play_may_be_named_in_any_order(answer: object) -> None:
    assert check_needed_checks(answer).right


@pytest.mark.parametrize(
    ("found", "known"),
    [
        (check_symptoms("DAEB"), "There is no E. Use A B C D."),
        (check_who_objects("BCBX"), "There is no X. Use B C N."),
        (check_needed_checks(["MQ", "S", "ML", "L"]), "There is no Q. Use M, S, L, or - for none."),
    ],
)
def test_a_letter_that_stands_for_nothing_is_no_attempt(found: Checked, known: str) -> None:
    assert not found.attempted
    assert found.message == known


def test_a_part_that_is_open_is_told_so() -> None:
    for found in (
        check_symptoms("DAC?"),
        check_who_objects("BCB?"),
        check_needed_checks([*NEEDED[:3], "?"]),
    ):
        assert found.points == 3
        assert "no answer yet" in found.hint


def test_what_is_printed_has_a_line_for_each_play_with_each_check_off() -> None:
    lines = [line for line in one_check_off().splitlines() if line.startswith("   without")]
    assert len(lines) == len(MESSAGES) * len(CHECKS)
    assert sum("nothing lost yet" in line for line in lines) == 6


# --- session ids --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "points"),
    [
        (RISES, 0),
        (FALLS, 0),
        (f"{RISES}; {FALLS.removesuffix('; release watcher-event')}", 1),
        ("crash 1; expire 1; start 1 server=1; crash 1; expire 1; start 1", 1),
        (f"{RISES}; {FALLS}", 2),
        (f"crash 1; expire 1; start 1 server=1; {FALLS}", 2),
    ],
)
def test_a_bounce_is_missed_where_the_id_has_fallen_and_nobody_has_looked(
    made: str, points: int
) -> None:
    assert check_session_ids(made).points == points


def test_harm_that_is_done_with_czxids_as_well_is_worth_half() -> None:
    """The last one in sync loses its disk: no number is to blame."""
    lives = "crash 1; expire 1; start 1 server=1; catch-up 1; crash 1; expire 1; start 1"
    found = check_session_ids(f"{lives}; crash 2 disk=replaced; expire 2; start 2")
    assert found.points == 1
    assert found.message.startswith("Harm is done, and with czxids")


def test_a_run_under_other_rules_is_no_answer() -> None:
    found = check_session_ids(run(OWN, off="380.session-id"))
    assert not found.attempted
    assert found.message.startswith("Leave the rules as they are: Kafka zk-2.2")
