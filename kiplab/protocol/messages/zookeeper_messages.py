"""Messages between brokers, a controller on one of them, and ZooKeeper.

LeaderAndIsr, UpdateMetadata and StopReplica wait in the controller's queue for their broker; their
content, the broker epoch included, is from the time when they were queued. ControlledShutdown goes
the other way. A watch event of ZooKeeper says that something changed, never what. Before AlterIsr
(KIP-497) a leader writes the ISR to ZooKeeper by itself, and waits for it: such a request and its
answer take no time.
"""

from collections.abc import Iterator
from typing import ClassVar

import msgspec

from .. import ids
from ..errors import KafkaError
from ..registrations import PartitionRegistration
from .api_message import Api, ApiMessage, ApiResponse, ControlRequest, GatedRequest, Gates, gated
from .replication_messages import AlterPartitionItem

CONTROL_LANE = "control"
"""One queue, one thread and one request under way for each broker."""
LEADER_AND_ISR = Api(label="LeaderAndIsr", noun="LeaderAndIsr", lane=CONTROL_LANE)
UPDATE_METADATA = Api(
    label="UpdateMetadata", noun="UpdateMetadata", lane=CONTROL_LANE, routine=True
)
STOP_REPLICA = Api(label="StopReplica", noun="StopReplica", lane=CONTROL_LANE)
CONTROLLED_SHUTDOWN = Api(
    label="ControlledShutdown", noun="ControlledShutdown", lane="controlled-shutdown"
)
WATCHER_EVENT = Api(label="watch", noun="watch", lane="zookeeper")
SESSION_EXPIRED = Api(label="session expired", noun="end of the session", lane="zookeeper")
SET_PARTITION_STATE = Api(label="setData", noun="write to ZooKeeper", lane="partition-state")


_STATE_CHANGES = "the controller writes it to state-change.log, a file of its own, at TRACE"


class PartitionStatus(msgspec.Struct, frozen=True, cache_hash=True):
    """The result for one partition in the answer to a control request."""

    partition: ids.PartitionName
    error: KafkaError = KafkaError.NONE


class LeaderAndIsrRequest(ControlRequest, frozen=True, tag="leader-and-isr", kw_only=True):
    """API 4: lead or follow these. v2 carries the broker epoch, v6 the leader recovery state."""

    api: ClassVar[Api] = LEADER_AND_ISR
    prominence: ClassVar[int] = 1
    epoch_since: ClassVar[int] = 2
    gates: ClassVar[Gates] = gated(
        "3.4-IV0=7 3.2-IV0=6 2.8-IV1=5 2.4-IV1=4 2.4-IV0=3 2.2-IV0=2 2.1-IV2=1"
    )

    partitions: tuple[PartitionRegistration, ...]
    live_leaders: tuple[ids.BrokerId, ...] = ()

    def in_words(self) -> str:
        return f"LeaderAndIsr {_states(self.partitions)}"

    def on_arrow(self, _isr_of: object) -> str:
        return f"LeaderAndIsr {', '.join(p.name for p in self.partitions)}"

    def about(self) -> ids.PartitionName:
        return self.partitions[0].name if len(self.partitions) == 1 else ""


class LeaderAndIsrResponse(ApiResponse, frozen=True, tag="leader-and-isr-reply", kw_only=True):
    """An error for the whole request, or one for each partition."""

    api: ClassVar[Api] = LEADER_AND_ISR
    unlogged: ClassVar[str] = _STATE_CHANGES

    error: KafkaError = KafkaError.NONE
    partitions: tuple[PartitionStatus, ...] = ()

    def in_words(self) -> str:
        return f"LeaderAndIsr reply: {_statuses(self.error, self.partitions)}"


class UpdateMetadataRequest(ControlRequest, frozen=True, tag="update-metadata", kw_only=True):
    """API 6: who lives, and what is known of some partitions. v5 carries the broker epoch."""

    api: ClassVar[Api] = UPDATE_METADATA
    epoch_since: ClassVar[int] = 5
    gates: ClassVar[Gates] = gated("3.4-IV0=8 2.8-IV1=7 2.4-IV1=6 2.2-IV0=5 2.1-IV2=4")

    partitions: tuple[PartitionRegistration, ...]
    live_brokers: tuple[ids.BrokerId, ...]

    def in_words(self) -> str:
        what = _states(self.partitions) if self.partitions else "no partition"
        return f"UpdateMetadata {what}, live {ids.broker_list(self.live_brokers)}"

    def about(self) -> ids.PartitionName:
        return self.partitions[0].name if len(self.partitions) == 1 else ""


class UpdateMetadataResponse(ApiResponse, frozen=True, tag="update-metadata-reply", kw_only=True):
    """Taken, or refused."""

    api: ClassVar[Api] = UPDATE_METADATA
    unlogged: ClassVar[str] = _STATE_CHANGES

    error: KafkaError = KafkaError.NONE

    def in_words(self) -> str:
        return f"UpdateMetadata reply: {self.error.name}"


class StopReplicaItem(msgspec.Struct, frozen=True, cache_hash=True):
    """One replica to stop; the leader epoch is on the wire from version 3 on (KIP-570)."""

    partition: ids.PartitionName
    leader_epoch: ids.LeaderEpoch = ids.NO_LEADER_EPOCH
    delete: bool = False


class StopReplicaRequest(ControlRequest, frozen=True, tag="stop-replica", kw_only=True):
    """API 5: fetch these no more. v1 carries the broker epoch, v3 leader epochs."""

    api: ClassVar[Api] = STOP_REPLICA
    prominence: ClassVar[int] = 1
    epoch_since: ClassVar[int] = 1
    gates: ClassVar[Gates] = gated("3.4-IV0=4 2.6-IV0=3 2.4-IV1=2 2.2-IV0=1 2.1-IV2=0")

    items: tuple[StopReplicaItem, ...]

    def in_words(self) -> str:
        return f"StopReplica {', '.join(i.partition for i in self.items) or 'of nothing'}"

    def on_arrow(self, _isr_of: object) -> str:
        return self.in_words()


class StopReplicaResponse(ApiResponse, frozen=True, tag="stop-replica-reply", kw_only=True):
    """An error for the whole request, or one for each partition."""

    api: ClassVar[Api] = STOP_REPLICA
    unlogged: ClassVar[str] = _STATE_CHANGES

    error: KafkaError = KafkaError.NONE
    partitions: tuple[PartitionStatus, ...] = ()

    def in_words(self) -> str:
        return f"StopReplica reply: {_statuses(self.error, self.partitions)}"


class ControlledShutdownRequest(GatedRequest, frozen=True, tag="controlled-shutdown", kw_only=True):
    """API 7: a broker asks to be let go. v2 carries its broker epoch (KIP-380)."""

    api: ClassVar[Api] = CONTROLLED_SHUTDOWN
    prominence: ClassVar[int] = 0
    gates: ClassVar[Gates] = gated("2.4-IV1=3 2.2-IV0=2 2.1-IV2=1")

    version: ids.ApiVersion
    broker: ids.Sender
    broker_epoch: ids.BrokerEpoch = ids.NO_BROKER_EPOCH

    def in_words(self) -> str:
        epoch = "" if self.broker_epoch == ids.NO_BROKER_EPOCH else f" of epoch {self.broker_epoch}"
        return f"ControlledShutdown of broker {self.broker}{epoch}"

    def details(self) -> Iterator[str]:
        if self.broker_epoch != ids.NO_BROKER_EPOCH:
            yield f"broker epoch {self.broker_epoch}"


class ControlledShutdownResponse(
    ApiResponse, frozen=True, tag="controlled-shutdown-reply", kw_only=True
):
    """The partitions that the broker still leads; with none left, and no error, it may go."""

    api: ClassVar[Api] = CONTROLLED_SHUTDOWN
    unlogged: ClassVar[str] = "what comes of it is logged: the next try, or the end"

    error: KafkaError = KafkaError.NONE
    remaining: tuple[ids.PartitionName, ...] = ()

    def in_words(self) -> str:
        left = f"still leads {', '.join(self.remaining)}" if self.remaining else "nothing left"
        return f"ControlledShutdown reply: {self.error.name if self.error else left}"


class SetPartitionStateRequest(GatedRequest, frozen=True, tag="set-partition-state", kw_only=True):
    """A leader's own write of the ISR to ZooKeeper, up to inter-broker protocol 2.7-IV1.

    Conditional on the znode's version, which is the partition epoch of the item.
    """

    api: ClassVar[Api] = SET_PARTITION_STATE
    prominence: ClassVar[int] = 0

    broker: ids.Sender
    controller_epoch: ids.ControllerEpoch
    """Of the controller that made this broker leader: it is written, and never checked."""
    item: AlterPartitionItem

    def in_words(self) -> str:
        isr = ids.broker_list(self.item.members)
        return f"setData of {self.item.partition}: ISR {isr}, version {self.item.partition_epoch}"

    def about(self) -> ids.PartitionName:
        return self.item.partition


class SetPartitionStateResponse(
    ApiResponse, frozen=True, tag="set-partition-state-reply", kw_only=True
):
    """The new version, or INVALID_UPDATE_VERSION (ZooKeeper's BADVERSION)."""

    api: ClassVar[Api] = SET_PARTITION_STATE
    unlogged: ClassVar[str] = "what comes of it is logged: the ISR that changes, or stays"

    partition: ids.PartitionName
    error: KafkaError = KafkaError.NONE
    partition_epoch: ids.PartitionEpoch = ids.PartitionEpoch(0)

    def in_words(self) -> str:
        outcome = self.error.name if self.error else f"version {self.partition_epoch}"
        return f"setData reply for {self.partition}: {outcome}"


class WatcherEvent(ApiMessage, frozen=True, tag="watcher-event", kw_only=True):
    """A watch has fired: once, and it has to be set again."""

    api: ClassVar[Api] = WATCHER_EVENT
    prominence: ClassVar[int] = 2

    path: str
    change: str
    """``"NodeDeleted"``, of Watcher.Event.EventType: all that it says besides the path."""
    session: ids.SessionId
    """The session that had set the watch: its end takes what has not been looked at with it."""

    def in_words(self) -> str:
        return f"watch: {self.change} {self.path}"

    def on_arrow(self, _isr_of: object) -> str:
        return f"{self.path} changed"


class SessionExpired(ApiMessage, frozen=True, tag="session-expired", kw_only=True):
    """ZooKeeper tells a process that reconnects that its session has expired."""

    api: ClassVar[Api] = SESSION_EXPIRED
    prominence: ClassVar[int] = 1

    session: ids.SessionId

    def in_words(self) -> str:
        return "the session with ZooKeeper has expired"


def _states(partitions: tuple[PartitionRegistration, ...]) -> str:
    return "; ".join(
        f"{p.name} leader {'none' if p.leader == ids.NO_LEADER else p.leader}"
        f" ISR {ids.broker_list(p.isr)} (leader epoch {p.leader_epoch})"
        for p in partitions
    )


def _statuses(error: KafkaError, partitions: tuple[PartitionStatus, ...]) -> str:
    if error:
        return error.name
    return ", ".join(f"{p.partition} {p.error.name}" for p in partitions) or error.name
