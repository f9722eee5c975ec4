"""What brokers and operators ask of a real controller, and a barrier behind all that it does."""

from __future__ import annotations

import json
import uuid
from base64 import urlsafe_b64decode
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ...protocol.messages import AlterPartitionRequest, AlterPartitionResponse, ElectLeadersRequest
from ..conversation.kafka_terms import TopicNames, answer_of, call_of, split
from ..wire.message_schemas import ReleaseSchemas
from ..wire.node_connection import NodeConnection
from .control_answers import MARKER, Journal, Received, marker_version, wait_until
from .kafka_znodes import touch_state

if TYPE_CHECKING:
    from kazoo.client import KazooClient

_NOTIFICATIONS = "/isr_change_notification"


class Barrier:
    """Waits until a controller has processed all that was set off, and all of it has arrived.

    The state of an idle topic is written and the controller notified of it, as of a changed ISR. It
    sends an UpdateMetadata to every broker, behind all that was queued before. Then it deletes the
    notification, which sets off an event of its own: two questions of no consequence, which go
    through the same queue of events, are answered behind that. Without them a real race disturbs
    what follows. `ask` asks such a question, and waits for the answer.
    """

    def __init__(self, client: KazooClient, journal: Journal, ask: Callable[[], object]) -> None:
        self._client, self._journal, self._ask = client, journal, ask
        self.version = -1

    def come_to_rest(self, brokers: Iterable[int], changed: Iterable[str]) -> None:
        """Until these brokers have got everything. `changed` are topics whose ISR was written, of
        which the controller is notified at the same time.

        Raises TooQuietError where one of them never gets there.
        """
        self.version = touch_state(self._client, MARKER)
        topics = [{"topic": topic, "partition": 0} for topic in (*changed, MARKER)]
        notification = json.dumps({"version": 1, "partitions": topics}).encode()
        self._client.create(f"{_NOTIFICATIONS}/isr_change_", notification, sequence=True)
        for broker in brokers:
            self.reach(broker)
        wait_until(
            lambda: not self._client.get_children(_NOTIFICATIONS), "the end of a notification"
        )
        self.settle_events()

    def settle_events(self) -> None:
        """Until the controller has handled all events that it knew of."""
        self._ask()
        self._ask()

    def reach(self, broker: int) -> None:
        """Until a broker received the requests of the last barrier. Raises TooQuietError if not."""
        wanted = self.version

        def is_it(received: Received) -> bool:
            return received.broker == broker and marker_version(received) == wanted

        self._journal.wait_for(is_it, f"the requests of a barrier to broker {broker}")


NOBODY = 9999
"""An id that no broker has: to ask for its controlled shutdown changes nothing."""
BROKER_NOT_AVAILABLE = 8
_WITHOUT_EPOCH, _SINCE_EPOCH = 1, 2
"""Versions of ControlledShutdown."""
_ELECTIONS = "/admin/preferred_replica_election"
_BEFORE_ELECT_LEADERS = (2, 3)
"""The last release that an operator tells of elections by a znode alone (KIP-460)."""


class AskedController:
    """The controller at `port`, of a cluster that `client` looks into."""

    def __init__(self, patch: str, port: int, client: KazooClient, schemas: ReleaseSchemas) -> None:
        self._code = tuple(map(int, patch.split(".")))[:2]
        self._port, self._client, self._schemas = port, client, schemas

    def shut_down(
        self, broker: int, version: int, epoch: int | None
    ) -> tuple[int, tuple[str, ...]]:
        """A ControlledShutdown: its error, and topics whose partition the broker still leads."""
        body = {"BrokerId": broker}
        if version >= _SINCE_EPOCH and epoch is not None:
            body["BrokerEpoch"] = epoch
        answer = self._ask("ControlledShutdown", version, body)
        left = sorted(partition["TopicName"] for partition in answer["RemainingPartitions"])
        return answer["ErrorCode"], tuple(left)

    def is_active(self) -> bool:
        """Whether it has taken over."""
        return self.about_nobody() == BROKER_NOT_AVAILABLE

    def about_nobody(self) -> int:
        """The error of a ControlledShutdown that is of no consequence."""
        return self.shut_down(NOBODY, _WITHOUT_EPOCH, None)[0]

    def alter(self, request: AlterPartitionRequest) -> AlterPartitionResponse:
        """AlterPartition, once AlterIsr. Raises UnspokenError for an error that has no name."""
        call = call_of(request, self._schemas, self._topics())
        answer = answer_of(request, self._ask(*call))
        assert isinstance(answer, AlterPartitionResponse)
        return answer

    def elect(self, request: ElectLeadersRequest) -> None:
        """An operator's election, which is over when this ends."""
        if self._code <= _BEFORE_ELECT_LEADERS:
            topics = [
                {"topic": split(name)[0], "partition": 0} for name in request.partitions or ()
            ]
            self._client.create(
                _ELECTIONS, json.dumps({"version": 1, "partitions": topics}).encode()
            )
            wait_until(lambda: not self._client.exists(_ELECTIONS), "the end of an election")
        else:
            self._ask(*call_of(request, self._schemas, self._topics()))

    def _ask(self, api: str, version: int, body: dict[str, Any]) -> dict[str, Any]:
        connection = NodeConnection(self._port, self._schemas)
        try:
            return connection.ask(api, version, body)
        finally:
            connection.close()

    def _topics(self) -> TopicNames:
        found = {name: self._id(name) for name in self._client.get_children("/brokers/topics")}
        ids = {name: id for name, id in found.items() if id is not None}
        return TopicNames(ids, {id: name for name, id in ids.items()})

    def _id(self, topic: str) -> uuid.UUID | None:
        """The id that topics have since 2.8, as text without the padding."""
        said = json.loads(self._client.get(f"/brokers/topics/{topic}")[0]).get("topic_id")
        return None if said is None else uuid.UUID(bytes=urlsafe_b64decode(f"{said}=="))
