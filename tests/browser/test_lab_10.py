"""Lab 10 in a real JupyterLab: predicted, answered, and its sliders turned by keyboard.

The tests share the page and go in the order in which a student does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import ARTEFACTS, WINDOW, Student
from tests.browser.lab_page import LabPage
from tests.labs.running import PREDICTIONS, RIGHT, TICKETS, answered, cells, exercises

pytestmark = pytest.mark.browser

NAME = "10-fleet"
ERRORS = '[data-mime-type="application/vnd.jupyter.error"]'
COMPILED_MS = 180_000
"""The first estimate on a machine compiles the kernel."""


@pytest.fixture(scope="module")
def lab10(student: Student, browser: Browser) -> Iterator[LabPage]:
    ARTEFACTS.mkdir(exist_ok=True)
    page = LabPage(browser.new_page(viewport=WINDOW), ARTEFACTS, "10")
    page.open(student.address.replace("04-kafka-14139", NAME) + "&reset")
    yield page
    page.stop_kernel()
    page.page.close()


def lock(page: LabPage, id: str, choice: str) -> None:
    question = page.cell(id)
    question.get_by_label(choice).check()
    question.get_by_role("button", name="Lock in my prediction").click()
    expect(question).to_contain_text(f"Locked in: “{choice}”")


def test_run_all_stops_nowhere(lab10: LabPage) -> None:
    lab10.run_all()
    expect(lab10.cell("lab")).to_contain_text(
        "First lock in your prediction above", timeout=COMPILED_MS
    )
    lab10.wait_until_done()
    assert lab10.page.locator(ERRORS).count() == 0
    for id in exercises(NAME):
        expect(lab10.cell(id)).to_contain_text("Not answered yet: give")


def test_the_story_and_the_picture_open_with_the_prediction(lab10: LabPage) -> None:
    expect(lab10.cell("causes")).to_contain_text("This opens when you lock in your prediction")
    lock(lab10, "lock", PREDICTIONS[NAME])
    expect(lab10.cell("why")).to_contain_text("What takes all brokers at once")
    lab10.press("lab", "Last")
    expect(lab10.cell("lab").locator(".kiplab-verdict")).to_contain_text("▼ loss")
    lab10.photograph("lab", "story")


def test_the_exercises_are_answered_in_their_cells(lab10: LabPage) -> None:
    source = cells(NAME, "code")
    for id in exercises(NAME):
        lab10.rewrite(id, answered(source[id], RIGHT[id]))
        lab10.run(id)
        expect(lab10.cell(id)).to_contain_text("Kept as attempt 1")
        said = lab10.cell(id).locator(".jp-OutputArea").inner_text().strip()
        points, of = said.split(maxsplit=1)[0].split(":")[0].rstrip(".").split("/")
        assert points == of, said


def test_a_slider_is_turned_by_keyboard_and_the_answer_follows(lab10: LabPage) -> None:
    expect(lab10.cell("fleet-lab")).to_contain_text("This is open now: run this cell.")
    lab10.run("fleet-lab")
    panel = lab10.cell("fleet-lab")
    reboots = panel.get_by_label("bounces_per_year")
    expect(reboots).to_have_attribute("aria-valuetext", "12")
    before = panel.locator(".kiplab-note").first.inner_text()
    reboots.focus()
    lab10.page.keyboard.press("End")
    expect(reboots).to_have_attribute("aria-valuetext", "52")
    expect(panel.locator(".kiplab-note").first).not_to_have_text(before)
    expect(panel.locator(".main-svg").first).to_be_visible()
    lab10.photograph("fleet-lab", "sliders")


def test_what_cannot_be_is_said_and_mended_by_a_press(lab10: LabPage) -> None:
    panel = lab10.cell("fleet-lab")
    panel.get_by_label("min_insync_replicas").focus()
    lab10.page.keyboard.press("End")
    expect(panel.get_by_role("alert")).to_contain_text("more than replication_factor")
    panel.get_by_role("button", name="As in the study").click()
    expect(panel.get_by_role("alert")).to_have_count(0)
    expect(panel.get_by_label("bounces_per_year")).to_have_attribute("aria-valuetext", "12")


def test_another_rate_is_another_picture_with_zero_by_construction_apart(lab10: LabPage) -> None:
    panel = lab10.cell("fleet-lab")
    race = "Lost by the race (KAFKA-14139)"
    panel.get_by_label("How often").select_option(label=race)
    expect(panel.locator("caption")).to_have_text(re.compile(re.escape(race)))
    last = panel.locator("tbody tr").last
    expect(last).to_contain_text("cannot happen")
    lab10.photograph("fleet-lab", "race")


def test_the_whole_grid_is_offered_below(lab10: LabPage) -> None:
    panel = lab10.cell("fleet-lab")
    panel.get_by_role("button", name="The whole grid").click()
    expect(panel.get_by_role("button", name="Run the whole grid on Spark")).to_be_visible()
    expect(panel.get_by_role("button", name="Cancel")).to_be_disabled()
    lab10.photograph("fleet-lab", "grid")


def test_the_exit_ticket_is_compared(lab10: LabPage) -> None:
    choice, found = TICKETS[NAME]
    lock(lab10, "exit-lock", choice)
    expect(lab10.cell("exit-compare")).to_contain_text(found)


def test_every_output_is_photographed(lab10: LabPage) -> None:
    for id in lab10.with_output():
        lab10.photograph(id, f"output-{id}")


def test_nothing_is_in_the_way_of_anybody_and_nothing_complained(lab10: LabPage) -> None:
    assert lab10.faults() == []
    assert lab10.outside == []
    assert lab10.complaints == []
