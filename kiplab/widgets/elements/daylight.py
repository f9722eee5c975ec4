"""Light or dark: the theme that somebody asked for, or else that of the page around a panel."""

from collections.abc import Callable

from ...figures.drawing.theme import LIGHT, THEMES
from .labelled import watch
from .surface import Surface

AUTO = "auto"


class Daylight:
    """`theme` is that of the pictures on a surface: the one `asked` for, or for "auto" the page's.

    Raises ValueError for a theme that there is none of.
    """

    def __init__(self, asked: str) -> None:
        if asked not in (AUTO, *THEMES):
            known = ", ".join((AUTO, *THEMES))
            raise ValueError(f"there is no theme {asked!r}; the themes are {known}")
        self._asked = asked
        self._surface: Surface | None = None

    @property
    def theme(self) -> str:
        """ "light" or "dark"; light as long as no page has told."""
        if self._asked != AUTO:
            return self._asked
        return self._surface.theme if self._surface is not None else Surface.seen_last

    @property
    def still(self) -> str:
        """The theme of what is kept in a file: nobody knows the page on which that is read."""
        return LIGHT.name if self._asked == AUTO else self._asked

    def of(self, surface: Surface) -> Surface:
        """The page is the one that shows `surface`, which is returned."""
        self._surface = surface
        return surface

    def follow(self, paint: Callable[[str], None]) -> None:
        """Call `paint` with the page's theme whenever it changes."""
        if self._asked == AUTO and self._surface is not None:
            surface = self._surface
            self._mark(surface, self.theme)
            watch(surface, "theme", lambda theme: self._paint(surface, theme, paint))

    def _paint(self, surface: Surface, theme: str, paint: Callable[[str], None]) -> None:
        paint(theme)
        self._mark(surface, theme)

    def _mark(self, surface: Surface, theme: str) -> None:
        """The style sheet hides a picture for the moment in which it is not the page's."""
        for name in THEMES:
            surface.root.remove_class(_drawn(name))
        surface.root.add_class(_drawn(theme))


def _drawn(theme: str) -> str:
    return f"kiplab-drawn-{theme}"
