"""A record that is lost while every broker lives: how it came about is what earns the points."""

import pytest

import kiplab
from kiplab.classroom.exercises.losing_schedule import check_nobody_dies, least

FORGET = (
    *("hold metadata", "hold alter-partition", "fetch 3", "deliver alter-partition", "fetch 2"),
    *("produce orders-0 count=1", "fetch 3", "fetch 3", "deliver metadata to=1"),
    "deliver alter-partition",
)
LOSE = (*FORGET, "expire 1", "release metadata")


def test_a_session_that_ends_is_enough() -> None:
    found = check_nobody_dies(LOSE)
    assert found.right
    assert kiplab.run(found.token).sentence == "1 committed record lost"


def test_the_search_needs_twelve_events() -> None:
    assert least() == 12


@pytest.mark.parametrize(
    ("lines", "points", "said"),
    [
        (("fetch 3",), 0, "Nothing committed is lost."),
        (FORGET, 0, "could be elected"),
        ((*FORGET, "crash 1", "expire 1", "release metadata"), 2, "1 had to die"),
        ((*LOSE[:-2], *["produce orders-0 count=1"] * 4, *LOSE[-2:]), 2, "The search needs 12."),
    ],
)
def test_what_is_less_earns_less(lines: tuple[str, ...], points: int, said: str) -> None:
    found = check_nobody_dies(lines)
    assert (found.points, found.of) == (points, 3)
    assert said in found.message
    assert found.hint


def test_the_shipped_play_kills_a_broker_and_takes_too_many_events() -> None:
    found = check_nobody_dies(kiplab.run("hole-never-level"))
    assert found.points == 1
    assert found.misconception == "data is lost only where something breaks"


def test_a_loss_with_the_last_disk_is_nobodys_fault() -> None:
    found = check_nobody_dies("crash 1 disk=replaced; expire 1; start 1; unfence 1")
    assert found.points == 0
