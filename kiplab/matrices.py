"""The guard matrix for authors: `kiplab.matrix`, its picture, its page, its counterexamples."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable
from errno import EACCES, EISDIR, ENOENT
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec

import msgspec

from .explore.levels.level_table import ExploreError
from .explore.matrix.alternatives import Alternatives, alternatives
from .explore.matrix.cells import Matrix
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


class GuardMatrix(Matrix, frozen=True):
    """What `kiplab.matrix` found, and ways to look at it."""

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
        """A row per cell: off, verdict, steps, states, property, rules.

        Raises MissingExtraError without pandas.
        """
        with needed_by("a table"):
            import pandas as pd

        from .figures.matrix_chart import table

        heads, body = table(self)
        return pd.DataFrame(body, columns=heads)

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
        from .figures.matrix_chart import matrix_drawing
        from .pages.export import image

        target = check_target(path, theme)
        suffix = target.suffix.lower()
        if suffix in (".svg", ".png"):
            return image(matrix_drawing(self, theme=theme, width=width), target)
        texts: dict[str, Callable[[], str]] = {
            ".html": lambda: self.to_html(theme=theme),
            ".json": lambda: f"{msgspec.json.encode(self.report()).decode()}\n",
            ".csv": self._csv,
            ".txt": self.text,
        }
        target.write_text(texts[suffix](), encoding="utf-8", newline="")
        return target

    def _csv(self) -> str:
        from .figures.matrix_chart import table

        heads, body = table(self)
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([heads, *body])
        return text.getvalue()

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


def _asking(ask: Callable[P, Matrix]) -> Callable[P, GuardMatrix]:
    return wraps(ask)(lambda *args, **options: for_authors(ask(*args, **options)))


matrix = _asking(asked)

__all__ = ["Alternatives", "GuardMatrix", "Minimised", "alternatives", "matrix", "minimise"]
