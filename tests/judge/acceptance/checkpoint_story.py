"""KIP-380's third case at a real broker: see `kiplab.judge.zookeeper_era.real_control_requests`."""

import struct
import time
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

from kiplab.judge.wire.metadata_log import ReleaseSchemas
from kiplab.judge.wire.node_connection import NodeConnection
from kiplab.judge.zookeeper_era.real_control_requests import FOLLOWED, LED, CheckpointStory
from kiplab.judge.zookeeper_era.sequences import wait_until

from . import control_bodies
from .live_session import LiveSession, live_session

RECORDS = {FOLLOWED: 5, LED: 9}
FIRST_LEADER_EPOCHS = {FOLLOWED: 6, LED: 2}
_OFTEN_MS = 100
_SETTINGS = {"replica.high.watermark.checkpoint.interval.ms": _OFTEN_MS}
_SEVERAL_WRITES_S = 10 * _OFTEN_MS / 1000
_CONTROLLER_EPOCH = 10
_FETCH, _PRODUCE = ("Fetch", 4), ("Produce", 2)
_BYTES, _PATIENCE_MS = 1 << 20, 5000
_ABOUT = ("TopicStates", "UngroupedPartitionStates")
"""What a request is about, by its version."""
_HEAD_LINES, _MAGIC = 2, 1
BOTH = (control_bodies.ASKED_BROKER, control_bodies.OTHER_BROKER)


def checkpoint_story(
    asked: control_bodies.AskedBroker, zookeeper_port: int, schemas: ReleaseSchemas
) -> CheckpointStory:
    """What happens to one broker. Raises what `live_session` raises."""
    chroot = f"checkpoint-{asked.patch}"
    settings: dict[str, str | int] = {**asked.settings, **_SETTINGS}
    with live_session(asked.patch, zookeeper_port, chroot, settings) as session:
        return _TwoLives(session, asked.versions, schemas).told()


class _TwoLives:
    def __init__(
        self, session: LiveSession, versions: control_bodies.SpokenVersions, schemas: ReleaseSchemas
    ) -> None:
        self._session, self._versions, self._schemas = session, versions, schemas
        self._leader_epochs = dict(FIRST_LEADER_EPOCHS)

    def told(self) -> CheckpointStory:
        first, stopped_with = self._first_incarnation()
        self._session.server.start()
        before_any_mail = self._checkpoint_after_a_while()
        old_mail = self._lead((FOLLOWED,), first, BOTH)
        after_old_mail = self._checkpoint_after_a_while()
        second = self._session.epoch()
        self._make_known(second)
        self._lead(RECORDS, second, BOTH)
        return CheckpointStory(
            stopped_with=stopped_with,
            before_any_mail=before_any_mail,
            old_mail=old_mail,
            after_old_mail=after_old_mail,
            begun_at={topic: self._high_watermark(topic) for topic in RECORDS},
            at_the_end=self._checkpoint_after_a_while(),
        )

    def _first_incarnation(self) -> tuple[int, dict[str, int]]:
        """(broker epoch, the checkpoint that it leaves)."""
        epoch = self._session.epoch()
        self._make_known(epoch)
        self._lead(RECORDS, epoch, (control_bodies.ASKED_BROKER,))
        for topic, count in RECORDS.items():
            self._produce(topic, count)
        wait_until(lambda: self._checkpoint() == RECORDS, "a checkpoint of what was written")
        self._session.server.end()
        return epoch, self._checkpoint()

    # --- what it is told -------------------------------------------------------------------------

    def _lead(self, topics: Iterable[str], epoch: int, isr: tuple[int, ...]) -> int:
        """The code of its answer to one LeaderAndIsr about these topics, at this broker epoch and
        at the next leader epoch of each.
        """
        self._leader_epochs |= {topic: self._leader_epochs[topic] + 1 for topic in topics}
        return self._tell(
            {
                topic: control_bodies.ControlQuestion(
                    "LeaderAndIsr", (self._leader_epochs[topic],), isr=isr, replicas=BOTH
                )
                for topic in topics
            },
            epoch,
        )

    def _make_known(self, epoch: int) -> None:
        """No client can write or read what a broker has no metadata of."""
        self._tell(
            {topic: control_bodies.ControlQuestion("UpdateMetadata") for topic in RECORDS}, epoch
        )

    def _tell(self, questions: Mapping[str, control_bodies.ControlQuestion], epoch: int) -> int:
        """The same kind of question about several topics, in one request."""
        api = next(iter(questions.values())).api
        version = self._versions.of(api)
        where = self._session.where(epoch, epoch, _CONTROLLER_EPOCH)
        bodies = [
            control_bodies.control_body(q, topic, version, where) for topic, q in questions.items()
        ]
        named = next(name for name in _ABOUT if name in bodies[0])
        together = [state for body in bodies for state in body[named]]
        code: int = self._ask(api, version, bodies[0] | {named: together})["ErrorCode"]
        return code

    def _produce(self, topic: str, count: int) -> None:
        partition = {"Index": 0, "Records": _messages(count)}
        body = {
            "Acks": 1,
            "TimeoutMs": _PATIENCE_MS,
            "TopicData": [{"Name": topic, "PartitionData": [partition]}],
        }
        answer = self._ask(*_PRODUCE, body)["Responses"][0]["PartitionResponses"][0]
        assert answer["ErrorCode"] == 0, f"code {answer['ErrorCode']} to a record of {topic}"

    def _high_watermark(self, topic: str) -> int:
        partition = {"Partition": 0, "FetchOffset": 0, "PartitionMaxBytes": _BYTES}
        body = {
            "ReplicaId": -1,
            "MaxBytes": _BYTES,
            "Topics": [{"Topic": topic, "Partitions": [partition]}],
        }
        answer = self._ask(*_FETCH, body)["Responses"][0]["Partitions"][0]
        return int(answer["HighWatermark"])

    def _ask(self, api: str, version: int, body: Mapping[str, Any]) -> dict[str, Any]:
        connection = NodeConnection(self._session.server.port, self._schemas)
        try:
            return connection.ask(api, version, body)
        finally:
            connection.close()

    # --- its checkpoint --------------------------------------------------------------------------

    def _checkpoint_after_a_while(self) -> dict[str, int]:
        """As it is when it could have been written several times."""
        time.sleep(_SEVERAL_WRITES_S)
        return self._checkpoint()

    def _checkpoint(self) -> dict[str, int]:
        """A version, a count, and a line for each partition."""
        file = self._session.server.data / "replication-offset-checkpoint"
        lines = file.read_text().splitlines()[_HEAD_LINES:] if file.exists() else []
        return {topic: int(offset) for topic, _, offset in sorted(map(str.split, lines))}


def _messages(count: int) -> bytes:
    """Records as they were written before 0.11, which brokers of these years still take."""
    return b"".join(_message(index) for index in range(count))


def _message(index: int) -> bytes:
    value = b"x"
    counted = struct.pack(">bbqiI", _MAGIC, 0, index, -1, len(value)) + value
    message = struct.pack(">I", zlib.crc32(counted)) + counted
    return struct.pack(">qi", index, len(message)) + message
