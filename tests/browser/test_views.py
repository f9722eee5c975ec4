"""The picture is in step wherever one looks: on a slow page, in a second view, compared twice.

The tests share the page and go in the order in which they stand.
"""

import json

import pytest
from playwright.sync_api import Locator, expect

from kiplab.plays.library import names
from tests.browser.conftest import Student
from tests.browser.controls import PREDICTION, Hands
from tests.browser.lab_page import TIMEOUT_MS, LabPage
from tests.browser.windows import LAPTOPS

pytestmark = [
    pytest.mark.browser,
    pytest.mark.long(quick="tests/browser/test_lessons.py::test_the_story_is_stepped_through"),
]

IN_STEP = """([cell, kept]) => {
  const picture = document.querySelector(`[data-cell="${cell}"] .js-plotly-plot`);
  const shown = picture.data.map(
    trace => ({ name: trace.name, text: [...trace.text ?? []], x: [...trace.x ?? []] }));
  return JSON.stringify(shown) === JSON.stringify(kept);
}"""
"""The words of a cell's picture and where they are, as the kernel has them."""
DRAWN = """picture => [...picture.closest('.js-plotly-plot').querySelectorAll('text')]
  .map(word => word.textContent).filter(word => word).sort()"""
EDGES = """async ([cell, play]) => {
  const surface = document.querySelector(`[data-cell="${cell}"] .kiplab-surface`);
  // Asked for anew each time: a page that has missed something draws every control again.
  const one = (name) => surface.querySelector(name);
  const scale = () => one('.kiplab-slider input');
  const topOf = (name) => one(name).getBoundingClientRect().top;
  const until = async (isSo) => {
    while (!isSo()) {
      window.kiplabWaits = [one('.kiplab-guide')?.play, scale()?.max,
        one('.kiplab-verdict')?.textContent, surface.ariaBusy];
      await new Promise(requestAnimationFrame);
    }
  };
  const edges = [];
  surface.scrollIntoView();
  await until(() => one('.kiplab-guide')?.play === play);
  for (let step = 0; step <= Number(scale().max); step += 1) {
    scale().value = step;
    scale().dispatchEvent(new Event('input'));
    await until(() => surface.ariaBusy !== 'true'
      && one('.kiplab-verdict').textContent.includes(`Step ${step} of ${scale().max}`));
    edges.push(Math.round(topOf('.kiplab-stage') - topOf('.kiplab-head')));
  }
  return edges;
}"""
"""Where the picture begins below the head, at each step of a play, once it is there."""
SLOW = 4


@pytest.fixture(scope="module")
def hands(lab: LabPage, student: Student) -> Hands:
    """The Lab, opened on a page that is slow until it is there."""
    (student.folder / "kiplab-work.json").write_text(json.dumps({"predictions": PREDICTION}))
    lab.slow_down(SLOW)
    lab.run("setup", "lock", "lab")
    expect(sheet(lab, "lab")).to_be_visible(timeout=TIMEOUT_MS)
    lab.slow_down(1)
    return Hands(lab)


def sheet(page: LabPage, cell: str, which: int = 0) -> Locator:
    return page.cell(cell).locator(".js-plotly-plot").nth(which).locator(".main-svg").first


def expect_in_step(page: LabPage, cell: str) -> None:
    """What is drawn is what the kernel holds, to the last word."""
    expect(sheet(page, cell)).to_be_visible()
    kept = page.python(
        "import json; print(json.dumps([dict(name=t['name'], text=list(t.get('text') or ()),"
        " x=list(t.get('x') or ())) for t in lab.picture.drawing['data']]))"
    )
    page.page.wait_for_function(IN_STEP, arg=[cell, json.loads(kept)])


def test_on_a_slow_page_the_picture_is_there(hands: Hands) -> None:
    hands.at(6)
    expect_in_step(hands.page, "lab")


def test_a_second_view_is_in_step_and_stays_so(hands: Hands) -> None:
    hands.page.rewrite("compare", "lab")
    hands.page.run("compare")
    expect_in_step(hands.page, "compare")
    hands.press("Step")
    hands.page.python("pass")
    for cell in ("lab", "compare"):
        expect_in_step(hands.page, cell)
    assert sheet(hands.page, "lab").evaluate(DRAWN) == sheet(hands.page, "compare").evaluate(DRAWN)


def test_two_comparisons_after_one_another_are_whole(hands: Hands) -> None:
    """The second is of another length, on the sheet of the first."""
    hands.at(1)
    hands.press("Drop", "Branches")
    seen = []
    for broker in (1, 2):
        hands.choose("Branch", "the play")
        hands.press("Compare with where I am")
        compared = sheet(hands.page, "lab", 1)
        expect(compared).to_be_visible()
        seen.append(compared.evaluate(DRAWN))
        hands.act("Crash", f"crash {broker}", broker=broker)
    assert all("1" in words for words in seen)
    assert all(sum("Kafka 3.4" in word for word in words) == 2 for words in seen)


@pytest.mark.long(
    quick="tests/browser/test_lessons.py::test_one_window_has_what_a_step_changes_and_nothing_moves"
)
def test_nothing_moves_at_any_step_of_any_play(hands: Hands) -> None:
    hands.page.page.set_viewport_size(LAPTOPS[0])
    edges = set()
    for play in names():
        hands.page.python(f"lab.load({play!r})")
        edges |= {*hands.page.evaluate(EDGES, ["lab", play])}
    assert len(edges) == 1
