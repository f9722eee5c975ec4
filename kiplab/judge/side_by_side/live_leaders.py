"""Real brokers that decide while a play runs: Kafka's own Partition for each replica of each."""

from __future__ import annotations

from contextlib import ExitStack
from types import TracebackType

import msgspec

from ...engine.cluster import Cluster
from ...protocol.ids import BrokerId
from ...protocol.replica.broker_state import Broker
from ..partition.broker_sight import BrokerSight, SeenRequest
from ..partition.partition_process import PartitionProcess
from ..partition.real_leader import without_times
from .leader_questions import LeaderQuestion, ProcessBegun
from .leader_words import FOR_ALL, LeaderWords, digest, is_driven
from .recorded_leaders import LeaderAnswer, changed_sight


class LiveLeaders:
    """``with LiveLeaders("3.5", "3.5.2") as leaders:``, and then `begin` with a cluster.

    `release` is run as that patch release, brokers of any other release as its last one: each has
    a process of its own, started when the first broker needs it. `answers` is what they have said.
    Whatever is asked raises DeadKafkaError once Kafka is gone, MissingKafkaError where a release
    cannot be run.
    """

    def __init__(self, release: str, patch: str) -> None:
        self._release, self._patch = release, patch
        self._stack = ExitStack()
        self._processes: dict[str, PartitionProcess] = {}
        self._lives_in: dict[BrokerId, str] = {}
        self._words: LeaderWords | None = None
        self._meanwhile: list[str] = []
        self._last: dict[BrokerId, BrokerSight] = {}
        self.answers: list[LeaderAnswer] = []

    def __enter__(self) -> LiveLeaders:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def begin(self, start: Cluster) -> None:
        """A play begins with `start`: nothing of another one is left."""
        self._words = LeaderWords(start)
        self._lives_in.clear()
        self._last.clear()
        self.answers = []
        for process in self._processes.values():
            process.tell("anew")
        self._meanwhile = []
        self._tell_all(f"version {start.features.metadata_version}")

    @property
    def turns(self) -> int:
        """How many turns they have taken."""
        return len(self.answers)

    def plays(self, broker: Broker, cluster: Cluster) -> bool:
        """See `DecidingLeaders`."""
        return is_driven(broker, cluster)

    def decide(self, broker: Broker, question: LeaderQuestion, cluster: Cluster) -> BrokerSight:
        """See `DecidingLeaders`."""
        assert self._words is not None, "no play has begun"
        if isinstance(question, ProcessBegun):
            self._lives_in[broker.id] = cluster.features.release_of(broker.id)
            self._last.pop(broker.id, None)
        lines = self._words.lines(broker, question, cluster)
        process = self._process(self._lives_in[broker.id])
        sent: list[SeenRequest] = []
        seen: BrokerSight | None = None
        for who, line in lines:
            if who == FOR_ALL:
                self._tell_all(line)
                continue
            seen = msgspec.json.decode(process.tell(f"{who} {line}"), type=BrokerSight)
            sent += seen.sent
        assert seen is not None, "every question has a line"
        seen = msgspec.structs.replace(seen, sent=tuple(sent))
        seen = seen if cluster.timed else without_times(seen)
        before = self._last.get(broker.id)
        self.answers.append(LeaderAnswer(digest(lines), changed_sight(before, seen)))
        self._last[broker.id] = seen
        return seen

    def _tell_all(self, line: str) -> None:
        self._meanwhile.append(line)
        for process in self._processes.values():
            process.tell(line)

    def _process(self, release: str) -> PartitionProcess:
        """That of a release, which knows how late it is."""
        if release not in self._processes:
            name = self._patch if release == self._release else release
            process = self._stack.enter_context(PartitionProcess(name))
            self._processes[release] = process
            for line in self._meanwhile:
                process.tell(line)
        return self._processes[release]
