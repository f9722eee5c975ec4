"""Kafka's own Partition in a process of its own: started, told what happens, always ended."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from types import TracebackType

from ...protocol.releases import RELEASES
from ..java_process.child_jvm import ChildJvm, memory_folder
from ..kafka_jars.jar_cache import jars_of
from ..kafka_jars.judged_releases import patch_release

PARTITION_CLASSES = Path(__file__).parent
"""Where the compiled classes are."""


class PartitionProcess:
    """``with PartitionProcess("3.5") as kafka: kafka.tell("1 begin 100 orders-0,orders-1")``.

    Raises UnjudgedReleaseError for a release that there is not, MissingKafkaError where none can be
    run, DeadKafkaError where it does not start or ends by itself.
    """

    def __init__(self, release: str) -> None:
        self.patch = patch_release(release)
        self.release = release if release in RELEASES else release.rpartition(".")[0]
        self.jars = jars_of(self.patch)
        self._folder = Path(tempfile.mkdtemp(prefix="kiplab-partition-", dir=memory_folder()))
        self._child: ChildJvm | None = None

    def __enter__(self) -> PartitionProcess:
        logs = self._folder / "data"
        logs.mkdir()
        latest = RELEASES[self.release].latest
        try:
            self._child = ChildJvm(
                f"Kafka {self.patch}",
                [PARTITION_CLASSES, f"{self.jars}/*"],
                ["PartitionLauncher", str(logs), latest],
                self._folder / "kafka.log",
            )
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

    def tell(self, line: str) -> str:
        """One command of PartitionLauncher.java, and the line of JSON that it answers."""
        assert self._child is not None, "it has not been started"
        return self._child.tell(line)

    def stop(self) -> None:
        """End it, and forget what it has written. Stopping twice does nothing."""
        child, self._child = self._child, None
        if child is not None:
            child.stop()
        shutil.rmtree(self._folder, ignore_errors=True)
