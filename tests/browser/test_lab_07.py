"""Lab 07 in a real JupyterLab: predicted, stepped to the unnoticed bounce, answered, compared.

The tests share the page and go in the order in which a student does.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.lesson import Lesson
from tests.labs.running import PREDICTIONS

pytestmark = pytest.mark.browser

NAME = "07-controlled-shutdown-bounce"


def test_run_all_waits_and_both_labs_are_shut(lesson: Lesson) -> None:
    lesson.run_all()
    lesson.expect_all_run("lab", "lab-2")


def test_the_bounce_that_nobody_sees_is_stepped_through(lesson: Lesson) -> None:
    expect(lesson.cell("why")).to_contain_text("This opens when you lock in your prediction")
    lesson.lock("lock", PREDICTIONS[NAME])
    expect(lesson.cell("why")).to_contain_text("the same three brokers as before")
    verdict = lesson.verdict()
    lesson.press("lab", "Last")
    expect(verdict).to_contain_text("▲ harm")
    lesson.photograph("lab", "harm")


def test_a_step_in_the_explanation_leads_the_lab_there(lesson: Lesson) -> None:
    lesson.cell("why").get_by_role("link", name="step 4", exact=True).click()
    expect(lesson.verdict()).to_contain_text("Step 4 of")


def test_the_second_lab_can_be_changed(lesson: Lesson) -> None:
    lesson.change_the_second_lab()


def test_the_exercises_are_answered_in_their_cells(lesson: Lesson) -> None:
    lesson.answer_exercises()
    expect(lesson.cell("needed")).to_contain_text("without L: nothing lost yet")
    expect(lesson.cell("real-mail")).to_contain_text("Kafka 2.1.1, recorded")


def test_the_exit_ticket_is_compared(lesson: Lesson) -> None:
    lesson.compare_exit_ticket()


def test_every_output_is_photographed(lesson: Lesson) -> None:
    for id in lesson.with_output():
        lesson.photograph(id, f"output-{id}")


def test_nothing_is_in_the_way_of_anybody_and_nothing_complained(lesson: Lesson) -> None:
    assert lesson.faults() == []
    assert lesson.outside == []
    assert lesson.complaints == []
