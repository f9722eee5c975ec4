"""The scripts and style sheets of pages, as text: panels in a notebook use some of them too."""

from importlib.resources import files

GLOW = ("marks.js", "finder.js", "glow.js")
"""What lights up words and marks, in this order: each uses those before it."""


def page_file(name: str) -> str:
    """A file beside this module. Raises FileNotFoundError if there is none of that name."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8").strip()


def page_files(*names: str) -> str:
    """Several of them, one after the other."""
    return "\n".join(map(page_file, names))
