"""A real controller, asked by fake brokers and an admin client over one connection."""

import time
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from msgspec.structs import replace

from ...protocol.facts import RecordWritten
from ...protocol.ids import BrokerEpoch, BrokerId, MetadataOffset
from ...protocol.kraft.records import PartitionChangeRecord
from ...protocol.kraft.replay import CLUSTER, MIN_INSYNC, UNCLEAN
from ...protocol.messages import BrokerHeartbeatRequest, ElectLeadersRequest, Request, Response
from ...protocol.registrations import LeaderRecoveryState, PartitionRegistration, with_directories
from ...protocol.releases import METADATA_LEVEL, RELEASES, at_least
from ..controller.controller_process import ELR, ControllerProcess
from ..java_process import DeadKafkaError
from ..wire.metadata_log import LoggedRecord, MetadataLog, schemas_in
from ..wire.node_connection import NodeConnection
from . import kafka_terms

NOBODY = BrokerId(1 << 20)
"""A broker that is never registered."""
READY_S, LATE_RECORD_S, LOOK_S = 20.0, 0.5, 0.002
WAITING_MS = 20
"""What is added to a frozen clock while the controller's own requests wait for a later moment."""
UPGRADE, SAFE_DOWNGRADE = 1, 2
"""Kafka's numbers of the kinds of change of a feature."""
SET = 0
"""Kafka's number of the change of a setting that gives it a value."""


class RefusedByKafkaError(Exception):
    """A request that sets the initial state was refused, so that nothing can be compared."""


class RealController:
    """`process` is a controller that has just been started; its clock is frozen here. Raises
    DeadKafkaError if it does not become active, as every question does once it is gone.
    """

    def __init__(self, process: ControllerProcess) -> None:
        self.process = process
        self.schemas = schemas_in(sorted(process.jars.glob("kafka-[cm]*.jar")))
        process.tell("freeze")
        self._connect()
        try:
            self._begin()
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

    def begin_anew(self) -> None:
        """A fresh cluster, which has nothing of this one."""
        self._connection.close()
        self.process.begin_anew()
        self._connect()
        self._begin()

    def raise_metadata_version(self, metadata_version: str) -> tuple[str, int]:
        """Why it was refused, or nothing; the milliseconds until what follows was written."""
        refused = self._finalize("metadata.version", METADATA_LEVEL[metadata_version], UPGRADE)
        if refused:
            return refused, 0
        registered = self._registers_itself()
        self.process.metadata_version = metadata_version
        registers_itself = self._registers_itself() and not registered
        return "", self._until_active(registers_itself, elected=False)

    def switch_elr(self, level: int) -> str:
        """Why eligible.leader.replicas.version stays what it is, or nothing."""
        refused = self._finalize(ELR, level, UPGRADE if level else SAFE_DOWNGRADE)
        if not refused:
            self.process.elr = level
        return refused

    def _finalize(self, feature: str, level: int, kind: int) -> str:
        change = {"Feature": feature, "MaxVersionLevel": level, "UpgradeType": kind}
        body = {"timeoutMs": kafka_terms.ELECT_TIMEOUT_MS, "FeatureUpdates": [change]}
        answer = self._connection.ask("UpdateFeatures", 1, body)
        results = (answer, *answer["Results"])
        errors = (f"error {r['ErrorCode']}: {r['ErrorMessage']}" for r in results if r["ErrorCode"])
        return next(errors, "")

    def configure(self, topic: str, name: str, value: str) -> str:
        """Why a setting of a topic, or of the cluster, stays what it is, or nothing."""
        change = {"Name": name, "ConfigOperation": SET, "Value": value}
        kind = kafka_terms.BROKER if topic == CLUSTER else kafka_terms.TOPIC
        whose = {"ResourceType": kind, "ResourceName": topic, "Configs": [change]}
        answer = self._connection.ask(
            "IncrementalAlterConfigs", 1, {"Resources": [whose], "ValidateOnly": False}
        )
        errors = (f"error {r['ErrorCode']}" for r in answer["Responses"] if r["ErrorCode"])
        return next(errors, "")

    # --- the initial state ----------------------------------------------------------------------

    def create(
        self,
        topic: str,
        replicas: Sequence[Sequence[int]],
        *,
        unclean: bool = False,
        min_insync: int | None = None,
    ) -> tuple[PartitionRegistration, ...]:
        """A topic whose partitions have these replicas. With `min_insync` it has an entry for each
        setting; else only where that is not Kafka's default. Raises RefusedByKafkaError.
        """
        assigned = [{"PartitionIndex": n, "BrokerIds": list(ids)} for n, ids in enumerate(replicas)]
        settings = {UNCLEAN: "true"} if unclean else {}
        if min_insync is not None:
            settings = {UNCLEAN: str(unclean).lower(), MIN_INSYNC: str(min_insync)}
        configs = [{"Name": name, "Value": value} for name, value in settings.items()]
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
        held = {"unclean_leader_election": unclean, "min_insync_replicas": min_insync or 1}
        return tuple(replace(_partition(record, self.topics), **held) for record in partitions)

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

    def _begin(self) -> None:
        self.topics = kafka_terms.TopicNames({}, {})
        self.log = MetadataLog(self.process.data, self.schemas)
        self._elected_in = self.log.leader_epoch
        self._until_active(self._registers_itself())

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


def _partition(record: LoggedRecord, topics: kafka_terms.TopicNames) -> PartitionRegistration:
    fields = record.fields
    state = PartitionRegistration(
        name=topics.partition(fields["TopicId"], fields["PartitionId"]),
        replicas=fields["Replicas"],
        isr=fields["Isr"],
        leader=fields["Leader"],
        leader_epoch=fields["LeaderEpoch"],
        partition_epoch=fields["PartitionEpoch"],
        recovery=LeaderRecoveryState(fields["LeaderRecoveryState"]),
    )
    return with_directories(state, kafka_terms.directories_in(fields.get("Directories") or ()))


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
