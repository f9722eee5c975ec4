"""What came from outside in a replication of the kernel, as events of a schedule."""

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from ..kernel.leader_rules import DELAY_TRIES
from ..kernel.machine_code import plain
from ..kernel.outside_streams import (
    BEAT_AT,
    DELAYS_AT,
    FLUSH_AT,
    QUEUED,
    ROW_AT,
    SILENT,
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
from ..kernel.world import World, compiled_world
from .outside_events import FATES, KINDS, Outside

_KIND_OF = {rank: kind for kind, rank in KINDS.items()}
_FATE_OF = {number: fate for fate, number in FATES.items()}
Microseconds = int


def replication_events(
    world: World, seed: int, replication: int, until: Microseconds
) -> Iterator[Outside]:
    """Everything that comes from outside until then, in order; all times are microseconds."""
    made = compiled_world(world)
    w, tables = [int(n) for n in made.numbers], [int(n) for n in made.tables]
    st, times, later = [0] * (STREAMS * STREAM), [0] * STREAMS, [0] * STREAMS
    key = (w, tables, seed, replication)
    count = plain(open_streams)(st, times, later, *key)
    first, know, used = plain(next_part), plain(know_all), plain(consume)
    while True:
        know(st, times, count, *key)
        i, at, rank = first(st, times, count)
        if at > until:
            return
        yield _event(st, i, at, rank, world.replication_factor)
        if rank in (FLUSH, BEAT):
            st[i * STREAM + (FLUSH_AT if rank == FLUSH else BEAT_AT)] = NEVER
        else:
            used(st, times, later, i, count, *key)


def _event(st: list[int], i: int, at: int, rank: int, replicas: int) -> Outside:
    stream = i * STREAM
    broker = st[stream + STREAM_BROKER] + 1
    if rank in (FLUSH, BEAT):
        return Outside(at=at, kind=_KIND_OF[rank], broker=broker)
    row, delays = stream + ROW_AT, stream + DELAYS_AT
    return Outside(
        at=at,
        kind=_KIND_OF[st[row + KIND]],
        broker=broker,
        fate=_FATE_OF[st[row + FATE]],
        shock=bool(st[row + SHOCK]),
        restart=st[row + RESTART],
        ready=st[row + READY_IN],
        level=st[row + LEVEL_IN],
        lag_phase=st[row + LAG_PHASE],
        shutdown=st[row + SHUTDOWN],
        lasts=st[row + LASTS],
        recover=st[row + RECOVER],
        queued=st[stream + QUEUED],
        silent=st[stream + SILENT],
        delays_by=tuple(
            tuple(st[delays + x * DELAY_TRIES : delays + (x + 1) * DELAY_TRIES])
            for x in range(replicas)
        ),
    )


_LENGTHS = ("restart", "ready", "level", "shutdown", "lasts", "recover")


def in_milliseconds(event: Outside, start: Microseconds) -> Outside:
    """The event as schedules have it, counted from `start`; what takes time takes 1 at least."""
    lengths: dict[str, Any] = {name: max(1, getattr(event, name) // 1000) for name in _LENGTHS}
    by = tuple(tuple(max(1, us // 1000) for us in each) for each in event.delays_by)
    at, phase = (event.at - start) // 1000, event.lag_phase // 1000
    return replace(event, at=at, lag_phase=phase, delays_by=by, **lengths)
