"""Lab 05 in a real JupyterLab: predicted, stepped through its loss, answered, compared.

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

NAME = "05-why-from-fetch"
ERRORS = '[data-mime-type="application/vnd.jupyter.error"]'


@pytest.fixture(scope="module")
def lab05(student: Student, browser: Browser) -> Iterator[LabPage]:
    ARTEFACTS.mkdir(exist_ok=True)
    page = LabPage(browser.new_page(viewport=WINDOW), ARTEFACTS, "05")
    page.open(student.address.replace("04-kafka-14139", NAME) + "&reset")
    yield page
    page.stop_kernel()
    page.page.close()


def lock(page: LabPage, id: str, choice: str) -> None:
    question = page.cell(id)
    question.get_by_label(choice).check()
    question.get_by_role("button", name="Lock in my prediction").click()
    expect(question).to_contain_text(f"Locked in: “{choice}”")


def test_run_all_waits_and_both_labs_are_shut(lab05: LabPage) -> None:
    lab05.run_all()
    lab05.wait_until_done()
    assert lab05.page.locator(ERRORS).count() == 0
    for id in ("lab", "lab-2"):
        expect(lab05.cell(id)).to_contain_text("First lock in your prediction above")
    for id in exercises(NAME):
        expect(lab05.cell(id)).to_contain_text("Not answered yet: give")


def test_the_late_fetch_is_stepped_through(lab05: LabPage) -> None:
    expect(lab05.cell("why")).to_contain_text("This opens when you lock in your prediction")
    lock(lab05, "lock", PREDICTIONS[NAME])
    expect(lab05.cell("why")).to_contain_text("and the controller accepts")
    verdict = lab05.cell("lab").locator(".kiplab-verdict")
    lab05.press("lab", "First violation")
    expect(verdict).to_contain_text("▲ harm")
    expect(verdict).to_contain_text("Step 6 of")
    lab05.press("lab", "Last")
    expect(verdict).to_contain_text("▼ loss")
    lab05.photograph("lab", "loss")


def test_a_step_in_the_explanation_leads_the_lab_there(lab05: LabPage) -> None:
    lab05.cell("why").get_by_role("link", name="step 6", exact=True).click()
    expect(lab05.cell("lab").locator(".kiplab-verdict")).to_contain_text("Step 6 of")


def test_the_second_lab_can_be_changed(lab05: LabPage) -> None:
    lab05.cell("lab-2").locator(".kiplab-broker-1").get_by_role("button", name="Crash").click()
    verdict = lab05.cell("lab-2").locator(".kiplab-verdict")
    expect(verdict).to_contain_text("on branch 2 at step 0: crash 1")
    lab05.press("lab-2", "Reset")


def test_the_exercises_are_answered_in_their_cells(lab05: LabPage) -> None:
    source = cells(NAME, "code")
    for id in exercises(NAME):
        lab05.rewrite(id, answered(source[id], RIGHT[id]))
        lab05.run(id)
        expect(lab05.cell(id)).to_contain_text("Kept as attempt 1")
        said = lab05.cell(id).locator(".jp-OutputArea").inner_text().strip()
        points, of = said.split(maxsplit=1)[0].split(":")[0].rstrip(".").split("/")
        assert points == of, said
    expect(lab05.cell("ask")).to_contain_text("Proved for these bounds")
    expect(lab05.cell("finer")).to_contain_text("breaks in 13 steps")


def test_the_exit_ticket_is_compared(lab05: LabPage) -> None:
    choice, found = TICKETS[NAME]
    lock(lab05, "exit-lock", choice)
    expect(lab05.cell("exit-compare")).to_contain_text(found)


def test_every_output_is_photographed(lab05: LabPage) -> None:
    for id in lab05.with_output():
        lab05.photograph(id, f"output-{id}")


def test_nothing_is_in_the_way_of_anybody_and_nothing_complained(lab05: LabPage) -> None:
    assert lab05.faults() == []
    assert lab05.outside == []
    assert lab05.complaints == []
