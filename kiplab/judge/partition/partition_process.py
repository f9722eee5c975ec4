"""Kafka's own Partition in a process of its own: started, told what happens, always ended."""

from pathlib import Path

import msgspec

from ...protocol.ids import PartitionEpoch
from ...protocol.messages import MetadataUpdate
from ...protocol.releases import RELEASES
from ...protocol.replica.remote_replicas import LAG_TIME_MAX_MS
from ..java_process import ChildJvm, OwnedProcess
from ..kafka_jars.jar_cache import jars_of
from ..kafka_jars.judged_releases import LAST_PATCH, patch_release
from . import broker_turns as turns
from .broker_turns import PartitionWords
from .observed_broker import ObservedBroker, without_times

PARTITION_CLASSES = Path(__file__).parent
"""Where the compiled classes are."""
_OLDEST = (3, 3)
"""3.2's Partition is asked for a partition epoch by another name, and fetches by another method."""


def partition_releases() -> tuple[str, ...]:
    """Every release of which the Partition is driven, oldest first."""
    return tuple(name for name in LAST_PATCH if RELEASES[name].code >= _OLDEST)


class PartitionProcess(OwnedProcess):
    """``with PartitionProcess("3.5") as kafka: kafka.tell("1 begin 100 orders-0,orders-1")``.

    Raises UnjudgedReleaseError for a release that there is not, MissingKafkaError where none can be
    run, DeadKafkaError where it does not start or ends by itself.
    """

    def __init__(self, release: str) -> None:
        self.patch = patch_release(release)
        self.release = release if release in RELEASES else release.rpartition(".")[0]
        self.jars = jars_of(self.patch)
        super().__init__("partition")

    def tell(self, line: str) -> str:
        """One command of PartitionLauncher.java, and the line of JSON that it answers."""
        assert self._child is not None, "it has not been started"
        return self._child.tell(line)

    def _settle(self) -> None:
        self._data.mkdir(exist_ok=True)

    def _launched(self) -> ChildJvm:
        command = ["PartitionLauncher", str(self._data), RELEASES[self.release].latest]
        classes = (PARTITION_CLASSES, f"{self.jars}/*")
        return ChildJvm(f"Kafka {self.patch}", classes, command, self._log)

    @property
    def _data(self) -> Path:
        return self._folder / "data"


class RealLeader:
    """A fresh broker in `process`, with so many partitions of one topic and empty logs.

    Without a clock whoever has not caught up has lagged for too long: so much time passes before
    each turn, and no time is told.
    """

    def __init__(self, process: PartitionProcess, partitions: int, *, timed: bool) -> None:
        self._process = process
        self._timed = timed
        self._words = PartitionWords(tuple(map(turns.partition_name, range(partitions))))
        self._epochs: dict[str, PartitionEpoch] = {}
        process.tell("anew")
        self._tell(self._words.begin(turns.LEADER_BROKER_EPOCH))

    def answer(self, turn: turns.BrokerTurn, /) -> ObservedBroker:
        """What is seen after the turn. Raises DeadKafkaError if the process has ended."""
        if not self._timed:
            self._process.tell(f"advance {LAG_TIME_MAX_MS + 1}")
        if isinstance(turn, turns.PauseTurn):
            self._process.tell(self._words.of(turn))
            # Nothing is done by itself: what is held is seen by a look that finds nothing.
            turn = turns.LagTurn()
        elif isinstance(turn, turns.LagTurn):
            turn = turns.LagTurn(self._words.names)
        if isinstance(turn, MetadataUpdate):
            seen = self._tell(self._metadata(turn))
        else:
            seen = self._tell(self._words.of(turn))
        return seen if self._timed else without_times(seen)

    def _tell(self, line: str) -> ObservedBroker:
        answer = self._process.tell(f"{turns.LEADER} {line}")
        return msgspec.json.decode(answer, type=ObservedBroker)

    def _metadata(self, update: MetadataUpdate) -> str:
        epochs = {state.name: state.partition_epoch for state in update.partitions}
        changed = [name for name, epoch in epochs.items() if self._epochs.get(name) != epoch]
        self._epochs = epochs
        return self._words.metadata(update, changed)
