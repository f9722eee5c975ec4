"""A real broker beside a ZooKeeper: started, stopped, killed, started again, and always ended."""

from __future__ import annotations

import shutil
import socket
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from ..java_process.child_jvm import ChildJvm, DeadKafkaError, java_of_kafka, memory_folder
from ..kafka_jars.jar_cache import jars_of_zookeeper_era
from .broker_settings import LOG_TO_STDERR, broker_settings

SERVER_LAUNCHER = Path(__file__).parent
"""Where the compiled class is."""
PORTS_TRIED = 3


class KafkaServer:
    """``with KafkaServer("2.2.2", "127.0.0.1:2181/chroot") as kafka: kafka.port``: the stock
    kafka.Kafka, which may become the controller as any broker may.

    `patch` is a patch release; `more` are settings of Kafka's by name, such as
    ``{"inter.broker.protocol.version": "2.1"}``. Raises MissingKafkaError where none can be run,
    DeadKafkaError where it does not start.
    """

    def __init__(
        self,
        patch: str,
        zookeeper: str,
        broker: int = 0,
        more: Mapping[str, str | int] | None = None,
    ) -> None:
        self.patch, self.broker = patch, broker
        self._zookeeper, self._more = zookeeper, dict(more or {})
        # Without Java there is no use for 40 MB of jars.
        java_of_kafka()
        self.jars = jars_of_zookeeper_era(patch)
        self._folder = Path(tempfile.mkdtemp(prefix="kiplab-kafka-", dir=memory_folder()))
        self.data = self._folder / "data"
        self._child: ChildJvm | None = None
        self.port = 0

    def __enter__(self) -> KafkaServer:
        try:
            self._begin()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    # --- its lives ------------------------------------------------------------------------------

    def start(self) -> None:
        """Start it again after `shut_down` or `kill`: same port, same files, a new process.

        Raises DeadKafkaError where it does not start, or runs already.
        """
        if self._child is not None:
            raise DeadKafkaError(f"Kafka {self.patch} runs already")
        self._child = self._launched()

    def shut_down(self) -> None:
        """Stop it as a signal would; its files stay. Raises DeadKafkaError if it does not run."""
        self._end("stop")

    def kill(self) -> None:
        """Halt it where it stands; its files stay. Raises DeadKafkaError if it does not run."""
        self._end("kill")

    def stop(self) -> None:
        """End it, and forget what it has written. Stopping twice does nothing."""
        child, self._child = self._child, None
        if child is not None:
            child.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def log_text(self) -> str:
        """Warnings and errors of its present life."""
        return self._log.read_text()

    # --- plumbing -------------------------------------------------------------------------------

    def _begin(self) -> None:
        for left in reversed(range(PORTS_TRIED)):
            self._settle_on_a_port()
            try:
                self.start()
            except DeadKafkaError:
                # Somebody may have taken the port meanwhile.
                if not left or "BindException" not in self.log_text():
                    raise
            else:
                return

    def _settle_on_a_port(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        text = broker_settings(self.broker, self.port, self._zookeeper, self.data, self._more)
        (self._folder / "server.properties").write_text(text)
        (self._folder / "log4j.properties").write_text(LOG_TO_STDERR)

    def _launched(self) -> ChildJvm:
        log4j = f"-Dlog4j.configuration=file:{self._folder / 'log4j.properties'}"
        command = [log4j, "ServerLauncher", str(self._folder / "server.properties")]
        classes = (SERVER_LAUNCHER, f"{self.jars}/*")
        return ChildJvm(f"Kafka {self.patch}", classes, command, self._log)

    def _end(self, how: str) -> None:
        if self._child is None:
            raise DeadKafkaError(f"Kafka {self.patch} does not run")
        self._child.tell(how)
        child, self._child = self._child, None
        child.stop()

    @property
    def _log(self) -> Path:
        return self._folder / "kafka.log"
