"""Kafka's own broker side, told the turns of a run: what it holds after each."""

from __future__ import annotations

import msgspec

from ...protocol.messages import MetadataUpdate
from ...protocol.replica.remote_replicas import LAG_TIME_MAX_MS
from .broker_sight import BrokerSight, without_times
from .broker_turns import (
    LEADER,
    LEADER_BROKER_EPOCH,
    BrokerTurn,
    LagTurn,
    PauseTurn,
    partition_name,
)
from .partition_process import PartitionProcess
from .partition_words import PartitionWords


class RealLeader:
    """A fresh broker in `process`, with so many partitions of one topic and empty logs.

    Without a clock whoever is not level has lagged for too long: so much time passes before each
    turn, and no time is told.
    """

    def __init__(self, process: PartitionProcess, partitions: int, *, timed: bool) -> None:
        self._process = process
        self._timed = timed
        self._words = PartitionWords(tuple(map(partition_name, range(partitions))))
        self._known: dict[str, int] = {}
        process.tell("anew")
        self._tell(self._words.begin(LEADER_BROKER_EPOCH))

    def do(self, turn: BrokerTurn) -> BrokerSight:
        """What is seen after the turn. Raises DeadKafkaError if the process has ended."""
        if not self._timed:
            self._process.tell(f"advance {LAG_TIME_MAX_MS + 1}")
        if isinstance(turn, PauseTurn):
            self._process.tell(self._words.of(turn))
            # Nothing is done by itself: what is held is seen by a look that finds nothing.
            seen = self._tell(self._words.of(LagTurn()))
        else:
            seen = self._tell(self._line(turn))
        return seen if self._timed else without_times(seen)

    def _tell(self, line: str) -> BrokerSight:
        return msgspec.json.decode(self._process.tell(f"{LEADER} {line}"), type=BrokerSight)

    def _line(self, turn: BrokerTurn) -> str:
        if isinstance(turn, LagTurn):
            return self._words.of(LagTurn(self._words.names))
        return self._metadata(turn) if isinstance(turn, MetadataUpdate) else self._words.of(turn)

    def _metadata(self, turn: MetadataUpdate) -> str:
        told = turn.partitions
        changed = [p.name for p in told if self._known.get(p.name) != p.partition_epoch]
        self._known = {p.name: p.partition_epoch for p in told}
        return self._words.metadata(turn.registrations, told, changed)
