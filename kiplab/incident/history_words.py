"""A history of a metadata log in words: what was read, findings, the changes of partitions."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from ..protocol.guards import GUARDS
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
from .log_items import UNKNOWN
from .metadata_history import MetadataHistory
from .states import LogEvent, PartitionKey, PartitionState

TOLD_MAX, NAMES_MAX = 100, 3
"""So many findings stand in a terminal or a notebook, and names of partitions in a sentence."""
KINDS = {
    "lost": "committed records are missing, as log files of brokers prove",
    "occasion": "a loss was possible, and nothing says whether it happened",
    "sure": "a fact of the log",
    "note": "harmless, and explains what looks strange",
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
        about = (event.partition for event in events)
        keys = dict.fromkeys(p.key for p in about if p is not None and p.name == name)
        if not keys:
            raise ValueError(f"there is no partition {name!r} in this log")
        yield from (_story(history, concerned(events, key), name, key) for key in keys)


def _story(
    history: MetadataHistory, events: Sequence[LogEvent], name: str, key: PartitionKey
) -> PartitionStory:
    brokers = {b for e in events if e.partition for b in e.partition.replicas}
    numbered = enumerate(history.findings, 1)
    found = tuple((n, f) for n, f in numbered if _is_about(f, name, brokers))
    gaps = [r for r in history.remarks if r.kind in ("gap", "damaged")]
    missing = any(gap.offset < events[0].record.offset for gap in gaps)
    whole = history.first is not None and history.first.offset == 0 and not missing
    rows = incident_rows(events, key, found, remarks=gaps, whole=whole)
    return PartitionStory(name, rows, found, tuple(_changes(events, rows)))


def _is_about(finding: Finding, name: str, brokers: set[int]) -> bool:
    if finding.partitions:
        return name in finding.partitions
    return not finding.incarnations or any(broker in brokers for broker, _ in finding.incarnations)


def _changes(events: Sequence[LogEvent], rows: Rows) -> Iterator[tuple[int, ChangeLine]]:
    """Those for which the picture has no room stand at its first moment or its last one."""
    places = {tick.offset: tick.x for tick in rows.ticks}
    state: PartitionState | None = None
    for event in events:
        state = event.after if event.partition is not None else state
        offset = event.record.offset
        beyond = 0 if offset < rows.ticks[0].offset else rows.meta.end - 1
        yield places.get(offset, beyond), change_line(event, state)


# --- what was read, and what was found ------------------------------------------------------------


def read_lines(history: MetadataHistory) -> Iterator[str]:
    """What was read, what it is of, and what is missing."""
    for file in history.read:
        yield f"{file.file}: {file.kind}, offsets {file.first} to {file.last}"
    if history.first is not None and history.last is not None:
        first, last = history.first, history.last
        times = f"{time_words(first.time)} to {time_words(last.time)}"
        offsets = f"offsets {first.offset} to {last.offset}"
        yield f"{offsets}, {times} (UTC, by the clocks of the controllers)"
    yield f"at the end: {', '.join(_at_the_end(history))}"
    yield from missing_lines(history)


def missing_lines(history: MetadataHistory) -> Iterator[str]:
    """What is missing, or was hard to read."""
    if not history.is_whole:
        yield "the reading was stopped: all of this is about the part that was read"
    for remark in history.remarks:
        yield f"{remark.file}: {remark.text}" if remark.file else remark.text


def _at_the_end(history: MetadataHistory) -> Iterator[str]:
    cluster = history.cluster
    id = cluster.controller_id
    of = "" if id == UNKNOWN else f" (controller {id})"
    yield f"controller epoch {cluster.controller_epoch}{of}"
    yield f"metadata version {version_words(cluster.features.get(METADATA_VERSION, 0))}"
    yield f"eligible leader replicas {'on' if cluster.has_elr else 'off'}"
    yield plural(len(history.partitions), "partition")
    for id, incarnation in sorted(cluster.incarnations.items()):
        release = f"Kafka {incarnation.release}" if incarnation.release else "of unknown release"
        yield f"broker {id} {release}"


def where_words(finding: Finding, most: int = NAMES_MAX) -> str:
    """``orders-0, orders-1 and 4,988 more``; brokers where it is about no partition."""
    brokers = dict.fromkeys(f"broker {broker}" for broker, _ in finding.incarnations)
    names = finding.partitions or tuple(brokers) or ("controllers",)
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def place_words(finding: Finding) -> str:
    """``54–62``; a loss that lines prove may be of no record that was read."""
    offset = "unknown" if finding.offset == UNKNOWN else str(finding.offset)
    return offset if finding.until is None else f"{offset}–{finding.until}"


def more_words(finding: Finding) -> Iterator[str]:
    """What prevents it, what nobody can say, and lines of log files."""
    if finding.guards:
        since = f", from Kafka {finding.release} on" if finding.release else ", in no release"
        guards = [GUARDS[id] for id in finding.guards]
        needs = dict.fromkeys(g.requires for g in guards if not g.alter_partition_version)
        since += "".join(f", with {needed}" for needed in needs if needed)
        but = ", but maybe not a loss" * (finding.kind == "occasion")
        yield f"This would have prevented it{but}: {', '.join(finding.guards)}{since}."
    if finding.cannot_say:
        yield f"Nobody can say from the log {finding.cannot_say}."
    yield from finding.lines


def findings_sentence(history: MetadataHistory) -> str:
    """``5 findings: 2 occasions, 1 sure, 2 notes``."""
    counts = {kind: sum(f.kind == kind for f in history.findings) for kind in KINDS}
    told = ", ".join(
        plural(count, kind) if kind in ("occasion", "note") else f"{count} {kind}"
        for kind, count in counts.items()
        if count
    )
    more = f"; {history.left_out:,} more were counted only" if history.left_out else ""
    return f"{plural(len(history.findings), 'finding')}: {told}{more}" if told else "no findings"


def _finding_lines(history: MetadataHistory) -> Iterator[str]:
    found = {finding.kind for finding in history.findings}
    yield from (f"{kind}: {meaning}" for kind, meaning in KINDS.items() if kind in found)
    for number, finding in enumerate(history.findings[:TOLD_MAX], 1):
        about = f"{finding.rule}, {where_words(finding)}, offset {place_words(finding)}"
        yield f"{number}. {finding.kind}: {about}, {time_words(finding.time)}"
        yield from (f"   {line}" for line in (finding.sentence, *more_words(finding)))
    if len(history.findings) > TOLD_MAX:
        yield f"{len(history.findings) - TOLD_MAX:,} more: write them to a .csv or .json file"


# --- as a whole -----------------------------------------------------------------------------------


def text(history: MetadataHistory, partitions: Iterable[PartitionStory] = ()) -> str:
    """All of it as text for a terminal or a file."""
    parts: dict[str, Iterable[str]] = {"What was read": read_lines(history)}
    parts[findings_sentence(history).capitalize()] = _finding_lines(history)
    for number, story in enumerate(partitions):
        body = [[str(cell) for cell in line] for _, line in story.changes]
        again = " again" if story.name in parts and number else ""
        parts[f"{story.name}{again}"] = aligned([*HEADS], body).splitlines()
    lines = ((heading, "-" * len(heading), *part, "") for heading, part in parts.items())
    return "\n".join(line for part in lines for line in part)


def report(history: MetadataHistory) -> dict[str, Any]:
    """The same as plain values, for programs."""
    return {
        "read": history.read,
        "whole": history.is_whole,
        "remarks": history.remarks,
        "findings": [
            {"partition": next(iter(finding.partitions), ""), **msgspec.structs.asdict(finding)}
            for finding in history.findings
        ],
        "left_out": history.left_out,
    }
