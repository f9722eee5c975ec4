"""A page whose run is changed in the page, by its engine: from a web server, and as a file."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kiplab.cli.command import main
from kiplab.pages.live import answer
from tests.browser.page_record import PageRecord

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.long(quick="tests/pages/test_live.py")]
SAFE, LOSS = "unavailable for a while, nothing lost", "100 committed records lost"
STARTED_MS = 120_000
"""At most, for an engine to begin on a machine with other work to do."""
ASKED = """asked => new Promise((resolve) => {
  const worker = new Worker("kiplab-engine/engine.js", { type: "module" });
  worker.onmessage = ({ data }) => { if (data.answer ?? data.why) resolve(data); };
  worker.postMessage([1, asked]);
})"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """x.html and its engine."""
    there = tmp_path_factory.mktemp("live")
    given = ["timeline", "kafka-14139", "--kafka", "3.5", "-o", str(there / "x.html"), "--live"]
    assert main(given) == 0
    return there


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    handler = partial(SimpleHTTPRequestHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def opened(browser: Browser, address: str) -> Iterator[Page]:
    """A page that reaches its own server and nothing else."""
    context = browser.new_context(viewport={"width": 1280, "height": 1400})
    own = (address, "blob:", "file:")
    context.route(lambda url: not url.startswith(own), lambda route: route.abort())
    page = context.new_page()
    page.goto(f"{address}/x.html")
    yield page
    context.close()


def says(page: Page, words: str) -> None:
    from playwright.sync_api import expect

    expect(page.locator(".kiplab-outcome")).to_have_text(words, timeout=STARTED_MS)


def test_a_rule_and_a_message_change_the_picture_and_can_be_put_back(opened: Page) -> None:
    asked: list[str] = []
    opened.on("request", lambda request: asked.append(request.url))
    complaints = PageRecord(opened).complaints
    opened.get_by_role("button", name="Try it").press("Enter")
    says(opened, f"As recorded: {SAFE} (Kafka 3.5).")
    assert len([url for url in asked if "/kiplab-engine/" in url]) == 7
    opened.keyboard.press("Space")
    says(opened, f"Now: {LOSS} (KIP-903 off · Kafka 3.5). As recorded: {SAFE}.")
    assert opened.locator(":focus").get_attribute("value") == "903.controller-epoch"
    opened.locator("#kiplab-plot").get_by_text(LOSS).wait_for()
    opened.locator("section[data-finds] h2", has_text="KIP-903 off").first.wait_for()
    opened.get_by_label(re.compile("^AlterPartition v3")).uncheck()
    says(opened, f"Now: {SAFE} (KIP-903 off · Kafka 3.5, 1 message dropped). As recorded: {SAFE}.")
    opened.get_by_text(re.compile(r"^step 12 of 12: ")).wait_for()
    opened.get_by_role("button", name="As recorded").click()
    says(opened, f"As recorded: {SAFE} (Kafka 3.5).")
    opened.get_by_text(re.compile(r"^step 11 of 11: ")).wait_for()
    assert complaints == []


def test_the_engine_of_a_page_answers_as_this_machine_does(opened: Page) -> None:
    run = json.loads(opened.locator("#kiplab-live-run").text_content() or "")
    change = {
        "switches": {"903.controller-epoch": False},
        "dropped": ["drop fetch from=2 n=1 life=1"],
    }
    asked = json.dumps(run | change)
    found: Any = opened.evaluate(ASKED, asked)
    assert found["answer"] == json.loads(answer(asked))


@pytest.mark.parametrize(
    ("missing", "why"),
    [
        (None, "the engine needs a web server, and this page was opened as a file"),
        ("engine.js", "kiplab-engine/engine.js beside it cannot be loaded"),
        ("kiplab.zip.packed", "kiplab.zip.packed is not there (HTTP 404)"),
    ],
)
def test_without_its_engine_a_page_says_so_and_steps_as_before(
    opened: Page, folder: Path, missing: str | None, why: str
) -> None:
    opened.route(f"**/{missing}", lambda route: route.fulfill(status=404))
    if missing is None:
        opened.goto((folder / "x.html").as_uri())
    opened.get_by_role("button", name="Try it").click()
    says(opened, f"The page shows the recorded run only: {why}.")
    opened.get_by_role("button", name="Back").click()
    opened.get_by_text(re.compile(r"^step 10 of 11: ")).wait_for()
    assert opened.locator(".kiplab-choices").is_hidden()
