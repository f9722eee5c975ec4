"""A history of a metadata log as a file; the ending of the name says which kind. A page has the
findings as a table, and pictures of partitions.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape
from pathlib import Path

import msgspec

from ..figures.drawing.svg import svg
from ..figures.timeline.whole_runs import timeline_drawing
from ..pages.browser_picture import ExportError
from ..pages.export import csv_text
from ..pages.page import fragment, plotlyjs
from ..pages.page_files import AUTO, GLOW, html_page, page_files, page_theme
from ..rows.sentences import html_table, part
from . import history_words as words
from .change_words import HEADS, time_words
from .findings.finding import Finding
from .history_words import PartitionStory, place_words, report, stories, text, where_words
from .metadata_history import MetadataHistory

TITLE = "What the metadata log shows"
HONEST = (
    "The metadata log says who led, who was in sync and which process each broker was. It never"
    " mentions a message: it shows moments at which a loss was possible, and no loss itself."
)
ROWS_MAX = 1000
"""So many findings stand in the table of a page."""
_FOUND = ("number", "kind", "what was found", "where", "offset", "time (UTC)")
_SCROLL = '<div class="scroll" tabindex="0" role="{}" aria-label="{}"{}>{}</div>'


def incident_page(
    history: MetadataHistory, partitions: Sequence[PartitionStory], *, theme: str = AUTO
) -> str:
    """The whole page as HTML: one file that asks nobody on the network.

    `theme` is "light", "dark", or "auto" for its reader's. Raises ValueError for another one,
    MissingExtraError without plotly.
    """
    parts = (
        f"<h1>{TITLE}</h1>",
        f"<p>{escape(words.findings_sentence(history).capitalize())}. {HONEST}</p>",
        *(f"<p>{escape(line)}.</p>" for line in words.missing_lines(history)),
        findings_table(history, [story.name for story in partitions]),
        *(_picture(number, story, theme) for number, story in enumerate(partitions)),
        f"<h2>What was read</h2>{_list(map(escape, words.read_lines(history)))}",
    )
    scripts = page_files(*GLOW, "linked_words.js")
    return html_page(
        TITLE,
        "\n".join(parts),
        theme=theme,
        style=page_files("page.css", "glow.css", "incident.css"),
        width=1012,
        head=f"<script>{plotlyjs()}</script>\n",
        scripts=f"<script>\n(() => {{\n{scripts}\n}})();\n</script>\n",
    )


def findings_table(history: MetadataHistory, pictured: Sequence[str] = ()) -> str:
    """A section with a line for each finding, if any; partitions that are `pictured` are links."""
    if not history.findings:
        return ""
    shown = history.findings[:ROWS_MAX]
    lines = "".join(_line(number, finding, pictured) for number, finding in enumerate(shown, 1))
    kinds = "; ".join(f"{kind}: {meaning}" for kind, meaning in words.KINDS.items())
    left = len(history.findings) - len(shown)
    more = f"<p>{left:,} more: write them to a .csv or .json file.</p>" if left else ""
    table = html_table("Findings, the gravest first", _FOUND, lines)
    return (
        f"<h2>Findings</h2><p>What the kinds mean: {kinds}.</p>"
        f"{_SCROLL.format('region', 'findings', '', table)}{more}"
    )


def _line(number: int, finding: Finding, pictured: Sequence[str]) -> str:
    names = [name for name in pictured if name in finding.partitions][: words.NAMES_MAX]
    links = ", ".join(f'<a href="#picture-{pictured.index(n)}">{escape(n)}</a>' for n in names)
    left = len(finding.partitions) - len(names)
    where = f"{links}{f' and {left:,} more' if left else ''}"
    cells = (
        f'<span class="kind {finding.kind}">{finding.kind}</span>',
        f"<b>{finding.rule}</b><br>{escape(finding.sentence)}{_details(number, finding)}",
        where if links else escape(where_words(finding)),
        words.place_words(finding),
        time_words(finding.time),
    )
    return f'<tr><th scope="row">{number}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'


def _details(number: int, finding: Finding) -> str:
    """What else is known of it, folded away."""
    items = [escape(line) for line in words.more_words(finding)]
    items += [f"broker {id} as broker epoch {epoch}" for id, epoch in finding.incarnations]
    records = (f"{r.offset} {r.type} {r.fields}" for r in finding.evidence)
    items += [f"<code>{escape(record)}</code>" for record in records]
    more = f'<summary aria-label="more about finding {number}">more</summary>'
    return f"<details>{more}{_list(items)}</details>" if items else ""


def _list(items: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>"


def _picture(number: int, story: PartitionStory, theme: str) -> str:
    """A partition: its timeline with a player, its findings and changes, which light up in it."""
    name, found = escape(story.name), dict(story.findings)
    lines = (
        part(f"{n}. {found[n].rule}: {found[n].sentence}", mark.event)
        for mark in sorted(story.rows.marks, key=lambda mark: int(mark.text.split(" ")[0]))
        for n in [int(mark.text.split(" ")[0])]
    )
    about = f'<div data-told tabindex="0" role="group" aria-label="findings about {name}">'
    return (
        f'<section data-lights="broker 2, fenced …" id="picture-{number}" aria-label="{name}">'
        f"<h2>{name}</h2>\n{fragment(story.rows, id=f'kiplab-{number}', theme=theme)}\n"
        f"<h3>Findings about {name}</h3>{about}{_list(lines)}</div>"
        f"<h3>{name}: every change</h3>{changes_table(story)}</section>"
    )


def changes_table(story: PartitionStory) -> str:
    """Every change as a line."""
    lines = (
        f'<tr data-about="{x}"><th scope="row">{line.offset}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in line[1:])
        + "</tr>"
        for x, line in story.changes
    )
    table = html_table(f"Every change of {story.name} and of its brokers", HEADS, "".join(lines))
    label = f"changes of {escape(story.name)}"
    return _SCROLL.format("group", label, " data-told data-finds", table)


CSV_HEADS = ("partition", "rule", "kind", *HEADS)


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


def _svg(history: MetadataHistory, theme: str) -> str:
    for story in stories(history, history.pictured[:1]):
        return svg(timeline_drawing(story.rows, theme=page_theme(theme).name))
    raise ExportError("there is no finding about a partition to draw", "name a partition")


def _lines(history: MetadataHistory) -> Iterator[tuple[object, ...]]:
    for found in history.findings:
        about = (" ".join(found.partitions), found.rule, found.kind, place_words(found))
        yield (*about, time_words(found.time), found.sentence, "", "", "")
    for story in stories(history, history.chosen):
        yield from ((story.name, "", "", *line) for _, line in story.changes)


WRITERS: dict[str, Callable[[MetadataHistory, str], str]] = {
    ".html": lambda history, theme: incident_page(
        history, [*stories(history, history.pictured)], theme=theme
    ),
    ".svg": _svg,
    ".csv": lambda history, _: csv_text(CSV_HEADS, _lines(history)),
    ".txt": lambda history, _: text(history, stories(history, history.chosen)),
    ".json": lambda history, _: (
        msgspec.json.format(msgspec.json.encode(report(history)), indent=1).decode() + "\n"
    ),
}
