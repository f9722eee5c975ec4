"""What happened in a cluster, from its metadata log: one pass over the files, another for pictures.

>>> import kiplab
>>> history = kiplab.read_metadata_log("00000000000000000000.log")  # doctest: +SKIP
>>> [finding.sentence for finding in history.findings]  # doctest: +SKIP
"""

import gc
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import msgspec

from .anonymising import InputNames
from .as_play.play_of_history import NoHistoryError, PlayOfHistory, as_play
from .findings.finding import Finding
from .findings.rule import Thresholds
from .findings.rule_table import findings_at_end, findings_of
from .gathering import GatheredFindings
from .log_evidence import NodeLogs
from .log_items import UNKNOWN, FileRead, LogItem, OffsetAndTime, Remark
from .reading.log_reading import ByteProgress, read_items
from .replayed_log.replaying import Replay
from .states import ClusterState, LogEvent, PartitionKey, PartitionState, RegisteredIncarnation

PICTURED = 5
_YOUNG_OBJECTS = 100_000
"""So many are made between two searches for cycles, of which a pass makes none: at Python's own 700
these take a tenth of its time.
"""


class MetadataHistory(msgspec.Struct, frozen=True):
    """What a metadata log tells of its cluster.

    `findings` are the gravest first; `left_out` more were found. `cluster` and `partitions` are the
    states at the end of what was read, `first` and `last` its first and last records, None without
    any. `is_whole` is False where the reader was stopped before the end (Ctrl-C). `chosen` are the
    partitions that were asked for by name.
    """

    read: tuple[FileRead, ...]
    remarks: tuple[Remark, ...]
    findings: tuple[Finding, ...]
    left_out: int
    cluster: ClusterState
    partitions: Mapping[PartitionKey, PartitionState]
    first: OffsetAndTime | None
    last: OffsetAndTime | None
    is_whole: bool = True
    chosen: tuple[str, ...] = ()
    _items: Iterable[LogItem] = ()
    _passes: dict[frozenset[str], tuple[LogEvent, ...]] = {}

    @property
    def pictured(self) -> tuple[str, ...]:
        """The partitions that were chosen, else those of the five gravest findings."""
        gravest = (finding.partitions[0] for finding in self.findings if finding.partitions)
        return self.chosen or tuple(dict.fromkeys(gravest))[:PICTURED]

    def events(self, *partitions: str) -> tuple[LogEvent, ...]:
        """The events of the partitions, with those of all brokers and of the cluster, and maybe
        those of other partitions: another pass over the files, the first time for all `pictured`.

        Raises UnreadableInputError where a file is not what it was.
        """
        wanted = frozenset(partitions)
        for names, events in self._passes.items():
            if wanted <= names:
                return events
        names = wanted if self._passes else wanted | {*self.pictured}
        self._passes[names] = tuple(_events_of(names, self._items))
        return self._passes[names]

    def play(
        self, partition: str, *, since: str | int | None = None, disk: str = "tail-lost"
    ) -> PlayOfHistory:
        """A play that makes the engine write the records of a partition, from the first one at or
        after `since` on; `disk` is what a process that dies takes along. Of topics of one name it
        is the one that was created last.

        Raises NoHistoryError for a partition that the log has not, UnreadableInputError where a
        file is not what it was, ValueError for a bound that is none.
        """
        begin, told = _bound(since), self.events(partition)
        events = [e for e in told if not begin or not _is_before(e.record.moment, begin)]
        keys = [e.after.key for e in events if e.after and e.after.name == partition]
        if not keys:
            raise NoHistoryError(f"there is no partition {partition!r} in this log")
        return as_play(events, keys[-1], disk=disk)


def read_metadata_log(
    *files: str | Path,
    partitions: Iterable[str] = (),
    topic: str | None = None,
    broker: int | None = None,
    from_: str | int | None = None,
    to: str | int | None = None,
    limit_ms: int = 1000,
    every: bool = False,
    logs: Iterable[str | Path] = (),
    zone: str | None = None,
    anonymise: bool = False,
    progress: ByteProgress | None = None,
) -> MetadataHistory:
    """Replay the metadata log of a real cluster, and say what it shows.

    `files` are segments, checkpoints, dumps (also ``.gz``), folders of them, or ``"-"`` for
    standard input. `partitions` (``"orders-0"``), `topic`, `broker`, `from_` and `to` (an offset,
    or a time in ISO 8601, UTC unless it says another zone) choose whose findings are told.
    `limit_ms` is how long a partition may be without a leader. `every` tells also what the releases
    involved exclude.

    `logs` are log files of nodes (state-change.log, controller.log, server.log) or folders of them,
    with times of the `zone`, as in ``"+02:00"``: findings quote them, and they may prove a loss.
    With `anonymise` topics, hosts, racks, directories and principals have other names everywhere.

    Ctrl-C ends the reading: the history is that of what was read until then.

    Raises UnreadableInputError where no history can be made of the input, ValueError for a bound
    that is neither an offset nor a time, for a zone that is none, and where nothing in the log is
    about what was chosen.
    """
    source, found = read_items(files, progress=progress), GatheredFindings()
    items = InputNames(source, others=anonymise)
    partitions = [*partitions]
    wanted = [*partitions, *[f"topic {topic}"] * bool(topic)]
    wanted += [f"broker {broker}"] * (broker is not None)
    chosen = tuple(map(items.partition, partitions))
    topic = items.name("topic", topic) if topic else topic
    asked = _Asked(frozenset(chosen), topic, broker, _bound(from_), _bound(to))
    thresholds, is_everything = Thresholds(limit_ms, every), asked == _EVERYTHING
    replay, is_whole, nodes = Replay(found.add), True, NodeLogs(logs, zone, items)
    is_met = not wanted
    young, *older = gc.get_threshold()
    gc.set_threshold(_YOUNG_OBJECTS, *older)
    try:
        for event in replay.events(items):
            nodes.add(event)
            if is_everything:
                found.add_all(findings_of(event, thresholds, found.leaves_out))
            elif asked.is_about(event.partition, event.incarnation):
                is_met |= bool(event.partition or (event.incarnation and broker is not None))
                told = findings_of(event, thresholds)
                found.add_all(asked.within(told, event.record.moment))
    except KeyboardInterrupt:
        is_whole = False
    finally:
        gc.set_threshold(young, *older)
    if replay.last:
        states = [state for state in replay.partitions.values() if asked.is_about(state)]
        at_end = findings_at_end(replay.cluster, states, replay.last, thresholds, replay.first)
        found.add_all(asked.within(at_end, replay.last))
        if is_whole and not is_met and not states:
            said = [f"nothing in this log is about {', '.join(wanted)}"]
            raise ValueError("; ".join(said + [remark.text for remark in replay.remarks]))
    return MetadataHistory(
        read=tuple(map(items.file, source.files_read)),
        remarks=(*replay.remarks, *nodes.remarks),
        findings=tuple(nodes.evidence(found.in_order(), asked.is_named)),
        left_out=found.left_out,
        cluster=replay.cluster,
        partitions=replay.partitions,
        first=replay.first,
        last=replay.last,
        is_whole=is_whole,
        chosen=chosen,
        _items=items,
    )


class _Asked(NamedTuple):
    """Whose findings are told. A bound has an offset or a time."""

    partitions: frozenset[str]
    topic: str | None
    broker: int | None
    since: OffsetAndTime | None
    until: OffsetAndTime | None

    def is_about(
        self, partition: PartitionState | None, incarnation: RegisteredIncarnation | None = None
    ) -> bool:
        if partition is None:
            return incarnation is None or self.broker in (None, incarnation.broker)
        return self.broker in (None, *partition.replicas) and self.is_named(partition.name)

    def is_named(self, partition: str) -> bool:
        names, topic = self.partitions, partition.rpartition("-")[0]
        return (not names or partition in names) and self.topic in (None, topic)

    def within(self, found: Iterable[Finding], end: OffsetAndTime) -> Iterator[Finding]:
        """Those between the bounds, of findings that were made at `end`."""
        if self.since and _is_before(end, self.since):
            return
        for finding in found:
            at = OffsetAndTime(finding.offset, finding.time)
            if not self.until or not _is_before(self.until, at):
                yield finding


_EVERYTHING = _Asked(frozenset(), None, None, None, None)


def _is_before(moment: OffsetAndTime, other: OffsetAndTime) -> bool:
    if UNKNOWN in (moment.offset, other.offset):
        return moment.time < other.time
    return moment.offset < other.offset


def _bound(given: str | int | None) -> OffsetAndTime | None:
    if given is None or str(given).isdigit():
        return None if given is None else OffsetAndTime(int(given))
    try:
        time = datetime.fromisoformat(str(given))
    except ValueError:
        raise ValueError(f"{given!r} is neither an offset nor a time in ISO 8601") from None
    time = time if time.tzinfo else time.replace(tzinfo=UTC)
    return OffsetAndTime(UNKNOWN, round(time.timestamp() * 1000))


def _events_of(names: frozenset[str], items: Iterable[LogItem]) -> Iterator[LogEvent]:
    for event in Replay(lambda _: None).events(items):
        named = event.partition.name in names if event.partition else True
        if named and event.record.type != "TOPIC_RECORD":
            yield event
