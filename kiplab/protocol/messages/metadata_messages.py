"""ElectLeaders and the metadata log: how leaders are asked for, and how all learn of them."""

from __future__ import annotations

from typing import ClassVar

from ..errors import KafkaError
from ..ids import MetadataOffset, PartitionName
from ..registrations import PartitionRegistration, Registration
from .api_message import Api, ApiMessage, ApiRequest, ApiResponse

ELECT_LEADERS = Api(label="ElectLeaders", noun="election request", lane="admin")
METADATA = Api(label="metadata", noun="metadata", lane="metadata", routine=True)


class ElectLeadersRequest(
    ApiRequest, frozen=True, cache_hash=True, tag="elect-leaders", kw_only=True
):
    """API 43. None, Kafka's null, means all partitions; an empty list means none."""

    api: ClassVar[Api] = ELECT_LEADERS
    told: ClassVar[int] = 2

    unclean: bool
    partitions: tuple[PartitionName, ...] | None

    def in_words(self) -> str:
        return f"ElectLeaders {'UNCLEAN' if self.unclean else 'PREFERRED'}"


class ElectLeadersResponse(
    ApiResponse, frozen=True, cache_hash=True, tag="elect-leaders-reply", kw_only=True
):
    """(partition, error) in request order."""

    api: ClassVar[Api] = ELECT_LEADERS
    unlogged: ClassVar[str] = "the operator's tool prints it; no node logs it"

    results: tuple[tuple[str, KafkaError], ...]

    def in_words(self) -> str:
        return "ElectLeaders reply: " + ", ".join(f"{p} {e.name}" for p, e in self.results)


class MetadataUpdate(ApiMessage, frozen=True, cache_hash=True, tag="metadata", kw_only=True):
    """The metadata log as far as a broker has replicated it, `offset` being the last record.

    Brokers pull the log and apply it in batches; what a batch means is the image after it.
    """

    api: ClassVar[Api] = METADATA

    offset: MetadataOffset
    registrations: tuple[Registration, ...]
    partitions: tuple[PartitionRegistration, ...]

    def in_words(self) -> str:
        return f"metadata up to offset {self.offset}"
