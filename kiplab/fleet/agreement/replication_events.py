"""The outside events of a replication of the kernel, as events of a schedule."""

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from ..kernel import outside_streams, set_events
from ..kernel.leader_rules import DELAY_TRIES
from ..kernel.machine_code import plain
from ..kernel.set_words import NEVER
from ..kernel.simulation_loop import consume, know_all, next_part
from ..kernel.world import World, compiled_world
from .outside_events import FATES, KINDS, Outside

_KIND_OF = {rank: kind for kind, rank in KINDS.items()}
_FATE_OF = {number: fate for fate, number in FATES.items()}
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
    return Outside(
        at=at,
        kind=_KIND_OF[st[row + set_events.KIND]],
        broker=broker,
        fate=_FATE_OF[st[row + set_events.FATE]],
        shock=bool(st[row + set_events.SHOCK]),
        restart=st[row + set_events.RESTART],
        ready=st[row + set_events.READY_IN],
        level=st[row + set_events.LEVEL_IN],
        lag_phase=st[row + set_events.LAG_PHASE],
        shutdown=st[row + set_events.SHUTDOWN],
        lasts=st[row + set_events.LASTS],
        recover=st[row + set_events.RECOVER],
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
