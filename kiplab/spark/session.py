"""One recipe for a Spark session: on this machine, on a cluster, or through Spark Connect."""

import contextlib
import functools
import hashlib
import os
import re
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ..extras import in_a_page
from ..machine.cache import cache_folder, keep, package_files, zipped
from ..machine.java import find_java
from . import running_session
from .running_session import NoSuchMasterError, SparkUnavailable, complaint, is_connect

if TYPE_CHECKING:
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

MASTERS = "local[2], spark://host:port or sc://host:port"
_MASTER = re.compile(
    r"local(\[(\*|[1-9]\d*)( *, *[1-9]\d*)?\])?|local-cluster\[[\d, ]+\]|yarn|(spark|sc|k8s)://.+"
)
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_WAIT_FOR_EXECUTOR_S = 120
_WAIT_FOR_SERVER_S = 15
_CONNECT_S = 5
_ASKED_AGAIN = 6
"""Times, each after four times as long as the one before."""


def session(master: str | None = None, *, app: str, cores: int = 2) -> "SparkSession":
    """A Spark session, the live one of this process if there is one.

    ``master`` is a Spark master (``local[4]``, ``spark://host:port``, ``yarn`` ...) or the address
    of a Spark Connect server (``sc://host:port``). None means the live session, else the
    environment's SPARK_REMOTE, else ``cores`` cores of this machine.

    The session stays open for the next caller, because starting one takes seconds;
    ``with session(...) as spark:`` stops it at the end. Executors elsewhere get this package
    as a zip file. Raises SparkUnavailable: JavaNotFound where Java is what lacks,
    NoSuchMasterError for a ``master`` that is none.
    """
    _require_pyspark()
    require_master(master)
    remote = os.environ.get("SPARK_REMOTE") if master is None else None
    wanted = master or remote or f"local[{cores}]"
    spark = running_session.live_session(master)
    if spark is None:
        connect = wanted == remote or wanted.startswith("sc://")
        spark = _connected(wanted, app) if connect else _classic(wanted, app)
    if is_connect(spark) or not str(spark.sparkContext.master).startswith("local"):
        _send_package(spark)
    return spark


def require_master(master: str | None) -> None:
    """Raises NoSuchMasterError for an unknown master."""
    if master is not None and not _MASTER.fullmatch(master):
        raise NoSuchMasterError(f"{master!r} is not a Spark master.", f"Give one like {MASTERS}.")


def _send_package(spark: "SparkSession") -> None:
    package = str(package_zip())
    try:
        spark.addArtifacts(package, pyfile=True)
    except Exception as error:
        raise SparkUnavailable(
            f"The Spark session of this process takes nothing any more: {complaint(error)}.",
            "End it with `spark.stop()`, or restart this Python process (in a notebook, the"
            " kernel).",
        ) from None


@functools.cache
def package_zip() -> Path:
    """A zip of this very package, named by its content, in the user's cache folder: for executors
    that do not have it installed.

    Raises SparkUnavailable if the folder cannot be written.
    """
    content = zipped(package_files())
    name = f"kiplab-{hashlib.sha256(content).hexdigest()[:12]}.zip"
    try:
        return keep(cache_folder() / name, content)
    except OSError as error:
        raise SparkUnavailable(
            f"The kiplab package could not be zipped for the executors in {cache_folder()}: "
            f"{error.strerror}.",
            "Set XDG_CACHE_HOME to a folder that can be written.",
        ) from None


def _require_pyspark() -> None:
    try:
        import pyspark.sql  # noqa: F401
    except ImportError as error:
        if in_a_page():
            raise SparkUnavailable(
                "Spark needs a machine, and this notebook runs in a web page.",
                "`kiplab lab` on a machine has it.",
            ) from None
        raise SparkUnavailable(
            f"Spark's Python package cannot be imported ({error}).",
            "Run `pip install 'kiplab[fleet]'`.",
        ) from None


def _connected(address: str, app: str) -> "SparkSession":
    from pyspark.sql import SparkSession

    if address.startswith("sc://"):
        require_reachable(address, default_port=15002)
        _require_server(address)
    else:
        # A server of our own: it is started here, and takes its Python and Java from here.
        _set_environment(address)
    try:
        from pyspark.sql.connect.client.retries import DefaultPolicy

        spark: Any = SparkSession.builder.remote(address).appName(app).getOrCreate()
        # A server that has gone away is asked again for a minute; by default it is ten, in silence.
        spark.client.set_retry_policies([DefaultPolicy(max_retries=_ASKED_AGAIN)])
        live: SparkSession = spark
        return live
    except ImportError as error:
        raise SparkUnavailable(
            f"Spark Connect needs more Python packages ({complaint(error)}).",
            "Run `pip install 'pyspark[connect]'`.",
        ) from None
    except Exception as error:
        raise SparkUnavailable(
            f"The Spark Connect server {address} gave no session: {complaint(error)}.",
            "Check that it runs a Spark of the same version.",
        ) from None


def _require_server(address: str) -> None:
    """PySpark itself would try any server there for ten minutes, in silence."""
    try:
        import grpc
        from pyspark.sql.connect.client import DefaultChannelBuilder
    except ImportError:
        return  # PySpark says by itself what is missing.
    with DefaultChannelBuilder(address).toChannel() as channel:
        try:
            grpc.channel_ready_future(channel).result(_WAIT_FOR_SERVER_S)
        except grpc.FutureTimeoutError:
            raise SparkUnavailable(
                f"What answers at {address} is no Spark Connect server.",
                "Correct the address, or start one there.",
            ) from None


def _classic(master: str, app: str) -> "SparkSession":
    import pyspark
    from pyspark.sql import SparkSession

    if master.startswith("spark://"):
        require_reachable(master, default_port=7077)
    conf = pyspark.SparkConf(loadDefaults=False).setMaster(master).setAppName(app)
    conf.setAll(list(_settings(master).items()))
    _set_environment(master)
    with tempfile.TemporaryFile() as log, running_session.without_spark_remote():
        try:
            context = _context(conf, log)
            spark = SparkSession.builder.getOrCreate()
        except Exception as error:
            log.seek(0)
            said = log.read().decode(errors="replace")
            reason = running_session.complaint_in_log(said) or complaint(error)
            mend = "Check that a master of the same version runs there, and its log."
            mend = "Check that Java has memory left." if master.startswith("local") else mend
            problem = f"Spark {pyspark.__version__} did not start on {master}: {reason}."
            raise SparkUnavailable(problem, mend) from None
    context.setLogLevel("ERROR")
    if master.startswith("spark://"):
        _await_executor(spark, master)
    return spark


def _on_this_machine(master: str) -> bool:
    return master.startswith("local") or urlsplit(master).hostname in _LOOPBACK


def _settings(master: str) -> dict[str, str]:
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
    }
    if _on_this_machine(master):
        settings |= {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    if master.startswith("local"):
        # Python workers then import what this process can import, wherever it was started.
        settings["spark.executorEnv.PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    return settings


def _set_environment(master: str) -> None:
    """What Spark reads from the environment and from nowhere else.

    Without PYSPARK_PYTHON the workers would start whichever python3 comes first on PATH.
    """
    os.environ["JAVA_HOME"] = str(find_java().home)
    if _on_this_machine(master):
        os.environ["PYSPARK_PYTHON"] = sys.executable
        os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    else:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)


def _context(conf: "SparkConf", log: IO[bytes]) -> "SparkContext":
    """Starts Java with its chatter going to ``log`` instead of the reader's notebook.

    A process has one Java for all its Spark contexts: a later context finds it running.
    """
    from pyspark import SparkContext
    from pyspark.java_gateway import launch_gateway

    gateway = SparkContext._gateway
    if gateway is None:
        launch: Callable[..., Any] = launch_gateway
        # Left alone before it has said where it is, Java would run on by itself, for ever.
        with interrupted_afterwards():
            gateway = launch(conf, popen_kwargs={"stdout": log, "stderr": log})
    return SparkContext(conf=conf, gateway=gateway)


def _await_executor(spark: "SparkSession", master: str) -> None:
    """Wait for an executor: without a free worker the first job would silently wait for ever."""
    executors = spark.sparkContext._jsc.sc().statusTracker()
    deadline = time.monotonic() + _WAIT_FOR_EXECUTOR_S
    # The list includes the driver.
    while len(executors.getExecutorInfos()) < 2:
        if time.monotonic() > deadline:
            spark.stop()
            raise SparkUnavailable(
                f"{master} gave this program no executor within {_WAIT_FOR_EXECUTOR_S} seconds.",
                "Start a worker, or end the program that holds all of them.",
            )
        time.sleep(0.2)


def require_reachable(master: str, *, default_port: int) -> None:
    """Returns if one of the addresses in ``master`` accepts a connection.

    ``master`` is like ``spark://one:7077,two:7077`` or ``sc://host:15002/;token=x``.
    Raises SparkUnavailable naming it otherwise: Spark itself would retry for minutes.
    """
    addresses = re.sub(r"^\w+://", "", master).split("/")[0].split(",")
    reasons = [_refusal(address, default_port) for address in addresses]
    if all(reasons):
        raise SparkUnavailable(
            f"No Spark answers at {master} ({reasons[0]}).",
            "Start it, correct the address, or leave the master out to use this machine.",
        )


def _refusal(address: str, default_port: int) -> str | None:
    host, _, port = address.rpartition(":") if ":" in address else (address, "", "")
    try:
        number = int(port or default_port)
        with socket.create_connection((host.strip("[]"), number), timeout=_CONNECT_S):
            return None
    except ValueError:
        return f"{port!r} is not a port number"
    except OSError as error:
        return error.strerror or str(error)


@contextlib.contextmanager
def interrupted_afterwards() -> Iterator[None]:
    """A Ctrl-C in the body takes effect at its end: a half-started session cannot be ended."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _frame: pressed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        signal.raise_signal(signal.SIGINT)
