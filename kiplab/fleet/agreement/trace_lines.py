"""A trace: what happens to the partition, line by line, in a form that compares."""

import msgspec

NOBODY = 0


class PartitionTold(msgspec.Struct, frozen=True):
    """A state of the partition as the controller keeps it; leader 0 is nobody."""

    leader: int
    leader_epoch: int
    partition_epoch: int
    isr: tuple[int, ...]
    recovering: bool = False

    @property
    def words(self) -> str:
        """``"epoch 11: leader 2 under 6, ISR 2"``."""
        members = ",".join(map(str, self.isr))
        who = f"leader {self.leader or 'none'} under {self.leader_epoch}, ISR {members}"
        return f"epoch {self.partition_epoch}: {who}{', recovering' if self.recovering else ''}"


class TraceLine(msgspec.Struct, frozen=True):
    """When (ms) and what: ``"partition"``, ``"refused"``, ``"lost"`` or ``"stale join"``.

    `broker` is who is refused, who leads without committed records, or who joins; `guard` refuses;
    `cause` of a loss is the metric that counts it; `partition` is the new state.
    """

    at: int
    what: str
    broker: int = NOBODY
    guard: str = ""
    cause: str = ""
    partition: PartitionTold | None = None

    @property
    def words(self) -> str:
        """The line for people."""
        return f"{self._what} at {self.at} ms"

    @property
    def _what(self) -> str:
        if self.partition is not None:
            return f"partition {self.partition.words}"
        if self.what == "refused":
            return f"broker {self.broker} is refused by {self.guard}"
        if self.what == "lost":
            return f"broker {self.broker} leads without committed records ({self.cause})"
        return f"stale join of broker {self.broker}"


Trace = tuple[TraceLine, ...]
