"""Words that sentences of findings share: durations, brokers, guards and releases."""

from collections.abc import Iterable
from functools import cache
from typing import Any

from ...protocol.guards import GUARDS
from ...protocol.releases import Mode, of_mode
from ..log_items import UNKNOWN, OffsetAndTime
from ..states import ClusterState, PartitionState, RegisteredIncarnation


def duration_ms(since: OffsetAndTime, until: OffsetAndTime) -> int | None:
    """By the controllers' clocks; None where a time is missing or the clock went back."""
    if UNKNOWN in (since.time, until.time) or until.time < since.time:
        return None
    return until.time - since.time


def lasted(since: OffsetAndTime, until: OffsetAndTime) -> str:
    """``"for 3.3 s by the controller's clock"``, or that the log has no such time."""
    duration = duration_ms(since, until)
    if duration is None:
        return "for a time that the log does not tell"
    return f"for {span(duration)} by the controller's clock"


def span(ms: int) -> str:
    """``"40 ms"``, ``"3.3 s"``, ``"12 min 5 s"``, ``"26 h 3 min"``."""
    if ms < 1000:
        return f"{ms} ms"
    if ms < 60_000:
        return f"{ms / 1000:.1f} s"
    minutes, seconds = divmod(ms // 1000, 60)
    return f"{minutes} min {seconds} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def process(cluster: ClusterState, broker: int, epoch: int) -> RegisteredIncarnation | None:
    """The incarnation that was registered under `epoch`, where the log has it."""
    present = cluster.incarnations.get(broker)
    known = (*cluster.earlier_incarnations.get(broker, ()), *((present,) if present else ()))
    return next((incarnation for incarnation in known if incarnation.epoch == epoch), None)


def joined_as(state: PartitionState, members: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Each member with the broker epoch under which it joined, where that is known."""
    named = ((b, state.joined[b].broker_epoch) for b in members if b in state.joined)
    return tuple(one for one in named if one[1] != UNKNOWN)


@cache
def first_release(*guards: str) -> str:
    """The first release of KRaft that has them all; empty where none has."""
    having = [GUARDS[guard].releases for guard in guards]
    return next((name for name in of_mode(Mode.KRAFT) if all(name in one for one in having)), "")


def prevented_by(*guards: str) -> dict[str, Any]:
    """The guards and the first release that has them, as fields of a finding; {} for none."""
    return {"guards": guards, "release": first_release(*guards)} if guards else {}


def is_before(release: str, other: str) -> bool:
    """Whether a release that is known is older than `other`: 3.9 is older than 3.10."""
    known, than = (tuple(map(int, one.split("."))) if one else () for one in (release, other))
    return () < known < than
