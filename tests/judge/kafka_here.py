"""Why a live test may be skipped: no Java, or nothing to fetch Kafka with. Nothing else."""

from typing import NoReturn

import pytest

from kiplab.judge.kafka_jars.jar_cache import can_fetch
from kiplab.judge.kafka_jars.judged_releases import MissingKafkaError
from kiplab.machine.java import JavaNotFound, find_java


def skip_without_kafka(missing: MissingKafkaError) -> NoReturn:
    """Skip the test for what this machine lacks; whatever else is missing is our own mistake, and
    `missing` is raised again.
    """
    if not has_java() or can_fetch() is None:
        pytest.skip(str(missing))
    raise missing


def has_java() -> bool:
    """Whether there is a Java that runs Kafka."""
    try:
        find_java()
    except JavaNotFound:
        return False
    return True
