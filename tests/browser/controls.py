"""Hands for a Lab on a page that note which controls there are, and which have been driven."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.lab_page import LabPage

if TYPE_CHECKING:
    from playwright.sync_api import Locator

PREDICTION = {"kafka-14139/late-request": "It accepts, and committed records can be lost."}
FOLDS = (
    *("Single rules", "Branches", "What every node holds", "What the picture shows"),
    *("This run so far, in sentences and as a table", "Share, save, load"),
)
REASONS = "Not possible now, and why"
PROPERTIES = "What they say, and what is promised here"
FOUND = """(cell) => {
  const output = document.querySelector(`[data-cell="${cell}"] .jp-Cell-outputArea`);
  const controls = output?.querySelectorAll('button, input, select, textarea, a[href], summary');
  return [...controls ?? []].filter(control => control.checkVisibility()).map(control => {
    const label = control.labels?.length ? control.labels[0].textContent : control.textContent;
    const broker = control.closest('[class*="kiplab-broker-"]') ? 'broker: ' : '';
    const what = control.tagName === 'SUMMARY' ? 'node' : (control.ariaLabel || label).trim();
    return broker + what;
  });
}"""
_CHANGING = (
    (r"■ (.*): broken at step.*", r"\1"),
    (r"(link to|from) (leader|broker) \d+", r"\1 \2"),
    (r"Choose a file.*", "Choose a file"),
    ("Copied", "Copy"),
)
"""Names that say how it stands, and what they are called here."""


def called(name: str) -> str:
    """A control's name without what changes from step to step."""
    for pattern, plain in _CHANGING:
        name = re.sub(pattern, plain, name)
    return name


class Hands:
    """`found` are the names of all controls that were to be seen; `driven` those that were used."""

    def __init__(self, page: LabPage, cell: str = "lab") -> None:
        self.page, self._cell = page, cell
        self.found: set[str] = set()
        self.driven: set[str] = set()

    @property
    def lab(self) -> Locator:
        """The cell with the Lab."""
        return self.page.cell(self._cell)

    @property
    def verdict(self) -> Locator:
        """The line that says which step it is, and how it stands."""
        return self.lab.locator(".kiplab-verdict")

    def broker(self, id: int) -> Locator:
        """A broker's part of the Lab."""
        return self.lab.locator(f".kiplab-broker-{id}")

    def look(self) -> None:
        """Note what controls there are now."""
        self.page.python("pass")
        self.found |= {called(name) for name in self.page.page.evaluate(FOUND, self._cell)}

    def press(self, *labels: str, broker: int | None = None, place: int = 0) -> None:
        """Press buttons; `place` counts those of the same name."""
        for label in labels:
            self._note(label, broker)
            where = self.lab if broker is None else self.broker(broker)
            where.get_by_role("button", name=label, exact=True).nth(place).click()
        self.look()

    def thing(self, name: str) -> Locator:
        """A thing in the picture: a lane, an arrow, a step of the axis."""
        return self.lab.locator(f'.kiplab-places > [data-thing="{name}"]')

    def point_at(self, name: str) -> Locator:
        """Click a thing in the picture where it is; returns the menu that opens there."""
        self.page.python("pass")
        thing = self.thing(name)
        thing.scroll_into_view_if_needed()
        box = thing.bounding_box()
        assert box is not None
        self.page.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        return self.lab.locator(".kiplab-pops")

    def choose(self, label: str, option: str) -> None:
        """Choose in a menu."""
        self._note(label, None)
        self.lab.get_by_label(label, exact=True).select_option(option)
        self.look()

    def tick(self, label: str, on: bool = True) -> None:
        """Tick a box, or not."""
        self._note(label, None)
        self.lab.get_by_label(label, exact=True).set_checked(on)
        self.look()

    def fill(self, label: str, text: str) -> None:
        """Write into a field, or move a slider."""
        self._note(label, None)
        field = self.lab.get_by_label(label, exact=True)
        field.fill(text)
        field.blur()
        self.look()

    def act(self, label: str, line: str, broker: int | None = None) -> None:
        """Press a button that writes a line of the play: it is written, and was done."""
        self.press(label, broker=broker)
        expect(self.lab).to_contain_text(f"Last line of the play here: {line}")

    def impossible(self, label: str, reason: str, broker: int | None = None) -> None:
        """A button that is there, cannot be pressed, and says why: so it begins."""
        self._note(label, broker)
        where = self.lab if broker is None else self.broker(broker)
        button = where.get_by_role("button", name=label, exact=True)
        expect(button).to_be_disabled()
        expect(button).to_have_attribute("title", re.compile(re.escape(f"Not now: {reason}")))

    def at(self, step: int) -> None:
        """Go to a step of this branch with the slider."""
        self.fill("step", str(step))
        expect(self.verdict).to_contain_text(f"Step {step} of")

    def from_the_play(self, step: int) -> None:
        """Go to a step of the play; a branch is left for it."""
        reset = self.lab.get_by_role("button", name="Reset", exact=True)
        if reset.is_enabled():
            self.press("Reset")
        self.at(step)

    def _note(self, label: str, broker: int | None) -> None:
        self.driven.add(called(label if broker is None else f"broker: {label}"))
