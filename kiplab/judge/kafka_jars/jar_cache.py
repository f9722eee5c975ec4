"""The patch release that is run for each release, and its jars, kept in the user's cache folder.

They are fetched once, whole or not at all: by Maven, or by PySpark's Ivy where there is no Maven,
each from its configured source (a company's mirror is in Maven's own settings), with all
dependencies of the release.
"""

import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from string import Template
from typing import NamedTuple

from ...machine import LackingError
from ...machine.cache import cache_folder
from ...machine.java import JavaNotFound, find_java
from ...protocol.features import UnknownFeatureError
from ...protocol.releases import RELEASES

_PATCHES = tomllib.loads(Path(__file__).with_name("patch_releases.toml").read_text("utf-8"))
LAST_PATCH: dict[str, int] = _PATCHES["kraft"]
"""The number of the patch release that is run, by the name of a KRaft release."""
ZOOKEEPER_PATCHES: dict[str, str] = _PATCHES["zookeeper"]
"""The patch release for each release whose clusters are kept by ZooKeeper."""
MEGABYTES = 50
"""What the jars of one release take on disk, at most."""
SECONDS = 10
"""About what fetching them takes, where the network is quick."""


class UnjudgedReleaseError(UnknownFeatureError):
    """A release that no real Kafka stands for; the message lists those that one does."""


def patch_release(name: str) -> str:
    """``"3.4.1"`` for ``"3.4"`` and for itself. Raises UnjudgedReleaseError for any other name."""
    before, _, patch = name.rpartition(".")
    release = before if patch.isdecimal() and name not in LAST_PATCH else name
    if release not in LAST_PATCH or release not in RELEASES:
        releases = ", ".join(f"{r} ({r}.{patch})" for r, patch in LAST_PATCH.items())
        raise UnjudgedReleaseError(f"no Kafka {name!r} can be run; there are {releases}")
    return f"{name}.{LAST_PATCH[name]}" if name == release else name


def zookeeper_release(name: str) -> str:
    """``"zk-2.2"`` for that and for ``"2.2.2"``. Raises UnjudgedReleaseError for any other name."""
    by_patch = {patch: release for release, patch in ZOOKEEPER_PATCHES.items()}
    if name in ZOOKEEPER_PATCHES or name in by_patch:
        return by_patch.get(name, name)
    releases = ", ".join(f"{release} ({patch})" for release, patch in ZOOKEEPER_PATCHES.items())
    raise UnjudgedReleaseError(
        f"no Kafka {name!r} can be run for a play with ZooKeeper; there are {releases}"
    )


class MissingKafkaError(LackingError):
    """Java, a way to fetch Kafka, or Kafka itself is missing."""


class UnpublishedReleaseError(MissingKafkaError):
    """Whoever publishes Kafka's jars was asked, and has no such release."""


# --- fetched --------------------------------------------------------------------------------------

PATIENCE_S = 600
_TELLING = ("could not", "not found", "unknown host", "refused", "no space")
_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"
GET_A_FETCHER = (
    "apt-get install maven, brew install maven, or pip install 'kiplab[real]': PySpark brings a"
    " downloader of its own"
)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")

SLF4J = "1.7.36"
ZOOKEEPER = "3.5.9"
"""The client that older brokers are run with: their own one cannot connect from Java 14 on."""
_OWN_ZOOKEEPER = (2, 4)


class Artifact(NamedTuple):
    """What Maven knows a jar by."""

    group: str
    name: str
    version: str

    @property
    def in_pom(self) -> str:
        """As Maven wants it."""
        named = f"<groupId>{self.group}</groupId><artifactId>{self.name}</artifactId>"
        return f"    <dependency>{named}<version>{self.version}</version></dependency>"

    @property
    def in_ivy(self) -> str:
        """As Ivy wants it."""
        return f'    <dependency org="{self.group}" name="{self.name}" rev="{self.version}"/>'


def server(patch: str) -> tuple[Artifact, ...]:
    """What a Kafka of this release runs on; it logs nothing."""
    kafka = Artifact("org.apache.kafka", "kafka_2.13", patch)
    return kafka, Artifact("org.slf4j", "slf4j-nop", SLF4J)


def zookeeper_era(patch: str) -> tuple[Artifact, ...]:
    """What a broker of this release of ZooKeeper's years runs on, with a log; all were published
    for Scala 2.12. ZooKeeper's client, where it is ours, brings a log.
    """
    kafka = Artifact("org.apache.kafka", "kafka_2.12", patch)
    if tuple(map(int, patch.split("."))) < _OWN_ZOOKEEPER:
        return kafka, Artifact("org.apache.zookeeper", "zookeeper", ZOOKEEPER)
    return kafka, Artifact("org.slf4j", "slf4j-reload4j", SLF4J)


def can_fetch() -> str | None:
    """What would fetch jars here: ``"Maven"``, ``"PySpark's Ivy"``, or None."""
    if shutil.which("mvn"):
        return "Maven"
    return "PySpark's Ivy" if _ivy_jar() else None


def _fetch(patch: str, folder: Path, artifacts: Sequence[Artifact]) -> None:
    """Put the jars of ``"3.4.1"`` and of all it needs into `folder`; Kafka itself is the first of
    the artifacts. Raises MissingKafkaError without Java, where jars are of no use, without Maven
    and without Ivy, and where these don't get it.
    """
    java = java_of_kafka()
    with tempfile.TemporaryDirectory() as scratch:
        if maven := shutil.which("mvn"):
            pom = _described(Path(scratch, "pom.xml"), [a.in_pom for a in artifacts])
            command = [maven, "-q", "-B", "-f", str(pom), _COPY, f"-DoutputDirectory={folder}"]
        elif ivy := _ivy_jar():
            module = _described(Path(scratch, "ivy.xml"), [a.in_ivy for a in artifacts])
            pattern = f"{folder}/[artifact]-[revision](-[classifier]).[ext]"
            kept = ["-cache", str(Path(scratch, "cache")), "-types", "jar", "bundle"]
            options = ["-ivy", str(module), *kept, "-retrieve", pattern]
            command = [java, "-jar", str(ivy), *options]
        else:
            raise MissingKafkaError("Nothing here can fetch Kafka's jars.", f"{GET_A_FETCHER}.")
        _run(command, artifacts[0].name, patch)
    if not any(folder.glob(f"{artifacts[0].name}-*.jar")):
        raise MissingKafkaError(f"No jars of Kafka {patch} came.", "Try again.")


def java_of_kafka() -> str:
    """The Java that runs Kafka. Raises MissingKafkaError where there is none."""
    try:
        return str(find_java().home / "bin" / "java")
    except JavaNotFound as missing:
        raise MissingKafkaError(missing.sentence, missing.mend) from None


def _described(file: Path, dependencies: Sequence[str]) -> Path:
    """Maven's or Ivy's file, with these dependencies."""
    template = Template(Path(__file__).with_name(file.name).read_text(encoding="utf-8"))
    file.write_text(template.substitute(dependencies="\n".join(dependencies)), encoding="utf-8")
    return file


def _ivy_jar() -> Path | None:
    jars = spark_jars()
    return None if jars is None else next(iter(sorted(jars.glob("ivy-*.jar"))), None)


def _run(command: Sequence[str], name: str, patch: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        why = f"Kafka {patch} did not come within {PATIENCE_S} s."
        raise MissingKafkaError(why, "Try again on a better network.") from None
    except OSError as problem:
        why = f"{command[0]} does not run ({problem.strerror})."
        raise MissingKafkaError(why, f"{GET_A_FETCHER}.") from None
    if done.returncode == 0:
        return
    output = _COLOUR.sub("", done.stdout + done.stderr)
    if _is_unpublished(output.lower(), name, patch):
        why = f"There is no Kafka {patch} to be had: {_complaint(output)}."
        raise UnpublishedReleaseError(why, "Name a release that was published.")
    why = f"Kafka {patch} could not be fetched: {_complaint(output)}."
    raise MissingKafkaError(why, "Is there a network, and is that a release of Kafka?")


def _is_unpublished(output: str, name: str, patch: str) -> bool:
    """Whether a repository says that there is no such release."""
    artifact = rf"org\.apache\.kafka:{re.escape(name)}:\w+:{re.escape(patch)}"
    by_ivy = f"module not found: org.apache.kafka#{name};{patch}" in output
    by_maven = re.search(rf"could not find artifact {artifact} in ", output)
    return by_maven is not None or (by_ivy and "server access error" not in output)


def _complaint(output: str) -> str:
    """The line of a long answer that says what is the matter, as well as can be told."""
    lines = [line.strip(" \t:*.") for line in output.splitlines()]
    telling = [line for line in lines if any(word in line.lower() for word in _TELLING)]
    first = next(iter(telling or filter(None, lines)), "nothing was said")
    return first.removeprefix("[ERROR] ").partition(" -> [")[0]


def spark_jars() -> Path | None:
    """The folder of PySpark's jars, with Ivy and a ZooKeeper server; None without PySpark."""
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent / "jars"


# --- kept ----------------------------------------------------------------------------------------


def kafka_folder() -> Path:
    """Where a folder of jars is, or would be, for every patch release."""
    return cache_folder() / "kafka"


def have_jars(patch: str, *, with_zookeeper: bool = False) -> bool:
    """Whether those of ``"3.4.1"`` are there, whole, or of a broker of ZooKeeper's years."""
    return (kafka_folder() / f"{patch}{'-zookeeper' * with_zookeeper}").is_dir()


def jars_of(patch: str, *, with_zookeeper: bool = False) -> Path:
    """The folder of a release's jars, fetched if it is not there yet; of a broker of ZooKeeper's
    years in a folder of its own. Raises MissingKafkaError saying what stood in the way.
    """
    artifacts = zookeeper_era(patch) if with_zookeeper else server(patch)
    return kept_jars(f"{patch}{'-zookeeper' * with_zookeeper}", patch, artifacts)


def kept_jars(name: str, patch: str, artifacts: Sequence[Artifact]) -> Path:
    """The folder of that name, with these artifacts. Raises MissingKafkaError as `jars_of` does."""
    folder = kafka_folder() / name
    if not folder.is_dir():
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            with _one_at_a_time(folder.parent):
                _fill(folder, patch, artifacts)
        except OSError as problem:
            raise MissingKafkaError(
                f"{folder.parent} cannot be written ({problem.strerror}).",
                "Set XDG_CACHE_HOME to a folder that can.",
            ) from None
    return folder


@contextmanager
def _one_at_a_time(folder: Path) -> Iterator[None]:
    """Maven's own store is not made for two that fill it at once, where a lock can be had."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with (folder / ".lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _fill(folder: Path, patch: str, artifacts: Sequence[Artifact]) -> None:
    """Fetch the jars, unless another process has done so meanwhile."""
    if folder.is_dir():
        return
    unfinished = Path(tempfile.mkdtemp(prefix=f"{folder.name}-", dir=folder.parent))
    try:
        _fetch(patch, unfinished, artifacts)
        os.replace(unfinished, folder)
    except OSError:
        # Another process was quicker, and fetched the same.
        if not folder.is_dir():
            raise
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
