"""AssignReplicasToDirs, by which a broker tells the controller where its replicas are (KIP-858)."""

from collections.abc import Iterator
from typing import ClassVar

import msgspec

from .. import ids
from ..errors import KafkaError
from .api_message import Against, Api, ApiRequest, ApiResponse

ASSIGN_REPLICAS_TO_DIRS = Api(
    label="AssignReplicasToDirs",
    noun="assignment",
    lane="assignments",
    log_event="assignReplicasToDirs",
)


class AssignedReplica(msgspec.Struct, frozen=True, cache_hash=True):
    """The sender's replica of a partition, and the log directory that it is in."""

    partition: ids.PartitionName
    directory: ids.Count


class AssignReplicasToDirsRequest(
    ApiRequest, frozen=True, tag="assign-replicas-to-dirs", kw_only=True
):
    """API 73, by which a broker tells where its replicas are (KIP-858)."""

    api: ClassVar[Api] = ASSIGN_REPLICAS_TO_DIRS
    against: ClassVar[Against] = Against.REGISTRATION

    broker: ids.Sender
    broker_epoch: ids.BrokerEpoch
    items: tuple[AssignedReplica, ...]

    def in_words(self) -> str:
        where = (f"{item.partition} in directory {item.directory}" for item in self.items)
        return f"AssignReplicasToDirs as epoch {self.broker_epoch}: {', '.join(where)}"

    def details(self) -> Iterator[str]:
        yield f"broker epoch {self.broker_epoch}"
        for item in self.items:
            yield f"{item.partition} is in directory {item.directory}"


class AssignReplicasToDirsResponse(
    ApiResponse, frozen=True, tag="assign-replicas-to-dirs-reply", kw_only=True
):
    """An error for all, or (partition, error) in request order."""

    api: ClassVar[Api] = ASSIGN_REPLICAS_TO_DIRS
    unlogged: ClassVar[str] = "a broker logs only what failed"

    error: KafkaError = KafkaError.NONE
    results: tuple[tuple[str, KafkaError], ...] = ()

    def in_words(self) -> str:
        results = ", ".join(f"{p} {e.name}" for p, e in self.results)
        return f"AssignReplicasToDirs reply: {results or self.error.name}"
