"""The same turns to Kafka's own broker side and to the engine's, one after the other, until they
part.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

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
"""Of a generated run: what waits for the AlterPartition manager waits for both."""


class LeaderSide(Protocol):
    """Kafka's own, or what it has said once."""

    def do(self, turn: BrokerTurn) -> BrokerSight:
        """What is seen after the turn."""


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
    """Both sides, from the beginning of a broker on; `done` is all that has happened."""

    def __init__(self, kafka: LeaderSide, engine: EngineLeader) -> None:
        self.kafka, self.engine = kafka, engine
        self.done: list[TurnDone] = []

    def do(self, turn: BrokerTurn) -> TurnDone:
        """The same turn to both."""
        mine = self.engine.do(turn)
        theirs = self.kafka.do(turn)
        done = TurnDone(turn, theirs, mine, tuple(sight_partings(theirs, mine)))
        self.done.append(done)
        return done

    def follow(self, turns: Iterable[BrokerTurn]) -> TurnDone | None:
        """Turn by turn; the one in which the two part, which is the last, or None."""
        for turn in turns:
            if self.do(turn).partings:
                return self.done[-1]
        return None


def live_run(
    process: PartitionProcess, features: Features, partitions: int, *, timed: bool
) -> BrokerRun:
    """A fresh broker on both sides. Raises DeadKafkaError if the process has ended."""
    kafka = RealLeader(process, partitions, timed=timed)
    return BrokerRun(kafka, EngineLeader(features, partitions, timed=timed))


def generated_run(
    process: PartitionProcess, features: Features, seed: int, turns: int
) -> tuple[BrokerRun, TurnDone | None]:
    """What `seed` generates, so many turns; and the one in which the two part, or None."""
    run = live_run(process, features, PARTITIONS, timed=is_timed(seed))
    return run, run.follow(generated_turns(run.engine, seed, turns))


def generated_turns(engine: EngineLeader, seed: int, turns: int) -> Iterator[BrokerTurn]:
    """Each when the one before has happened to `engine`."""
    source = LeaderTurns(seed, PARTITIONS, timed=is_timed(seed))
    yield source.first()
    for _ in range(turns - 1):
        yield source.next(engine)


def is_timed(seed: int) -> bool:
    """Whether the run that it generates has a clock: every other one."""
    return seed % 2 == 0


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
