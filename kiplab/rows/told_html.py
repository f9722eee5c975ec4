"""The sentences and the table as HTML, in which every part says what it is about.

`data-about` has the ids of events, or the number of a step for all that happened there: a page's
script, `glow.js`, finds the marks of a picture by it.
"""

from collections.abc import Iterable
from html import escape

from .columns import Rows
from .sentences import Sentence, story, table

_RUNS = ("", "b", "c", "d")


def about(ids: Iterable[object], run: int = 0) -> str:
    """The ids as pages have them: those of the first run as they are, ``b6.2`` of the second."""
    return " ".join(f"{_RUNS[run]}{id}" for id in ids)


def story_html(rows: Rows, run: int = 0) -> str:
    """The sentences as a list; `run` counts the runs of a page from 0."""
    return f"<ul>{''.join(_item(sentence, run) for sentence in story(rows))}</ul>"


def _item(sentence: Sentence, run: int) -> str:
    if sentence.x is None:
        return f"<li>{escape(str(sentence))}</li>"
    step = about((sentence.x,), run)
    told = "; ".join(part(t.words, about(t.events, run) or step) for t in sentence.told)
    return f"<li>{part(sentence.head, step)}{': ' if told else ''}{told}.</li>"


def part(words: str, ids: str) -> str:
    """Words that are about the events of these ids."""
    return f'<span data-about="{ids}">{escape(words)}</span>'


def table_html(rows: Rows, partition: str | None = None, run: int = 0) -> str:
    """The table as HTML: a caption, column and row headers with their scope, everything escaped."""
    name = partition or rows.busiest
    heads, body = table(rows, partition)
    caption = escape(f"{rows.meta.title}: partition {name} and its brokers, step by step")
    head = "".join(f'<th scope="col">{escape(h)}</th>' for h in heads)
    lines = (
        f'<tr data-about="{about((first,), run)}"><th scope="row">{escape(first)}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in rest)
        + "</tr>"
        for first, *rest in body
    )
    return (
        f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(lines)}</tbody></table>"
    )
