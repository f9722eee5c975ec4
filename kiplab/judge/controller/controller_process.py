"""A controller's process: its storage formatted, started, its clock moved, and always ended."""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO

from ...machine.java import JavaNotFound, find_java
from ...protocol.releases import RELEASES
from ..kafka_jars.jar_cache import jars_of
from ..kafka_jars.judged_releases import patch_release
from ..kafka_jars.missing_kafka import MissingKafkaError
from .server_settings import CLUSTER_ID, server_settings

LAUNCHER = Path(__file__).parent
"""Where the compiled class is."""
SMALL_JVM = (
    "-Xmx256m",
    "-Xss512k",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Xshare:auto",
)
IN_MEMORY = Path("/dev/shm")
FORMAT_S, STOP_S = 120, 20
PORTS_TRIED = 3
WITHOUT_ELR = "eligible.leader.replicas.version=0"
"""4.1 and later begin with eligible leader replicas (KIP-966), which the engine does not model."""
TOLD_LINES = 8
"""Of what a process that died has said last."""


class DeadKafkaError(Exception):
    """A real Kafka did not start, or ended by itself; the message has its last words."""


class ControllerProcess:
    """``with ControllerProcess("3.4") as kafka: kafka.port``: a fresh cluster of one controller.

    `release` is a release of the engine or a patch release; `metadata_version` the one to begin
    with, else the latest. Raises UnjudgedReleaseError for another release, MissingKafkaError where
    none can be run, DeadKafkaError where it does not start.
    """

    def __init__(self, release: str, metadata_version: str | None = None) -> None:
        self.patch = patch_release(release)
        self.release = release if release in RELEASES else release.rpartition(".")[0]
        self.metadata_version = metadata_version or RELEASES[self.release].latest
        # Without Java there is no use for 50 MB of jars.
        self._java = _java()
        self.jars = jars_of(self.patch)
        self._folder = Path(tempfile.mkdtemp(prefix="kiplab-kafka-", dir=_memory()))
        self.data = self._folder / "data"
        self._process: subprocess.Popen[str] | None = None
        self.port = 0

    def __enter__(self) -> ControllerProcess:
        try:
            self._format()
            self._start()
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

    # --- its clock ------------------------------------------------------------------------------

    def freeze(self) -> None:
        """Let time stand still until `advance` or `thaw`. Raises DeadKafkaError, as all of these
        do, if the process has ended.
        """
        self._tell("freeze")

    def thaw(self) -> None:
        """Let time go on by itself."""
        self._tell("thaw")

    def advance(self, ms: int) -> None:
        """Let so many milliseconds pass at once."""
        self._tell(f"advance {ms}")

    def now_ms(self) -> int:
        """What its clock says."""
        return int(self._tell("now"))

    def restart(self) -> None:
        """Stop the controller and start it again, in the same process and on the same log."""
        self._tell("restart")

    def _tell(self, command: str) -> str:
        process = self._running()
        try:
            _input(process).write(f"{command}\n")
            _input(process).flush()
            answer = _output(process).readline()
        except OSError:
            answer = ""
        if not answer:
            raise DeadKafkaError(self._last_words())
        return answer.strip()

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None:
            raise DeadKafkaError(f"Kafka {self.patch} has not been started, or is stopped")
        return self._process

    # --- its life -------------------------------------------------------------------------------

    def _format(self) -> None:
        self._settle_on_a_port()
        command = ["kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", self._settings]
        # 3.2 has no versions to choose from.
        if RELEASES[self.release].code >= (3, 3):
            command += ["--release-version", self.metadata_version]
        if RELEASES[self.release].code >= (4, 0):
            command += ["--feature", WITHOUT_ELR]
        try:
            done = subprocess.run(
                self._command(command),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=FORMAT_S,
            )
        except subprocess.TimeoutExpired:
            raise DeadKafkaError(f"Kafka {self.patch} did not format within {FORMAT_S} s") from None
        if done.returncode != 0:
            said = _last(done.stdout)
            raise DeadKafkaError(
                f"Kafka {self.patch} does not begin at {self.metadata_version}: {said}"
            )

    def _start(self) -> None:
        for _ in range(PORTS_TRIED):
            self._process = self._launched()
            if _output(self._process).readline():
                return
            self._process.wait(STOP_S)
            if "BindException" not in self._log.read_text():
                break
            # Somebody has taken the port meanwhile.
            _hang_up(self._process)
            self._settle_on_a_port()
        raise DeadKafkaError(self._last_words())

    def _launched(self) -> subprocess.Popen[str]:
        with self._log.open("w") as log:
            return subprocess.Popen(
                self._command(["JudgeLauncher", self._settings]),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )

    def stop(self) -> None:
        """End it, and forget what it has written. Stopping twice does nothing."""
        process, self._process = self._process, None
        if process is not None:
            with suppress(OSError):
                _input(process).close()
            try:
                process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            _hang_up(process)
        shutil.rmtree(self._folder, ignore_errors=True)

    # --- plumbing -------------------------------------------------------------------------------

    @property
    def _settings(self) -> str:
        return str(self._folder / "server.properties")

    @property
    def _log(self) -> Path:
        return self._folder / "kafka.log"

    def _settle_on_a_port(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        Path(self._settings).write_text(server_settings(self.release, self.port, self.data))

    def _command(self, main: Sequence[str]) -> list[str]:
        return [self._java, *SMALL_JVM, "-cp", f"{LAUNCHER}:{self.jars}/*", *main]

    def _last_words(self) -> str:
        said = _last(self._log.read_text() if self._log.exists() else "")
        return f"Kafka {self.patch} ended by itself: {said}"


def _java() -> str:
    try:
        return str(find_java().home / "bin" / "java")
    except JavaNotFound as missing:
        raise MissingKafkaError(missing.sentence, missing.mend) from None


def _memory() -> Path | None:
    """A folder that is no disk, where the machine has one: Kafka waits for what it writes."""
    return IN_MEMORY if IN_MEMORY.is_dir() else None


def _last(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return " | ".join(lines[-TOLD_LINES:]) or "it said nothing"


def _hang_up(process: subprocess.Popen[str]) -> None:
    # Of a process that is gone, an unsent command may be left.
    with suppress(OSError):
        _input(process).close()
    _output(process).close()


def _input(process: subprocess.Popen[str]) -> IO[str]:
    assert process.stdin is not None
    return process.stdin


def _output(process: subprocess.Popen[str]) -> IO[str]:
    assert process.stdout is not None
    return process.stdout
