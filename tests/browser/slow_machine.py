"""A bad day for a notebook: a server or kernels that stand still."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    from tests.browser.lab_page import LabPage

RAN = """number => window.jupyterapp.shell.currentWidget.content.widgets
  .filter(cell => cell.model.type === 'code' && cell.model.executionCount).length >= number"""


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
