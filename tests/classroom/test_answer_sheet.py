"""The sheet of every exercise: its fields, and the same verdict as the check in words."""

import pytest

import kiplab
from kiplab.classroom.exercise_table import EXERCISES
from kiplab.classroom.forms.check_panels import NONE, SheetRow
from kiplab.widgets.elements.kinds import Checkbox
from tests.classroom.answers import ANSWERS

ORDER = "kafka-14139/order"
"""The exercise with a form of its own."""
SHEETS = [entry.id for entry in EXERCISES if entry.check and entry.id != ORDER]


def fill(part: SheetRow, said: str) -> None:
    """As a reader does, for what a check in words reads."""
    boxes = [control for control in part.controls if isinstance(control, Checkbox)]
    for box in boxes:
        box.value = box.description in said or (said == "-" and box.description == NONE)
    words = said.split(maxsplit=len(part.controls) - 1) if not boxes else []
    for control, word in zip(part.controls, words, strict=not boxes):
        control.value = word


def filled(id: str = "conversation/first-rule") -> kiplab.AnswerSheet:
    """A sheet with everything right."""
    sheet, right = kiplab.AnswerSheet(id), ANSWERS[id].right
    if isinstance(right, dict):
        right = ", ".join(f"{name}={value}" for name, value in right.items())
    if id == "epochs/reigns":
        right = "; ".join(right)
    (one, *others), said = sheet.parts, right if isinstance(right, list) else [right]
    if id == "recovery/lose-one":
        one.controls[0].value, one.controls[1].value = map(str, said)
        return sheet
    letters = [*right] if others and isinstance(right, str) else said
    for part, word in zip(sheet.parts, letters, strict=True):
        fill(part, str(word).replace("\n", "; "))
    return sheet


@pytest.mark.parametrize("id", SHEETS)
def test_it_begins_without_an_answer_and_the_right_one_can_be_filled_in(id: str) -> None:
    empty = kiplab.AnswerSheet(id)
    for part in empty.parts:
        assert len({control.description for control in part.controls} - {""}) == len(part.controls)
    assert empty.check_button.disabled
    assert {*empty.answer} == {"?"}
    sheet = filled(id)
    assert not sheet.check_button.disabled
    sheet.check_button.click()
    assert sheet.checked is not None
    assert sheet.checked.right, (sheet.answer, sheet.checked)
    marks = [part.mark.value for part in sheet.parts]
    assert all("✓" in mark for mark in marks) == (len(marks) > 1)


def test_each_row_is_marked_and_words_say_little_by_little_as_the_check_does() -> None:
    sheet = filled()
    for attempt, rule in enumerate("PSN", 1):
        sheet.parts[0].controls[1].value = rule
        sheet.check_button.click()
        assert "7 of 8 points" in sheet.result.value
        assert f"Kept as attempt {attempt}" in sheet.result.value
        assert ("request 1" in sheet.result.value) == (attempt == 3)
        assert "look again" in sheet.parts[0].mark.value
        assert "✓" in sheet.parts[1].mark.value
    assert kiplab.check("conversation/first-rule", sheet.answer).kept.startswith(
        "(The same answer as before"
    )


def test_none_of_the_boxes_is_an_answer_too() -> None:
    sheet = kiplab.AnswerSheet("isr/acknowledged")
    *letters, none = sheet.parts[0].controls
    none.value = True
    assert sheet.answer == "-"
    letters[1].value = True
    assert sheet.answer == "B"


def test_a_lab_is_handed_in_by_a_button() -> None:
    lab = kiplab.Lab("timeline-first", kafka="3.4")
    sheet = kiplab.AnswerSheet("start/accepted", lab)
    sheet.hand_in()
    assert sheet.checked is not None
    assert sheet.checked.token == lab.token
    assert "The request is refused" in sheet.result.value
