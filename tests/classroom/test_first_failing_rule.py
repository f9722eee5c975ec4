"""Eight requests: the engine says which error and which rule, and what else each does wrong."""

import pytest

from kiplab.classroom.exercises.first_failing_rule import (
    LETTERS_OF_RULES,
    check_first_rule,
    failing,
)

RIGHT = (
    "FENCED_LEADER_EPOCH L",
    "STALE_BROKER_EPOCH B",
    "NONE -",
    "INVALID_UPDATE_VERSION P",
    "INVALID_REQUEST S",
    "NOT_CONTROLLER N",
    "INVALID_REQUEST I",
    "INELIGIBLE_REPLICA F",
)


def but(number: int, said: str) -> list[str]:
    """The right answers, with another one to one of the requests."""
    return [*RIGHT[: number - 1], said, *RIGHT[number:]]


def test_the_right_answers_are_right() -> None:
    assert check_first_rule(RIGHT).right
    assert check_first_rule(RIGHT, kafka="3.9").right


def test_error_and_rule_may_come_in_any_order_and_the_rule_in_full() -> None:
    turned = [" ".join(reversed(said.split())).lower() for said in RIGHT]
    full = [f"{said.split()[0]}: {LETTERS_OF_RULES.get(said[-1], '-')}" for said in RIGHT]
    assert check_first_rule(turned).right
    assert check_first_rule(full).right
    assert check_first_rule(", ".join(said.replace(" ", "/") for said in RIGHT)).right


@pytest.mark.parametrize("said", ["-", "none", "NONE", "none -"])
def test_a_request_that_is_taken_may_be_said_in_one_word(said: str) -> None:
    assert check_first_rule(but(3, said)).right


def test_each_request_breaks_the_rules_that_it_was_written_to_break() -> None:
    assert [failing(n) for n in range(1, 9)] == ["LP", "BNL", "", "P", "SP", "NSP", "IF", "FE"]


def test_on_32_two_answers_are_others() -> None:
    assert [failing(n, "3.2") for n in (6, 8)] == ["SP", ""]
    found = check_first_rule(RIGHT, kafka="3.2")
    assert (found.points, found.which) == (6, "Look again at: request 6, request 8.")


def test_a_right_rule_with_another_error_is_told_so() -> None:
    found = check_first_rule(but(5, "INELIGIBLE_REPLICA S"))
    assert found.points == 7
    assert "A rule is right, and the error beside it is not" in found.hint


@pytest.mark.parametrize("said", ["INVALID_REQUEST", "S", "? S", "INVALID_REQUEST ?"])
def test_half_an_answer_earns_nothing_and_is_told_what_it_lacks(said: str) -> None:
    found = check_first_rule(but(5, said))
    assert found.points == 7
    assert "lacks its error or its rule" in found.hint


@pytest.mark.parametrize("said", ["FENCED X", "S I", "NONE NONE_SUCH", "NOT_CONTROLLER S N"])
def test_what_is_no_error_with_a_letter_is_no_attempt(said: str) -> None:
    found = check_first_rule(but(5, said))
    assert (found.points, found.attempted) == (0, False)
    assert repr(said) in found.message
    assert "B E F I L N P R S" in found.message
