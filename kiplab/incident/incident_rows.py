"""The rows of one partition of a metadata log: a picture's source, without any run of the engine.

A moment is a record that touches the partition, the brokers of its replicas, or the controller.
Moment 0 is what was so before the first of them, the last one stands for all that came later. A
long silence of the controllers, and records that are missing, have a moment of their own.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from msgspec.structs import replace

from ..protocol.ids import broker_list
from ..rows.columns import (
    CONTROLLER_EPOCH,
    FINDINGS,
    UNKNOWN,
    EventRow,
    MarkRow,
    Meta,
    MomentRow,
    Rows,
    SpanRow,
    TickRow,
    broker_lane,
)
from ..rows.snapshots import Reading, spans_of
from . import change_words as words
from .findings.finding import Finding
from .findings.finding_words import span
from .records import UNKNOWN as NO_TIME
from .records import Remark
from .states import NO_LEADER, BrokerLife, ClusterState, LogEvent, PartitionKey, PartitionState

SILENT = 5000
"""Milliseconds without a record from which a controller is called silent, where it writes one
twice a second."""
PAUSE = 60_000
"""Milliseconds between two moments that the axis tells."""
MOMENTS_MAX = 120
"""So many records has a picture at most."""
_BEFORE = 90
"""So many of them come before the end of the gravest finding."""


Numbered = tuple[int, Finding]
"""A finding and its number in the table."""


class Shot(NamedTuple):
    """What is so from moment `x` on. `missing` says why nothing is known there, `silent` how long
    no controller wrote."""

    x: int
    state: PartitionState | None
    cluster: ClusterState
    event: LogEvent | None = None
    missing: str = ""
    silent: str = ""


def concerned(events: Iterable[LogEvent], key: PartitionKey) -> tuple[LogEvent, ...]:
    """The events about a partition, its brokers, the controller, and settings that it has."""
    every = tuple(events)
    states = [s for e in every for s in (e.before, e.after) if s is not None and s.key == key]
    brokers = {id for state in states for id in state.replicas}
    topic = states[-1].topic if states else ""
    return tuple(_concerned(every, key, brokers, topic))


def _concerned(
    events: Sequence[LogEvent], key: PartitionKey, brokers: set[int], topic: str
) -> Iterator[LogEvent]:
    before: ClusterState | None = None
    for event in events:
        about, now = event.partition, event.cluster
        if about is not None:
            is_mine = about.key == key
        elif event.life is not None:
            is_mine = event.life.broker in brokers
        else:
            is_mine = before is None or _governing(before, topic) != _governing(now, topic)
        before = now
        if is_mine:
            yield event


def _governing(cluster: ClusterState, topic: str) -> tuple[object, ...]:
    return (
        cluster.controller_epoch,
        cluster.features,
        cluster.topic_settings.get(topic),
        cluster.cluster_settings,
    )


def incident_rows(
    events: Iterable[LogEvent],
    key: PartitionKey,
    findings: Sequence[Numbered] = (),
    *,
    remarks: Iterable[Remark] = (),
    whole: bool = False,
) -> Rows:
    """The rows of one partition. `events` are those of the log, or those that are `concerned`;
    `findings` are the
    partition's, the gravest first. `whole` says that the log begins with the cluster.

    Raises ValueError for a partition that no event is about.
    """
    mine = concerned(events, key)
    states = [s for e in mine for s in (e.before, e.after) if s is not None and s.key == key]
    if not states:
        raise ValueError(f"no record is about partition {key.partition} of topic id {key.topic_id}")
    first, last = _window(mine, findings)
    shots = tuple(_shots(mine, first, last, key, tuple(remarks)))
    name, brokers = states[-1].name, tuple(sorted({b for s in states for b in s.replicas}))
    end = shots[-1].x + 2
    created = any("created" in e.handlers for e in mine if _is_about(e, key) and e.before is None)
    known = Known(whole and not first, (whole or created) and not first, last == len(mine), end)
    return Rows(
        meta=_meta(name, brokers, shots, end, findings),
        moments=tuple(_moments(shots)),
        spans=tuple(_spans(shots, name, brokers, known)),
        ticks=tuple(_ticks(shots, name)),
        messages=(),
        marks=tuple(_marks(shots, findings, name)),
        events=tuple(_events(shots, name)),
    )


class Known(NamedTuple):
    """Whether the first moment is the beginning of the cluster, whether the partition was not there
    then, and whether the last moment is the end of the log.
    """

    from_start: bool
    from_creation: bool
    to_end: bool
    end: int


def _window(events: Sequence[LogEvent], findings: Sequence[Numbered]) -> tuple[int, int]:
    """From which event to which the picture goes: around the gravest finding, else the last."""
    if len(events) <= MOMENTS_MAX:
        return 0, len(events)
    gravest = findings[0][1].offset if findings else events[-1].record.offset
    place = sum(event.record.offset <= gravest for event in events)
    first = min(max(place - _BEFORE, 0), len(events) - MOMENTS_MAX)
    return first, first + MOMENTS_MAX


def _shots(
    events: Sequence[LogEvent], first: int, last: int, key: PartitionKey, gaps: Sequence[Remark]
) -> Iterator[Shot]:
    state = next((e.before for e in events if _is_about(e, key)), None)
    if state is not None and _is_about(events[0], key):
        state = events[0].before
    for event in events[:first]:
        state = event.after if _is_about(event, key) else state
    cluster = events[first - 1].cluster if first else _without(events[0])
    yield Shot(0, state, cluster)
    x = 1
    for place, event in enumerate(events[first:last], first):
        missing = _missing(events[place - 1].record.offset, event, gaps) if place else ""
        silent = _silence(event)
        if missing or silent:
            yield Shot(x, state, cluster, missing=missing, silent=silent)
            x += 1
        state, cluster = (event.after if _is_about(event, key) else state), event.cluster
        yield Shot(x, state, cluster, event)
        x += 1


def _is_about(event: LogEvent, key: PartitionKey) -> bool:
    return event.partition is not None and event.partition.key == key


def _without(event: LogEvent) -> ClusterState:
    """The cluster before the first event, as far as it is known."""
    lives = dict(event.cluster.lives)
    if event.life is not None:
        lives.pop(event.life.broker, None)
        earlier = event.cluster.earlier_lives.get(event.life.broker)
        lives |= {event.life.broker: earlier[-1]} if earlier else {}
    return replace(event.cluster, lives=lives)


def _missing(before: int, event: LogEvent, gaps: Sequence[Remark]) -> str:
    """Which records are missing between two offsets, in words."""
    here = [gap for gap in gaps if before < gap.offset <= event.record.offset and gap.until > 0]
    return "; ".join(f"offsets {gap.offset}–{gap.until - 1} are missing" for gap in here)


def _silence(event: LogEvent) -> str:
    """How long no controller had written before this record, where that is long."""
    before, now = event.cluster.previous, event.record.time
    if before is None or NO_TIME in (before.time, now) or not event.cluster.idles:
        return ""
    return span(now - before.time) if now - before.time > SILENT else ""


# --- what the run is called -----------------------------------------------------------------------


def _meta(
    name: str, brokers: tuple[int, ...], shots: Sequence[Shot], end: int, found: Sequence[Numbered]
) -> Meta:
    records = [shot.event.record for shot in shots if shot.event is not None]
    title = f"in the metadata log, offsets {records[0].offset} to {records[-1].offset}"
    versions = dict.fromkeys(_version(shot.cluster) for shot in shots)
    told = f"{name} {title}. " + " ".join(finding.sentence for _, finding in found)
    return Meta(
        name=name,
        title=title,
        question=found[0][1].sentence if found else "",
        release="",
        features=f"metadata version {', '.join(filter(None, versions)) or 'unknown'}",
        guards=(),
        switched=(),
        verdict="",
        sentence=told if found else f"{told}No rule found anything about it.",
        brokers=brokers,
        partitions=(name,),
        end=end,
        numbers=(*(_number(shot) for shot in shots), "after"),
    )


def _version(cluster: ClusterState) -> str:
    level = cluster.features.get(words.METADATA_VERSION, 0)
    return words.version_words(level) if level else ""


def _number(shot: Shot) -> str:
    if shot.event is not None:
        return str(shot.event.record.offset)
    return "…" if shot.x else "before"


def _moments(shots: Sequence[Shot]) -> Iterator[MomentRow]:
    before = NO_TIME
    for shot in shots:
        if shot.event is None:
            label = shot.missing or (f"{shot.silent} without a record" if shot.silent else "")
            yield MomentRow(shot.x, shot.x, "" if label else "before", label)
            continue
        record = shot.event.record
        told = [words.clock_words(record.time)] if record.time != before else []
        if NO_TIME not in (before, record.time) and record.time - before > PAUSE:
            told = [*told, f"({span(record.time - before)} later)"]
        before = record.time
        text = f"offset {record.offset}, {words.time_words(record.time)}: {record.type}"
        label = " ".join([*filter(None, told), words.short_words(shot.event)])
        yield MomentRow(shot.x, shot.x, text, label)
    yield MomentRow(shots[-1].x + 1, 0, "after the last record", "")


# --- what lasts -----------------------------------------------------------------------------------

Read = Callable[[Shot], Reading | None]


def _spans(
    shots: Sequence[Shot], name: str, brokers: Iterable[int], known: Known
) -> Iterator[SpanRow]:
    for track, read in _OF_PARTITION.items():
        yield from _track(shots, "partition", track, read, name)
    yield from _track(shots, *CONTROLLER_EPOCH, _controller)
    yield from _track(shots, "controller", UNKNOWN, _silent)
    for id in brokers:
        lane = broker_lane(id)
        yield from _track(shots, "controller", lane, partial(_of_life, _standing, id))
        for track, read_life in _OF_BROKER.items():
            yield from _track(shots, lane, track, partial(_of_life, read_life, id))
        yield from _track(shots, lane, "role", partial(_role, id), name)
        yield from _track(shots, lane, UNKNOWN, partial(_no_life, known.from_start, id))
    yield from _track(shots, "partition", UNKNOWN, partial(_no_state, known.from_creation))
    yield from _track(shots, "world", UNKNOWN, lambda s: _reading(s.missing, s.missing))
    after = "the log ends here" if known.to_end else "later records are not shown"
    yield SpanRow("world", UNKNOWN, known.end - 1, known.end, UNKNOWN, after)


def _track(
    shots: Sequence[Shot], lane: str, track: str, read: Read, partition: str = ""
) -> Iterator[SpanRow]:
    readings = ((shot.x, read(shot)) for shot in shots)
    yield from spans_of(readings, shots[-1].x + 1, lane, track, partition)


def _reading(value: str, text: str, *flags: str) -> Reading | None:
    return Reading(value, text, flags) if value else None


def _leader_epoch(shot: Shot) -> Reading | None:
    state = shot.state
    if state is None:
        return None
    epoch = str(state.leader_epoch)
    if state.leader == NO_LEADER:
        return Reading(epoch, f"{epoch} · no leader", ("no leader",))
    if state.recovering:
        return Reading(epoch, f"{epoch} · recovering", ("recovering",))
    return Reading(epoch, epoch)


def _partition_epoch(shot: Shot) -> Reading | None:
    epoch = "" if shot.state is None else str(shot.state.partition_epoch)
    return _reading(epoch, epoch)


def _members(shot: Shot, name: str) -> Reading | None:
    ids = () if shot.state is None else getattr(shot.state, name)
    listed = broker_list(ids) if ids or (name == "isr" and shot.state is not None) else ""
    return _reading(listed, listed)


def _last_known(shot: Shot) -> Reading | None:
    ids = () if shot.state is None else shot.state.last_known
    return Reading(str(ids[0]), f"broker {ids[0]}") if ids else None


_OF_PARTITION: dict[str, Read] = {
    "leader epoch": _leader_epoch,
    "partition epoch": _partition_epoch,
    "ISR": partial(_members, name="isr"),
    "ELR": partial(_members, name="elr"),
    "last known leader": _last_known,
}


def _no_state(from_creation: bool, shot: Shot) -> Reading | None:
    """Before the first record that tells it. A partition that is created or removed is known."""
    was_removed = shot.event is not None and "removed" in shot.event.handlers
    if shot.state is not None or from_creation or was_removed:
        return None
    return Reading(UNKNOWN, "not known")


def _controller(shot: Shot) -> Reading | None:
    epoch, version = str(shot.cluster.controller_epoch), _version(shot.cluster)
    if shot.cluster.controller_epoch < 0:
        return None
    told = f"controller epoch {epoch}"
    return Reading(epoch, f"{told} · metadata version {version}" if version else told)


def _silent(shot: Shot) -> Reading | None:
    return _reading(shot.silent, f"silent {shot.silent}")


def _of_life(read: Callable[[BrokerLife], Reading | None], id: int, shot: Shot) -> Reading | None:
    life = shot.cluster.lives.get(id)
    return None if life is None or life.ended is not None else read(life)


def _no_life(from_start: bool, id: int, shot: Shot) -> Reading | None:
    if id in shot.cluster.lives or from_start:
        return None
    return Reading(UNKNOWN, "not known")


def _standing(life: BrokerLife) -> Reading:
    state = "fenced" if life.fenced else "shutting down" if not life.may_lead else "active"
    return Reading(state, f"{state}, epoch {life.epoch}")


_OF_BROKER: dict[str, Callable[[BrokerLife], Reading | None]] = {
    "uptime": lambda life: Reading(
        str(life.epoch), f"broker epoch {life.epoch}", (f"life {life.epoch}",)
    ),
    "fenced": lambda life: Reading("yes", "fenced") if life.fenced else None,
    "shutting down": lambda life: (
        None if life.shutting_down_since is None else Reading("yes", "shutting down")
    ),
}


def _role(id: int, shot: Shot) -> Reading | None:
    state = shot.state
    if state is None or id not in state.replicas:
        return None
    if state.leader == id:
        flags = ("recovering",) if state.recovering else ()
        return Reading("leader", "leader · recovering" if flags else "leader · in ISR", flags)
    if id in state.isr:
        return Reading("in ISR", "in ISR")
    if id in state.elr:
        return Reading("out", "out of the ISR, in the ELR", ("in ELR",))
    return Reading("out", "out of the ISR")


# --- what happened --------------------------------------------------------------------------------


def _ticks(shots: Iterable[Shot], name: str) -> Iterator[TickRow]:
    for shot in shots:
        if shot.event is not None:
            record, about = shot.event.record, shot.event.partition
            yield TickRow(
                x=shot.x,
                offset=record.offset,
                record=record.type,
                version=record.version,
                text=f"{record.type}: {words.change_words(shot.event)}",
                short="" if about is not None else words.tick_words(shot.event),
                partition=name if about is not None else "",
                events=(f"{shot.x}.1",),
            )


def _events(shots: Iterable[Shot], name: str) -> Iterator[EventRow]:
    for shot in shots:
        if shot.event is None:
            continue
        life, about = shot.event.life, shot.event.partition
        node = "partition" if about else broker_lane(life.broker) if life else "controller"
        by = f" ({words.doing(shot.event)})" if about is not None else ""
        yield EventRow(
            step=shot.x,
            x=shot.x,
            line=shot.x,
            kind=shot.event.record.type,
            node=node,
            partition=name if about is not None else "",
            text=f"{words.change_words(shot.event)}{by}.",
            id=f"{shot.x}.1",
        )


def _marks(shots: Sequence[Shot], findings: Sequence[Numbered], name: str) -> Iterator[MarkRow]:
    """Each finding at the last moment that is not after it; its text begins with its number."""
    places = [(shot.event.record.offset, shot.x) for shot in shots if shot.event is not None]
    for number, finding in findings:
        here = [x for offset, x in places if offset <= finding.offset]
        if here and (finding.offset <= places[-1][0] or len(places) < MOMENTS_MAX):
            text = f"{number} {finding.rule}: {finding.sentence}"
            yield MarkRow(here[-1], FINDINGS, "finding", text, name, finding_id(here[-1], number))


def finding_id(x: int, number: int) -> str:
    """What pages call the finding of that number: ``6.f2``."""
    return f"{x}.f{number}"
