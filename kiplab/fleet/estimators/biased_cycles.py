"""Cycles of a replica set in the kernel, as far as their events are known."""

from typing import Any

from ..kernel import windows_behind
from ..kernel.broker_rules import DISK_LOST, KEPT, TAIL_LOST
from ..kernel.feature_sets import mask_of
from ..kernel.machine_code import as_words, words
from ..kernel.set_events import AT, BROKER, CRASH, FATE, KIND, SHOCK
from ..kernel.set_words import BROKERS, STATE_WORDS, TOLD_WORDS
from ..kernel.world import World, compiled_world
from .biased_rows import DrawnRows, Hits, WhatFollows
from .biased_ways import OpenWindows

_NEVER = 1 << 62


class KeptRows:
    """What has been drawn of each sample of a block."""

    def __init__(self, samples: int, replicas: int) -> None:
        self._shape = samples, replicas
        self._parts: list[DrawnRows] = []

    def add(self, drawn: WhatFollows) -> None:
        """A broker has one early crash before it at most: a later event that plans one puts off
        what earlier ones had planned.
        """
        self._put_off(drawn.plans)
        self._parts.append(drawn.rows)

    def _put_off(self, plans: Hits) -> None:
        from numpy import full

        if not len(plans.of):
            return
        since = full(self._shape, _NEVER)
        since[plans.of, plans.broker] = plans.at
        self._parts = [
            part.those(~part.is_early | (part.caused <= since[part.of, part.rows[:, BROKER]]))
            for part in self._parts
        ]

    def of(self, samples: Any) -> DrawnRows:
        """All rows of these samples, in the kernel's order."""
        from numpy import concatenate, lexsort, zeros

        wanted = zeros(self._shape[0], bool)
        wanted[samples] = True
        parts = [part.those(wanted[part.of]) for part in self._parts]
        names = DrawnRows.__struct_fields__
        drawn_rows = DrawnRows(
            **{name: concatenate([getattr(one, name) for one in parts]) for name in names}
        )
        rows = drawn_rows.rows
        return drawn_rows.those(
            lexsort((rows[:, BROKER], rows[:, KIND], rows[:, AT], drawn_rows.of))
        )


class CyclePlayer:
    """The kernel, again and again from rest, under one feature set."""

    def __init__(self, world: World, features: str) -> None:
        self._numbers = compiled_world(world).numbers
        self._guards = mask_of(features)
        tail, disk = world.tail_lost, world.disk_replaced
        fates = ((KEPT, 1 - tail - disk), (TAIL_LOST, tail), (DISK_LOST, disk))
        self._fates = [(fate, share) for fate, share in fates if share > 0]
        self._room = [
            words(many) for many in (STATE_WORDS, 1 + TOLD_WORDS, BROKERS * windows_behind.DELAYS)
        ]

    def on_average(self, drawn: DrawnRows, samples: Any, since: Any, counted: Any) -> Any:
        """(samples, COUNTED): as `counted`, which was played, but where the last event is the crash
        of a single broker as it is on average over what that takes along.
        """
        from numpy import arange, isin, searchsorted

        which, rows = searchsorted(samples, drawn.of), drawn.rows
        last = (rows[:, KIND] == CRASH) & (rows[:, SHOCK] == 0) & (rows[:, AT] == since[which])
        last &= ~drawn.is_early
        hit = isin(arange(len(samples)), which[last])
        mine = drawn.those(hit[which])
        counts, mine_last = 1.0 * counted, last[hit[which]]
        if hit.any():
            counts[hit] = 0
            for fate, share in self._fates:
                mine.rows[mine_last, FATE] = fate
                counts[hit] += share * self.played(mine, samples[hit], since[hit])[0]
        return counts

    def played(self, drawn: DrawnRows, samples: Any, since: Any) -> tuple[Any, OpenWindows]:
        """(samples, COUNTED): what the kernel counted; and what is open behind `since`."""
        from numpy import array, searchsorted

        many = len(samples)
        cuts = [*searchsorted(drawn.of, samples).tolist(), len(drawn.of)]
        counts, windows = (
            words(many * windows_behind.COUNTED),
            words(many * (windows_behind.MOST_WINDOWS + 1) * windows_behind.WINDOW),
        )
        state, trace, broker_delays = self._room
        tables = (as_words(each.ravel()) for each in (drawn.rows, drawn.delays, array(cuts), since))
        windows_behind.play_all(
            state, self._numbers, trace, broker_delays, *tables, self._guards, counts, windows
        )
        counted = array(counts).reshape(many, windows_behind.COUNTED)
        shape = many, windows_behind.MOST_WINDOWS + 1, windows_behind.WINDOW
        return counted, _open(array(windows).reshape(shape)[:, :-1], counted, since)


def _open(windows: Any, counted: Any, since: Any) -> OpenWindows:
    from numpy import arange, column_stack, maximum, where

    rests = maximum(counted[:, windows_behind.RESTS_AT], since)
    there = arange(windows_behind.MOST_WINDOWS) < counted[:, windows_behind.WINDOWS, None]
    begins = where(there, windows[:, :, windows_behind.BEGINS], rests[:, None])
    return OpenWindows(
        begins=begins,
        lasts=column_stack([begins[:, 1:], rests]) - begins,
        whom=where(there[:, :, None], windows[:, :, windows_behind.IN_SYNC :], 0),
        since=since,
        rests=rests,
    )
