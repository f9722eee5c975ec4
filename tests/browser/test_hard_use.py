"""A hand that is faster than the kernel, a page that is not the first or not the only one, and a
kernel that dies in the middle.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.browser.conftest import ARTEFACTS, WINDOW, Student
from tests.browser.lab_page import LabPage
from tests.browser.slow_machine import kernels

pytestmark = [
    pytest.mark.browser,
    pytest.mark.long(
        quick="tests/browser/test_controls.py::test_the_buttons_and_the_slider_go_to_a_step"
    ),
]

CHOICE = "It accepts, and that is fine: broker 2 will copy what it lacks."
HISTORY = "print(lab.playback.at, lab.playback.last, list(lab.branches))"
STEPS = ("Step", "Back")
FIGURE = ".js-plotly-plot .main-svg"
STILL = ".kiplab-still"
NEW = "Yes: the request does not name the broker's epoch."
"""The answer to the exit ticket."""


@pytest.fixture(scope="module")
def opened(lab: LabPage) -> LabPage:
    """The lab with its prediction locked and one exercise tried."""
    right = 'answer_order = "ACEDFBGH"\nprint(kiplab.check("kafka-14139/order", answer_order))'
    lab.rewrite("order-check", right)
    lab.run("setup", "lock", "lab", "order-check")
    lab.cell("lock").get_by_label(CHOICE).check()
    lab.press("lock", "Lock in my prediction")
    expect(lab.cell("lab").locator(FIGURE).first).to_be_visible()
    expect(lab.cell("order-check")).to_contain_text("Kept as attempt 1")
    return lab


@contextmanager
def another_page(student: Student, browser: Browser) -> Iterator[LabPage]:
    """The same lab once more; closed also when a test fails, so that the next finds one page."""
    page = LabPage(browser.new_page(viewport=WINDOW), ARTEFACTS)
    try:
        page.open(student.address)
        yield page
    finally:
        page.page.close()


def verdict(lab: LabPage) -> Locator:
    return lab.cell("lab").locator(".kiplab-verdict")


def middle(control: Locator) -> tuple[float, float]:
    """Where a hand goes to press it."""
    box = control.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_thirty_quick_clicks_end_where_the_last_one_said(opened: LabPage) -> None:
    """Between the ends, where neither button is dimmed; step 1 is not passed on the way."""
    hand = opened.page.mouse
    opened.cell("lab").get_by_label("step", exact=True).fill("5")
    expect(verdict(opened)).to_contain_text("Step 5 of 11")
    buttons = {n: opened.cell("lab").get_by_role("button", name=n, exact=True) for n in STEPS}
    buttons["Step"].scroll_into_view_if_needed()
    places = {name: middle(button) for name, button in buttons.items()}
    for name, times in (("Step", 5), ("Back", 8), ("Step", 8), ("Back", 9)):
        for _ in range(times):
            hand.click(*places[name])
    expect(verdict(opened)).to_contain_text("Step 1 of 11")
    assert opened.python(HISTORY) == "1 11 ['the play']"
    expect(opened.cell("lab").get_by_label("step", exact=True)).to_have_value("1")


def test_a_dragged_slider_ends_where_it_was_let_go(opened: LabPage) -> None:
    slider, hand = opened.cell("lab").get_by_label("step", exact=True), opened.page.mouse
    box = slider.bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    hand.move(box["x"] + 8 + (box["width"] - 16) / 11, y)
    hand.down()
    for part in (*range(6, 12), *range(11, -1, -1), *range(0, 9)):
        hand.move(box["x"] + 8 + (box["width"] - 16) * part / 11, y, steps=3)
    hand.up()
    expect(slider).to_have_value("8")
    expect(verdict(opened)).to_contain_text("Step 8 of 11")
    assert opened.python(HISTORY) == "8 11 ['the play']"


def test_a_double_click_crashes_a_broker_once(opened: LabPage) -> None:
    opened.press("lab", "First")
    expect(verdict(opened)).to_contain_text("Step 0 of 11")
    row = opened.cell("lab").locator(".kiplab-broker-2")
    row.get_by_role("button", name="Crash", exact=True).dblclick()
    expect(row).to_contain_text("down")
    assert opened.python(HISTORY) == "1 1 ['the play', 'branch 2 at step 0: crash 2']"


def test_a_page_that_was_without_its_connection_is_in_step(opened: LabPage) -> None:
    opened.reconnect()
    opened.press("lab", "Back")
    expect(verdict(opened)).to_contain_text("Step 0 of 1")


def test_of_two_pages_each_moves_the_other(
    opened: LabPage, student: Student, browser: Browser
) -> None:
    opened.save()
    with another_page(student, browser) as other:
        expect(verdict(other)).to_contain_text("Step 0 of 1")
        other.press("lab", "Step")
        for page in (opened, other):
            expect(verdict(page)).to_contain_text("Step 1 of 1")
        opened.press("lab", "Back")
        expect(verdict(other)).to_contain_text("Step 0 of 1")
        assert other.complaints == []


def test_a_page_that_is_loaded_again_is_in_step(opened: LabPage) -> None:
    opened.run("exit-lock", "exit-why")
    opened.press("lab", "Step")
    expect(verdict(opened)).to_contain_text("Step 1 of 1")
    opened.reload()
    expect(verdict(opened)).to_contain_text("Step 1 of 1")
    opened.press("lab", "Back")
    expect(verdict(opened)).to_contain_text("Step 0 of 1")


def test_what_it_held_back_says_that_it_is_open(opened: LabPage) -> None:
    """A page that was loaded again cannot be sent other outputs."""
    held = opened.cell("exit-why").locator(".jp-OutputArea")
    expect(held).to_contain_text("This opens when you lock in your prediction")
    opened.cell("exit-lock").get_by_label(NEW).check()
    opened.press("exit-lock", "Lock in my prediction")
    expect(held).to_contain_text("This is open now: run this cell.")
    opened.run("exit-why")
    expect(held.locator("strong:visible").first).to_be_visible()


def test_a_kernel_that_is_killed_loses_no_work(opened: LabPage, student: Student) -> None:
    kept = (student.folder / "kiplab-work.json").read_bytes()
    for kernel in kernels():
        kernel.kill()
    opened.page.get_by_role("dialog").get_by_role("button").last.click()
    opened.wait_for_kernel()
    assert opened.python("print('lab' in dir())") == "False"
    expect_a_word_about_the_kernel(opened)
    opened.press("lab", "Step")
    expect(verdict(opened)).to_contain_text("Step 1 of 1")
    opened.run("lab")
    expect(opened.cell("lab")).to_contain_text("This kernel does not know 'kiplab'")
    expect(opened.cell("lab")).not_to_contain_text("Traceback")
    assert (student.folder / "kiplab-work.json").read_bytes() == kept
    expect_work(opened)


def test_a_kernel_that_is_restarted_loses_no_work(opened: LabPage) -> None:
    opened.cell("lab").get_by_label("step", exact=True).fill("1")
    opened.restart()
    expect_work(opened)


def test_a_page_that_comes_after_its_kernel_has_pictures_and_a_sentence(
    opened: LabPage, student: Student, browser: Browser
) -> None:
    """As when a notebook is opened that was saved days ago."""
    opened.save()
    opened.stop_kernel()
    with another_page(student, browser) as late:
        expect(late.cell("lock").locator(STILL)).to_contain_text("run the cells from the top")
        expect(late.cell("lock").locator(STILL)).to_contain_text(f"Locked in: “{CHOICE}”")
        expect(late.cell("lab").locator(f"{STILL} img")).to_be_visible()
        for id in ("lock", "lab"):
            expect(late.cell(id).get_by_text("Error displaying widget")).to_be_hidden()
        late.page.screenshot(path=ARTEFACTS / "lab-04-late.png")


def test_the_work_is_what_was_done(student: Student) -> None:
    work = json.loads((student.folder / "kiplab-work.json").read_text())
    assert work["predictions"] == {
        "kafka-14139/late-request": CHOICE,
        "kafka-14139/exit-ticket": NEW,
    }
    assert work["exercises"]["kafka-14139/order"]["attempts"] == 1


def expect_a_word_about_the_kernel(lab: LabPage) -> None:
    """The panels say that nobody hears them, and the picture can still be read."""
    expect(lab.cell("lab").locator(".kiplab-banner")).to_contain_text("Run the cells from the top")
    expect(lab.cell("lab").locator(FIGURE).first).to_be_visible()


def expect_work(lab: LabPage) -> None:
    """A kernel that knows nothing shows what was predicted and answered, and opens the lab."""
    lab.run("setup", "lock", "lab", "my-work")
    expect(lab.cell("lock")).to_contain_text(f"Locked in: “{CHOICE}”")
    expect(lab.cell("lock").get_by_label(CHOICE)).to_be_disabled()
    expect(verdict(lab)).to_contain_text("Step 0 of 11")
    expect(lab.cell("my-work")).to_contain_text(CHOICE)
    expect(lab.cell("my-work")).to_contain_text("1 attempt")
