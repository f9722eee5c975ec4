"""Log directories by number, as the engine has them: a metadata log has uuids.

Of each broker those are told apart in which the partition's replica is one day; all others are one
more. One that comes where another goes has its number. A replica that is nowhere is in the first.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, count

from ..states import LogEvent, PartitionState

_RESERVED, OTHERS = "A" * 20, ""
"""How a uuid begins that is no directory's (DirectoryId.reserved, 3.7.0)."""
UuidNumbers = Mapping[int, Mapping[str, int]]  # by broker and uuid, or `OTHERS`


def numbers_of(events: Sequence[LogEvent], states: Sequence[PartitionState]) -> UuidNumbers:
    """The numbers of every broker that has a replica in one of these states of a partition."""
    homes: dict[int, dict[str, int]] = {b: {} for state in states for b in state.replicas}
    for broker, uuid in chain(*(zip(s.replicas, s.directories, strict=False) for s in states)):
        if not uuid.startswith(_RESERVED):
            homes[broker][uuid] = 1
    processes = [*events[0].cluster.incarnations.values(), *(e.incarnation for e in events[1:])]
    return {
        broker: _numbered([*own], [p.directories for p in processes if p and p.broker == broker])
        for broker, own in homes.items()
    }


def _numbered(homes: list[str], registered: list[tuple[str, ...]]) -> dict[str, int]:
    numbers: dict[str, int] = {}
    for uuids in [uuids for uuids in registered if uuids] or [tuple(homes)]:
        ours = [home for home in homes if home in uuids] + [OTHERS] * (not {*uuids} <= {*homes})
        gone = {*numbers.values()} - {numbers.get(one, 0) for one in ours}
        free = chain(sorted(gone), count(max(numbers.values(), default=0) + 1))
        numbers |= dict(zip([one for one in ours if one not in numbers], free, strict=False))
    return numbers


def homes_of(numbers: UuidNumbers, state: PartitionState) -> list[tuple[int, int]]:
    """Each replica's broker, and the directory that it is in."""
    uuids = dict(zip(state.replicas, state.directories, strict=False))
    return [(b, numbers.get(b, {}).get(uuids.get(b, _RESERVED), 1)) for b in state.replicas]


def registered(numbers: UuidNumbers, broker: int, uuids: Iterable[str]) -> tuple[int, ...] | None:
    """What a registration has in the engine: None for the first directory alone."""
    own = numbers.get(broker, {})
    found = sorted({own.get(uuid, own.get(OTHERS, 1)) for uuid in uuids})
    return tuple(found) if found not in ([], [1]) else None
