"""A browser, a JupyterLab, and a page that keeps a record of where it went and what it said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kiplab.doctor import find_chromium

from .server import lab_server

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ARTEFACTS = Path(__file__).resolve().parents[1] / "artefacts"
_ARGUMENTS = ("--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu")


@pytest.fixture(scope="session")
def artefacts() -> Path:
    """Where screenshots are kept; not under version control."""
    ARTEFACTS.mkdir(exist_ok=True)
    return ARTEFACTS


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A headless Chromium."""
    from playwright.sync_api import sync_playwright

    chromium = find_chromium()
    if chromium is None:
        pytest.fail("no Chromium on this machine; `kiplab doctor` says how to get one")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium, args=list(_ARGUMENTS))
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def lab_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of lab 04 in a JupyterLab of its own."""
    with lab_server(tmp_path_factory.mktemp("student"), "04-kafka-14139.ipynb") as address:
        yield address
