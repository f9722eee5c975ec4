"""A history of a metadata log in a notebook: its findings, and a partition's picture at a click."""

from functools import partial
from html import escape
from typing import Any

from ..figures.drawing.still_picture import still
from ..figures.timeline.whole_runs import timeline_drawing
from ..incident import history_words
from ..incident.findings.finding import Finding
from ..incident.incident_files import HONEST, changes_table, findings_table
from ..incident.log_items import UnreadableInputError
from ..incident.metadata_history import MetadataHistory
from ..pages.page_files import AUTO
from .elements.kinds import Container, Element, Html, Style
from .elements.labelled import button, column, words
from .elements.surface import Daylight, Surface
from .markup import muted, note

_COLUMNS = "minmax(9em, auto) minmax(11em, auto) 1fr"


class IncidentView:
    """`box` holds a line for each finding, at most TOLD_MAX. A button on it opens the timeline and
    the changes of its first partition under the line. `theme` and `width` are as for a Lab.
    """

    def __init__(self, history: MetadataHistory, *, theme: str = AUTO, width: int = 840) -> None:
        self.history, self._width, self._opened = history, width, 0
        self.buttons: dict[int, Any] = {}
        self._places: dict[int, Html] = {}
        told = history_words.findings_sentence(history).capitalize()
        shown = enumerate(history.findings[: history_words.TOLD_MAX], 1)
        children = [part for number, finding in shown for part in self._line(number, finding)]
        style = {"display": "grid", "grid_template_columns": _COLUMNS, "grid_gap": "2px 8px"}
        table = Container(children=tuple(children), layout=Style(**style, align_items="center"))
        heading = [words(f"<b>{escape(told)}.</b>"), words(muted(HONEST))]
        heading += [words(escape(line)) for line in history_words.missing_lines(history)]
        self.box = Surface(column([*heading, table], width="100%"))
        self.daylight = Daylight(theme, self.box)
        self.daylight.follow(lambda _: self.open(self._opened))

    def _line(self, number: int, finding: Finding) -> list[Element]:
        where = f"{number}. {history_words.where_words(finding, 1)}"
        self._places[number] = words("", grid_column="1 / -1", min_width="0")
        offset = history_words.place_words(finding)
        about = words(f"{finding.kind}: {finding.rule}, offset {offset}")
        head: Element = words(escape(where))
        if finding.partitions:
            head = button(where, partial(self.open, number), f"Draw {finding.partitions[0]}")
            self.buttons[number] = head
        return [head, about, words(escape(finding.sentence)), self._places[number]]

    def open(self, number: int) -> None:
        """Show the partition of the finding of that number, under its line; 0 for none."""
        if self._opened:
            self._places[self._opened].value = ""
        self._opened = number
        if number:
            self._places[number].value = self._drawn(
                self.history.findings[number - 1].partitions[0]
            )

    def _drawn(self, name: str, *, theme: str = "") -> str:
        about = {"theme": theme or self.daylight.theme, "width": self._width}
        try:
            return "".join(
                f'<div style="overflow:auto">{still(timeline_drawing(story.rows, **about))}</div>'
                f"<details><summary>Every change</summary>{changes_table(story)}</details>"
                for story in history_words.stories(self.history, [name])
            )
        except UnreadableInputError as problem:
            return note(escape(str(problem)))

    def _ipython_display_(self) -> None:
        from .still_fallback import show, show_words

        said, theme = history_words.text(self.history), self.daylight.still
        gravest = (self._drawn(name, theme=theme) for name in self.history.pictured[:1])
        kept = findings_table(self.history) + "".join(gravest)
        show_words(show(self.box, said), kept, said)
