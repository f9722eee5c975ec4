"""Jars of a release: fetched once, whole or not at all; what stands in the way is said."""

import os
import re
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kiplab.judge.kafka_jars import jar_cache
from kiplab.judge.kafka_jars.jar_cache import (
    LAST_PATCH,
    MissingKafkaError,
    UnjudgedReleaseError,
    patch_release,
)
from kiplab.protocol.releases import RELEASES, Mode

BRINGS_JARS = """\
for word do case $word in -DoutputDirectory=*) folder=${word#*=};; esac; done
grep -q '<version>9.9.9</version>' "$4" && touch "$folder/kafka_2.13-9.9.9.jar"
"""
BRINGS_OLD_JARS = BRINGS_JARS.replace("2.13", "2.12")
FAILS = """\
artifact=org.apache.kafka:kafka_2.13:jar:9.9.9
printf "\\033[0m[ERROR] Could not find artifact $artifact -> [Help 1]\\n"
exit 1
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


Maven = Callable[[str], None]


@pytest.fixture
def maven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Maven:
    """Makes a Maven that does something; it is found before any other."""

    def make(does: str) -> None:
        program = tmp_path / "bin" / "mvn"
        program.parent.mkdir()
        calls = f"#!/bin/sh\necho called >> {tmp_path}/calls\n"
        program.write_text(does if does.startswith("#!") else f"{calls}{does}")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")

    return make


def test_every_kraft_release_has_a_patch_release_that_stands_for_it() -> None:
    kraft = {name for name, release in RELEASES.items() if release.mode is Mode.KRAFT}
    assert set(LAST_PATCH) == kraft, "add it to judge/kafka_jars/patch_releases.toml"


def test_a_release_and_its_patch_release_are_the_same_kafka() -> None:
    assert patch_release("3.4") == patch_release("3.4.1") == "3.4.1"
    assert patch_release("3.4.0") == "3.4.0"


@pytest.mark.parametrize("name", ["2.8", "3", "3.5.2.1.0", "", "trunk"])
def test_another_release_is_refused_with_those_that_there_are(name: str) -> None:
    with pytest.raises(UnjudgedReleaseError, match=r"there are 3\.2 \(3\.2\.3\), 3\.3"):
        patch_release(name)


def test_jars_are_fetched_once(maven: Maven, tmp_path: Path) -> None:
    maven(BRINGS_JARS)
    assert not jar_cache.have_jars("9.9.9")
    folder = jar_cache.jars_of("9.9.9")
    assert folder == jar_cache.kafka_folder() / "9.9.9"
    assert jar_cache.have_jars("9.9.9")
    assert jar_cache.jars_of("9.9.9") == folder
    assert (tmp_path / "calls").read_text() == "called\n"


@pytest.mark.skipif(os.name == "nt", reason="there is no lock to be had")
def test_several_who_want_the_same_fetch_it_once(maven: Maven, tmp_path: Path) -> None:
    maven(BRINGS_JARS)
    with ThreadPoolExecutor(4) as several:
        found = set(several.map(jar_cache.jars_of, ["9.9.9"] * 4))
    assert found == {jar_cache.kafka_folder() / "9.9.9"}
    assert (tmp_path / "calls").read_text() == "called\n"


@pytest.mark.parametrize(
    ("does", "with_zookeeper", "says"),
    [
        (
            FAILS,
            False,
            r"Kafka 9\.9\.9 could not be fetched:"
            r" Could not find artifact org\.apache\.kafka:kafka_2\.13:jar:9\.9\.9\.$",
        ),
        ("", False, r"No jars of Kafka 9\.9\.9 came"),
        # It is not taken for a folder that cannot be written.
        ("#!/no/such/shell\n", False, r"bin/mvn does not run \(No such file"),
        # Those for another Scala.
        (BRINGS_JARS, True, r"No jars of Kafka 9\.9\.9 came"),
    ],
)
def test_what_could_not_be_fetched_leaves_nothing_behind(
    does: str, with_zookeeper: bool, says: str, maven: Maven
) -> None:
    maven(does)
    with pytest.raises(MissingKafkaError) as told:
        jar_cache.jars_of("9.9.9", with_zookeeper=with_zookeeper)
    assert re.search(says, told.value.sentence)
    assert not jar_cache.have_jars("9.9.9")
    assert {path.name for path in jar_cache.kafka_folder().iterdir()} <= {".lock"}


def test_without_maven_and_without_pyspark_the_mend_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(jar_cache, "_ivy_jar", lambda: None)
    assert jar_cache.can_fetch() is None
    with pytest.raises(MissingKafkaError, match="apt-get install maven"):
        jar_cache.jars_of("9.9.9")


def test_a_cache_that_cannot_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(MissingKafkaError, match="file/kiplab/kafka cannot be written"):
        jar_cache.jars_of("9.9.9")


# --- brokers of ZooKeeper's years -----------------------------------------------------------------


def test_they_are_kept_beside_those_of_the_same_release_without_zookeeper(maven: Maven) -> None:
    maven(BRINGS_OLD_JARS)
    folder = jar_cache.jars_of("9.9.9", with_zookeeper=True)
    assert folder == jar_cache.kafka_folder() / "9.9.9-zookeeper"
    assert not jar_cache.have_jars("9.9.9")


def test_until_2_3_they_get_a_client_of_zookeeper_that_connects_from_java_17() -> None:
    patches = ("2.1.1", "2.2.2", "2.3.1", "2.4.1", "2.5.0", "3.4.1")
    both = [jar_cache.zookeeper_era(patch) for patch in patches]
    assert [(k.name, k.version) for k, _ in both] == [("kafka_2.12", p) for p in patches]
    assert [other.name for _, other in both] == ["zookeeper"] * 3 + ["slf4j-reload4j"] * 3
