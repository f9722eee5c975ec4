"""A history of a metadata log as a file; the ending of the name says which kind."""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from ..figures.drawing.svg import svg
from ..figures.timeline.whole_runs import timeline_drawing
from ..pages.browser_picture import ExportError
from ..pages.export import csv_text
from ..pages.page_files import AUTO, page_theme
from .change_words import time_words
from .history_words import PartitionStory, place_words, report, stories, text
from .incident_page import incident_page
from .metadata_history import MetadataHistory

CSV_HEADS = (
    *("what", "partition", "offset", "time", "kind", "rule", "text"),
    *("leader epoch", "partition epoch", "whose doing"),
)


def write_history(
    history: MetadataHistory, path: str | os.PathLike[str], *, theme: str = AUTO
) -> Path:
    """Write a history to `path`, and return it.

    | ending | content |
    |---|---|
    | .html | a page: findings, and the timelines of the partitions that are `pictured` |
    | .svg | the timeline of the first of these |
    | .csv | a line for each finding, then one for each change of a chosen partition |
    | .txt | what a terminal shows |
    | .json | what was read, and the findings |

    Raises ExportError for another ending or where there is no partition to draw,
    UnreadableInputError where the input cannot be read again, OSError for a path that cannot be
    written, MissingExtraError for a page without plotly, ValueError for a theme or a partition that
    there is none of.
    """
    target = Path(path)
    page_theme(theme)
    write = WRITERS.get(target.suffix.lower())
    if write is None:
        endings = " ".join(WRITERS)
        raise ExportError(f"cannot write {target.name!r}", f"let its name end in one of {endings}")
    target.write_text(write(history, theme), encoding="utf-8")
    return target


def _html(history: MetadataHistory, theme: str) -> str:
    return incident_page(history, [*stories(history, history.pictured)], theme=theme)


def _svg(history: MetadataHistory, theme: str) -> str:
    names = history.pictured[:1]
    if not names:
        raise ExportError("there is no finding about a partition to draw", "name a partition")
    story = next(stories(history, names))
    return svg(timeline_drawing(story.rows, theme=page_theme(theme).name))


def _txt(history: MetadataHistory, _: str) -> str:
    return text(history, [*stories(history, history.chosen)])


def _json(history: MetadataHistory, _: str) -> str:
    return msgspec.json.format(msgspec.json.encode(report(history)), indent=1).decode() + "\n"


def _csv(history: MetadataHistory, _: str) -> str:
    told = [*stories(history, history.chosen)]
    return csv_text(CSV_HEADS, (*_findings(history), *_changes(told)))


def _findings(history: MetadataHistory) -> Iterator[tuple[object, ...]]:
    for found in history.findings:
        names, place = " ".join(found.partitions), place_words(found)
        about = (time_words(found.time), found.kind, found.rule, found.sentence)
        yield ("finding", names, place, *about, "", "", "")


def _changes(told: Sequence[PartitionStory]) -> Iterator[tuple[object, ...]]:
    for story in told:
        for _, line in story.changes:
            epochs = line.leader_epoch, line.partition_epoch
            yield "change", story.name, line.offset, line.time, "", "", line.what, *epochs, line.by


WRITERS: dict[str, Callable[[MetadataHistory, str], str]] = {
    ".html": _html,
    ".svg": _svg,
    ".csv": _csv,
    ".txt": _txt,
    ".json": _json,
}
