"""Kafka's own Partition in a process of its own: started, told what happens, always ended."""

from __future__ import annotations

from pathlib import Path

from ...protocol.releases import RELEASES
from ..java_process.child_jvm import ChildJvm
from ..java_process.owned_process import OwnedProcess
from ..kafka_jars.jar_cache import jars_of
from ..kafka_jars.judged_releases import LAST_PATCH, patch_release

PARTITION_CLASSES = Path(__file__).parent
"""Where the compiled classes are."""
_OLDEST = (3, 3)
"""3.2's Partition is asked for a partition epoch by another name, and fetches by another method."""


def partition_releases() -> tuple[str, ...]:
    """Every release of which the Partition is driven, oldest first."""
    return tuple(name for name in LAST_PATCH if RELEASES[name].code >= _OLDEST)


class PartitionProcess(OwnedProcess):
    """``with PartitionProcess("3.5") as kafka: kafka.tell("1 begin 100 orders-0,orders-1")``.

    Raises UnjudgedReleaseError for a release that there is not, MissingKafkaError where none can be
    run, DeadKafkaError where it does not start or ends by itself.
    """

    def __init__(self, release: str) -> None:
        self.patch = patch_release(release)
        self.release = release if release in RELEASES else release.rpartition(".")[0]
        self.jars = jars_of(self.patch)
        super().__init__("partition")

    def tell(self, line: str) -> str:
        """One command of PartitionLauncher.java, and the line of JSON that it answers."""
        assert self._child is not None, "it has not been started"
        return self._child.tell(line)

    def _settle(self) -> None:
        self._data.mkdir(exist_ok=True)

    def _launched(self) -> ChildJvm:
        command = ["PartitionLauncher", str(self._data), RELEASES[self.release].latest]
        classes = (PARTITION_CLASSES, f"{self.jars}/*")
        return ChildJvm(f"Kafka {self.patch}", classes, command, self._log)

    @property
    def _data(self) -> Path:
        return self._folder / "data"
