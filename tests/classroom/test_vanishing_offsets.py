"""Which offsets vanish: every idea that there is about it names others."""

from __future__ import annotations

import pytest

import kiplab
from kiplab.classroom.exercises.vanishing_offsets import check_vanishing, vanishing


def test_each_idea_about_it_is_another_number() -> None:
    run = vanishing()
    assert len({0, run.epoch, run.known, run.first}) == 4
    assert run.end == run.last + 1


@pytest.mark.parametrize(
    "answer",
    ["80..99", "80-99", "80 – 99", "offsets 80 to 99", range(80, 100), [*range(80, 100)]],
)
def test_the_offsets_may_be_written_in_many_ways(answer: object) -> None:
    found = check_vanishing(answer)
    assert found.right
    assert kiplab.run(found.token).lost == [{"partition": "orders-0", "first": 80, "last": 99}]


@pytest.mark.parametrize(
    ("answer", "points", "idea"),
    [
        ("0..99", 1, "all that the old leader had goes with it"),
        ("40..99", 1, "an unclean election throws away the leader epoch in which it happens"),
        ("60..99", 1, "a broker that becomes leader cuts its log at its high watermark"),
        ("80..100", 1, "the log end offset is that of the last record"),
        ("-", 0, "what acks=all acknowledged cannot be lost"),
        ("80", 1, ""),
        ("80..120", 1, ""),
        ("70..90", 0, ""),
        ([80, 99], 0, ""),
    ],
)
def test_a_wrong_answer_is_told_the_idea_behind_it(answer: object, points: int, idea: str) -> None:
    found = check_vanishing(answer)
    assert (found.points, found.of, found.misconception) == (points, 2, idea)
    assert found.hint
    assert found.attempted


@pytest.mark.parametrize("answer", ["all of them", "80..", "0..999999999", range(10**9), b"80"])
def test_what_names_no_offsets_is_no_attempt(answer: object) -> None:
    found = check_vanishing(answer)
    assert (found.points, found.attempted) == (0, False)
