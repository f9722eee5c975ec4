"""Lab 11 in a real JupyterLab: searched, predicted, stepped through its loss, answered.

The tests share the page and go in the order in which a student does.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import ARTEFACTS, WINDOW, Student
from tests.browser.lab_page import LabPage
from tests.labs.running import PREDICTIONS, RIGHT, TICKETS, answered, cells, exercises

pytestmark = pytest.mark.browser

NAME = "11-the-hole-that-is-still-open"
ERRORS = '[data-mime-type="application/vnd.jupyter.error"]'


@pytest.fixture(scope="module")
def lab11(student: Student, browser: Browser) -> Iterator[LabPage]:
    ARTEFACTS.mkdir(exist_ok=True)
    page = LabPage(browser.new_page(viewport=WINDOW), ARTEFACTS, "11")
    page.open(student.address.replace("04-kafka-14139", NAME) + "&reset")
    yield page
    page.stop_kernel()
    page.page.close()


def lock(page: LabPage, id: str, choice: str) -> None:
    question = page.cell(id)
    question.get_by_label(choice).check()
    question.get_by_role("button", name="Lock in my prediction").click()
    expect(question).to_contain_text(f"Locked in: “{choice}”")


def test_run_all_searches_and_both_labs_wait(lab11: LabPage) -> None:
    lab11.run_all()
    lab11.wait_until_done()
    assert lab11.page.locator(ERRORS).count() == 0
    expect(lab11.cell("ask")).to_contain_text("breaks in 8 steps")
    for id in ("lab", "lab-2"):
        expect(lab11.cell(id)).to_contain_text("First lock in your prediction above")
    for id in exercises(NAME):
        expect(lab11.cell(id)).to_contain_text("Not answered yet: give")


def test_the_loss_is_stepped_through(lab11: LabPage) -> None:
    expect(lab11.cell("why")).to_contain_text("This opens when you lock in your prediction")
    lock(lab11, "lock", PREDICTIONS[NAME])
    expect(lab11.cell("why")).to_contain_text("It takes it over as it is, and forgets.")
    expect(lab11.cell("how").get_by_role("table")).to_be_visible()
    verdict = lab11.cell("lab").locator(".kiplab-verdict")
    lab11.press("lab", "First violation")
    expect(verdict).to_contain_text("▲ harm")
    expect(verdict).to_contain_text("Step 9 of")
    lab11.press("lab", "Last")
    expect(verdict).to_contain_text("▼ loss")
    lab11.photograph("lab", "loss")


def test_a_step_in_the_explanation_leads_the_lab_there(lab11: LabPage) -> None:
    lab11.cell("how").get_by_role("link", name="5", exact=True).click()
    expect(lab11.cell("lab").locator(".kiplab-verdict")).to_contain_text("Step 5 of")


def test_the_second_lab_can_be_broken(lab11: LabPage) -> None:
    lab11.cell("lab-2").locator(".kiplab-broker-1").get_by_role("button", name="Crash").click()
    verdict = lab11.cell("lab-2").locator(".kiplab-verdict")
    expect(verdict).to_contain_text("on branch 2 at step 0: crash 1")
    lab11.press("lab-2", "Reset")


def test_the_exercises_are_answered_in_their_cells(lab11: LabPage) -> None:
    source = cells(NAME, "code")
    for id in exercises(NAME):
        lab11.rewrite(id, answered(source[id], RIGHT[id]))
        lab11.run(id)
        expect(lab11.cell(id)).to_contain_text("Kept as attempt 1")
        said = lab11.cell(id).locator(".jp-OutputArea").inner_text().strip()
        points, of = said.split(maxsplit=1)[0].split(":")[0].rstrip(".").split("/")
        assert points == of, said
    expect(lab11.cell("proof")).to_contain_text("Proved")


def test_the_exit_ticket_is_compared(lab11: LabPage) -> None:
    choice, found = TICKETS[NAME]
    lock(lab11, "exit-lock", choice)
    expect(lab11.cell("exit-compare")).to_contain_text(found)


def test_every_output_is_photographed(lab11: LabPage) -> None:
    for id in lab11.with_output():
        lab11.photograph(id, f"output-{id}")


def test_nothing_is_in_the_way_of_anybody_and_nothing_complained(lab11: LabPage) -> None:
    assert lab11.faults() == []
    assert lab11.outside == []
    assert lab11.complaints == []
