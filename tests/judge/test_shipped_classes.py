"""Java classes that are shipped are those of their sources, and a process of ours ends with us."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from kiplab.judge.controller.controller_process import LAUNCHER
from kiplab.judge.kafka_jars import jar_cache
from kiplab.judge.partition.partition_process import PARTITION_CLASSES
from kiplab.judge.zookeeper_era.kafka_server import SERVER_LAUNCHER
from kiplab.judge.zookeeper_server import zookeeper_process
from tests.judge import kafka_here
from tests.judge.kafka_here import live, long, needs_java, real_kafka
from tests.judge.real_cluster.cluster_run import DRIVER, jars_with_test_kit


def made_of(sources: Path, classes: str, into: Path) -> None:
    """Compile, and compare."""
    javac = shutil.which("javac")
    if javac is None or "javac 17" not in subprocess.check_output([javac, "-version"], text=True):
        pytest.skip("no javac 17, which the classes were compiled with")
    release = ["--release", "17", "-cp", classes, "-d", str(into)]
    subprocess.run([javac, *release, *sources.glob("*.java")], check=True)
    made = {path.name: path.read_bytes() for path in into.iterdir()}
    assert made == {path.name: path.read_bytes() for path in sources.glob("*.class")}


def test_a_class_that_needs_nothing_is_that_of_its_source(tmp_path: Path) -> None:
    made_of(SERVER_LAUNCHER, "", tmp_path)


@needs_java
def test_the_class_that_starts_zookeeper_is_that_of_its_source(tmp_path: Path) -> None:
    classes = ":".join(map(str, zookeeper_process.zookeeper_jars()))
    made_of(zookeeper_process.ZOOKEEPER_LAUNCHER, classes, tmp_path)


again = long(test_a_class_that_needs_nothing_is_that_of_its_source)


@pytest.mark.kafka
@pytest.mark.parametrize(
    "sources",
    [DRIVER, *(pytest.param(of, marks=again) for of in (LAUNCHER, PARTITION_CLASSES))],
    ids=lambda sources: sources.name,
)
def test_a_class_is_that_of_its_source(sources: Path, tmp_path: Path) -> None:
    with real_kafka():
        jars = jar_cache.jars_of("3.5.2")
    made_of(sources, f"{jars}/*", tmp_path)


CONTROLLER = """
from kiplab.judge.controller.controller_process import ControllerProcess
with ControllerProcess("3.5") as kafka:
    print(kafka.data.parent, flush=True)
    input()
"""
BROKER = """
from kiplab.judge.zookeeper_era.kafka_server import KafkaServer
from kiplab.judge.zookeeper_server.zookeeper_process import ZooKeeperProcess
with ZooKeeperProcess() as zookeeper:
    with KafkaServer("2.2.2", f"{zookeeper.addresses[0]}/two") as kafka:
        print(kafka.data.parent, flush=True)
        input()
"""
ZOOKEEPER = """
from kiplab.judge.zookeeper_server.zookeeper_process import ZooKeeperProcess
with ZooKeeperProcess() as server:
    print(server._folder, flush=True)
    input()
"""
CLUSTER = """
from tests.judge.real_cluster.cluster_run import ClusterRun
with ClusterRun("3.5.2", 1, []) as run:
    for seen in run.moments():
        if seen.moment == "attempt":
            print(run.folder, flush=True)
            input()
"""


@live(test_a_class_that_needs_nothing_is_that_of_its_source)
@needs_java
@pytest.mark.parametrize(
    "parent",
    [CONTROLLER, BROKER, ZOOKEEPER, CLUSTER],
    ids=["controller", "broker", "zookeeper", "cluster"],
)
def test_a_process_ends_with_its_parent_and_leaves_nothing_behind(parent: str) -> None:
    with real_kafka():
        # What a child could not fetch it could not say.
        jars_with_test_kit("3.5.2")
        jar_cache.jars_of("2.2.2", with_zookeeper=True)
    process = subprocess.Popen(
        [sys.executable, "-c", parent],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert process.stdout is not None
    folder = Path(process.stdout.readline().strip())
    children = psutil.Process(process.pid).children()
    assert children
    assert folder.exists()
    process.kill()
    process.communicate()
    for java in children:
        java.wait(60)
    assert not folder.exists()


@pytest.mark.parametrize(
    ("java", "fetcher", "outcome"),
    [
        (False, "Maven", pytest.skip.Exception),
        (True, None, pytest.skip.Exception),
        (False, None, pytest.skip.Exception),
        (True, "Maven", jar_cache.MissingKafkaError),
    ],
)
def test_without_java_or_a_fetcher_it_is_skipped_and_else_it_fails(
    java: bool, fetcher: str | None, outcome: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kafka_here, "has_java", lambda: java)
    monkeypatch.setattr(jar_cache, "can_fetch", lambda: fetcher)
    with pytest.raises(outcome, match="No jars"), kafka_here.real_kafka():
        raise jar_cache.MissingKafkaError("No jars of Kafka 3.5.2 came.", "Try again.")
