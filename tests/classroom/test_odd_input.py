"""Whatever somebody hands in: a sentence says what was expected; nothing raises or is kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kiplab
from kiplab.classroom.exercises import (
    believed_incarnations,
    closing_the_hole,
    committed,
    epochs,
    falling_sessions,
    first_failing_rule,
    honest_refusals,
    late_mail,
    losing_order,
    losing_schedule,
    make_or_break,
    missing_rule,
    one_record_lost,
    proofs,
    race,
    reading_rates,
    safer_fleet,
    swapped_requests,
    three_businesses,
    timeline_reading,
    two_timeouts,
    unharmed_loss,
    vanishing_offsets,
    watermark,
    what_became,
    what_they_notice,
    why_from_fetch,
)
from kiplab.classroom.exercises.check_result import Checked

CHECKS: dict[str, Callable[[object], Checked]] = {
    "reading": timeline_reading.check_reading,
    "accepted": make_or_break.check_accepted,
    "acknowledged": committed.check_acknowledged,
    "high-watermark": watermark.check_high_watermark,
    "schedules": committed.check_schedules,
    "lose-acknowledged": make_or_break.check_lose_acknowledged,
    "twelve": epochs.check_epochs,
    "fences": epochs.check_fences,
    "reigns": make_or_break.check_reigns,
    "first-rule": first_failing_rule.check_first_rule,
    "refusals": honest_refusals.check_refusals,
    "window": race.check_window,
    "two-by-two": race.check_two_by_two,
    "order": losing_order.check_order,
    "last-replica": race.check_last_replica,
    "epoch-sources": why_from_fetch.check_epoch_sources,
    "bump-price": why_from_fetch.check_bump_price,
    "old-fetch": why_from_fetch.check_old_fetch,
    "what-they-notice": what_they_notice.check_what_they_notice,
    "businesses": three_businesses.check_businesses,
    "symptoms": late_mail.check_symptoms,
    "who-objects": late_mail.check_who_objects,
    "needed-checks": late_mail.check_needed_checks,
    "session-ids": falling_sessions.check_session_ids,
    "timeouts": two_timeouts.check_timeouts,
    "incarnations": believed_incarnations.check_incarnations,
    "swapped": swapped_requests.check_swapped,
    "fates": what_became.check_fates,
    "proof": proofs.check_proof,
    "missing-guard": missing_rule.check_missing_guard,
    "holes": proofs.check_holes,
    "shorter": losing_schedule.check_shorter,
    "rates": reading_rates.check_rates,
    "safer": safer_fleet.check_safer_fleet,
    "what-saves": closing_the_hole.check_what_saves,
    "what-closes": closing_the_hole.check_what_closes,
    "nobody-dies": unharmed_loss.check_nobody_dies,
    "lose-one": one_record_lost.check_lose_one,
    "vanishing": vanishing_offsets.check_vanishing,
}
ORDERED = {
    "reading": 6,
    "high-watermark": 8,
    "twelve": 12,
    "fences": 4,
    "first-rule": 8,
    "window": 5,
    "two-by-two": 4,
    "order": 8,
    "last-replica": 3,
    "epoch-sources": 4,
    "bump-price": 4,
    "what-they-notice": 5,
    "businesses": 3,
    "symptoms": 4,
    "who-objects": 4,
    "needed-checks": 4,
    "timeouts": 3,
    "incarnations": 6,
    "fates": 10,
    "missing-guard": 3,
    "holes": 4,
}
"""How many parts the answers have whose order counts."""
CHOICES = ("acknowledged", "schedules", "proof", "rates", "what-saves", "what-closes")
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
    for empty in (None, "", " ", [], (), ["", ""]):
        assert CHECKS[check](empty) == CHECKS[check]("?") or not ORDERED.get(check), empty


@pytest.mark.parametrize("check", ORDERED)
def test_a_set_is_refused_where_the_order_counts(check: str) -> None:
    found = CHECKS[check]({f"part {n}" for n in range(ORDERED[check])})
    assert (found.points, found.attempted) == (0, False)
    assert found.message.startswith("A set has no order: give ")


@pytest.mark.parametrize("check", CHOICES)
def test_none_of_them_is_an_answer_and_an_empty_one_is_not(check: str) -> None:
    nothing = CHECKS[check]("-")
    assert nothing.attempted
    for said in ("none", "None", ["-"], ["none"], {"-"}):
        assert CHECKS[check](said) == nothing, said
    assert "or - for none" in CHECKS[check]("").message


def test_a_part_that_is_still_open_earns_nothing() -> None:
    """Also where the right answer is: none of them."""
    for open_ in ("?", ""):
        assert race.check_two_by_two(["FR", "R", "F", open_]).points == 3
        assert race.check_window([6, 8, "345", "5", open_]).points == 4
        found = epochs.check_epochs(["-", *[open_] * 11])
        assert (found.points, found.misconception) == (1, "")
        assert "no answer yet" in found.hint


@pytest.mark.parametrize("check", CHECKS)
@settings(max_examples=40)
@given(answer=st.recursive(st.none() | st.text() | st.integers(), st.lists, max_leaves=12))
def test_no_answer_raises(check: str, answer: object) -> None:
    found = CHECKS[check](answer)
    assert 0 <= found.points <= found.of
    assert found.message


@pytest.mark.parametrize("name", [n for n in kiplab.__all__ if n.startswith("check_")])
def test_what_is_no_answer_is_no_attempt(name: str, work_file: Path) -> None:
    for odd in (None, "?", "", 42):
        getattr(kiplab, name)(odd)
    assert not work_file.exists()
