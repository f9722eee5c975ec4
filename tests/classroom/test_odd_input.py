"""Whatever somebody hands in: a sentence says what was expected; nothing raises or is kept."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kiplab
from kiplab.classroom.exercise_table import EXERCISES, exercise
from kiplab.classroom.exercises.check_result import Checked

IDS = [exercise.id for exercise in EXERCISES if exercise.check]
ORDERED = {
    "start/reading": 6,
    "isr/high-watermark": 8,
    "epochs/twelve": 12,
    "epochs/fences": 4,
    "conversation/first-rule": 8,
    "kafka-14139/window": 5,
    "kafka-14139/two-by-two": 4,
    "kafka-14139/order": 8,
    "kafka-14139/last-replica": 3,
    "fetch/sources": 4,
    "fetch/price": 4,
    "recovery/consumers": 5,
    "recovery/businesses": 3,
    "bounce/symptoms": 4,
    "bounce/who-objects": 4,
    "bounce/needed": 4,
    "heartbeats/timeouts": 3,
    "heartbeats/incarnations": 6,
    "heartbeats/fates": 10,
    "explorer/missing-guard": 3,
    "explorer/holes": 4,
}
"""How many parts the answers have whose order counts."""
CHOICES = (
    "isr/acknowledged",
    "isr/schedules",
    "explorer/proof",
    "fleet/rates",
    "hole/what-saves",
    "hole/what-closes",
)
UNFIT: dict[str, object] = {
    "empty": "",
    "blanks": "  \n",
    "an empty list": [],
    "an empty set": set(),
    "empty parts": ["", " ", "?"],
    "nothing": None,
    "ellipsis": ...,
    "a question mark": "?",
    "question marks": ["?"] * 8,
    "a number": 3.5,
    "bytes": b"\xff\x00",
    "an object": SimpleNamespace(run=3),
    "a type": int,
    "a nested list": [[[]], {}, None, (), "", 0, [[], []], 1.5, object],
    "a long word": "Ω" * 3_000,
    "many words": ["no"] * 5_000,
    "a generator": (n for n in range(10**9)),
    "a control character": "\x00\x1b[2J",
}


def judged(id: str, answer: object) -> Checked:
    """All that there is to say about an answer."""
    return exercise(id).judge(answer)


@pytest.mark.parametrize("odd", UNFIT, ids=str)
@pytest.mark.parametrize("id", IDS)
def test_what_is_no_answer_gets_a_sentence(id: str, odd: str) -> None:
    found = judged(id, UNFIT[odd])
    assert (found.points, found.attempted) == (0, False)
    assert found.message.endswith(".")
    assert len(found.message) < 1_000
    assert str(found).startswith(f"0/{found.of}")


@pytest.mark.parametrize("id", IDS)
def test_no_answer_yet_says_what_one_looks_like(id: str) -> None:
    assert judged(id, "?").message.startswith("Not answered yet: give ")
    for empty in (None, "", " ", [], (), ["", ""]):
        assert judged(id, empty) == judged(id, "?") or not ORDERED.get(id), empty


@pytest.mark.parametrize("id", ORDERED)
def test_a_set_is_refused_where_the_order_counts(id: str) -> None:
    found = judged(id, {f"part {n}" for n in range(ORDERED[id])})
    assert (found.points, found.attempted) == (0, False)
    assert found.message.startswith("A set has no order: give ")


@pytest.mark.parametrize("id", CHOICES)
def test_none_of_them_is_an_answer_and_an_empty_one_is_not(id: str) -> None:
    nothing = judged(id, "-")
    assert nothing.attempted
    for said in ("none", "None", ["-"], ["none"], {"-"}):
        assert judged(id, said) == nothing, said
    assert "or - for none" in judged(id, "").message


def test_a_part_that_is_still_open_earns_nothing() -> None:
    """Also where the right answer is: none of them."""
    for open_ in ("?", ""):
        assert judged("kafka-14139/two-by-two", ["FR", "R", "F", open_]).points == 3
        assert judged("kafka-14139/window", [6, 8, "345", "5", open_]).points == 4
        found = judged("epochs/twelve", ["-", *[open_] * 11])
        assert (found.points, found.misconception) == (1, "")
        assert "no answer yet" in found.hint


@pytest.mark.parametrize("id", IDS)
@settings(max_examples=40)
@given(answer=st.recursive(st.none() | st.text() | st.integers(), st.lists, max_leaves=12))
def test_no_answer_raises(id: str, answer: object) -> None:
    found = judged(id, answer)
    assert 0 <= found.points <= found.of
    assert found.message


@pytest.mark.parametrize("id", IDS)
def test_what_is_no_answer_is_no_attempt(id: str, work_file: Path) -> None:
    for odd in (None, "?", "", 42):
        kiplab.check(id, odd)
    assert not work_file.exists()
