"""Slides, cards and the gallery as a browser shows them: opened as files, with nothing cut off."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kiplab.classroom.on_stage import picture_pages
from kiplab.classroom.on_stage.marked_cells import lab_cells
from kiplab.classroom.on_stage.slides_and_cards import write_card_sheet, write_decks
from tests.labs.running import LABS, NAMES

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.long(quick="tests/classroom/test_on_stage.py")]
ALL = [lab_cells(LABS / f"{name}.ipynb") for name in NAMES]
CUT = "all => all.filter((e) => e.scrollHeight > e.clientHeight + 1).map((e) => e.innerText)"
HEIGHTS = """Array.from({ length: Reveal.getTotalSlides() }, (_, n) => {
  Reveal.slide(n);
  return Reveal.getCurrentSlide().scrollHeight;
})"""


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    opened = browser.new_page()
    yield opened
    opened.close()


def test_no_slide_is_cut_and_none_is_loaded_from_elsewhere(page: Page, tmp_path: Path) -> None:
    decks = [path for path in write_decks(tmp_path, ALL, []) if path.suffix == ".html"]
    assert [path.stem for path in decks] == [name[:2] for name in NAMES]
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.set_viewport_size({"width": 1280, "height": 720})
    for path in decks:
        page.goto(path.as_uri())
        page.wait_for_function("document.querySelector('.slides section section').style.fontSize")
        page.wait_for_function("Reveal.isReady()")
        heights = page.evaluate(HEIGHTS)
        assert 8 <= len(heights) <= 15
        assert 50 < min(heights) <= max(heights) <= 720, path.name
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []


@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_no_card_is_cut_and_every_exercise_has_its_pages(
    page: Page, tmp_path: Path, paper: str
) -> None:
    page.goto(write_card_sheet(tmp_path, ALL, [])[0].as_uri())
    assert page.locator(".cards li").evaluate_all(CUT) == []
    printed = page.pdf(format=paper)
    sizes = page.locator(".cards").evaluate_all(
        "all => all.map((cards) => cards.childElementCount)"
    )
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == sum(-(-n // 8) for n in sizes)


def test_a_snippet_is_copied_by_the_keyboard_and_a_picture_opens(
    page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from playwright.sync_api import expect

    monkeypatch.setattr(picture_pages, "write_engine", lambda _: 0)
    monkeypatch.setattr(picture_pages, "names", lambda: ("kafka-14139",))
    *_, index = picture_pages.write_gallery(tmp_path, [ALL[4]], [])
    page.set_viewport_size({"width": 400, "height": 900})
    page.goto(index.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") == 400
    page.get_by_role("button", name="Copy kiplab timeline kafka-14139").first.press("Enter")
    expect(page.get_by_role("status")).to_have_text("Copied.")
    page.get_by_role("button", name="Step through it here").first.press("Enter")
    page.frame_locator("iframe").get_by_role("button", name="Step").wait_for()
