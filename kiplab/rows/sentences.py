"""The same story without a picture: sentences, one paragraph, a table."""

from collections.abc import Iterable, Iterator
from html import escape
from typing import NamedTuple

from . import columns, message_paths

LOG = "in the logs of Kafka"
_ROUTINE = ("lifecycle", "registered")
"""Kinds of events whose log lines the sentences leave to the table."""
_UNSPOKEN = (
    *("sent", "delivered", "dropped", "became-follower", "registered"),
    *("requests-queued", "session-opened", "controller-elected"),
)
"""Kinds of events left out of the sentences: something else says the same."""


class SentencePart(NamedTuple):
    """A part of a sentence: what happened, and the ids of the events that it tells."""

    words: str
    events: tuple[str, ...]


class Sentence(NamedTuple):
    """What is said of moment `x`: `head`, and what happened there; None for the end."""

    x: int | None
    head: str
    parts: tuple[SentencePart, ...] = ()

    def __str__(self) -> str:
        parts = "; ".join(part.words for part in self.parts)
        return f"{self.head}: {parts}." if parts else f"{self.head}."


def sentences(rows: columns.Rows) -> list[str]:
    """The start, one sentence per moment, the end, the verdict: enough to solve exercises from."""
    return [str(sentence) for sentence in story(rows)]


def story(rows: columns.Rows) -> Iterator[Sentence]:
    """The same, with what each part of a sentence is about."""
    title = f"{rows.meta.title}, on Kafka {rows.meta.features}."
    yield Sentence(0, f"{title} At the start: {'; '.join(_standing(rows, 0))}")
    for moment in rows.moments[1:]:
        head = f"{moment.x}. {moment.text} (line {moment.line})"
        told_parts = tuple(_told(rows, moment.x)) or (SentencePart("nothing changes", ()),)
        yield Sentence(moment.x, head, told_parts)
    last = rows.meta.end - 1
    yield Sentence(None, f"At the end: {'; '.join(_standing(rows, last))}")
    yield Sentence(None, f"Verdict: {rows.meta.verdict} ({rows.meta.sentence})")


def summary(rows: columns.Rows) -> str:
    """One paragraph: what was played, what became of the messages that mattered, the verdict.
    Of a metadata log, what it shows.
    """
    meta = rows.meta
    if not meta.verdict:
        return meta.sentence
    steps = columns.plural(len(rows.moments) - 1, "step")
    *others, last = map(str, meta.brokers)
    brokers = f"brokers {', '.join(others)} and {last}" if others else f"broker {last}"
    parts = [f"{meta.title} (Kafka {meta.features}, {steps}, {brokers})."]
    parts += [_fate(message) for message in message_paths.drawn_messages(rows)]
    parts += [_remark(mark) for mark in rows.marks if mark.kind in _TOLD_MARKS]
    parts += [
        f"From {s.x0} to {s.x1}, {s.lane} is up, is assigned {s.partition} and does not fetch it."
        for s in rows.spans
        if "idle" in s.flags
    ]
    states = (span for span in rows.spans if (span.lane, span.track) == ("records", "state"))
    parts += [_trouble(span) for span in states if span.value != "safe"]
    return " ".join([*parts, f"Verdict: {meta.sentence}."])


def table(rows: columns.Rows) -> tuple[list[str], list[list[str]]]:
    """(heads, lines): one line per moment, with the state that holds from it on."""
    name = rows.busiest
    lanes = [columns.broker_lane(b) for b in rows.meta.brokers]
    tracks = columns.strips_of((rows,), name)
    heads = ["moment", "line", "what happens", *tracks]
    body = []
    for moment in rows.moments:
        strips = [rows.text("partition", t, moment.x, name) for t in tracks]
        brokers = [_cell(rows, lane, moment.x, name) for lane in lanes]
        records = rows.text("records", "state", moment.x, name)
        line = str(moment.line or "")
        log = " | ".join(said for e in rows.events if e.x == moment.x for said in _log_of(e))
        body.append([str(moment.x), line, moment.label, *strips, *brokers, records, log])
    return [*heads, *lanes, "committed records", LOG], body


def _log_of(event: columns.EventRow, without: tuple[str, ...] = ()) -> list[str]:
    """Its log lines, unless its kind is one of those."""
    return [] if event.kind in without else [line for line in event.log.split("\n") if line]


def table_text(rows: columns.Rows) -> str:
    """The table in aligned columns, for a terminal."""
    heads, body = table(rows)
    # Lines of logs are wider than all else together, and the sentences have them.
    return aligned(heads[:-1], [line[:-1] for line in body])


def aligned(heads: list[str], body: list[list[str]]) -> str:
    """A table in aligned columns."""
    widths = [max(len(line[n]) for line in (heads, *body)) for n in range(len(heads))]
    rule = ["-" * width for width in widths]
    padded = (
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        for line in (heads, rule, *body)
    )
    return "\n".join(line.rstrip() for line in padded) + "\n"


# --- sentences ----------------------------------------------------------------------------------


def _standing(rows: columns.Rows, x: int) -> Iterator[str]:
    """Everything that holds at `x`: the controller's epoch, queues, partitions, brokers."""
    if columns.tells_epochs(rows):
        yield rows.text(*columns.CONTROLLER_EPOCH, x)
    yield from filter(None, (_queue(rows, lane, x) for lane in columns.queues_in(rows)))
    for name in rows.meta.partitions:
        tracks = columns.strips_of((rows,), name)
        said = ((track, rows.text("partition", track, x, name)) for track in tracks)
        values = [f"{track} {text}" for track, text in said if text]
        records = rows.text("records", "state", x, name)
        yield f"{name} has {', '.join(values)}, committed records {records}"
    for id in rows.meta.brokers:
        for name in rows.meta.partitions or ("",):
            yield f"broker {id}: {_broker(rows, columns.broker_lane(id), x, name)}"


def _told(rows: columns.Rows, x: int) -> Iterator[SentencePart]:
    """What happened at `x`: messages that arrive, events, messages that stay on their way."""
    delayed = [m for m in message_paths.drawn_messages(rows) if m.x_arrived != m.x_sent]
    for message in delayed:
        if message.x_arrived == x:
            fate = "is lost" if message.fate == "dropped" else "arrives"
            words = f"{message.detail} of {message.sender}, sent at {message.x_sent}, {fate}"
            yield SentencePart(words, message.ended)
    here = [event for event in rows.events if event.x == x]
    for event in here:
        if event.kind not in _UNSPOKEN:
            yield SentencePart(event.text.rstrip("."), (event.id,))
    for event in here:
        for line in _log_of(event, _ROUTINE):
            if "DEBUG" not in line:
                yield SentencePart(f"in the {line.rstrip('.')}", (event.id,))
    for lane in columns.queues_in(rows):
        if _queue(rows, lane, x) not in ("", _queue(rows, lane, x - 1)):
            yield SentencePart(_queue(rows, lane, x), ())
    for message in delayed:
        if message.x_sent == x:
            words = f"{message.sender} sends {message.detail} to {message.receiver}"
            yield SentencePart(f"{words}: it is on its way", (message.began,))


def _queue(rows: columns.Rows, lane: str, x: int) -> str:
    """``7 requests wait for czxid 100 of broker 1``; empty if nothing does."""
    waiting = rows.text("controller", f"{columns.QUEUE_FOR}{lane}", x)
    return f"{waiting} of {lane}" if waiting else ""


def _broker(rows: columns.Rows, lane: str, x: int, partition: str) -> str:
    tracks = (
        *("uptime", "down", "registered", "fenced", "shutting down", "passed over"),
        *("role", "log"),
    )
    return ", ".join(filter(None, (rows.text(lane, track, x, partition) for track in tracks)))


def _cell(rows: columns.Rows, lane: str, x: int, partition: str) -> str:
    """As `_broker`, for a column."""
    words = _broker(rows, lane, x, partition).replace("broker epoch", "epoch")
    return words.split(", high watermark")[0].replace("log ends at offset", "log end")


# --- summary ------------------------------------------------------------------------------------


def _fate(message: columns.MessageRow) -> str:
    start = f"{message.detail}, sent by {message.sender} at {message.x_sent},"
    if message.x_arrived is None:
        return f"{start} is still on its way."
    if message.fate == "refused":
        why = f" ({'; '.join(message.compared)})" if message.compared else ""
        return f"{start} arrives at {message.x_arrived} and is refused: {message.error}{why}."
    if message.fate == "dropped":
        return f"{start} never arrives: {message.outcome}."
    outcome = f" and is {message.outcome}" if message.outcome else ""
    return f"{start} arrives at {message.x_arrived}{outcome}."


_TOLD_MARKS = ("bounced", "unchanged", "checkpoint lost")
"""Marks that no message, and nothing that lasts, says as well: runs with ZooKeeper have them."""


def _remark(mark: columns.MarkRow) -> str:
    who = "the controller sees" if mark.kind == "bounced" else mark.lane
    who = "the controller" if mark.kind == "unchanged" else who
    return f"At {mark.x} {who}: {mark.text}."


def _trouble(span: columns.SpanRow) -> str:
    if span.value == "lost":
        return f"From {span.x0} on, {span.partition} is without {span.text.removesuffix(' lost')}."
    words = {"at risk": "committed records of {} are at risk", "offline": "{} has no leader"}
    return f"From {span.x0} to {span.x1}, {words[span.value].format(span.partition)}."


# --- told html ------------------------------------------------------------------------------------


_RUNS = ("", "b", "c", "d")


def about(ids: Iterable[object], run: int = 0) -> str:
    """The ids as pages have them: those of the first run as they are, ``b6.2`` of the second."""
    return " ".join(f"{_RUNS[run]}{id}" for id in ids)


def story_html(rows: columns.Rows, run: int = 0) -> str:
    """The sentences as a list; `run` counts the runs of a page from 0."""
    return f"<ul>{''.join(_item(sentence, run) for sentence in story(rows))}</ul>"


def _item(sentence: Sentence, run: int) -> str:
    if sentence.x is None:
        return f"<li>{escape(str(sentence))}</li>"
    step = about((sentence.x,), run)
    parts = "; ".join(part(t.words, about(t.events, run) or step) for t in sentence.parts)
    return f"<li>{part(sentence.head, step)}{': ' if parts else ''}{parts}.</li>"


def part(words: str, ids: str) -> str:
    """Words that are about the events of these ids."""
    return f'<span data-about="{ids}">{escape(words)}</span>'


def table_html(rows: columns.Rows, run: int = 0) -> str:
    """The table as HTML: a caption, column and row headers with their scope, everything escaped."""
    heads, body = table(rows)
    caption = f"{rows.meta.title}: partition {rows.busiest} and its brokers, step by step"
    lines = (
        f'<tr data-about="{about((first,), run)}"><th scope="row">{escape(first)}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in rest)
        + "</tr>"
        for first, *rest in body
    )
    return html_table(caption, heads, "".join(lines))


def html_table(caption: str, heads: Iterable[str], body: str) -> str:
    """A table whose caption and heads are text; `body` are its rows, as HTML."""
    head = "".join(f'<th scope="col">{escape(h)}</th>' for h in heads)
    return (
        f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )
