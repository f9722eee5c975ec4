"""Twelve events and four epochs: the engine says which move, under which metadata version."""

import pytest

from kiplab.classroom.exercises.epochs import check_epochs, check_fences

BEFORE = ("-", "LP", "B", "-", "P", "C", "-", "LP", "B", "-", "-", "-")
"""Up to metadata version 3.5-IV2: a shrink of the ISR bumps the leader epoch."""
SINCE = ("-", "P", *BEFORE[2:])
"""From 3.6-IV0 on it does not."""


@pytest.mark.parametrize(
    ("kafka", "answer"),
    [
        (None, BEFORE),
        ("3.2", BEFORE),
        ("3.5", BEFORE),
        ("3.6", SINCE),
        ("3.6/3.6-IV0", SINCE),
        ("3.6/3.5-IV2", BEFORE),
        ("3.9", SINCE),
    ],
)
def test_the_metadata_version_decides(kafka: str | None, answer: tuple[str, ...]) -> None:
    assert check_epochs(answer, kafka=kafka).right
    other = SINCE if answer is BEFORE else BEFORE
    found = check_epochs(other, kafka=kafka)
    assert (found.points, found.which) == (11, "Look again at: event 2 (expire 3).")


def test_letters_may_come_in_any_order_and_none_may_be_a_word() -> None:
    said = [word.lower()[::-1].replace("-", "None") for word in BEFORE]
    assert check_epochs(said).right


def test_from_36_on_a_shrink_that_moves_the_leader_epoch_is_an_idea() -> None:
    found = check_epochs(["-", "LP", *SINCE[2:]], kafka="3.6")
    assert (found.points, found.of) == (11, 12)
    assert found.misconception == "the leader epoch changes on every ISR change"


def test_each_stale_message_is_given_away_by_one_number() -> None:
    assert check_fences("BLPL").right
    assert check_fences(["b", "l", "p", "l"], kafka="3.9").right
    found = check_fences("BPPL")
    assert (found.points, found.which) == (3, "Look again at: message 2.")
    assert "leader epoch" not in found.hint


@pytest.mark.parametrize(
    ("answer", "said"),
    [("BLP", "Give 4 letters"), ("BLPX", "There is no epoch X."), ("BL?LP", "Here are 5.")],
)
def test_an_answer_of_another_shape_says_what_is_wrong(answer: str, said: str) -> None:
    found = check_fences(answer)
    assert found.points == 0
    assert said in found.message


def test_a_word_for_an_event_that_names_no_epoch_is_said() -> None:
    found = check_epochs(["Z", *BEFORE[1:]])
    assert (found.points, found.of) == (0, 12)
    assert "There is no epoch Z." in found.message
    assert "L (leader epoch)" in found.message
