"""Whatever somebody hands in: a sentence says what was expected; nothing raises or is kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kiplab
from kiplab.classroom import (
    committed,
    epochs,
    made,
    missing,
    order,
    proof,
    race,
    reading,
    schedule,
)
from kiplab.classroom.checked import Checked

CHECKS: dict[str, Callable[[object], Checked]] = {
    "reading": reading.check_reading,
    "accepted": made.check_accepted,
    "acknowledged": committed.check_acknowledged,
    "high-watermark": committed.check_high_watermark,
    "schedules": committed.check_schedules,
    "lose-acknowledged": made.check_lose_acknowledged,
    "twelve": epochs.check_epochs,
    "fences": epochs.check_fences,
    "reigns": made.check_reigns,
    "window": race.check_window,
    "two-by-two": race.check_two_by_two,
    "order": order.check_order,
    "last-replica": race.check_last_replica,
    "proof": proof.check_proof,
    "missing-guard": missing.check_missing_guard,
    "holes": proof.check_holes,
    "shorter": schedule.check_shorter,
}
UNFIT = {
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
@pytest.mark.parametrize("check", CHECKS)
def test_what_is_no_answer_gets_a_sentence(check: str, odd: str) -> None:
    found = CHECKS[check](UNFIT[odd])
    assert (found.points, found.attempted) == (0, False)
    assert found.message.endswith(".")
    assert len(found.message) < 1_000
    assert str(found).startswith(f"0/{found.of}")


@pytest.mark.parametrize("check", CHECKS)
def test_no_answer_yet_says_what_one_looks_like(check: str) -> None:
    assert CHECKS[check]("?").message.startswith("Not answered yet: give ")
    assert CHECKS[check](None) == CHECKS[check]("?")


@pytest.mark.parametrize("check", CHECKS)
@settings(max_examples=40, deadline=None)
@given(answer=st.recursive(st.none() | st.text() | st.integers(), st.lists, max_leaves=12))
def test_no_answer_raises(check: str, answer: object) -> None:
    found = CHECKS[check](answer)
    assert 0 <= found.points <= found.of
    assert found.message


@pytest.mark.parametrize("name", [n for n in kiplab.__all__ if n.startswith("check_")])
def test_what_is_no_answer_is_no_attempt(name: str, work_file: Path) -> None:
    for odd in (None, "?", 42):
        getattr(kiplab, name)(odd)
    assert not work_file.exists()
