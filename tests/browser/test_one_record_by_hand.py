"""One record lost on purpose in a real JupyterLab, and found: by buttons, in a low window.

The tests share the page and go in the order in which a student does.
"""

import pytest
from playwright.sync_api import expect

from tests.browser.controls import Hands
from tests.browser.lab_page import LabPage

pytestmark = [
    pytest.mark.browser,
    pytest.mark.long(
        quick="tests/browser/test_controls.py::test_the_buttons_and_the_slider_go_to_a_step"
    ),
]

CODE = "import kiplab\nlab = kiplab.Lab('unclean-election-short')\nlab"


@pytest.fixture(scope="module")
def hands(lab: LabPage) -> Hands:
    lab.page.set_viewport_size({"width": 1366, "height": 768})
    lab.rewrite("lab", CODE)
    lab.run("lab")
    made = Hands(lab)
    expect(made.lab.locator(".main-svg").first).to_be_visible()
    return made


def test_it_is_acknowledged_and_read_and_one_broker_has_it(hands: Hands) -> None:
    hands.press("More", broker=1)
    hands.act("Check lag", "check-lag 1", broker=1)
    hands.press("Watch the clients")
    hands.fill("records", "1")
    hands.act("Send", "produce orders-0 count=1 producer=producer")
    told = hands.lab.get_by_label("producer", exact=True)
    expect(told).to_contain_text("offset 11 in leader epoch 5, acks=all")
    hands.act("Poll", "poll orders-0")
    read = hands.lab.get_by_label("consumer", exact=True).last
    expect(read).to_contain_text("offsets 0–11 in leader epoch 5")


def test_an_unclean_election_loses_it_and_the_panel_finds_it(hands: Hands) -> None:
    hands.act("Crash", "crash 1", broker=1)
    hands.act("Expire", "expire 1", broker=1)
    hands.act("Elect unclean", "elect orders-0 unclean=yes")
    expect(hands.verdict).to_contain_text("1 committed record lost")
    found = "offset 11 in leader epoch 5, still in the log of broker 1, which is down"
    gone = hands.lab.locator(".kiplab-lost")
    expect(gone).to_have_count(2)
    for place in (0, 1):
        expect(gone.nth(place)).to_contain_text("leader 2 lacks")
        expect(gone.nth(place)).to_contain_text(found)
    broken = hands.lab.get_by_role("button", name="■ acknowledged records stay: broken at step 6")
    expect(broken).to_be_visible()
    assert hands.page.faults() == []
    hands.page.darken()
    assert hands.page.faults() == []
    hands.page.photograph("lab", "one-record-dark")
    hands.page.lighten()


def test_the_run_is_the_answer(hands: Hands) -> None:
    asked = "print(kiplab.check('recovery/lose-one', (lab, 11)).points)"
    assert hands.page.python(asked) == "3"
