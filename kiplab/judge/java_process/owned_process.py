"""A JVM with a folder of its own: entered, left, and both gone, however it ends."""

import shutil
import socket
import tempfile
from abc import ABC, abstractmethod
from pathlib import Path
from types import TracebackType
from typing import Self

from .child_jvm import ChildJvm, DeadKafkaError, memory_folder

PORTS_TRIED = 3


class OwnedProcess(ABC):
    """``with`` starts it. Raises DeadKafkaError where it does not start, MissingKafkaError without
    Java.

    `kind` is in the name of its folder: ``"kafka"``. Whoever inherits writes its settings and says
    how it is launched.
    """

    def __init__(self, kind: str) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix=f"kiplab-{kind}-", dir=memory_folder()))
        self._child: ChildJvm | None = None

    def __enter__(self) -> Self:
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
    port: int = free.getsockname()[1]
    return port
