"""A lab that was run, saved, and opened again where no kernel runs: small, and not a blank."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import ARTEFACTS, WINDOW, Student
from tests.browser.conftest import LAB as OTHER
from tests.browser.lab_page import NAME_CELLS, LabPage

pytestmark = pytest.mark.browser

LAB = "00-start.ipynb"
PREDICTION = {
    "start/slow-request": "It accepts: broker 1 leads, and the leader knows who is in sync."
}
SIZE_MAX = 160_000
NO_KERNEL = """() => !window.jupyterapp.shell.currentWidget?.context?.sessionContext
  ?.session?.kernel"""
FIGURE = ".js-plotly-plot .main-svg"
STILL = ".kiplab-still"
DRAWN = "image => image.complete && image.naturalWidth > 400"


@pytest.fixture(scope="module")
def opened(student: Student, browser: Browser) -> tuple[LabPage, Path]:
    """The lab, opened and not yet run, and its file. Its question is answered: the figures that
    explain it are there.
    """
    ARTEFACTS.mkdir(exist_ok=True)
    page = LabPage(browser.new_page(viewport=WINDOW), ARTEFACTS)
    (student.folder / "kiplab-work.json").write_text(json.dumps({"predictions": PREDICTION}))
    page.open(student.address.replace(OTHER, LAB) + "&reset")
    return page, student.folder / LAB


def test_while_the_kernel_runs_figures_are_live(opened: tuple[LabPage, Path]) -> None:
    lab, _ = opened
    lab.run_all()
    lab.wait_until_done()
    for id in ("picture", "twin"):
        lab.cell(id).scroll_into_view_if_needed()
        expect(lab.cell(id).locator(FIGURE).first).to_be_visible()
    expect(lab.cell("lab").locator(STILL)).to_be_hidden()
    assert lab.complaints == []


def test_the_saved_notebook_is_small_and_has_stills(opened: tuple[LabPage, Path]) -> None:
    lab, file = opened
    lab.save()
    assert file.stat().st_size < SIZE_MAX
    cells = {cell["id"]: cell for cell in json.loads(file.read_text(encoding="utf-8"))["cells"]}
    (shown,) = [o["data"] for o in cells["twin"]["outputs"] if "data" in o]
    assert set(shown) == {"text/html", "text/plain"}


def test_without_its_kernel_there_is_a_picture_and_its_text(opened: tuple[LabPage, Path]) -> None:
    lab, _ = opened
    lab.stop_kernel()
    lab.page.wait_for_function(NO_KERNEL)
    lab.page.reload()
    lab.page.wait_for_selector(STILL)
    lab.page.evaluate(NAME_CELLS)
    for id, text in (("lab", "run the cell again"), ("picture", "Verdict:"), ("twin", "Verdict:")):
        cell = lab.cell(id)
        cell.scroll_into_view_if_needed()
        expect(cell.locator(f"{STILL} img")).to_be_visible()
        assert cell.locator(f"{STILL} img").evaluate(DRAWN)
        expect(cell.locator(STILL)).to_contain_text(text)
        expect(cell.get_by_text("Error displaying widget")).to_be_hidden()
    lab.cell("lab").screenshot(path=ARTEFACTS / "saved-lab-00.png")
