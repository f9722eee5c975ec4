"""Lab 10 in a real JupyterLab: predicted, answered, and its sliders turned by keyboard.

The tests share the page and go in the order in which a student does.
"""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from kiplab.classroom.exercises.what_ifs import WAYS, WHAT_IFS
from tests.browser.lesson import Lesson
from tests.labs.running import PREDICTIONS, cells

pytestmark = pytest.mark.browser

NAME = "10-fleet"
COMPILED_MS = 180_000
"""The first estimate on a machine compiles the kernel."""


def test_run_all_stops_nowhere(lesson: Lesson) -> None:
    lesson.run_all()
    expect(lesson.cell("lab")).to_contain_text(
        "First lock in your prediction above", timeout=COMPILED_MS
    )
    lesson.expect_all_run()


def test_the_story_and_the_picture_open_with_the_prediction(lesson: Lesson) -> None:
    expect(lesson.cell("causes")).to_contain_text("This opens when you lock in your prediction")
    lesson.lock("lock", PREDICTIONS[NAME])
    expect(lesson.cell("why")).to_contain_text("What takes all brokers at once")
    lesson.press("lab", "Last")
    expect(lesson.verdict()).to_contain_text("▼ loss")
    lesson.photograph("lab", "story")


def test_each_what_if_opens_with_its_own_lock(lesson: Lesson) -> None:
    ids = [id for id in cells(NAME, "code") if id.startswith("what-if-")]
    for id in ids:
        asked = WHAT_IFS[id[-1].upper()]
        expect(lesson.cell(id)).not_to_contain_text(asked.reason)
        expect(lesson.cell("fleet-lab")).to_contain_text("This opens when you lock in")
        lesson.lock(id, WAYS["S"])
        expect(lesson.cell(id)).to_contain_text(asked.reason)
        expect(lesson.cell(id)).to_contain_text(WAYS[asked.comes])


def test_the_exercises_are_answered_in_their_cells(lesson: Lesson) -> None:
    lesson.answer_exercises()


def test_a_slider_is_turned_by_keyboard_and_the_answer_follows(lesson: Lesson) -> None:
    expect(lesson.cell("fleet-lab")).to_contain_text("This is open now: run this cell.")
    lesson.run("fleet-lab")
    panel = lesson.cell("fleet-lab")
    reboots = panel.get_by_label("bounces_per_year")
    expect(reboots).to_have_attribute("aria-valuetext", "12")
    before = panel.locator(".kiplab-note").first.inner_text()
    reboots.focus()
    lesson.page.keyboard.press("End")
    expect(reboots).to_have_attribute("aria-valuetext", "52")
    expect(panel.locator(".kiplab-note").first).not_to_have_text(before)
    expect(panel.locator(".main-svg").first).to_be_visible()
    lesson.photograph("fleet-lab", "sliders")


def test_what_cannot_be_is_said_and_mended_by_a_press(lesson: Lesson) -> None:
    panel = lesson.cell("fleet-lab")
    panel.get_by_label("min_insync_replicas").focus()
    lesson.page.keyboard.press("End")
    expect(panel.get_by_role("alert")).to_contain_text("more than replication_factor")
    panel.get_by_role("button", name="As in the study").click()
    expect(panel.get_by_role("alert")).to_have_count(0)
    expect(panel.get_by_label("bounces_per_year")).to_have_attribute("aria-valuetext", "12")


def test_another_rate_is_another_picture_with_zero_by_construction_apart(lesson: Lesson) -> None:
    panel = lesson.cell("fleet-lab")
    race = "Lost by the race (KAFKA-14139)"
    panel.get_by_label("How often").select_option(label=race)
    expect(panel.locator("caption")).to_have_text(re.compile(re.escape(race)))
    last = panel.locator("tbody tr").last
    expect(last).to_contain_text("cannot happen")
    lesson.photograph("fleet-lab", "race")


def test_the_whole_grid_is_offered_below(lesson: Lesson) -> None:
    panel = lesson.cell("fleet-lab")
    panel.get_by_role("button", name="The whole grid").click()
    expect(panel.get_by_role("button", name="Run the whole grid on Spark")).to_be_visible()
    expect(panel.get_by_role("button", name="Cancel")).to_be_disabled()
    lesson.photograph("fleet-lab", "grid")


def test_the_exit_ticket_is_compared(lesson: Lesson) -> None:
    lesson.compare_exit_ticket()


def test_every_output_is_photographed(lesson: Lesson) -> None:
    for id in lesson.with_output():
        lesson.photograph(id, f"output-{id}")


def test_nothing_is_in_the_way_of_anybody_and_nothing_complained(lesson: Lesson) -> None:
    assert lesson.faults() == []
    assert lesson.outside == []
    assert lesson.complaints == []
