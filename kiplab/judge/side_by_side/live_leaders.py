"""Real brokers that decide while a play runs: Kafka's own Partition for each replica of each."""

from collections.abc import Iterator
from contextlib import ExitStack

import msgspec
from msgspec.structs import replace

from ...engine.cluster import Cluster
from ...engine.truth import truth
from ...protocol.ids import BrokerEpoch, BrokerId
from ...protocol.replica.broker_parts import process_of
from ...protocol.replica.broker_state import Broker
from ...protocol.replica.remote_replicas import LAG_TIME_MAX_MS
from ..partition import partition_process as turns
from ..partition.observed_broker import ObservedBroker, SeenRequest, without_times
from ..partition.partition_process import PartitionProcess
from .deciding import LeaderQuestion, MetadataPlayed, ProcessBegun, UnaskableError

RECORDS_MAX = 10_000
"""Of one log, or of one producer: each is written by Kafka, one in a batch."""
FOR_ALL = "all"
"""Before a line that is not for one broker."""


class LeaderWords(turns.PartitionWords):
    """The lines that a process of real brokers is told in a play that begins with `start`. Without
    a clock whoever has not caught up has lagged for too long: so much time passes before each turn.
    """

    def __init__(self, start: Cluster) -> None:
        super().__init__([state.name for state in truth(start).partitions])
        self._now_ms = 0
        self._version = start.features.metadata_version
        self._epochs: dict[BrokerId, BrokerEpoch] = {}

    def lines(
        self, broker: Broker, question: LeaderQuestion, cluster: Cluster
    ) -> tuple[tuple[str, str], ...]:
        """(broker, or FOR_ALL, and what it is told), in order.

        Raises UnaskableError for more records than can be written.
        """
        meanwhile = tuple((FOR_ALL, line) for line in self._meanwhile(cluster))
        own = (*self._registered(broker, question), *self._own(broker, question))
        return (*meanwhile, *((str(broker.id), line) for line in own))

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

    def _own(self, broker: Broker, question: LeaderQuestion) -> Iterator[str]:
        match question:
            case ProcessBegun():
                yield from self._begun(broker, question)
            case MetadataPlayed():
                yield self.metadata(question.update, question.told)
            case _:
                if isinstance(question, turns.ProducedTurn):
                    _must_be_few(question.count)
                if isinstance(question, turns.RetryTurn) and process_of(broker).in_flight:
                    # Nobody has answered: the request has timed out.
                    yield self.of(turns.LostTurn())
                yield self.of(question)

    def _begun(self, broker: Broker, question: ProcessBegun) -> Iterator[str]:
        """What a topic wants is known before there are logs, which keep it."""
        yield self.begin(process_of(broker).epoch)
        yield self.metadata(question.update, ())
        for kept in broker.durable.replicas:
            _must_be_few(kept.log.end)
            yield self.log(kept.partition, kept.log, kept.checkpoint)
        played = [s.name for s in question.update.partitions if broker.id in s.replicas]
        yield self.metadata(question.update, played)


def _must_be_few(count: int) -> None:
    """Raises UnaskableError for more records than are written."""
    if count > RECORDS_MAX:
        raise UnaskableError(
            f"each record is written by a real log: {count:,} are too many, {RECORDS_MAX:,} the"
            " most",
            "leader",
        )


class Rehearsal:
    """Brokers for whom there are words, and whom nobody asks: they hold what the engine holds."""

    def __init__(self, start: Cluster) -> None:
        self._words = LeaderWords(start)
        self.turns = 0

    def decide(self, broker: Broker, question: LeaderQuestion, cluster: Cluster) -> None:
        """See `DecidingLeaders`."""
        self._words.lines(broker, question, cluster)
        self.turns += 1


class LiveLeaders(ExitStack):
    """``with LiveLeaders("3.5", "3.5.2") as leaders:``, and then `begin` with a cluster.

    `release` is run as that patch release, brokers of any other release as its last one: each has
    a process of its own, started when the first broker needs it. Whatever is asked raises
    DeadKafkaError once Kafka is gone, MissingKafkaError where a release cannot be run.
    """

    def __init__(self, release: str, patch: str) -> None:
        super().__init__()
        self._release, self._patch = release, patch
        self._processes: dict[str, PartitionProcess] = {}
        self._runs_in: dict[BrokerId, str] = {}
        self._words: LeaderWords | None = None
        self._meanwhile: list[str] = []
        self.turns = 0

    def begin(self, start: Cluster) -> None:
        """A play begins with `start`: nothing of another one is left."""
        self._words = LeaderWords(start)
        self._runs_in.clear()
        self.turns = 0
        for process in self._processes.values():
            process.tell("anew")
        self._meanwhile = []
        self._tell_all(f"version {start.features.metadata_version}")

    def decide(self, broker: Broker, question: LeaderQuestion, cluster: Cluster) -> ObservedBroker:
        """See `DecidingLeaders`."""
        assert self._words is not None, "no play has begun"
        if isinstance(question, ProcessBegun):
            self._runs_in[broker.id] = cluster.features.release_of(broker.id)
        lines = self._words.lines(broker, question, cluster)
        process = self._process(self._runs_in[broker.id])
        sent: list[SeenRequest] = []
        seen: ObservedBroker | None = None
        for who, line in lines:
            if who == FOR_ALL:
                self._tell_all(line)
                continue
            seen = msgspec.json.decode(process.tell(f"{who} {line}"), type=ObservedBroker)
            sent += seen.sent
        assert seen is not None, "every question has a line"
        self.turns += 1
        seen = replace(seen, sent=tuple(sent))
        return seen if cluster.timed else without_times(seen)

    def _tell_all(self, line: str) -> None:
        self._meanwhile.append(line)
        for process in self._processes.values():
            process.tell(line)

    def _process(self, release: str) -> PartitionProcess:
        """That of a release, which knows how late it is."""
        if release not in self._processes:
            name = self._patch if release == self._release else release
            process = self.enter_context(PartitionProcess(name))
            self._processes[release] = process
            for line in self._meanwhile:
                process.tell(line)
        return self._processes[release]


RECORDS_MAX = 10_000
"""Of one log, or of one producer: each is written by Kafka, one in a batch."""
FOR_ALL = "all"
"""Before a line that is not for one broker."""
