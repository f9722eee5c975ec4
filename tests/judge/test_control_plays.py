"""`kiplab real` for plays with ZooKeeper: the real controller's mail line by line beside that of
the engine's.

`pytest --rewrite tests/judge/test_control_plays.py` asks the real ones anew, and writes that.
"""

import lzma
from pathlib import Path

import msgspec
import psutil
import pytest

from kiplab.cli.command import main
from kiplab.judge.java_process import DeadKafkaError
from kiplab.judge.kafka_jars.jar_cache import ZOOKEEPER_PATCHES
from kiplab.judge.side_by_side.deciding import StaleRecordingError
from kiplab.judge.side_by_side.real_run import real
from kiplab.judge.side_by_side.two_columns import columns_text
from kiplab.judge.zookeeper_plays.control_play import (
    CONTROL_RECORDINGS,
    ControlPassages,
    play_on_recording,
    recorded_passages,
)
from kiplab.judge.zookeeper_plays.played_cluster import PlayedCluster
from kiplab.plays.library import load, names
from kiplab.protocol.features import parse_features
from kiplab.protocol.releases import RELEASES, Mode
from tests.judge.kafka_here import live, real_kafka

CASES = (
    "380-missed-bounce",
    "380-overwritten-checkpoint",
    "380-stale-controlled-shutdown",
    "380-stale-stop-replica",
)
"""The four of KIP-380's motivation."""
SUFFIX = ".json.xz"
BYTES_MAX = 20_000
"""Of the recordings of one play on every release."""
LIVE = (("380-missed-bounce", "zk-2.1"), ("380-stale-stop-replica", "zk-2.2"))
"""What is asked again whenever the suite runs."""
UNTOLD = {
    "380-zombie": "only broker 0's controller is real, and another one would take over",
    "380-two-step-upgrade": "inter.broker.protocol.version is read when the real broker starts",
    "380-newer-epoch": "it is a request by hand to a broker, and brokers are the engine's",
    "380-session-id": "none has this switched by hand",
    "343-two-leaders": "no Kafka 'kip-343' can be run for a play with ZooKeeper",
}


# --- what they say --------------------------------------------------------------------------------


@pytest.mark.parametrize("release", ZOOKEEPER_PATCHES)
@pytest.mark.parametrize("name", CASES)
def test_in_each_case_of_kip_380_the_real_controller_does_as_the_engines(
    name: str, release: str
) -> None:
    run = real(name, kafka=release, live=False)
    assert [line for line in run.both.lines if not line.agree] == []
    verdict = "harm" if release == "zk-2.1" else "safe"
    assert run.verdict == {"engine": verdict, "kafka": verdict}
    assert run.source == "recorded"


@pytest.mark.parametrize("release", ZOOKEEPER_PATCHES)
def test_every_play_that_is_recorded_is_on_every_release_and_agrees(release: str) -> None:
    others = {path.name.removesuffix(SUFFIX) for path in CONTROL_RECORDINGS.iterdir()} - {*CASES}
    assert len(others) >= 5
    for name in others:
        parted = [one for one in real(name, kafka=release, live=False).both.lines if not one.agree]
        assert not parted, f"{name}: {parted[0]}"


def test_every_recording_is_of_a_play_with_zookeeper_and_is_small() -> None:
    with_zookeeper = {
        name
        for name in names()
        if (kafka := load(name).first("kafka")) is not None
        and RELEASES[kafka.words[0]].mode is Mode.ZOOKEEPER
    }
    found = {path.name.removesuffix(SUFFIX): path for path in CONTROL_RECORDINGS.iterdir()}
    assert set(CASES) <= set(found) <= with_zookeeper
    assert all(path.stat().st_size < BYTES_MAX for path in found.values())


def test_every_release_with_zookeeper_that_was_built_can_be_asked() -> None:
    built = (r for r in RELEASES.values() if r.mode is Mode.ZOOKEEPER and r.specified is None)
    assert {release.name for release in built} == set(ZOOKEEPER_PATCHES)


def test_the_columns_say_for_which_incarnation_of_a_broker_a_request_was() -> None:
    run = real("380-stale-stop-replica", kafka="2.2.2", live=False)
    (line,) = [line for line in run.both.lines if line.play == "release leader-and-isr"]
    said = (
        "broker 1 gets LeaderAndIsr v2 for broker epoch 100 (it has 135), controller epoch 5: L-0"
    )
    for column in (line.engine, line.kafka):
        assert column[0].startswith(said)
        assert column[0].endswith("it answers STALE_BROKER_EPOCH")
    assert all(line.own)


def test_what_a_leader_writes_is_not_called_the_controllers() -> None:
    run = real("380-stale-stop-replica", kafka="zk-2.2", live=False)
    (line,) = [line for line in run.both.lines if line.play == "catch-up 1"]
    assert line.own == (False, False)
    assert all(said.startswith("ZooKeeper: ") for said in line.kafka)


def test_a_release_may_be_named_by_its_patch_as_well() -> None:
    assert real(CASES[0], kafka="2.2.2", live=False).kafka == "2.2.2"
    assert real(CASES[0], live=False).kafka == "2.1.1"


def test_the_report_has_both_columns_and_says_that_brokers_are_the_engines() -> None:
    report = real("380-stale-controlled-shutdown", kafka="zk-2.2", live=False).report()
    assert report["agree"] is True
    assert report["judge"] == {"controller": "kafka", "leader": "engine"}
    assert report["requests"] > report["records"] > 0
    (line,) = [one for one in report["lines"] if one["line"] == "deliver controlled-shutdown n=2"]
    refused = "broker 1 asks for its shutdown with broker epoch 100: STALE_BROKER_EPOCH"
    assert (line["engine"], line["kafka"]) == (refused, refused)


# --- where they part ------------------------------------------------------------------------------


def test_a_controller_that_sends_something_else_parts_and_what_comes_of_it_is_unknown() -> None:
    """The recording of 2.1.1, which notices no bounce, in the place of 2.2.2's."""
    run = real("380-missed-bounce", kafka="zk-2.2", live=False)
    other = recorded_passages("380-missed-bounce")["2.1.1"].passages
    run.both = play_on_recording(load("380-missed-bounce"), parse_features("zk-2.2"), other)
    assert not run.agree
    assert run.verdict == {"engine": "safe", "kafka": "unknown"}
    text = columns_text(run.both, run.names, run.notes, 120)
    assert "They part at step 4, 'release watcher-event'" in text
    assert "Kafka: unknown: brokers go on as beside the engine's controller." in text


def test_a_recording_of_other_lines_says_what_makes_it_anew() -> None:
    other = recorded_passages("380-missed-bounce")["2.2.2"].passages
    with pytest.raises(StaleRecordingError, match=r"pytest --rewrite tests/judge/test_control_pl"):
        play_on_recording(load("380-session-expiry"), parse_features("zk-2.2"), other)


HEADER = """\
title   One of one's own
kafka   zk-2.2
broker  0 epoch=90
broker  1 epoch=100
topic   F replicas=1 isr=1 leader=1
"""
OWN = {
    "crash 0": "own.play:6:1: no real controller can be told 'crash 0'; broker 0 is the real",
    "configure F unclean-leader-election=yes": "a topic's settings stay what they are",
    "topic F partition=1 replicas=1": "each topic has one partition there, number 0",
}
"""Last lines of a play of one's own, and what is said of each."""
REFUSED = [
    *(((name, "--live"), 2, why) for name, why in UNTOLD.items()),
    ((CASES[0], "--kafka", "3.5"), 2, "no Kafka '3.5' can be run for a play with ZooKeeper; there"),
    ((CASES[0], "--kafka", "zk-2.2/9.9-IV0"), 2, "9.9-IV0"),
    ((CASES[0], "--judge", "leader"), 2, "the brokers of a play with ZooKeeper are the engine's"),
    *((("own.play",), 2, why) for why in OWN.values()),
    (("own.play", "--recorded"), 3, "Only plays that come with kiplab are recorded"),
]


@pytest.mark.parametrize(("arguments", "code", "why"), REFUSED)
def test_what_cannot_be_told_or_shown_is_one_sentence_and_a_code(
    arguments: tuple[str, ...],
    code: int,
    why: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    line = next((line for line, said in OWN.items() if said == why), "crash 1")
    (tmp_path / "own.play").write_text(f"{HEADER}{line}\n")
    monkeypatch.chdir(tmp_path)
    assert main(["real", *arguments]) == code
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert said.err.startswith("kiplab: ")
    assert why in said.err


# --- asked again ----------------------------------------------------------------------------------


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """All plays on all releases are asked again only to be written anew."""
    if "asked_again" in metafunc.fixturenames:
        recorded = sorted(path.name.removesuffix(SUFFIX) for path in CONTROL_RECORDINGS.iterdir())
        everything = [(name, release) for name in recorded for release in ZOOKEEPER_PATCHES]
        some = everything if metafunc.config.getoption("--rewrite") else LIVE
        metafunc.parametrize("asked_again", some, ids="-".join)


@live(test_every_play_that_is_recorded_is_on_every_release_and_agrees)
def test_a_real_controller_says_what_is_recorded(
    asked_again: tuple[str, str], rewrite: bool
) -> None:
    name, release = asked_again
    with real_kafka():
        run = real(name, kafka=release, live=True)
    assert run.both.passages is not None
    heard = ControlPassages(run.both.passages)
    if rewrite:
        plays = dict(sorted((recorded_passages(name) | {run.kafka: heard}).items()))
        text = msgspec.json.encode(plays, order="deterministic")
        (CONTROL_RECORDINGS / f"{name}{SUFFIX}").write_bytes(lzma.compress(text, preset=9))
    assert recorded_passages(name)[run.kafka] == heard


@live(test_every_play_that_is_recorded_is_on_every_release_and_agrees)
def test_a_controller_that_ends_in_mid_play_is_named_and_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = set(psutil.Process().children(recursive=True))

    def killed(_cluster: PlayedCluster, _path: str) -> None:
        for child in set(psutil.Process().children()) - before:
            child.kill()
            child.wait()
        raise ConnectionResetError("it is gone")

    monkeypatch.setattr(PlayedCluster, "tell", killed)
    gone = pytest.raises(DeadKafkaError, match=r"Kafka 2.2.2 does not go on: it is gone")
    with real_kafka(), gone:
        real("380-missed-bounce", kafka="zk-2.2", live=True)
    assert set(psutil.Process().children(recursive=True)) <= before
