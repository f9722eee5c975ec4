"""`kiplab fleet`: the contract of commands, from a preset's name to JSON and a page."""

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from msgspec.structs import replace

import kiplab
from kiplab import fleet
from kiplab.machine.java import JavaNotFound
from kiplab.spark import session
from tests.conftest import Command
from tests.fleet.fleet_answers.test_fleet_run import FIVE

STUDY = """
about = "short, and busy"
feature_sets = ["none", "841+903"]

[parameters]
crashes_per_year = [10, 20]
horizon_years = 5
"""
PROMISED = {"features", "metric", "events", "exposure", "rate", "low", "high", "method"}


@pytest.fixture(scope="module")
def a_year_of_small() -> fleet.FleetAnswer:
    return fleet.estimate("small", horizon_years=1.0)


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "busy.toml"
    path.write_text(STUDY)
    return path


@pytest.fixture(scope="class")
def live() -> Iterator[None]:
    """A session on this machine, for all tests of a class."""
    with session("local[2]", app="kiplab tests"):
        yield


@pytest.mark.spark
@pytest.mark.usefixtures("live")
class TestOnSpark:
    def test_it_prints_one_object_and_keeps_what_a_report_reads(
        self, study: Path, tmp_path: Path, command: Command
    ) -> None:
        folder = tmp_path / "kept"
        asked = ["run", study, "-o", folder, "--years", "1e3", "--json", "--engine", "spark"]
        code, out, err = command("fleet", *asked)
        assert (code, err) == (0, "")
        said = json.loads(out)
        assert (said["scenarios"], said["partition_years"]) == (2, 1_000)
        assert said["seconds"] > 0
        assert all(row.keys() >= PROMISED for row in said["rows"])
        assert {row["swept"]["crashes_per_year"] for row in said["rows"]} == {10.0, 20.0}
        code, out, _ = command("fleet", "report", folder, "--json")
        assert (code, json.loads(out)["rows"]) == (0, said["rows"])

    def test_the_numbers_are_those_without_spark(self, study: Path, tmp_path: Path) -> None:
        there = fleet.run(study, tmp_path / "there", years=1_000, spark=True)
        here = fleet.run(study, tmp_path / "here", years=1_000, spark=False)
        assert there.rows == here.rows
        assert there.summary == here.summary

    def test_a_study_is_gone_on_with_only_by_resume(
        self, study: Path, tmp_path: Path, command: Command
    ) -> None:
        asked = ["run", study, "-o", tmp_path / "kept", "--json", "--years"]
        assert command("fleet", *asked, 500)[0] == 0
        code, out, err = command("fleet", *asked, 500)
        assert (code, out) == (2, "")
        assert "--resume" in err
        code, out, _ = command("fleet", *asked, 1_000, "--resume")
        assert (code, json.loads(out)["partition_years"]) == (0, 1_000)

    def test_a_method_is_asked_for_by_its_name(
        self, study: Path, tmp_path: Path, command: Command
    ) -> None:
        asked = ["run", study, "-o", tmp_path / "kept", "--years", 10, "--json", "--method"]
        code, out, _ = command("fleet", *asked, "forced")
        assert code == 0
        assert {row["method"] for row in json.loads(out)["rows"]} == {"forced"}


def test_ctrl_c_stops_the_study_and_says_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    def pressed(study: str, *_: object, stop: threading.Event, **__: object) -> fleet.FleetAnswer:
        os.kill(os.getpid(), signal.SIGINT)
        assert stop.wait(20)
        return replace(fleet.estimate(study), finished=False)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    monkeypatch.setattr(import_module("kiplab.fleet.fleet_answers.fleet_run"), "run", pressed)
    try:
        code, out, err = command("fleet", "run", "small", "-o", tmp_path / "kept")
    finally:
        signal.signal(signal.SIGINT, before)
    assert (code, out) == (130, "")
    assert err.endswith(f"kiplab: stopped; --resume goes on with what {tmp_path / 'kept'} holds\n")
    assert "Traceback" not in err


def test_a_second_ctrl_c_leaves_at_once() -> None:
    program = """
import os, signal, threading
from kiplab.cli.fleet_command import stoppable

def deaf(stop):
    os.kill(os.getpid(), signal.SIGINT)
    stop.wait()
    os.kill(os.getpid(), signal.SIGINT)
    threading.Event().wait()

signal.signal(signal.SIGINT, signal.default_int_handler)
stoppable(deaf)
"""
    left = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert left.returncode == 130
    assert "Traceback" not in left.stderr


def test_without_java_it_says_what_is_missing_and_who_knows_more(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none() -> object:
        raise JavaNotFound("Java 17 is missing.", "Install it.")

    monkeypatch.setattr(import_module("kiplab.spark.session"), "find_java", none)
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    asked = ["run", "small", "-o", tmp_path / "kept", "--engine", "spark"]
    code, out, err = command("fleet", *asked)
    assert (code, out) == (3, "")
    assert err == (
        "kiplab: Java 17 is missing. Install it."
        " `kiplab doctor` says what else this machine has and lacks.\n"
    )


@pytest.mark.parametrize(
    ("asked", "on_spark"),
    [([], False), (["--years", "1e9"], True), (["--master", "local[2]"], True)],
)
def test_a_small_study_needs_no_java(
    asked: list[str],
    on_spark: bool,
    a_year_of_small: fleet.FleetAnswer,
    tmp_path: Path,
    command: Command,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given: dict[str, object] = {}

    def noted(*_: object, **options: object) -> fleet.FleetAnswer:
        given.update(options)
        return a_year_of_small

    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    monkeypatch.setattr(import_module("kiplab.fleet.fleet_answers.fleet_run"), "run", noted)
    assert command("fleet", "run", "small", "-o", tmp_path / "kept", *asked)[0] == 0
    assert given["spark"] is on_spark


def test_of_a_study_that_was_stopped_before_anything_was_done_there_is_no_report(
    study: Path, tmp_path: Path, command: Command
) -> None:
    stop = threading.Event()
    stop.set()
    fleet.run(study, tmp_path / "kept", years=200, spark=False, stop=stop)
    code, out, err = command("fleet", "report", tmp_path / "kept", "-o", tmp_path / "report.html")
    assert (code, out) == (2, "")
    assert err.startswith(f"kiplab: of the study in {tmp_path / 'kept'} nothing is done yet; ")
    assert not (tmp_path / "report.html").exists()


def test_a_report_prints_every_rate_with_its_interval(
    study: Path, tmp_path: Path, command: Command
) -> None:
    fleet.run(study, tmp_path / "kept", years=200, spark=False)
    code, out, err = command("fleet", "report", tmp_path / "kept")
    assert (code, err) == (0, "")
    assert out.startswith("What is the chance of losing acknowledged records?")
    assert "\nshort, and busy\n200 partition-years over 2 scenarios.\n" in out
    assert "841+903  cannot happen: KIP-841 refuses the join" in out


def test_a_report_is_a_page_with_the_pictures_that_the_study_can_feed(
    study: Path, tmp_path: Path, command: Command
) -> None:
    fleet.run(study, tmp_path / "kept", years=100, spark=False)
    target = tmp_path / "report.html"
    code, out, err = command("fleet", "report", tmp_path / "kept", "-o", target, "--json")
    assert (code, err) == (0, f"{target}: the page\n")
    assert json.loads(out)["partition_years"] == 100
    page = target.read_text(encoding="utf-8")
    places = [page.find(f"<h2>{part}") for part in FIVE]
    assert places == sorted(places)
    assert -1 < places[0] < page.find("<figure>")
    for question in ("until the first loss?", "by what?", "What matters most?", "one incident"):
        assert question in page
    assert "<script" not in page


def test_a_page_that_cannot_be_written_is_one_sentence(
    study: Path, tmp_path: Path, command: Command
) -> None:
    fleet.run(study, tmp_path / "kept", years=100, spark=False)
    target = tmp_path / "no folder" / "report.html"
    code, out, err = command("fleet", "report", tmp_path / "kept", "-o", target)
    assert (code, out) == (2, "")
    assert err == f"kiplab: {target} cannot be written: No such file or directory\n"


# --- story ---------------------------------------------------------------------------------------

LOSSES = """
feature_sets = ["841+903", "none"]

[parameters]
crashes_per_year = [100, 200]
tail_lost = 0.8
horizon_years = 1
"""


@pytest.fixture
def losing(tmp_path: Path) -> Path:
    path = tmp_path / "losing.toml"
    path.write_text(LOSSES)
    return path


def test_a_loss_of_a_study_is_a_file_that_a_play_runs(
    losing: Path, tmp_path: Path, command: Command
) -> None:
    target = tmp_path / "first.play"
    code, out, err = command("fleet", "story", losing, "-o", target)
    assert (code, err) == (0, "")
    assert f"`kiplab play {target}` runs it" in out
    assert "KIPs 841+903" in out
    assert kiplab.run(str(target)).verdict == "loss"
    code, out, _ = command("fleet", "story", losing, "-o", target, "--number", "2", "--json")
    said = json.loads(out)
    assert (code, said["verdict"], said["features"]) == (0, "loss", "841+903")
    assert kiplab.run(said["token"]).lost == kiplab.run(str(target)).lost
    other = ["--features", "none", "--scenario", "2", "--seed", "3", "--metric", "offline"]
    assert command("fleet", "story", losing, "-o", target, *other)[0] == 0
    assert "offline" in target.read_text()


# --- what cannot be -------------------------------------------------------------------------------

RUN, STORY = "run busy.toml -o kept", "story losing.toml -o story.play --years 10"
REFUSED = [
    (f"{RUN} --master foo", "'foo' is not a Spark master. Give one like local[2]"),
    ("run small -o ''", "-o names no folder; name the one that keeps the study\n"),
    ("run smal -o kept", "smal: no such file or directory; name a TOML file, or one of "),
    *((f"run small -o kept --years={years}", "partition-years") for years in ("0", "nan", "1e14")),
    (f"{RUN} --method guessed", "there is no method 'guessed'; there are naive, forced"),
    ("report nowhere", "holds no study"),
    ("report . -o page.txt", "page.txt ends in .txt"),
    (f"{STORY} --metric offline_us", "no play shows 'offline_us'; expected one of stale_join, "),
    (f"{STORY} --metric race_loss", "have no race_loss number 1: look through more with --years"),
    (f"{STORY} --features 842", "--features: there is no feature set '842'; none, or some of"),
    (f"{STORY} --number 0", "--number is 0; the first is 1"),
    (f"{STORY} --scenario 3", "--scenario is 3; the study has 2, from 1 on"),
    (f"{STORY} --seed -3", "a seed of -3; expected 0 to 4294967295"),
    (f"{STORY} --years -1", "years is -1; expected partition-years, more than 0"),
    (f"{STORY} -o story.txt", "story.txt ends in .txt; a play's file ends in .play"),
    (f"{STORY} -o nowhere/a.play", "a.play cannot be written: there is no such folder"),
    *((f"verify{asked}", "`kiplab fleet verify` is gone: the") for asked in ("", " -o a --json")),
]
WRONG_LINES = [
    ("crashes_a_year = 1", "", "busy.toml:8: crashes_a_year: there is no such parameter; did you"),
    ("catch_up_s = -1", "", "busy.toml:8: catch_up_s: -1 is out of range; it is a number from"),
    ("catch_up_s = ", "", "busy.toml:8: "),
    ('about = "us"', "", "about: it stands below [parameters]; put it at the top"),
    ("replication_factor = 1", "forced", "nothing can be forced in this study: "),
    ("catch_up_s = 180", "biased", "method 'biased' is gone; leave it out for naive, and forced"),
]


@pytest.mark.parametrize(
    ("line", "asked", "said"),
    [
        *(("", *case) for case in REFUSED),
        *((line, f"{RUN} --method={m}" if m else RUN, said) for line, m, said in WRONG_LINES),
    ],
)
def test_what_cannot_be_is_one_sentence_and_leaves_nothing_behind(
    study: Path,
    losing: Path,
    command: Command,
    monkeypatch: pytest.MonkeyPatch,
    line: str,
    asked: str,
    said: str,
) -> None:
    study.write_text(f"{STUDY}{line}\n")
    monkeypatch.chdir(study.parent)
    code, out, err = command("fleet", *shlex.split(asked))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("kiplab: ")
    assert said in err
    assert {*study.parent.iterdir()} == {study, losing}
