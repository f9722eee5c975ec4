"""One generated run: the same turns to Kafka's own broker side and to the engine's, until they
part.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec.structs import asdict

from ...protocol.features import Features
from .broker_sight import BrokerSight
from .broker_turns import BrokerTurn
from .engine_leader import EngineLeader
from .leader_turns import LeaderTurns
from .partition_process import PartitionProcess
from .real_leader import RealLeader

PARTITIONS = 2


class SightParting(msgspec.Struct, frozen=True):
    """One field that the two have otherwise: ``"orders-0 high_watermark"``."""

    what: str
    kafka: str
    engine: str

    def __str__(self) -> str:
        return f"{self.what}: Kafka has {self.kafka}, the engine {self.engine}"


class TurnDone(msgspec.Struct, frozen=True):
    """One turn, what is seen of both after it, and where they part."""

    turn: BrokerTurn
    kafka: BrokerSight
    engine: BrokerSight
    partings: tuple[SightParting, ...]


class BrokerRun:
    """The run that `seed` generates; every other seed has no clock."""

    def __init__(self, process: PartitionProcess, features: Features, seed: int) -> None:
        timed = seed % 2 == 0
        self.kafka = RealLeader(process, str(seed), PARTITIONS, timed=timed)
        self.engine = EngineLeader(features, PARTITIONS, timed=timed)
        self._turns = LeaderTurns(seed, PARTITIONS, timed=timed)
        self.done: list[TurnDone] = []

    def run(self, turns: int) -> TurnDone | None:
        """So many turns; the one in which the two part, which is the last, or None."""
        self.do(self._turns.first())
        while len(self.done) < turns:
            if self.do(self._turns.next(self.engine)).partings:
                return self.done[-1]
        return None

    def do(self, turn: BrokerTurn) -> TurnDone:
        """The same turn to both."""
        mine = self.engine.do(turn)
        theirs = self.kafka.do(turn)
        done = TurnDone(turn, theirs, mine, tuple(sight_partings(theirs, mine)))
        self.done.append(done)
        return done


def sight_partings(kafka: BrokerSight, engine: BrokerSight) -> Iterator[SightParting]:
    """Where the two part, field by field."""
    yield from _fields("", kafka, engine, ("error", "read", "sent"))
    for index, (theirs, mine) in enumerate(zip(kafka.partitions, engine.partitions, strict=True)):
        yield from _fields(f"orders-{index} ", theirs, mine, tuple(asdict(theirs)))


def _fields(
    where: str, kafka: msgspec.Struct, engine: msgspec.Struct, names: tuple[str, ...]
) -> Iterator[SightParting]:
    for name in names:
        theirs, mine = getattr(kafka, name), getattr(engine, name)
        if theirs != mine:
            yield SightParting(f"{where}{name}", repr(theirs), repr(mine))
