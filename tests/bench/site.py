"""The labs from a folder, in Chromium with the network refused; prints numbers, judges nothing.

    python tests/bench/site.py [FOLDER]

FOLDER is one that `kiplab site` made; without it, one is made. Seconds run from opening lab 00
until its first Lab is drawn: with nothing in the browser's cache, and opened again. The bytes are
those of a server that compresses. Presses are timed in lab 04, as in pixels.py.
"""

import gzip
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from os import getloadavg
from pathlib import Path
from statistics import median, quantiles
from threading import Thread
from typing import Any

HERE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(HERE))

from tests.bench.pixels import ACTED, OPTIONS, PAUSE_MS, PRESS  # noqa: E402

# No proxy listens there, so what leaves this machine fails.
REFUSED = ("--proxy-server=http://127.0.0.1:9", "--proxy-bypass-list=127.0.0.1")
COMPRESSED = (".js", ".mjs", ".json", ".wasm", ".html", ".css", ".svg", ".ipynb", ".md")
READY = """() => {
  const context = window.jupyterapp?.shell.currentWidget?.context?.sessionContext;
  const kernel = context?.session?.kernel;
  const connected = kernel?.connectionStatus === 'connected';
  return !!(context?.isReady && connected && kernel.status === 'idle');
}"""
NAME = """cells => window.jupyterapp.shell.currentWidget.content.widgets.forEach(cell => {
  cell.node.dataset.cell = cells[cell.model.id] ?? cell.model.id;
})"""
RUN = """async id => {
  const notebook = window.jupyterapp.shell.currentWidget.content;
  notebook.activeCellIndex = notebook.widgets.findIndex(cell => cell.model.id === id);
  await window.jupyterapp.commands.execute('notebook:run-cell');
}"""
DRAWN = '[data-cell="{}"] .js-plotly-plot .main-svg'


class Compressing(SimpleHTTPRequestHandler):
    """Serves a folder as a host on the web does, and counts what it sends."""

    sent: Sequence[int] = ()
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        if not path.is_file():
            self.send_error(404)
            return
        small = path.suffix in COMPRESSED
        content = _compressed(path) if small else path.read_bytes()
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "max-age=600")
        if small:
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        self.wfile.write(content)
        self.server.sent.append(len(content))  # type: ignore[attr-defined]

    def log_message(self, *_: Any) -> None:
        """Nothing: the numbers are printed."""


Compressing.extensions_map |= {".mjs": "text/javascript", ".wasm": "application/wasm"}


@cache
def _compressed(path: Path) -> bytes:
    return gzip.compress(path.read_bytes(), 6)


def main() -> None:
    from playwright.sync_api import sync_playwright

    from kiplab.pages.browser_picture import find_chromium

    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        folder = Path(sys.argv[1]) if len(sys.argv) > 1 else _made(Path(scratch, "site"))
        handler = partial(Compressing, directory=str(folder))
        with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            server.sent = []  # type: ignore[attr-defined]
            Thread(target=server.serve_forever, daemon=True).start()
            browser = playwright.chromium.launch(
                executable_path=find_chromium(), args=[*OPTIONS, *REFUSED]
            )
            page = browser.new_page(viewport={"width": 1280, "height": 1500})
            page.set_default_timeout(300_000)
            address = f"http://127.0.0.1:{server.server_port}/lab/index.html?path="
            for when, target in (("cold", 20), ("warm", 8)):
                opening(page, f"{address}00-start.ipynb", when, target, server)
            presses(page, f"{address}04-kafka-14139.ipynb")
            browser.close()
            server.shutdown()


def _made(folder: Path) -> Path:
    from kiplab.cli.jupyter_settings import LAB_SETTINGS
    from kiplab.site.lite_folder import build_site

    build_site(folder, HERE / "labs", LAB_SETTINGS, lambda _: None)
    return folder


def opening(page: Any, address: str, when: str, target: int, server: Any) -> None:
    """Lab 00 until its first Lab; its question is answered the first time."""
    server.sent.clear()
    started = time.perf_counter()
    _open(page, address)
    kernel = time.perf_counter() - started
    for cell in ("setup", "lock", "lab"):
        page.evaluate(RUN, cell)
    if when == "cold":
        question = page.locator('[data-cell="lock"]')
        question.locator("input[type=radio]").first.check()
        question.get_by_role("button", name="Lock in my prediction").click()
    page.locator(DRAWN.format("lab")).first.wait_for()
    seconds = time.perf_counter() - started
    print(
        f"lab 00 to its first Lab, {when:<8}{seconds:>8.1f} s    target < {target} s"
        f"   (kernel after {kernel:.1f} s; load {getloadavg()[0]:.1f})"
    )
    print(
        f"transferred, {when:<20}{sum(server.sent) / 1e6:>8.1f} MB   target < 20 MB"
        f"   ({len(server.sent)} requests)",
        flush=True,
    )
    page.goto("about:blank")


def _open(page: Any, address: str, **names: str) -> None:
    page.goto(address)
    page.wait_for_function(READY)
    page.evaluate(NAME, names)


def presses(page: Any, address: str) -> None:
    """Steps and actions of lab 04's Lab, from the click to the painted picture."""
    # `PRESS` looks for the Lab in a cell of this name.
    _open(page, address, lab="setup", setup="imports")
    for cell in ("setup", "lock", "lab"):
        page.evaluate(RUN, cell)
    question = page.locator('[data-cell="lock"]')
    question.locator("input[type=radio]").first.check()
    question.get_by_role("button", name="Lock in my prediction").click()
    page.locator(DRAWN.format("setup")).first.wait_for()
    _say("step", _pressed(page, [*["Step"] * 6, *["Back"] * 6] * 4), 50)
    _say("action", _pressed(page, ACTED), 150)


def _pressed(page: Any, labels: Sequence[str]) -> list[float]:
    took = []
    for label in labels:
        page.wait_for_timeout(PAUSE_MS)
        took.append(page.evaluate(PRESS, label))
    return took


def _say(what: str, took: list[float], target: int) -> None:
    print(
        f"{what} to pixels, lab 04{median(took):>8.0f} {quantiles(took, n=20)[-1]:>8.0f} ms"
        f"   target p95 < {target} ms   ({len(took)} presses; load {getloadavg()[0]:.1f})",
        flush=True,
    )


if __name__ == "__main__":
    main()
