"""Whatever somebody hands in: a sentence says what was expected; nothing raises or is kept."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kiplab
from kiplab.classroom.exercise_table import EXERCISES, exercise

IDS = [exercise.id for exercise in EXERCISES if exercise.check]
ORDERED = {e.id: e.points for e in EXERCISES if e.form} | {"kafka-14139/order": 8}
"""How many parts the answers have whose order counts."""
CHOICES = [e.id for e in EXERCISES if e.ideas and not e.form]
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


@pytest.mark.parametrize("odd", UNFIT, ids=str)
@pytest.mark.parametrize("id", IDS)
def test_what_is_no_answer_gets_a_sentence(id: str, odd: str) -> None:
    found = exercise(id).judge(UNFIT[odd])
    assert (found.points, found.attempted) == (0, False)
    assert found.message.endswith(".")
    assert len(found.message) < 1_000
    assert str(found).startswith(f"0/{found.of}")


@pytest.mark.parametrize("id", IDS)
def test_no_answer_yet_says_what_one_looks_like(id: str) -> None:
    assert exercise(id).judge("?").message.startswith("Not answered yet: give ")
    for empty in (None, "", " ", [], (), ["", ""]):
        assert exercise(id).judge(empty) == exercise(id).judge("?") or not ORDERED.get(id), empty


@pytest.mark.parametrize("id", ORDERED)
def test_a_set_is_refused_where_the_order_counts(id: str) -> None:
    found = exercise(id).judge({f"part {n}" for n in range(ORDERED[id])})
    assert (found.points, found.attempted) == (0, False)
    assert found.message.startswith("A set has no order: give ")


@pytest.mark.parametrize("id", CHOICES)
def test_none_of_them_is_an_answer_and_an_empty_one_is_not(id: str) -> None:
    nothing = exercise(id).judge("-")
    assert nothing.attempted
    for said in ("none", "None", ["-"], ["none"], {"-"}):
        assert exercise(id).judge(said) == nothing, said
    assert "or - for none" in exercise(id).judge("").message


@pytest.mark.parametrize("id", IDS)
@settings(max_examples=40)
@given(answer=st.recursive(st.none() | st.text() | st.integers(), st.lists, max_leaves=12))
def test_no_answer_raises(id: str, answer: object) -> None:
    found = exercise(id).judge(answer)
    assert 0 <= found.points <= found.of
    assert found.message


@pytest.mark.parametrize("id", IDS)
def test_what_is_no_answer_is_no_attempt(id: str, work_file: Path) -> None:
    for odd in (None, "?", "", 42):
        kiplab.check(id, odd)
    assert not work_file.exists()
