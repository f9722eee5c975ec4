"""Lab 04 in a real JupyterLab in a real Chromium: one student, from opening it to saving it.

The tests share the page and go in the order in which a student does.
"""

import json
import re

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import LAB, Student
from tests.browser.lab_page import LabPage
from tests.browser.slow_machine import stand_still, wait_until_ran

pytestmark = pytest.mark.browser

WRONG = "It refuses: broker 2 has been fenced since, and KIP-841 keeps it out."
FIGURE = ".js-plotly-plot .main-svg"
MIDDLE_OF_ARROW = """() => {
  const picture = document.querySelector('[data-cell="lab"] .kiplab-stage .kiplab-picture');
  const [, x0, y0, x1, y1] = picture.drawing.layout.meta.marks.find(mark => mark.length === 6);
  return [(x0 + x1) / 2, (y0 + y1) / 2];
}"""
TOO_SLOW_HERE = "found = kiplab.fleet.schedules(20, spark=False)\nfound.figure()"
"""In place of the Spark cell, which has tests of its own."""


def test_run_all_stops_nowhere_and_the_lab_waits(lab: LabPage) -> None:
    """Also on a slow machine, and if the server stands still in the middle."""
    lab.rewrite("spark", TOO_SLOW_HERE)
    lab.slow_down(4)
    lab.run_all()
    wait_until_ran(lab, 2)
    stand_still(lab, 2.5)
    lab.slow_down(1)
    expect(lab.cell("exit-compare")).to_contain_text("nothing to compare yet")
    expect(lab.cell("lab")).to_contain_text("First lock in your prediction above")
    errors = lab.page.locator('[data-mime-type="application/vnd.jupyter.error"]')
    assert errors.count() == 0
    expect(lab.cell("spark").locator(FIGURE).first).to_be_visible()
    lab.photograph("spark", "spark")
    for id in ("why", "twin", "story"):
        expect(lab.cell(id)).to_contain_text("This opens when you lock in your prediction")
    expect(lab.cell("twin").locator(FIGURE)).to_have_count(0)


def test_a_prediction_opens_the_lab_and_is_kept(lab: LabPage, student: Student) -> None:
    question = lab.cell("lock")
    lock = question.get_by_role("button", name="Lock in my prediction")
    expect(lock).to_be_disabled()
    lab.photograph("lock", "1-prediction")
    question.get_by_label(WRONG).check()
    lock.click()
    expect(question).to_contain_text("Locked in")
    expect(lab.cell("lab").locator(FIGURE).first).to_be_visible()
    expect(lab.cell("compare")).to_contain_text("loss: 100 committed records lost")
    expect(lab.cell("why").locator("strong")).to_contain_text("Nothing was refused, at any step.")
    expect(lab.cell("twin").locator(FIGURE).first).to_be_visible()
    lab.photograph("twin", "twin")
    kept = json.loads((student.folder / "kiplab-work.json").read_text())
    assert kept == {"predictions": {"kafka-14139/late-request": WRONG}}
    lab.photograph("lab", "2-start")


def test_stepping_shows_the_request_on_its_way(lab: LabPage) -> None:
    lab.press("lab", "Step", "Step", "Step")
    expect(lab.cell("lab")).to_contain_text("Step 3 of 11, session of broker 2 expires")
    expect(figure(lab)).to_contain_text("still on its way")
    lab.photograph("lab", "3-on-its-way")


def test_the_slider_moves_by_keyboard(lab: LabPage) -> None:
    slider = lab.cell("lab").get_by_label("step", exact=True)
    for _ in range(3):
        slider.press("ArrowRight")
    expect(lab.cell("lab")).to_contain_text("Step 6 of 11, request arrives")
    expect(verdict(lab)).to_contain_text("▲ harm")
    expect(figure(lab)).to_contain_text("at risk")
    lab.photograph("lab", "4-accepted")


def test_menus_and_headings_are_for_the_keyboard_too(lab: LabPage) -> None:
    """JupyterLab would take the arrow keys for itself."""
    release = lab.cell("lab").get_by_label("Rules of")
    release.press("ArrowDown")
    expect(release).to_have_value(re.compile("3.5"))
    release.press("ArrowUp")
    expect(lab.cell("lab")).to_contain_text("under Kafka 3.4")
    heading = lab.cell("lab").get_by_role("button", name="Branches", exact=True)
    heading.press("Enter")
    expect(lab.cell("lab").get_by_label("branches")).to_be_visible()
    heading.press("Enter")
    expect(lab.cell("lab").get_by_label("branches")).to_be_hidden()


def test_play_steps_by_itself_until_the_end(lab: LabPage) -> None:
    lab.cell("lab").get_by_label("Speed").select_option("fast")
    lab.press("lab", "Play")
    expect(lab.cell("lab")).to_contain_text("Step 11 of 11")
    expect(lab.cell("lab").get_by_role("button", name="Play", exact=True)).to_be_visible()
    lab.press("lab", "First violation")
    expect(lab.cell("lab")).to_contain_text("Step 6 of 11")


def test_with_903_on_the_same_request_is_refused(lab: LabPage) -> None:
    lab.cell("lab").get_by_label("KIP-903", exact=False).first.check()
    expect(verdict(lab)).to_contain_text("⊘ refused: INELIGIBLE_REPLICA")
    expect(verdict(lab)).to_contain_text("● safe")
    expect(figure(lab)).to_contain_text("INELIGIBLE_REPLICA")
    expect(lab.cell("lab")).to_contain_text("Step 6 of 11")
    lab.photograph("lab", "5-refused")
    lab.press("lab", "Last")
    expect(verdict(lab)).to_contain_text("unavailable for a while, nothing lost")
    lab.press("lab", "Rules as in the play")
    expect(verdict(lab)).to_contain_text("▼ loss: 100 committed records lost")
    lab.photograph("lab", "6-lost")


def test_a_reboot_injected_by_hand_loses_the_data(lab: LabPage) -> None:
    lab.press("lab", "First", "Step")
    expect(lab.cell("lab")).to_contain_text("Step 1 of 11")
    lab.cell("lab").get_by_label("A crash takes").select_option("the whole disk")
    for label in ("Crash", "Expire", "Start", "Unfence"):
        button(lab, 2, label).click()
    expect(lab.cell("lab")).to_contain_text("Step 5 of 5")
    lab.press("lab", "Deliver")
    expect(verdict(lab)).to_contain_text("▲ harm")
    lab.cell("lab").get_by_label("A crash takes").select_option("nothing")
    for label in ("Crash", "Expire"):
        button(lab, 1, label).click()
    expect(verdict(lab)).to_contain_text("▼ loss: 100 committed records lost")
    expect(figure(lab)).to_contain_text("100 committed records lost")
    lab.photograph("lab", "7-reboot-by-hand")


def test_what_cannot_be_done_says_why(lab: LabPage) -> None:
    dead = button(lab, 1, "Crash")
    expect(dead).to_be_disabled()
    expect(dead).to_have_attribute("title", "Not now: broker 1 is down")
    lab.cell("lab").get_by_label("Any other line").fill("crash 9")
    lab.press("lab", "Do it")
    expect(lab.cell("lab").get_by_role("alert")).to_contain_text("the brokers are 1, 2")
    lab.photograph("lab", "8-impossible")


def test_the_branch_is_drawn_and_can_be_shared(lab: LabPage, student: Student) -> None:
    cell = lab.cell("lab")
    cell.get_by_text("Branches", exact=True).click()
    expect(cell.get_by_label("branches")).to_contain_text("branch 2 at step 1: crash 2")
    cell.get_by_label("Branch", exact=True).select_option("the play")
    lab.press("lab", "Compare with where I am")
    expect(cell.locator(".js-plotly-plot")).to_have_count(2)
    lab.photograph("lab", "8-branches")
    cell.get_by_text("Share, save, load").click()
    expect(cell.get_by_label("Token", exact=True)).to_have_value(re.compile("^kiplab1:"))
    lab.press("lab", "Save the whole lab")
    expect(cell).to_contain_text("Saved as kafka-14139.kiplab.json")
    assert (student.folder / "kafka-14139.kiplab.json").exists()
    lab.photograph("lab", "8-share")


def test_reset_brings_the_play_back(lab: LabPage) -> None:
    lab.press("lab", "Reset")
    expect(lab.cell("lab")).to_contain_text("Step 0 of 11")


def test_single_rules_and_words_unfold(lab: LabPage) -> None:
    lab.cell("lab").get_by_text("Single rules").click()
    expect(lab.cell("lab").get_by_label("903.controller-epoch", exact=False)).to_be_visible()
    lab.photograph("lab", "9-single-rules")
    lab.cell("lab").get_by_text("This run so far").click()
    expect(lab.cell("lab").get_by_role("table").last).to_be_visible()
    lab.photograph("lab", "10-in-words")


def test_a_step_in_the_prose_leads_the_lab_there(lab: LabPage) -> None:
    link = lab.cell("run").get_by_role("link", name="step 6")
    link.focus()
    link.press("Enter")
    expect(verdict(lab)).to_contain_text("Step 6 of 11")
    expect(lab.cell("lab")).to_contain_text("This is step 6, which the text speaks of.")
    lab.cell("discuss").get_by_role("link", name="step 8").click()
    expect(verdict(lab)).to_contain_text("Step 8 of 11")
    expect(lab.cell("lab").locator(".kiplab-head")).to_be_in_viewport()


def test_a_line_lights_up_its_mark_and_a_mark_its_line(lab: LabPage) -> None:
    lines = lab.cell("lab").locator(".kiplab-transcript [data-about]")
    changed = lines.filter(has_text="± ISR of orders-0 {1} -> {1, 2}")
    changed.hover()
    lit = lab.cell("lab").locator(".kiplab-halo-lit")
    assert lit.count() >= 2
    expect(changed).to_have_class(re.compile("kiplab-lit"))
    lab.photograph("lab", "11-line-and-mark")
    picture = lab.cell("lab").locator(".kiplab-stage .kiplab-picture")
    x, y = lab.page.evaluate(MIDDLE_OF_ARROW)
    picture.hover(position={"x": x, "y": y})
    asked = lines.filter(has_text="AlterPartition v2 as epoch 40").first
    expect(asked).to_have_class(re.compile("kiplab-lit"))
    lab.page.mouse.move(0, 0)
    expect(lit).to_have_count(0)
    lines.first.locator("xpath=ancestor::*[@data-told]").press("ArrowDown")
    lab.page.keyboard.press("ArrowDown")
    expect(lines.nth(1)).to_be_focused()
    expect(lit.first).to_be_attached()
    parts = lab.cell("lab").locator(".kiplab-places")
    for _ in range(10):
        parts.press("ArrowDown")
    expect(lines.filter(has_text="8 expire 1")).to_have_class(re.compile("kiplab-lit"))


def test_a_search_counts_leads_to_a_step_and_does_not_know_the_future(lab: LabPage) -> None:
    cell = lab.cell("lab")
    field, count = cell.get_by_label("Search"), cell.locator(".kiplab-finder output")
    field.fill("truncates")
    expect(count).to_have_text(re.compile(r"^0 of \d+$"))
    field.fill("isr of orders-0")
    expect(count).to_have_text(re.compile(r"^2 of \d+$"))
    expect(cell.locator(".kiplab-halo-found").first).to_be_attached()
    field.press("Enter")
    expect(verdict(lab)).to_contain_text("Step 6 of 11")
    expect(count).to_have_text(re.compile(r"^2 of \d+, this is number 1$"))
    field.press("Enter")
    expect(verdict(lab)).to_contain_text("Step 8 of 11")
    expect(field).to_be_focused()
    lab.photograph("lab", "12-search")
    field.press("Escape")
    expect(field).to_have_value("")
    expect(field).to_be_focused()
    expect(cell.locator(".kiplab-found")).to_have_count(0)


def test_the_exercise_is_judged_and_drawn(lab: LabPage) -> None:
    exercise = lab.cell("order")
    lab.press("order", "Check")
    expect(exercise).to_contain_text("0 of 2 points")
    expect(exercise.locator(FIGURE).first).to_be_visible()
    events = exercise.get_by_role("listbox")
    events.select_option("2. B · 1's request arrives at the controller")
    lab.press("order", *["Later"] * 4)
    events.select_option("4. E · 2's session expires: the controller fences it")
    lab.press("order", "Earlier", "Check")
    expect(exercise).to_contain_text("2 of 2 points")
    expect(exercise).to_contain_text("With KIP-903 on, the same order loses nothing.")
    expect(exercise.locator(FIGURE).first).to_be_visible()
    lab.photograph("order", "11-exercise")


def test_nothing_serious_is_in_the_way_of_anybody(lab: LabPage) -> None:
    assert lab.faults() == []


def test_the_saved_notebook_holds_pictures_and_no_plotting_library(
    lab: LabPage, student: Student
) -> None:
    before = (student.folder / LAB).stat().st_mtime_ns
    lab.save()
    assert (student.folder / LAB).stat().st_mtime_ns > before
    assert (student.folder / LAB).stat().st_size < 1_000_000


def test_nothing_left_this_machine_and_nothing_complained(lab: LabPage) -> None:
    assert lab.outside == []
    assert lab.complaints == []


def figure(lab: LabPage) -> Locator:
    """The lab's picture."""
    return lab.cell("lab").locator(".js-plotly-plot").first


def verdict(lab: LabPage) -> Locator:
    """The line that says how it stands."""
    return lab.cell("lab").locator(".kiplab-verdict")


def button(lab: LabPage, broker: int, label: str) -> Locator:
    """A button of a broker's row."""
    row = lab.cell("lab").locator(f".kiplab-broker-{broker}")
    return row.get_by_role("button", name=label, exact=True)
