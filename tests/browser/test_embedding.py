"""Pages and fragments from a file, in a browser: they step, remember, and ask nobody."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kiplab.figures.drawing.theme import DARK, LIGHT
from kiplab.pages.export import write
from kiplab.pages.page import fragment
from kiplab.plays.grammar import parse
from kiplab.plays.library import load
from kiplab.plays.runner import run_play
from kiplab.protocol.features import parse_features
from kiplab.rows.columns import Rows
from kiplab.rows.rows_of_stage import rows_of
from tests.browser.page_record import PageRecord

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.long(quick="tests/pages/test_player.py")]
EVIL = "<script>window.hacked=1</script><img src=x onerror=window.hacked=1> </script><!--<script>"
LAST = 11


class Watched:
    """A page, the addresses it asked for beyond files, and what it complained of."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.asked: list[str] = []
        self.complaints = PageRecord(page).complaints
        page.on("request", lambda r: self.asked.append(r.url))

    def open(self, file: Path, hash: str = "") -> Page:
        self.page.goto(f"{file.as_uri()}{hash}")
        return self.page


def rows_on(kafka: str) -> Rows:
    return rows_of(run_play(load("kafka-14139"), parse_features(kafka)))


@pytest.fixture(scope="module")
def lossy() -> Rows:
    return rows_on("3.4")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, lossy: Rows) -> Path:
    """single.html; twin.html; evil.html; embedded.html with the fragments a and b, narrow."""
    there = tmp_path_factory.mktemp("pages")
    for name, rows in (("single", lossy), ("twin", (lossy, rows_on("3.5"))), ("evil", evil())):
        write(rows, there / f"{name}.html", include_plotlyjs="directory")
    parts = "\n<p>Some words.</p>\n".join(fragment(lossy, id=id) for id in "ab")
    head = '<!doctype html><html lang="en"><meta charset="utf-8"><title>A course</title>'
    script = '<script src="plotly.min.js"></script>'
    (there / "embedded.html").write_text(f"{head}{script}<h1>A course</h1>{parts}", "utf-8")
    return there


def evil() -> Rows:
    play = f"title {EVIL}\nquestion {EVIL}\nbroker 1\ntopic t replicas=1\nproduce t-0\ncrash 1\n"
    return rows_of(run_play(parse(play)))


@pytest.fixture
def watched(browser: Browser) -> Iterator[Watched]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    yield Watched(context.new_page())
    context.close()


def masked_from(page: Page, plot: str = "kiplab-plot") -> int | None:
    """The last moment that is seen before the mask that is drawn; None if none is drawn."""
    found: Any = page.evaluate(
        """id => {
            const plot = document.getElementById(id);
            const mask = plot._fullLayout.shapes.find(shape => shape.name === "mask");
            const index = plot._fullLayout.shapes.indexOf(mask);
            const drawn = plot.querySelector(`.shapelayer [data-index="${index}"]`);
            return drawn === null ? null : mask.x0;
        }""",
        plot,
    )
    return None if found is None else math.floor(found)


def verdict_shows(page: Page, plot: str = "kiplab-plot") -> bool:
    return page.locator(f"#{plot} text", has_text="100 committed records lost").count() > 0


def expect_step(page: Page, step: int, words: str = "", within: str = "body") -> None:
    from playwright.sync_api import expect

    said = page.locator(within).locator("[aria-live]")
    expect(said).to_have_text(re.compile(rf"step {step} of {LAST}: .*{words}"), timeout=20_000)
    assert page.locator(within).get_by_label("step", exact=True).input_value() == str(step)


def expect_shown(page: Page, step: int, words: str = "") -> None:
    """It is at that step, and what comes later is masked."""
    expect_step(page, step, words)
    assert masked_from(page) == (step if step < LAST else None)


def press(page: Page, name: str, within: str = "body") -> None:
    page.locator(within).get_by_role("button", name=name, exact=True).click()


def hash_of(page: Page) -> str:
    return str(page.evaluate("location.hash"))


@pytest.mark.parametrize("name", ["single", "twin"])
def test_one_file_alone_opens_without_the_network_and_without_complaint(
    watched: Watched, tmp_path: Path, lossy: Rows, name: str
) -> None:
    rows = lossy if name == "single" else (lossy, rows_on("3.5"))
    file = write(rows, tmp_path / "alone.html")
    watched.open(file)
    expect_shown(watched.page, LAST, "broker 1 fetches")
    assert verdict_shows(watched.page)
    press(watched.page, "Back")
    expect_step(watched.page, LAST - 1)
    assert watched.asked == [file.as_uri()]
    assert watched.complaints == []


def test_buttons_move_mask_words_verdict_and_address(watched: Watched, folder: Path) -> None:
    page = watched.open(folder / "single.html")
    assert hash_of(page) == ""
    for button, step, words in (
        ("First", 0, "start"),
        ("Back", 0, "start"),
        ("Step", 1, "broker 2 catches up"),
        ("Step", 2, "broker 2 dies"),
        ("Back", 1, "broker 2 catches up"),
    ):
        press(page, button)
        expect_shown(page, step, words)
        assert hash_of(page) == f"#step={step}"
        assert not verdict_shows(page)
    press(page, "Last")
    expect_shown(page, LAST)
    assert verdict_shows(page)


def test_everything_can_be_reached_by_keyboard(watched: Watched, folder: Path) -> None:
    page = watched.open(folder / "single.html")
    names = []
    page.get_by_role("button", name="First").focus()
    for _ in range(6):
        names.append(page.evaluate("(e => e.textContent || e.type)(document.activeElement)"))
        page.keyboard.press("Tab")
    assert names == ["First", "Back", "Play", "Step", "Last", "range"]
    page.get_by_label("step", exact=True).focus()
    page.keyboard.press("Home")
    expect_step(page, 0)
    page.keyboard.press("ArrowRight")
    expect_shown(page, 1)
    page.get_by_role("button", name="Step").focus()
    page.keyboard.press("Enter")
    expect_step(page, 2)
    page.keyboard.press("Space")
    expect_step(page, 3)
    assert hash_of(page) == "#step=3"


def test_words_and_picture_light_each_other_up_and_can_be_searched(
    watched: Watched, folder: Path
) -> None:
    from playwright.sync_api import expect

    page = watched.open(folder / "single.html", "#step=4")
    field, count = page.get_by_label("Search"), page.locator(".kiplab-finder output")
    field.fill("ISR of orders-0")
    expect(count).to_have_text(re.compile(r"^0 of \d+ up to step 4$"))
    press(page, "Last")
    field.fill("isr of orders-0")
    expect(count).to_have_text(re.compile(r"^2 of \d+$"))
    field.press("Enter")
    expect_step(page, 6)
    assert hash_of(page) == "#step=6"
    field.press("Enter")
    expect_step(page, 8)
    field.press("Escape")
    expect(field).to_have_value("")
    page.mouse.move(0, 0)
    expect(page.locator(".kiplab-halo-lit")).to_have_count(0)
    page.get_by_text("broker 2 loses offsets 0-99").hover()
    expect(page.locator(".kiplab-halo-lit")).to_have_count(1)
    page.get_by_role("group", name="sentences").press("ArrowUp")
    expect(page.locator("[data-about]:focus")).to_have_count(1)
    assert watched.complaints == []


def test_a_card_leaves_the_box_of_a_refusal_free(watched: Watched, folder: Path) -> None:
    page = watched.open(folder / "twin.html", "#step=6")
    expect_shown(page, 6, "request arrives")
    for share in (0.2, 0.6, 0.95):
        page.mouse.move(0, 0)
        page.mouse.move(*page.evaluate(ON_AN_ARROW, share))
        page.locator(".hoverlayer .hovertext").first.wait_for()
        assert page.evaluate(COVERED_BOXES) == 0
    assert watched.complaints == []


ON_AN_ARROW = """(share) => {
  const plot = document.querySelector('#kiplab-plot');
  const { left, top } = plot.getBoundingClientRect();
  const arrows = plot.layout.meta.marks.filter(([about, ...mark]) => mark[4] === true);
  const [, x0, y0, x1, y1] = arrows.find(([about]) => about.startsWith('b'));
  return [left + x0 + (x1 - x0) * share, top + y0 + (y1 - y0) * share];
}"""
COVERED_BOXES = """() => {
  const plot = document.querySelector('#kiplab-plot');
  const card = plot.querySelector('.hoverlayer .hovertext').getBoundingClientRect();
  const boxes = [...plot.querySelectorAll('.shapelayer path')].filter((path) =>
    plot.layout.shapes[path.dataset.index]?.name?.startsWith('callout'));
  if (!boxes.length) throw new Error('there is no box to cover');
  return boxes.map((box) => box.getBoundingClientRect()).filter((box) => box.left < card.right
    && card.left < box.right && box.top < card.bottom && card.top < box.bottom).length;
}"""


def test_the_address_brings_a_reader_back_to_the_step(watched: Watched, folder: Path) -> None:
    page = watched.open(folder / "single.html", "#step=6")
    expect_shown(page, 6, "request arrives")
    press(page, "Step")
    page.reload()
    expect_shown(page, 7)
    page.evaluate("location.hash = 'step=2'")
    expect_step(page, 2)
    page.evaluate("location.hash = 'another-place'")
    expect_step(page, 2)


@pytest.mark.parametrize("hash", ["#step=99", "#step=-1", "#step=", "#step=<b>", "#elsewhere"])
def test_an_address_that_names_no_step_shows_everything(
    watched: Watched, folder: Path, hash: str
) -> None:
    watched.open(folder / "single.html", hash)
    expect_shown(watched.page, LAST)
    assert watched.complaints == []


def test_play_reaches_the_end_and_can_be_paused(watched: Watched, folder: Path) -> None:
    page = watched.open(folder / "twin.html", "#step=9")
    press(page, "Play")
    press(page, "Pause")
    expect_step(page, 9)
    press(page, "Play")
    expect_step(page, LAST)
    page.get_by_role("button", name="Play", exact=True).wait_for()
    assert masked_from(page) is None
    press(page, "Play")
    expect_shown(page, 0, "start")


SHOWN = """() => {
    const frame = document.querySelector(".kiplab-scroll").getBoundingClientRect();
    const picture = document.getElementById("kiplab-plot").getBoundingClientRect();
    const sizes = [...document.querySelectorAll("#kiplab-plot text")]
        .map((text) => parseFloat(getComputedStyle(text).fontSize));
    const scale = picture.width / document.getElementById("kiplab-plot").offsetWidth;
    return [frame.right - picture.right, frame.bottom - picture.bottom,
        document.documentElement.scrollWidth, Math.min(...sizes) * scale];
}"""
LETTERS_MIN = 11
"""Pixels."""


@pytest.mark.parametrize("width", [400, 600, 840, 1100, 1600])
def test_the_picture_is_readable_at_any_width(watched: Watched, folder: Path, width: int) -> None:
    """Where there is no room for the narrowest it is scrolled, and not the page."""
    watched.page.set_viewport_size({"width": width, "height": 900})
    watched.open(folder / "single.html", "#step=6")
    expect_step(watched.page, 6)
    right, bottom, wide, letters = watched.page.evaluate(SHOWN)
    assert (right > -1) == (width > 600)
    assert bottom > -1
    assert wide <= width
    assert letters >= LETTERS_MIN
    assert masked_from(watched.page) == 6


def test_the_names_stay_where_the_picture_is_scrolled(watched: Watched, folder: Path) -> None:
    page = watched.page
    page.set_viewport_size({"width": 400, "height": 900})
    watched.open(folder / "single.html", "#step=6")
    expect_step(page, 6)
    names = page.locator(".kiplab-names")
    assert names.is_hidden()
    page.locator(".kiplab-scroll").evaluate("frame => frame.scrollTo(160, 0)")
    names.get_by_text("broker 2").wait_for()
    left = names.locator("svg").evaluate("svg => svg.getBoundingClientRect().left")
    assert left == page.locator(".kiplab-scroll").evaluate("f => f.getBoundingClientRect().left")
    assert names.get_by_text("broker").count() == 2


def test_a_picture_that_is_given_less_room_is_drawn_anew(watched: Watched, folder: Path) -> None:
    page = watched.open(folder / "single.html", "#step=6")
    expect_step(page, 6)
    page.set_viewport_size({"width": 600, "height": 900})
    page.wait_for_function("document.getElementById('kiplab-plot').layout.width === 600")
    assert masked_from(page) == 6
    press(page, "Step")
    expect_shown(page, 7)


PAPER = "document.getElementById('kiplab-plot').layout.paper_bgcolor"


def test_a_page_is_dark_where_the_system_is_and_changes_with_it(
    watched: Watched, folder: Path
) -> None:
    page = watched.page
    page.emulate_media(color_scheme="dark")
    watched.open(folder / "single.html")
    expect_step(page, LAST)
    assert page.evaluate(PAPER) == DARK.paper
    shown = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert shown == "rgb({}, {}, {})".format(*bytes.fromhex(DARK.paper[1:]))
    page.emulate_media(color_scheme="light")
    page.wait_for_function(f"{PAPER} === '{LIGHT.paper}'")


def test_a_fragment_is_light_unless_told_otherwise(watched: Watched, folder: Path) -> None:
    watched.page.emulate_media(color_scheme="dark")
    watched.open(folder / "embedded.html")
    expect_step(watched.page, LAST, within="#a")
    assert watched.page.evaluate(PAPER.replace("kiplab", "a")) == LIGHT.paper


def test_the_player_is_in_sight_beside_a_picture_higher_than_the_window(
    watched: Watched, folder: Path
) -> None:
    watched.page.set_viewport_size({"width": 1280, "height": 600})
    watched.open(folder / "twin.html")
    box = watched.page.get_by_role("group", name="player").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 600


def test_a_title_with_a_script_in_it_is_harmless(watched: Watched, folder: Path) -> None:
    page = watched.open(folder / "evil.html", "#step=1")
    page.locator("[aria-live]", has_text="step 1 of 2").wait_for()
    page.locator("#kiplab-plot text", has_text="window.hacked=1").first.wait_for()
    assert page.title() == EVIL
    assert page.evaluate("window.hacked") is None
    assert page.locator("img").count() == 0
    assert watched.complaints == []


def test_two_fragments_share_plotlyjs_and_step_on_their_own(watched: Watched, folder: Path) -> None:
    page = watched.open(folder / "embedded.html", "#b.step=4")
    expect_step(page, LAST, within="#a")
    expect_step(page, 4, within="#b")
    press(page, "Back", within="#a")
    press(page, "Step", within="#b")
    expect_step(page, LAST - 1, within="#a")
    expect_step(page, 5, within="#b")
    assert (masked_from(page, "a-plot"), masked_from(page, "b-plot")) == (10, 5)
    assert hash_of(page) == "#a.step=10&b.step=5"
    page.reload()
    expect_step(page, LAST - 1, within="#a")
    expect_step(page, 5, within="#b")
    assert {Path(url.split("#")[0]).name for url in watched.asked} == {
        "embedded.html",
        "plotly.min.js",
    }
    assert watched.complaints == []


def test_a_fragment_says_so_when_plotlyjs_is_not_there(
    watched: Watched, tmp_path: Path, lossy: Rows
) -> None:
    (tmp_path / "bare.html").write_text(f"<!doctype html>{fragment(lossy)}", "utf-8")
    watched.open(tmp_path / "bare.html")
    watched.page.get_by_text("the page has to load plotly.js above this place").wait_for()
