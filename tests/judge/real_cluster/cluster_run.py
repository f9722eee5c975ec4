"""One process with a whole real cluster in it, and what it says of the record that it may lose."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from kiplab.judge.java_process import IN_MEMORY, java_of_kafka
from kiplab.judge.kafka_jars.jar_cache import SLF4J, Artifact, kept_jars

JUNIT = "5.8.2"
DRIVER = Path(__file__).parent
"""Where the compiled class is."""
ROOM_BYTES = 1_000_000_000
"""What a cluster writes in one run, and more."""
START_S, ATTEMPT_S, STOP_S = 120, 180, 20
LOGGED = ("Submitting ISR", "Ignoring failed ISR", "ISR updated to", "Failed to alter")
"""Lines of Kafka's own log that tell what a leader makes of its proposals."""
_LOG = {
    "defaultLogLevel": "error",
    "log.kafka.cluster.Partition": "debug",
    "showDateTime": "true",
    "dateTimeFormat": "HH:mm:ss.SSS",
}


def jars_with_test_kit(patch: str) -> Path:
    """The folder of a release's jars with Kafka's own kit for whole clusters in one process, and a
    log. Raises MissingKafkaError as `jars_of` does.

    The kit is among the tests of kafka_2.13; from 4.0 on it is an artifact of its own.
    """
    both = ("", "test")
    kafka = ("kafka_2.13", "kafka-clients", "kafka-metadata", "kafka-server-common")
    later = (Artifact("org.apache.kafka", "kafka-test-common-runtime", patch),)
    artifacts = (
        *(Artifact("org.apache.kafka", name, patch, both) for name in kafka),
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


class ClusterRun:
    """``with ClusterRun("3.5.2", 3, settings) as run: for seen in run.moments(): ...``

    Up to so many attempts in one cluster of three controllers and three brokers, until one comes
    so far that the leader is stopped; `settings` are NAME=VALUE. Raises MissingKafkaError without
    Java, or where the jars can't be had.
    """

    def __init__(self, patch: str, attempts: int, settings: Sequence[str]) -> None:
        self._java, self._jars = java_of_kafka(), jars_with_test_kit(patch)
        self._told = [str(attempts), *settings]
        self._patience_s = START_S + attempts * ATTEMPT_S
        self.folder = Path(tempfile.mkdtemp(prefix="kiplab-cluster-", dir=_memory()))
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> ClusterRun:
        try:
            with self._errors.open("w") as errors:
                self._process = subprocess.Popen(
                    self._command(),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    text=True,
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

    def moments(self) -> Iterator[Sighting]:
        """What is seen, as it is seen, until the process ends or has taken far too long."""
        process = self._process
        if process is None or process.stdout is None:
            return
        enough = threading.Timer(self._patience_s, process.kill)
        enough.daemon = True
        enough.start()
        try:
            for line in process.stdout:
                word, *pairs = line.rstrip("\n").split("\t")
                # Kafka says things on standard output as well, now and then.
                if word.isalpha() and all("=" in pair for pair in pairs):
                    yield Sighting(word, dict(pair.split("=", 1) for pair in pairs))
        finally:
            enough.cancel()

    def ended_badly(self) -> bool:
        """Whether the process has ended by itself, after `moments`, before it was done."""
        try:
            return self._process is not None and self._process.wait(STOP_S) != 0
        except subprocess.TimeoutExpired:
            return False

    def logged(self) -> list[str]:
        """What Kafka's own log says of proposals, of every attempt so far."""
        said = self._log.read_text().splitlines() if self._log.exists() else []
        return [line for line in said if any(words in line for words in LOGGED)]

    def last_words(self) -> str:
        """What went wrong, in Java's words for it, if anything did."""
        said = self._errors.read_text().splitlines() if self._errors.exists() else []
        wrong = [line for line in said if "Exception" in line or "Error" in line]
        return wrong[-1].strip() if wrong else "it said nothing"

    def stop(self) -> None:
        """End it, and forget what it has written. Stopping twice does nothing."""
        process, self._process = self._process, None
        if process is not None:
            with suppress(OSError):
                if process.stdin is not None:
                    process.stdin.close()
            try:
                process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if process.stdout is not None:
                process.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def _log(self) -> Path:
        return self.folder / "kafka.log"

    @property
    def _errors(self) -> Path:
        return self.folder / "errors"

    def _command(self) -> list[str]:
        log = {"logFile": str(self._log), **_LOG}
        options = [f"-Dorg.slf4j.simpleLogger.{name}={value}" for name, value in log.items()]
        classes = f"{DRIVER}:{self._jars}/*"
        folder = f"-Djava.io.tmpdir={self.folder}"
        main = ["LostRecord", str(self.folder), *self._told]
        return [self._java, "-Xmx768m", folder, *options, "-cp", classes, *main]


def _memory() -> Path | None:
    """A folder that is no disk, where the machine has one with room: Kafka waits for its disk."""
    has_room = IN_MEMORY.is_dir() and shutil.disk_usage(IN_MEMORY).free > ROOM_BYTES
    return IN_MEMORY if has_room else None
