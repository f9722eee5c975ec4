"""Lab 06 in a real JupyterLab: predicted, stepped to the lost records, answered, compared.

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

NAME = "06-unclean-recovery"
ERRORS = '[data-mime-type="application/vnd.jupyter.error"]'


@pytest.fixture(scope="module")
def lab06(student: Student, browser: Browser) -> Iterator[LabPage]:
    ARTEFACTS.mkdir(exist_ok=True)
    page = LabPage(browser.new_page(viewport=WINDOW), ARTEFACTS, "06")
    page.open(student.address.replace("04-kafka-14139", NAME) + "&reset")
    yield page
    page.stop_kernel()
    page.page.close()


def lock(page: LabPage, id: str, choice: str) -> None:
    question = page.cell(id)
    question.get_by_label(choice).check()
    question.get_by_role("button", name="Lock in my prediction").click()
    expect(question).to_contain_text(f"Locked in: “{choice}”")


def test_run_all_waits_and_the_lab_is_shut(lab06: LabPage) -> None:
    lab06.run_all()
    lab06.wait_until_done()
    assert lab06.page.locator(ERRORS).count() == 0
    expect(lab06.cell("lab")).to_contain_text("First lock in your prediction above")
    for id in exercises(NAME):
        expect(lab06.cell(id)).to_contain_text("Not answered yet: give")


def test_the_election_is_stepped_through(lab06: LabPage) -> None:
    expect(lab06.cell("why")).to_contain_text("This opens when you lock in your prediction")
    lock(lab06, "lock", PREDICTIONS[NAME])
    expect(lab06.cell("why")).to_contain_text("ten records")
    verdict = lab06.cell("lab").locator(".kiplab-verdict")
    lab06.press("lab", "Last")
    expect(verdict).to_contain_text("▼ loss")
    lab06.photograph("lab", "loss")


def test_a_step_in_the_explanation_leads_the_lab_there(lab06: LabPage) -> None:
    lab06.cell("why").get_by_role("link", name="step 10", exact=True).click()
    expect(lab06.cell("lab").locator(".kiplab-verdict")).to_contain_text("Step 10 of")


def test_the_exercises_are_answered_in_their_cells(lab06: LabPage) -> None:
    source = cells(NAME, "code")
    for id in exercises(NAME):
        lab06.rewrite(id, answered(source[id], RIGHT[id]))
        lab06.run(id)
        expect(lab06.cell(id)).to_contain_text("Kept as attempt 1")
        said = lab06.cell(id).locator(".jp-OutputArea").inner_text().strip()
        points, of = said.split(maxsplit=1)[0].split(":")[0].rstrip(".").split("/")
        assert points == of, said
    expect(lab06.cell("businesses")).to_contain_text("one in sync is left")
    expect(lab06.cell("vanishing")).to_contain_text("20 committed records lost")


def test_the_exit_ticket_is_compared(lab06: LabPage) -> None:
    choice, found = TICKETS[NAME]
    lock(lab06, "exit-lock", choice)
    expect(lab06.cell("exit-compare")).to_contain_text(found)


def test_every_output_is_photographed(lab06: LabPage) -> None:
    for id in lab06.with_output():
        lab06.photograph(id, f"output-{id}")


def test_nothing_is_in_the_way_of_anybody_and_nothing_complained(lab06: LabPage) -> None:
    assert lab06.faults() == []
    assert lab06.outside == []
    assert lab06.complaints == []
