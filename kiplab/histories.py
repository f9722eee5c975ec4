"""What authors import to read the metadata log of a real cluster, and to look at what it shows."""

from __future__ import annotations

import os
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from .extras import needed_by
from .incident import metadata_history
from .incident.history_words import stories, text
from .incident.incident_files import write_history
from .incident.metadata_history import MetadataHistory
from .pages.page_files import AUTO

if TYPE_CHECKING:
    import plotly.graph_objects as go


class History(MetadataHistory, frozen=True):
    """The result of `kiplab.read_metadata_log`, and ways to look at it."""

    def text(self) -> str:
        """For a terminal: what was read, the findings, the changes of chosen partitions."""
        return text(self, [*stories(self, self.chosen)])

    def timeline(self, partition: str, **options: Any) -> go.Figure:
        """The picture of a partition; options as of a run's: `theme`, `width`, `between`.

        Raises ValueError for a partition that the log has not, or for one of the options,
        UnreadableInputError where the input cannot be read again, MissingExtraError without plotly.
        """
        from .figures.timeline.whole_runs import timeline

        return timeline(next(stories(self, [partition])).rows, **options)

    def write(self, path: str | os.PathLike[str], *, theme: str = AUTO) -> Path:
        """Write it as .html, .svg, .csv, .txt or .json; raises as `write_history`."""
        return write_history(self, path, theme=theme)

    def view(self, *, theme: str = AUTO) -> Any:
        """The findings as a table for a notebook: a click draws a partition under its line.

        `theme` is "light", "dark" or "auto": that of the page. Raises ValueError for another one,
        MissingExtraError without the packages of a notebook.
        """
        with needed_by("a history in a notebook"):
            from .widgets.incident_view import IncidentView

        return IncidentView(self, theme=theme)

    def _ipython_display_(self) -> None:
        self.view()._ipython_display_()


@wraps(metadata_history.read_metadata_log)
def read_metadata_log(*files: str | Path, **options: Any) -> History:
    return History(**msgspec.structs.asdict(metadata_history.read_metadata_log(*files, **options)))
