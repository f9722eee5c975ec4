"""From a press on Step to the screen: `python tests/bench/pixels.py`, in a real JupyterLab.

Times are taken inside the page: from the click until the verdict names the new step and the browser
has painted twice. The runs are those of repaint.py, of about 200 events and of 200 steps.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from statistics import median, quantiles
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

LAB, CELL, PRESSES = "00-start.ipynb", "setup", 40
SOURCE = """import sys
sys.path.insert(0, {root!r})
from tests.figures.long_runs import long_play
import kiplab
kiplab.Lab(long_play({steps}))"""
PRESS = """async () => {
  const cell = document.querySelector('[data-cell="setup"]');
  const said = () => cell.querySelector('.kiplab-verdict').textContent;
  const button = [...cell.querySelectorAll('button')].find(b => b.textContent.trim() === 'Step');
  const before = said(), start = performance.now();
  button.click();
  await new Promise(done => {
    const watch = new MutationObserver(() => {
      if (said() !== before) { watch.disconnect(); done(); }
    });
    watch.observe(cell, {subtree: true, childList: true, characterData: true});
  });
  await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  return performance.now() - start;
}"""


def main() -> None:
    from playwright.sync_api import sync_playwright

    from kiplab.pages.chromium import find_chromium
    from tests.browser.server import lab_server

    options = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
    with (
        tempfile.TemporaryDirectory() as home,
        lab_server(Path(home), LAB) as address,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=options)
        page = browser.new_page(viewport={"width": 1280, "height": 1500})
        for steps, words in ((29, "about 200 events"), (200, "200 steps")):
            took = _presses(page, address, steps)
            late = quantiles(took, n=20)[-1]
            what = f"Step to pixels, {words}"
            print(f"{what:<42}{median(took):>8.0f} ms {late:>8.0f} ms  p95 < 200 ms", flush=True)
        browser.close()


def _presses(page: Any, address: str, steps: int) -> list[float]:
    from tests.browser.lab_page import LabPage

    lab = LabPage(page, Path("."))
    lab.open(address)
    root = str(Path(__file__).parents[2])
    lab.rewrite(CELL, SOURCE.format(root=root, steps=steps))
    lab.page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")
    lab.cell(CELL).locator(".kiplab-verdict").wait_for()
    lab.cell(CELL).locator(".js-plotly-plot .main-svg").first.wait_for()
    return [float(page.evaluate(PRESS)) for _ in range(min(PRESSES, steps - 1))]


if __name__ == "__main__":
    main()
