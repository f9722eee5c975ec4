"""Requests and responses of the replication control plane, with what each version carries.

A body holds every field of its newest version; `version` says what is on the wire, and the
receiving rule reads only that. Fields named `observed...` are never on the wire and no rule reads
them: they let an observer of the run check what a broker epoch of -1 hides.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from .errors import KafkaError
from .ids import (
    NO_BROKER_EPOCH,
    NO_LEADER_EPOCH,
    PLAIN,
    ApiVersion,
    BrokerEpoch,
    BrokerId,
    Incarnation,
    LeaderEpoch,
    MetadataOffset,
    Offset,
    PartitionEpoch,
    PartitionName,
)
from .log import EMPTY, EpochStart, Log
from .registrations import LeaderRecoveryState, PartitionRegistration, Registration

RecoveryOnWire = Annotated[int, PLAIN]
"""LeaderRecoveryState as a byte: a forger may write any, and the rule that receives it reads it."""


class IsrMember(msgspec.Struct, frozen=True, cache_hash=True):
    """BrokerState of AlterPartition v3: a member and the broker epoch the leader knows it by."""

    broker: BrokerId
    epoch: BrokerEpoch = NO_BROKER_EPOCH
    observed: BrokerEpoch = NO_BROKER_EPOCH


class AlterPartitionItem(msgspec.Struct, frozen=True, cache_hash=True):
    """What a leader asks for one partition, ``"orders-0"``."""

    partition: PartitionName
    leader_epoch: LeaderEpoch
    partition_epoch: PartitionEpoch
    isr: tuple[IsrMember, ...]
    recovery: RecoveryOnWire = LeaderRecoveryState.RECOVERED


class AlterPartitionRequest(
    msgspec.Struct, frozen=True, cache_hash=True, tag="alter-partition", kw_only=True
):
    """API 56. v0 has no recovery state, v2 names topics by id, v3 carries broker epochs."""

    version: ApiVersion
    broker: BrokerId
    broker_epoch: BrokerEpoch
    items: tuple[AlterPartitionItem, ...]


class AlterPartitionResult(msgspec.Struct, frozen=True, cache_hash=True):
    """One partition's answer; with an error every other field keeps its schema default."""

    partition: PartitionName
    error: KafkaError = KafkaError.NONE
    leader: BrokerId = BrokerId(0)
    leader_epoch: LeaderEpoch = LeaderEpoch(0)
    partition_epoch: PartitionEpoch = PartitionEpoch(0)
    isr: tuple[BrokerId, ...] = ()
    recovery: RecoveryOnWire = LeaderRecoveryState.RECOVERED


class AlterPartitionResponse(
    msgspec.Struct, frozen=True, cache_hash=True, tag="alter-partition-reply", kw_only=True
):
    """`error` is the top-level one; with it there are no results."""

    version: ApiVersion
    error: KafkaError = KafkaError.NONE
    results: tuple[AlterPartitionResult, ...] = ()


class FetchRequest(msgspec.Struct, frozen=True, cache_hash=True, tag="fetch", kw_only=True):
    """API 1 from a follower. `replica_epoch` is on the wire from version 15.

    `leader_epoch` -1 means "not sent".
    """

    version: ApiVersion
    partition: PartitionName
    replica: BrokerId
    replica_epoch: BrokerEpoch
    leader_epoch: LeaderEpoch
    offset: Offset
    last_fetched_epoch: LeaderEpoch = NO_LEADER_EPOCH


class FetchResponse(msgspec.Struct, frozen=True, cache_hash=True, tag="fetch-reply", kw_only=True):
    """Records from the requested offset on, or where the two logs part, or an error.

    With OFFSET_OUT_OF_RANGE `diverging` is the leader's log end, which a follower asks for next.
    """

    partition: PartitionName
    leader_epoch: LeaderEpoch = NO_LEADER_EPOCH
    error: KafkaError = KafkaError.NONE
    records: Log = EMPTY
    high_watermark: Offset = Offset(0)
    diverging: EpochStart | None = None


class BrokerRegistrationRequest(
    msgspec.Struct, frozen=True, cache_hash=True, tag="broker-registration", kw_only=True
):
    """API 62. `incarnation` stands for the random uuid of a process: its ordinal."""

    broker: BrokerId
    incarnation: Incarnation


class BrokerRegistrationResponse(
    msgspec.Struct, frozen=True, cache_hash=True, tag="broker-registration-reply", kw_only=True
):
    """The broker epoch, or an error."""

    error: KafkaError = KafkaError.NONE
    broker_epoch: BrokerEpoch = NO_BROKER_EPOCH


class BrokerHeartbeatRequest(
    msgspec.Struct, frozen=True, cache_hash=True, tag="broker-heartbeat", kw_only=True
):
    """API 63."""

    broker: BrokerId
    broker_epoch: BrokerEpoch
    metadata_offset: MetadataOffset = MetadataOffset(0)
    want_fence: bool = False
    want_shut_down: bool = False


class BrokerHeartbeatResponse(
    msgspec.Struct, frozen=True, cache_hash=True, tag="broker-heartbeat-reply", kw_only=True
):
    """What the controller makes of the broker."""

    error: KafkaError = KafkaError.NONE
    is_caught_up: bool = False
    is_fenced: bool = True
    should_shut_down: bool = False


class ElectLeadersRequest(
    msgspec.Struct, frozen=True, cache_hash=True, tag="elect-leaders", kw_only=True
):
    """API 43. None, Kafka's null, means all partitions; an empty list means none."""

    unclean: bool
    partitions: tuple[str, ...] | None


class ElectLeadersResponse(
    msgspec.Struct, frozen=True, cache_hash=True, tag="elect-leaders-reply", kw_only=True
):
    """(partition, error) in request order."""

    results: tuple[tuple[str, KafkaError], ...]


class MetadataUpdate(msgspec.Struct, frozen=True, cache_hash=True, tag="metadata", kw_only=True):
    """The metadata log as far as a broker has replicated it, `offset` being the last record.

    Brokers pull the log and apply it in batches; what a batch means is the image after it.
    """

    offset: MetadataOffset
    registrations: tuple[Registration, ...]
    partitions: tuple[PartitionRegistration, ...]


Request = (
    AlterPartitionRequest
    | FetchRequest
    | BrokerRegistrationRequest
    | BrokerHeartbeatRequest
    | ElectLeadersRequest
)
Response = (
    AlterPartitionResponse
    | FetchResponse
    | BrokerRegistrationResponse
    | BrokerHeartbeatResponse
    | ElectLeadersResponse
)
Body = Request | Response | MetadataUpdate

KINDS: dict[type, str] = {
    body: body.__struct_config__.tag  # type: ignore[misc]
    for body in (
        AlterPartitionRequest,
        AlterPartitionResponse,
        FetchRequest,
        FetchResponse,
        BrokerRegistrationRequest,
        BrokerRegistrationResponse,
        BrokerHeartbeatRequest,
        BrokerHeartbeatResponse,
        ElectLeadersRequest,
        ElectLeadersResponse,
        MetadataUpdate,
    )
}
"""The name a play uses for each kind of message."""


class Send(msgspec.Struct, frozen=True):
    """A rule's wish to send; the engine gives the message a name and a channel."""

    receiver: BrokerId
    body: Body
