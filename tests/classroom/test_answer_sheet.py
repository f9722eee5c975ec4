"""The sheet for eight requests: two menus each, and the same verdict as the check in words."""

import kiplab
from kiplab.classroom.exercises.first_failing_rule import rulings_of


def filled() -> kiplab.AnswerSheet:
    """A sheet with everything right."""
    sheet = kiplab.AnswerSheet()
    rulings = rulings_of(kiplab.run("alter-partition-eight").stage)
    for error, rule, ruling in zip(sheet.errors, sheet.rules, rulings, strict=True):
        error.value, rule.value = ruling.error, ruling.letter
    return sheet


def test_it_begins_without_an_answer_and_cannot_be_checked() -> None:
    sheet = kiplab.AnswerSheet()
    assert sheet.answer == ["?"] * 8
    assert sheet.check_button.disabled
    sheet.errors[0].value = "NOT_CONTROLLER"
    assert not sheet.check_button.disabled
    assert sheet.answer[:2] == ["NOT_CONTROLLER ?", "?"]


def test_right_answers_earn_all_points() -> None:
    sheet = filled()
    sheet.check_button.click()
    assert sheet.checked is not None
    assert sheet.checked.right
    assert "8 of 8 points" in sheet.result.value


def test_it_tells_little_by_little_as_the_check_in_words_does() -> None:
    sheet = filled()
    sheet.rules[0].value = "P"
    sheet.check_button.click()
    assert "7 of 8 points" in sheet.result.value
    assert "request 1" not in sheet.result.value
    assert "Kept as attempt 1" in sheet.result.value
    assert kiplab.check("conversation/first-rule", sheet.answer).kept.startswith(
        "(The same answer as before"
    )


def test_what_is_half_open_is_checked_too() -> None:
    sheet = filled()
    sheet.rules[4].value = "?"
    sheet.check_button.click()
    assert "lacks its error or its rule" in sheet.result.value


def test_its_menus_say_of_which_request_they_are() -> None:
    sheet = kiplab.AnswerSheet()
    assert [menu.description for menu in sheet.errors] == [f"Error of {n}" for n in range(1, 9)]
    assert [menu.description for menu in sheet.rules] == [f"Rule of {n}" for n in range(1, 9)]
