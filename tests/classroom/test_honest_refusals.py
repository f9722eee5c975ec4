"""Three refusals that nobody forged: what a leader asks for meets what has changed since."""

import pytest

from kiplab.classroom.exercises.first_failing_rule import check_refusals

ASKS, ARRIVES = ("hold alter-partition", "catch-up 3"), "deliver alter-partition"
FENCED = (*ASKS, "crash 3", "expire 3", ARRIVES)
BACK = ("start 3", "unfence 3", "catch-up 3")
SHRUNK = ("crash 2", "expire 2", ARRIVES)
ANOTHER_LIFE = ("catch-up 3", "crash 1", "expire 1", "start 1", ARRIVES)


def test_three_errors_in_one_run_are_three_points() -> None:
    found = check_refusals([*FENCED, *BACK, *SHRUNK, *ANOTHER_LIFE])
    assert found.right
    for error in ("INELIGIBLE_REPLICA", "FENCED_LEADER_EPOCH", "STALE_BROKER_EPOCH"):
        assert error in found.message


@pytest.mark.parametrize(
    ("lines", "points", "hint"),
    [
        (("catch-up 3",), 0, "Hold the request"),
        (FENCED, 1, "an ISR that shrinks"),
        ((*FENCED, *BACK, *SHRUNK), 2, "leader itself restarts"),
        ((*ASKS, *SHRUNK), 1, "is fenced before the request arrives"),
    ],
)
def test_a_hint_leads_to_one_that_is_missing(
    lines: tuple[str, ...], points: int, hint: str
) -> None:
    found = check_refusals(lines)
    assert (found.points, found.of, found.misconception) == (points, 3, "")
    assert hint in found.hint


def test_the_same_error_twice_is_one_point_and_has_an_idea_behind_it() -> None:
    found = check_refusals([*FENCED, *BACK, "crash 3", "expire 3", ARRIVES])
    assert found.points == 1
    assert found.misconception == "a late request is a late request"


def test_a_forged_request_is_no_answer() -> None:
    line = "send alter-partition from=1 partition=orders-0 broker-epoch=90 isr=1,2"
    found = check_refusals([line])
    assert (found.points, found.attempted) == (0, False)
    assert found.message.startswith("Do it without: send ")
