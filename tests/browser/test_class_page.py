"""A class's page in a browser: it fits, opens an answer at a click, prints light, asks nobody."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

import kiplab
from kiplab.figures.drawing.theme import DARK, LIGHT
from tests.browser.conftest import ARTEFACTS
from tests.classroom.class_of_24 import hand_in
from tests.repeated import in_long

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the class of 24, with names."""
    there = tmp_path_factory.mktemp("school")
    with pytest.MonkeyPatch.context() as patch:
        hand_in(there / "class", patch)
    found = kiplab.class_work(there / "class", names=True)
    return found.write(there / "class.html")


def opened(
    browser: Browser, file: Path, width: int, scheme: Literal["light", "dark"] = "light"
) -> Page:
    """The page, in a window of that width."""
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.goto(file.as_uri())
    return page


@pytest.mark.parametrize(
    ("width", "scheme"), [(400, "light"), (800, "dark"), *in_long([(1600, "light")], rows=True)]
)
def test_it_fits_and_axe_finds_nothing_serious(
    browser: Browser, file: Path, width: int, scheme: Literal["light", "dark"]
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = opened(browser, file, width, scheme)
    ARTEFACTS.mkdir(exist_ok=True)
    page.screenshot(path=ARTEFACTS / f"class-{width}-{scheme}.png")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    found = Axe().run(page).response["violations"]
    assert [v["id"] for v in found if v["impact"] in ("serious", "critical")] == []
    page.close()


def test_an_answer_opens_by_keyboard_and_no_other_with_it(browser: Browser, file: Path) -> None:
    page = opened(browser, file, 1280)
    answers = page.locator("details p")
    assert not any(answer.is_visible() for answer in answers.all())
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert answers.first.is_visible()
    assert sum(answer.is_visible() for answer in answers.all()) == 1
    page.close()


def test_it_is_dark_where_that_is_asked_for_and_printed_light(browser: Browser, file: Path) -> None:
    page = opened(browser, file, 1280, "dark")
    paper = "getComputedStyle(document.body).getPropertyValue('--kiplab-paper')"
    assert page.evaluate(paper) == DARK.paper
    page.emulate_media(media="print")
    assert page.evaluate(paper) == LIGHT.paper
    assert not any(summary.is_visible() for summary in page.locator("summary").all())
    assert not page.get_by_role("heading", name="Ideas behind wrong answers").first.is_visible()
    page.close()


def test_it_asks_nobody(browser: Browser, file: Path) -> None:
    asked: list[str] = []
    page = browser.new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    assert asked == [file.as_uri()]
    page.close()
