"""What a judge writes into a real ZooKeeper: sessions and registrations of fake brokers, topics and
their states, and what a play begins with.

First znodes are written before there is any controller: so epochs and versions of partitions are
those of the play, to the number; czxids are not.
"""

from __future__ import annotations

import json
import logging
import time
from typing import TYPE_CHECKING, Any

from ...engine.given_situation import PartitionSetup, Setup
from ...extras import needed_by
from ...protocol.registrations import LeaderRecoveryState, topic_of
from ...protocol.zookeeper.znodes import PartitionStateZnode
from .control_answers import wait_until
from .sequences import StateZnode

if TYPE_CHECKING:
    from kazoo.client import KazooClient

SESSION_TIMEOUT_S, LAPSE_TIMEOUT_S = 60.0, 4.0
BROKERS = "/brokers/ids"
VERSIONS_MAX = 5_000
"""Each version of a znode is a write."""
_TOPICS, _CONFIGS = "/brokers/topics", "/config/topics"
CONTROLLER_EPOCH = "/controller_epoch"
_CONNECT_S = 20.0
_FEATURES_SINCE = (2, 7)
_QUIET = logging.getLogger("kiplab.judge.kazoo")
_QUIET.setLevel(logging.CRITICAL)


class TransactionRefusedError(Exception):
    """ZooKeeper did none of what it was asked to do at once; the message has its reasons."""


def session(port: int, chroot: str, timeout_s: float = SESSION_TIMEOUT_S) -> KazooClient:
    """An open session. Raises MissingExtraError without kazoo, its own error without a server."""
    with needed_by("a fake broker in ZooKeeper"):
        from kazoo.client import KazooClient

    client = KazooClient(f"127.0.0.1:{port}{chroot}", timeout=timeout_s, logger=_QUIET)
    client.start(_CONNECT_S)
    return client


def end(client: KazooClient) -> None:
    """Close a session, whatever it owns is gone."""
    client.stop()
    client.close()


def znode_of(broker: int) -> str:
    """The path of a broker's registration."""
    return f"{BROKERS}/{broker}"


def registration(patch: str, port: int) -> bytes:
    """What a broker of this release says of itself: where it listens, and nothing else."""
    code = tuple(map(int, patch.split(".")))[:2]
    said: dict[str, Any] = {
        "listener_security_protocol_map": {"PLAINTEXT": "PLAINTEXT"},
        "endpoints": [f"PLAINTEXT://127.0.0.1:{port}"],
        "jmx_port": -1,
        "host": "127.0.0.1",
        "timestamp": str(int(time.time() * 1000)),
        "port": port,
        "version": 5 if code >= _FEATURES_SINCE else 4,
    }
    return json.dumps(said | ({"features": {}} if code >= _FEATURES_SINCE else {})).encode()


def add_registration(transaction: Any, broker: int, data: bytes) -> None:
    """As brokers do it from 2.2 on: create the znode, then set its data, which tells a Stat."""
    transaction.create(znode_of(broker), b"", ephemeral=True)
    transaction.set_data(znode_of(broker), data, version=0)


def commit(transaction: Any) -> None:
    """All of it or nothing. Raises TransactionRefusedError for nothing."""
    results = transaction.commit()
    if any(isinstance(result, Exception) for result in results):
        raise TransactionRefusedError(f"ZooKeeper refused a transaction: {results}")


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
    said = json.loads(data)
    return StateZnode(
        topic=topic,
        leader=said["leader"],
        isr=tuple(said["isr"]),
        leader_epoch=said["leader_epoch"],
        controller_epoch=said["controller_epoch"],
        zk_version=stat.version,
        leader_recovery_state=said.get("leader_recovery_state", 0),
    )


def touch_state(client: KazooClient, topic: str) -> int:
    """Write the state as it is; the version that it has now."""
    data, stat = client.get(state_path(topic))
    version: int = client.set(state_path(topic), data, stat.version).version
    return version


def write_first_znodes(client: KazooClient, setup: Setup) -> None:
    """The controller epoch before the first, and every topic with the states of its partition."""
    client.create(CONTROLLER_EPOCH, b"%d" % (setup.controller_epoch - 1))
    client.ensure_path(BROKERS)
    for partition in setup.partitions:
        topic = topic_of(partition.name)
        unclean = partition.unclean_leader_election
        config = {"unclean.leader.election.enable": "true"} if unclean else {}
        _create(client, f"{_CONFIGS}/{topic}", {"version": 1, "config": config})
        assigned = {"version": 1, "partitions": {"0": partition.replicas}}
        _create(client, f"{_TOPICS}/{topic}", assigned)
        text = state_text(partition, setup.controller_epoch)
        client.create(state_path(topic), text, makepath=True)
        for _ in range(partition.partition_epoch):
            client.set(state_path(topic), text)


def _create(client: KazooClient, path: str, data: dict[str, object]) -> None:
    client.create(path, json.dumps(data).encode(), makepath=True)


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
