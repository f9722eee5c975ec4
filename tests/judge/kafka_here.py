"""Why a live test may be skipped: no Java, or nothing to fetch Kafka with. Nothing else."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import pytest

from kiplab.judge.kafka_jars import jar_cache
from kiplab.machine.java import JavaNotFound, find_java

TestT = TypeVar("TestT", bound=Callable[..., object])


def long(quick: Callable[..., object]) -> pytest.MarkDecorator:
    """Marks a test that repeats the test `quick` on more cases."""
    return pytest.mark.long(quick=f"{quick.__module__.replace('.', '/')}.py::{quick.__name__}")


def live(quick: Callable[..., object]) -> Callable[[TestT], TestT]:
    """Marks a test that asks real Kafka; `quick` is the one that asks what was recorded."""
    return lambda test: pytest.mark.kafka(long(quick)(test))


@contextmanager
def real_kafka() -> Iterator[None]:
    """Skips the test for what this machine lacks; whatever else is missing is our own mistake, and
    is raised.
    """
    try:
        yield
    except jar_cache.MissingKafkaError as missing:
        if has_java() and jar_cache.can_fetch() is not None:
            raise
        pytest.skip(str(missing))


def has_java() -> bool:
    """Whether there is a Java that runs Kafka."""
    try:
        find_java()
    except JavaNotFound:
        return False
    return True


needs_java = pytest.mark.skipif(not has_java(), reason="a real ZooKeeper needs Java")
