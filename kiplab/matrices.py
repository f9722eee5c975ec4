"""Results for authors, and ways to look at them: the guard matrix with its counterexamples
(`kiplab.matrix`), and the history of a real metadata log (`kiplab.read_metadata_log`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from errno import EACCES, EISDIR, ENOENT
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from .explore.levels.level_table import ExploreError
from .explore.matrix.alternatives import Alternatives, alternatives
from .explore.matrix.cells import Matrix
from .explore.matrix.guard_matrix import DEFAULT_GUARDS, DEFAULT_KAFKA, matrix_of
from .explore.search import limits as outside
from .explore.search.limits import MEMORY_MB
from .explore.search.question import question_about, situation
from .explore.shrink.minimise import Minimised, minimise
from .extras import needed_by
from .incident import history_words, incident_files, metadata_history
from .plays.play import Play
from .plays.runner import run_play
from .rows.plain_table import table_of
from .runs import Run

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

SUFFIXES = (".html", ".svg", ".png", ".json", ".csv", ".txt")
"""The forms in which a matrix can be written."""


class GuardMatrix(Matrix, frozen=True):
    """The result of `kiplab.matrix`, and ways to look at it."""

    def run(self, *off: str) -> Run:
        """The shortest counterexample where these are off, run: ``run("841").timeline()``.

        Raises ExploreError where there is none.
        """
        cell = self.cell(*off)
        if cell.play is None:
            raise ExploreError(f"there is no counterexample {cell.sentence}")
        return Run(run_play(cell.play))

    def figure(self, **options: Any) -> go.Figure:
        """The map; options as of `kiplab.figures.matrix_chart.matrix_figure`: `theme`, `width`.

        Raises ValueError for one of them, MissingExtraError without plotly.
        """
        from .figures.matrix_chart import matrix_figure

        return matrix_figure(self, **options)

    def view(self, *, theme: str = "auto") -> Any:
        """The map as buttons, for a notebook: each shows its counterexample below.

        `theme` is "light", "dark" or "auto": that of the page. Raises ValueError for another one,
        MissingExtraError without the packages of a notebook.
        """
        with needed_by("the matrix in a notebook"):
            from .widgets.matrix_view import MatrixView

        return MatrixView(self, theme=theme)

    def table(self) -> pd.DataFrame:
        """A row per cell: off, verdict, steps, states, property, rules."""
        from .figures.matrix_chart import table

        return table_of(*table(self))

    def text(self) -> str:
        """For a terminal: what it says, and a line per cell."""
        from .figures.matrix_chart import text

        return text(self)

    def to_html(self, *, theme: str = "light") -> str:
        """A page of its own whose cells open the timelines of their counterexamples.

        Raises ValueError for a theme that there is none of, MissingExtraError without plotly.
        """
        from .pages.matrix_page import matrix_page

        return matrix_page(self, theme=theme)

    def write(self, path: str | Path, *, theme: str = "light", width: int | None = None) -> Path:
        """Write it to a file ending in .html .svg .png .json .csv or .txt, and return the path.

        Raises ExportError for another ending and for what the machine lacks, MissingExtraError for
        a package that is not installed, OSError for a path that cannot be written, ValueError for a
        theme or a width that cannot be.
        """
        from .figures.matrix_chart import matrix_drawing, table
        from .pages.export import csv_text, image

        target = check_target(path, theme)
        suffix = target.suffix.lower()
        if suffix in (".svg", ".png"):
            return image(matrix_drawing(self, theme=theme, width=width), target)
        texts: dict[str, Callable[[], str]] = {
            ".html": lambda: self.to_html(theme=theme),
            ".json": lambda: f"{msgspec.json.encode(self.report()).decode()}\n",
            ".csv": lambda: csv_text(*table(self)),
            ".txt": self.text,
        }
        target.write_text(texts[suffix](), encoding="utf-8", newline="")
        return target

    def _repr_mimebundle_(self, **_: Any) -> Any:
        """The figure, a still image with words, and words."""
        return self.figure()._repr_mimebundle_()


def check_target(path: str | Path, theme: str) -> Path:
    """Where a matrix is to be written, as far as that can be known without writing.

    Worth asking before a long search. Raises ExportError for an ending that means no kind of file
    and for what the machine lacks, FileNotFoundError, IsADirectoryError or PermissionError for a
    path that cannot be written, and ValueError for a theme that there is none of.
    """
    from .figures.drawing.theme import theme_of
    from .pages.export import ExportError, check_installed

    theme_of(theme)
    target = Path(path)
    if target.suffix.lower() not in SUFFIXES:
        raise ExportError(
            f"cannot write {target.name!r}", f"let its name end in one of {' '.join(SUFFIXES)}"
        )
    check_installed(target)
    if not target.parent.is_dir():
        raise FileNotFoundError(ENOENT, f"there is no folder {target.parent}")
    if target.is_dir():
        raise IsADirectoryError(EISDIR, "it is a folder")
    if not os.access(target if target.exists() else target.parent, os.W_OK):
        raise PermissionError(EACCES, "that is not permitted")
    return target


def for_authors(matrix: Matrix) -> GuardMatrix:
    """The same cells, to be looked at."""
    return GuardMatrix(**msgspec.structs.asdict(matrix))


def matrix(
    play: str | Path | Play = "isr-two-of-three",
    guards: str | Iterable[str] = DEFAULT_GUARDS,
    *,
    kafka: str | None = DEFAULT_KAFKA,
    on: str | tuple[str, ...] = (),
    off: str | tuple[str, ...] = (),
    elr: int | None = None,
    as_specified: bool = True,
    level: str = "partition",
    property: str | tuple[str, ...] | None = None,
    seconds: float | None = None,
    states: int | None = None,
    memory_mb: int = MEMORY_MB,
    processes: int | None = None,
    spark: bool = False,
    master: str | None = None,
    progress: Callable[[int, int], object] | None = None,
    cancel: Callable[[], bool] | None = None,
    say: Callable[[str], object] | None = None,
    **bounds: int,
) -> GuardMatrix:
    """For every subset of `guards` switched off: the shortest way to lose data, or a proof.

    ``kiplab.matrix("isr-two-of-three", guards=("841", "903"), writes=1, crashes=1)``.

    `play`, `elr`, `level`, `property` and `bounds` are as for `kiplab.explore`. `guards` are one to
    six names of guards or KIPs; those that are not off are on as a whole, whether or not `kafka`
    has them or all of their parts, as by ``on=``. `kafka` None means the play's own rules; `on` and
    `off` switch others for all cells. `as_specified`, a proposed ISR outlives metadata; without it
    Kafka is as it was built.
    `seconds` and `states` limit each cell. `processes` search at a time, by default one per core,
    within `memory_mb` all together; with `spark` each cell is a task of its own with as much, on
    `master` or this machine. `progress` is told how many of how many cells are done (without one a
    notebook shows a line); once `cancel` says so, or an interrupt, the rest stays unfinished. Cells
    that will be long are announced by `say`, else on stderr or below the notebook's cell.
    Raises PlayError, UnknownFeatureError, ExploreError or SparkUnavailable.
    """
    question = question_about(
        *situation(play, kafka, on, off, elr),
        level=level,
        property=property,
        bounds=bounds,
        seconds=seconds,
        states=states,
        memory_mb=memory_mb,
    )
    searched = matrix_of(
        question,
        guards,
        as_specified=as_specified,
        processes=processes,
        spark=spark,
        master=master,
        progress=progress or outside.of_cells(),
        cancel=cancel,
        say=say or outside.say,
    )
    return for_authors(searched)


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


__all__ = [
    "Alternatives",
    "GuardMatrix",
    "Minimised",
    "alternatives",
    "matrix",
    "minimise",
    "read_metadata_log",
]
