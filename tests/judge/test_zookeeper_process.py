"""The ZooKeeper server out of PySpark's jars: alone, several of an ensemble, and always ended."""

from pathlib import Path

import pytest
from kazoo.client import KazooClient

from kiplab.judge.kafka_jars.jar_cache import spark_jars
from kiplab.judge.kafka_jars.judged_releases import MissingKafkaError
from kiplab.judge.zookeeper_server import zookeeper_process
from kiplab.judge.zookeeper_server.zookeeper_process import (
    ZooKeeperProcess,
    zookeeper_jars,
    zookeeper_settings,
)
from tests.judge.kafka_here import needs_java


@pytest.mark.java
@needs_java
def test_two_servers_of_one_ensemble_have_one_tree_and_leave_nothing_behind() -> None:
    with ZooKeeperProcess(servers=2) as ensemble:
        folder = ensemble._folder
        first, second = (KazooClient(address) for address in ensemble.addresses)
        first.start()
        second.start()
        first.create("/a", b"x")
        second.sync("/a")
        assert second.get("/a")[0] == b"x"
        for client in (first, second):
            client.stop()
            client.close()
    assert not folder.exists()


def test_without_pyspark_it_is_said_what_brings_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zookeeper_process, "spark_jars", lambda: None)
    with pytest.raises(MissingKafkaError, match=r"pip install 'kiplab\[real\]'"):
        zookeeper_jars()


def test_pysparks_jars_are_those_of_the_package_that_is_installed() -> None:
    folder = spark_jars()
    assert folder is not None
    assert list(folder.glob("zookeeper-*.jar"))


def test_every_server_of_an_ensemble_knows_the_others_and_one_alone_knows_none() -> None:
    ports = [[1, 2, 3], [4, 5, 6]]
    second = zookeeper_settings(2, ports, Path("/data"), tick_ms=200)
    assert "clientPort=4\n" in second
    assert "server.1=127.0.0.1:2:3\nserver.2=127.0.0.1:5:6\n" in second
    assert "server." not in zookeeper_settings(1, ports[:1], Path("/data"), tick_ms=200)
