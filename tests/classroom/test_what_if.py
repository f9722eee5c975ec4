"""A what-if is a prediction of its own, and its answer opens with its lock and with no other."""

import pytest

from kiplab.classroom import after, what_if, work_on_disk
from kiplab.classroom.exercise_table import ALL_WHAT_IFS, EXERCISES, WAYS, WHAT_IFS

REASON = WHAT_IFS["F"].reason


def test_it_says_nothing_before_it_is_locked() -> None:
    question = what_if("F")
    assert (question.text, question.outcome.value) == ("", "")
    assert question.choices.options == tuple(WAYS.values())


def test_its_answer_opens_with_its_own_lock_whatever_was_predicted() -> None:
    question, other = what_if("F"), what_if("B")
    question.lock(WAYS["M"])
    assert other.text == ""
    for said in (question.text, question.outcome.value):
        assert "✗ Not this time. You said" in said
        assert WAYS["M"] in said
        assert WAYS["N"] in said
        assert REASON in said
        assert said.count("cannot happen: KIP-841 refuses the join") == 2
    assert REASON in question._repr_mimebundle_()["text/plain"]


def test_after_a_restart_it_is_open_at_once() -> None:
    what_if("F").lock(WAYS["S"])
    assert REASON in what_if("F").outcome.value


def test_rates_have_their_intervals_and_times_are_seconds() -> None:
    question = what_if("G")
    question.lock(WAYS["L"])
    said, outcome, unit, before, later, *_ = question.text.splitlines()
    assert (said[0], outcome) == ("✗", f"What comes true: {WAYS['M']}")
    assert unit == "Time below min.insync.replicas, seconds per partition and year"
    assert before.startswith("min.insync.replicas=1: cannot happen: ")
    name, _, rate = later.partition(": ")
    assert name == "min.insync.replicas=2"
    seconds, low, _, high = rate.replace("(", "").replace(")", "").split()
    assert 0.1 < float(low) < float(seconds) < float(high) < 10


def test_what_waits_for_all_of_them_says_how_many_are_left() -> None:
    held = after(ALL_WHAT_IFS, "sliders")
    assert repr(held) == "This opens when you lock in your predictions, above. 8 to go."
    for id in ALL_WHAT_IFS:
        assert repr(held) != "sliders"
        work_on_disk.lock(id, WAYS["S"])
    assert repr(held) == "sliders"


def test_a_letter_of_no_what_if_is_a_sentence() -> None:
    with pytest.raises(ValueError, match="there is no what-if 'J'; there are A, B, C"):
        what_if("J")


def test_a_class_is_counted_by_what_comes_true() -> None:
    listed = {asked.id: asked for asked in EXERCISES}
    assert [listed[id].comes_true for id in ALL_WHAT_IFS] == [
        WAYS[asked.comes] for asked in WHAT_IFS.values()
    ]
