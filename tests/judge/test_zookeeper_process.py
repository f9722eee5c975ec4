"""The ZooKeeper server out of PySpark's jars: alone, several of an ensemble, and always ended."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from kazoo.client import KazooClient

from kiplab.judge.kafka_jars.jar_cache import spark_jars
from kiplab.judge.kafka_jars.judged_releases import MissingKafkaError
from kiplab.judge.zookeeper_server import zookeeper_process
from kiplab.judge.zookeeper_server.zookeeper_process import (
    ZOOKEEPER_LAUNCHER,
    ZooKeeperProcess,
    zookeeper_jars,
    zookeeper_settings,
)
from tests.judge.kafka_here import needs_java

STARTED_AND_LEFT = (
    "import time; from kiplab.judge.zookeeper_server.zookeeper_process import ZooKeeperProcess;"
    " server = ZooKeeperProcess(); server.__enter__(); print(server._folder, flush=True);"
    " time.sleep(600)"
)


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


@pytest.mark.long(
    quick="tests/judge/test_zookeeper_scripts.py::test_scripts_have_the_same_results_stats_and_watches_in_zookeeper_and_in_the_engine"
)
@pytest.mark.java
@needs_java
def test_a_server_ends_with_its_parent_and_takes_its_folder_along() -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", STARTED_AND_LEFT],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert parent.stdout is not None
    folder = parent.stdout.readline().strip()
    (java,) = psutil.Process(parent.pid).children()
    parent.kill()
    parent.communicate()
    java.wait(60)
    assert not Path(folder).exists()


@needs_java
def test_the_class_that_is_shipped_is_that_of_the_source(tmp_path: Path) -> None:
    javac = shutil.which("javac")
    if javac is None or "javac 17" not in subprocess.check_output([javac, "-version"], text=True):
        pytest.skip("no javac 17, which the class was compiled with")
    classes = ":".join(map(str, zookeeper_jars()))
    release = ["--release", "17", "-cp", classes, "-d", str(tmp_path)]
    subprocess.run([javac, *release, ZOOKEEPER_LAUNCHER / "ZooKeeperLauncher.java"], check=True)
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert made == {path.name: path.read_bytes() for path in ZOOKEEPER_LAUNCHER.glob("*.class")}


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
