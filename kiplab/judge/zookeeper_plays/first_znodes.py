"""What a play begins with, written into a real ZooKeeper before there is any controller.

So epochs and versions of partitions are those of the play, to the number; czxids are not.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ...engine.given_situation import PartitionSetup, Setup
from ...protocol.registrations import LeaderRecoveryState, topic_of

if TYPE_CHECKING:
    from kazoo.client import KazooClient

VERSIONS_MAX = 5_000
"""Each version of a znode is a write."""
_TOPICS, _CONFIGS = "/brokers/topics", "/config/topics"
CONTROLLER_EPOCH = "/controller_epoch"


def write_first_znodes(client: KazooClient, setup: Setup) -> None:
    """The controller epoch before the first, and every topic with the states of its partition."""
    client.create(CONTROLLER_EPOCH, b"%d" % (setup.controller_epoch - 1))
    client.ensure_path("/brokers/ids")
    for partition in setup.partitions:
        _topic(client, partition)
        state = state_path(topic_of(partition.name))
        client.create(state, _state(partition, setup.controller_epoch), makepath=True)
        for _ in range(partition.partition_epoch):
            client.set(state, _state(partition, setup.controller_epoch))


def state_path(topic: str) -> str:
    """Where the state of a topic's one partition is."""
    return f"{_TOPICS}/{topic}/partitions/0/state"


def state_text(
    leader: int,
    leader_epoch: int,
    isr: tuple[int, ...],
    controller_epoch: int,
    recovery: LeaderRecoveryState,
) -> bytes:
    """A partition's state as Kafka writes it."""
    said: dict[str, object] = {
        "controller_epoch": controller_epoch,
        "leader": leader,
        "version": 1,
        "leader_epoch": leader_epoch,
        "isr": isr,
    }
    if recovery is LeaderRecoveryState.RECOVERING:
        said["leader_recovery_state"] = int(recovery)
    return json.dumps(said).encode()


def _state(given: PartitionSetup, controller_epoch: int) -> bytes:
    said = given.leader, given.leader_epoch, given.isr
    return state_text(*said, controller_epoch, given.recovery)


def _topic(client: KazooClient, partition: PartitionSetup) -> None:
    topic = topic_of(partition.name)
    config = {"unclean.leader.election.enable": "true"} if partition.unclean_leader_election else {}
    client.create(
        f"{_CONFIGS}/{topic}", json.dumps({"version": 1, "config": config}).encode(), makepath=True
    )
    assigned = json.dumps({"version": 1, "partitions": {"0": partition.replicas}}).encode()
    client.create(f"{_TOPICS}/{topic}", assigned, makepath=True)
