"""A trace: the changes of the partition, line by line."""

import msgspec

NOBODY = 0


class TracedState(msgspec.Struct, frozen=True):
    """A state of the partition at the controller; leader 0 means no leader, last_known 0 none."""

    leader: int
    leader_epoch: int
    partition_epoch: int
    isr: tuple[int, ...]
    recovering: bool = False
    elr: tuple[int, ...] = ()
    last_known: int = NOBODY


class TraceLine(msgspec.Struct, frozen=True):
    """When (ms) and what: ``"partition"``, ``"refused"``, ``"lost"`` or ``"stale join"``.

    `broker` is refused, leads without committed records, or joins; `guard` refuses; `cause` is the
    metric that counts a loss; `partition` is the new state.
    """

    at: int
    what: str
    broker: int = NOBODY
    guard: str = ""
    cause: str = ""
    partition: TracedState | None = None


Trace = tuple[TraceLine, ...]
