"""A lab in a browser, as a student handles it; and a record of what the page asked for and said."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

READY = """() => {
  const context = window.jupyterapp?.shell.currentWidget?.context?.sessionContext;
  return !!(context && context.isReady && context.session?.kernel?.connectionStatus === 'connected'
    && context.session.kernel.status === 'idle');
}"""
"""The kernel is connected. (The word "idle" on the page is there before that, and misleads.)"""
NAME_CELLS = """() => window.jupyterapp.shell.currentWidget.content.widgets.forEach(
  cell => { cell.node.dataset.cell = cell.model.id; })"""
REWRITE = """([id, source]) => window.jupyterapp.shell.currentWidget.content.widgets
  .find(cell => cell.model.id === id).model.sharedModel.setSource(source)"""
RUN_ALL = "() => window.jupyterapp.commands.execute('notebook:run-all-cells')"
CLEAR = "() => window.jupyterapp.commands.execute('notebook:clear-all-cell-outputs')"
RESTART = """() => window.jupyterapp.shell.currentWidget.context.sessionContext.session.kernel
  .restart()"""
SAVE = "() => window.jupyterapp.commands.execute('docmanager:save')"
TIMEOUT_MS = 60_000


class LabPage:
    """`outside`: requests that left this machine; `complaints`: what the console calls errors."""

    def __init__(self, page: Page, artefacts: Path) -> None:
        self.page = page
        self.outside: list[str] = []
        self.complaints: list[str] = []
        self._artefacts = artefacts
        page.set_default_timeout(TIMEOUT_MS)
        page.on("request", lambda request: self._note_request(request.url))
        page.on("console", lambda m: self._note(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: self._note(str(error)))

    def _note_request(self, url: str) -> None:
        if not url.startswith(("http://127.0.0.1:", "data:", "blob:")):
            self.outside.append(url)

    def _note(self, text: str) -> None:
        self.complaints.append(text)

    def open(self, address: str) -> None:
        """Load the lab and wait for its kernel."""
        self.page.goto(address)
        self.page.wait_for_selector(".jp-Notebook .jp-Cell")
        self.page.wait_for_function(READY)
        self.page.evaluate(NAME_CELLS)

    def rewrite(self, id: str, source: str) -> None:
        """Other code in a cell."""
        self.page.evaluate(REWRITE, [id, source])

    def run_all(self) -> None:
        """Run > Run All Cells, to the end."""
        self.page.evaluate(RUN_ALL)

    def restart(self) -> None:
        """A new kernel, which knows nothing, and no outputs of the old one."""
        self.page.evaluate(RESTART)
        self.page.wait_for_function(READY)
        self.page.evaluate(CLEAR)

    def save(self) -> None:
        """Write the notebook."""
        self.page.evaluate(SAVE)

    def cell(self, id: str) -> Locator:
        """A cell with its output."""
        return self.page.locator(f'[data-cell="{id}"]')

    def press(self, id: str, *labels: str) -> None:
        """Press buttons of a cell, one after the other."""
        for label in labels:
            self.cell(id).get_by_role("button", name=label, exact=True).click()

    def photograph(self, id: str, name: str) -> None:
        """Keep a picture of a cell."""
        cell = self.cell(id)
        cell.scroll_into_view_if_needed()
        cell.screenshot(path=self._artefacts / f"lab-04-{name}.png")
