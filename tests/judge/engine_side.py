"""The engine in Kafka's place: what decides where no Java is, right or deliberately wrong."""

from __future__ import annotations

from collections.abc import Sequence

from kiplab.judge.conversation.deciding_side import Answered
from kiplab.judge.conversation.engine_controller import EngineController
from kiplab.judge.conversation.real_controller import RefusedByKafkaError
from kiplab.judge.wire.message_schemas import MessageVersions
from kiplab.protocol.facts import RecordWritten
from kiplab.protocol.features import Features
from kiplab.protocol.ids import (
    BrokerId,
    LeaderEpoch,
    MetadataOffset,
    PartitionEpoch,
)
from kiplab.protocol.messages import Request
from kiplab.protocol.registrations import PartitionRegistration, registration
from kiplab.protocol.releases import RELEASES

FIRST = MetadataOffset(3)
CLEARING_MS, RESTARTING_MS = 9_001, 20


class EngineSide:
    """A `DecidingSide` that decides as the engine does under `features`."""

    def __init__(self, features: Features) -> None:
        self.features = features
        self._engine = EngineController(features, FIRST)

    @property
    def end(self) -> MetadataOffset:
        return MetadataOffset(self._engine.held.next_offset)

    @property
    def alter_partition(self) -> MessageVersions:
        return MessageVersions(
            RELEASES[self.features.release].oldest_alter_partition,
            RELEASES[self.features.release].alter_partition,
        )

    @property
    def last_record(self) -> MetadataOffset:
        return MetadataOffset(self.end - 1)

    @property
    def metadata_version(self) -> str:
        return self._engine.features.metadata_version

    def ask(self, request: Request, *, expected: int = 0) -> Answered:  # noqa: ARG002
        lapsed = () if self._engine.looks_later else self._engine.lapse()
        answer = self._engine.ask(request)
        return answer._replace(records=(*lapsed, *answer.records))

    def records(self) -> tuple[RecordWritten, ...]:
        return ()

    def barrier(self) -> tuple[RecordWritten, ...]:
        return self._engine.lapse()

    def advance(self, ms: int) -> None:
        self._engine.advance(ms)

    def restart(self) -> int:
        self._engine.take_over(self.end)
        self._engine.advance(RESTARTING_MS)
        return RESTARTING_MS

    def return_from_resignation(self) -> int:
        return 0

    def raise_metadata_version(self, metadata_version: str) -> tuple[str, int]:
        refused = self._engine.raise_metadata_version(metadata_version)
        return refused, 0

    def create(
        self, topic: str, replicas: Sequence[Sequence[int]], *, unclean: bool = False
    ) -> tuple[PartitionRegistration, ...]:
        made = tuple(
            self._partition(f"{topic}-{index}", tuple(map(BrokerId, ids)), unclean)
            for index, ids in enumerate(replicas)
        )
        self._engine.add(made, MetadataOffset(self.end + 1 + unclean + len(made)))
        return made

    def _partition(
        self, name: str, replicas: tuple[BrokerId, ...], unclean: bool
    ) -> PartitionRegistration:
        found = (registration(self._engine.held.registrations, broker) for broker in replicas)
        isr = tuple(r.broker for r in found if r is not None and not r.fenced)
        if not isr or not set(replicas) <= {r.broker for r in self._engine.held.registrations}:
            raise RefusedByKafkaError(f"{name} on {replicas}")
        return PartitionRegistration(
            name=name,
            replicas=replicas,
            isr=isr,
            leader=isr[0],
            leader_epoch=LeaderEpoch(0),
            partition_epoch=PartitionEpoch(0),
            unclean_leader_election=unclean,
        )

    def clear(self, brokers: Sequence[BrokerId]) -> int:
        end = MetadataOffset(self.end + len(brokers))
        self._engine = EngineController(self.features, end)
        return CLEARING_MS
