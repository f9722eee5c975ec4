"""Metadata records: the only way by which the controller changes the brokers' metadata.

A rule of this package expresses every change as records. `replay.commit` appends and applies them,
so that a controller and a broker that read the same log hold the same state. A record names the
fields that change and no others. The metadata version decides which record fences a broker, and the
schema version of each record.
"""

import msgspec

from ..ids import BrokerEpoch, BrokerId, Count, Incarnation, PartitionName
from ..registrations import ONE_DIRECTORY, LeaderRecoveryState
from ..releases import MetadataVersion, at_least


class MetadataRecord(msgspec.Struct, frozen=True):
    """A record of the metadata log."""

    def version(self, _at: MetadataVersion) -> int:
        """The schema version that it is written with.

        Source: MetadataVersion.registerBrokerRecordVersion and partitionChangeRecordVersion
        (3.7.0).
        """
        return 0


class RegisterBrokerRecord(MetadataRecord, frozen=True, tag=True):
    """Replaces the whole registration of a broker."""

    broker: BrokerId
    incarnation: Incarnation
    epoch: BrokerEpoch
    fenced: bool = True
    in_controlled_shutdown: bool = False
    log_dirs: tuple[Count, ...] | None = None
    """LogDirs, from metadata version 3.7-IV2 on; None is the first one alone."""

    def version(self, at: MetadataVersion) -> int:
        return at.register_broker_record


class RegisteredBrokerRecord(MetadataRecord, frozen=True):
    """A record about a broker that is registered under this epoch."""

    broker: BrokerId
    epoch: BrokerEpoch


class UnregisterBrokerRecord(RegisteredBrokerRecord, frozen=True, tag=True):
    """Forgets a broker."""


class FenceBrokerRecord(RegisteredBrokerRecord, frozen=True, tag=True):
    """Written below metadata version 3.3-IV2."""


class UnfenceBrokerRecord(RegisteredBrokerRecord, frozen=True, tag=True):
    """Written below metadata version 3.3-IV2."""


class BrokerRegistrationChangeRecord(RegisteredBrokerRecord, frozen=True, tag=True):
    """`fenced`: 1 fences, -1 unfences, 0 leaves it. `in_controlled_shutdown`: 1 sets it."""

    fenced: Count = 0
    in_controlled_shutdown: Count = 0

    def version(self, _at: MetadataVersion) -> int:
        return 1 if self.in_controlled_shutdown else 0


class PartitionChangeRecord(MetadataRecord, frozen=True, tag=True, kw_only=True):
    """None means "no change". Epochs are not in the record: replay implies them."""

    partition: PartitionName
    isr: tuple[BrokerId, ...] | None = None
    leader: BrokerId | None = None
    replicas: tuple[BrokerId, ...] | None = None
    removing: tuple[BrokerId, ...] | None = None
    adding: tuple[BrokerId, ...] | None = None
    recovery: LeaderRecoveryState | None = None
    elr: tuple[BrokerId, ...] | None = None
    """EligibleLeaderReplicas"""
    last_known: tuple[BrokerId, ...] | None = None
    """LastKnownElr"""
    directories: tuple[Count, ...] | None = None
    """Of each replica; None also where the first ones are all that ever was."""

    def version(self, at: MetadataVersion) -> int:
        return at.partition_change_record


class ClearElrRecord(MetadataRecord, frozen=True, tag=True):
    """Clears both lists of KIP-966 in every partition of a topic; the topic "" is all topics."""

    topic: str


class RemoveTopicRecord(MetadataRecord, frozen=True, tag=True):
    """Forgets a topic, its partitions and its settings; Kafka's has the id of the topic."""

    topic: str


class ConfigRecord(MetadataRecord, frozen=True, tag=True):
    """One setting of a topic, by Kafka's names for both; of the topic "" the cluster-level one,
    which Kafka writes for the broker "".
    """

    topic: str
    name: str
    value: str


ChangeOfBroker = FenceBrokerRecord | UnfenceBrokerRecord | BrokerRegistrationChangeRecord
RecordOfBroker = RegisterBrokerRecord | UnregisterBrokerRecord | ChangeOfBroker
RecordOfTopic = ClearElrRecord | RemoveTopicRecord | ConfigRecord
Record = RecordOfBroker | PartitionChangeRecord | RecordOfTopic


def fence_record(
    broker: BrokerId, epoch: BrokerEpoch, metadata_version: str, *, fence: bool
) -> Record:
    """The record that fences or unfences a broker at this metadata version.

    Source: ReplicationControlManager.handleBrokerFenced and handleBrokerUnfenced (3.5.0).
    """
    if at_least(metadata_version, "3.3-IV2"):
        return BrokerRegistrationChangeRecord(broker, epoch, fenced=1 if fence else -1)
    return FenceBrokerRecord(broker, epoch) if fence else UnfenceBrokerRecord(broker, epoch)


def record_text(record: Record) -> str:
    """One line: the record's name and the fields it sets.

    Source: none; it stands for what kafka-dump-log prints of a metadata log.
    """
    fields = msgspec.structs.asdict(record)
    if fields.get("replicas") is not None and {*(fields["directories"] or ())} <= {*ONE_DIRECTORY}:
        # Nothing special of new replicas.
        fields["directories"] = None
    words = (f"{k}={_value(v)}" for k, v in fields.items() if v is not None)
    return f"{type(record).__name__} {' '.join(words)}"


def _value(value: object) -> str:
    if isinstance(value, tuple):
        return "[" + ",".join(str(v) for v in value) + "]"
    return str(value).lower() if isinstance(value, bool) else str(value)
