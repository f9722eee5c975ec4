"""The page of a metadata log in a browser: it fits, its marks are reached by keyboard."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

from kiplab.incident.incident_files import write_history
from tests.browser.conftest import ARTEFACTS
from tests.incident.other_life import history

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser
LIT = ".kiplab-halo"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_history(history(), tmp_path_factory.mktemp("incident") / "incident.html")


def opened(
    browser: Browser, file: Path, width: int, scheme: Literal["light", "dark"] = "light"
) -> Page:
    """The page, in a window of that width, with its picture drawn."""
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.goto(file.as_uri())
    page.locator("#kiplab-0-plot .main-svg").first.wait_for()
    return page


@pytest.mark.parametrize(("width", "scheme"), [(400, "light"), (400, "dark"), (1366, "dark")])
def test_it_fits_and_axe_finds_nothing_serious(
    browser: Browser, file: Path, width: int, scheme: Literal["light", "dark"]
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = opened(browser, file, width, scheme)
    ARTEFACTS.mkdir(exist_ok=True)
    page.screenshot(path=ARTEFACTS / f"incident-{width}-{scheme}.png", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    found = Axe().run(page).response["violations"]
    assert [v["id"] for v in found if v["impact"] in ("serious", "critical")] == []
    page.close()


def test_findings_and_changes_light_up_their_marks_by_keyboard(
    browser: Browser, file: Path
) -> None:
    page = opened(browser, file, 1366)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for name in ("findings about orders-1", "changes of orders-1"):
        page.get_by_role("group", name=name).focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        assert page.locator(LIT).count() > 0, name
        assert page.locator(":focus").get_attribute("data-about")
    page.get_by_role("button", name="First").press("Enter")
    assert "step 0 of 11" in page.locator("[aria-live]").inner_text()
    assert asked == []
    page.close()
