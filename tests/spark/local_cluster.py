"""A Spark cluster on this machine for tests: a master and workers, each a process of its own."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from kiplab.machine.java import find_java
from kiplab.spark.running_session import SparkUnavailable

_HOST = "127.0.0.1"
_START_S = 240
_STOP_S = 20


class LocalCluster(NamedTuple):
    """``master`` is its ``spark://`` address; the process ids are there for killing one."""

    master: str
    master_pid: int
    worker_pids: tuple[int, ...]


@contextlib.contextmanager
def local_cluster(workers: int = 2) -> Iterator[LocalCluster]:
    """A standalone cluster of one-core workers on 127.0.0.1, stopped at the end of the body.

    Needs no Spark but pip's. Stops exactly the processes it started; stop the session first.
    Raises SparkUnavailable if it is not complete within four minutes.
    """
    port, web_port = _free_ports(2)
    master = f"spark://{_HOST}:{port}"
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as daemons:
        common = ["--host", _HOST]
        head = daemons.enter_context(
            _daemon(folder, "master.Master", *common, "--port", port, "--webui-port", web_port)
        )
        limits = ["--cores", "1", "--memory", "1g", "--webui-port", "0"]
        hands = [
            daemons.enter_context(_daemon(folder, "worker.Worker", *common, *limits, master))
            for _ in range(workers)
        ]
        _await_workers(f"http://{_HOST}:{web_port}/json/", workers)
        yield LocalCluster(master, head.pid, tuple(hand.pid for hand in hands))


def _free_ports(count: int) -> list[str]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server((_HOST, 0))) for _ in range(count)]
        return [str(listening.getsockname()[1]) for listening in sockets]


@contextlib.contextmanager
def _daemon(folder: str, kind: str, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """spark-class becomes Java by exec, so the process started is the daemon itself."""
    import pyspark

    home = Path(pyspark.__file__).parent
    environment = os.environ | {
        "JAVA_HOME": str(find_java().home),
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": _HOST,
        "SPARK_WORKER_DIR": folder,
        "SPARK_DAEMON_MEMORY": "512m",
        # Its REST service would listen on a fixed port, which another test may hold.
        "SPARK_MASTER_OPTS": "-Dspark.master.rest.enabled=false",
        "PYSPARK_PYTHON": sys.executable,
    }
    command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{kind}", *arguments]
    # A session of its own: Ctrl-C in the test must reach the test, not the daemons.
    with (
        open(Path(folder) / "daemons.log", "ab") as log,
        subprocess.Popen(
            command, env=environment, stdout=log, stderr=log, start_new_session=True
        ) as daemon,
    ):
        try:
            yield daemon
        finally:
            _stop(daemon)


def _stop(daemon: subprocess.Popen[bytes]) -> None:
    daemon.terminate()
    try:
        daemon.wait(_STOP_S)
    except subprocess.TimeoutExpired:
        daemon.kill()


def _await_workers(status_page: str, workers: int) -> None:
    deadline = time.monotonic() + _START_S
    while _alive_workers(status_page) < workers:
        if time.monotonic() > deadline:
            raise SparkUnavailable(
                f"A local Spark cluster of {workers} workers did not start in {_START_S} seconds.",
                "Give it fewer workers, or free some memory.",
            )
        time.sleep(0.2)


def _alive_workers(status_page: str) -> int:
    directly = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with directly.open(status_page, timeout=5) as page:
            return int(json.load(page)["aliveworkers"])
    except (OSError, ValueError):
        return 0
