"""Where searches begin: two of three replicas in sync, and the race of KAFKA-14139."""

from collections.abc import Callable

import pytest

from kiplab.engine.cluster import Cluster
from kiplab.engine.setup import cluster_of
from kiplab.plays.header import setup_of
from kiplab.plays.library import load
from kiplab.protocol.features import parse_features

Start = Callable[..., Cluster]


@pytest.fixture(scope="session")
def start() -> Start:
    """`start(off=..., on=..., kafka=..., play=...)`: the cluster that a play begins with."""

    def started(
        *,
        off: tuple[str, ...] = (),
        on: tuple[str, ...] = (),
        kafka: str = "3.5",
        play: str = "isr-two-of-three",
    ) -> Cluster:
        return cluster_of(setup_of(load(play), parse_features(kafka, off=off, on=on)))

    return started
