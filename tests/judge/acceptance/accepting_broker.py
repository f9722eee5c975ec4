"""A real broker that takes us for its controller: it is told, it answers, and is looked at."""

from typing import Any

from kiplab.judge.wire.metadata_log import ReleaseSchemas
from kiplab.judge.wire.node_connection import NodeConnection
from kiplab.judge.zookeeper_era.sequences import wait_until

from . import control_bodies as questions
from .control_bodies import SpokenVersions, control_body, partition_codes
from .live_session import LiveSession

FIRST_CONTROLLER_EPOCH, APART = 10, 10
"""Each case has a controller epoch of its own: what one made the broker obey is old in the next."""
_WITH_EPOCH = 5
"""The first UpdateMetadata that has a broker epoch."""
_METADATA, _END_OFFSETS = ("Metadata", 7), ("OffsetForLeaderEpoch", 2)
_NO_ERROR, _UNKNOWN_EPOCH, _STALE_BROKER_EPOCH = 0, 75, 77
_ABOVE_ALL, _HIGHEST = 1 << 20, 14
_OLD_MAIL = questions.ControlQuestion("UpdateMetadata", (), broker_epoch="older")


class AcceptingBroker:
    """The broker of a `session`, asked in these `versions`.

    Its methods raise OSError where it does not answer, TooQuietError where it does not register.
    """

    def __init__(
        self, session: LiveSession, versions: SpokenVersions, schemas: ReleaseSchemas
    ) -> None:
        self._session, self._versions = session, versions
        self._epoch = session.epoch()
        self._before = self._epoch - 1
        self._connection = NodeConnection(session.server.port, schemas)
        self._cases = 0

    def close(self) -> None:
        self._connection.close()

    def answers_to(self, case: questions.AcceptanceCase) -> tuple[questions.ControlAnswer, ...]:
        """All that it says in a case, about a topic of its own, and is seen to do."""
        self._cases += 1
        controller = FIRST_CONTROLLER_EPOCH + APART * self._cases
        topic = f"case-{self._cases}"
        self.tell(questions.BROKERS_ALONE, topic, controller)
        return tuple(self.answer_to(question, topic, controller) for question in case.questions)

    def answer_to(
        self, question: questions.ControlQuestion, topic: str, controller: int
    ) -> questions.ControlAnswer:
        """What it says to one request of the controller epoch `controller`, and does."""
        if question.session:
            self._change_session(question.session == "ends", topic, controller)
        answer = self.tell(question, topic, controller)
        count = max(1, len(question.leader_epochs))
        known, brokers = self._metadata(topic)
        return questions.ControlAnswer(
            error=answer["ErrorCode"],
            partitions=partition_codes(answer),
            replicas=tuple(self._replica(topic, p) for p in range(count)),
            on_disk=tuple(self._has_folder(topic, p) for p in range(count)),
            metadata=tuple(known.get(p) for p in range(count)),
            brokers=brokers,
        )

    def tell(
        self, question: questions.ControlQuestion, topic: str, controller: int
    ) -> dict[str, Any]:
        """Its bare answer to one request."""
        where = self._session.where(self._epoch, self._before, controller)
        version = self._versions.of(question.api)
        body = control_body(question, topic, version, where)
        return self._connection.ask(question.api, version, body)

    def _change_session(self, ends: bool, topic: str, controller: int) -> None:
        if ends:
            self._session.end()
            return
        self._session.tell()
        self._before, self._epoch = self._epoch, self._session.epoch()
        if self._versions.update_metadata >= _WITH_EPOCH:
            # The broker learns its new epoch a little later than ZooKeeper has it.
            wait_until(
                lambda: self.tell(_OLD_MAIL, topic, controller)["ErrorCode"] == _STALE_BROKER_EPOCH,
                "a broker that knows its new epoch",
            )

    # --- what it is seen to have -----------------------------------------------------------------

    def _metadata(self, topic: str) -> tuple[dict[int, questions.MetadataSight], tuple[int, ...]]:
        asked = {"Topics": [{"Name": topic}], "AllowAutoTopicCreation": False}
        answer = self._connection.ask(*_METADATA, asked)
        known = {
            found["PartitionIndex"]: questions.MetadataSight(
                found["LeaderId"], found["LeaderEpoch"]
            )
            for found in answer["Topics"][0]["Partitions"]
        }
        return known, tuple(sorted(broker["NodeId"] for broker in answer["Brokers"]))

    def _has_folder(self, topic: str, partition: int) -> bool:
        return (self._session.server.data / f"{topic}-{partition}").is_dir()

    def _replica(self, topic: str, partition: int) -> questions.ReplicaSight | None:
        """A broker says whether an epoch is older or newer than its own: that finds it."""
        if self._said_of(topic, partition, _ABOVE_ALL) != _UNKNOWN_EPOCH:
            return None
        low, high = -1, _HIGHEST
        while low < high:
            middle = (low + high + 1) // 2
            if self._said_of(topic, partition, middle) == _UNKNOWN_EPOCH:
                high = middle - 1
            else:
                low = middle
        leads = self._said_of(topic, partition, low) == _NO_ERROR
        return questions.ReplicaSight("leader" if leads else "follower", low)

    def _said_of(self, topic: str, partition: int, epoch: int) -> int:
        asked = {"Partition": partition, "CurrentLeaderEpoch": epoch, "LeaderEpoch": epoch}
        body = {"Topics": [{"Topic": topic, "Partitions": [asked]}]}
        answer = self._connection.ask(*_END_OFFSETS, body)
        code: int = answer["Topics"][0]["Partitions"][0]["ErrorCode"]
        return code
