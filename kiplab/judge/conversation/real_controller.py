"""A real controller, asked by fake brokers and an admin client over one connection."""

import time
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from ...protocol.facts import RecordWritten
from ...protocol.ids import BrokerEpoch, BrokerId, MetadataOffset
from ...protocol.kraft.records import PartitionChangeRecord
from ...protocol.messages import BrokerHeartbeatRequest, ElectLeadersRequest, Request, Response
from ...protocol.registrations import LeaderRecoveryState, PartitionRegistration
from ...protocol.releases import METADATA_LEVEL, RELEASES, at_least
from ..controller.controller_process import ControllerProcess
from ..java_process import DeadKafkaError
from ..wire.message_schemas import schemas_in
from ..wire.metadata_log import LoggedRecord, MetadataLog
from ..wire.node_connection import NodeConnection
from . import kafka_terms

NOBODY = BrokerId(1 << 20)
"""A broker that is never registered."""
READY_S, LATE_RECORD_S, LOOK_S = 20.0, 0.5, 0.002
WAITING_MS = 20
"""What is added to a frozen clock while the controller's own requests wait for a later moment."""
UPGRADE = 1
"""Kafka's number of the kind of change of a feature that only raises it."""


class RefusedByKafkaError(Exception):
    """A request that sets the initial state was refused, so that nothing can be compared."""


class RealController:
    """`process` is a controller that has just been started; its clock is frozen here. Raises
    DeadKafkaError if it does not become active, as every question does once it is gone.
    """

    def __init__(self, process: ControllerProcess) -> None:
        self.process = process
        self.schemas = schemas_in(sorted(process.jars.glob("kafka-[cm]*.jar")))
        self.topics = kafka_terms.TopicNames({}, {})
        self.log = MetadataLog(process.data, self.schemas)
        self._elected_in = self.log.leader_epoch
        process.tell("freeze")
        self._connect()
        try:
            self._until_active(self._registers_itself())
        except BaseException:
            self.close()
            raise

    # --- questions ------------------------------------------------------------------------------

    def ask(
        self, request: Request, *, expected: int = 0
    ) -> tuple[Response, tuple[LoggedRecord, ...]]:
        """Its answer, and the records that came with it. Raises UnspokenError for a request that no
        controller answers.

        An error is answered at once, while records of a fencing before it may be on their way to
        the log: half a second is waited for as many as `expected`.
        """
        answer, writtens = self._answer(request), self.log.new()
        until = time.monotonic() + LATE_RECORD_S
        while len(writtens) < expected and time.monotonic() < until:
            time.sleep(LOOK_S)
            writtens += self.log.new()
        return kafka_terms.answer_of(request, answer), writtens

    def _answer(self, request: Request) -> kafka_terms.Fields:
        return self.tell(kafka_terms.call_of(request, self.schemas, self.topics))

    def barrier(self) -> tuple[LoggedRecord, ...]:
        """The records of all that it has decided: an empty write is answered after all before."""
        self._answer(ElectLeadersRequest(unclean=False, partitions=("nothing-0",)))
        return self.log.new()

    def tell(self, call: kafka_terms.KafkaCall) -> kafka_terms.Fields:
        """The answer to a request in Kafka's own terms."""
        return self._connection.ask(*call)

    # --- time -----------------------------------------------------------------------------------

    def advance(self, ms: int) -> None:
        """Let time pass. What falls due is done before the next request is answered."""
        self.process.tell(f"advance {ms}")

    def restart(self) -> int:
        """A new controller on the same log; the milliseconds that passed until it was active."""
        self._connection.close()
        self.process.tell("restart")
        self._connect()
        return self._until_active(self._registers_itself())

    def return_from_resignation(self) -> int:
        """The same controller, elected again by itself, which takes it some time; how much."""
        before = int(self.process.tell("now"))
        self.process.tell("thaw")
        try:
            self._until_active(False)
        finally:
            self.process.tell("freeze")
        return int(self.process.tell("now")) - before

    def raise_metadata_version(self, metadata_version: str) -> tuple[str, int]:
        """Why it was refused, or nothing; the milliseconds until what follows was written."""
        level = METADATA_LEVEL[metadata_version]
        change = {"Feature": "metadata.version", "MaxVersionLevel": level, "UpgradeType": UPGRADE}
        body = {"timeoutMs": kafka_terms.ELECT_TIMEOUT_MS, "FeatureUpdates": [change]}
        answer = self._connection.ask("UpdateFeatures", 1, body)
        for one in (answer, *answer["Results"]):
            if one["ErrorCode"]:
                return f"error {one['ErrorCode']}: {one['ErrorMessage']}", 0
        registered = self._registers_itself()
        self.process.metadata_version = metadata_version
        registers_itself = self._registers_itself() and not registered
        return "", self._until_active(registers_itself, elected=False)

    # --- the initial state ----------------------------------------------------------------------

    def create(
        self, topic: str, replicas: Sequence[Sequence[int]], *, unclean: bool = False
    ) -> tuple[PartitionRegistration, ...]:
        """A topic whose partitions have these replicas. Raises RefusedByKafkaError."""
        assigned = [{"PartitionIndex": n, "BrokerIds": list(ids)} for n, ids in enumerate(replicas)]
        configs = [{"Name": "unclean.leader.election.enable", "Value": "true"}] if unclean else []
        wanted: kafka_terms.Fields = {"Name": topic, "NumPartitions": -1, "ReplicationFactor": -1}
        wanted |= {"Assignments": assigned, "Configs": configs}
        body = {"Topics": [wanted], "timeoutMs": kafka_terms.ELECT_TIMEOUT_MS}
        answer = self._connection.ask("CreateTopics", 4, body)
        _must_be_done(f"topic {topic}", answer["Topics"])
        records = self.log.new()
        for record in records:
            if record.name == "TopicRecord":
                name, id = record.fields["Name"], record.fields["TopicId"]
                self.topics.ids[name], self.topics.names[id] = id, name
        partitions = (record for record in records if record.name == "PartitionRecord")
        return tuple(_partition(record, self.topics, unclean) for record in partitions)

    def delete(self, topic: str) -> None:
        """A topic is forgotten. Raises RefusedByKafkaError."""
        body = {"TopicNames": [topic], "TimeoutMs": kafka_terms.ELECT_TIMEOUT_MS}
        answer = self._connection.ask("DeleteTopics", 3, body)
        _must_be_done(f"deletion of {topic}", answer["Responses"])
        del self.topics.ids[topic]

    def reassign(self, partition: str, replicas: Sequence[int] | None) -> kafka_terms.Fields:
        """The answer to moving a partition to these replicas, in order, or cancelling that."""
        topic, index = kafka_terms.split(partition)
        wanted = None if replicas is None else list(replicas)
        topics = [{"Name": topic, "Partitions": [{"PartitionIndex": index, "Replicas": wanted}]}]
        body = {"TimeoutMs": kafka_terms.ELECT_TIMEOUT_MS, "Topics": topics}
        return self._connection.ask("AlterPartitionReassignments", 0, body)

    # --- becoming active ------------------------------------------------------------------------

    def _connect(self) -> None:
        self._connection = NodeConnection(self.process.port, self.schemas)

    def _until_active(self, registers_itself: bool, *, elected: bool = True) -> int:
        """It answers, once it is `elected` anew, and has written of itself, if it does; the
        milliseconds that passed. One that is about to resign still answers for a moment.
        """
        passed, is_written = 0, not registers_itself
        until = time.monotonic() + READY_S
        while time.monotonic() < until:
            is_written |= any(r.name == "RegisterControllerRecord" for r in self.log.new())
            is_late = elected and self.log.leader_epoch == self._elected_in
            if not is_written and not is_late:
                # It asks itself for that, and backs off by the same clock.
                self.advance(WAITING_MS)
                passed += WAITING_MS
            elif not is_late and self.is_active():
                self.log.new()
                self._elected_in = self.log.leader_epoch
                return passed
            time.sleep(LOOK_S * 10)
        raise DeadKafkaError(f"Kafka {self.process.patch} was not active within {READY_S:.0f} s")

    def _registers_itself(self) -> bool:
        code = RELEASES[self.process.release].code
        return code >= (3, 7) and at_least(self.process.metadata_version, "3.7-IV0")

    def is_active(self) -> bool:
        """Whether it is the active controller, and not one that has resigned. It is sent a request
        that changes nothing: the event thread looks at its clock.
        """
        nothing = BrokerHeartbeatRequest(
            broker=NOBODY, broker_epoch=BrokerEpoch(1), metadata_offset=MetadataOffset(0)
        )
        # Not registered, or of an earlier epoch: it has looked.
        return self._answer(nothing)["ErrorCode"] in (0, 77)

    def close(self) -> None:
        """Close the connection; the process goes on."""
        self._connection.close()


def _must_be_done(what: str, answers: Sequence[Mapping[str, object]]) -> None:
    for answer in answers:
        if answer["ErrorCode"]:
            raise RefusedByKafkaError(f"{what}: error {answer['ErrorCode']}")


def _partition(
    record: LoggedRecord, topics: kafka_terms.TopicNames, unclean: bool
) -> PartitionRegistration:
    fields = record.fields
    return PartitionRegistration(
        name=topics.partition(fields["TopicId"], fields["PartitionId"]),
        replicas=fields["Replicas"],
        isr=fields["Isr"],
        leader=fields["Leader"],
        leader_epoch=fields["LeaderEpoch"],
        partition_epoch=fields["PartitionEpoch"],
        recovery=LeaderRecoveryState(fields["LeaderRecoveryState"]),
        unclean_leader_election=unclean,
    )


# --- what it wrote --------------------------------------------------------------------------------


def record_texts(records: Iterable[RecordWritten]) -> tuple[str, ...]:
    """Offset, version and text of each record; in a run of partition changes, sorted by text: the
    order of these hangs on hash tables and on the random ids of topics.
    """
    texts: list[str] = []
    # Equal for partition changes, and like no other for any other record.
    kind = PartitionChangeRecord.__name__
    for _, run in groupby(records, lambda r: -1 if r.record == kind else r.offset):
        together = list(run)
        sentences = sorted(f"v{record.version} {record.text}" for record in together)
        texts += (f"@{r.offset} {text}" for r, text in zip(together, sentences, strict=True))
    return tuple(texts)
