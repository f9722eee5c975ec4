"""Lab 04 with the mouse unplugged: its main path by keyboard, as somebody goes it who has no other.

The tests share the page and go in the order in which a student does. Nothing is clicked.
"""

import json
import re
import zipfile
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Student
from tests.browser.lab_page import LabPage

pytestmark = pytest.mark.browser

TABS_MAX = 150
"""So many controls are passed at most from one place to another."""
CHOICE = "It accepts, and committed records can be lost."
FOCUS = """() => {
  const element = document.activeElement;
  const look = getComputedStyle(element);
  const shown = look.outlineStyle !== 'none' && parseFloat(look.outlineWidth) >= 1;
  const label = element.labels?.length ? element.labels[0].textContent : element.textContent;
  return {
    name: (element.ariaLabel || label).trim(), shown, tag: element.tagName,
    cell: element.closest('[data-cell]')?.dataset.cell ?? null,
    toolbar: element.closest('.jp-cell-toolbar') !== null,
  };
}"""
ACTIVE = "() => window.jupyterapp.shell.currentWidget.content.activeCell.model.id"
ELSEWHERE = (
    *("twin", "window", "ladder", "ladder-check", "last-story", "order", "spark"),
    *("strip", "epoch-row", "real-kafka"),
)
"""Cells that take their time and have tests of their own: nothing is in them here."""


class Keyboard:
    """Presses keys. Wherever in a lab it stops, the page has to show where that is."""

    def __init__(self, lab: LabPage) -> None:
        self.lab = lab
        self.press = lab.page.keyboard.press

    @property
    def focus(self) -> dict[str, Any]:
        """What has the focus: its name, whether that shows, its tag, its cell, and whether it is
        one of JupyterLab's own buttons for a cell, which come and go as it sees fit."""
        found: dict[str, Any] = self.lab.page.evaluate(FOCUS)
        return found

    def tab_to(self, cell: str, name: str, *, back: bool = False, times: int = 1) -> None:
        """Tab to the control of that name in a cell."""
        passed = []
        for _ in range(TABS_MAX):
            self.press("Shift+Tab" if back else "Tab")
            focus = self.focus
            passed.append(focus["name"])
            ours = focus["cell"] == cell and not focus["toolbar"]
            if ours and focus["tag"] not in ("A", "DIV"):
                assert focus["shown"], focus
            if (focus["cell"], focus["name"]) == (cell, name):
                times -= 1
            if not times:
                return
        pytest.fail(f"{name} is out of reach; passed: {passed}")

    def expect_focus(self, name: str) -> None:
        """After all that was pressed has been done, the focus is still there, and shows."""
        self.lab.python("pass")
        focus = self.focus
        assert (focus["name"], focus["shown"]) == (name, True)

    def run_until(self, cell: str) -> None:
        """Shift+Enter, cell by cell, until that one is next."""
        for _ in range(TABS_MAX):
            if self.lab.page.evaluate(ACTIVE) == cell:
                return
            self.press("Shift+Enter")
        pytest.fail(f"never came to {cell}")


@pytest.fixture(scope="module")
def keys(lab: LabPage) -> Keyboard:
    for id in ELSEWHERE:
        lab.rewrite(id, "pass")
    return Keyboard(lab)


def test_a_prediction_is_locked(keys: Keyboard, student: Student) -> None:
    question = keys.lab.cell("lock")
    keys.run_until("run")
    expect(question.get_by_role("radio").first).to_be_visible()
    keys.tab_to("lock", CHOICE, back=True)
    keys.press("Space")
    expect(question.get_by_role("button", name="Lock in my prediction")).to_be_enabled()
    keys.expect_focus(CHOICE)
    keys.tab_to("lock", "Lock in my prediction")
    keys.press("Enter")
    expect(question).to_contain_text("Locked in")
    keys.expect_focus("Lock in my prediction")
    kept = json.loads((student.folder / "kiplab-work.json").read_text())
    assert kept["predictions"] == {"kafka-14139/late-request": CHOICE}


def test_escape_leads_back_to_the_notebook(keys: Keyboard) -> None:
    keys.press("Escape")
    assert keys.focus["cell"] is not None
    keys.run_until("gap")
    expect(keys.lab.cell("lab").locator(".main-svg").first).to_be_visible()


def test_it_steps_to_the_end(keys: Keyboard) -> None:
    lab = keys.lab.cell("lab")
    keys.tab_to("lab", "Step", back=True)
    for step in range(1, 12):
        keys.press("Enter" if step % 2 else "Space")
        expect(lab).to_contain_text(f"Step {step} of 11")
    expect(lab.locator(".kiplab-verdict")).to_contain_text("100 committed records lost")
    keys.expect_focus("Now: the gap")
    keys.press("Enter")
    assert keys.lab.page.evaluate(ACTIVE) == "gap"
    keys.tab_to("lab", "Now: the gap", back=True)


def test_903_is_switched(keys: Keyboard) -> None:
    verdict = keys.lab.cell("lab").locator(".kiplab-verdict")
    keys.tab_to("lab", "KIP-903")
    keys.press("Space")
    expect(verdict).to_contain_text("unavailable for a while, nothing lost")
    keys.expect_focus("KIP-903")


def test_arrows_move_the_slider(keys: Keyboard) -> None:
    keys.tab_to("lab", "step", back=True)
    keys.press("Home")
    keys.press("ArrowRight")
    expect(keys.lab.cell("lab")).to_contain_text("Step 1 of 11")
    keys.expect_focus("step")


def test_a_crash_makes_a_branch(keys: Keyboard) -> None:
    lab = keys.lab.cell("lab")
    keys.tab_to("lab", "Crash", times=2)
    keys.press("Enter")
    expect(lab).to_contain_text("on branch 2 at step 1: crash 2")
    expect(lab.locator(".kiplab-broker-2")).to_contain_text("down, not noticed yet")
    keys.expect_focus("Crash")


def test_branches_are_compared(keys: Keyboard) -> None:
    lab = keys.lab.cell("lab")
    keys.tab_to("lab", "Branches")
    keys.press("Enter")
    expect(lab.get_by_label("branches")).to_be_visible()
    keys.expect_focus("Branches")
    keys.tab_to("lab", "Branch")
    keys.press("ArrowUp")
    expect(lab.get_by_label("Branch", exact=True)).to_have_value(re.compile("the play"))
    keys.tab_to("lab", "Compare with where I am")
    keys.press("Enter")
    expect(lab.locator(".js-plotly-plot")).to_have_count(2)
    keys.expect_focus("Compare with where I am")
    keys.lab.photograph("lab", "keyboard-compared")


def test_what_vanishes_leaves_the_focus_near(keys: Keyboard) -> None:
    """A message that is delivered takes its buttons along."""
    keys.tab_to("lab", "Deliver", back=True)
    keys.press("Enter")
    expect(keys.lab.cell("lab")).to_contain_text("Nothing is on the way")
    keys.lab.python("pass")
    focus = keys.focus
    assert (focus["cell"], focus["shown"]) == ("lab", True)
    keys.tab_to("lab", "Hold back")


def test_the_work_is_taken_home(keys: Keyboard) -> None:
    keys.press("Escape")
    keys.run_until("end")
    link = keys.lab.cell("my-work").locator(".kiplab-live a[download]")
    expect(link).to_be_visible()
    name = link.inner_text().strip()
    keys.tab_to("my-work", name, back=True)
    with keys.lab.page.expect_download() as found:
        keys.press("Enter")
    with zipfile.ZipFile(found.value.path()) as archive:
        work = json.loads(archive.read("kiplab-work.json"))
    assert work["predictions"] == {"kafka-14139/late-request": CHOICE}
