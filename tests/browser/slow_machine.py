"""A bad day for a notebook: other work beside it, a server that stands still; and what it shows."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypedDict

import psutil

if TYPE_CHECKING:
    from tests.browser.lab_page import LabPage

FOR_EVER = "while True: pass"
PANELS = """() => window.jupyterapp.shell.currentWidget.content.widgets
  .filter(cell => cell.model.type === 'code')
  .map(cell => {
    const surfaces = [...cell.node.querySelectorAll('.kiplab-surface')];
    const text = cell.outputArea?.node.textContent ?? '';
    return {
      cell: cell.model.id,
      ran: Boolean(cell.model.executionCount),
      sent: [...Array(cell.model.outputs.length).keys()].filter(at =>
        cell.model.outputs.get(at).data['application/vnd.jupyter.widget-view+json']).length,
      drawn: surfaces.filter(one => one.querySelector(':scope > :not(.kiplab-banner)')).length,
      banners: surfaces.map(one => one.querySelector('.kiplab-banner'))
        .filter(one => one && !one.hidden).map(one => one.textContent),
      lost: text.includes('has not come to this page') || text.includes('cannot be drawn here')
        || text.includes('Error displaying widget') || text.includes('Loading widget'),
    };
  })"""
ALL_DRAWN = f"""wanted => ({PANELS})().every(
  one => one.drawn === (wanted[one.cell] ?? 0) && !one.lost && !one.banners.length)"""
RAN = """number => window.jupyterapp.shell.currentWidget.content.widgets
  .filter(cell => cell.model.type === 'code' && cell.model.executionCount).length >= number"""


class Panels(TypedDict):
    """What a cell shows of its panels: how many it was sent and how many are drawn, and which
    sentences are over them. `lost` if it says in the place of one that it is not there.
    """

    cell: str
    ran: bool
    sent: int
    drawn: int
    banners: list[str]
    lost: bool


def panels(lab: LabPage) -> list[Panels]:
    """Of each cell with code, from top to bottom."""
    found: list[Panels] = lab.page.evaluate(PANELS)
    return found


def server() -> psutil.Process:
    """The JupyterLab that this process has started."""
    (found,) = [
        process for process in psutil.Process().children() if "--no-browser" in process.cmdline()
    ]
    return found


def stand_still(lab: LabPage, seconds: float) -> None:
    """Let the server do nothing for so long, while its kernel and the page go on."""
    stopped = server()
    stopped.send_signal(signal.SIGSTOP)
    try:
        lab.page.wait_for_timeout(seconds * 1000)
    finally:
        stopped.send_signal(signal.SIGCONT)


def kernels() -> list[psutil.Process]:
    """The kernels that this test's server has started."""
    return [p for p in psutil.Process().children(recursive=True) if is_kernel(p)]


def is_kernel(process: psutil.Process) -> bool:
    """No, when it ended meanwhile: the browser's and the server's helpers come and go."""
    try:
        return "ipykernel_launcher" in " ".join(process.cmdline())
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return False


@contextmanager
def nobody_answers() -> Iterator[None]:
    """The kernels stand still."""
    stopped = kernels()
    for kernel in stopped:
        kernel.suspend()
    try:
        yield
    finally:
        for kernel in stopped:
            kernel.resume()


def wait_until_ran(lab: LabPage, number: int) -> None:
    """Until the page knows of so many cells that they have run."""
    lab.page.wait_for_function(RAN, arg=number)


@contextmanager
def busy_beside(number: int) -> Iterator[None]:
    """So many processes that never rest."""
    others = [subprocess.Popen([sys.executable, "-c", FOR_EVER]) for _ in range(number)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()
