"""A log of many partitions whose brokers go and come, by equal seeds equal, for sizes and speed."""

import random
from collections.abc import Iterator
from typing import Any

from kiplab.incident.log_items import LogRecord
from tests.incident.written_logs import BEGIN, Batch

BROKERS, PARTITIONS_OF_A_TOPIC, MOST_AT_ONCE = 6, 50, 40


def generated_batches(
    partitions: int, records: int, *, seed: int = 1, no_ops: float = 0.5
) -> Iterator[Batch]:
    """Batches of about `records` records: changes, one or many at once, and a share of no-ops."""
    log = _Log(random.Random(seed))
    yield log.batch([("LEADER_CHANGE", 0, _leader_change())])
    yield from (log.batch([("REGISTER_BROKER_RECORD", 1, _broker(b))]) for b in range(BROKERS))
    yield from log.created(partitions)
    most = min(MOST_AT_ONCE, records // 20)
    while log.offset < records:
        changes = log.changes(log.dice.choice((1, 1, most)))
        yield log.batch(changes)
        for _ in range(round(len(changes) * no_ops / (1 - no_ops))):
            yield log.batch([("NO_OP_RECORD", 0, {})])


class _Log:
    def __init__(self, dice: random.Random) -> None:
        self.dice, self.offset, self.time = dice, 0, BEGIN
        self.replicas: list[list[int]] = []

    def batch(self, records: list[tuple[str, int, dict[str, Any]]]) -> Batch:
        self.time += 500
        made = [
            LogRecord(self.offset + at, self.time, 1, kind, version, fields)
            for at, (kind, version, fields) in enumerate(records)
        ]
        self.offset += len(made)
        return Batch(made)

    def created(self, partitions: int) -> Iterator[Batch]:
        for first in range(0, partitions, PARTITIONS_OF_A_TOPIC):
            topic = first // PARTITIONS_OF_A_TOPIC
            name = {"name": f"topic-{topic}", "topicId": _topic_id(topic)}
            numbers = range(min(PARTITIONS_OF_A_TOPIC, partitions - first))
            yield self.batch([("TOPIC_RECORD", 0, name)])
            yield self.batch([("PARTITION_RECORD", 0, self.partition(topic, n)) for n in numbers])

    def partition(self, topic: int, number: int) -> dict[str, Any]:
        replicas = self.dice.sample(range(BROKERS), 3)
        self.replicas.append(replicas)
        return {
            "partitionId": number,
            "topicId": _topic_id(topic),
            "replicas": replicas,
            "isr": replicas,
            "removingReplicas": [],
            "addingReplicas": [],
            "leader": replicas[0],
            "leaderEpoch": 0,
            "partitionEpoch": 0,
        }

    def changes(self, count: int) -> list[tuple[str, int, dict[str, Any]]]:
        return [("PARTITION_CHANGE_RECORD", 0, self.change()) for _ in range(count)]

    def change(self) -> dict[str, Any]:
        at = self.dice.randrange(len(self.replicas))
        isr = self.replicas[at][: self.dice.randint(1, 3)]
        topic, number = divmod(at, PARTITIONS_OF_A_TOPIC)
        fields = {"partitionId": number, "topicId": _topic_id(topic), "isr": isr}
        return fields | ({"leader": isr[0]} if self.dice.random() < 0.5 else {})


def _topic_id(topic: int) -> str:
    return f"{topic:021d}A"


def _leader_change() -> dict[str, Any]:
    voters = [{"voterId": 3000}]
    return {"version": 0, "leaderId": 3000, "voters": voters, "grantingVoters": voters}


def _broker(broker: int) -> dict[str, Any]:
    port = {"name": "PLAINTEXT", "host": f"host{broker}", "port": 9092, "securityProtocol": 0}
    level = {"name": "metadata.version", "minSupportedVersion": 1, "maxSupportedVersion": 11}
    return {
        "brokerId": broker,
        "incarnationId": f"{broker:021d}A",
        "brokerEpoch": broker + 1,
        "endPoints": [port],
        "features": [level],
        "rack": None,
        "fenced": False,
        "inControlledShutdown": False,
    }
