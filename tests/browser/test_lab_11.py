"""Lab 11 in a real JupyterLab: searched, predicted, stepped through its loss, answered.

The tests share the page and go in the order in which a student does.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.lesson import Lesson
from tests.labs.running import PREDICTIONS

pytestmark = pytest.mark.browser

NAME = "11-the-hole-that-is-still-open"


def test_run_all_searches_and_both_labs_wait(lesson: Lesson) -> None:
    lesson.run_all()
    lesson.expect_all_run("lab", "lab-2")
    expect(lesson.cell("ask")).to_contain_text("breaks in 8 steps")


def test_the_loss_is_stepped_through(lesson: Lesson) -> None:
    expect(lesson.cell("why")).to_contain_text("This opens when you lock in your prediction")
    lesson.lock("lock", PREDICTIONS[NAME])
    expect(lesson.cell("why")).to_contain_text("It takes it over as it is, and forgets.")
    expect(lesson.cell("how").get_by_role("table")).to_be_visible()
    verdict = lesson.verdict()
    lesson.press("lab", "First violation")
    expect(verdict).to_contain_text("▲ harm")
    expect(verdict).to_contain_text("Step 9 of")
    lesson.press("lab", "Last")
    expect(verdict).to_contain_text("▼ loss")
    lesson.photograph("lab", "loss")


def test_a_step_in_the_explanation_leads_the_lab_there(lesson: Lesson) -> None:
    lesson.cell("how").get_by_role("link", name="5", exact=True).click()
    expect(lesson.verdict()).to_contain_text("Step 5 of")


def test_the_second_lab_can_be_broken(lesson: Lesson) -> None:
    lesson.change_the_second_lab()


def test_the_exercises_are_answered_in_their_cells(lesson: Lesson) -> None:
    lesson.answer_exercises()
    expect(lesson.cell("proof")).to_contain_text("Proved")


def test_the_exit_ticket_is_compared(lesson: Lesson) -> None:
    lesson.compare_exit_ticket()


def test_every_output_is_photographed(lesson: Lesson) -> None:
    for id in lesson.with_output():
        lesson.photograph(id, f"output-{id}")


def test_nothing_is_in_the_way_of_anybody_and_nothing_complained(lesson: Lesson) -> None:
    assert lesson.faults() == []
    assert lesson.outside == []
    assert lesson.complaints == []
