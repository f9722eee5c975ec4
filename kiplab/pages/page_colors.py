"""The colours of a page as CSS: light, dark, or as its reader's system asks for."""

from ..figures.drawing.theme import DARK, LIGHT, THEMES, Theme

AUTO = "auto"
"""The theme of a page that is light or dark as its reader likes."""


def page_theme(theme: str) -> Theme:
    """The theme that pictures are drawn in. Raises ValueError for one that there is none of."""
    if theme not in (AUTO, *THEMES):
        known = ", ".join((*THEMES, AUTO))
        raise ValueError(f"there is no theme {theme!r}; the themes are {known}")
    return THEMES.get(theme, LIGHT)


def page_colors(selector: str, theme: str) -> str:
    """The colours of a page or a fragment as CSS, dark ones for a dark system if it may choose.

    Raises ValueError for a theme that there is none of.
    """
    page_theme(theme)
    if theme != AUTO:
        return f"{selector} {{ {_variables(THEMES[theme])} }}"
    dark = f"{selector} {{ {_variables(DARK)} }}"
    return (
        f"{selector} {{ color-scheme: light dark; {_variables(LIGHT)} }}\n"
        f"@media (prefers-color-scheme: dark) {{ {dark} }}"
    )


def _variables(theme: Theme) -> str:
    found = {name: getattr(theme, name) for name in ("text", "paper", "muted", "line")}
    found["accent"] = theme.message
    return " ".join(f"--kiplab-{name}: {color};" for name, color in found.items())
