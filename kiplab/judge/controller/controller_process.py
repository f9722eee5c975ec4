"""A controller's process: formatted, started, its clock moved, always ended; no own timers."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from ...protocol.kraft.replay import MIN_INSYNC
from ...protocol.kraft.sessions import SESSION_TIMEOUT_MS
from ...protocol.releases import RELEASES
from .. import java_process
from ..kafka_jars.jar_cache import jars_of, patch_release

LAUNCHER = Path(__file__).parent
"""Where the compiled class is."""
FORMAT_S = 120
ELR = "eligible.leader.replicas.version"
"""The feature of KIP-966, from 4.0 on; without a word 4.1 and later begin with level 1."""
NODE_ID = 3000
"""Far from the ids of brokers."""
CLUSTER_ID = "kiplabkiplabkiplabkipg"
"""22 characters of base64, as Kafka writes 16 bytes."""
SETTINGS = LAUNCHER / "server.properties"
"""What every controller has: nothing happens by itself, and an answer comes at once."""
_SINCE = {
    # No NoOpRecord while nothing happens, and no snapshot because time has passed.
    (3, 3): {"metadata.max.idle.interval.ms": 0},
    (3, 4): {"metadata.log.max.snapshot.interval.ms": 0},
    (3, 9): {"unclean.leader.election.interval.ms": 1_000_000_000},
}
"""Settings that a release does not know make it refuse to start: by the version that has them."""


class ControllerProcess(java_process.OwnedProcess):
    """``with ControllerProcess("3.4") as kafka: kafka.port``: a fresh cluster of one controller, of
    a release or patch release, at `metadata_version` or the latest, with eligible leader replicas
    at level `elr`, and `min_insync` replicas in its properties. Raises UnjudgedReleaseError for
    another release, MissingKafkaError if none can be run, DeadKafkaError where it does not start.

    It is told to `freeze` its clock, to `advance` it by so many ms, to `thaw` it, and what is `now`
    by it; to `restart` in the same process and on the same log.
    """

    def __init__(
        self, release: str, metadata_version: str | None = None, elr: int = 0, min_insync: int = 1
    ) -> None:
        self.patch = patch_release(release)
        self.release = release if release in RELEASES else release.rpartition(".")[0]
        self.metadata_version = metadata_version or RELEASES[self.release].latest
        self.elr = elr
        self._own = java_process.properties({MIN_INSYNC: min_insync})
        self._formatted = (self.metadata_version, elr)
        self.jars = jars_of(self.patch)
        super().__init__(f"Kafka {self.patch}")
        self.data = self._folder / "data"
        self._blank, self._clusters = self._folder / "blank", 1
        self._settings = str(self._folder / "server.properties")
        self._classes = (LAUNCHER, f"{self.jars}/*")
        self.port = 0

    def _settle(self) -> None:
        (self.port,) = java_process.free_ports(1)
        self._write_settings()
        if not self.data.exists():
            self._format()
            if self.data.exists():
                # Else it was no Kafka that formatted it, which is told when that is started.
                shutil.copytree(self.data, self._blank)

    def _write_settings(self) -> None:
        text = server_settings(self.release, self.port, self.data) + self._own
        Path(self._settings).write_text(text, encoding="utf-8")

    def begin_anew(self) -> None:
        """A fresh cluster in the same process, with a log of its own; nothing is left of this one,
        of which a controller may keep what its log does not say.
        """
        self._clusters += 1
        left, self.data = self.data, self._folder / f"data-{self._clusters}"
        self.metadata_version, self.elr = self._formatted
        shutil.copytree(self._blank, self.data)
        self._write_settings()
        self.tell("restart")
        shutil.rmtree(left, ignore_errors=True)

    def _format(self) -> None:
        command = ["kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", self._settings]
        # 3.2 has no versions to choose from.
        if RELEASES[self.release].code >= (3, 3):
            command += ["--release-version", self.metadata_version]
        if RELEASES[self.release].code >= (4, 0):
            command += ["--feature", f"{ELR}={self.elr}"]
        words, pipe = java_process.java_command(self._classes, command), subprocess.PIPE
        try:
            done = subprocess.run(
                words, stdout=pipe, stderr=subprocess.STDOUT, text=True, timeout=FORMAT_S
            )
        except subprocess.TimeoutExpired:
            why = f"{self._name} did not format within {FORMAT_S} s"
            raise java_process.DeadKafkaError(why) from None
        if done.returncode != 0:
            said = java_process.last_lines(done.stdout)
            problem = f"does not begin at {self.metadata_version}: {said}"
            raise java_process.DeadKafkaError(f"{self._name} {problem}")

    def _command(self) -> tuple[Sequence[Path | str], Sequence[str]]:
        return self._classes, ["JudgeLauncher", self._settings]


def server_settings(release: str, port: int, data: Path) -> str:
    """The text of ``server.properties`` for a release of the engine such as ``"3.4"``: one voter,
    listening at that port of the loopback interface, its log in the folder `data`.
    """
    settings: dict[str, object] = {
        "node.id": NODE_ID,
        "broker.session.timeout.ms": SESSION_TIMEOUT_MS,
        "controller.quorum.voters": f"{NODE_ID}@127.0.0.1:{port}",
        "listeners": f"CONTROLLER://127.0.0.1:{port}",
        "log.dirs": data,
    }
    for since, more in _SINCE.items():
        if RELEASES[release].code >= since:
            settings |= more
    return SETTINGS.read_text(encoding="utf-8") + java_process.properties(settings)
