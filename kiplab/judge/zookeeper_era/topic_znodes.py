"""Topics as ZooKeeper has them: made and deleted as a tool would, changed as a leader would."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from .broker_registrations import commit
from .patience import wait_until
from .sequences import StateZnode
from .situations import JudgedTopic

if TYPE_CHECKING:
    from kazoo.client import KazooClient

_TOPICS = "/brokers/topics"
_CONFIGS = "/config/topics"
_DELETIONS = "/admin/delete_topics"


def create_topic(client: KazooClient, topic: JudgedTopic) -> None:
    """Create a topic, and wait until the controller has made its partition."""
    replicas = {"version": 1, "partitions": {"0": topic.replicas}}
    transaction = client.transaction()
    if not client.exists(f"{_CONFIGS}/{topic.name}"):
        transaction.create(f"{_CONFIGS}/{topic.name}", b'{"version":1,"config":{}}')
    transaction.create(f"{_TOPICS}/{topic.name}", json.dumps(replicas).encode())
    commit(transaction)
    wait_until(lambda: client.exists(_state(topic.name)), f"the partition of topic {topic.name}")


def delete_topic(client: KazooClient, topic: str) -> None:
    """Ask for its deletion, and wait until the controller has done it."""
    client.create(f"{_DELETIONS}/{topic}")
    wait_until(lambda: not client.exists(f"{_TOPICS}/{topic}"), f"the end of topic {topic}")
    wait_until(lambda: not client.exists(f"{_DELETIONS}/{topic}"), f"the end of topic {topic}")


def state_of(client: KazooClient, topic: str) -> StateZnode | None:
    """The state of its partition; None where there is none."""
    if not client.exists(_state(topic)):
        return None
    data, stat = client.get(_state(topic))
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


def write_isr(client: KazooClient, topic: str, isr: tuple[int, ...]) -> None:
    """Write another ISR, as a leader does before AlterIsr: all else stays."""
    data, stat = client.get(_state(topic))
    client.set(_state(topic), json.dumps(json.loads(data) | {"isr": isr}).encode(), stat.version)


def replicas_of(client: KazooClient, topic: str) -> tuple[int, ...]:
    """Where the replicas of its partition are."""
    assigned = json.loads(client.get(f"{_TOPICS}/{topic}")[0])
    return tuple(assigned["partitions"]["0"])


def touch_state(client: KazooClient, topic: str) -> int:
    """Write the state as it is; the version that it has now."""
    data, stat = client.get(_state(topic))
    version: int = client.set(_state(topic), data, stat.version).version
    return version


def _state(topic: str) -> str:
    return f"{_TOPICS}/{topic}/partitions/0/state"
