"""A lab in a browser, as a student handles it; and a record of what the page asked for and said."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.browser.page_record import PageRecord

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

READY = """() => {
  const context = window.jupyterapp?.shell.currentWidget?.context?.sessionContext;
  return !!(context && context.isReady && context.session?.kernel?.connectionStatus === 'connected'
    && context.session.kernel.status === 'idle');
}"""
"""The kernel is connected. (The word "idle" on the page is there before that, and misleads.)"""
WIDGETS_ARE_RESTORED = """async () => {
  const rendermime = window.jupyterapp.shell.currentWidget.content.rendermime;
  const place = rendermime.createRenderer('application/vnd.jupyter.widget-view+json');
  const manager = await place._manager.promise;
  return manager.restoredStatus;
}"""
"""The page has asked the kernel for its widgets, and has the answer."""
PANELS = """async () => {
  const notebook = window.jupyterapp.shell.currentWidget.content;
  const kind = 'application/vnd.jupyter.widget-view+json';
  const manager = await notebook.rendermime.createRenderer(kind)._manager.promise;
  const known = ({ outputs }) => [...Array(outputs.length).keys()]
    .some(at => manager.has_model(outputs.get(at).data[kind]?.model_id));
  const end = Date.now() + 20_000;
  for (; Date.now() < end; await new Promise(go => setTimeout(go, 50))) {
    const texts = notebook.widgets.filter(cell => cell.model.type === 'code' && known(cell.model))
      .map(cell => cell.outputArea.node.textContent);
    if (manager.restoredStatus && !texts.some(text => text.includes('Loading widget')))
      return texts.some(text => text.includes('model not found')) ? 'given up' : 'there';
  }
  return 'there';
}"""
"""What became of the panels that the page has from its kernel, once they are loaded."""
GIVEN_UP = "widget model not found"
LOADS = 4
"""How often a page is loaded before its panels are there."""
NAME_CELLS = """() => window.jupyterapp.shell.currentWidget.content.widgets.forEach(
  cell => { cell.node.dataset.cell = cell.model.id; })"""
UNFOLD = "() => window.jupyterapp.commands.execute('notebook:expand-all-headings')"
REWRITE = """([id, source]) => window.jupyterapp.shell.currentWidget.content.widgets
  .find(cell => cell.model.id === id).model.sharedModel.setSource(source)"""
RUN_ALL = "() => window.jupyterapp.commands.execute('notebook:run-all-cells')"
CLEAR = "() => window.jupyterapp.commands.execute('notebook:clear-all-cell-outputs')"
RESTART = """() => window.jupyterapp.shell.currentWidget.context.sessionContext.session.kernel
  .restart()"""
RECONNECT = """() => window.jupyterapp.shell.currentWidget.context.sessionContext.session.kernel
  .reconnect()"""
SAVED = "() => window.jupyterapp.shell.currentWidget.context.model.dirty === false"
RUN = """async (ids) => {
  const notebook = window.jupyterapp.shell.currentWidget.content;
  for (const id of ids) {
    notebook.activeCellIndex = notebook.widgets.findIndex(cell => cell.model.id === id);
    await window.jupyterapp.commands.execute('notebook:run-cell');
  }
}"""
DONE = """() => window.jupyterapp.shell.currentWidget.content.widgets
  .filter(cell => cell.model.type === 'code').every(cell => cell.model.executionCount)"""
PYTHON = """async (code) => {
  const future = window.jupyterapp.shell.currentWidget.context.sessionContext.session.kernel
    .requestExecute({ code, store_history: false });
  let said = '';
  future.onIOPub = ({ header, content }) => {
    if (header.msg_type === 'stream') said += content.text;
    if (header.msg_type === 'error') said += content.traceback.join('\\n');
  };
  await future.done;
  return said;
}"""
WITH_OUTPUT = """() => window.jupyterapp.shell.currentWidget.content.widgets
  .filter(cell => cell.model.type === 'code' && cell.model.outputs.length)
  .map(cell => cell.model.id)"""
SHUT_DOWN = "() => window.jupyterapp.shell.currentWidget.context.sessionContext.shutdown()"
THEME = "theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })"
THEME_IS = "light => document.body.dataset.jpThemeLight === light"
SAVE = "() => window.jupyterapp.commands.execute('docmanager:save')"
ANSWERED = """() => !document.querySelector(
  `:is(.kiplab-surface, .kiplab-picture)[aria-busy="true"]` +
  `:not(.kiplab-unheard, .kiplab-unheard *)`)"""
"""All that was pressed is known to the kernel, and what it answered is drawn."""
TIMEOUT_MS = 60_000
PATIENCE_MS = 300_000
IN_TIME = """(given) => Promise.race([(%s)(given), new Promise((_, fail) =>
  setTimeout(() => fail(new Error('the page has not done it after %d ms; it waits with '
    + JSON.stringify(window.kiplabWaits))), %d))])"""
"""A script that fails when it takes too long: Playwright itself waits for ever."""
MARGIN = 260
"""Pixels around a notebook in its window: menus, tabs, the status bar."""


class LabPage:
    """`outside`: requests that left this machine; `complaints`: what the console calls errors."""

    def __init__(self, page: Page, artefacts: Path, lab: str = "04") -> None:
        self.page = page
        self.lab = lab
        self.record = PageRecord(page)
        self.outside, self.complaints = self.record.outside, self.record.complaints
        self._artefacts = artefacts
        page.set_default_timeout(TIMEOUT_MS)

    def evaluate(self, script: str, given: object = None) -> Any:
        """What a function of the page returns. Raises Playwright's Error if it does not end."""
        return self.page.evaluate(IN_TIME % (script, PATIENCE_MS, PATIENCE_MS), given)

    def open(self, address: str) -> None:
        """Load the lab and wait for its kernel."""
        self.page.goto(address)
        self._wait_for_cells()

    def reload(self) -> None:
        """Save, and load the page again: its kernel goes on."""
        self.save()
        self.page.reload()
        self._wait_for_cells()

    def reconnect(self) -> None:
        """The connection to the kernel is lost, and found again."""
        self.evaluate(RECONNECT)
        self.wait_for_kernel()

    def _wait_for_cells(self) -> None:
        """A page that stands still for two seconds while it loads gives up panels that have come
        meanwhile (`get_model` of ipywidgets looks no more after its last pause): whoever sees that
        loads it again.
        """
        for _ in range(LOADS):
            self.page.wait_for_selector(".jp-Notebook .jp-Cell")
            self.wait_for_kernel()
            if self.evaluate(PANELS) == "there":
                break
            self.page.reload()
            self.complaints[:] = [said for said in self.complaints if GIVEN_UP not in said]
        self.evaluate(NAME_CELLS)
        self.evaluate(UNFOLD)

    def wait_for_kernel(self) -> None:
        """Until the kernel is connected and the page knows its widgets."""
        self.page.wait_for_function(READY)
        self.page.wait_for_function(WIDGETS_ARE_RESTORED)

    def rewrite(self, id: str, source: str) -> None:
        """Other code in a cell."""
        self.evaluate(REWRITE, [id, source])

    def run_all(self) -> None:
        """Run > Run All Cells, to the end."""
        self.evaluate(RUN_ALL)

    def run(self, *ids: str) -> None:
        """Run some cells, one after the other."""
        self.evaluate(RUN, ids)

    def wait_until_done(self) -> None:
        """Every cell with code has run."""
        self.page.wait_for_function(DONE)

    def python(self, code: str) -> str:
        """What some code prints in the lab's kernel, after all that was pressed until now."""
        self.page.wait_for_function(ANSWERED)
        return str(self.evaluate(PYTHON, code)).strip()

    def restart(self) -> None:
        """A new kernel, which knows nothing, and no outputs of the old one."""
        self.evaluate(RESTART)
        self.python("pass")
        self.wait_for_kernel()
        self.evaluate(CLEAR)

    def with_output(self) -> list[str]:
        """The cells that show something."""
        found: list[str] = self.evaluate(WITH_OUTPUT)
        return found

    def stop_kernel(self) -> None:
        """No kernel any more: the next lab has the machine for itself."""
        self.evaluate(SHUT_DOWN)

    def save(self) -> None:
        """Write the notebook."""
        self.evaluate(SAVE)
        self.page.wait_for_function(SAVED)

    def slow_down(self, times: int) -> None:
        """The page's processor, as on a machine that is so many times slower; 1 is its own pace."""
        with_tools = self.page.context.new_cdp_session(self.page)
        with_tools.send("Emulation.setCPUThrottlingRate", {"rate": times})

    def darken(self) -> None:
        """JupyterLab's dark theme."""
        self._put_on("JupyterLab Dark", "false")

    def lighten(self) -> None:
        """JupyterLab's light theme."""
        self._put_on("JupyterLab Light", "true")

    def _put_on(self, theme: str, is_light: str) -> None:
        self.evaluate(THEME, theme)
        self.page.wait_for_function(THEME_IS, arg=is_light)

    def cell(self, id: str) -> Locator:
        """A cell with its output."""
        return self.page.locator(f'[data-cell="{id}"]')

    def press(self, id: str, *labels: str) -> None:
        """Press buttons of a cell, one after the other."""
        for label in labels:
            self.cell(id).get_by_role("button", name=label, exact=True).click()

    def photograph(self, id: str, name: str) -> None:
        """Keep a picture of a cell, whole: the window grows with a cell that is higher."""
        cell = self.cell(id)
        cell.scroll_into_view_if_needed()
        window, box = self.page.viewport_size, cell.bounding_box()
        assert window is not None
        assert box is not None
        needed = int(box["height"]) + MARGIN
        if needed > window["height"]:
            self.page.set_viewport_size({"width": window["width"], "height": needed})
            cell.scroll_into_view_if_needed()
        cell.screenshot(path=self._artefacts / f"lab-{self.lab}-{name}.png")
        if needed > window["height"]:
            self.page.set_viewport_size(window)

    def faults(self, where: str = ".jp-OutputArea-output") -> list[str]:
        """What axe finds serious or critical there, each with the beginnings of what has it."""
        from axe_playwright_python.sync_playwright import Axe

        found = Axe().run(self.page, context={"include": [[where]]}).response["violations"]
        return [
            f"{v['id']}: {[node['html'][:120] for node in v['nodes'][:3]]}"
            for v in found
            if v["impact"] in ("serious", "critical")
        ]
