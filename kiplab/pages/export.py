"""Pictures as files; the ending of the name says which kind."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import msgspec

from ..figures.drawing.svg import Json, draws, svg
from ..rows.columns import EventRow, Rows
from ..rows.difference import comparisons, differences_text
from ..rows.sentences import sentences, table_text
from ..rows.view import ViewOptions
from .browser_picture import ExportError, browser_order, draw_in_browser, require_browser
from .page import PageOrder, named, page, page_of, plotlyjs, runs_of
from .page_files import AUTO
from .player import size_of

if TYPE_CHECKING:
    import plotly.graph_objects as go


def write(
    rows: Rows | Sequence[Rows],
    path: str | os.PathLike[str],
    *,
    figure: go.Figure | None = None,
    include_plotlyjs: bool | str = True,
    theme: str = AUTO,
    width: int | None = None,
    controls: str = "",
    **options: Unpack[ViewOptions],
) -> Path:
    """Write a run, or two to four of one play, to `path`, and return it.

    | ending | content |
    |---|---|
    | .html | a page: figure, summary, sentences, tables; `include_plotlyjs` as for `page` |
    | .svg | the picture; a `figure` that is not kiplab's own needs what .png needs |
    | .png | the picture; needs kaleido and a Chromium |
    | .json | ``{"runs": [rows, ...], "first_difference": moment or null, "comparisons": [...]}``:
    every further run with the first, as `difference.Comparison` |
    | .csv | the events, one per line, the features in front |
    | .txt | sentences and state tables, and the differences in sentences |

    `theme` "auto" is light for a picture, and for a page what its reader's system asks for.
    `figure` is written in place of the one that the rows make. `partition`, `fold`, `kinds`,
    `between` and `metrics` are as for `timeline`, and about the picture only. `controls` is HTML
    that a page has below its picture, as `live.offered` makes it. Raises ExportError
    for an ending not listed here and for what the machine lacks, MissingExtraError for a package
    that is not installed, OSError for a path that cannot be written, ValueError for what a picture
    cannot show.
    """
    target = Path(path)
    writer = _WRITERS.get(target.suffix.lower())
    if writer is None:
        endings = " ".join(_WRITERS)
        raise ExportError(f"cannot write {target.name!r}", f"let its name end in one of {endings}")
    runs = runs_of(rows)
    writer(target, PageOrder(runs, figure, include_plotlyjs, theme, width, options, controls))
    return target


def check_installed(path: str | os.PathLike[str]) -> None:
    """Whether a file of this ending could be written here: worth asking before long work.

    Raises MissingExtraError for a package that is not installed, ExportError without a Chromium.
    """
    suffix = Path(path).suffix.lower()
    if suffix == ".html":
        plotlyjs()
    elif suffix == ".png":
        require_browser()


def _html(path: Path, order: PageOrder) -> None:
    script = path.parent / "plotly.min.js"
    if order.include_plotlyjs == "directory" and not script.exists():
        script.write_text(plotlyjs(), encoding="utf-8")
    path.write_text(page_of(order), encoding="utf-8")


def image(figure: go.Figure | Json, path: str | os.PathLike[str]) -> Path:
    """Any figure, or plotly's data and layout, as .svg or .png; raises as `write`."""
    target = Path(path)
    _WRITERS[target.suffix.lower()](target, PageOrder((), figure, False, "light", None, {}))
    return target


def _svg(path: Path, order: PageOrder) -> None:
    drawing = order.drawing(order.width)
    if draws(drawing):
        path.write_text(svg(drawing), encoding="utf-8")
    else:
        _image(path, order)


def _image(path: Path, order: PageOrder) -> None:
    drawing = order.drawing(order.width)
    draw_in_browser(browser_order(drawing, size_of(drawing), path))


def _json(path: Path, order: PageOrder) -> None:
    compared = comparisons(order.runs)
    differs = min((c.first_difference for c in compared if c.first_difference), default=None)
    content = msgspec.json.encode(
        {"runs": order.runs, "first_difference": differs, "comparisons": compared}
    )
    path.write_bytes(msgspec.json.format(content, indent=1) + b"\n")


def _csv(path: Path, order: PageOrder) -> None:
    heads = ["features", *EventRow.__struct_fields__]
    events = ((run.meta.features, event) for run in order.runs for event in run.events)
    lines = ((features, *msgspec.structs.astuple(event)) for features, event in events)
    path.write_text(csv_text(heads, lines), encoding="utf-8")


def csv_text(heads: Iterable[str], lines: Iterable[Iterable[object]]) -> str:
    """A table for a spreadsheet."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([heads, *lines])
    return text.getvalue()


def _txt(path: Path, order: PageOrder) -> None:
    (first, rows), *others = runs = named(order.runs)
    told = [(name, [*sentences(run), "", table_text(run)]) for name, run in runs]
    told += [
        (f"{first} against {name}", [*differences_text(rows, run), ""]) for name, run in others
    ]
    parts = ("\n".join([title, "=" * len(title), "", *lines]) for title, lines in told)
    path.write_text("\n".join(parts), encoding="utf-8")


_WRITERS: dict[str, Callable[[Path, PageOrder], None]] = {
    ".html": _html,
    ".svg": _svg,
    ".png": _image,
    ".json": _json,
    ".csv": _csv,
    ".txt": _txt,
}

__all__ = ["ExportError", "page", "write"]
