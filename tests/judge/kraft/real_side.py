"""A real controller does the turns of conversations."""

from collections.abc import Sequence
from typing import Protocol

from kiplab.judge.controller.controller_process import ControllerProcess
from kiplab.judge.conversation import kafka_terms
from kiplab.judge.conversation.real_controller import NOBODY, RealController
from kiplab.judge.wire.metadata_log import LoggedRecord
from kiplab.protocol.facts import RecordWritten
from kiplab.protocol.ids import BrokerId, Incarnation
from kiplab.protocol.kraft.records import record_text
from kiplab.protocol.kraft.sessions import SESSION_TIMEOUT_MS
from kiplab.protocol.messages import BrokerRegistrationRequest

from . import turns

CLEARED_INCARNATIONS = 3
"""After a controller has resigned no session is over yet."""


class Controller(Protocol):
    """A side whose answers count: it begins conversations, and is cleared between them."""

    def begin(self) -> turns.Beginning:
        """What it is before the first turn of a conversation."""

    def answer(self, turn: turns.Turn, /) -> turns.Answer:
        """What the turn came to."""

    def clear(self, brokers: Sequence[BrokerId]) -> int:
        """Forget topics and brokers; the milliseconds that passed."""


class RealSide:
    """The controller that `process` runs. Raises DeadKafkaError if it does not become active."""

    def __init__(self, process: ControllerProcess) -> None:
        self.kafka = RealController(process)
        self._begins_anew = bool(process.elr)

    def begin(self) -> turns.Beginning:
        kafka = self.kafka
        kafka.log.new()
        versions, log = kafka.schemas.requests["AlterPartition"].versions, kafka.log
        version = kafka.process.metadata_version
        return turns.Beginning(version, log.end, log.last_record, *versions)

    def answer(self, turn: turns.Turn, /) -> turns.Answer:
        """What the turn came to. Raises RefusedByKafkaError for a topic that Kafka refuses."""
        kafka = self.kafka
        match turn:
            case turns.Asked(request=request, after_ms=ms):
                kafka.advance(ms)
                response, records = kafka.ask(request)
                late = kafka.barrier() if turn.checked else ()
                return turns.Answer(response, self._written(*records, *late))
            case turns.Checked(after_ms=ms):
                kafka.advance(ms)
                return turns.Answer(records=self._written(*kafka.barrier()))
            case turns.Created():
                partitions = kafka.create(
                    turn.topic, turn.replicas, unclean=turn.unclean, min_insync=turn.min_insync
                )
                return turns.Answer(end=kafka.log.end, partitions=partitions)
            case turns.Configured():
                refused = kafka.configure(turn.topic, turn.name, turn.value)
                return turns.Answer(records=self._written(*kafka.log.new()), refused=refused)
            case turns.Deleted(topic=topic):
                kafka.delete(topic)
                return turns.Answer(records=self._written(*kafka.log.new()))
            case turns.Switched(level=level):
                refused = kafka.switch_elr(level)
                kafka.log.new()
                return turns.Answer(refused=refused, end=kafka.log.end)
            case turns.Reassigned():
                return self._reassign(turn)
            case turns.Waited(ms=ms):
                kafka.advance(ms)
                return turns.Answer()
            case turns.TookOver(restarted=restarted):
                passed = kafka.restart() if restarted else kafka.return_from_resignation()
                return turns.Answer(end=kafka.log.end, ms=passed)
            case turns.Raised(metadata_version=version):
                refused, passed = kafka.raise_metadata_version(version)
                return turns.Answer(refused=refused, end=kafka.log.end, ms=passed)

    def _reassign(self, turn: turns.Reassigned) -> turns.Answer:
        answer = self.kafka.reassign(turn.partition, turn.replicas)
        results = [one for each in answer["Responses"] for one in each["Partitions"]]
        errors = [one["ErrorCode"] for one in (answer, *results) if one["ErrorCode"]]
        written = self._written(*self.kafka.log.new())
        return turns.Answer(records=written, refused="".join(f"error {each}" for each in errors))

    def _written(self, *records: LoggedRecord) -> tuple[RecordWritten, ...]:
        return tuple(_as_written(record, self.kafka.topics) for record in records)

    def clear(self, brokers: Sequence[BrokerId]) -> int:
        """Forget topics and brokers; the milliseconds that passed. All sessions are over first:
        3.2 keeps what it knows of a broker that is not registered any more, and resigns when that
        "broker" falls silent. With eligible leader replicas a fresh cluster is begun: a controller
        keeps a former member of a topic that is deleted, and resigns when that registers.

        Raises RefusedByKafkaError.
        """
        passed = 0
        if self._begins_anew:
            self.kafka.begin_anew()
            return passed
        for incarnation in range(1, CLEARED_INCARNATIONS + 1):
            # A controller looks after sessions from the first registration on.
            anybody = BrokerRegistrationRequest(broker=NOBODY, incarnation=Incarnation(incarnation))
            self.kafka.ask(anybody)
            self.kafka.advance(SESSION_TIMEOUT_MS + 1)
            passed += SESSION_TIMEOUT_MS + 1
            self.kafka.barrier()
            if self.kafka.is_active():
                break
            passed += self.kafka.return_from_resignation()
        for broker in (*brokers, NOBODY):
            self.kafka.tell(kafka_terms.KafkaCall("UnregisterBroker", 0, {"BrokerId": broker}))
        for topic in tuple(self.kafka.topics.ids):
            self.kafka.delete(topic)
        self.kafka.log.new()
        return passed

    def close(self) -> None:
        """Hang up; the process goes on."""
        self.kafka.close()


def _as_written(logged: LoggedRecord, topics: kafka_terms.TopicNames) -> RecordWritten:
    """A record of Kafka's log as the engine tells of one of its own."""
    record, name = kafka_terms.record_of(logged, topics), logged.name
    text = f"{name} {logged.fields}" if record is None else record_text(record)
    return RecordWritten(offset=logged.offset, record=name, text=text, version=logged.version)
