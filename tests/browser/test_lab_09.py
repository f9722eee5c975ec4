"""Lab 09 in a real JupyterLab: searched, predicted, answered, and its matrix opened by keyboard.

The tests share the page and go in the order in which a student does.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.lesson import Lesson
from tests.labs.running import PREDICTIONS

pytestmark = pytest.mark.browser

NAME = "09-could-it-still-go-wrong"


def test_run_all_searches_and_stops_nowhere(lesson: Lesson) -> None:
    lesson.run_all()
    lesson.expect_all_run("lab")


def test_the_counterexample_opens_in_the_lab(lesson: Lesson) -> None:
    expect(lesson.cell("why")).to_contain_text("This opens when you lock in your prediction")
    lesson.lock("lock", PREDICTIONS[NAME])
    expect(lesson.cell("why")).to_contain_text("Refuted, in 14 steps")
    expect(lesson.cell("why").get_by_role("table")).to_be_visible()
    lesson.press("lab", "First violation")
    expect(lesson.verdict()).to_contain_text("▲ harm")
    lesson.photograph("lab", "counterexample")


def test_the_exercises_are_answered_in_their_cells(lesson: Lesson) -> None:
    lesson.answer_exercises()


def test_a_cell_of_the_matrix_opens_its_timeline_by_keyboard(lesson: Lesson) -> None:
    """The map says in words what the exercise asks, so it comes after the answer."""
    matrix = lesson.cell("holes-why")
    expect(matrix).to_contain_text("This is open now: run this cell.")
    lesson.run("holes-why")
    refuted = matrix.get_by_role("button", name="in 6").first
    refuted.focus()
    lesson.page.keyboard.press("Enter")
    expect(matrix).to_contain_text("in 6 steps")
    expect(matrix.locator("img, svg").first).to_be_visible()
    lesson.photograph("holes-why", "matrix")


def test_the_exit_ticket_is_compared(lesson: Lesson) -> None:
    lesson.compare_exit_ticket()


def test_every_output_is_photographed(lesson: Lesson) -> None:
    for id in lesson.with_output():
        lesson.photograph(id, f"output-{id}")


def test_nothing_is_in_the_way_of_anybody_and_nothing_complained(lesson: Lesson) -> None:
    assert lesson.faults() == []
    assert lesson.outside == []
    assert lesson.complaints == []
