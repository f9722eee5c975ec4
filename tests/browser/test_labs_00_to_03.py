"""Labs 00 to 03 in a real JupyterLab: each opened, predicted, stepped, answered, taken home.

The tests of one lab share its page and go in the order in which a student does.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, expect

import kiplab
from kiplab.classroom import rulings_of
from tests.browser.conftest import ARTEFACTS, WINDOW, Student
from tests.browser.lab_page import LabPage
from tests.browser.windows import (
    COLUMN_BELOW,
    DIRECTION,
    IN_SIGHT,
    LAPTOPS,
    NARROW,
    TO_THE_TOP,
    ZOOMED,
    cut_off,
    spills,
)
from tests.labs.running import PREDICTIONS, RIGHT, TICKETS, answered, cells, exercises

pytestmark = pytest.mark.browser

NAMES = ("00-start", "01-isr-and-high-watermark", "02-four-epochs", "03-alter-partition")
FIGURE = ".js-plotly-plot .main-svg"
ERRORS = '[data-mime-type="application/vnd.jupyter.error"]'
FOLDS = 6
TELLING = "This run so far, in sentences and as a table"


class Walk:
    """A lab that is being walked through."""

    def __init__(self, name: str, page: LabPage) -> None:
        self.name, self.page = name, page
        self.labs = [id for id in ("lab", "lab-2") if id in cells(name, "code")]
        self.sheets = [id for id in ("sheet",) if id in cells(name, "code")]

    def verdict(self, id: str) -> Locator:
        """What a Lab of it says about where it stands."""
        return self.page.cell(id).locator(".kiplab-verdict")

    def lock(self, id: str, choice: str) -> None:
        """Make a prediction."""
        question = self.page.cell(id)
        question.get_by_label(choice).check()
        question.get_by_role("button", name="Lock in my prediction").click()
        expect(question).to_contain_text(f"Locked in: “{choice}”")


@pytest.fixture(scope="module", params=NAMES)
def walk(request: pytest.FixtureRequest, student: Student, browser: Browser) -> Iterator[Walk]:
    name: str = request.param
    ARTEFACTS.mkdir(exist_ok=True)
    page = LabPage(browser.new_page(viewport=WINDOW), ARTEFACTS, name[:2])
    # JupyterLab would open the labs of before again, too.
    page.open(student.address.replace("04-kafka-14139", name) + "&reset")
    yield Walk(name, page)
    page.stop_kernel()
    page.page.close()


def test_run_all_stops_nowhere_and_the_lab_waits(walk: Walk) -> None:
    walk.page.run_all()
    walk.page.wait_until_done()
    assert walk.page.page.locator(ERRORS).count() == 0
    expect(walk.page.cell("lab")).to_contain_text("First lock in your prediction above")
    expect(walk.page.cell("exit-compare")).to_contain_text("nothing to compare yet")
    for id in exercises(walk.name):
        expect(walk.page.cell(id)).to_contain_text("Not answered yet: give")
    assert walk.page.faults() == []


def test_a_prediction_opens_the_lab(walk: Walk, student: Student) -> None:
    walk.page.photograph("lock", "prediction")
    expect(walk.page.cell("why")).to_contain_text("This opens when you lock in your prediction")
    walk.lock("lock", PREDICTIONS[walk.name])
    expect(walk.page.cell("lab").locator(FIGURE).first).to_be_visible()
    expect(walk.page.cell("compare")).to_contain_text("The run says")
    expect(walk.page.cell("why").locator("strong").first).to_be_visible()
    kept = json.loads((student.folder / "kiplab-work.json").read_text())
    assert PREDICTIONS[walk.name] in kept["predictions"].values()


def test_every_lab_in_it_steps_and_breaks(walk: Walk) -> None:
    for id in walk.labs:
        walk.page.press(id, "Step")
        expect(walk.verdict(id)).to_contain_text("Step 1 of")
        walk.page.press(id, "Last")
        last = walk.page.cell(id).get_by_label("step", exact=True).get_attribute("max")
        expect(walk.verdict(id)).to_contain_text(f"Step {last} of {last}")
        walk.page.photograph(id, f"{id}-last")
        walk.page.press(id, "First")
        walk.page.cell(id).locator(".kiplab-broker-3").get_by_role("button", name="Crash").click()
        expect(walk.verdict(id)).to_contain_text("on branch 2 at step 0: crash 3")
        walk.page.press(id, "Reset")


def test_it_fits_every_window(walk: Walk) -> None:
    """One walk through the sizes, with the run told to its end."""
    page, lab = walk.page, walk.page.cell("lab")
    surface = lab.locator(".kiplab-surface")
    page.press("lab", "Last", TELLING)
    for window in (*LAPTOPS, ZOOMED, NARROW):
        page.page.set_viewport_size(window)
        page.python("pass")
        surface.evaluate(TO_THE_TOP)
        expect(lab.locator(".kiplab-head")).to_be_in_viewport(ratio=IN_SIGHT)
        if window in LAPTOPS:
            expect(lab.locator(FIGURE).first).to_be_in_viewport(ratio=IN_SIGHT)
        columns = lab.locator(".kiplab-columns")
        is_narrow = surface.evaluate("surface => surface.offsetWidth") < COLUMN_BELOW
        if is_narrow:
            assert columns.evaluate(DIRECTION) == "column"
        assert is_narrow or window in LAPTOPS
        assert cut_off(surface) == [], window
        assert not spills(surface), window
    page.page.set_viewport_size(WINDOW)
    page.press("lab", TELLING)


def test_the_exercises_are_answered_in_their_cells(walk: Walk) -> None:
    source = cells(walk.name, "code")
    for id in exercises(walk.name):
        walk.page.rewrite(id, answered(source[id], RIGHT[id]))
        walk.page.run(id)
        expect(walk.page.cell(id)).to_contain_text("Kept as attempt 1")
        said = walk.page.cell(id).locator(".jp-OutputArea").inner_text().strip()
        points, of = said.split(maxsplit=1)[0].split(":")[0].rstrip(".").split("/")
        assert points == of, said


def test_a_sheet_of_answers_is_filled_in_and_checked(walk: Walk) -> None:
    rulings = rulings_of(kiplab.run("alter-partition-eight").stage)
    for id in walk.sheets:
        sheet = walk.page.cell(id)
        expect(sheet.get_by_role("button", name="Check")).to_be_disabled()
        for number, ruling in enumerate(rulings, 1):
            sheet.get_by_label(f"Error of {number}", exact=True).select_option(ruling.error)
            sheet.get_by_label(f"Rule of {number}", exact=True).select_option(ruling.letter)
        walk.page.press(id, "Check")
        expect(sheet.locator(".kiplab-checked")).to_contain_text("8 of 8 points")
        walk.page.photograph(id, "checked")
        assert cut_off(sheet.locator(".kiplab-surface")) == []


def test_the_exit_ticket_is_compared(walk: Walk) -> None:
    choice, found = TICKETS[walk.name]
    walk.lock("exit-lock", choice)
    expect(walk.page.cell("exit-compare")).to_contain_text(found)


def test_the_work_goes_home_without_a_mouse(walk: Walk) -> None:
    walk.page.run("my-work")
    link = walk.page.cell("my-work").locator("a[download]")
    expect(link).to_be_visible()
    link.focus()
    with walk.page.page.expect_download() as found:
        walk.page.page.keyboard.press("Enter")
    assert found.value.suggested_filename == "kiplab-work.zip"
    with zipfile.ZipFile(found.value.path()) as archive:
        work = json.loads(archive.read("kiplab-work.json"))
        assert f"{walk.name}.ipynb" in archive.namelist()
    assert PREDICTIONS[walk.name] in work["predictions"].values()
    assert all(e["best"] == e["of"] for e in work["exercises"].values())


def test_every_output_is_photographed(walk: Walk) -> None:
    for id in walk.page.with_output():
        if id not in walk.labs:
            walk.page.photograph(id, f"output-{id}")


def test_nothing_serious_is_in_the_way_of_anybody(walk: Walk) -> None:
    for id in walk.labs:
        folds = walk.page.cell(id).locator(".kiplab-fold")
        expect(folds).to_have_count(FOLDS)
        for fold in folds.all():
            fold.click()
        expect(walk.page.cell(id).get_by_label("Token", exact=True)).to_be_visible()
    assert walk.page.faults() == []


def test_nothing_left_this_machine_and_nothing_complained(walk: Walk) -> None:
    assert walk.page.outside == []
    assert walk.page.complaints == []
