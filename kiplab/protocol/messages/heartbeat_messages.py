"""MetadataHeartbeat and IsrChange, as KIP-343 proposes them; no release has either.

The text gives them no API key and no versions. Where its schemas leave something out, or contradict
the sentences around them, this file decides. The answer to a heartbeat carries the state (its first
line leaves that out, its last one has it). It does not carry the broker's id and incarnation, which
one sentence says "will be set". Each partition of an IsrChange has a partition epoch, which the
text lacks; it tells which of two swapped requests is older (`343.partition-epoch`).
"""

from collections.abc import Iterator
from enum import IntEnum
from typing import Annotated, ClassVar

import msgspec

from ..errors import KafkaError
from ..ids import PLAIN, BrokerEpoch, PartitionName, Sender, broker_list
from .api_message import Against, Api, ApiResponse, GatedRequest
from .replication_messages import AlterPartitionItem

METADATA_HEARTBEAT = Api(
    label="MetadataHeartbeat", noun="heartbeat", lane="metadata-heartbeat", routine=True
)
ISR_CHANGE = Api(label="IsrChange", noun="request", lane="isr-change")


_NEVER_BUILT = "KIP-343 was never built, so there is no line to quote"


class MembershipState(IntEnum):
    """The four values of the enumeration that KIP-343 calls BrokerState.

    INITIAL is a broker's own, before its first answer: the controller has the other three.
    """

    INITIAL = 0
    INACTIVE = 1
    ACTIVE = 2
    STOPPING = 3


StateOnWire = Annotated[int, PLAIN, "the state as a byte"]
"""A forger may write any; the controller reads it."""


class MetadataHeartbeatRequest(GatedRequest, frozen=True, tag="metadata-heartbeat", kw_only=True):
    """broker_id INT32, incarnation_id INT64, target_state INT8."""

    api: ClassVar[Api] = METADATA_HEARTBEAT
    against: ClassVar[Against] = Against.REGISTRATION

    broker: Sender
    incarnation_id: BrokerEpoch
    target_state: StateOnWire = int(MembershipState.ACTIVE)

    def in_words(self) -> str:
        return f"MetadataHeartbeat as incarnation {self.incarnation_id}, {self._wish()}"

    def on_arrow(self, _isr_of: object) -> str:
        return f"MetadataHeartbeat · {self._wish()}"

    def details(self) -> Iterator[str]:
        yield f"incarnation id {self.incarnation_id}"
        yield self._wish()

    def _wish(self) -> str:
        return f"wants to be {state_word(self.target_state)}"


class MetadataHeartbeatResponse(
    ApiResponse, frozen=True, tag="metadata-heartbeat-reply", kw_only=True
):
    """error_code INT16, error_string NULLABLE_STRING, current_state INT8."""

    api: ClassVar[Api] = METADATA_HEARTBEAT
    unlogged: ClassVar[str] = _NEVER_BUILT

    error: KafkaError = KafkaError.NONE
    error_string: str | None = None
    current_state: StateOnWire = int(MembershipState.INITIAL)
    """Of an error it says nothing; else never INITIAL."""

    def in_words(self) -> str:
        outcome = self.error.name if self.error else state_word(self.current_state)
        return f"MetadataHeartbeat reply: {outcome}"


class IsrChangeRequest(GatedRequest, frozen=True, tag="isr-change", kw_only=True):
    """broker_id INT32, incarnation_id INT64, and by topic: leader_epoch, partition_index, isr."""

    api: ClassVar[Api] = ISR_CHANGE
    prominence: ClassVar[int] = 0
    against: ClassVar[Against] = Against.PARTITION

    broker: Sender
    incarnation_id: BrokerEpoch
    items: tuple[AlterPartitionItem, ...]

    def in_words(self) -> str:
        wanted = "; ".join(
            f"{i.partition} ISR {broker_list(i.members)} (leader epoch {i.leader_epoch},"
            f" partition epoch {i.partition_epoch})"
            for i in self.items
        )
        return f"IsrChange as incarnation {self.incarnation_id}: {wanted}"

    def on_arrow(self, _isr_of: object) -> str:
        wishes = (f"{i.partition} ISR {broker_list(i.members)}" for i in self.items)
        return f"IsrChange · {', '.join(wishes)}"

    def details(self) -> Iterator[str]:
        yield f"incarnation id {self.incarnation_id}"
        for item in self.items:
            isr = broker_list(item.members)
            yield f"{item.partition}: leader epoch {item.leader_epoch}, ISR {isr}"


class IsrChangeResult(msgspec.Struct, frozen=True, cache_hash=True):
    """error_code INT16, error_message NULLABLE_STRING.

    `partition` is for readers of the run: on the wire the order of the results says which.
    """

    partition: PartitionName
    error: KafkaError = KafkaError.NONE
    error_message: str | None = None


class IsrChangeResponse(ApiResponse, frozen=True, tag="isr-change-reply", kw_only=True):
    """An error for the whole request, or one result for each partition, in the order asked for."""

    api: ClassVar[Api] = ISR_CHANGE
    unlogged: ClassVar[str] = _NEVER_BUILT

    error: KafkaError = KafkaError.NONE
    error_message: str | None = None
    results: tuple[IsrChangeResult, ...] = ()

    def in_words(self) -> str:
        results = ", ".join(f"{r.partition} {r.error.name}" for r in self.results)
        return f"IsrChange reply: {self.error.name if self.error or not results else results}"


def state_word(state: int) -> str:
    """``"active"``, or for a byte that is no state ``"state 7"``."""
    names = {int(member): member.name.lower() for member in MembershipState}
    return names.get(state, f"state {state}")
