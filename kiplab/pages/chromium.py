"""Finding a Chromium: pictures as files need one, and so do the browser tests."""

import os
import shutil
from pathlib import Path

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
MACOS_CHROMIUM = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)


def find_chromium() -> str | None:
    """Path of a Chromium or Chrome: $BROWSER_PATH, PATH, macOS' applications, Playwright's own."""
    candidates = [
        os.environ.get("BROWSER_PATH"),
        *(shutil.which(name) for name in CHROMIUM_NAMES),
        *MACOS_CHROMIUM,
    ]
    for candidate in candidates:
        if candidate and Path(candidate).is_file():
            return candidate
    return _playwright_chromium()


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
