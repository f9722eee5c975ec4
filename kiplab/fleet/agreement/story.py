"""From rate to story: what happened in a replication, as a schedule and as a play of the engine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from ...engine import moves
from ...engine.events import CommittedLost
from ...engine.impossible_moves import why_not
from ...engine.setup import cluster_of
from ...engine.step import step
from ...plays.header import setup_of
from ...plays.history_as_play import statement_of
from ...plays.play import Play, Statement, split
from ...protocol.features import Features
from ..kernel.leader_rules import DELAY_TRIES
from ..kernel.machine_code import plain
from ..kernel.outside_streams import (
    BEAT_AT,
    DELAYS_AT,
    FLUSH_AT,
    ROW_AT,
    STREAM,
    STREAM_BROKER,
    STREAMS,
    open_streams,
)
from ..kernel.set_events import (
    BEAT,
    FATE,
    FLUSH,
    KIND,
    LAG_PHASE,
    LASTS,
    LEVEL_IN,
    READY_IN,
    RECOVER,
    RESTART,
    SHOCK,
    SHUTDOWN,
)
from ..kernel.set_words import NEVER
from ..kernel.simulation_loop import consume, know_all, next_part
from ..kernel.world import HOUR, World, compiled_world
from .engine_run import EngineRun, header_of
from .kernel_run import kernel_trace
from .outside_events import FATES, KINDS, Outside, OutsideSchedule, ordered

_KIND_OF = {rank: kind for kind, rank in KINDS.items()}
_FATE_OF = {number: fate for fate, number in FATES.items()}
QUIET_US = 2 * HOUR
"""So long without an event, and everybody is in sync again but for the rarest of cases."""


class NoStoryError(LookupError):
    """There is no loss in a replication, or the engine does not see it in the schedule."""


def outside_of(world: World, seed: int, replication: int, until_us: int) -> Iterator[Outside]:
    """Everything that comes from outside in a replication, in order; times in microseconds."""
    made = compiled_world(world)
    w, tables = [int(n) for n in made.numbers], [int(n) for n in made.tables]
    st, times, later = [0] * (STREAMS * STREAM), [0] * STREAMS, [0] * STREAMS
    key = (w, tables, seed, replication)
    count = plain(open_streams)(st, times, later, *key)
    first, know, used = plain(next_part), plain(know_all), plain(consume)
    while True:
        know(st, times, count, *key)
        i, at, rank = first(st, times, count)
        if at > until_us:
            return
        yield _event(st, i, at, rank)
        if rank in (FLUSH, BEAT):
            st[i * STREAM + (FLUSH_AT if rank == FLUSH else BEAT_AT)] = NEVER
        else:
            used(st, times, later, i, count, *key)


def _event(st: list[int], i: int, at: int, rank: int) -> Outside:
    stream = i * STREAM
    broker = st[stream + STREAM_BROKER] + 1
    if rank in (FLUSH, BEAT):
        return Outside(at=at, kind=_KIND_OF[rank], broker=broker)  # type: ignore[arg-type]
    row, asked = stream + ROW_AT, 1 if broker == 1 else 0
    delays = stream + DELAYS_AT + asked * DELAY_TRIES
    return Outside(
        at=at,
        kind=_KIND_OF[st[row + KIND]],  # type: ignore[arg-type]
        broker=broker,
        fate=_FATE_OF[st[row + FATE]],  # type: ignore[arg-type]
        shock=bool(st[row + SHOCK]),
        restart=st[row + RESTART],
        ready=st[row + READY_IN],
        level=st[row + LEVEL_IN],
        lag_phase=st[row + LAG_PHASE],
        shutdown=st[row + SHUTDOWN],
        lasts=st[row + LASTS],
        recover=st[row + RECOVER],
        delays=tuple(st[delays : delays + DELAY_TRIES]),
    )


def schedule_of_loss(
    world: World, seed: int, replication: int, until_us: int, features: Features
) -> OutsideSchedule:
    """The events around the first loss of a replication, in whole milliseconds.

    The delays are those of one leader's requests: with more than two replicas another leader's may
    differ. Raises NoStoryError where no stretch of events loses anything.
    """
    for stretch in _stretches(outside_of(world, seed, replication, until_us)):
        for leader in range(1, world.replication_factor + 1):
            schedule = _schedule(world, stretch, leader)
            trace = kernel_trace(schedule, features, compiled=False)
            if any(told.what == "lost" for told in trace):
                return schedule
    raise NoStoryError(f"replication {replication} of seed {seed} loses nothing until {until_us}")


def _stretches(events: Iterator[Outside]) -> Iterator[list[Outside]]:
    """Events with quiet time before and after: only those of more than one incident."""
    stretch: list[Outside] = []
    for event in events:
        if stretch and event.at - stretch[-1].at > QUIET_US:
            if sum(e.kind not in ("flush", "beat") for e in stretch) > 1:
                yield stretch
            stretch = []
        stretch.append(event)
    if stretch:
        yield stretch


def _schedule(world: World, stretch: list[Outside], leader: int) -> OutsideSchedule:
    start = stretch[0].at - 1_000_000
    events = tuple(_in_milliseconds(event, start) for event in stretch)
    return ordered(
        OutsideSchedule(
            replicas=world.replication_factor,
            min_insync=world.min_insync_replicas,
            unclean=world.unclean_elections,
            bounces_wait=world.bounces_wait,
            leader=leader,
            patience=world.shutdown_patience_us // 1000,
            end=events[-1].at + QUIET_US // 4000,
            events=events,
        )
    )


_LENGTHS = ("restart", "ready", "level", "lag_phase", "shutdown", "lasts", "recover")


def _in_milliseconds(event: Outside, start: int) -> Outside:
    lengths: dict[str, Any] = {name: max(1, getattr(event, name) // 1000) for name in _LENGTHS}
    delays = tuple(max(1, us // 1000) for us in event.delays)
    return replace(event, at=(event.at - start) // 1000, delays=delays, **lengths)


def play_of(schedule: OutsideSchedule, features: Features, name: str = "") -> Play:
    """The same in the engine, as a play without a clock: a line for each move, and the loss in it.

    Raises NoStoryError where the engine loses nothing.
    """
    run = EngineRun(schedule, features)
    run.run()
    header = split(header_of(schedule) + "\nmanual\n").statements
    cluster = cluster_of(setup_of(Play(header), features))
    lines: list[Statement] = []
    lost = False
    for _, move in run.moves:
        if isinstance(move, moves.Advance) or why_not(cluster, move) is not None:
            continue
        done = step(cluster, move)
        cluster = done.cluster
        lines.append(statement_of(move))
        lost = lost or any(isinstance(event, CommittedLost) for event in done.events)
    if not lost:
        raise NoStoryError("the engine loses nothing in this schedule")
    kafka = split(_rules(features)).statements
    return Play((*kafka, *header, *lines), name)


def _rules(features: Features) -> str:
    """The lines of a header that ask for these features."""
    lines = [f"kafka {features.release}"]
    lines += [f"{'on' if on else 'off'} {guard}" for guard, on in features.overrides]
    return "\n".join(lines) + "\n"
