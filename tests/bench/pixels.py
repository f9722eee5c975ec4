"""From a press to the screen, in a real JupyterLab; prints numbers, judges nothing.

    python tests/bench/pixels.py [--beside CHECKOUT]

With another checkout of kiplab both are driven in one browser, press by press in turn: that one
first, this one second, and how many times faster this one is. Times are taken inside the page, from
the click until the verdict names the new step, plotly has drawn and the browser has painted.
The runs are those of repaint.py. "From lock to picture" is lab 04, from "Lock in my prediction" to
the Lab's picture, in a page and a kernel that have shown no picture before.
"""

import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from os import getloadavg
from pathlib import Path
from statistics import median, quantiles
from typing import Any

HERE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(HERE))

START, LATE_REQUEST = "00-start.ipynb", "04-kafka-14139.ipynb"
FORTH_AND_BACK = 28
STEPPED = [label for label in ("Step", "Back", "Step") for _ in range(FORTH_AND_BACK)]
ACTED = ["Crash", "Undo"] * 40
RUNS = (
    (29, STEPPED, "step to pixels, about 200 events", 50),
    (200, STEPPED, "step to pixels, 200 steps", 50),
    (29, ACTED, "action to pixels, about 200 events", 100),
)
"""Steps of a run, what is pressed, and milliseconds that 95 of 100 presses may take."""
OPENINGS, READING_MS, PAUSE_MS = 5, 3_000, 200
"""`PAUSE_MS` lie between two presses: nobody reads faster."""
OPTIONS = ("--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu")
SOURCE = """import sys
sys.path.insert(0, {root!r})
from tests.figures.long_runs import long_play
import kiplab
lab = kiplab.Lab(long_play({steps}))
if {steps} < 100 and hasattr(lab, "view_controls"):
    lab.view_controls.fold.value = False
lab"""
"""Of the short run every step is one to stop at, also where it is quiet, as it was before."""
SHOWN = """() => new Promise(done => requestAnimationFrame(() => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = done;
  port2.postMessage('the task after the frame is painted');
}))"""
PRESS = """async (label) => {
  const cell = document.querySelector('[data-cell="setup"]');
  const said = () => cell.querySelector('.kiplab-verdict').textContent;
  const plot = cell.querySelector('.js-plotly-plot');
  const button = [...cell.querySelectorAll('button')].find(b => b.textContent.trim() === label);
  const before = said(), start = performance.now();
  // It is drawn anew, or one that is drawn already takes its place.
  const drawn = new Promise(done => {
    plot.once('plotly_afterplot', done);
    new MutationObserver(done).observe(plot.parentNode, {childList: true});
  });
  button.click();
  await new Promise(done => {
    const watch = new MutationObserver(() => {
      if (said() !== before) { watch.disconnect(); done(); }
    });
    watch.observe(cell, {subtree: true, childList: true, characterData: true});
  });
  await drawn;
  await (SHOWN)();
  return performance.now() - start;
}""".replace("SHOWN", SHOWN)
LOCK = """async () => {
  const find = id => document.querySelector(`[data-cell="${id}"]`);
  const button = [...find('lock').querySelectorAll('button')]
    .find(b => b.textContent.trim() === 'Lock in my prediction');
  const there = () => find('lab').querySelector('.js-plotly-plot .main-svg');
  const start = performance.now();
  button.click();
  await new Promise(done => {
    const watch = new MutationObserver(() => {
      if (there()) { watch.disconnect(); done(); }
    });
    watch.observe(document.body, {subtree: true, childList: true});
  });
  await (SHOWN)();
  return performance.now() - start;
}""".replace("SHOWN", SHOWN)


def main() -> None:
    from playwright.sync_api import sync_playwright

    from kiplab.pages.browser_picture import find_chromium

    parser = ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--beside", type=Path, help="another checkout of kiplab")
    beside = parser.parse_args().beside
    roots = [*([beside.resolve()] if beside else []), HERE]
    print(f"milliseconds: median, 95th of 100; load {getloadavg()[0]:.1f}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=list(OPTIONS))
        for steps, labels, words, target in RUNS:
            _say(words, _presses(browser, roots, steps, labels), target)
        _say("from lock to picture", _openings(browser, roots), 1_500)
        browser.close()


def _say(what: str, took: list[list[float]], target: int) -> None:
    """A line with the other checkout's numbers, if there are any, and this one's."""
    found = [f"{median(times):>8.0f}{quantiles(times, n=20)[-1]:>8.0f}" for times in took]
    times = median(took[0]) / median(took[-1])
    compared = f"   {times:.1f} times faster" if len(took) > 1 else ""
    print(f"{what:<38}{' |'.join(found)} ms   p95 < {target}{compared}", flush=True)


def _in_turn(
    browser: Any, roots: list[Path], lab: str, work: Callable[[list[Any], list[str]], Any]
) -> Any:
    """Call `work` with a page of each checkout's lab, and the addresses."""
    from tests.browser.lab_page import LabPage
    from tests.browser.server import lab_server

    with ExitStack() as all:
        homes = [Path(all.enter_context(tempfile.TemporaryDirectory())) for _ in roots]
        at = [
            all.enter_context(lab_server(home, root)).address_of(lab)
            for home, root in zip(homes, roots, strict=True)
        ]
        window = {"width": 1280, "height": 1500}
        pages = [LabPage(browser.new_page(viewport=window), Path()) for _ in roots]
        found = work(pages, at)
        for page in pages:
            page.page.close()
    return found


def _presses(
    browser: Any, roots: list[Path], steps: int, labels: Sequence[str]
) -> list[list[float]]:
    def work(pages: list[Any], addresses: list[str]) -> list[list[float]]:
        for page, root, address in zip(pages, roots, addresses, strict=True):
            page.open(address)
            page.rewrite("setup", SOURCE.format(root=str(root), steps=steps))
            page.run("setup")
            page.cell("setup").locator(".js-plotly-plot .main-svg").first.wait_for()
        took: list[list[float]] = [[] for _ in pages]
        for label in labels:
            for page, times in zip(pages, took, strict=True):
                page.page.bring_to_front()
                page.page.wait_for_timeout(PAUSE_MS)
                times.append(float(page.page.evaluate(PRESS, label)))
        return took

    return list(_in_turn(browser, roots, START, work))


def _openings(browser: Any, roots: list[Path]) -> list[list[float]]:
    def work(pages: list[Any], addresses: list[str]) -> list[list[float]]:
        return [[_opening(page, at)] for page, at in zip(pages, addresses, strict=True)]

    rounds = [_in_turn(browser, roots, LATE_REQUEST, work) for _ in range(OPENINGS)]
    return [[once[0] for once in one] for one in zip(*rounds, strict=True)]


def _opening(page: Any, address: str) -> float:
    page.page.bring_to_front()
    page.open(address)
    page.run("setup", "lock", "lab")
    page.cell("lock").get_by_role("radio").last.check()
    page.page.wait_for_timeout(READING_MS)  # as somebody who reads the choices
    return float(page.page.evaluate(LOCK))


if __name__ == "__main__":
    main()
