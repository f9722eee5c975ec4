"""The labs from a static folder, without a server: the same walks, with nothing to ask outside it.

It is built first, as `kiplab site` does; `KIPLAB_SITE` names a folder that is built already.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from playwright.sync_api import expect

import kiplab
from kiplab.classroom import work_on_disk
from kiplab.classroom.class_file import VARIABLE
from kiplab.classroom.exercise_table import exercise
from kiplab.classroom.forms.own_words import ASKED
from kiplab.cli.command import main
from kiplab.cli.jupyter_settings import LAB_SETTINGS
from kiplab.site.lite_folder import build_site
from tests.browser import lab_page
from tests.browser import test_lessons as lessons
from tests.browser.conftest import ARTEFACTS, LAB, WINDOW
from tests.browser.lesson import Lesson
from tests.browser.page_record import PageRecord
from tests.browser.server import ROOT
from tests.labs.running import answered, cells, exercises, prediction

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PREFIX = "/some/where"
POLICY = "default-src 'self' data: blob: 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval'"
PATIENCE_MS = 240_000
"""A kernel begins with a megabyte of modules, and steps at a fifth of a machine's pace."""
WALKED = ("00", "04", "09")
"""The labs that are walked through as on a server; the others are run, and answered."""
SERVER_ONLY = (
    "test_saved_it_is_small_and_without_its_kernel_no_blank",
    "test_it_fits_every_window",
    "test_every_output_is_photographed",
)
"""No page takes the figures out of a notebook that it saves; and how a Lab lies in a window, and
looks, is the same in both.
"""
name = lessons.name
globals().update(
    {
        name: test
        for name, test in vars(lessons).items()
        if name.startswith("test_") and name not in SERVER_ONLY
    }
)
READ = """name => window.jupyterapp.serviceManager.contents.get(name, {content: true})"""
FULL = """() => {
  IDBObjectStore.prototype.put = () => { throw new DOMException('', 'QuotaExceededError'); };
}"""
"""No byte more in the browser's storage."""
LOCK_ANOTHER = """
import kiplab
question = kiplab.predict("hole/late-metadata")
question.lock(question.choices.options[0])
print(question.state.value)
"""

pytestmark = [
    pytest.mark.browser,
    pytest.mark.long(quick="tests/browser/test_lessons.py::test_run_all_stops_nowhere"),
]


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


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder."""
    built = os.environ.get("KIPLAB_SITE") or str(tmp_path_factory.mktemp("site") / "site")
    if not os.path.exists(built):
        build_site(Path(built), ROOT / "labs", LAB_SETTINGS, print)
    return built


@contextmanager
def served(folder: str) -> Iterator[str]:
    """The address of a lab in a folder, at any place of a web server."""
    handler = partial(StaticFolder, directory=folder)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        # Behind a "#" nobody reads the word that makes a server forget what was open.
        yield f"http://127.0.0.1:{server.server_port}{PREFIX}/lab/index.html?path={LAB}#"
        server.shutdown()


@pytest.fixture(scope="module")
def student(site: str) -> Iterator[Visitor]:
    """A visitor of the site."""
    with served(site) as address, pytest.MonkeyPatch.context() as m:
        m.setattr(lab_page, "TIMEOUT_MS", PATIENCE_MS)
        # No process could stand still, and its cell says what there is without Spark.
        m.setattr(lessons, "stand_still", lambda *_: None)
        m.setattr(lessons, "WITHOUT_SPARK", cells("04-kafka-14139", "code")["spark"])
        yield Visitor(PageFolder(), address)


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


def untimed(kept: dict[str, Any]) -> dict[str, Any]:
    return {field: value for field, value in kept.items() if field != "at"}


def test_its_work_is_that_of_a_server(
    lesson: Lesson, student: Visitor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same answers, given to kiplab on this machine; what was answered again is left out."""
    here = tmp_path / "kiplab-work.json"
    monkeypatch.setenv("KIPLAB_WORK", str(here))
    in_the_page = json.loads((student.folder / here.name).read_text(), object_hook=untimed)
    for id, answer in in_the_page["predictions"].items():
        work_on_disk.lock(id, answer)
    source = cells(lesson.name, "code")
    for id in exercises(lesson.name):
        exec(answered(source[id]), {"kiplab": kiplab})
    works = json.loads(here.read_text(), object_hook=untimed), in_the_page
    once = [id for id, kept in in_the_page["exercises"].items() if kept["attempts"] == 1]
    server, page = ([work["exercises"][id] for id in once] for work in works)
    assert server == page != []
    assert works[0]["predictions"] == works[1]["predictions"]


def test_its_work_outlives_the_page_and_a_full_storage_is_a_sentence(
    lesson: Lesson, student: Visitor
) -> None:
    lesson.page.goto("about:blank")
    lesson.open(student.address.replace(LAB, f"{lesson.name}.ipynb"))
    lesson.run("setup", "lock")
    expect(lesson.cell("lock")).to_contain_text(f"Locked in: “{prediction(lesson.name)[1]}”")
    lesson.page.evaluate(FULL)
    said = lesson.python(LOCK_ANOTHER)
    assert "Traceback" not in said
    assert "cannot be kept in this browser: its storage is full" in said


def test_a_line_says_what_is_loading(student: Visitor, browser: Browser) -> None:
    page = browser.new_page()
    page.goto(student.address)
    line = page.get_by_role("status").and_(page.locator("#kiplab-loading"))
    expect(line).to_contain_text(re.compile(r"\w"))
    expect(line).to_be_hidden()
    page.close()


@pytest.mark.parametrize(
    "name", [walk.name for walk in lessons.WALKS if walk.name[:2] not in WALKED]
)
def test_the_other_labs_run(name: str, student: Visitor, browser: Browser) -> None:
    """And what needs a machine says so, below its cell."""
    lesson = Lesson(browser.new_page(viewport=WINDOW), ARTEFACTS, name)
    lesson.open(student.address.replace(LAB, f"{name}.ipynb"))
    lesson.run_all()
    lesson.expect_all_run()
    lesson.lock("lock", prediction(name)[1])
    expect(lesson.cell("lab").locator(lessons.FIGURE).first).to_be_visible()
    if name == "10-fleet":
        lesson.rewrite("safer-check", answered(cells(name, "code")["safer-check"]))
        lesson.run("safer-check")
        expect(lesson.cell("safer-check")).to_contain_text("numpy, which no web page has")
    else:
        lesson.answer_exercises()
    assert (lesson.outside, lesson.complaints) == ([], [])
    lesson.page.close()


def test_a_class_answers_in_its_own_site_and_is_graded_here(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, reading = str(ROOT / "tests/classroom/class.toml"), "start/reading"
    monkeypatch.setenv(VARIABLE, "")
    assert main(["site", "--class", page, "-o", str(tmp_path / "site")]) == 0
    with served(str(tmp_path / "site")) as address:
        lesson = Lesson(browser.new_page(viewport=WINDOW), ARTEFACTS, "00-start")
        lesson.open(address.replace(LAB, "00-start.ipynb"))
        lesson.run("setup")
        form = lesson.cell("setup")
        expect(form).to_contain_text("Distributed systems · deadline")
        form.get_by_label(ASKED).fill("Ada Example")
        form.get_by_role("button", name="Keep").click()
        expect(form).to_contain_text("Your exercises have numbers of their own now")
        own = exercise(reading, work_on_disk.seed_of("blue-heron", "Ada Example")).solution
        lesson.rewrite("answers", f"print(kiplab.check({reading!r}, {own!r}))")
        lesson.run("answers", "my-work")
        expect(lesson.cell("answers")).to_contain_text("These numbers are yours")
        with lesson.page.expect_download() as found:
            lesson.cell("my-work").locator(".kiplab-live a[download]").click()
        found.value.save_as(tmp_path / "in" / "kiplab-work.zip")
        assert (lesson.outside, lesson.complaints) == ([], [])
        lesson.page.close()
    (graded,) = kiplab.grade(tmp_path / "in", of_class=page).submissions
    assert (graded.student, graded.points, graded.remarks) == ("Ada Example", 6, ())
