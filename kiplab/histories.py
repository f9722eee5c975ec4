"""What authors import to read the metadata log of a real cluster, and to look at what it shows."""

from __future__ import annotations

import os
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from .extras import needed_by
from .incident import history_words, incident_files, metadata_history

if TYPE_CHECKING:
    import plotly.graph_objects as go


class ImportedHistory(metadata_history.MetadataHistory, frozen=True):
    """The result of `kiplab.read_metadata_log`, and ways to look at it. A notebook shows its
    findings; a click draws a partition.
    """

    def text(self) -> str:
        """For a terminal: what was read, the findings, the changes of chosen partitions."""
        return history_words.text(self, history_words.stories(self, self.chosen))

    def timeline(self, partition: str, **options: Any) -> go.Figure:
        """The picture of a partition; options as of a run's: `theme`, `width`, `between`.

        Raises ValueError for a partition that the log has not, or for one of the options,
        UnreadableInputError where the input cannot be read again, MissingExtraError without plotly.
        """
        from .figures.timeline.whole_runs import timeline

        return timeline(next(history_words.stories(self, [partition])).rows, **options)

    def write(self, path: str | os.PathLike[str], *, theme: str = "auto") -> Path:
        """Write it as .html, .svg, .csv, .txt or .json; raises as `write_history`."""
        return incident_files.write_history(self, path, theme=theme)

    def _ipython_display_(self) -> None:
        with needed_by("a history in a notebook"):
            from .widgets.incident_view import IncidentView

        IncidentView(self)._ipython_display_()


@wraps(metadata_history.read_metadata_log)
def read_metadata_log(*files: str | Path, **options: Any) -> ImportedHistory:
    return ImportedHistory(
        **msgspec.structs.asdict(metadata_history.read_metadata_log(*files, **options))
    )
