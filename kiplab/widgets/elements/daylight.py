"""Light or dark: the theme that somebody asked for, or else that of the page around a widget."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import anywidget
import traitlets

from ...figures.drawing.theme import LIGHT, THEMES
from .labelled import watch

AUTO = "auto"


class _Page(anywidget.AnyWidget):
    """Invisible; tells which theme the page has that shows it, then and whenever that changes."""

    _esm = Path(__file__).with_name("daylight.js")
    _css = Path(__file__).with_name("daylight.css")
    theme = traitlets.Enum(tuple(THEMES)).tag(sync=True)
    seen_last: ClassVar[str] = LIGHT.name
    """Of any page of this kernel: the next widget begins with it, and need not be painted twice."""

    @traitlets.default("theme")
    def _as_seen_last(self) -> str:
        return _Page.seen_last

    @traitlets.observe("theme")
    def _remember(self, change: dict[str, Any]) -> None:
        # By name: anywidget makes each widget a class of its own.
        _Page.seen_last = change["new"]


class Daylight:
    """`theme` is that of the pictures in `box` now: the one `asked` for, or for "auto" the page's.

    `parts` have to be shown somewhere in `box`. Raises ValueError for a theme that there is none
    of.
    """

    def __init__(self, asked: str, box: Any) -> None:
        if asked not in (AUTO, *THEMES):
            known = ", ".join((AUTO, *THEMES))
            raise ValueError(f"there is no theme {asked!r}; the themes are {known}")
        self._asked, self._box = asked, box
        self.parts: tuple[_Page, ...] = (_Page(),) if asked == AUTO else ()

    @property
    def theme(self) -> str:
        """ "light" or "dark"; light as long as no page has told."""
        return self.parts[0].theme if self.parts else self._asked

    @property
    def still(self) -> str:
        """The theme of what is kept in a file: nobody knows the page on which that is read."""
        return LIGHT.name if self.parts else self._asked

    def follow(self, paint: Callable[[str], None]) -> None:
        """Call `paint` with the page's theme whenever it changes."""
        for page in self.parts:
            self._mark(page.theme)
            watch(page, "theme", lambda theme: self._paint(theme, paint))

    def _paint(self, theme: str, paint: Callable[[str], None]) -> None:
        paint(theme)
        self._mark(theme)

    def _mark(self, theme: str) -> None:
        """The style sheet hides a picture for the moment in which it is not the page's."""
        for name in THEMES:
            self._box.remove_class(_drawn(name))
        self._box.add_class(_drawn(theme))


def _drawn(theme: str) -> str:
    return f"kiplab-drawn-{theme}"
