"""Lab 06 in a real JupyterLab: predicted, stepped to the lost records, answered, compared.

The tests share the page and go in the order in which a student does.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.lesson import Lesson
from tests.labs.running import PREDICTIONS

pytestmark = pytest.mark.browser

NAME = "06-unclean-recovery"


def test_run_all_waits_and_the_lab_is_shut(lesson: Lesson) -> None:
    lesson.run_all()
    lesson.expect_all_run("lab")


def test_the_election_is_stepped_through(lesson: Lesson) -> None:
    expect(lesson.cell("why")).to_contain_text("This opens when you lock in your prediction")
    lesson.lock("lock", PREDICTIONS[NAME])
    expect(lesson.cell("why")).to_contain_text("ten records")
    verdict = lesson.verdict()
    lesson.press("lab", "Last")
    expect(verdict).to_contain_text("▼ loss")
    lesson.photograph("lab", "loss")


def test_a_step_in_the_explanation_leads_the_lab_there(lesson: Lesson) -> None:
    lesson.cell("why").get_by_role("link", name="step 10", exact=True).click()
    expect(lesson.verdict()).to_contain_text("Step 10 of")


def test_the_exercises_are_answered_in_their_cells(lesson: Lesson) -> None:
    lesson.answer_exercises()
    expect(lesson.cell("businesses")).to_contain_text("one in sync is left")
    expect(lesson.cell("vanishing")).to_contain_text("20 committed records lost")


def test_the_exit_ticket_is_compared(lesson: Lesson) -> None:
    lesson.compare_exit_ticket()


def test_every_output_is_photographed(lesson: Lesson) -> None:
    for id in lesson.with_output():
        lesson.photograph(id, f"output-{id}")


def test_nothing_is_in_the_way_of_anybody_and_nothing_complained(lesson: Lesson) -> None:
    assert lesson.faults() == []
    assert lesson.outside == []
    assert lesson.complaints == []
