"""The fate of KIP-343's ideas: with AlterIsr (KIP-497), in KRaft (KIP-631), or never."""

import tomllib
from html import escape
from importlib.resources import files
from typing import Any

import msgspec

from .sentences import html_table

TITLE = "What became of KIP-343"
HEADS = ("KIP-343", "what became of it", "by", "clause")
LOOK = (
    "<style>.kiplab-fates.kiplab-fates :is(td, th) { text-align: left; }"
    " .kiplab-fates.kiplab-fates tbody th { font-weight: normal; }"
    " .kiplab-fates.kiplab-fates .kiplab-kip { white-space: nowrap; }</style>"
)
"""From the left, as sentences are read, and no KIP broken at its hyphen."""


class IdeaFate(msgspec.Struct, frozen=True, kw_only=True):
    """An idea of KIP-343, its fate, the KIP that brought it (or None), and the ledger's clause."""

    idea: str
    became: str
    by: int | None = None
    clause: str


_FILE = (files(__package__) / "heartbeat_fates.toml").read_text("utf-8")
FATES = msgspec.convert(tomllib.loads(_FILE)["fates"], tuple[IdeaFate, ...])


class IdeaFates(msgspec.Struct, frozen=True):
    """The table: as text, as rows, as HTML in a notebook."""

    rows: tuple[IdeaFate, ...] = FATES

    def text(self) -> str:
        """A line for each idea."""
        return "\n".join(
            f"{row.idea} -> {row.became} ({_brought(row)}; clause {row.clause})"
            for row in self.rows
        )

    def report(self) -> dict[str, Any]:
        """The rows, for programs."""
        return {"title": TITLE, "rows": [msgspec.structs.asdict(row) for row in self.rows]}

    def _repr_html_(self) -> str:
        table = html_table(TITLE, HEADS, "".join(map(_line, self.rows)))
        return LOOK + table.replace("<table>", '<table class="kiplab-fates">')


def heartbeat_fates() -> IdeaFates:
    """The ideas of KIP-343 that KRaft and AlterIsr took over, and those never built."""
    return IdeaFates()


def _line(row: IdeaFate) -> str:
    by = f'<td class="kiplab-kip">{_brought(row)}</td>'
    cells = f"<td>{escape(row.became)}</td>{by}<td>{row.clause}</td>"
    return f'<tr><th scope="row">{escape(row.idea)}</th>{cells}</tr>'


def _brought(row: IdeaFate) -> str:
    return "never" if row.by is None else f"KIP-{row.by}"
