"""Lab 09 in a real JupyterLab: searched, predicted, answered, and its matrix opened by keyboard.

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

NAME = "09-could-it-still-go-wrong"
ERRORS = '[data-mime-type="application/vnd.jupyter.error"]'


@pytest.fixture(scope="module")
def lab09(student: Student, browser: Browser) -> Iterator[LabPage]:
    ARTEFACTS.mkdir(exist_ok=True)
    page = LabPage(browser.new_page(viewport=WINDOW), ARTEFACTS, "09")
    page.open(student.address.replace("04-kafka-14139", NAME) + "&reset")
    yield page
    page.stop_kernel()
    page.page.close()


def lock(page: LabPage, id: str, choice: str) -> None:
    question = page.cell(id)
    question.get_by_label(choice).check()
    question.get_by_role("button", name="Lock in my prediction").click()
    expect(question).to_contain_text(f"Locked in: “{choice}”")


def test_run_all_searches_and_stops_nowhere(lab09: LabPage) -> None:
    lab09.run_all()
    lab09.wait_until_done()
    assert lab09.page.locator(ERRORS).count() == 0
    expect(lab09.cell("lab")).to_contain_text("First lock in your prediction above")
    for id in exercises(NAME):
        expect(lab09.cell(id)).to_contain_text("Not answered yet: give")


def test_the_counterexample_opens_in_the_lab(lab09: LabPage) -> None:
    expect(lab09.cell("why")).to_contain_text("This opens when you lock in your prediction")
    lock(lab09, "lock", PREDICTIONS[NAME])
    expect(lab09.cell("why")).to_contain_text("Refuted, in 14 steps")
    expect(lab09.cell("why").get_by_role("table")).to_be_visible()
    lab09.press("lab", "First violation")
    expect(lab09.cell("lab").locator(".kiplab-verdict")).to_contain_text("▲ harm")
    lab09.photograph("lab", "counterexample")


def test_the_exercises_are_answered_in_their_cells(lab09: LabPage) -> None:
    source = cells(NAME, "code")
    for id in exercises(NAME):
        lab09.rewrite(id, answered(source[id], RIGHT[id]))
        lab09.run(id)
        expect(lab09.cell(id)).to_contain_text("Kept as attempt 1")
        said = lab09.cell(id).locator(".jp-OutputArea").inner_text().strip()
        points, of = said.split(maxsplit=1)[0].split(":")[0].rstrip(".").split("/")
        assert points == of, said


def test_a_cell_of_the_matrix_opens_its_timeline_by_keyboard(lab09: LabPage) -> None:
    """The map says in words what the exercise asks, so it comes after the answer."""
    matrix = lab09.cell("holes-why")
    expect(matrix).to_contain_text("This is open now: run this cell.")
    lab09.run("holes-why")
    refuted = matrix.get_by_role("button", name="in 6").first
    refuted.focus()
    lab09.page.keyboard.press("Enter")
    expect(matrix).to_contain_text("in 6 steps")
    expect(matrix.locator("img, svg").first).to_be_visible()
    lab09.photograph("holes-why", "matrix")


def test_the_exit_ticket_is_compared(lab09: LabPage) -> None:
    choice, found = TICKETS[NAME]
    lock(lab09, "exit-lock", choice)
    expect(lab09.cell("exit-compare")).to_contain_text(found)


def test_every_output_is_photographed(lab09: LabPage) -> None:
    for id in lab09.with_output():
        lab09.photograph(id, f"output-{id}")


def test_nothing_is_in_the_way_of_anybody_and_nothing_complained(lab09: LabPage) -> None:
    assert lab09.faults() == []
    assert lab09.outside == []
    assert lab09.complaints == []
