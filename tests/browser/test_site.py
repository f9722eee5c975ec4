"""The labs from a static folder, without a server: the same walks, with nothing to ask outside it.

`KIPLAB_SITE` names a folder that is built already.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from playwright.sync_api import expect

from tests.browser import lab_page
from tests.browser import test_lessons as lessons
from tests.browser.conftest import LAB
from tests.browser.page_record import PageRecord

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PREFIX = "/some/where"
POLICY = "default-src 'self' data: blob: 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval'"
PATIENCE_MS = 240_000
"""A kernel begins with a megabyte of modules, and steps at a fifth of a machine's pace."""
WALKED = ("00", "01", "04", "06", "07", "09")
"""The labs that are walked through as on a server; the others are run."""
name = lessons.name
globals().update({name: test for name, test in vars(lessons).items() if name.startswith("test_")})
READ = """name => window.jupyterapp.serviceManager.contents.get(name, {content: true})"""

pytestmark = [pytest.mark.browser, pytest.mark.long(quick="tests/browser/test_lessons.py")]


class StaticFolder(SimpleHTTPRequestHandler):
    """A folder below PREFIX, whose pages may ask for nothing elsewhere."""

    def guess_type(self, path: str | os.PathLike[str]) -> str:
        kinds = {".mjs": "text/javascript", ".wasm": "application/wasm"}
        return kinds.get(os.path.splitext(path)[1]) or super().guess_type(path)

    def translate_path(self, path: str) -> str:
        return super().translate_path(path.removeprefix(PREFIX))

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", POLICY)
        super().end_headers()

    def log_message(self, *_: Any) -> None:
        """Nothing: the page's own record tells more."""


class PageFile(NamedTuple):
    """A file of the page that was opened last, in its browser's storage."""

    name: str

    def read_text(self, encoding: str = "utf-8") -> str:
        model = PageRecord.all[-1].page.evaluate(READ, self.name)
        content = model["content"]
        if model["format"] == "base64":
            return base64.b64decode(content).decode(encoding)
        return content if isinstance(content, str) else json.dumps(content)

    def stat(self) -> Any:
        return os.stat_result((0, 0, 0, 0, 0, 0, len(self.read_text().encode()), 0, 0, 0))


class PageFolder:
    def __truediv__(self, name: str) -> PageFile:
        return PageFile(name)


class Visitor(NamedTuple):
    """As a Student of conftest: who has a folder in a page."""

    folder: PageFolder
    address: str


@pytest.fixture(scope="module")
def student() -> Iterator[Visitor]:
    """A visitor of the site, at any place of a web server."""
    handler = partial(StaticFolder, directory=os.environ["KIPLAB_SITE"])
    with (
        ThreadingHTTPServer(("127.0.0.1", 0), handler) as server,
        pytest.MonkeyPatch.context() as m,
    ):
        m.setattr(lab_page, "TIMEOUT_MS", PATIENCE_MS)
        Thread(target=server.serve_forever, daemon=True).start()
        place = f"http://127.0.0.1:{server.server_port}{PREFIX}"
        # Behind a "#" nobody reads the word that makes a server forget what was open.
        yield Visitor(PageFolder(), f"{place}/lab/index.html?path={LAB}#")
        server.shutdown()


@pytest.fixture(scope="module")
def browser(browser: Browser) -> Browser:
    """With more patience."""
    expect.set_options(timeout=PATIENCE_MS)
    return browser


@pytest.fixture(
    scope="module",
    params=[pytest.param(walk, id=walk.name) for walk in lessons.WALKS if walk.name[:2] in WALKED],
)
def walk(request: pytest.FixtureRequest) -> lessons.Walk:
    found: lessons.Walk = request.param
    return found
