"""Which offsets vanish: every idea that there is about it names others."""

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


@pytest.mark.parametrize("answer", ["all of them", "80..", "0..999999999", range(10**9), b"80"])
def test_what_names_no_offsets_is_no_attempt(answer: object) -> None:
    found = check_vanishing(answer)
    assert (found.points, found.attempted) == (0, False)
