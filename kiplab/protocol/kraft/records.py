"""Metadata records: the only way the controller changes what brokers believe.

A rule of this package that changes anything says so as records; `replay.commit` appends them and
works out what they mean, so that a controller and a broker that read the same log hold the same
state. A record names the fields that change and no others. The metadata version decides which
record fences a broker, and the schema version that each is written with.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from ..ids import BrokerEpoch, BrokerId, Count, Incarnation, PartitionName
from ..registrations import LeaderRecoveryState
from ..releases import METADATA_VERSIONS, MetadataVersion, at_least


class RegisterBrokerRecord(msgspec.Struct, frozen=True, tag=True):
    """Replaces the whole registration of a broker."""

    broker: BrokerId
    incarnation: Incarnation
    epoch: BrokerEpoch
    fenced: bool = True
    in_controlled_shutdown: bool = False


class UnregisterBrokerRecord(msgspec.Struct, frozen=True, tag=True):
    """Forgets a broker."""

    broker: BrokerId
    epoch: BrokerEpoch


class FenceBrokerRecord(msgspec.Struct, frozen=True, tag=True):
    """Written below metadata version 3.3-IV2."""

    broker: BrokerId
    epoch: BrokerEpoch


class UnfenceBrokerRecord(msgspec.Struct, frozen=True, tag=True):
    """Written below metadata version 3.3-IV2."""

    broker: BrokerId
    epoch: BrokerEpoch


class BrokerRegistrationChangeRecord(msgspec.Struct, frozen=True, tag=True):
    """`fenced`: 1 fences, -1 unfences, 0 leaves it. `in_controlled_shutdown`: 1 sets it."""

    broker: BrokerId
    epoch: BrokerEpoch
    fenced: Count = 0
    in_controlled_shutdown: Count = 0


class PartitionChangeRecord(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """None means "no change". Epochs are not in the record: replay implies them."""

    partition: PartitionName
    isr: tuple[BrokerId, ...] | None = None
    leader: BrokerId | None = None
    replicas: tuple[BrokerId, ...] | None = None
    removing: tuple[BrokerId, ...] | None = None
    adding: tuple[BrokerId, ...] | None = None
    recovery: LeaderRecoveryState | None = None


class ConfigRecord(msgspec.Struct, frozen=True, tag=True):
    """One setting of a topic, by Kafka's names for both."""

    topic: str
    name: str
    value: str


Record = (
    RegisterBrokerRecord
    | UnregisterBrokerRecord
    | FenceBrokerRecord
    | UnfenceBrokerRecord
    | BrokerRegistrationChangeRecord
    | PartitionChangeRecord
    | ConfigRecord
)


def fence_record(
    broker: BrokerId, epoch: BrokerEpoch, *, fence: bool, metadata_version: str
) -> Record:
    """The record that fences or unfences a broker at this metadata version.

    Source: ReplicationControlManager.handleBrokerFenced and handleBrokerUnfenced (3.5.0).
    """
    if at_least(metadata_version, "3.3-IV2"):
        return BrokerRegistrationChangeRecord(broker, epoch, fenced=1 if fence else -1)
    return FenceBrokerRecord(broker, epoch) if fence else UnfenceBrokerRecord(broker, epoch)


def record_version(record: Record, metadata_version: str) -> int:
    """The schema version `record` is written with.

    Source: MetadataVersion.registerBrokerRecordVersion and partitionChangeRecordVersion (3.7.0).
    """
    return _VERSIONS[type(record)](record, METADATA_VERSIONS[metadata_version])


_VERSIONS: dict[type, Callable[[Any, MetadataVersion], int]] = {
    RegisterBrokerRecord: lambda _, at: at.register_broker_record,
    UnregisterBrokerRecord: lambda _record, _at: 0,
    FenceBrokerRecord: lambda _record, _at: 0,
    UnfenceBrokerRecord: lambda _record, _at: 0,
    BrokerRegistrationChangeRecord: lambda r, _: 1 if r.in_controlled_shutdown else 0,
    PartitionChangeRecord: lambda _, at: at.partition_change_record,
    ConfigRecord: lambda _record, _at: 0,
}


def record_text(record: Record) -> str:
    """One line: the record's name and the fields it sets.

    Source: none; it stands for what kafka-dump-log prints of a metadata log.
    """
    fields = msgspec.structs.asdict(record)
    given = {k: v for k, v in fields.items() if v is not None}
    words = (f"{k}={_value(v)}" for k, v in given.items())
    return f"{type(record).__name__} {' '.join(words)}"


def _value(value: object) -> str:
    if isinstance(value, tuple):
        return "[" + ",".join(str(v) for v in value) + "]"
    return str(value).lower() if isinstance(value, bool) else str(value)
