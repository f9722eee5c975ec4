"""A history of a metadata log in words: what was read, findings, the changes of partitions."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from ..rows.columns import Rows, plural
from ..rows.sentences import aligned
from .change_words import (
    HEADS,
    METADATA_VERSION,
    ChangeLine,
    change_line,
    time_words,
    version_words,
)
from .findings.finding import Finding
from .incident_rows import Numbered, concerned, incident_rows
from .metadata_history import MetadataHistory
from .records import UNKNOWN
from .states import LogEvent, PartitionKey, PartitionState

TOLD_MAX, NAMES_MAX = 100, 3
"""So many findings stand in a terminal or a notebook, and names of partitions in a sentence."""
KINDS = {
    "lost": "committed records are missing: the log files of brokers prove it",
    "occasion": "a loss was possible, and nothing says whether it happened",
    "sure": "a fact of the log",
    "note": "harmless; it explains what looks strange",
}


class PartitionStory(NamedTuple):
    """One partition of a history: what its picture is drawn from, its findings by their numbers,
    and a line for each change, with the moment of the picture at which it stands.
    """

    name: str
    rows: Rows
    findings: tuple[Numbered, ...]
    changes: tuple[tuple[int, ChangeLine], ...]


def stories(history: MetadataHistory, names: Sequence[str]) -> Iterator[PartitionStory]:
    """One for each partition of these names; a topic that was created again has two.

    Raises UnreadableInputError where the input cannot be read again, ValueError for a partition
    that is not in the log.
    """
    events = history.events(*names) if names else ()
    for name in names:
        keys = _keys(events, name)
        if not keys:
            raise ValueError(f"there is no partition {name!r} in this log")
        for key in keys:
            yield _story(history, events, name, key)


def _keys(events: Sequence[LogEvent], name: str) -> list[PartitionKey]:
    about = (event.partition for event in events)
    return [*dict.fromkeys(p.key for p in about if p is not None and p.name == name)]


def _story(
    history: MetadataHistory, events: Sequence[LogEvent], name: str, key: PartitionKey
) -> PartitionStory:
    mine = concerned(events, key)
    brokers = {b for e in mine if e.partition for b in e.partition.replicas}
    numbered = enumerate(history.findings, 1)
    found = tuple((n, f) for n, f in numbered if _is_about(f, name, brokers))
    whole = history.first is not None and history.first.offset == 0
    rows = incident_rows(mine, key, found, remarks=history.remarks, whole=whole)
    return PartitionStory(name, rows, found, tuple(_changes(mine, rows)))


def _is_about(finding: Finding, name: str, brokers: set[int]) -> bool:
    if finding.partitions:
        return name in finding.partitions
    return not finding.lives or any(broker in brokers for broker, _ in finding.lives)


def _changes(events: Sequence[LogEvent], rows: Rows) -> Iterator[tuple[int, ChangeLine]]:
    """All of them, also those for which the picture has no room: these stand at its first moment
    or its last one.
    """
    places = {tick.offset: tick.x for tick in rows.ticks}
    state: PartitionState | None = None
    for event in events:
        state = event.after if event.partition is not None else state
        early = event.record.offset < rows.ticks[0].offset
        beyond = 0 if early else rows.meta.end - 1
        yield places.get(event.record.offset, beyond), change_line(event, state)


# --- what was read --------------------------------------------------------------------------------


def read_lines(history: MetadataHistory) -> Iterator[str]:
    """What was read, what it is of, and what is missing."""
    for file in history.read:
        yield f"{file.file}: {file.kind}, offsets {file.first} to {file.last}"
    if history.first is None or history.last is None:
        yield "no records"
        return
    first, last = history.first, history.last
    times = f"{time_words(first.time)} to {time_words(last.time)}"
    yield f"records from offset {first.offset} to {last.offset}, {times}"
    yield "times are those of the active controllers, in UTC"
    yield f"at the end: {', '.join(_at_the_end(history))}"
    if not history.is_whole:
        yield "the reading was stopped: all of this is about the part that was read"
    for remark in history.remarks:
        yield f"{remark.file}: {remark.text}" if remark.file else remark.text


def _at_the_end(history: MetadataHistory) -> Iterator[str]:
    cluster = history.cluster
    if cluster.controller_epoch != UNKNOWN:
        of = "" if cluster.controller == UNKNOWN else f" (controller {cluster.controller})"
        yield f"controller epoch {cluster.controller_epoch}{of}"
    level = cluster.features.get(METADATA_VERSION, 0)
    yield f"metadata version {version_words(level)}"
    yield f"eligible leader replicas {'on' if cluster.has_elr else 'off'}"
    yield plural(len(history.partitions), "partition")
    for id, life in sorted(cluster.lives.items()):
        kafka = f"Kafka {life.release}" if life.release else "of an unknown release"
        yield f"broker {id} {kafka}"


# --- findings -------------------------------------------------------------------------------------


def where_words(finding: Finding, most: int = NAMES_MAX) -> str:
    """``orders-0, orders-1 and 4,988 more``; brokers where it is about no partition."""
    names = finding.partitions
    if not names:
        brokers = dict.fromkeys(broker for broker, _ in finding.lives)
        return ", ".join(f"broker {broker}" for broker in brokers) or "controllers"
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def place_words(finding: Finding) -> str:
    """``54–62``."""
    return str(finding.offset) if finding.until is None else f"{finding.offset}–{finding.until}"


def more_words(finding: Finding) -> Iterator[str]:
    """What prevents it, what nobody can say, and lines of log files."""
    if finding.guards:
        since = f", from Kafka {finding.release} on" if finding.release else ", in no release"
        yield f"This would have prevented it: {', '.join(finding.guards)}{since}."
    if finding.cannot_say:
        yield f"Nobody can say from the log {finding.cannot_say}."
    yield from finding.lines


def findings_sentence(history: MetadataHistory) -> str:
    """``5 findings: 2 occasion, 1 sure, 2 note``."""
    if not history.findings:
        return "no findings"
    counts = {kind: sum(f.kind == kind for f in history.findings) for kind in KINDS}
    told = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
    more = f"; {history.left_out:,} more were counted only" if history.left_out else ""
    return f"{plural(len(history.findings), 'finding')}: {told}{more}"


def _finding_lines(history: MetadataHistory) -> Iterator[str]:
    for number, finding in enumerate(history.findings[:TOLD_MAX], 1):
        about = f"{finding.rule}, {where_words(finding)}, offset {place_words(finding)}"
        yield f"{number}. {finding.kind}: {about}"
        yield f"   {finding.sentence}"
        yield from (f"   {line}" for line in more_words(finding))
    left = len(history.findings) - TOLD_MAX
    if left > 0:
        yield f"{left:,} more: write them with -o to a .csv or .json file"


# --- as a whole -----------------------------------------------------------------------------------


def text(history: MetadataHistory, told: Sequence[PartitionStory] = ()) -> str:
    """All of it as text for a terminal or a file."""
    parts = [*_part("What was read", read_lines(history))]
    parts += _part(findings_sentence(history).capitalize(), _finding_lines(history))
    for story in told:
        body = [[str(cell) for cell in line] for _, line in story.changes]
        parts += _part(story.name, aligned([*HEADS], body).splitlines())
    return "\n".join(parts)


def _part(heading: str, lines: Iterator[str] | list[str]) -> list[str]:
    return [heading, "-" * len(heading), *lines, ""]


def report(history: MetadataHistory) -> dict[str, Any]:
    """The same as plain values, for programs."""
    return {
        "read": msgspec.to_builtins(history.read),
        "whole": history.is_whole,
        "remarks": msgspec.to_builtins(history.remarks),
        "findings": [_reported(finding) for finding in history.findings],
        "left_out": history.left_out,
    }


def _reported(finding: Finding) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(finding)
    del plain["event"]
    return {"partition": next(iter(finding.partitions), ""), **plain}
