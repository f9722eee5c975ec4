"""The size of a control request's body, by what its fields take: no header, no flexible version.

What they take was read off the schemas in Kafka's own jars; a test holds it against them.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from ..wire.message_schemas import FieldSizes, body_size

FIELDS = Path(__file__).parent / "control_request_fields.json"
"""By API and version. `pytest --rewrite tests/judge/test_request_sizes.py` writes it."""
BEFORE_AND_AFTER = {
    "LeaderAndIsr": (1, 2),
    "UpdateMetadata": (4, 5),
    "StopReplica": (0, 1),
}
"""KIP-380: the last version that repeats a topic's name, and the first that does not."""
BROKERS, HOST, LISTENER, RACK = 3, 20, "PLAINTEXT", 5
"""Live brokers, the length of the name of their host, their only listener, and the length of the
name of their rack.
"""
LONGEST_NAME = 249
"""Of a topic."""


class ImpossibleRequestError(ValueError):
    """A request that there cannot be; the message says why."""


class RequestShape(NamedTuple):
    """What a request is about: so many partitions of so many topics, each with this many replicas,
    all in sync, and a topic's name of so many bytes.
    """

    partitions: int
    topics: int
    name_length: int
    replicas: int


def request_size(api: str, version: int, shape: RequestShape) -> int:
    """Bytes of the body. Raises ImpossibleRequestError for a shape that no request can have, and
    KeyError for a version that is none of `BEFORE_AND_AFTER`.
    """
    check_shape(shape)
    lengths = {
        "TopicName": shape.name_length,
        "Name": shape.name_length,
        "HostName": HOST,
        "Host": HOST,
        "Listener": len(LISTENER),
        "Rack": RACK,
    }
    members = shape.partitions * shape.replicas
    counts = {
        "UngroupedPartitionStates": shape.partitions,
        "UngroupedPartitions": shape.partitions,
        "PartitionStates": shape.partitions,
        "PartitionIndexes": shape.partitions,
        "TopicStates": shape.topics,
        "Topics": shape.topics,
        "Isr": members,
        "Replicas": members,
        "OfflineReplicas": 0,
        "LiveLeaders": BROKERS,
        "LiveBrokers": BROKERS,
        "Endpoints": BROKERS,
    }
    return body_size(control_fields()[api][str(version)], lengths, counts)


def check_shape(shape: RequestShape) -> None:
    """Raises ImpossibleRequestError for a shape that no request can have."""
    if shape.topics < 1 or shape.replicas < 1:
        fewest = "topics" if shape.topics < 1 else "replicas"
        raise ImpossibleRequestError(f"{fewest}={getattr(shape, fewest)}; there is at least one")
    if shape.partitions < shape.topics:
        raise ImpossibleRequestError(
            f"partitions={shape.partitions}, topics={shape.topics}; every topic has a partition"
        )
    if not 1 <= shape.name_length <= LONGEST_NAME:
        raise ImpossibleRequestError(
            f"name_length={shape.name_length}; a topic's name has from 1 to {LONGEST_NAME} bytes"
        )


@cache
def control_fields() -> dict[str, dict[str, FieldSizes]]:
    """What the fields of each request take, by API and version."""
    return msgspec.json.decode(FIELDS.read_bytes(), type=dict[str, dict[str, FieldSizes]])
