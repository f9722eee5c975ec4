"""AlterPartition and Fetch: replication, and changes of the ISR."""

from collections.abc import Iterator
from typing import Annotated, ClassVar

import msgspec

from .. import ids
from ..errors import KafkaError
from ..features import Features
from ..log import EMPTY, EpochStart, Log
from ..registrations import LeaderRecoveryState, PartitionRegistration
from .api_message import Against, Api, ApiRequest, ApiResponse, IsrOf

ALTER_PARTITION = Api(
    label="AlterPartition", noun="request", lane="alter-partition", log_event="alterPartition"
)
FETCH = Api(label="Fetch", noun="fetch", lane="fetch", routine=True)

RecoveryOnWire = Annotated[int, ids.PLAIN, "a byte"]
"""LeaderRecoveryState as a byte: a forger may write any, and the rule that receives it reads it."""


class IsrMember(msgspec.Struct, frozen=True, cache_hash=True):
    """BrokerState of AlterPartition v3: a member and the broker epoch the leader knows it by."""

    broker: ids.BrokerId
    epoch: ids.BrokerEpoch = ids.NO_BROKER_EPOCH
    observed: ids.BrokerEpoch = ids.NO_BROKER_EPOCH


class AlterPartitionItem(msgspec.Struct, frozen=True, cache_hash=True):
    """A leader's request for one partition, ``"orders-0"``."""

    partition: ids.PartitionName
    leader_epoch: ids.LeaderEpoch
    partition_epoch: ids.PartitionEpoch
    isr: tuple[IsrMember, ...]
    recovery: RecoveryOnWire = LeaderRecoveryState.RECOVERED

    @property
    def members(self) -> tuple[ids.BrokerId, ...]:
        """The proposed ISR."""
        return tuple(member.broker for member in self.isr)


class AlterPartitionRequest(ApiRequest, frozen=True, tag="alter-partition", kw_only=True):
    """API 56. v0 has no recovery state, v2 names topics by id, v3 carries broker epochs."""

    api: ClassVar[Api] = ALTER_PARTITION
    prominence: ClassVar[int] = 0
    against: ClassVar[Against] = Against.PARTITION

    version: ids.ApiVersion
    broker: ids.Sender
    broker_epoch: ids.BrokerEpoch
    items: tuple[AlterPartitionItem, ...]

    @classmethod
    def version_sent(cls, features: Features, sender: ids.BrokerId) -> ids.ApiVersion:
        return features.alter_partition_version(sender)

    def in_words(self) -> str:
        items = "; ".join(
            f"{i.partition} ISR [{', '.join(self._named(m) for m in i.isr)}]"
            f" (leader epoch {i.leader_epoch}, partition epoch {i.partition_epoch}"
            f"{', RECOVERING' if self._recovering(i) else ''})"
            for i in self.items
        )
        return f"AlterPartition v{self.version} as epoch {self.broker_epoch}: {items}"

    def details(self) -> Iterator[str]:
        yield f"AlterPartition v{self.version}, sent as broker epoch {self.broker_epoch}"
        for item in self.items:
            epochs = f"leader epoch {item.leader_epoch}, partition epoch {item.partition_epoch}"
            yield f"{item.partition}: {epochs}"
            members = ", ".join(self._in_detail(m) for m in item.isr)
            state = " while RECOVERING" if self._recovering(item) else ""
            bare = f" (v{self.version} carries no epochs)" if self.version < 3 else ""
            yield f"proposed ISR{state}: {members}{bare}"

    def _recovering(self, item: AlterPartitionItem) -> bool:
        return self.version >= 1 and item.recovery == LeaderRecoveryState.RECOVERING

    def on_arrow(self, isr_of: IsrOf) -> str:
        if not self.items:
            return super().on_arrow(isr_of)
        several = f" · {len(self.items)} partitions" if len(self.items) > 1 else ""
        wish = self._wish(self.items[0], isr_of(self.items[0].partition))
        return f"AlterPartition v{self.version}{several} · {wish}"

    def _wish(self, item: AlterPartitionItem, isr: tuple[ids.BrokerId, ...]) -> str:
        proposed = {m.broker: m.epoch for m in item.isr}
        added = [b for b in proposed if b not in isr]
        removed = [b for b in isr if b not in proposed]
        if added:
            return f"add {', '.join(self._added(b, proposed[b]) for b in added)}"
        if removed:
            return f"remove {', '.join(str(b) for b in removed)}"
        return f"ISR {ids.broker_list(proposed)}"

    def _added(self, broker: ids.BrokerId, epoch: ids.BrokerEpoch) -> str:
        """Before version 3 the request cannot say which incarnation of a broker it means."""
        if self.version >= 3 and epoch >= 0:
            return f"{broker} as epoch {epoch}"
        return f"{broker}, no epoch sent"

    def _named(self, member: IsrMember) -> str:
        if self.version < 3 or member.epoch < 0:
            return str(member.broker)
        return f"{member.broker}@{member.epoch}"

    def _in_detail(self, member: IsrMember) -> str:
        if self.version < 3:
            return str(member.broker)
        unchecked = " (not checked)" if member.epoch == ids.NO_BROKER_EPOCH else ""
        return f"{member.broker}@{member.epoch}{unchecked}"


class AlterPartitionResult(msgspec.Struct, frozen=True, cache_hash=True):
    """One partition's answer; with an error every other field keeps its schema default."""

    partition: ids.PartitionName
    error: KafkaError = KafkaError.NONE
    leader: ids.BrokerId = ids.BrokerId(0)
    leader_epoch: ids.LeaderEpoch = ids.LeaderEpoch(0)
    partition_epoch: ids.PartitionEpoch = ids.PartitionEpoch(0)
    isr: tuple[ids.BrokerId, ...] = ()
    recovery: RecoveryOnWire = LeaderRecoveryState.RECOVERED

    @classmethod
    def granted(cls, state: PartitionRegistration) -> "AlterPartitionResult":
        """The controller's state of the partition now."""
        return cls(
            partition=state.name,
            leader=state.leader,
            leader_epoch=state.leader_epoch,
            partition_epoch=state.partition_epoch,
            isr=state.isr,
            recovery=state.recovery,
        )

    def in_words(self) -> str:
        """``"orders-0 NONE ISR {1, 2}, partition epoch 11"``."""
        text = f"{self.partition} {self.error.name}"
        if self.error:
            return text
        return f"{text} ISR {ids.broker_list(self.isr)}, partition epoch {self.partition_epoch}"


class AlterPartitionResponse(ApiResponse, frozen=True, tag="alter-partition-reply", kw_only=True):
    """`error` is the top-level one; with it there are no results."""

    api: ClassVar[Api] = ALTER_PARTITION
    prominence: ClassVar[int] = 1

    version: ids.ApiVersion
    error: KafkaError = KafkaError.NONE
    results: tuple[AlterPartitionResult, ...] = ()

    def in_words(self) -> str:
        results = "; ".join(r.in_words() for r in self.results)
        return f"AlterPartition reply: {results or self.error.name}"


class FetchRequest(ApiRequest, frozen=True, tag="fetch", kw_only=True):
    """API 1, a follower's; `replica_epoch` from version 15 on; `leader_epoch` -1: "not sent"."""

    api: ClassVar[Api] = FETCH
    prominence: ClassVar[int] = 3
    against: ClassVar[Against] = Against.REPLICA

    version: ids.ApiVersion
    partition: ids.PartitionName
    replica: ids.Sender
    replica_epoch: ids.BrokerEpoch
    leader_epoch: ids.LeaderEpoch = ids.NO_LEADER_EPOCH
    offset: ids.Offset
    last_fetched_epoch: ids.LeaderEpoch = ids.NO_LEADER_EPOCH

    @classmethod
    def version_sent(cls, features: Features, _sender: ids.BrokerId) -> ids.ApiVersion:
        return features.fetch_version()

    def in_words(self) -> str:
        epoch = f", broker epoch {self.replica_epoch}" if self.version >= 15 else ""
        return f"Fetch v{self.version}: {self.partition} from offset {self.offset}{epoch}"

    def details(self) -> Iterator[str]:
        yield f"Fetch v{self.version} of {self.partition} from offset {self.offset}"
        yield f"leader epoch {self.leader_epoch}, last fetched epoch {self.last_fetched_epoch}"
        none = f"v{self.version} has no broker epoch"
        yield f"broker epoch {self.replica_epoch}" if self.version >= 15 else none

    def on_arrow(self, _isr_of: IsrOf) -> str:
        return f"Fetch · from offset {self.offset}"


class FetchResponse(ApiResponse, frozen=True, tag="fetch-reply", kw_only=True):
    """Records from the requested offset on, or where the two logs diverge, or an error.

    `log_start_offset` is where the leader's log begins. With OFFSET_OUT_OF_RANGE `diverging` is the
    leader's log end, which a follower asks for next.
    """

    api: ClassVar[Api] = FETCH
    prominence: ClassVar[int] = 4

    partition: ids.PartitionName
    leader_epoch: ids.LeaderEpoch = ids.NO_LEADER_EPOCH
    error: KafkaError = KafkaError.NONE
    records: Log = EMPTY
    high_watermark: ids.Offset = ids.Offset(0)
    log_start_offset: ids.Offset = ids.Offset(0)
    diverging: EpochStart | None = None

    def in_words(self) -> str:
        if self.error:
            return f"Fetch reply: {self.error.name}"
        if self.diverging is not None:
            return f"Fetch reply: the logs diverge at offset {self.diverging.offset}"
        records = f"up to offset {self.records.end}" if self.records.epochs else "nothing new"
        return f"Fetch reply: {records}, high watermark {self.high_watermark}"
