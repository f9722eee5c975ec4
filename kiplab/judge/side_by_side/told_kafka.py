"""A real controller, and what its log says by now: what an initial state is set with.

All numbers here are Kafka's own.
"""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from ...protocol import messages
from ...protocol.ids import BrokerEpoch, BrokerId, Incarnation, MetadataOffset
from ...protocol.kraft.controller_state import Controller
from ...protocol.kraft.replay import replay
from ...protocol.kraft.sessions import CHECK_MS, SESSION_TIMEOUT_MS, has_contacts
from ...protocol.registrations import PartitionRegistration, partition, registration
from ...protocol.releases import RELEASES
from ..conversation.kafka_terms import ELECT_TIMEOUT_MS, Fields, KafkaCall, record_of, split
from ..conversation.real_controller import RealController
from ..wire.metadata_log import LoggedRecord, MetadataLog

FILLERS_AT_ONCE = 1_000
PARTS = 3
"""A time in which the sessions of some are over passes in so many parts: others are heard of."""
FAR = 50
"""How far beyond the end of the log a broker says it is that has to count as caught up."""


class ToldKafka:
    """`kafka`, with its log replayed as far as the engine knows its records (`held`).

    Every method raises DeadKafkaError, or an OSError, once Kafka is gone.
    """

    def __init__(self, kafka: RealController) -> None:
        self.kafka = kafka
        self.held = Controller()
        # With a place of its own in the log, for what the controller reads while it starts.
        self._log = MetadataLog(kafka.process.data, kafka.schemas)
        self._fillers = 0
        self.read()

    @property
    def end(self) -> MetadataOffset:
        """The offset of the next record."""
        return MetadataOffset(self._log.end)

    def read(self) -> tuple[LoggedRecord, ...]:
        """What is new in the log, replayed."""
        records = self._log.new()
        for logged in records:
            record = record_of(logged, self.kafka.topics)
            if record is not None:
                at = MetadataOffset(logged.offset)
                self.held = replay(replace(self.held, next_offset=at), record)
        return records

    def ask(self, request: messages.Request) -> messages.Response:
        """The answer to a request."""
        response = self.kafka.ask(request).response
        self.read()
        return response

    def _tell(self, api: str, version: int, fields: Fields) -> None:
        self.kafka.tell(KafkaCall(api, version, fields))
        self.read()

    # --- brokers --------------------------------------------------------------------------------

    def register(self, broker: BrokerId, incarnation: Incarnation) -> BrokerEpoch:
        """A process of a broker is registered; its broker epoch."""
        self.ask(messages.BrokerRegistrationRequest(broker=broker, incarnation=incarnation))
        return self.epoch(broker)

    def unregister(self, broker: BrokerId) -> None:
        """A broker is forgotten."""
        self._tell("UnregisterBroker", 0, {"BrokerId": broker})

    def unfence(self, brokers: Iterable[BrokerId]) -> None:
        """These are unfenced, if they are not yet."""
        for broker in brokers:
            if self.is_fenced(broker):
                self.beat(broker, self.end + FAR)

    def fence(self, brokers: Iterable[BrokerId]) -> None:
        """These are fenced, if they are not yet."""
        for broker in brokers:
            if not self.is_fenced(broker):
                self.beat(broker, self.end + FAR, want_fence=True)

    @property
    def has_contacts(self) -> bool:
        """Whether a fenced broker is remembered as one that was heard of."""
        return has_contacts(RELEASES[self.kafka.process.release].code)

    def wait_without(self, others: Sequence[BrokerId]) -> None:
        """So much time passes that nobody but these was heard of within a session."""
        for _ in range(PARTS):
            for broker in others:
                self.beat(broker, self.end - 1)
            self.kafka.advance((SESSION_TIMEOUT_MS + CHECK_MS) // PARTS)
            self.kafka.barrier()
        self.read()

    def beat(
        self,
        broker: BrokerId,
        offset: int,
        *,
        want_fence: bool = False,
        want_shut_down: bool = False,
    ) -> None:
        """A heartbeat of a broker that has the metadata up to `offset`."""
        self.ask(
            messages.BrokerHeartbeatRequest(
                broker=broker,
                broker_epoch=self.epoch(broker),
                metadata_offset=MetadataOffset(offset),
                want_fence=want_fence,
                want_shut_down=want_shut_down,
            )
        )

    def epoch(self, broker: BrokerId) -> BrokerEpoch:
        """The broker epoch that is registered."""
        registered = registration(self.held.registrations, broker)
        assert registered is not None, f"broker {broker} is not registered"
        return registered.epoch

    def is_fenced(self, broker: BrokerId) -> bool:
        """Whether the log says so."""
        registered = registration(self.held.registrations, broker)
        return registered is not None and registered.fenced

    def is_leaving(self, broker: BrokerId) -> bool:
        """Whether the log says that it is in controlled shutdown."""
        registered = registration(self.held.registrations, broker)
        return registered is not None and registered.in_controlled_shutdown

    def restart(self) -> None:
        """Another controller takes over, and has heard of nobody yet."""
        self.kafka.restart()
        self.read()

    # --- topics ---------------------------------------------------------------------------------

    def create(self, topic: str, replicas: Sequence[Sequence[int]], *, unclean: bool) -> None:
        """A topic whose partitions have these replicas. Raises RefusedByKafkaError."""
        made = self.kafka.create(topic, replicas, unclean=unclean)
        self.read()
        both = sorted((*self.held.partitions, *made), key=lambda state: state.name)
        self.held = replace(self.held, partitions=tuple(both))

    def delete(self, topic: str) -> None:
        """A topic is forgotten."""
        self._tell("DeleteTopics", 3, {"TopicNames": [topic], "TimeoutMs": ELECT_TIMEOUT_MS})
        left = (state for state in self.held.partitions if split(state.name)[0] != topic)
        self.held = replace(self.held, partitions=tuple(left))
        del self.kafka.topics.ids[topic]

    def partition(self, name: str) -> PartitionRegistration:
        """What the log says of a partition."""
        state = partition(self.held.partitions, name)
        assert state is not None, f"there is no {name}"
        return state

    def alter(self, name: str, isr: Sequence[BrokerId]) -> None:
        """The partition's leader asks for another ISR."""
        there = self.partition(name)
        members = tuple(messages.IsrMember(member, self.epoch(member)) for member in isr)
        item = messages.AlterPartitionItem(
            there.name, there.leader_epoch, there.partition_epoch, members, int(there.recovery)
        )
        self.ask(
            messages.AlterPartitionRequest(
                version=self.kafka.schemas.requests["AlterPartition"].versions.last,
                broker=there.leader,
                broker_epoch=self.epoch(there.leader),
                items=(item,),
            )
        )

    def reassign(self, name: str, replicas: Sequence[BrokerId]) -> None:
        """An operator moves a partition to these replicas, in that order."""
        topic, index = split(name)
        moved = {"PartitionIndex": index, "Replicas": list(replicas)}
        topics = [{"Name": topic, "Partitions": [moved]}]
        body = {"TimeoutMs": ELECT_TIMEOUT_MS, "Topics": topics}
        self._tell("AlterPartitionReassignments", 0, body)

    def elect_uncleanly(self, name: str) -> None:
        """An operator has somebody lead who is not in the ISR."""
        self.ask(messages.ElectLeadersRequest(unclean=True, partitions=(name,)))

    # --- records that mean nothing --------------------------------------------------------------

    def fill(self, count: int) -> None:
        """So many records that change nothing here: quotas of users that nobody is."""
        while count > 0:
            some = range(self._fillers, self._fillers + min(count, FILLERS_AT_ONCE))
            version = self.kafka.schemas.requests["AlterClientQuotas"].versions.last
            body = {"Entries": [_quota(n) for n in some], "ValidateOnly": False}
            self._tell("AlterClientQuotas", version, body)
            self._fillers, count = some.stop, count - len(some)


def _quota(number: int) -> dict[str, object]:
    user = {"EntityType": "user", "EntityName": f"filler-{number}"}
    quota = {"Key": "producer_byte_rate", "Value": 1.0, "Remove": False}
    return {"Entity": [user], "Ops": [quota]}
