"""Windows in which a Lab has to fit, and what does not: read off the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Locator, ViewportSize

LAPTOPS: tuple[ViewportSize, ...] = (
    {"width": 1366, "height": 768},
    {"width": 1280, "height": 720},
    {"width": 1920, "height": 1080},
)
"""Here all of the head and all of the picture are in sight at once."""
ZOOMED: ViewportSize = {"width": 853, "height": 512}
"""1280x768 at 150 %."""
NARROW: ViewportSize = {"width": 760, "height": 900}
IN_SIGHT = 0.99
"""As much of a part has to be seen; pages are scrolled by whole pixels."""
COLUMN_BELOW = 700
"""Pixels of a panel below which its columns lie under each other, as its style sheet says."""
CUT_OFF = """surface => {
  const edge = surface.getBoundingClientRect().right + 1;
  const scrolls = element => {
    for (let box = element.parentElement; box && box !== surface; box = box.parentElement) {
      if (/auto|scroll/.test(getComputedStyle(box).overflowX)) return true;
    }
    return false;
  };
  const clips = element => getComputedStyle(element).overflowX === 'hidden'
    && element.scrollWidth > element.clientWidth + 1;
  return [...surface.querySelectorAll('*')]
    .filter(element => element.checkVisibility() && !element.closest('svg, select'))
    .filter(element => clips(element)
      || (element.getBoundingClientRect().right > edge && !scrolls(element)))
    .map(element => `${element.tagName} ${element.className}: ${element.innerText}`.slice(0, 90));
}"""
SPILLS = """element => {
  const scroller = element.closest('.jp-WindowedPanel-outer, .jp-Notebook');
  return scroller.scrollWidth > scroller.clientWidth + 1;
}"""
TO_THE_TOP = "surface => surface.scrollIntoView({ block: 'start' })"
DIRECTION = "box => getComputedStyle(box).flexDirection"


def cut_off(surface: Locator) -> list[str]:
    """The parts of a panel that reach over its edge, or whose words do not fit into them."""
    found: list[str] = surface.evaluate(CUT_OFF)
    return found


def spills(surface: Locator) -> bool:
    """Whether the notebook has to be scrolled to the side."""
    return bool(surface.evaluate(SPILLS))
