"""What may happen to a broker that plays some partitions: one turn each, done to both sides.

A follower's Fetch, metadata, and the controller's answer to AlterPartition are the engine's own
messages; what else may happen is written here.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from ...protocol.ids import BrokerEpoch, BrokerId, Milliseconds, Offset, PartitionName
from ...protocol.log import Log
from ...protocol.messages import AlterPartitionResponse, FetchRequest, MetadataUpdate
from ...protocol.messages.replication_messages import AlterPartitionResult
from ...protocol.registrations import PartitionRegistration, Registration

LEADER = BrokerId(1)
"""The broker that is judged."""
LEADER_BROKER_EPOCH = BrokerEpoch(100)
TOPIC = "orders"


class ProducedTurn(msgspec.Struct, frozen=True, tag="produced"):
    """A producer's records reach the broker."""

    partition: PartitionName
    count: int
    acks_all: bool


class ReplicatedTurn(msgspec.Struct, frozen=True, tag="replicated"):
    """While it follows: what it has fetched from its leader, and that one's high watermark."""

    partition: PartitionName
    records: Log
    high_watermark: Offset


class TruncatedTurn(msgspec.Struct, frozen=True, tag="truncated"):
    """While it follows: its fetcher has found that the leader's log is another one from there on.

    No generated run has it: where a log is cut the fetcher decides, which is the engine's.
    """

    partition: PartitionName
    offset: Offset


class LagTurn(msgspec.Struct, frozen=True, tag="lag"):
    """The look for members that have fallen behind; in a play at the `partitions` that it has."""

    partitions: tuple[PartitionName, ...] = ()


class RetryTurn(msgspec.Struct, frozen=True, tag="retry"):
    """The AlterPartition request that failed is due to be sent again."""


class LostTurn(msgspec.Struct, frozen=True, tag="lost"):
    """The AlterPartition request under way is lost, and the broker notices."""


class PauseTurn(msgspec.Struct, frozen=True, tag="pause"):
    """Time passes."""

    ms: Milliseconds


BrokerTurn = (
    FetchRequest
    | MetadataUpdate
    | AlterPartitionResponse
    | ProducedTurn
    | ReplicatedTurn
    | LagTurn
    | RetryTurn
    | LostTurn
    | PauseTurn
)


def partition_name(index: int) -> PartitionName:
    """``"orders-0"``."""
    return f"{TOPIC}-{index}"


def index_of(partition: PartitionName) -> int:
    """The number of ``"orders-0"``."""
    return int(partition.rpartition("-")[2])


class PartitionWords:
    """What happens to a broker, in the words of PartitionLauncher.java: whole numbers and commas. A
    partition is its place in `names`; what is not among them is one that there is not.
    """

    def __init__(self, names: Sequence[PartitionName]) -> None:
        self.names = tuple(names)

    def of(self, turn: Any) -> str:
        """A turn that is one line."""
        match turn:
            case FetchRequest():
                return self._fetch(turn)
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

    def begin(self, epoch: BrokerEpoch) -> str:
        """A new process, with empty logs."""
        return f"begin {epoch} {','.join(self.names)}"

    def log(self, partition: PartitionName, log: Log, checkpoint: Offset) -> str:
        """What a new process finds on its disk."""
        return f"log {self._place(partition)} {checkpoint} {_runs(log)}".strip()

    def metadata(self, update: MetadataUpdate, changed: Iterable[PartitionName]) -> str:
        """The whole image; `changed` are those of its partitions that the broker is told of.

        Raises KeyError where one of the partitions is gone.
        """
        brokers = ";".join(map(_registered, update.registrations)) or "-"
        by_name = {state.name: state for state in update.partitions}
        states = ";".join(_partition(by_name[name]) for name in self.names)
        return f"metadata {brokers} {states} {_numbers(map(self._place, changed))}"

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

    def _place(self, partition: PartitionName) -> int:
        if partition in self.names:
            return self.names.index(partition)
        return len(self.names) + index_of(partition)


def _runs(log: Log) -> str:
    ends = [*(entry.offset for entry in log.epochs[1:]), log.end]
    runs = [(e.epoch, end - e.offset) for e, end in zip(log.epochs, ends, strict=False)]
    # An epoch that was noted without a record is no record.
    return ",".join(f"{epoch}x{count}" for epoch, count in runs if count)


def _registered(entry: Registration) -> str:
    leaving = int(entry.in_controlled_shutdown)
    return f"{entry.broker}:{entry.epoch}:{int(entry.fenced)}:{leaving}"


def _partition(state: PartitionRegistration) -> str:
    leader = f"{state.leader}:{state.leader_epoch}:{state.partition_epoch}"
    members = f"{_numbers(state.replicas)}:{_numbers(state.isr)}"
    settings = f"{int(state.recovery)}:{state.min_insync_replicas}"
    return f"{leader}:{members}:{settings}:{_numbers(state.adding)}:{_numbers(state.removing)}"


def _numbers(these: Iterable[int]) -> str:
    return ",".join(map(str, these)) or "-"
