"""Pictures drawn by a browser, in a process of its own.

Under load, and after the file is written, the browser's driver logs errors of its own end: from its
threads, and as late as the end of the process. In a separate process they stay unread; a real
failure comes back as one line.
"""

import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from ..extras import needed_by
from ..figures.drawing.svg import Json
from ..machine import LackingError

SCALE = 2
"""Pixels of a PNG per pixel of the figure."""
PATIENCE_S, A_PICTURE_S = 120, 10
"""A browser that dies at its start would be waited for without end; and for every picture."""
WRITTEN = "written"
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
MACOS_CHROMIUM = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)


class ExportError(LackingError):
    """A picture that cannot be written."""

    def __str__(self) -> str:
        return f"{self.sentence}; {self.mend}"


def require_browser() -> str:
    """The path of a Chromium. Raises MissingExtraError without a driver, else ExportError."""
    with needed_by("a picture drawn by a browser"):
        # The second has the script that draws: without it the first would ask the internet.
        import kaleido  # noqa: F401
        import plotly  # noqa: F401
    browser = find_chromium()
    if browser is None:
        raise ExportError(
            "pictures as .png need Chromium or Chrome, and there is none",
            "install it (apt-get install chromium, brew install --cask chromium),"
            " or name it in BROWSER_PATH, or write .svg or .html",
        )
    return browser


def find_chromium() -> str | None:
    """Path of a Chromium or Chrome: $BROWSER_PATH, PATH, macOS' applications, Playwright's own."""
    candidates = [
        os.environ.get("BROWSER_PATH"),
        *(shutil.which(name) for name in CHROMIUM_NAMES),
        *MACOS_CHROMIUM,
    ]
    there = (path for path in candidates if path and Path(path).is_file())
    return next(there, None) or _playwright_chromium()


def _playwright_chromium() -> str | None:
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        return None
    try:
        with sync_playwright() as playwright:
            path = playwright.chromium.executable_path
    except Error:  # inside a running event loop, as in a notebook, the synchronous API refuses
        return None
    return path if Path(path).is_file() else None


def browser_order(
    drawing: Json, size: tuple[int, int], path: Path, scale: float = SCALE
) -> dict[str, Any]:
    """Kaleido's order for a .png or .svg of that many pixels across and down, times `scale`."""
    kind = path.suffix.lower().removeprefix(".")
    opts = {"width": size[0], "height": size[1], "scale": 1 if kind == "svg" else scale}
    return {"fig": drawing, "path": str(path.absolute()), "opts": {"format": kind, **opts}}


def draw_in_browser(*orders: dict[str, Any]) -> None:
    """Write every picture that a `browser_order` asks for, all of them by one browser.

    Raises as `require_browser`, ExportError for a picture that the browser does not draw, and
    OSError for a path that cannot be written.
    """
    browser, paths = require_browser(), [Path(order["path"]) for order in orders]
    for path in paths:
        path.touch()  # a path that cannot be written is found before a browser is started
    # Without this, kaleido's page asks a server on the internet for MathJax.
    outcome = _outcome_of([orders, {"path": browser, "mathjax": False}])
    if outcome != WRITTEN:
        for path in paths:
            path.unlink(missing_ok=True)
        raise ExportError(
            f"the browser {browser} could not draw {paths[0].name} ({outcome})",
            "write .svg or .html instead, or name another Chromium in BROWSER_PATH",
        )


def _outcome_of(pictures: list[Any]) -> str:
    """The last line that the process says: `WRITTEN`, or what went wrong.

    `pictures` are kaleido's orders, and its options.
    """
    patience = PATIENCE_S + A_PICTURE_S * (len(pictures[0]) - 1)
    # Figures that kiplab did not make have numpy's arrays and numbers.
    payload = msgspec.json.encode(pictures, enc_hook=lambda value: value.tolist())
    with subprocess.Popen(
        [sys.executable, "-m", __name__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        # So that the browser that it starts can be ended with it.
        start_new_session=True,
    ) as process:
        try:
            output, _ = process.communicate(payload, patience)
        except subprocess.TimeoutExpired:
            return f"it took longer than {patience} s"
        finally:
            _end(process)
    lines = output.decode(errors="replace").splitlines()
    return lines[-1] if lines else f"its driver ended with code {process.returncode}"


def _end(process: subprocess.Popen[bytes]) -> None:
    """The process and the browser that it started, where they still run."""
    with suppress(ProcessLookupError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:  # Windows
            process.kill()


def main() -> None:
    """Draw the pictures that come in, and say one line."""
    import kaleido

    pictures, kopts = msgspec.json.decode(sys.stdin.buffer.read())
    outcome = WRITTEN
    try:
        kaleido.write_fig_from_object_sync(pictures, kopts=kopts, cancel_on_error=True)
    except Exception as problem:  # the browser's, the channel's, the page's: all mean "no picture"
        outcome = " ".join(str(problem).split()) or type(problem).__name__
    print(outcome, flush=True)


if __name__ == "__main__":
    main()
