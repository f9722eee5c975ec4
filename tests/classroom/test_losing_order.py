"""The ordering exercise: the engine judges, and wrong ideas have names."""

from itertools import permutations

import pytest

import kiplab
from kiplab.classroom import EVENTS, Checked
from kiplab.classroom.exercises.losing_order import LETTERS, check_order, stage_of
from kiplab.plays.verdict import verdict

LOSING = ("ACEDFBGH", "AECDFBGH", "ACEDFBHG", "ACEDGFBH", "AGCEDFBH", "ACBGHEDF")


@pytest.mark.parametrize("answer", LOSING)
def test_every_order_that_loses_data_is_right(answer: str) -> None:
    found = check_order(answer)
    assert (found.right, found.points) == (True, found.of)
    assert kiplab.run(found.token).verdict == "loss"


@pytest.mark.parametrize("answer", LOSING[:5])
def test_a_late_join_would_have_been_refused_with_kip_903(answer: str) -> None:
    found = check_order(answer)
    assert "With KIP-903 on, the same order loses nothing." in found.message
    assert kiplab.run(found.token, kafka="3.5").verdict == "safe"


def test_a_last_replica_that_comes_back_empty_is_right_and_told_apart() -> None:
    found = check_order("ACBGHEDF")
    assert "Not even KIP-903" in found.message
    assert kiplab.run(found.token, kafka="3.5").verdict == "loss"


@pytest.mark.parametrize(
    ("answer", "misconception"),
    [
        ("ACBEDFGH", "fencing always bumps the partition epoch"),
        ("ABCEDFGH", "fencing always bumps the partition epoch"),
        ("ACEDBFGH", "while the broker it names is fenced"),
        ("ACEBDFGH", "while the broker it names is fenced"),
        ("ACEDFGHB", "as good as its sender was"),
    ],
)
def test_an_order_that_loses_nothing_names_the_idea_behind_it(
    answer: str, misconception: str
) -> None:
    found = check_order(answer)
    assert (found.points, found.of) == (1, 2)
    assert misconception in found.misconception
    assert found.hint
    assert kiplab.run(found.token).verdict == "safe"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("CAEDFBGH", "Event 2 cannot happen there. “2 has caught up, and 1 asks"),
        ("ADCEFBGH", "broker 2 is running already"),
        ("ACEFDBGH", "broker 2 is down"),
        ("BACEDFGH", "no such message is in flight"),
    ],
)
def test_an_order_that_cannot_happen_gets_the_engines_reason(answer: str, reason: str) -> None:
    found = check_order(answer)
    assert (found.points, found.token) == (0, "")
    assert reason in found.message
    assert found.hint


def test_a_broker_that_starts_before_its_session_ends_is_turned_away() -> None:
    found = check_order("ACDEFBGH")
    assert "at once the broker that Kafka knows" in found.misconception
    assert "DUPLICATE_BROKER_REGISTRATION" in found.hint


def test_an_impossible_order_is_shown_up_to_where_it_breaks() -> None:
    stage = stage_of("ACEFDBGH")
    assert [p.statement.text for p in stage.performed][-2:] == ["expire 2", "unfence 2"]
    assert stage.performed[-1].not_applicable is not None


def test_names_and_letters_are_one_and_the_same() -> None:
    names = [LETTERS[letter] for letter in "ACEDFBGH"]
    assert check_order(names) == check_order("ACEDFBGH") == check_order("acedfbgh")


def test_the_letters_in_their_own_order_are_no_answer() -> None:
    """Neither forwards nor backwards, and not as the names stand in the list of events."""
    for answer in ("ABCDEFGH", "HGFEDCBA", list(EVENTS), sorted(EVENTS)):
        assert check_order(answer).points == 0, answer


@pytest.mark.parametrize("kind", [set, frozenset])
def test_a_set_is_no_order(kind: type) -> None:
    found = check_order(kind("ACEDFBGH"))
    assert (found.points, found.attempted) == (0, False)
    assert found.message.startswith("A set has no order: give eight letters")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("", "Not answered yet: give eight letters"),
        ("ABCDEFG", "missing: leader expires"),
        ("ABCDEFGG", "more than once: leader crashes"),
        (["asks", "sleeps"], "there is no event: sleeps"),
    ],
)
def test_an_answer_that_is_no_order_says_what_is_wrong(answer: str | list[str], said: str) -> None:
    found = check_order(answer)
    assert found.points == 0
    assert said in found.message


def test_the_exercise_agrees_with_the_engine_about_every_order() -> None:
    """All orders in which the request is sent first; the others cannot happen, or need it later."""
    points: dict[int, int] = {0: 0, 1: 0, 2: 0}
    for rest in permutations("BCDEFGH"):
        answer = "A" + "".join(rest)
        found = check_order(answer)
        points[found.points] += 1
        if found.points:
            assert (verdict(stage_of(answer)) == "loss") is found.right, answer
    assert points == {0: 4620, 1: 378, 2: 42}


def test_printed_it_fits_a_notebook() -> None:
    lines = str(check_order("ACBEDFGH")).splitlines()
    assert lines[0] == "1/2"
    assert max(map(len, lines)) <= 96


def test_letters_stand_for_the_events_in_their_order() -> None:
    assert "".join(LETTERS) == "ABCDEFGH"
    assert tuple(LETTERS.values()) == tuple(EVENTS)


def test_full_points_are_right_and_fewer_are_not() -> None:
    assert Checked(points=2, of=2, message="").right
    assert not Checked(points=1, of=2, message="").right
