"""A child process in Java that answers each line with one line, and never outlives its parent."""

import shutil
import socket
import subprocess
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Self

from .kafka_jars.jar_cache import java_of_kafka as java_of_kafka

SMALL_JVM = (
    "-Xmx256m",
    "-Xss512k",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Xshare:auto",
)
STOP_S = 20
TOLD_LINES = 8
"""Of what a process that died has said last."""
IN_MEMORY = Path("/dev/shm")


class DeadKafkaError(Exception):
    """A real Kafka did not start, or ended by itself; the message has its last words."""


def properties(settings: Mapping[str, object]) -> str:
    """The text of a file of Java's properties."""
    return "".join(f"{name}={value}\n" for name, value in settings.items())


def java_command(classes: Sequence[Path | str], command: Sequence[str]) -> list[str]:
    """The words that run a main class. Raises MissingKafkaError without Java."""
    return [java_of_kafka(), *SMALL_JVM, "-cp", ":".join(map(str, classes)), *command]


def last_lines(text: str) -> str:
    """The end of a long text, in one line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " | ".join(lines[-TOLD_LINES:]) or "it said nothing"


PORTS_TRIED = 3


class OwnedProcess(ABC):
    """``with`` starts a JVM that writes one line when it is ready, answers each line with one, and
    ends when its input does. Raises DeadKafkaError where it does not start, MissingKafkaError
    without Java.

    `name` is what messages call it, ``"Kafka 3.4.1"``; `kind` is in the name of its folder.
    """

    def __init__(self, name: str, kind: str = "kafka") -> None:
        # No disk, where the machine has such a folder: Kafka waits for what it writes.
        memory = IN_MEMORY if IN_MEMORY.is_dir() else None
        self._name = name
        self._folder = Path(tempfile.mkdtemp(prefix=f"kiplab-{kind}-", dir=memory))
        self._log = self._folder / "said.log"
        self._child: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        try:
            self._begin()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    # A process without settings overrides nothing: this hook is empty on purpose.
    def _settle(self) -> None:  # noqa: B027
        """Find free ports, and write its settings, if it has any."""

    @abstractmethod
    def _command(self) -> tuple[Sequence[Path | str], Sequence[str]]:
        """(class path, main class and its arguments)."""

    def _begin(self) -> None:
        """Choose ports and launch it; again, where another process has taken one meanwhile."""
        for left in reversed(range(PORTS_TRIED)):
            self._settle()
            try:
                self._launch()
            except DeadKafkaError:
                if not left or "BindException" not in self._log.read_text(encoding="utf-8"):
                    raise
            else:
                return

    def _launch(self) -> None:
        """Start it, and wait until it is ready. Raises DeadKafkaError where it does not start."""
        pipe, command = subprocess.PIPE, java_command(*self._command())
        with self._log.open("w", encoding="utf-8") as log:
            child = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=log, text=True)
        assert child.stdin is not None
        assert child.stdout is not None
        self._child, self._input, self._output = child, child.stdin, child.stdout
        if not self._output.readline():
            self._end()
            raise self._dead()

    def tell(self, line: str) -> str:
        """What it answers. Raises DeadKafkaError where it has ended, or was not started."""
        if self._child is None:
            raise DeadKafkaError(f"{self._name} has not been started, or is stopped")
        try:
            self._input.write(f"{line}\n")
            self._input.flush()
            answer = self._output.readline()
        except (OSError, ValueError):
            answer = ""
        if not answer:
            raise self._dead()
        return answer

    def _dead(self) -> DeadKafkaError:
        """What it logged before it ended."""
        log = self._log.read_text(encoding="utf-8")
        return DeadKafkaError(f"{self._name} ended by itself: {last_lines(log)}")

    def stop(self) -> None:
        """End it, and delete its files. Stopping twice does nothing."""
        self._end()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _end(self) -> None:
        """End the process, if there is one, and leave its files."""
        child, self._child = self._child, None
        if child is None:
            return
        # Of a process that is gone, an unsent line may be left.
        with suppress(OSError):
            self._input.close()
        try:
            child.wait(STOP_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        self._output.close()


def free_ports(count: int) -> list[int]:
    """Different free ports: each stays bound until all are found."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
