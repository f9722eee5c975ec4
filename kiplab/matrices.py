"""The guard matrix for authors: `kiplab.matrix`, its picture, its page, its counterexamples."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable
from errno import EACCES, EISDIR, ENOENT
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec

import msgspec

from .explore.levels.level_table import ExploreError
from .explore.matrix.alternatives import Alternatives, alternatives
from .explore.matrix.cells import Cell, Matrix
from .explore.matrix.guard_matrix import matrix as asked
from .explore.shrink.minimise import Minimised, minimise
from .extras import needed_by
from .plays.runner import run_play
from .runs import Run

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

P = ParamSpec("P")
SUFFIXES = (".html", ".svg", ".png", ".json", ".csv", ".txt")
"""What a matrix can be written as."""


class GuardMatrix:
    """What `kiplab.matrix` found, as `found`, and ways to look at it. Nothing about it changes."""

    def __init__(self, found: Matrix) -> None:
        self.found = found

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Every subset, least off first."""
        return self.found.cells

    @property
    def minimal(self) -> list[list[str]]:
        """The minimal sufficient sets of guards."""
        return self.found.minimal

    @property
    def redundant(self) -> list[str]:
        """The guards that are never needed within the bounds."""
        return self.found.redundant

    @property
    def sentence(self) -> str:
        """What it says, with its bounds."""
        return self.found.sentence

    def cell(self, *off: str) -> Cell:
        """The cell in which these guards are off: ``cell("841", "903")``."""
        return self.found.cell(*off)

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

        return matrix_figure(self.found, **options)

    def view(self, *, theme: str = "auto") -> Any:
        """The map as buttons, for a notebook: each shows its counterexample below.

        `theme` is "light", "dark" or "auto": that of the page. Raises ValueError for another one,
        MissingExtraError without the packages of a notebook.
        """
        with needed_by("the matrix in a notebook"):
            from .widgets.matrix_view import MatrixView

        return MatrixView(self.found, theme=theme)

    def table(self) -> pd.DataFrame:
        """A row per cell: off, verdict, steps, states, property, rules.

        Raises MissingExtraError without pandas.
        """
        with needed_by("a table"):
            import pandas as pd

        from .figures.matrix_chart import table

        heads, body = table(self.found)
        return pd.DataFrame(body, columns=heads)

    def text(self) -> str:
        """For a terminal: what it says, and a line per cell."""
        from .figures.matrix_chart import text

        return text(self.found)

    def to_html(self, *, theme: str = "light") -> str:
        """A page of its own whose cells open the timelines of their counterexamples.

        Raises ValueError for a theme that there is none of, MissingExtraError without plotly.
        """
        from .pages.matrix_page import matrix_page

        return matrix_page(self.found, theme=theme)

    def report(self) -> dict[str, Any]:
        """Plain values: what `kiplab matrix --json` prints."""
        return self.found.report()

    def write(self, path: str | Path, *, theme: str = "light", width: int | None = None) -> Path:
        """Write it to a file ending in .html .svg .png .json .csv or .txt, and return the path.

        Raises ExportError for another ending and for what the machine lacks, MissingExtraError for
        a package that is not installed, OSError for a path that cannot be written, ValueError for a
        theme or a width that cannot be.
        """
        from .pages.export import image

        target = check_target(path, theme)
        writers: dict[str, Callable[[], object]] = {
            ".html": lambda: target.write_text(self.to_html(theme=theme), encoding="utf-8"),
            ".svg": lambda: image(self._drawing(theme, width), target),
            ".png": lambda: image(self._drawing(theme, width), target),
            ".json": lambda: target.write_bytes(msgspec.json.encode(self.report()) + b"\n"),
            ".csv": lambda: self._csv(target),
            ".txt": lambda: target.write_text(self.text(), encoding="utf-8"),
        }
        writers[target.suffix.lower()]()
        return target

    def _drawing(self, theme: str, width: int | None) -> Any:
        from .figures.matrix_chart import matrix_drawing

        return matrix_drawing(self.found, theme=theme, width=width)

    def _csv(self, target: Path) -> None:
        from .figures.matrix_chart import table

        heads, body = table(self.found)
        with target.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([heads, *body])

    def _repr_mimebundle_(self, **_: Any) -> Any:
        """The figure, a still image with words, and words."""
        return self.figure()._repr_mimebundle_()

    def __repr__(self) -> str:
        return repr(self.found)


def check_target(path: str | Path, theme: str) -> Path:
    """Where a matrix is to be written, as far as that can be known without writing.

    Worth asking before a long search. Raises ExportError for an ending that means no kind of file
    and for what the machine lacks, FileNotFoundError when there is no such folder,
    IsADirectoryError when the path is a folder, PermissionError when it may not be written, and
    ValueError for a theme that there is none of.
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


def _for_authors(ask: Callable[P, Matrix]) -> Callable[P, GuardMatrix]:
    """The same question; what comes out can be looked at."""

    @wraps(ask)
    def asking(*args: P.args, **options: P.kwargs) -> GuardMatrix:
        return GuardMatrix(ask(*args, **options))

    return asking


matrix = _for_authors(asked)

__all__ = ["Alternatives", "GuardMatrix", "Minimised", "alternatives", "matrix", "minimise"]
