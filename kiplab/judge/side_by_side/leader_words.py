"""The lines that a process of real brokers is told in a play."""

from collections.abc import Iterator

from ...engine.cluster import Cluster
from ...engine.truth import truth
from ...protocol.ids import BrokerEpoch, BrokerId, PartitionName
from ...protocol.messages import MetadataUpdate
from ...protocol.registrations import PartitionRegistration, partition
from ...protocol.replica.broker_parts import process_of
from ...protocol.replica.broker_state import Broker
from ...protocol.replica.remote_replicas import LAG_TIME_MAX_MS
from ..partition import broker_turns as turns
from ..partition.partition_process import partition_releases
from ..partition.partition_words import PartitionWords
from .deciding import LeaderQuestion, MetadataPlayed, ProcessBegun, UnaskableError

RECORDS_MAX = 10_000
"""Of one log, or of one producer: each is written by Kafka, one in a batch."""
FOR_ALL = "all"
"""Before a line that is not for one broker."""


class LeaderWords:
    """Of a play that begins with `start`. Without a clock whoever has not caught up has lagged for
    too long: so much time passes before each turn.
    """

    def __init__(self, start: Cluster) -> None:
        self.names: tuple[PartitionName, ...] = tuple(p.name for p in truth(start).partitions)
        self._words = PartitionWords(self.names)
        self._now_ms = 0
        self._version = start.features.metadata_version
        self._epochs: dict[BrokerId, BrokerEpoch] = {}

    def lines(
        self, broker: Broker, question: LeaderQuestion, cluster: Cluster
    ) -> tuple[tuple[str, str], ...]:
        """(broker, or FOR_ALL, and what it is told), in order.

        Raises UnaskableError for more records than can be written.
        """
        who = str(broker.id)
        meanwhile = tuple((FOR_ALL, line) for line in self._meanwhile(cluster))
        registered = tuple((who, line) for line in self._registered(broker, question))
        return (*meanwhile, *registered, *((who, line) for line in self._of(broker, question)))

    def _meanwhile(self, cluster: Cluster) -> Iterator[str]:
        version = cluster.features.metadata_version
        if version != self._version:
            self._version = version
            yield f"version {version}"
        passed = cluster.now_ms - self._now_ms if cluster.timed else LAG_TIME_MAX_MS + 1
        self._now_ms = cluster.now_ms
        if passed:
            yield f"advance {passed}"

    def _registered(self, broker: Broker, question: LeaderQuestion) -> Iterator[str]:
        """Its broker epoch: a registration that was sent twice may be answered twice."""
        epoch = process_of(broker).epoch
        earlier = self._epochs.get(broker.id)
        self._epochs[broker.id] = epoch
        if not isinstance(question, ProcessBegun) and earlier != epoch:
            yield f"epoch {epoch}"

    def _of(self, broker: Broker, question: LeaderQuestion) -> Iterator[str]:
        match question:
            case ProcessBegun():
                yield from self._begun(broker, question.update)
            case MetadataPlayed():
                yield self._metadata(question.update, question.told)
            case turns.RetryTurn() if process_of(broker).in_flight:
                # Nobody has answered: the request has timed out.
                yield self._words.of(turns.LostTurn())
                yield self._words.of(question)
            case turns.ProducedTurn() if question.count > RECORDS_MAX:
                raise too_many(question.count)
            case _:
                yield self._words.of(question)

    def _begun(self, broker: Broker, update: MetadataUpdate) -> Iterator[str]:
        """What a topic wants is known before there are logs, which keep it."""
        yield self._words.begin(process_of(broker).epoch)
        yield self._metadata(update, ())
        for kept in broker.durable.replicas:
            if kept.log.end > RECORDS_MAX:
                raise too_many(kept.log.end)
            yield self._words.log(kept.partition, kept.log, kept.checkpoint)
        played = tuple(s.name for s in update.partitions if broker.id in s.replicas)
        yield self._metadata(update, played)

    def _metadata(self, update: MetadataUpdate, played: tuple[PartitionName, ...]) -> str:
        there: list[PartitionRegistration] = []
        for name in self.names:
            state = partition(update.partitions, name)
            assert state is not None, f"there is no {name} any more"
            there.append(state)
        return self._words.metadata(update.registrations, there, played)


def is_driven(broker: Broker, cluster: Cluster) -> bool:
    """Whether there are partitions, and the broker's release has a Partition that is driven."""
    release = cluster.features.release_of(broker.id)
    return bool(truth(cluster).partitions) and release in partition_releases()


def too_many(count: int) -> UnaskableError:
    """So many records are not written."""
    return UnaskableError(
        f"each record is written by a real log: {count:,} are too many, {RECORDS_MAX:,} the most",
        "leader",
    )
