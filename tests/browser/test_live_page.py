"""A page whose run is changed in the page, by its engine: from a web server, and as a file."""

from __future__ import annotations

import functools
import http.server
import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kiplab.cli.command import main
from kiplab.pages.live import ENGINE, answer
from tests.browser.page_record import PageRecord

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.long(quick="tests/pages/test_live.py")]
SAFE, LOSS = "unavailable for a while, nothing lost", "100 committed records lost"
STARTED_MS = 120_000
"""At most, for an engine to begin on a machine with other work to do."""
ASKED = """([recorded, change]) => new Promise((resolve) => {
  const worker = new Worker("kiplab-engine/engine.js", { type: "module" });
  worker.onmessage = ({ data }) => { if (data.answer ?? data.problem) resolve(data); };
  worker.postMessage({ number: 1, recorded, change });
})"""


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Nobody reads it."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """x.html with its engine, and alone/x.html without it."""
    there = tmp_path_factory.mktemp("live")
    given = ["timeline", "kafka-14139", "--kafka", "3.5", "-o", str(there / "x.html"), "--live"]
    assert main(given) == 0
    (there / "alone").mkdir()
    (there / "alone/x.html").write_bytes((there / "x.html").read_bytes())
    return there


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def opened(browser: Browser, address: str) -> Iterator[Page]:
    """A page that reaches its own server and nothing else."""
    context = browser.new_context(viewport={"width": 1280, "height": 1400})
    context.route(lambda url: not url.startswith((address, "blob:")), lambda route: route.abort())
    page = context.new_page()
    page.goto(f"{address}/x.html")
    yield page
    context.close()


def begin(page: Page) -> None:
    page.get_by_role("button", name="Try it").press("Enter")
    page.get_by_role("button", name="As recorded").wait_for(timeout=STARTED_MS)


def says(page: Page, words: str) -> None:
    from playwright.sync_api import expect

    expect(page.locator(".kiplab-outcome")).to_have_text(words, timeout=STARTED_MS)


def test_a_rule_and_a_message_change_the_picture_and_can_be_put_back(opened: Page) -> None:
    asked: list[str] = []
    opened.on("request", lambda request: asked.append(request.url))
    plot, complaints = opened.locator("#kiplab-plot"), PageRecord(opened).complaints
    begin(opened)
    says(opened, f"As recorded: {SAFE} (Kafka 3.5).")
    assert len([url for url in asked if ENGINE in url]) == 7
    opened.keyboard.press("Space")
    says(opened, f"Now: {LOSS} (KIP-903 off · Kafka 3.5). As recorded: {SAFE}.")
    assert opened.locator(":focus").get_attribute("value") == "903.controller-epoch"
    plot.get_by_text(LOSS).wait_for()
    opened.locator("section[data-finds] h2", has_text="KIP-903 off").first.wait_for()
    opened.get_by_label(re.compile("^AlterPartition v3")).uncheck()
    says(opened, f"Now: {SAFE} (KIP-903 off · Kafka 3.5, 1 message dropped). As recorded: {SAFE}.")
    plot.get_by_text(SAFE).wait_for()
    opened.get_by_text(re.compile(r"^step 12 of 12")).wait_for()
    opened.get_by_role("button", name="Back").click()
    opened.get_by_text(re.compile(r"^step 11 of 12")).wait_for()
    opened.get_by_role("button", name="As recorded").click()
    says(opened, f"As recorded: {SAFE} (Kafka 3.5).")
    opened.get_by_text(re.compile(r"^step 11 of 11: ")).wait_for()
    assert complaints == []


def test_the_engine_of_a_page_answers_as_this_machine_does(opened: Page) -> None:
    recorded = opened.locator("#kiplab-recorded").text_content() or ""
    change = {
        "switches": {"903.controller-epoch": False},
        "dropped": ["drop fetch from=1 n=1 life=2"],
    }
    found: Any = opened.evaluate(ASKED, [recorded, change])
    assert found["answer"] == json.loads(answer(recorded, json.dumps(change)))


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("file", "the engine needs a web server, and this page was opened as a file"),
        ("alone", "kiplab-engine/engine.js beside it cannot be loaded"),
        ("broken", "kiplab.zip.packed is not there (HTTP 404)"),
    ],
)
def test_without_its_engine_a_page_says_so_and_steps_as_before(
    opened: Page, folder: Path, address: str, place: str, why: str
) -> None:
    if place == "broken":
        opened.route("**/kiplab.zip.packed", lambda route: route.fulfill(status=404))
    else:
        files = {"file": (folder / "x.html").as_uri(), "alone": f"{address}/alone/x.html"}
        opened.unroute_all()
        opened.context.unroute_all()
        opened.goto(files[place])
    opened.get_by_role("button", name="Try it").click()
    says(opened, f"The page shows the recorded run only: {why}.")
    opened.get_by_role("button", name="Back").click()
    opened.get_by_text(re.compile(r"^step 10 of 11: ")).wait_for()
    assert opened.locator(".kiplab-choices").is_hidden()
