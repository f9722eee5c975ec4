"""Labs 00 to 03 in a real JupyterLab: each opened, predicted, stepped, answered, taken home.

The tests of one lab share its page and go in the order in which a student does.
"""

from __future__ import annotations

import json
import zipfile

import pytest
from playwright.sync_api import expect

import kiplab
from kiplab.classroom import rulings_of
from tests.browser.conftest import WINDOW, Student
from tests.browser.lesson import Lesson
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
from tests.labs.running import PREDICTIONS, cells

pytestmark = pytest.mark.browser

NAMES = ("00-start", "01-isr-and-high-watermark", "02-four-epochs", "03-alter-partition")
FIGURE = ".js-plotly-plot .main-svg"
FOLDS = 6
TELLING = "This run so far, in sentences and as a table"


@pytest.fixture(scope="module", params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def labs_in(lesson: Lesson) -> list[str]:
    """The ids of its cells with a Lab."""
    return [id for id in ("lab", "lab-2") if id in cells(lesson.name, "code")]


def test_run_all_stops_nowhere_and_the_lab_waits(lesson: Lesson) -> None:
    lesson.run_all()
    lesson.expect_all_run("lab")
    expect(lesson.cell("exit-compare")).to_contain_text("nothing to compare yet")
    assert lesson.faults() == []


def test_a_prediction_opens_the_lab(lesson: Lesson, student: Student) -> None:
    lesson.photograph("lock", "prediction")
    expect(lesson.cell("why")).to_contain_text("This opens when you lock in your prediction")
    lesson.lock("lock", PREDICTIONS[lesson.name])
    expect(lesson.cell("lab").locator(FIGURE).first).to_be_visible()
    expect(lesson.cell("compare")).to_contain_text("The run says")
    expect(lesson.cell("why").locator("strong").first).to_be_visible()
    kept = json.loads((student.folder / "kiplab-work.json").read_text())
    assert PREDICTIONS[lesson.name] in kept["predictions"].values()


def test_every_lab_in_it_steps_and_breaks(lesson: Lesson) -> None:
    for id in labs_in(lesson):
        lesson.press(id, "Step")
        expect(lesson.verdict(id)).to_contain_text("Step 1 of")
        lesson.press(id, "Last")
        last = lesson.cell(id).get_by_label("step", exact=True).get_attribute("max")
        expect(lesson.verdict(id)).to_contain_text(f"Step {last} of {last}")
        lesson.photograph(id, f"{id}-last")
        lesson.press(id, "First")
        lesson.cell(id).locator(".kiplab-broker-3").get_by_role("button", name="Crash").click()
        expect(lesson.verdict(id)).to_contain_text("on branch 2 at step 0: crash 3")
        lesson.press(id, "Reset")


def test_it_fits_every_window(lesson: Lesson) -> None:
    """One walk through the sizes, with the run told to its end."""
    lab = lesson.cell("lab")
    surface = lab.locator(".kiplab-surface")
    lesson.press("lab", "Last", TELLING)
    for window in (*LAPTOPS, ZOOMED, NARROW):
        lesson.page.set_viewport_size(window)
        lesson.python("pass")
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
    lesson.page.set_viewport_size(WINDOW)
    lesson.press("lab", TELLING)


def test_the_exercises_are_answered_in_their_cells(lesson: Lesson) -> None:
    lesson.answer_exercises()


def test_a_sheet_of_answers_is_filled_in_and_checked(lesson: Lesson) -> None:
    rulings = rulings_of(kiplab.run("alter-partition-eight").stage)
    if "sheet" in cells(lesson.name, "code"):
        sheet = lesson.cell("sheet")
        expect(sheet.get_by_role("button", name="Check")).to_be_disabled()
        for number, ruling in enumerate(rulings, 1):
            sheet.get_by_label(f"Error of {number}", exact=True).select_option(ruling.error)
            sheet.get_by_label(f"Rule of {number}", exact=True).select_option(ruling.letter)
        lesson.press("sheet", "Check")
        expect(sheet.locator(".kiplab-checked")).to_contain_text("8 of 8 points")
        lesson.photograph("sheet", "checked")
        assert cut_off(sheet.locator(".kiplab-surface")) == []


def test_the_exit_ticket_is_compared(lesson: Lesson) -> None:
    lesson.compare_exit_ticket()


def test_the_work_goes_home_without_a_mouse(lesson: Lesson) -> None:
    lesson.run("my-work")
    link = lesson.cell("my-work").locator("a[download]")
    expect(link).to_be_visible()
    link.focus()
    with lesson.page.expect_download() as found:
        lesson.page.keyboard.press("Enter")
    assert found.value.suggested_filename == "kiplab-work.zip"
    with zipfile.ZipFile(found.value.path()) as archive:
        work = json.loads(archive.read("kiplab-work.json"))
        assert f"{lesson.name}.ipynb" in archive.namelist()
    assert PREDICTIONS[lesson.name] in work["predictions"].values()
    assert all(e["best"] == e["of"] for e in work["exercises"].values())


def test_every_output_is_photographed(lesson: Lesson) -> None:
    for id in lesson.with_output():
        if id not in labs_in(lesson):
            lesson.photograph(id, f"output-{id}")


def test_nothing_serious_is_in_the_way_of_anybody(lesson: Lesson) -> None:
    for id in labs_in(lesson):
        folds = lesson.cell(id).locator(".kiplab-fold")
        expect(folds).to_have_count(FOLDS)
        for fold in folds.all():
            fold.click()
        expect(lesson.cell(id).get_by_label("Token", exact=True)).to_be_visible()
    assert lesson.faults() == []


def test_nothing_left_this_machine_and_nothing_complained(lesson: Lesson) -> None:
    assert lesson.outside == []
    assert lesson.complaints == []
