"""A student's folder with JupyterLab running in it, a browser, and the lab open."""

from __future__ import annotations

import shutil
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from kiplab.pages.browser_picture import find_chromium
from tests.browser.lab_page import LabPage
from tests.browser.lesson import Lesson
from tests.browser.page_record import PageRecord
from tests.browser.server import LabServer, lab_server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ViewportSize

ARTEFACTS = Path(__file__).resolve().parents[1] / "artefacts"
LAB = "04-kafka-14139.ipynb"
WINDOW: ViewportSize = {"width": 1280, "height": 1500}
"""A projector's width; high enough for a cell to be photographed whole."""
EXPECT_MS = 30_000
"""At most, for what a page is expected to show: machines with other work to do are slow."""
_ARGUMENTS = (
    *("--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"),
    # Nothing outside this machine has an address.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)


class Student(NamedTuple):
    """A folder of copies, and the address of the lab in it."""

    folder: Path
    address: str


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """What failed on a page is told with all that the page did until then."""
    report = yield
    if report.failed:
        report.sections += [(f"page {one.page.url}", one.report()) for one in PageRecord.all]
    return report


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabServer]:
    """`kiplab lab`: one JupyterLab for all modules of a worker."""
    with lab_server(tmp_path_factory.mktemp("server")) as started:
        yield started


@pytest.fixture(scope="module")
def student(server: LabServer, request: pytest.FixtureRequest) -> Iterator[Student]:
    """A folder of the labs for this module alone; its kernels end with it."""
    folder = server.labs / request.module.__name__.rpartition(".")[2]
    shutil.copytree(server.labs, folder, ignore=shutil.ignore_patterns("test_*"))
    yield Student(folder, server.address_of(f"{folder.name}/{LAB}"))
    server.stop_kernels()
    server.forget_settings()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A headless Chromium. Closed with the module: other tests want an event loop of their own."""
    from playwright.sync_api import expect, sync_playwright

    chromium = find_chromium()
    if chromium is None:
        pytest.fail("no Chromium on this machine; `kiplab doctor` says how to get one")
    expect.set_options(timeout=EXPECT_MS)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium, args=list(_ARGUMENTS))
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def lab(student: Student, browser: Browser) -> Iterator[LabPage]:
    """The lab, opened and not yet run. In the end nothing has left this machine, and nothing
    complained. Screenshots go to tests/artefacts.
    """
    ARTEFACTS.mkdir(exist_ok=True)
    page = LabPage(browser.new_page(viewport=WINDOW), ARTEFACTS)
    page.open(student.address + "&reset")
    yield page
    assert (page.outside, page.complaints) == ([], [])


@pytest.fixture(scope="module")
def name(request: pytest.FixtureRequest) -> str:
    """The notebook that the module is about, by its NAME."""
    name: str = request.module.NAME
    return name


@pytest.fixture(scope="module")
def lesson(student: Student, browser: Browser, name: str) -> Iterator[Lesson]:
    """That notebook, opened and not yet run."""
    ARTEFACTS.mkdir(exist_ok=True)
    page = Lesson(browser.new_page(viewport=WINDOW), ARTEFACTS, name)
    # JupyterLab would open the labs of before again, too.
    page.open(student.address.replace(LAB, f"{name}.ipynb") + "&reset")
    yield page
    page.stop_kernel()
    page.page.close()
