"""Requests of brokers and operators to a real controller, their writes to its ZooKeeper, and a
barrier behind all its work.

The first znodes are written before there is any controller: so epochs and versions of partitions
are those of the play, to the number; czxids are not.
"""

from __future__ import annotations

import json
import logging
import time
import uuid
from base64 import urlsafe_b64decode
from collections.abc import Callable, Iterable
from contextlib import closing
from typing import TYPE_CHECKING, Any

import msgspec

from ...engine.setup import PartitionSetup, Setup
from ...extras import needed_by
from ...protocol.messages import AlterPartitionRequest, AlterPartitionResponse, ElectLeadersRequest
from ...protocol.registrations import LeaderRecoveryState, topic_of
from ...protocol.zookeeper.znodes import PartitionStateZnode
from ..conversation.kafka_terms import TopicNames, answer_of, call_of, split
from ..wire.metadata_log import ReleaseSchemas
from ..wire.node_connection import NodeConnection
from .sequences import MARKER, Journal, StateZnode, marker_version, wait_until

if TYPE_CHECKING:
    from kazoo.client import KazooClient

_NOTIFICATIONS = "/isr_change_notification"


class Barrier:
    """A barrier: waits until a controller has processed its events and its requests have arrived.

    The state of an idle topic is written and the controller notified, as of a changed ISR. It sends
    an UpdateMetadata to every broker, behind all that was queued before, and deletes the
    notification, which sets off an event of its own: two questions of no consequence (`ask`) go
    through the same queue, and are answered behind that. Without them a race disturbs what follows.
    """

    def __init__(self, client: KazooClient, journal: Journal, ask: Callable[[], object]) -> None:
        self._client, self._journal, self._ask = client, journal, ask
        self.version = -1

    def come_to_rest(self, brokers: Iterable[int], changed: Iterable[str]) -> None:
        """Until these brokers have got everything; the controller is notified that the ISR of
        `changed` topics was written. Raises TooQuietError where one of them never gets there.
        """
        # The marker's state is written as it is.
        data, stat = self._client.get(state_path(MARKER))
        self.version = self._client.set(state_path(MARKER), data, stat.version).version
        notification = _partitions((*changed, MARKER))
        self._client.create(f"{_NOTIFICATIONS}/isr_change_", notification, sequence=True)
        for broker in brokers:
            self.reach(broker)
        wait_until(lambda: not self._client.get_children(_NOTIFICATIONS), "a notification's end")
        self.settle_events()

    def settle_events(self) -> None:
        """Until the controller has handled all events that it knew of."""
        self._ask()
        self._ask()

    def reach(self, broker: int) -> None:
        """Until a broker received the requests of the last barrier. Raises TooQuietError if not."""
        self._journal.wait_for(
            lambda one: one.broker == broker and marker_version(one) == self.version,
            f"the requests of a barrier to broker {broker}",
        )


def _partitions(topics: Iterable[str]) -> bytes:
    partitions = [{"topic": topic, "partition": 0} for topic in topics]
    return json.dumps({"version": 1, "partitions": partitions}).encode()


NOBODY = 9999
"""An id that no broker has: to ask for its controlled shutdown changes nothing."""
_BROKER_NOT_AVAILABLE = 8
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
        return self.about_nobody() == _BROKER_NOT_AVAILABLE

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
            named = request.partitions or ()
            self._client.create(_ELECTIONS, _partitions(split(name)[0] for name in named))
            wait_until(lambda: not self._client.exists(_ELECTIONS), "the end of an election")
        else:
            self._ask(*call_of(request, self._schemas, self._topics()))

    def _ask(self, api: str, version: int, body: dict[str, Any]) -> dict[str, Any]:
        with closing(NodeConnection(self._port, self._schemas)) as connection:
            return connection.ask(api, version, body)

    def _topics(self) -> TopicNames:
        """The ids that topics have since 2.8 are text without the padding."""
        ids: dict[str, uuid.UUID] = {}
        for name in self._client.get_children(_TOPICS):
            text = json.loads(self._client.get(f"{_TOPICS}/{name}")[0]).get("topic_id")
            if text is not None:
                ids[name] = uuid.UUID(bytes=urlsafe_b64decode(f"{text}=="))
        return TopicNames(ids, {id: name for name, id in ids.items()})


SESSION_TIMEOUT_S = 60.0
BROKERS = "/brokers/ids"
VERSIONS_MAX = 5_000
"""Each version of a znode is a write."""
_TOPICS, _CONFIGS = "/brokers/topics", "/config/topics"
CONTROLLER_EPOCH = "/controller_epoch"
_CONNECT_S = 20.0
_FEATURES_SINCE = (2, 7)
_QUIET = logging.getLogger("kiplab.judge.kazoo")
_QUIET.setLevel(logging.CRITICAL)


def session(address: str) -> KazooClient:
    """An open session. Raises MissingExtraError without kazoo, its own error without a server."""
    with needed_by("a fake broker in ZooKeeper"):
        from kazoo.client import KazooClient

    client = KazooClient(address, timeout=SESSION_TIMEOUT_S, logger=_QUIET)
    client.start(_CONNECT_S)
    return client


def end(client: KazooClient) -> None:
    """Close a session; its ephemeral znodes are deleted."""
    client.stop()
    client.close()


def znode_of(broker: int) -> str:
    """The path of a broker's registration."""
    return f"{BROKERS}/{broker}"


def registration(patch: str, port: int) -> bytes:
    """What a broker of this release says of itself: where it listens, and nothing else."""
    fields: dict[str, Any] = {
        "listener_security_protocol_map": {"PLAINTEXT": "PLAINTEXT"},
        "endpoints": [f"PLAINTEXT://127.0.0.1:{port}"],
        "jmx_port": -1,
        "host": "127.0.0.1",
        "timestamp": str(int(time.time() * 1000)),
        "port": port,
        "version": 4,
    }
    if tuple(map(int, patch.split("."))) >= _FEATURES_SINCE:
        fields |= {"version": 5, "features": {}}
    return json.dumps(fields).encode()


def add_registration(transaction: Any, broker: int, data: bytes) -> None:
    """As brokers do it from 2.2 on: create the znode, then set its data, which tells a Stat."""
    transaction.create(znode_of(broker), b"", ephemeral=True)
    transaction.set_data(znode_of(broker), data, version=0)


def commit(transaction: Any) -> None:
    """All of it or nothing. Raises ZooKeeper's own error for nothing."""
    for result in transaction.commit():
        if isinstance(result, Exception):
            raise result


def create_topic(client: KazooClient, name: str, replicas: tuple[int, ...]) -> None:
    """Create a topic, and wait until the controller has made its partition."""
    assigned = {"version": 1, "partitions": {"0": replicas}}
    transaction = client.transaction()
    if not client.exists(f"{_CONFIGS}/{name}"):
        transaction.create(f"{_CONFIGS}/{name}", b'{"version":1,"config":{}}')
    transaction.create(f"{_TOPICS}/{name}", json.dumps(assigned).encode())
    commit(transaction)
    wait_until(lambda: client.exists(state_path(name)), f"the partition of topic {name}")


def state_of(client: KazooClient, topic: str) -> StateZnode | None:
    """The state of its partition; None where there is none."""
    if not client.exists(state_path(topic)):
        return None
    data, stat = client.get(state_path(topic))
    fields = json.loads(data)
    return msgspec.convert({"topic": topic, "zk_version": stat.version, **fields}, StateZnode)


def write_first_znodes(client: KazooClient, setup: Setup) -> None:
    """The controller epoch before the first, and every topic with the states of its partition."""
    client.create(CONTROLLER_EPOCH, b"%d" % (setup.controller_epoch - 1))
    client.ensure_path(BROKERS)
    for partition in setup.partitions:
        topic = topic_of(partition.name)
        unclean = partition.unclean_leader_election
        config = {"unclean.leader.election.enable": "true"} if unclean else {}
        assigned = {"0": partition.replicas}
        for path, data in (
            (f"{_CONFIGS}/{topic}", {"version": 1, "config": config}),
            (f"{_TOPICS}/{topic}", {"version": 1, "partitions": assigned}),
        ):
            client.create(path, json.dumps(data).encode(), makepath=True)
        text = state_text(partition, setup.controller_epoch)
        client.create(state_path(topic), text, makepath=True)
        for _ in range(partition.partition_epoch):
            client.set(state_path(topic), text)


def state_path(topic: str) -> str:
    """Where the state of a topic's one partition is."""
    return f"{_TOPICS}/{topic}/partitions/0/state"


def state_text(state: PartitionStateZnode | PartitionSetup, controller_epoch: int) -> bytes:
    """A partition's state as Kafka writes it."""
    text: dict[str, object] = {
        "controller_epoch": controller_epoch,
        "leader": state.leader,
        "version": 1,
        "leader_epoch": state.leader_epoch,
        "isr": state.isr,
    }
    if state.recovery is LeaderRecoveryState.RECOVERING:
        text["leader_recovery_state"] = int(state.recovery)
    return json.dumps(text).encode()
