"""Labs 04 and 09 opened on a bad day, so many times: is every panel there, and does it answer?

    python tests/bench/never_blank.py [FILE] [--tries 20]

Each try is a page loaded again with a new kernel: its processor is throttled to a quarter, eight
other processes run beside it, all cells are run as soon as the kernel is connected, and in the
middle, at another cell each time, the Jupyter server stands still for five seconds. It has
succeeded when every panel that a calm run shows is drawn, and a prediction that is locked then
opens its Lab. FILE keeps a line for each try; a bench that was stopped goes on where it was.
"""

import json
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

LABS = ("04-kafka-14139", "09-could-it-still-go-wrong")
WITHOUT_JAVA = "found = kiplab.fleet.schedules(20, spark=False)\nfound.figure()"
TRIES, BUSY, SLOWER, STILL_SECONDS = 20, 8, 4, 5.0
PATIENCE_SECONDS = 300
OPTIONS = ("--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu")
HEADINGS = f"{'lab':<30}{'try':>4}{'stopped at':>12}{'drawn':>8}{'lock to picture':>17}"


def main() -> None:
    parser = ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    default = Path(tempfile.gettempdir()) / "kiplab-never-blank.jsonl"
    parser.add_argument("file", type=Path, nargs="?", default=default)
    parser.add_argument("--tries", type=int, default=TRIES)
    asked = parser.parse_args()
    print(f"kept in {asked.file}\n{HEADINGS}", flush=True)
    for number in range(asked.tries + 1):  # the first one is calm
        for lab in LABS:
            if not any((one["lab"], one["try"]) == (lab, number) for one in _kept(asked.file)):
                _keep(asked.file, _one(lab, number, _kept(asked.file)))
    summary(_kept(asked.file))


def summary(tries: list[dict[str, Any]]) -> None:
    """How many of how many, and all that is known of those that failed."""
    hard = [one for one in tries if one["try"]]
    for lab in LABS:
        mine = [one for one in hard if one["lab"] == lab]
        good = sum(not one["why"] for one in mine)
        print(f"{lab:<30} opened in {good} of {len(mine)} tries")
    for one in hard:
        if one["why"]:
            print(f"\n{one['lab']}, try {one['try']}: {one['why']}\n{one['report']}")


def _kept(file: Path) -> list[dict[str, Any]]:
    if not file.exists():
        return []
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def _keep(file: Path, found: dict[str, Any]) -> None:
    with file.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(found) + "\n")
    print(_line(found), flush=True)


def _line(one: dict[str, Any]) -> str:
    what = f"{one['lab']:<30}{one['try'] or 'calm':>4}{one['stopped_at'] or '':>12}"
    times = f"{one['drawn']:>6.0f} s{one['picture'] or 0:>15.1f} s"
    return f"{what}{times}  {one['why']}"


def _one(lab: str, number: int, before: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """One try, in a server, a browser and a page of its own; number 0 is a calm one."""
    from playwright.sync_api import sync_playwright

    from kiplab.pages.browser_picture import find_chromium
    from tests.browser.server import lab_server

    wanted: dict[str, int]
    wanted = next((one["panels"] for one in before if (one["lab"], one["try"]) == (lab, 0)), {})
    with (
        tempfile.TemporaryDirectory() as home,
        lab_server(Path(home)) as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=list(OPTIONS))
        page = browser.new_page(viewport={"width": 1280, "height": 1500})
        found = Attempt(page, lab, number, wanted).go(server.address_of(f"{lab}.ipynb"))
        browser.close()
    return found


class Attempt:
    """`wanted` says how many panels each cell shows; what was found is in `found`."""

    def __init__(self, page: Any, lab: str, number: int, wanted: dict[str, int]) -> None:
        from tests.browser.lab_page import LabPage

        self.lab, self.number, self.wanted = LabPage(page, Path(), lab[:2]), number, wanted
        page.set_default_timeout(PATIENCE_SECONDS * 1000)
        self.found: dict[str, Any] = {"lab": lab, "try": number, "stopped_at": None, "panels": {}}
        self.found |= {"why": "", "drawn": 0.0, "picture": None}

    def go(self, address: str) -> dict[str, Any]:
        """From the address to the picture, or to what went wrong on the way."""
        from playwright.sync_api import Error

        from tests.browser.slow_machine import busy_beside

        try:
            self._open(address)
            with busy_beside(BUSY) if self.number else nullcontext():
                self._run_all()
                self._press()
        except Error as problem:
            self.found["why"] = f"{self.found['doing']}: {str(problem).splitlines()[0]}"
        return self.found | {"report": self.lab.record.report()}

    def _open(self, address: str) -> None:
        from tests.browser.lab_page import NAME_CELLS, READY

        self.found["doing"] = "opening the notebook"
        if self.number:
            self.lab.slow_down(SLOWER)
        page = self.lab.page
        page.goto(address)
        page.wait_for_selector(".jp-Notebook .jp-Cell")
        page.wait_for_function(READY)
        page.evaluate(NAME_CELLS)
        if self.found["lab"] == LABS[0]:
            self.lab.rewrite("spark", WITHOUT_JAVA)

    def _run_all(self) -> None:
        from tests.browser.slow_machine import panels, stand_still, wait_until_ran

        self.found["doing"] = "running all cells"
        started = time.monotonic()
        self.lab.run_all()
        if self.number:
            at = self.found["stopped_at"] = self._stop_at(len(panels(self.lab)))
            wait_until_ran(self.lab, at)
            stand_still(self.lab, STILL_SECONDS)
        self.lab.wait_until_done()
        self._see(started)

    def _stop_at(self, cells: int) -> int:
        """The first tries stop where the panels are sent, the others all over the notebook."""
        return self.number % 7 if self.number <= 10 else (self.number - 10) * cells // 11

    def _see(self, started: float) -> None:
        """Wait for the panels that a calm run has shown; see what there is if they do not come."""
        from tests.browser.slow_machine import ALL_DRAWN, panels

        self.found["doing"] = "drawing the panels"
        wanted = {one["cell"]: one["sent"] for one in panels(self.lab)}
        try:
            self.lab.page.wait_for_function(ALL_DRAWN, arg=self.wanted or wanted)
        finally:
            seen = panels(self.lab)
            self.found["panels"] = {one["cell"]: one["drawn"] for one in seen if one["drawn"]}
            self.found["odd"] = [one for one in seen if one["lost"] or one["banners"]]
            self.found["drawn"] = time.monotonic() - started

    def _press(self) -> None:
        self.found["doing"] = "locking the prediction"
        question = self.lab.cell("lock")
        question.get_by_role("radio").last.check()
        started = time.monotonic()
        self.lab.press("lock", "Lock in my prediction")
        self.lab.cell("lab").locator(".js-plotly-plot .main-svg").first.wait_for()
        self.found["picture"] = time.monotonic() - started


if __name__ == "__main__":
    main()
