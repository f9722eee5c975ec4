"""An incident as a script: what pretended brokers and an operator ask of a real controller.

A script has one line for each thing, ``pass 9000`` or ``isr orders-0 1,2,3``; `Incident` has a
method for each verb. Time passes in steps of 500 ms, in each of which every broker that lives sends
a heartbeat.
"""

import uuid
from collections.abc import Callable
from pathlib import Path

import msgspec

from kiplab.judge.controller.controller_process import ControllerProcess
from kiplab.judge.conversation import kafka_terms
from kiplab.judge.conversation.real_controller import RealController
from kiplab.judge.java_process import properties
from kiplab.judge.wire.metadata_log import LoggedRecord, MetadataLog
from kiplab.protocol.errors import KafkaError
from kiplab.protocol.ids import (
    NO_BROKER_EPOCH,
    BrokerEpoch,
    BrokerId,
    Incarnation,
    LeaderEpoch,
    PartitionEpoch,
)
from kiplab.protocol.messages import (
    AlterPartitionItem,
    AlterPartitionRequest,
    AlterPartitionResponse,
    BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
    BrokerRegistrationRequest,
    ElectLeadersRequest,
    IsrMember,
)
from kiplab.protocol.releases import METADATA_LEVEL, RELEASES, at_least

STEP_MS = 500
FIRST_DISK = 7 << 120
"""Uuids of log directories count from here on: small ones are reserved."""
HEARTBEATS = 5
"""As many as a broker needs, at most, to be unfenced or to be let go."""
FEATURES_SINCE = {
    "kraft.version": ((3, 9), 0, 1),
    "group.version": ((4, 0), 0, 1),
    "transaction.version": ((4, 0), 0, 2),
    "eligible.leader.replicas.version": ((4, 0), 0, 1),
    "share.version": ((4, 1), 0, 1),
    "streams.version": ((4, 2), 0, 1),
}
"""Since which release a broker says that it supports a feature, and from which to which level."""


class TalkativeController(ControllerProcess):
    """One that writes no-ops, checkpoints and segments as the script's settings say."""

    def __init__(self, patch: str, metadata_version: str, elr: int, more: dict[str, str]) -> None:
        super().__init__(patch, metadata_version or None, elr)
        self._more = more

    def _write_settings(self) -> None:
        super()._write_settings()
        # Of a name that stands twice the later value counts.
        with Path(self._settings).open("a", encoding="utf-8") as settings:
            settings.write(properties(self._more))


class Broker(msgspec.Struct):
    """A pretended broker: its present process, the epoch of the one before, and whether that one
    stopped in order.
    """

    id: BrokerId
    process: int = 0
    epoch: BrokerEpoch = NO_BROKER_EPOCH
    before: BrokerEpoch = NO_BROKER_EPOCH
    lives: bool = False
    stopped: bool = False


class Leader(msgspec.Struct):
    """What a leader has to know of its partition to ask for another ISR."""

    id: int
    leader_epoch: int
    partition_epoch: int


class Incident:
    """A cluster whose controller is real. Raises AssertionError where a script asks for what the
    controller refuses.
    """

    def __init__(self, process: ControllerProcess) -> None:
        self.kafka = RealController(process)
        self._brokers: dict[int, Broker] = {}
        self._partitions: dict[str, Leader] = {}
        self._disks = 1
        self._logs: dict[Path, MetadataLog] = {}
        self._folder = process.data / "__cluster_metadata-0"

    def end(self) -> None:
        """No more is asked."""
        self.kafka.close()

    def do(self, line: str) -> None:
        """One line of a script."""
        verb, *words = line.split()
        getattr(self, f"do_{verb.replace('-', '_')}")(*words)

    def do_disks(self, count: str) -> None:
        """So many log directories has each broker from here on."""
        self._disks = int(count)

    # --- brokers ------------------------------------------------------------------------------

    def do_start(self, *ids: str) -> None:
        """A new process of each broker registers, and is unfenced."""
        for id in ids:
            self.do_register(id)
            self._beat_until(id, lambda answer: not answer.is_fenced)

    def do_register(self, id: str) -> None:
        """A new process of a broker registers."""
        broker = self._brokers.setdefault(int(id), Broker(BrokerId(int(id))))
        broker.process += 1
        request = BrokerRegistrationRequest(
            broker=broker.id,
            incarnation=Incarnation(broker.process),
            previous_epoch=broker.epoch if broker.stopped else NO_BROKER_EPOCH,
        )
        schemas, topics = self.kafka.schemas, self.kafka.topics
        call = kafka_terms.call_of(request, schemas, topics)
        listener = call.fields["Listeners"][0] | {"Port": 9090 + broker.id}
        own = {"Listeners": [listener], "Features": self._features()}
        if "LogDirs" in call.fields:
            own["LogDirs"] = [_disk(broker.id, number) for number in range(self._disks)]
        while (answer := self.kafka.tell(_with(call, own)))["ErrorCode"]:
            # The session of its last process is not over yet: a broker tries again until it is.
            assert answer["ErrorCode"] == KafkaError.DUPLICATE_BROKER_REGISTRATION, answer
            self.do_pass(str(STEP_MS))
        broker.before, broker.epoch = broker.epoch, answer["BrokerEpoch"]
        broker.lives, broker.stopped = True, False

    def _features(self) -> list[kafka_terms.Fields]:
        """What a broker of the controller's release says that it supports."""
        entry = RELEASES[self.kafka.process.release]
        levels = METADATA_LEVEL[entry.lowest], METADATA_LEVEL[entry.latest]
        known = {"metadata.version": levels} | {
            name: (lowest, highest)
            for name, (since, lowest, highest) in FEATURES_SINCE.items()
            if entry.code >= since
        }
        return [
            {"Name": name, "MinSupportedVersion": lowest, "MaxSupportedVersion": highest}
            for name, (lowest, highest) in known.items()
        ]

    def do_crash(self, *ids: str) -> None:
        """A process ends, and nobody is told."""
        for id in ids:
            self._brokers[int(id)].lives = False

    def do_ask_to_stop(self, id: str) -> None:
        """A broker asks for a controlled shutdown, and waits."""
        self._beat(self._brokers[int(id)], want_shut_down=True)

    def do_stop(self, id: str) -> None:
        """A broker asks for a controlled shutdown, and ends when it may."""
        self._beat_until(id, lambda answer: answer.should_shut_down, want_shut_down=True)
        broker = self._brokers[int(id)]
        broker.lives, broker.stopped = False, True

    def _beat_until(
        self, id: str, enough: Callable[[BrokerHeartbeatResponse], bool], **wish: bool
    ) -> None:
        for _ in range(HEARTBEATS):
            if enough(self._beat(self._brokers[int(id)], **wish)):
                return
            self._all_beat(besides=int(id))
        raise AssertionError(f"broker {id}: {HEARTBEATS} heartbeats were not enough")

    def _beat(self, broker: Broker, **wish: bool) -> BrokerHeartbeatResponse:
        self._follow()
        request = BrokerHeartbeatRequest(
            broker=broker.id,
            broker_epoch=broker.epoch,
            metadata_offset=max(log.last_record for log in self._logs.values()),
            **wish,
        )
        answer, _ = self.kafka.ask(request)
        assert isinstance(answer, BrokerHeartbeatResponse)
        return answer

    def _all_beat(self, besides: int = 0) -> None:
        for broker in self._brokers.values():
            if broker.lives and broker.id != besides:
                self._beat(broker)

    # --- time, and the operator ---------------------------------------------------------------

    def do_pass(self, ms: str) -> None:
        """Time passes, and whoever lives says so."""
        for _ in range(int(ms) // STEP_MS):
            self.kafka.advance(STEP_MS)
            self._all_beat()
            self.kafka.barrier()

    def do_topic(self, name: str, *rest: str) -> None:
        """A topic; replicas of each of its partitions, then settings NAME=VALUE."""
        settings = dict(word.split("=") for word in rest if "=" in word)
        min_insync = settings.get("min.insync.replicas")
        self.kafka.create(
            name,
            [_ids(word) for word in rest if "=" not in word],
            min_insync=int(min_insync) if min_insync else None,
        )

    def do_set(self, topic: str, name: str, value: str) -> None:
        """A setting of a topic."""
        assert not (refused := self.kafka.configure(topic, name, value)), refused

    def do_metadata_version(self, version: str) -> None:
        """The cluster's metadata version is raised."""
        refused, _ = self.kafka.raise_metadata_version(version)
        assert not refused, refused

    def do_elect_unclean(self, partition: str) -> None:
        """kafka-leader-election --election-type unclean."""
        self.kafka.ask(ElectLeadersRequest(unclean=True, partitions=(partition,)))

    def do_restart_controller(self) -> None:
        """The controller's process ends, and another one takes over its log."""
        self.kafka.restart()

    # --- leaders ------------------------------------------------------------------------------

    def do_isr(self, partition: str, members: str, refused: str = "") -> None:
        """The leader asks for an ISR: ``1,2``; ``3@-1`` has no broker epoch, ``3@before`` that of
        the process before. The word ``refused`` follows where the controller says no.
        """
        self._follow()
        known = self._partitions[partition]
        with_epochs = at_least(self.kafka.process.metadata_version, "3.5-IV1")
        item = AlterPartitionItem(
            partition=partition,
            leader_epoch=LeaderEpoch(known.leader_epoch),
            partition_epoch=PartitionEpoch(known.partition_epoch),
            isr=tuple(self._member(word) for word in members.split(",")),
        )
        leader = self._brokers[known.id]
        request = AlterPartitionRequest(
            version=3 if with_epochs else 2,
            broker=leader.id,
            broker_epoch=leader.epoch,
            items=(item,),
        )
        answer, _ = self.kafka.ask(request)
        assert isinstance(answer, AlterPartitionResponse)
        is_refused = bool(answer.error) or any(result.error for result in answer.results)
        assert is_refused == bool(refused), answer

    def _member(self, word: str) -> IsrMember:
        id, _, epoch = word.partition("@")
        broker = self._brokers[int(id)]
        epochs = {"": broker.epoch, "before": broker.before, "-1": NO_BROKER_EPOCH}
        return IsrMember(broker.id, epochs[epoch])

    def do_directories(self, id: str, disk: str, *partitions: str) -> None:
        """A broker tells on which of its disks, from 0 on, it has these partitions (KIP-858)."""
        broker = self._brokers[int(id)]
        topics = [
            {"TopicId": self.kafka.topics.ids[topic], "Partitions": [{"PartitionIndex": index}]}
            for topic, index in map(kafka_terms.split, partitions)
        ]
        directory = {"Id": _disk(broker.id, int(disk)), "Topics": topics}
        who = {"BrokerId": broker.id, "BrokerEpoch": broker.epoch}
        body = {**who, "Directories": [directory]}
        answer = self.kafka.tell(kafka_terms.KafkaCall("AssignReplicasToDirs", 0, body))
        assert not answer["ErrorCode"], answer

    def _follow(self) -> None:
        """Read what was written since the last look, in all segments."""
        for segment in sorted(self._folder.glob("*.log")):
            known = self._logs.get(segment)
            log = known or MetadataLog(Path(), self.kafka.schemas, segment)
            self._logs[segment] = log
            for record in log.new():
                self._learn(record)

    def _learn(self, record: LoggedRecord) -> None:
        fields = record.fields
        if record.name == "PartitionRecord":
            name = self.kafka.topics.partition(fields["TopicId"], fields["PartitionId"])
            epochs = fields["LeaderEpoch"], fields["PartitionEpoch"]
            self._partitions[name] = Leader(fields["Leader"], *epochs)
        elif record.name == "PartitionChangeRecord":
            name = self.kafka.topics.partition(fields["TopicId"], fields["PartitionId"])
            known = self._partitions[name]
            known.partition_epoch += 1
            if fields["Leader"] != kafka_terms.NO_CHANGE:
                known.id, known.leader_epoch = fields["Leader"], known.leader_epoch + 1


def _with(call: kafka_terms.KafkaCall, more: kafka_terms.Fields) -> kafka_terms.KafkaCall:
    return call._replace(fields=call.fields | more)


def _disk(broker: int, number: int) -> uuid.UUID:
    return uuid.UUID(int=FIRST_DISK + (number << 8) + broker)


def _ids(words: str) -> list[int]:
    return [int(word) for word in words.split(",")]


def lines_of(text: str) -> list[str]:
    """The lines of a script without remarks and blanks."""
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return [line for line in lines if line]
