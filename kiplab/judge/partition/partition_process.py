"""Kafka's own Partition in a process of its own: started, sent turns, always ended.

Each event of a broker with some partitions is one turn. A follower's Fetch, metadata, and the
controller's answer to AlterPartition are the engine's own messages.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ...protocol import ids, registrations, releases
from ...protocol.log import Log
from ...protocol.messages import AlterPartitionResponse, FetchRequest, MetadataUpdate
from ...protocol.messages.replication_messages import AlterPartitionResult
from ..java_process import OwnedProcess
from ..kafka_jars.jar_cache import LAST_PATCH, jars_of, patch_release
from .observed_broker import ObservedBroker, runs_of

LEADER = ids.BrokerId(1)
"""The broker that is judged."""
LEADER_BROKER_EPOCH = ids.BrokerEpoch(100)
TOPIC = "orders"


class ProducedTurn(msgspec.Struct, frozen=True, tag="produced"):
    """A producer's records reach the broker."""

    partition: ids.PartitionName
    count: int
    acks_all: bool


class ReplicatedTurn(msgspec.Struct, frozen=True, tag="replicated"):
    """While it follows: what it has fetched from its leader, and that one's high watermark."""

    partition: ids.PartitionName
    records: Log
    high_watermark: ids.Offset


class TruncatedTurn(msgspec.Struct, frozen=True, tag="truncated"):
    """A following broker's fetcher, the engine's, found that the leader's log is another one."""

    partition: ids.PartitionName
    offset: ids.Offset


class LagTurn(msgspec.Struct, frozen=True, tag="lag"):
    """The look for members that have fallen behind; in a play at the `partitions` that it has."""

    partitions: tuple[ids.PartitionName, ...] = ()


class RetryTurn(msgspec.Struct, frozen=True, tag="retry"):
    """The AlterPartition request that failed is due to be sent again."""


class LostTurn(msgspec.Struct, frozen=True, tag="lost"):
    """The AlterPartition request under way is lost, and the broker notices."""


class PauseTurn(msgspec.Struct, frozen=True, tag="pause"):
    """Time passes."""

    ms: ids.Milliseconds


PartitionTurn = (
    FetchRequest
    | AlterPartitionResponse
    | ProducedTurn
    | ReplicatedTurn
    | LagTurn
    | RetryTurn
    | LostTurn
)
BrokerTurn = PartitionTurn | MetadataUpdate | PauseTurn


def partition_name(index: int) -> ids.PartitionName:
    """``"orders-0"``."""
    return f"{TOPIC}-{index}"


def index_of(partition: ids.PartitionName) -> int:
    """The number of ``"orders-0"``."""
    return int(partition.rpartition("-")[2])


class PartitionWords:
    """What happens to a broker, in the words of PartitionLauncher.java: whole numbers and commas. A
    partition is its place in `names`; what is not among them is one that there is not.
    """

    def __init__(self, names: Sequence[ids.PartitionName]) -> None:
        self.names = tuple(names)

    def of(self, turn: Any) -> str:
        """A turn that is one line."""
        match turn:
            case FetchRequest():
                return self._fetch(turn)
            case MetadataUpdate():
                return self.metadata(turn, self.names)
            case AlterPartitionResponse():
                results = ";".join(map(self._result, turn.results))
                return f"answer {int(turn.error)} {results}".strip()
            case ProducedTurn():
                acks = -1 if turn.acks_all else 1
                return f"append {self._place(turn.partition)} {turn.count} {acks}"
            case ReplicatedTurn():
                mark, runs = turn.high_watermark, _runs(turn.records)
                return f"follow {self._place(turn.partition)} {mark} {runs}".strip()
            case TruncatedTurn():
                return f"truncate {self._place(turn.partition)} {turn.offset}"
            case LagTurn():
                return f"lag {_numbers(map(self._place, turn.partitions))}"
            case PauseTurn():
                return f"advance {turn.ms}"
        return "retry" if isinstance(turn, RetryTurn) else "lost"

    def begin(self, epoch: ids.BrokerEpoch) -> str:
        """A new process, with empty logs."""
        return f"begin {epoch} {','.join(self.names)}"

    def log(self, partition: ids.PartitionName, log: Log, checkpoint: ids.Offset) -> str:
        """What a new process finds on its disk."""
        return f"log {self._place(partition)} {checkpoint} {_runs(log)}".strip()

    def metadata(self, update: MetadataUpdate, changed: Iterable[ids.PartitionName]) -> str:
        """The whole image, and the partitions that are told; KeyError where one is gone."""
        brokers = ";".join(
            f"{entry.broker}:{entry.epoch}:{entry.fenced:d}:{entry.in_controlled_shutdown:d}"
            for entry in update.registrations
        )
        by_name = {state.name: state for state in update.partitions}
        states = ";".join(_partition(by_name[name]) for name in self.names)
        return f"metadata {brokers or '-'} {states} {_numbers(map(self._place, changed))}"

    def _fetch(self, turn: FetchRequest) -> str:
        # Below version 15 and 12 the fields are not on the wire, and read as -1.
        epoch = turn.replica_epoch if turn.version >= 15 else -1
        last = turn.last_fetched_epoch if turn.version >= 12 else -1
        where = f"{self._place(turn.partition)} {turn.replica} {epoch}"
        return f"fetch {where} {turn.leader_epoch} {turn.offset} {last}"

    def _result(self, result: AlterPartitionResult) -> str:
        where, error = self._place(result.partition), int(result.error)
        leader = f"{result.leader}:{result.leader_epoch}:{result.partition_epoch}"
        return f"{where}:{error}:{leader}:{_numbers(result.isr)}:{int(result.recovery)}"

    def _place(self, partition: ids.PartitionName) -> int:
        if partition in self.names:
            return self.names.index(partition)
        return len(self.names) + index_of(partition)


def _runs(log: Log) -> str:
    return ",".join(f"{epoch}x{len(run)}" for epoch, run in runs_of(log) if run)


def _partition(state: registrations.PartitionRegistration) -> str:
    leader = f"{state.leader}:{state.leader_epoch}:{state.partition_epoch}"
    members = f"{_numbers(state.replicas)}:{_numbers(state.isr)}"
    settings = f"{int(state.recovery)}:{state.min_insync_replicas}"
    return f"{leader}:{members}:{settings}:{_numbers(state.adding)}:{_numbers(state.removing)}"


def _numbers(these: Iterable[int]) -> str:
    return ",".join(map(str, these)) or "-"


# --- the process ---------------------------------------------------------------------------------

PARTITION_CLASSES = Path(__file__).parent
"""Where the compiled classes are."""
_OLDEST = (3, 3)
"""3.2's Partition is asked for a partition epoch by another name, and fetches by another method."""


def partition_releases() -> tuple[str, ...]:
    """Every release of which the Partition is driven, oldest first."""
    return tuple(name for name in LAST_PATCH if releases.RELEASES[name].code >= _OLDEST)


class PartitionProcess(OwnedProcess):
    """``with PartitionProcess("3.5") as kafka: kafka.tell("1 begin 100 orders-0,orders-1")``: one
    command of PartitionLauncher.java, answered by a line of JSON.

    Raises UnjudgedReleaseError for a release that there is not, MissingKafkaError where none can be
    run, DeadKafkaError where it does not start or ends by itself.
    """

    def __init__(self, release: str) -> None:
        self.patch = patch_release(release)
        self.release = release if release in releases.RELEASES else release.rpartition(".")[0]
        self.jars = jars_of(self.patch)
        super().__init__(f"Kafka {self.patch}", "partition")
        self._data = self._folder / "data"
        self._data.mkdir()

    def observe(self, line: str, broker: ids.BrokerId = LEADER) -> ObservedBroker:
        """What is seen of a broker after a line that is for it."""
        return msgspec.json.decode(self.tell(f"{broker} {line}"), type=ObservedBroker)

    def begin(self, words: PartitionWords, epoch: ids.BrokerEpoch) -> None:
        """Reset to a broker of that epoch with empty logs."""
        self.tell("anew")
        self.observe(words.begin(epoch))

    def take(self, words: PartitionWords, turn: Any) -> ObservedBroker:
        """What is seen after a turn; after a pause, by a look that finds nothing."""
        if isinstance(turn, PauseTurn):
            self.tell(words.of(turn))
            turn = LagTurn()
        return self.observe(words.of(turn))

    def _command(self) -> tuple[Sequence[Path | str], Sequence[str]]:
        arguments = [str(self._data), releases.RELEASES[self.release].latest]
        return (PARTITION_CLASSES, f"{self.jars}/*"), ["PartitionLauncher", *arguments]
