"""Real brokers that decide while a play runs: Kafka's own Partition for each replica of each."""

from contextlib import ExitStack

import msgspec
from msgspec.structs import replace

from ...engine.cluster import Cluster
from ...protocol.ids import BrokerId
from ...protocol.replica.broker_state import Broker
from ..partition.observed_broker import ObservedBroker, SeenRequest, without_times
from ..partition.partition_process import PartitionProcess
from .deciding import LeaderQuestion, ProcessBegun
from .leader_words import FOR_ALL, LeaderWords, is_driven


class Rehearsal:
    """Brokers for whom there are words, and whom nobody asks: they hold what the engine holds."""

    def __init__(self, start: Cluster) -> None:
        self._words = LeaderWords(start)
        self.turns = 0

    def plays(self, broker: Broker, cluster: Cluster) -> bool:
        """See `DecidingLeaders`."""
        return is_driven(broker, cluster)

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

    def plays(self, broker: Broker, cluster: Cluster) -> bool:
        """See `DecidingLeaders`."""
        return is_driven(broker, cluster)

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
