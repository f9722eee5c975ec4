"""The part of a replication in which something happened: its events, in whole milliseconds.

Between events that are far apart all brokers are in sync again, and only the leader is left of
what came before. So a replication falls into stretches, each a schedule of its own; a stretch that
does not end in sync goes on in the next. The story is the shortest end of a stretch that has the
same result: the times between its events are those of the replication.
"""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec.structs import replace

from ...protocol.features import Features
from ...protocol.kraft.broker_lifecycle import HEARTBEAT_MS
from ...protocol.kraft.sessions import SESSION_TIMEOUT_MS
from ...protocol.replica.remote_replicas import LAG_TIME_MAX_MS
from ..kernel import outside_streams, set_events
from ..kernel.leader_rules import DELAY_TRIES
from ..kernel.machine_code import plain
from ..kernel.set_words import NEVER
from ..kernel.simulation import METRIC_NAMES
from ..kernel.simulation_loop import consume, know_all, next_part
from ..kernel.world import HOUR, World, compiled_world
from . import kernel_run
from .kernel_run import NOBODY, EndlessTraceError, KernelRun, Outside, OutsideSchedule

QUIET_US = 2 * HOUR
"""After so long without an event all brokers are in sync again, but for rare cases."""
LEAD_MS = 1_000
STORY_METRICS = tuple(
    n for n in METRIC_NAMES if n.endswith("_loss") or n in ("stale_join", "offline")
)
"""The metrics that a play can show."""


def called(metric: str) -> str:
    """``"an unclean loss"``"""
    named = metric.replace("_", " ")
    return f"{'an' if named[0] in 'aeiou' else 'a'} {named}"


class NoStoryError(LookupError):
    """A replication has no such event, or the engine cannot show it."""


class StorySchedule(msgspec.Struct, frozen=True):
    """A schedule and when in the replication it begins."""

    schedule: OutsideSchedule
    begins_us: int


def schedule_of(
    world: World, *, seed: int, replication: int, until_us: int, features: Features, metric: str
) -> StorySchedule:
    """The events that lead to the first `metric` in a replication.

    Raises NoStoryError where there is none, ValueError for a metric that no play shows.
    """
    check_playable(world, metric)
    leader = 1
    glued: list[Outside] = []
    for stretch in _stretches(replication_events(world, seed, replication, until_us)):
        glued = [*glued, *stretch]
        schedule = _schedule(world, glued, leader)
        ran = _ran(schedule, features)
        if _has(ran, metric):
            start = glued[0].at - LEAD_MS * 1000
            return _shortest(StorySchedule(schedule, start), features, metric)
        after = _leader_after(ran, leader, world.replication_factor)
        if after != NOBODY:
            leader, glued = after, []
    years = f"{until_us / (365 * 24 * HOUR):g} years"
    raise NoStoryError(
        f"replication {replication} of seed {seed} has no {metric} in {years} under"
        f" {features.label()}: take one that has counted some"
    )


def check_playable(world: World, metric: str) -> None:
    """Raises ValueError for another metric, or other periods than the engine's."""
    if metric not in STORY_METRICS:
        raise ValueError(f"no play shows {metric!r}; expected one of {', '.join(STORY_METRICS)}")
    periods = {
        "session_s": (world.session_us, SESSION_TIMEOUT_MS),
        "lag_s": (world.lag_us, LAG_TIME_MAX_MS),
        "heartbeat_s": (world.heartbeat_interval_us, HEARTBEAT_MS),
    }
    if any(us != ms * 1000 for us, ms in periods.values()):
        defaults = ", ".join(f"{name} = {ms // 1000}" for name, (_, ms) in periods.items())
        problem = f"a story is told with Kafka's defaults: {defaults}"
        raise ValueError(f"{problem}; the engine has no others")


def _stretches(events: Iterator[Outside]) -> Iterator[list[Outside]]:
    """Events with quiet time before and after."""
    stretch: list[Outside] = []
    for event in events:
        if stretch and event.at - stretch[-1].at > QUIET_US:
            yield stretch
            stretch = []
        stretch.append(event)
    if stretch:
        yield stretch


def _schedule(world: World, stretch: list[Outside], leader: int) -> OutsideSchedule:
    start = stretch[0].at - LEAD_MS * 1000
    events = tuple(in_milliseconds(event, start) for event in stretch)
    return kernel_run.ordered(
        OutsideSchedule(
            replicas=world.replication_factor,
            min_insync=world.min_insync_replicas,
            unclean=world.unclean_elections,
            bounces_wait=world.bounces_wait,
            leader=leader,
            patience=world.shutdown_patience_us // 1000,
            end=events[-1].at + QUIET_US // 1000,
            events=events,
        )
    )


def _ran(schedule: OutsideSchedule, features: Features) -> KernelRun | None:
    try:
        return kernel_run.kernel_run(schedule, features, compiled=False)
    except EndlessTraceError:
        return None


def _has(ran: KernelRun | None, metric: str) -> bool:
    return ran is not None and ran.counts[metric] > 0


def _leader_after(ran: KernelRun | None, leader: int, replicas: int) -> int:
    """Who leads when all are in sync again; nobody where they are not."""
    trace = () if ran is None else ran.trace
    states = [line.partition for line in trace if line.partition is not None]
    if not states:
        return leader
    return states[-1].leader if len(states[-1].isr) == replicas else NOBODY


def _shortest(story: StorySchedule, features: Features, metric: str) -> StorySchedule:
    """Without what comes after, and without what came before and makes no difference."""
    schedule = _cut_off(story.schedule, features, metric)
    incidents = [n for n, event in enumerate(schedule.events) if event.kind not in BEFORE]
    for first in reversed(incidents):
        later = _from_incident(schedule, first)
        for leader in range(1, schedule.replicas + 1):
            tried = replace(later, leader=leader)
            if _has(_ran(tried, features), metric):
                begins = story.begins_us + 1000 * (schedule.end - tried.end)
                return StorySchedule(tried, begins)
    return StorySchedule(schedule, story.begins_us)


BEFORE = ("beat", "flush")
"""Kinds of events that belong to the next incident of their broker."""


def _cut_off(schedule: OutsideSchedule, features: Features, metric: str) -> OutsideSchedule:
    """Ends as soon as it has happened."""
    ran = _ran(schedule, features)
    times = sorted({line.at for line in ran.trace}) if ran is not None else []
    for at in times:
        events = tuple(event for event in schedule.events if event.at <= at)
        shorter = replace(schedule, end=at + 1, events=events)
        if events and _has(_ran(shorter, features), metric):
            return shorter
    return schedule


def _from_incident(schedule: OutsideSchedule, first: int) -> OutsideSchedule:
    """Begins shortly before an incident, or before the heartbeat and the flush of it."""
    events = schedule.events
    kept = [
        event
        for n, event in enumerate(events)
        if n >= first or (event.kind in BEFORE and _next_incident(events, n) >= first)
    ]
    start = kept[0].at - LEAD_MS
    moved = tuple(replace(event, at=event.at - start) for event in kept)
    return replace(schedule, events=moved, end=schedule.end - start)


def _next_incident(events: tuple[Outside, ...], n: int) -> int:
    same = (k for k in range(n, len(events)) if events[k].broker == events[n].broker)
    return next((k for k in same if events[k].kind not in BEFORE), len(events))


# --- the events of a replication ------------------------------------------------------------------

_KIND_OF = {rank: kind for kind, rank in kernel_run.KINDS.items()}
_FATE_OF = {number: fate for fate, number in kernel_run.FATES.items()}
_COME_ONCE = {set_events.FLUSH: outside_streams.FLUSH_AT, set_events.BEAT: outside_streams.BEAT_AT}
"""Ranks of what does not come again by itself, and the word of its stream that says when."""
Microseconds = int


def replication_events(
    world: World, seed: int, replication: int, until: Microseconds
) -> Iterator[Outside]:
    """Everything that comes from outside until then, in order; all times are microseconds."""
    words = compiled_world(world)
    w, tables = [int(n) for n in words.numbers], [int(n) for n in words.tables]
    streams = outside_streams.STREAMS
    st, times, later = [0] * (streams * outside_streams.STREAM), [0] * streams, [0] * streams
    clocks, draws = (st, times, later), (w, tables, seed, replication)
    count = plain(outside_streams.open_streams)(clocks, draws)
    first, know, used = plain(next_part), plain(know_all), plain(consume)
    while True:
        know(clocks, count, draws)
        i, at, rank = first(st, times, count)
        if at > until:
            return
        yield _event(st, i, at, rank, world.replication_factor)
        if rank in _COME_ONCE:
            st[i * outside_streams.STREAM + _COME_ONCE[rank]] = NEVER
        else:
            used(clocks, i, count, draws)


def _event(st: list[int], i: int, at: int, rank: int, replicas: int) -> Outside:
    stream = i * outside_streams.STREAM
    broker = st[stream + outside_streams.STREAM_BROKER] + 1
    if rank in (set_events.FLUSH, set_events.BEAT):
        return Outside(at=at, kind=_KIND_OF[rank], broker=broker)
    row, delays = stream + outside_streams.ROW_AT, stream + outside_streams.DELAYS_AT
    times: Any = dict(zip(kernel_run.TIMES, st[row + set_events.RESTART : delays], strict=True))
    return Outside(
        at=at,
        kind=_KIND_OF[st[row + set_events.KIND]],
        broker=broker,
        fate=_FATE_OF[st[row + set_events.FATE]],
        shock=bool(st[row + set_events.SHOCK]),
        delays_by=tuple(
            tuple(st[delays + x * DELAY_TRIES : delays + (x + 1) * DELAY_TRIES])
            for x in range(replicas)
        ),
        **times,
    )


def in_milliseconds(event: Outside, start: Microseconds) -> Outside:
    """The event as schedules have it, counted from `start`; what takes time takes 1 at least."""
    times: Any = {name: max(1, getattr(event, name) // 1000) for name in kernel_run.TIMES}
    times["lag_phase"] = event.lag_phase // 1000
    by = tuple(tuple(max(1, us // 1000) for us in each) for each in event.delays_by)
    return replace(event, at=(event.at - start) // 1000, delays_by=by, **times)
