"""Lab 08 in a real JupyterLab: predicted, stepped to the leader that nobody tells, answered.

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

NAME = "08-heartbeats"
ERRORS = '[data-mime-type="application/vnd.jupyter.error"]'


@pytest.fixture(scope="module")
def lab08(student: Student, browser: Browser) -> Iterator[LabPage]:
    ARTEFACTS.mkdir(exist_ok=True)
    page = LabPage(browser.new_page(viewport=WINDOW), ARTEFACTS, "08")
    page.open(student.address.replace("04-kafka-14139", NAME) + "&reset")
    yield page
    page.stop_kernel()
    page.page.close()


def lock(page: LabPage, id: str, choice: str) -> None:
    question = page.cell(id)
    question.get_by_label(choice).check()
    question.get_by_role("button", name="Lock in my prediction").click()
    expect(question).to_contain_text(f"Locked in: “{choice}”")


def test_run_all_waits_and_both_labs_are_shut(lab08: LabPage) -> None:
    lab08.run_all()
    lab08.wait_until_done()
    assert lab08.page.locator(ERRORS).count() == 0
    for id in ("lab", "lab-2"):
        expect(lab08.cell(id)).to_contain_text("First lock in your prediction above")
    for id in exercises(NAME):
        expect(lab08.cell(id)).to_contain_text("Not answered yet: give")


def test_the_leader_that_nobody_tells_is_stepped_through(lab08: LabPage) -> None:
    expect(lab08.cell("why")).to_contain_text("This opens when you lock in your prediction")
    lock(lab08, "lock", PREDICTIONS[NAME])
    expect(lab08.cell("why")).to_contain_text("no broker reads there who leads")
    lab08.press("lab", "Last")
    expect(lab08.cell("lab").locator(".kiplab-verdict")).to_contain_text("Step 15 of 15")
    lab08.photograph("lab", "last")


def test_a_step_in_the_explanation_leads_the_lab_there(lab08: LabPage) -> None:
    lab08.cell("why").get_by_role("link", name="step 8", exact=True).click()
    expect(lab08.cell("lab").locator(".kiplab-verdict")).to_contain_text("Step 8 of")


def test_the_second_lab_can_be_changed(lab08: LabPage) -> None:
    lab08.cell("lab-2").locator(".kiplab-broker-1").get_by_role("button", name="Crash").click()
    verdict = lab08.cell("lab-2").locator(".kiplab-verdict")
    expect(verdict).to_contain_text("on branch 2 at step 0: crash 1")
    lab08.press("lab-2", "Reset")


def test_the_exercises_are_answered_in_their_cells(lab08: LabPage) -> None:
    source = cells(NAME, "code")
    for id in exercises(NAME):
        lab08.rewrite(id, answered(source[id], RIGHT[id]))
        lab08.run(id)
        expect(lab08.cell(id)).to_contain_text("Kept as attempt 1")
        said = lab08.cell(id).locator(".jp-OutputArea").inner_text().strip()
        points, of = said.split(maxsplit=1)[0].split(":")[0].rstrip(".").split("/")
        assert points == of, said
    expect(lab08.cell("incarnations")).to_contain_text("metadata-heartbeat as 900: accepted")
    expect(lab08.cell("fates")).to_contain_text("a broker that is cut off serves on")


def test_the_exit_ticket_is_compared(lab08: LabPage) -> None:
    choice, found = TICKETS[NAME]
    lock(lab08, "exit-lock", choice)
    expect(lab08.cell("exit-compare")).to_contain_text(found)
    expect(lab08.cell("real-kafka")).to_contain_text("Engine and Kafka agree: True")


def test_every_output_is_photographed(lab08: LabPage) -> None:
    for id in lab08.with_output():
        lab08.photograph(id, f"output-{id}")


def test_nothing_is_in_the_way_of_anybody_and_nothing_complained(lab08: LabPage) -> None:
    assert lab08.faults() == []
    assert lab08.outside == []
    assert lab08.complaints == []
