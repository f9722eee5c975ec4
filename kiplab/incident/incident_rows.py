"""The rows of one partition of a metadata log: a picture's source, without any run of the engine.

A moment is a record that touches the partition, the brokers of its replicas, or the controller.
Moment 0 is what was so before the first of them, the last one stands for all that came later. A
long silence of the controllers, and records that are missing, have a moment of their own.
"""

from collections.abc import Iterable, Iterator, Sequence
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
    plural,
)
from ..rows.snapshots import Reading, spans_of
from .change_words import METADATA_VERSION, change_words, doing, time_words, version_words
from .findings.finding import Finding
from .findings.finding_words import span
from .log_items import UNKNOWN as NO_TIME
from .log_items import Remark
from .states import NO_LEADER, ClusterState, LogEvent, PartitionKey, PartitionState

SILENT, PAUSE = 5_000, 60_000
"""Milliseconds from which controllers are called silent, where they write twice a second; and from
which a hover card tells how long it was from one moment to the next.
"""
MOMENTS_MAX, BEFORE = 120, 90
"""So many records has a picture at most, and so many of them up to the gravest finding."""
Numbered = tuple[int, Finding]
"""A finding and its number in the table."""


class Shot(NamedTuple):
    """What is so from moment `x` on. `missing` says why nothing is known there, `silent` how long
    no controller wrote. Behind a `gap` only what later records tell is known.
    """

    x: int
    state: PartitionState | None
    cluster: ClusterState
    event: LogEvent | None = None
    missing: str = ""
    silent: str = ""
    gap: bool = False


class Pictured(NamedTuple):
    """What the shots are of. Before the first record there was no partition where it `is_new`, and
    no broker where it `is_start` of the log.
    """

    name: str
    brokers: tuple[int, ...]
    is_new: bool
    is_start: bool


def concerned(events: Sequence[LogEvent], key: PartitionKey) -> tuple[LogEvent, ...]:
    """The events about a partition, its brokers, the controller, and settings that it has; none
    before the partition was created.
    """
    first = next((n for n, e in enumerate(events) if _is_about(e, key)), 0)
    if events and events[first].before is None and "created" in events[first].handlers:
        events = events[first:]
    states = _states(events, key)
    brokers = {id for state in states for id in state.replicas}
    topic, mine, governing = states[-1].topic if states else "", [], None
    for event in events:
        cluster = event.cluster
        settings = cluster.cluster_settings, cluster.topic_settings.get(topic)
        now = cluster.controller_epoch, cluster.features, settings
        is_of_cluster = event.partition is None and event.incarnation is None and now != governing
        is_of_broker = event.incarnation is not None and event.incarnation.broker in brokers
        if is_of_cluster or is_of_broker or _is_about(event, key) or _silence(event):
            mine.append(event)
        governing = now
    return tuple(mine)


def _is_about(event: LogEvent, key: PartitionKey) -> bool:
    return event.partition is not None and event.partition.key == key


def _states(events: Iterable[LogEvent], key: PartitionKey) -> list[PartitionState]:
    return [s for e in events for s in (e.before, e.after) if s is not None and s.key == key]


def incident_rows(
    events: Sequence[LogEvent],
    key: PartitionKey,
    findings: Sequence[Numbered] = (),
    *,
    remarks: Iterable[Remark] = (),
    whole: bool = False,
) -> Rows:
    """The rows of one partition. `events` are those that are `concerned`, at least one about the
    partition; `findings` are its own, the gravest first. `whole` says that the log begins with the
    cluster, and nothing of it is missing before the first event.
    """
    first = 0
    if len(events) > MOMENTS_MAX:
        gravest = findings[0][1].offset if findings else events[-1].record.offset
        place = sum(event.record.offset <= gravest for event in events)
        first = min(max(place - BEFORE, 0), len(events) - MOMENTS_MAX)
    last = min(first + MOMENTS_MAX, len(events))
    shots = tuple(_shots(events, first, last, key, tuple(remarks)))
    states = _states(events, key)
    brokers = tuple(sorted({broker for state in states for broker in state.replicas}))
    created = any("created" in e.handlers for e in events if _is_about(e, key) and not e.before)
    around = Pictured(states[-1].name, brokers, (whole or created) and not first, whole)
    end, happened = shots[-1].x + 1, [*_happened(shots, around.name)]
    after = "the log ends here" if last == len(events) else "later records are not shown"
    return Rows(
        meta=_meta(around, shots, findings),
        moments=tuple(_moments(shots)),
        spans=(*_spans(shots, around), SpanRow("world", UNKNOWN, end, end + 1, UNKNOWN, after)),
        ticks=tuple(tick for tick, _ in happened),
        messages=(),
        marks=tuple(_marks(shots, findings, around.name)),
        events=tuple(event for _, event in happened),
    )


def _shots(
    events: Sequence[LogEvent], first: int, last: int, key: PartitionKey, gaps: Sequence[Remark]
) -> Iterator[Shot]:
    mine = [event for event in events if _is_about(event, key)]
    state, cluster = mine[0].before, _before(events[0])
    if first:
        cluster = events[first - 1].cluster
        state = next((e.after for e in reversed(events[:first]) if _is_about(e, key)), state)
    yield Shot(0, state, cluster)
    x, gap, offset = 1, False, events[first - 1].record.offset if first else NO_TIME
    for event in events[first:last]:
        here = (g for g in gaps if 0 <= offset < g.offset <= event.record.offset and g.until > 0)
        missing = "; ".join(f"offsets {g.offset}–{g.until - 1} are missing" for g in here)
        silent, offset = _silence(event), event.record.offset
        if missing:
            state, cluster, gap = None, replace(cluster, incarnations={}), True
        if missing or silent:
            yield Shot(x, state, cluster, None, missing, silent, gap)
            x += 1
        state, cluster = (event.after if _is_about(event, key) else state), event.cluster
        yield Shot(x, state, cluster, event, gap=gap)
        x += 1


def _before(event: LogEvent) -> ClusterState:
    """The cluster before the first event, as far as it is known."""
    incarnations = {
        id: incarnation
        for id, incarnation in event.cluster.incarnations.items()
        if incarnation != event.incarnation
    }
    return replace(event.cluster, incarnations=incarnations)


def _silence(event: LogEvent) -> str:
    """How long no controller had written before this record, where that is long."""
    before, now = event.cluster.previous, event.record.time
    if before is None or NO_TIME in (before.time, now) or not event.cluster.idles:
        return ""
    return span(now - before.time) if now - before.time > SILENT else ""


def _meta(around: Pictured, shots: Sequence[Shot], found: Sequence[Numbered]) -> Meta:
    numbers = ["…" if s.event is None else str(s.event.record.offset) for s in shots[1:]]
    title = f"in the metadata log, offsets {numbers[0]} to {numbers[-1]}"
    versions = dict.fromkeys(filter(None, (_version(shot.cluster) for shot in shots)))
    question = found[0][1].sentence if found else ""
    gravest = f"; the gravest: {question}" if found else "."
    return Meta(
        name=around.name,
        title=title,
        question=question,
        release="",
        features=f"metadata version {', '.join(versions) or 'unknown'}",
        guards=(),
        switched=(),
        verdict="",
        sentence=f"{around.name} {title}. {plural(len(found), 'finding')}{gravest}",
        brokers=around.brokers,
        partitions=(around.name,),
        end=shots[-1].x + 2,
        numbers=("before", *numbers, "after"),
    )


def _version(cluster: ClusterState) -> str:
    level = cluster.features.get(METADATA_VERSION, 0)
    return version_words(level) if level else ""


def _moments(shots: Sequence[Shot]) -> Iterator[MomentRow]:
    before = NO_TIME
    for shot in shots:
        x, text, told = shot.x, "before", [shot.missing or f"{shot.silent} without a record"]
        if shot.event is not None:
            record, now = shot.event.record, shot.event.record.time
            later = f" ({span(now - before)} later)" if 0 < before < now - PAUSE else ""
            text = f"offset {record.offset}, {time_words(now)}{later}: {record.type}"
            told = [time_words(now).split(" ")[1][:-2]] if now not in (before, NO_TIME) else []
            told += [change_words(shot.event, short=True)]
            before = now
        yield MomentRow(x, x, text, " ".join(told) if x else "")
    yield MomentRow(shots[-1].x + 1, 0, "after the last record", "")


TrackKey = tuple[str, str, str]
"""Lane, track, partition."""


def _spans(shots: Sequence[Shot], around: Pictured) -> Iterator[SpanRow]:
    read = [dict(_readings(shot, around)) for shot in shots]
    for place in dict.fromkeys(place for readings in read for place in readings):
        readings = ((shot.x, at.get(place)) for shot, at in zip(shots, read, strict=True))
        yield from spans_of(readings, shots[-1].x + 1, *place)


def _readings(shot: Shot, around: Pictured) -> Iterator[tuple[TrackKey, Reading]]:
    yield from _of_partition(shot, around)
    yield from _of_controller(shot)
    for id in around.brokers:
        yield from _of_broker(shot, around, id)
    if shot.missing:
        yield ("world", UNKNOWN, ""), Reading(UNKNOWN, shot.missing)


def _of_partition(shot: Shot, around: Pictured) -> Iterator[tuple[TrackKey, Reading]]:
    state, name = shot.state, around.name
    removed = shot.event is not None and "removed" in shot.event.handlers
    if state is None:
        if shot.gap or not (around.is_new or removed):
            yield ("partition", UNKNOWN, name), Reading(UNKNOWN, "not known")
        return
    epoch, flag = str(state.leader_epoch), "recovering" if state.recovering else ""
    flag = "no leader" if state.leader == NO_LEADER else flag
    flagged = Reading(epoch, f"{epoch} · {flag}", (flag,)) if flag else Reading(epoch, epoch)
    yield ("partition", "leader epoch", name), flagged
    told = {"partition epoch": str(state.partition_epoch), "ISR": broker_list(state.isr)}
    told |= {"ELR": broker_list(state.elr)} if state.elr else {}
    told |= {"last known leader": f"broker {state.last_known[0]}"} if state.last_known else {}
    for track, text in told.items():
        yield ("partition", track, name), Reading(text.removeprefix("broker "), text)


def _of_controller(shot: Shot) -> Iterator[tuple[TrackKey, Reading]]:
    epoch, version = shot.cluster.controller_epoch, _version(shot.cluster)
    if epoch >= 0:
        more = f" · metadata version {version}" if version else ""
        yield (*CONTROLLER_EPOCH, ""), Reading(str(epoch), f"controller epoch {epoch}{more}")
    if shot.silent:
        yield ("controller", UNKNOWN, ""), Reading(shot.silent, f"silent {shot.silent}")


def _of_broker(shot: Shot, around: Pictured, id: int) -> Iterator[tuple[TrackKey, Reading]]:
    lane, incarnation, state = broker_lane(id), shot.cluster.incarnations.get(id), shot.state
    if incarnation is None and (shot.gap or not around.is_start):
        yield (lane, UNKNOWN, ""), Reading(UNKNOWN, "not known")
    if incarnation is not None and incarnation.ended is None:
        epoch, stays = str(incarnation.epoch), "active" if incarnation.may_lead else "shutting down"
        standing = "fenced" if incarnation.fenced else stays
        yield ("controller", lane, ""), Reading(standing, f"{standing}, epoch {epoch}")
        yield (lane, "uptime", ""), Reading(epoch, f"broker epoch {epoch}", (f"life {epoch}",))
        if incarnation.fenced:
            yield (lane, "fenced", ""), Reading("yes", "fenced")
        if incarnation.shutting_down_since is not None:
            yield (lane, "shutting down", ""), Reading("yes", "shutting down")
    if state is not None and id in state.replicas:
        yield (lane, "role", around.name), _role(state, id)


def _role(state: PartitionState, id: int) -> Reading:
    if state.leader == id:
        flags = ("recovering",) if state.recovering else ()
        return Reading("leader", "leader · recovering" if flags else "leader · in ISR", flags)
    if id in state.isr:
        return Reading("in ISR", "in ISR")
    if id in state.elr:
        return Reading("out", "out of the ISR, in the ELR", ("in ELR",))
    return Reading("out", "out of the ISR")


def _happened(shots: Iterable[Shot], name: str) -> Iterator[tuple[TickRow, EventRow]]:
    for x, event in ((shot.x, shot.event) for shot in shots if shot.event is not None):
        record, told, id = event.record, change_words(event), f"{x}.1"
        mine, broker = event.partition is not None, event.incarnation
        short = "" if mine else change_words(event, short=True).removeprefix("broker ")
        row = (x, record.offset, record.type, record.version, f"{record.type}: {told}", short)
        lane = "controller" if broker is None else broker_lane(broker.broker)
        node = "partition" if mine else lane
        by = f" ({doing(event)})" if mine else ""
        shown = (x, x, x, record.type, node, name * mine, f"{told}{by}.")
        yield TickRow(*row, name * mine, (id,)), EventRow(*shown, id=id)


def _marks(shots: Sequence[Shot], findings: Sequence[Numbered], name: str) -> Iterator[MarkRow]:
    """Each finding at the last moment that is not after it; its text begins with its number. One
    that is later than a picture which was cut has none.
    """
    places = [(shot.event.record.offset, shot.x) for shot in shots if shot.event is not None]
    for number, finding in findings:
        here = [x for offset, x in places if offset <= finding.offset]
        if here and (finding.offset <= places[-1][0] or len(places) < MOMENTS_MAX):
            text = f"{number} {finding.rule}: {finding.sentence}"
            yield MarkRow(here[-1], FINDINGS, "finding", text, name, f"{here[-1]}.f{number}")
