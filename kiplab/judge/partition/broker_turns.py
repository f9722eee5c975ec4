"""What may happen to a broker that plays some partitions: one turn each, done to both sides.

A follower's Fetch, metadata, and the controller's answer to AlterPartition are the engine's own
messages; what else may happen is written here.
"""

import msgspec

from ...protocol.ids import BrokerEpoch, BrokerId, Milliseconds, Offset, PartitionName
from ...protocol.log import Log
from ...protocol.messages import AlterPartitionResponse, FetchRequest, MetadataUpdate

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
