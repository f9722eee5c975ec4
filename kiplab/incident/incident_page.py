"""A history of a metadata log as a page: findings as a table, and pictures of partitions."""

from collections.abc import Iterable, Sequence
from html import escape

from ..pages.page import fragment, plotlyjs
from ..pages.page_files import AUTO, GLOW, html_page, page_file, page_files
from ..rows.sentences import html_table, part
from .change_words import HEADS, time_words
from .findings.finding import Finding
from .history_words import (
    KINDS,
    PartitionStory,
    findings_sentence,
    more_words,
    place_words,
    read_lines,
    where_words,
)
from .incident_rows import finding_id
from .metadata_history import MetadataHistory

TITLE = "What the metadata log shows"
HONEST = (
    "The metadata log says who led, who was in sync and which process each broker was. It never"
    " mentions a message: it shows moments at which a loss was possible, and no loss itself."
)
ROWS_MAX = 1000
"""So many findings stand in the table of a page."""


def incident_page(
    history: MetadataHistory, told: Sequence[PartitionStory], *, theme: str = AUTO
) -> str:
    """The whole page as HTML: one file that asks nobody on the network.

    `theme` is "light", "dark", or "auto" for its reader's. Raises ValueError for another one,
    MissingExtraError without plotly.
    """
    parts = (
        f"<h1>{TITLE}</h1>",
        f"<p>{escape(findings_sentence(history).capitalize())}. {HONEST}</p>",
        findings_table(history, [story.name for story in told]),
        *(_picture(number, story, theme) for number, story in enumerate(told)),
        f"<section><h2>What was read</h2>{_list(map(escape, read_lines(history)))}</section>",
    )
    scripts = page_files(*GLOW, "linked_words.js")
    return html_page(
        TITLE,
        "\n".join(parts),
        theme=theme,
        style="\n".join(map(page_file, ("page.css", "glow.css", "incident.css"))),
        width=1012,
        head=f"<script>{plotlyjs()}</script>\n" if told else "",
        scripts=f"<script>\n(() => {{\n{scripts}\n}})();\n</script>\n",
    )


def _list(items: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>"


# --- findings -------------------------------------------------------------------------------------


def findings_table(history: MetadataHistory, pictured: Sequence[str] = ()) -> str:
    """A section with a line for each finding; partitions that are `pictured` are links."""
    if not history.findings:
        return "<section><h2>Findings</h2><p>No rule found anything.</p></section>"
    shown = history.findings[:ROWS_MAX]
    lines = (_line(number, finding, pictured) for number, finding in enumerate(shown, 1))
    heads = ("number", "kind", "rule", "where", "offset", "time (UTC)", "what was found")
    kinds = "; ".join(f"{kind}: {words}" for kind, words in KINDS.items())
    left = len(history.findings) - len(shown)
    more = f"<p>{left:,} more: write them to a .csv or .json file.</p>" if left else ""
    table = html_table(f"Findings, the gravest first. {kinds}.", heads, "".join(lines))
    return (
        "<section><h2>Findings</h2>"
        '<div class="scroll" tabindex="0" role="region" aria-label="findings">'
        f"{table}</div>{more}</section>"
    )


def _line(number: int, finding: Finding, pictured: Sequence[str]) -> str:
    names = [name for name in pictured if name in finding.partitions]
    links = ", ".join(f'<a href="#picture-{pictured.index(n)}">{escape(n)}</a>' for n in names[:3])
    cells = (
        f'<span class="kind {finding.kind}">{finding.kind}</span>',
        finding.rule,
        f"{links}{_others(finding, names)}" if links else escape(where_words(finding)),
        place_words(finding),
        time_words(finding.time),
        f"{escape(finding.sentence)}{_details(finding)}",
    )
    return (
        f'<tr id="finding-{number}"><th scope="row">{number}</th>'
        + "".join(f"<td>{cell}</td>" for cell in cells)
        + "</tr>"
    )


def _others(finding: Finding, names: Sequence[str]) -> str:
    count = len(finding.partitions) - len(names[:3])
    return f" and {count:,} more" if count else ""


def _details(finding: Finding) -> str:
    """What else is known of it, folded away."""
    items = [escape(line) for line in more_words(finding)]
    items += [escape(f"broker {id} as broker epoch {epoch}") for id, epoch in finding.lives]
    items += [f"<code>{escape(f'{r.offset} {r.type} {r.fields}')}</code>" for r in finding.evidence]
    return f"<details><summary>more</summary>{_list(items)}</details>" if items else ""


# --- a partition ----------------------------------------------------------------------------------


def _picture(number: int, story: PartitionStory, theme: str) -> str:
    """A partition: its timeline with a player, its findings and changes, which light up in it."""
    name, id = escape(story.name), f"picture-{number}"
    return (
        f'<section data-lights id="{id}" aria-label="{name}"><h2>{name}</h2>\n'
        f"{fragment(story.rows, id=f'kiplab-{number}', theme=theme)}\n"
        f"{_found(story)}"
        f"{changes_table(story)}</section>"
    )


def _found(story: PartitionStory) -> str:
    places = {mark.event.partition(".")[2]: mark.event for mark in story.rows.marks}
    items = [
        part(f"{n}. {finding.rule}: {finding.sentence}", places[finding_id(0, n)[2:]])
        for n, finding in story.findings
        if finding_id(0, n)[2:] in places
    ]
    if not items:
        return ""
    return (
        f"<h3>Findings about {escape(story.name)}</h3>"
        f'<div data-told data-finds tabindex="0" role="group"'
        f' aria-label="findings about {escape(story.name)}">{_list(items)}</div>'
    )


def changes_table(story: PartitionStory) -> str:
    """Every change as a line."""
    name = escape(story.name)
    lines = (
        f'<tr data-about="{x}"><th scope="row">{line.offset}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in line[1:])
        + "</tr>"
        for x, line in story.changes
    )
    table = html_table(f"Every change of {story.name} and of its brokers", HEADS, "".join(lines))
    return (
        f"<h3>{name}: every change</h3>"
        f'<div class="scroll" data-told data-finds tabindex="0" role="group"'
        f' aria-label="changes of {name}">{table}</div>'
    )
