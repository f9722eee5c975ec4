"""A picture drawn by a browser, in a process of its own.

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
PATIENCE_S = 120
"""A browser that dies at its start would be waited for without end."""
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


def draw_in_browser(drawing: Json, size: tuple[int, int], path: Path) -> None:
    """Write `path`, a .png or .svg of that many pixels across and down.

    Raises as `require_browser`, ExportError for a picture that the browser does not draw, and
    OSError for a path that cannot be written.
    """
    browser = require_browser()
    kind = path.suffix.lower().removeprefix(".")
    scale = 1 if kind == "svg" else SCALE
    opts = {"format": kind, "width": size[0], "height": size[1], "scale": scale}
    # Without this, kaleido's page asks a server on the internet for MathJax.
    kopts = {"path": browser, "mathjax": False}
    path.touch()  # a path that cannot be written is found before a browser is started
    outcome = _outcome_of([drawing, str(path.absolute()), opts, kopts])
    if outcome != WRITTEN:
        path.unlink(missing_ok=True)
        raise ExportError(
            f"the browser {browser} could not draw {path.name} ({outcome})",
            "write .svg or .html instead, or name another Chromium in BROWSER_PATH",
        )


def _outcome_of(picture: list[Any]) -> str:
    """The last line that the process says: `WRITTEN`, or what went wrong.

    `picture` is plotly's data and layout, the file, kaleido's options for the one and the other.
    """
    # Figures that kiplab did not make have numpy's arrays and numbers.
    payload = msgspec.json.encode(picture, enc_hook=lambda value: value.tolist())
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
            output, _ = process.communicate(payload, PATIENCE_S)
        except subprocess.TimeoutExpired:
            return f"it took longer than {PATIENCE_S} s"
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
    """Draw the picture that comes in, and say one line."""
    import kaleido

    drawing, path, opts, kopts = msgspec.json.decode(sys.stdin.buffer.read())
    outcome = WRITTEN
    try:
        kaleido.write_fig_sync(drawing, path=path, opts=opts, kopts=kopts)
    except Exception as problem:  # the browser's, the channel's, the page's: all mean "no picture"
        outcome = " ".join(str(problem).split()) or type(problem).__name__
    print(outcome, flush=True)


if __name__ == "__main__":
    main()
