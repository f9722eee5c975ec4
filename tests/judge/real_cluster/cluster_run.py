"""One process with a whole real cluster in it, and what it says of the record that it may lose."""

import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from kiplab.judge.java_process import STOP_S, OwnedProcess, java_of_kafka
from kiplab.judge.kafka_jars.jar_cache import SLF4J, Artifact, kept_jars

JUNIT = "5.8.2"
DRIVER = Path(__file__).parent
"""Where the compiled class is."""
ROOM_BYTES = 1_000_000_000
"""What a cluster writes in one run, and more."""
START_S, ATTEMPT_S = 120, 180
LOGGED = ("Submitting ISR", "Ignoring failed ISR", "ISR updated to", "Failed to alter")
"""Lines of Kafka's own log that tell what a leader makes of its proposals."""
_LOG = {
    "defaultLogLevel": "error",
    "log.kafka.cluster.Partition": "debug",
    "showDateTime": "true",
    "dateTimeFormat": "HH:mm:ss.SSS",
}


class TestedArtifact(Artifact):
    """A jar, and the jar of its tests."""

    @property
    def in_pom(self) -> str:
        """One dependency for each."""
        end = "</dependency>"
        tests = super().in_pom.replace(end, f"<classifier>test</classifier>{end}")
        return f"{super().in_pom}\n{tests}"

    @property
    def in_ivy(self) -> str:
        """One dependency, with both artifacts."""
        jar = f'<artifact name="{self.name}" type="jar" ext="jar"'
        head = super().in_ivy.removesuffix("/>")
        return f'{head}>{jar}/>{jar} m:classifier="test"/></dependency>'


def jars_with_test_kit(patch: str) -> Path:
    """The folder of a release's jars with Kafka's own kit for whole clusters in one process, and a
    log. Raises MissingKafkaError as `jars_of` does.

    The kit is among the tests of kafka_2.13; from 4.0 on it is an artifact of its own.
    """
    kafka = ("kafka_2.13", "kafka-clients", "kafka-metadata", "kafka-server-common")
    later = (Artifact("org.apache.kafka", "kafka-test-common-runtime", patch),)
    artifacts = (
        *(TestedArtifact("org.apache.kafka", name, patch) for name in kafka),
        *(later if int(patch.partition(".")[0]) >= 4 else ()),
        Artifact("org.junit.jupiter", "junit-jupiter-api", JUNIT),
        Artifact("org.slf4j", "slf4j-simple", SLF4J),
    )
    return kept_jars(f"{patch}-test-kit", patch, artifacts)


class Sighting(NamedTuple):
    """One thing that was seen: a word, and values by name, all as text."""

    moment: str
    values: dict[str, str]

    def brokers(self, name: str) -> frozenset[int]:
        """A set of brokers among the values."""
        return frozenset(int(word) for word in self.values[name].split(",") if word)


class ClusterRun(OwnedProcess):
    """``with ClusterRun("3.5.2", 3, settings) as run: for seen in run.moments(): ...``

    Up to so many attempts in one cluster of three controllers and three brokers, until one comes
    so far that the leader is stopped; `settings` are NAME=VALUE. Raises MissingKafkaError without
    Java, or where the jars can't be had.
    """

    def __init__(self, patch: str, attempts: int, settings: Sequence[str]) -> None:
        # Without Java there is no use for the jars.
        java_of_kafka()
        self._jars, self._words = jars_with_test_kit(patch), [str(attempts), *settings]
        self._patience_s = START_S + attempts * ATTEMPT_S
        super().__init__(f"The cluster of Kafka {patch}", "cluster")
        if shutil.disk_usage(self._folder).free < ROOM_BYTES:
            self._folder.rmdir()
            self._folder = Path(tempfile.mkdtemp(prefix="kiplab-cluster-"))
            self._log = self._folder / self._log.name
        self.folder = self._folder

    def _command(self) -> tuple[Sequence[Path | str], Sequence[str]]:
        log = {"logFile": str(self.folder / "kafka.log"), **_LOG}
        options = [f"-Dorg.slf4j.simpleLogger.{name}={value}" for name, value in log.items()]
        # Of two -Xmx the last counts.
        options += ["-Xmx768m", f"-Djava.io.tmpdir={self.folder}"]
        command = [*options, "LostRecord", str(self.folder), *self._words]
        return (DRIVER, f"{self._jars}/*"), command

    def moments(self) -> Iterator[Sighting]:
        """What is seen, as it is seen, until the process ends or has taken far too long."""
        child = self._child
        assert child is not None
        assert child.stdout is not None
        enough = threading.Timer(self._patience_s, child.kill)
        enough.daemon = True
        enough.start()
        try:
            for line in child.stdout:
                word, *pairs = line.rstrip("\n").split("\t")
                # Kafka says things on standard output as well, now and then.
                if word.isalpha() and all("=" in pair for pair in pairs):
                    yield Sighting(word, dict(pair.split("=", 1) for pair in pairs))
        finally:
            enough.cancel()

    def death(self) -> str:
        """Where the process has ended by itself, after `moments`, before it was done: what it said
        before; else empty.
        """
        try:
            assert self._child is not None
            return str(self._dead()) if self._child.wait(STOP_S) else ""
        except subprocess.TimeoutExpired:
            return ""

    def logged(self) -> list[str]:
        """What Kafka's own log says of proposals, of every attempt so far."""
        log = self.folder / "kafka.log"
        lines = log.read_text().splitlines() if log.exists() else []
        return [line for line in lines if any(words in line for words in LOGGED)]
