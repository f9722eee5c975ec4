"""A controller's process: its storage formatted, started, its clock moved, and always ended."""

from __future__ import annotations

import subprocess
from pathlib import Path

from ...protocol.releases import RELEASES
from ..java_process.child_jvm import (
    ChildJvm,
    DeadKafkaError,
    java_command,
    java_of_kafka,
    last_lines,
)
from ..java_process.owned_process import OwnedProcess, free_port
from ..kafka_jars.jar_cache import jars_of
from ..kafka_jars.judged_releases import patch_release
from .server_settings import CLUSTER_ID, server_settings

LAUNCHER = Path(__file__).parent
"""Where the compiled class is."""
FORMAT_S = 120
WITHOUT_ELR = "eligible.leader.replicas.version=0"
"""4.1 and later begin with eligible leader replicas (KIP-966), which the engine does not model."""


class ControllerProcess(OwnedProcess):
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
        java_of_kafka()
        self.jars = jars_of(self.patch)
        super().__init__("kafka")
        self.data = self._folder / "data"
        self.port = 0

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
        if self._child is None:
            raise DeadKafkaError(f"Kafka {self.patch} has not been started, or is stopped")
        return self._child.tell(command).strip()

    # --- its life -------------------------------------------------------------------------------

    def _begin(self) -> None:
        self._settle()
        self._format()
        super()._begin()

    def _format(self) -> None:
        command = ["kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", self._settings]
        # 3.2 has no versions to choose from.
        if RELEASES[self.release].code >= (3, 3):
            command += ["--release-version", self.metadata_version]
        if RELEASES[self.release].code >= (4, 0):
            command += ["--feature", WITHOUT_ELR]
        try:
            done = subprocess.run(
                java_command(self._classes, command),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=FORMAT_S,
            )
        except subprocess.TimeoutExpired:
            raise DeadKafkaError(f"Kafka {self.patch} did not format within {FORMAT_S} s") from None
        if done.returncode != 0:
            said = last_lines(done.stdout)
            raise DeadKafkaError(
                f"Kafka {self.patch} does not begin at {self.metadata_version}: {said}"
            )

    def _launched(self) -> ChildJvm:
        command = ["JudgeLauncher", self._settings]
        return ChildJvm(f"Kafka {self.patch}", self._classes, command, self._log)

    # --- plumbing -------------------------------------------------------------------------------

    @property
    def _settings(self) -> str:
        return str(self._folder / "server.properties")

    def _settle(self) -> None:
        self.port = free_port()
        Path(self._settings).write_text(server_settings(self.release, self.port, self.data))

    @property
    def _classes(self) -> tuple[Path | str, ...]:
        return LAUNCHER, f"{self.jars}/*"
