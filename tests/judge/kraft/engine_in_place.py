"""The engine in Kafka's place: what decides where no Java is, right or deliberately wrong."""

from collections.abc import Sequence

from kiplab.judge.conversation.real_controller import RefusedByKafkaError
from kiplab.protocol import ids, registrations, releases
from kiplab.protocol.features import Features

from .engine_controller import EngineController
from .turns import Answer, Beginning, Checked, Created, Raised, Switched, TookOver, Turn

FIRST = ids.MetadataOffset(3)
CLEARING_MS, RESTARTING_MS = 9_001, 20


class EngineInPlace:
    """A `Controller` that decides as the engine does under `features`."""

    def __init__(self, features: Features) -> None:
        self.features = features
        self._engine = self._begun(FIRST)

    def _begun(self, end: ids.MetadataOffset) -> EngineController:
        return EngineController(self.features, self._beginning(end, self.features))

    def _beginning(self, end: ids.MetadataOffset, features: Features) -> Beginning:
        release = releases.RELEASES[features.release]
        versions = (release.oldest_alter_partition, release.alter_partition)
        return Beginning(features.metadata_version, end, ids.MetadataOffset(end - 1), *versions)

    def begin(self) -> Beginning:
        return self._beginning(self._engine.end, self._engine.features)

    def answer(self, turn: Turn, /) -> Answer:
        real = Answer(end=self._engine.end)
        match turn:
            case Checked(after_ms=ms):
                self._engine.advance(ms)
                return Answer(records=self._engine.lapse())
            case Created():
                real = self._created(turn)
            case TookOver(restarted=restarted):
                real = Answer(end=self._engine.end, ms=RESTARTING_MS if restarted else 0)
            case Raised() | Switched():
                refused = self._engine.answer(turn, real).refused
                return Answer(refused=refused, end=self._engine.end)
        return self._engine.answer(turn, real)

    def _created(self, turn: Created) -> Answer:
        made = tuple(
            self._partition(f"{turn.topic}-{index}", replicas, turn)
            for index, replicas in enumerate(turn.replicas)
        )
        settings = turn.unclean if turn.min_insync is None else 2
        end = ids.MetadataOffset(self._engine.end + 1 + settings + len(made))
        return Answer(end=end, partitions=made)

    def _partition(
        self, name: str, replicas: tuple[ids.BrokerId, ...], turn: Created
    ) -> registrations.PartitionRegistration:
        known = self._engine.held.registrations
        states = [registrations.registration(known, broker) for broker in replicas]
        isr = tuple(r.broker for r in states if r is not None and not r.fenced)
        if not isr or None in states:
            raise RefusedByKafkaError(f"{name} on {replicas}")
        return registrations.PartitionRegistration(
            name=name,
            replicas=replicas,
            isr=isr,
            leader=isr[0],
            leader_epoch=ids.LeaderEpoch(0),
            partition_epoch=ids.PartitionEpoch(0),
            unclean_leader_election=turn.unclean,
            min_insync_replicas=turn.min_insync or 1,
        )

    def clear(self, brokers: Sequence[ids.BrokerId]) -> int:
        self._engine = self._begun(ids.MetadataOffset(self._engine.end + len(brokers)))
        return CLEARING_MS
