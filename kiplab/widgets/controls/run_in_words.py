"""The run so far in sentences and as a table: what the picture says, for reading."""

from __future__ import annotations

from html import escape

from ...rows.rows_of_stage import rows_of
from ...rows.sentences import sentences, table_html
from ..elements.labelled import words
from ..history_tree.bench import Bench

_TABLE = """<style>
.kiplab-told { line-height: 1.45; font-size: 12px; }
.kiplab-told td, .kiplab-told th { text-align: left; vertical-align: top; }
.kiplab-told td, .kiplab-told th { padding: 3px 8px 3px 0; }
.kiplab-told td:nth-child(n+7) { min-width: 8em; }
.kiplab-told caption { text-align: left; padding: 4px 0; font-weight: 600; }
</style>"""


class Telling:
    """`box` holds the words."""

    def __init__(self) -> None:
        self.box = words()

    def show(self, bench: Bench) -> None:
        """The run up to where one stands."""
        rows = rows_of(bench.here)
        story = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences(rows))
        # With many brokers it is wider than there is room: it scrolls, also by keyboard.
        region = 'style="overflow:auto" tabindex="0" role="region" aria-label="table of the run"'
        table = f"<div {region}>{table_html(rows)}</div>"
        self.box.value = f'{_TABLE}<div class="kiplab-told"><ul>{story}</ul>{table}</div>'
