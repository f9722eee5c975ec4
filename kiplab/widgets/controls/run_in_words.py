"""The run so far in sentences and as a table: what the picture says, for reading and searching."""

from collections.abc import Callable

from ...rows.columns import Rows
from ...rows.told_html import story_html, table_html
from ..elements.kinds import Finder
from ..elements.labelled import column, words
from ..history_tree.bench import Bench

_TABLE = """<style>
.kiplab-told { line-height: 1.45; font-size: 12px; max-height: 60vh; overflow-y: auto; }
.kiplab-told td, .kiplab-told th { text-align: left; vertical-align: top; }
.kiplab-told td, .kiplab-told th { padding: 3px 8px 3px 0; }
.kiplab-told td:nth-child(n+7) { min-width: 8em; }
.kiplab-told caption { text-align: left; padding: 4px 0; font-weight: 600; }
</style>"""
_BOX = 'class="kiplab-told" data-told data-finds tabindex="0" role="region"'


class Telling:
    """`box` holds the words, and a line to search them."""

    def __init__(self, rows: Callable[[], Rows]) -> None:
        self._rows = rows
        self.told = words()
        self.box = column([Finder(), self.told])

    def show(self, _bench: Bench) -> None:
        """The run up to where one stands."""
        rows = self._rows()
        # With many brokers it is wider than there is room: it scrolls, also by keyboard.
        region = 'style="overflow-x:auto" tabindex="0" role="region" aria-label="table of the run"'
        table = f"<div {region}>{table_html(rows)}</div>"
        told = f'<div {_BOX} aria-label="the run in words">{story_html(rows)}{table}</div>'
        self.told.value = f"{_TABLE}{told}"
