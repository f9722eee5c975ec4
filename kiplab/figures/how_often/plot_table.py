"""The table that belongs to a picture: every number of it, in words that a screen reader reads."""

from collections.abc import Sequence
from html import escape

import msgspec


class PlotTable(msgspec.Struct, frozen=True):
    """A caption, heads, and a line of words per row."""

    caption: str
    heads: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]


def plot_table(caption: str, heads: Sequence[str], lines: Sequence[Sequence[str]]) -> PlotTable:
    """A table of words."""
    return PlotTable(caption, tuple(heads), tuple(map(tuple, lines)))


def plot_table_html(table: PlotTable) -> str:
    """The table as HTML; the first word of a line is its head."""
    heads = "".join(f'<th scope="col">{escape(head)}</th>' for head in table.heads)
    lines = "".join(_line_html(line) for line in table.lines)
    return (
        f"<table><caption>{escape(table.caption)}</caption><thead><tr>{heads}</tr></thead>"
        f"<tbody>{lines}</tbody></table>"
    )


def _line_html(line: Sequence[str]) -> str:
    first, *others = line
    cells = "".join(f"<td>{escape(word)}</td>" for word in others)
    return f'<tr><th scope="row">{escape(first)}</th>{cells}</tr>'
