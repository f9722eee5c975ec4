"""A history of a metadata log in a notebook: its findings, and a partition's picture at a click."""

from html import escape
from typing import Any

from ..figures.drawing.still_picture import still
from ..figures.timeline.whole_runs import timeline_drawing
from ..incident.findings.finding import Finding
from ..incident.history_words import (
    TOLD_MAX,
    PartitionStory,
    findings_sentence,
    place_words,
    stories,
    text,
    where_words,
)
from ..incident.incident_page import HONEST, changes_table, findings_table
from ..incident.metadata_history import MetadataHistory
from ..incident.records import UnreadableInputError
from ..pages.page_files import AUTO
from .elements.kinds import Container, Element, Html, Style
from .elements.labelled import button, column, words
from .elements.surface import Daylight, Surface
from .markup import muted, note

_COLUMNS = "minmax(9em, auto) minmax(11em, auto) 1fr"


class IncidentView:
    """`box` holds a line for each finding, at most TOLD_MAX. A button on it opens the timeline and
    the changes of its first partition under the line.

    `theme` and `width` are as for a Lab.
    """

    def __init__(self, history: MetadataHistory, *, theme: str = AUTO, width: int = 840) -> None:
        self.history, self._width = history, width
        self.buttons: dict[int, Any] = {}
        self._places: dict[int, Html] = {}
        self._opened = 0
        told = f"<b>{escape(findings_sentence(history).capitalize())}.</b>"
        left = len(history.findings) - TOLD_MAX
        more = f"{left:,} more findings are not shown: <code>write</code> them to a file."
        heading = [words(told), words(muted(HONEST))]
        foot = [words(muted(more))] if left > 0 else []
        self.box = Surface(column([*heading, self._table(), *foot], width="100%"))
        self.daylight = Daylight(theme, self.box)
        self.daylight.follow(self._turn_page)

    def _table(self) -> Container:
        lines = enumerate(self.history.findings[:TOLD_MAX], 1)
        children = [part for number, finding in lines for part in self._line(number, finding)]
        style = {"display": "grid", "grid_template_columns": _COLUMNS, "grid_gap": "2px 8px"}
        return Container(children=tuple(children), layout=Style(**style, align_items="center"))

    def _line(self, number: int, finding: Finding) -> list[Element]:
        where, place = f"{number}. {where_words(finding, 1)}", f"offset {place_words(finding)}"
        self._places[number] = words("", grid_column="1 / -1", min_width="0")
        about = words(f"{finding.kind}: {finding.rule}, {place}")
        head: Element = words(escape(where))
        if finding.partitions:
            name = finding.partitions[0]
            head = button(where, lambda: self.open(number), f"Draw {name} under this line")
            self.buttons[number] = head
        return [head, about, words(escape(finding.sentence)), self._places[number]]

    def _turn_page(self, _: str) -> None:
        """The page is light now, or dark: the picture too."""
        if self._opened:
            self.open(self._opened)

    def open(self, number: int) -> None:
        """Show the partition of the finding of that number, under its line."""
        if self._opened in self._places:
            self._places[self._opened].value = ""
        self._opened = number
        name = self.history.findings[number - 1].partitions[0]
        try:
            told = [*stories(self.history, [name])]
        except UnreadableInputError as problem:
            self._places[number].value = note(escape(str(problem)))
            return
        self._places[number].value = "".join(self._drawn(story) for story in told)

    def _drawn(self, story: PartitionStory) -> str:
        drawing = timeline_drawing(story.rows, theme=self.daylight.theme, width=self._width)
        return (
            f'<div style="line-height:1.45"><div style="overflow:auto">{still(drawing)}</div>'
            f"<details><summary>Every change</summary>{changes_table(story)}</details></div>"
        )

    def _ipython_display_(self) -> None:
        from .still_fallback import show, show_words

        said = text(self.history)
        show_words(show(self.box, said), findings_table(self.history) + self._gravest(), said)

    def _gravest(self) -> str:
        """The still picture of the gravest finding's partition, where there is one."""
        try:
            told = [*stories(self.history, self.history.pictured[:1])]
        except UnreadableInputError:
            return ""
        about = {"theme": self.daylight.still, "width": self._width}
        return "".join(still(timeline_drawing(story.rows, **about)) for story in told)
