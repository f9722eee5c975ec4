"""A child in Java that is told one line and answers one line, and never outlives its parent."""

import shutil
import socket
import subprocess
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from ..machine.java import JavaNotFound, find_java
from .kafka_jars.judged_releases import MissingKafkaError

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


class ChildJvm:
    """`command` is a main class and its arguments, `log` where its errors go, `what` its name.

    It says one line when it is ready, and ends when its input does. Raises DeadKafkaError where it
    does not start, MissingKafkaError without Java.
    """

    def __init__(self, what: str, classes: Sequence[Path | str], command: Sequence[str], log: Path):
        self._what, self._log = what, log
        with log.open("w") as errors:
            self._process = subprocess.Popen(
                java_command(classes, command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input, self._output = self._process.stdin, self._process.stdout
        if not self._output.readline():
            self.stop()
            raise DeadKafkaError(self.last_words())

    def tell(self, line: str) -> str:
        """What it answers. Raises DeadKafkaError if it has ended."""
        try:
            self._input.write(f"{line}\n")
            self._input.flush()
            answer = self._output.readline()
        except (OSError, ValueError):
            answer = ""
        if not answer:
            raise DeadKafkaError(self.last_words())
        return answer

    def stop(self) -> None:
        """End it. Stopping twice does nothing."""
        # Of a process that is gone, an unsent line may be left.
        with suppress(OSError):
            self._input.close()
        try:
            self._process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._output.close()

    def last_words(self) -> str:
        """In one sentence, what it said before it ended."""
        return f"{self._what} ended by itself: {last_lines(self._log.read_text())}"


def properties(settings: Mapping[str, object]) -> str:
    """The text of a file of Java's properties."""
    return "".join(f"{name}={value}\n" for name, value in settings.items())


def java_command(classes: Sequence[Path | str], command: Sequence[str]) -> list[str]:
    """The words that run a main class. Raises MissingKafkaError without Java."""
    return [java_of_kafka(), *SMALL_JVM, "-cp", ":".join(map(str, classes)), *command]


def java_of_kafka() -> str:
    """The Java that runs Kafka. Raises MissingKafkaError where there is none."""
    try:
        return str(find_java().home / "bin" / "java")
    except JavaNotFound as missing:
        raise MissingKafkaError(missing.sentence, missing.mend) from None


def last_lines(said: str) -> str:
    """The end of a long text, in one line."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return " | ".join(lines[-TOLD_LINES:]) or "it said nothing"


PORTS_TRIED = 3


class OwnedProcess(ABC):
    """``with`` starts it. Raises DeadKafkaError where it does not start, MissingKafkaError without
    Java.

    `kind` is in the name of its folder: ``"kafka"``. Whoever inherits writes its settings and says
    how it is launched.
    """

    def __init__(self, kind: str) -> None:
        # No disk, where the machine has such a folder: Kafka waits for what it writes.
        memory = IN_MEMORY if IN_MEMORY.is_dir() else None
        self._folder = Path(tempfile.mkdtemp(prefix=f"kiplab-{kind}-", dir=memory))
        self._child: ChildJvm | None = None

    def __enter__(self) -> Self:
        try:
            self._begin()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """End it, and forget what it has written. Stopping twice does nothing."""
        self._let_go()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _let_go(self) -> None:
        """End the process, if there is one, and leave its files."""
        child, self._child = self._child, None
        if child is not None:
            child.stop()

    def _begin(self) -> None:
        """Settle on ports and launch it; again, where somebody has taken one meanwhile."""
        for left in reversed(range(PORTS_TRIED)):
            self._settle()
            try:
                self._child = self._launched()
            except DeadKafkaError:
                if not left or "BindException" not in self._log.read_text():
                    raise
            else:
                return

    @abstractmethod
    def _settle(self) -> None:
        """Find free ports, if it needs any, and write its settings."""

    @abstractmethod
    def _launched(self) -> ChildJvm:
        """The process, which is ready. Raises DeadKafkaError where it is not."""

    @property
    def _log(self) -> Path:
        """Where its errors go."""
        return self._folder / "said.log"


def free_port() -> int:
    """A port of this machine that nobody has right now."""
    with socket.socket() as free:
        return bound(free)


def bound(free: socket.socket) -> int:
    """The port that a socket got, which nobody else gets while the socket is open."""
    free.bind(("127.0.0.1", 0))
    return int(free.getsockname()[1])
