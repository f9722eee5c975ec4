"""The panel of lab 10 in a browser: its locks, its sliders, its pictures, and its whole grid.

The tests share the page and go in the order in which they stand.
"""

import re

import pytest
from playwright.sync_api import expect

from kiplab.classroom.exercise_table import WAYS, WHAT_IFS
from tests.browser.lesson import Lesson
from tests.labs.running import cells

pytestmark = pytest.mark.browser
NAME = "10-fleet"


def what_ifs() -> list[str]:
    """The ids of its cells with a question."""
    return [id for id in cells(NAME, "code") if id.startswith("what-if-")]


def test_each_what_if_opens_its_own_answer_and_all_of_them_the_sliders(lesson: Lesson) -> None:
    lesson.run("setup", *what_ifs(), "fleet-lab")
    for id in what_ifs():
        asked = WHAT_IFS[id[-1].upper()]
        expect(lesson.cell(id)).not_to_contain_text(asked.reason)
        expect(lesson.cell("fleet-lab")).to_contain_text("This opens when you lock in")
        lesson.lock(id, WAYS["S"])
        expect(lesson.cell(id)).to_contain_text(asked.reason)
        expect(lesson.cell(id)).to_contain_text(WAYS[asked.comes])


def test_the_answer_follows_a_slider_that_is_turned_by_keyboard(lesson: Lesson) -> None:
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
    panel.get_by_role("button", name="As in the study").click()
    expect(reboots).to_have_attribute("aria-valuetext", "12")


def test_another_rate_is_another_picture_with_zero_by_construction_apart(lesson: Lesson) -> None:
    panel = lesson.cell("fleet-lab")
    race = "Lost by the race (KAFKA-14139)"
    panel.get_by_label("How often").select_option(label=race)
    expect(panel.locator("caption")).to_have_text(re.compile(re.escape(race)))
    expect(panel.locator("tbody tr").last).to_contain_text("cannot happen")
    lesson.photograph("fleet-lab", "race")


def test_the_whole_grid_is_offered_below(lesson: Lesson) -> None:
    panel = lesson.cell("fleet-lab")
    panel.get_by_role("button", name="The whole grid").click()
    expect(panel.get_by_role("button", name="Run the whole grid on Spark")).to_be_visible()
    expect(panel.get_by_role("button", name="Cancel")).to_be_disabled()
    lesson.photograph("fleet-lab", "grid")


def test_nothing_is_in_the_way_of_anybody_and_nothing_complained(lesson: Lesson) -> None:
    assert lesson.faults() == []
    assert (lesson.outside, lesson.complaints) == ([], [])
