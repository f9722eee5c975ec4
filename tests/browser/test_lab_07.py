"""Lab 07 in a real JupyterLab: predicted, stepped to the unnoticed bounce, answered, compared.

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

NAME = "07-controlled-shutdown-bounce"
ERRORS = '[data-mime-type="application/vnd.jupyter.error"]'


@pytest.fixture(scope="module")
def lab07(student: Student, browser: Browser) -> Iterator[LabPage]:
    ARTEFACTS.mkdir(exist_ok=True)
    page = LabPage(browser.new_page(viewport=WINDOW), ARTEFACTS, "07")
    page.open(student.address.replace("04-kafka-14139", NAME) + "&reset")
    yield page
    page.stop_kernel()
    page.page.close()


def lock(page: LabPage, id: str, choice: str) -> None:
    question = page.cell(id)
    question.get_by_label(choice).check()
    question.get_by_role("button", name="Lock in my prediction").click()
    expect(question).to_contain_text(f"Locked in: “{choice}”")


def test_run_all_waits_and_both_labs_are_shut(lab07: LabPage) -> None:
    lab07.run_all()
    lab07.wait_until_done()
    assert lab07.page.locator(ERRORS).count() == 0
    for id in ("lab", "lab-2"):
        expect(lab07.cell(id)).to_contain_text("First lock in your prediction above")
    for id in exercises(NAME):
        expect(lab07.cell(id)).to_contain_text("Not answered yet: give")


def test_the_bounce_that_nobody_sees_is_stepped_through(lab07: LabPage) -> None:
    expect(lab07.cell("why")).to_contain_text("This opens when you lock in your prediction")
    lock(lab07, "lock", PREDICTIONS[NAME])
    expect(lab07.cell("why")).to_contain_text("the same three brokers as before")
    verdict = lab07.cell("lab").locator(".kiplab-verdict")
    lab07.press("lab", "Last")
    expect(verdict).to_contain_text("▲ harm")
    lab07.photograph("lab", "harm")


def test_a_step_in_the_explanation_leads_the_lab_there(lab07: LabPage) -> None:
    lab07.cell("why").get_by_role("link", name="step 4", exact=True).click()
    expect(lab07.cell("lab").locator(".kiplab-verdict")).to_contain_text("Step 4 of")


def test_the_second_lab_can_be_changed(lab07: LabPage) -> None:
    lab07.cell("lab-2").locator(".kiplab-broker-1").get_by_role("button", name="Crash").click()
    verdict = lab07.cell("lab-2").locator(".kiplab-verdict")
    expect(verdict).to_contain_text("on branch 2 at step 0: crash 1")
    lab07.press("lab-2", "Reset")


def test_the_exercises_are_answered_in_their_cells(lab07: LabPage) -> None:
    source = cells(NAME, "code")
    for id in exercises(NAME):
        lab07.rewrite(id, answered(source[id], RIGHT[id]))
        lab07.run(id)
        expect(lab07.cell(id)).to_contain_text("Kept as attempt 1")
        said = lab07.cell(id).locator(".jp-OutputArea").inner_text().strip()
        points, of = said.split(maxsplit=1)[0].split(":")[0].rstrip(".").split("/")
        assert points == of, said
    expect(lab07.cell("needed")).to_contain_text("without L: nothing lost yet")
    expect(lab07.cell("real-mail")).to_contain_text("Kafka 2.1.1, recorded")


def test_the_exit_ticket_is_compared(lab07: LabPage) -> None:
    choice, found = TICKETS[NAME]
    lock(lab07, "exit-lock", choice)
    expect(lab07.cell("exit-compare")).to_contain_text(found)


def test_every_output_is_photographed(lab07: LabPage) -> None:
    for id in lab07.with_output():
        lab07.photograph(id, f"output-{id}")


def test_nothing_is_in_the_way_of_anybody_and_nothing_complained(lab07: LabPage) -> None:
    assert lab07.faults() == []
    assert lab07.outside == []
    assert lab07.complaints == []
