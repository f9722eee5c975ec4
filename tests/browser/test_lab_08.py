"""Lab 08 in a real JupyterLab: predicted, stepped to the leader that nobody tells, answered.

The tests share the page and go in the order in which a student does.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.lesson import Lesson
from tests.labs.running import PREDICTIONS

pytestmark = pytest.mark.browser

NAME = "08-heartbeats"


def test_run_all_waits_and_both_labs_are_shut(lesson: Lesson) -> None:
    lesson.run_all()
    lesson.expect_all_run("lab", "lab-2")


def test_the_leader_that_nobody_tells_is_stepped_through(lesson: Lesson) -> None:
    expect(lesson.cell("why")).to_contain_text("This opens when you lock in your prediction")
    lesson.lock("lock", PREDICTIONS[NAME])
    expect(lesson.cell("why")).to_contain_text("no broker reads there who leads")
    lesson.press("lab", "Last")
    expect(lesson.verdict()).to_contain_text("Step 15 of 15")
    lesson.photograph("lab", "last")


def test_a_step_in_the_explanation_leads_the_lab_there(lesson: Lesson) -> None:
    lesson.cell("why").get_by_role("link", name="step 8", exact=True).click()
    expect(lesson.verdict()).to_contain_text("Step 8 of")


def test_the_second_lab_can_be_changed(lesson: Lesson) -> None:
    lesson.change_the_second_lab()


def test_the_exercises_are_answered_in_their_cells(lesson: Lesson) -> None:
    lesson.answer_exercises()
    expect(lesson.cell("incarnations")).to_contain_text("metadata-heartbeat as 900: accepted")
    expect(lesson.cell("fates")).to_contain_text("a broker that is cut off serves on")


def test_the_exit_ticket_is_compared(lesson: Lesson) -> None:
    lesson.compare_exit_ticket()
    expect(lesson.cell("real-kafka")).to_contain_text("Engine and Kafka agree: True")


def test_every_output_is_photographed(lesson: Lesson) -> None:
    for id in lesson.with_output():
        lesson.photograph(id, f"output-{id}")


def test_nothing_is_in_the_way_of_anybody_and_nothing_complained(lesson: Lesson) -> None:
    assert lesson.faults() == []
    assert lesson.outside == []
    assert lesson.complaints == []
