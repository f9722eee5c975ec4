"""The scripts and style sheets of pages, as text: panels in a notebook use some of them too."""

from html import escape
from importlib.resources import files

from ..figures.drawing.theme import DARK, FONT, LIGHT, THEMES, Theme

GLOW = ("marks.js", "finder.js", "glow.js")
"""What lights up words and marks, in this order: each uses those before it."""


def page_file(name: str) -> str:
    """A file beside this module. Raises FileNotFoundError if there is none of that name."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8").strip()


def page_files(*names: str) -> str:
    return "\n".join(map(page_file, names))


def html_page(
    title: str, main: str, *, theme: str, style: str, width: int, head: str = "", scripts: str = ""
) -> str:
    """A whole page at most `width` pixels wide; all but its title is HTML, `style` is CSS.

    Raises ValueError for a theme that there is none of.
    """
    about = {"title": escape(title), "colors": page_colors(":root", theme), "font": FONT}
    parts = {"main": main, "style": style, "width": width, "head": head, "scripts": scripts}
    return page_file("page.html").format(**about, **parts) + "\n"


AUTO = "auto"
"""The theme of a page that is light or dark as its reader likes."""


def page_theme(theme: str) -> Theme:
    """The theme that pictures are drawn in. Raises ValueError for one that there is none of."""
    if theme not in (AUTO, *THEMES):
        themes = ", ".join((*THEMES, AUTO))
        raise ValueError(f"there is no theme {theme!r}; the themes are {themes}")
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
    variables = {name: getattr(theme, name) for name in ("text", "paper", "muted", "line")}
    variables["accent"] = theme.message
    return " ".join(f"--kiplab-{name}: {color};" for name, color in variables.items())
