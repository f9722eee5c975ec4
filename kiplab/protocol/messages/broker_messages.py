"""Requests of brokers and operators to the controller, and the metadata that all nodes get.

BrokerRegistration, BrokerHeartbeat, UnregisterBroker, ElectLeaders, and the metadata log.
"""

from collections.abc import Iterator
from typing import ClassVar

from .. import ids
from ..errors import KafkaError
from ..registrations import ONE_DIRECTORY, PartitionRegistration, Registration
from .api_message import Against, Api, ApiMessage, ApiRequest, ApiResponse

BROKER_REGISTRATION = Api(
    label="BrokerRegistration", noun="registration", lane="lifecycle", log_event="registerBroker"
)
UNREGISTER_BROKER = Api(
    label="UnregisterBroker", noun="unregistration", lane="admin", log_event="unregisterBroker"
)
BROKER_HEARTBEAT = Api(
    label="BrokerHeartbeat",
    noun="heartbeat",
    lane="lifecycle",
    routine=True,
    log_event="processBrokerHeartbeat",
)


class BrokerRegistrationRequest(ApiRequest, frozen=True, tag="broker-registration", kw_only=True):
    """API 62. `incarnation` stands for the random uuid of a process: its ordinal.

    `previous_epoch` is PreviousBrokerEpoch, from version 3 on: -1 unless the last process stopped
    in order. `log_dirs` are the log directories that are online, from version 2 on.
    """

    api: ClassVar[Api] = BROKER_REGISTRATION
    against: ClassVar[Against] = Against.REGISTRATION

    broker: ids.Sender
    incarnation: ids.Incarnation
    previous_epoch: ids.BrokerEpoch = ids.NO_BROKER_EPOCH
    log_dirs: tuple[ids.Count, ...] = ONE_DIRECTORY

    def in_words(self) -> str:
        words = f"BrokerRegistration of broker {self.broker}, incarnation {self.incarnation}"
        if self.previous_epoch == ids.NO_BROKER_EPOCH:
            return words
        return f"{words}, previous epoch {self.previous_epoch}"

    def details(self) -> Iterator[str]:
        yield f"incarnation {self.incarnation}"
        if self.previous_epoch != ids.NO_BROKER_EPOCH:
            yield f"previous broker epoch {self.previous_epoch}"


class BrokerRegistrationResponse(
    ApiResponse, frozen=True, tag="broker-registration-reply", kw_only=True
):
    """The broker epoch, or an error."""

    api: ClassVar[Api] = BROKER_REGISTRATION

    error: KafkaError = KafkaError.NONE
    broker_epoch: ids.BrokerEpoch = ids.NO_BROKER_EPOCH

    def in_words(self) -> str:
        answer = self.error.name if self.error else f"broker epoch {self.broker_epoch}"
        return f"BrokerRegistration reply: {answer}"


class BrokerHeartbeatRequest(ApiRequest, frozen=True, tag="broker-heartbeat", kw_only=True):
    """API 63."""

    api: ClassVar[Api] = BROKER_HEARTBEAT
    against: ClassVar[Against] = Against.REGISTRATION

    broker: ids.Sender
    broker_epoch: ids.BrokerEpoch
    metadata_offset: ids.MetadataOffset
    want_fence: bool = False
    want_shut_down: bool = False

    def in_words(self) -> str:
        wanted = (("fenced", self.want_fence), ("shut down", self.want_shut_down))
        wishes = " and ".join(wish for wish, on in wanted if on)
        wants = f", wants to be {wishes}" if wishes else ""
        return f"BrokerHeartbeat as epoch {self.broker_epoch}{wants}"

    def details(self) -> Iterator[str]:
        yield f"broker epoch {self.broker_epoch}"


class BrokerHeartbeatResponse(ApiResponse, frozen=True, tag="broker-heartbeat-reply", kw_only=True):
    """The controller's decision about the broker."""

    api: ClassVar[Api] = BROKER_HEARTBEAT

    error: KafkaError = KafkaError.NONE
    is_caught_up: bool = False
    is_fenced: bool = True
    should_shut_down: bool = False

    def in_words(self) -> str:
        if self.error:
            return f"BrokerHeartbeat reply: {self.error.name}"
        state = "fenced" if self.is_fenced else "unfenced"
        return f"BrokerHeartbeat reply: {state}{', shut down now' if self.should_shut_down else ''}"


class UnregisterBrokerRequest(ApiRequest, frozen=True, tag="unregister-broker", kw_only=True):
    """API 64, by which an operator has a broker forgotten."""

    api: ClassVar[Api] = UNREGISTER_BROKER

    broker: ids.BrokerId

    def in_words(self) -> str:
        return f"UnregisterBroker of broker {self.broker}"


class UnregisterBrokerResponse(
    ApiResponse, frozen=True, tag="unregister-broker-reply", kw_only=True
):
    """Done, or an error."""

    api: ClassVar[Api] = UNREGISTER_BROKER
    unlogged: ClassVar[str] = "the operator's tool prints it; no node logs it"

    error: KafkaError = KafkaError.NONE

    def in_words(self) -> str:
        return f"UnregisterBroker reply: {self.error.name}"


ELECT_LEADERS = Api(label="ElectLeaders", noun="election request", lane="admin")
METADATA = Api(label="metadata", noun="metadata", lane="metadata", routine=True)


class ElectLeadersRequest(ApiRequest, frozen=True, tag="elect-leaders", kw_only=True):
    """API 43. None, Kafka's null, means all partitions; an empty list means none."""

    api: ClassVar[Api] = ELECT_LEADERS
    prominence: ClassVar[int] = 2

    unclean: bool
    partitions: tuple[ids.PartitionName, ...] | None

    def in_words(self) -> str:
        return f"ElectLeaders {'UNCLEAN' if self.unclean else 'PREFERRED'}"


class ElectLeadersResponse(ApiResponse, frozen=True, tag="elect-leaders-reply", kw_only=True):
    """(partition, error) in request order."""

    api: ClassVar[Api] = ELECT_LEADERS
    unlogged: ClassVar[str] = "the operator's tool prints it; no node logs it"

    results: tuple[tuple[str, KafkaError], ...]

    def in_words(self) -> str:
        return "ElectLeaders reply: " + ", ".join(f"{p} {e.name}" for p, e in self.results)


class MetadataUpdate(ApiMessage, frozen=True, tag="metadata", kw_only=True):
    """The metadata log as far as a broker has replicated it, `offset` being the last record.

    Brokers pull the log and apply it in batches; what a batch means is the image after it.
    """

    api: ClassVar[Api] = METADATA

    offset: ids.MetadataOffset
    registrations: tuple[Registration, ...]
    partitions: tuple[PartitionRegistration, ...]

    def in_words(self) -> str:
        return f"metadata up to offset {self.offset}"
