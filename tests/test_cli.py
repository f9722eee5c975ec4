"""The command contract: exit codes, one JSON object on stdout, never a traceback."""

import json
from pathlib import Path

import pytest

from kiplab.protocol.releases import RELEASES
from tests.conftest import Command


def test_kafka_14139_loses_records_on_3_4(command: Command) -> None:
    code, out, _ = command("play", "kafka-14139", "--kafka", "3.4", "--json")
    report = json.loads(out)
    assert code == 0
    assert report["verdict"] == "loss"
    assert report["lost"] == [{"partition": "orders-0", "first": 0, "last": 99}]


def test_kafka_14139_is_refused_on_3_5(command: Command) -> None:
    code, out, _ = command("play", "kafka-14139", "--kafka", "3.5", "--json")
    report = json.loads(out)
    assert code == 0
    assert report["verdict"] == "safe"
    assert report["lost"] == []
    assert report["refused"] == [
        {
            "guard": "903.controller-epoch",
            "error": "INELIGIBLE_REPLICA",
            "request": "alter-partition",
            "compared": [{"name": "broker 2 epoch", "requested": "41", "held": "57"}],
        }
    ]
    assert [s["to"] is not None for s in report["offline"]] == [True]


@pytest.mark.parametrize(
    ("features", "verdict"),
    [
        (["--kafka", "3.4", "--on", "903"], "safe"),
        (["--kafka", "3.5", "--off", "903"], "loss"),
        (["--kafka", "3.5", "--off", "903", "--on", "903.controller-epoch"], "loss"),
        (["--kafka", "3.5", "--on", "903", "--off", "903"], "loss"),
        (["--kafka", "3.5", "--off", "903", "--on", "903"], "safe"),
        (["--kafka", "3.5/3.4-IV0"], "loss"),
        (["--kafka", "3.4", "--on", "903.bump-leader-epochs"], "safe"),
    ],
)
def test_switches_apply_left_to_right(command: Command, features: list[str], verdict: str) -> None:
    _, out, _ = command("play", "kafka-14139", *features, "--json")
    assert json.loads(out)["verdict"] == verdict


def test_a_token_runs_again(command: Command) -> None:
    _, out, _ = command("play", "kafka-14139", "--kafka", "3.5", "--json")
    first = json.loads(out)
    _, out, _ = command("play", first["token"], "--json")
    assert json.loads(out) == first


def test_lists(command: Command) -> None:
    _, out, _ = command("plays", "--json")
    plays = {p["name"]: p for p in json.loads(out)["plays"]}
    assert plays["kafka-14139"]["kafka"] == "3.4"
    assert plays["kafka-14139"]["question"].endswith("?")
    _, out, _ = command("guards", "--json")
    guards = {g["id"]: g for g in json.loads(out)["guards"]}
    assert guards["903.controller-epoch"]["kip"] == 903
    assert guards["903.controller-epoch"]["error"] == "INELIGIBLE_REPLICA"
    assert guards["903.controller-epoch"]["releases"] == [
        name for name, release in RELEASES.items() if release.code >= (3, 5)
    ]
    assert guards["903.bump-leader-epochs"]["kind"] == "alternative"


def test_an_expectation_that_fails_is_exit_1(command: Command, tmp_path: Path) -> None:
    play = tmp_path / "wrong.play"
    play.write_text("broker 1\ntopic t replicas=1\nexpect t-0 leader=2\n")
    code, _, err = command("play", str(play))
    assert code == 1
    assert "wrong.play:3: expect t-0 leader=2: leader is 1" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["play", "kafka-1413"], "did you mean 'kafka-14139'?"),
        (["play", "kafka-14139", "--kafka", "3.1"], "the releases are zk-2.1"),
        (["play", "kafka-14139", "--on", "380"], "380 belongs to clusters with ZooKeeper"),
        (["play", "kafka-14139", "--kafka", "zk-2.2", "--off", "903"], "903 belongs to KRaft"),
        (["play", "380-missed-bounce", "--kafka", "zk-2.9"], "unknown release 'zk-2.9'"),
        (["play", "380-missed-bounce", "--on", "903"], "903 belongs to KRaft"),
        (["explore", "kafka-14139-zookeeper"], "level partition knows KRaft"),
        (["matrix", "kafka-14139-zookeeper"], "a matrix is of KRaft's rules"),
        (["play", "kafka-14139", "--off", "904"], "unknown guard '904'"),
        (["play", "kiplab1:zzzz"], "damaged"),
        (["timeline", "kafka-14139", "-o", "out.doc"], "it can end in .html"),
        (["timeline", "kafka-14139", "-o", "out.txt", "--compare", "3.1"], "unknown release"),
        (["timeline", "kafka-14139", "-o", "out.svg", "--light"], "a file that ends in .html"),
        (["timeline", "kafka-14139", "-o", "out.svg", "--live"], "a file that ends in .html"),
        (["timeline", "kafka-14139", "-o", "x.html", "--live", "--compare", "3.5"], "one run"),
        (
            ["timeline", "kafka-14139", "-o", "out.txt", *["--compare", "3.5"] * 4],
            "4 runs at most, not 5",
        ),
        (["play", "kafka-14139", "--compare", "3.5"], "--compare is for `kiplab timeline`"),
    ],
)
def test_bad_input_is_exit_2_and_one_line(
    command: Command, arguments: list[str], said: str
) -> None:
    code, out, err = command(*arguments)
    assert code == 2
    assert out == ""
    assert said in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("ending", ["html", "json", "csv", "txt"])
@pytest.mark.parametrize(
    "compare",
    [
        [],
        ["--compare", "3.5"],
        ["--compare", "--kafka", "3.5", "--off", "841"],
        ["--compare", "3.5", "--compare", "3.5-903"],
        ["--compare", "--kafka", "3.5", "--off", "841", "--compare", "3.5", "--compare", "3.9"],
    ],
)
def test_timeline_writes_what_the_ending_says(
    command: Command, tmp_path: Path, ending: str, compare: list[str]
) -> None:
    out = tmp_path / f"race.{ending}"
    code, _, _ = command("timeline", "kafka-14139", "-o", str(out), *compare)
    assert code == 0
    assert "INELIGIBLE_REPLICA" in out.read_text() or not compare
    assert out.stat().st_size > 500


def test_every_comparison_is_a_run_of_the_same_play(command: Command, tmp_path: Path) -> None:
    out = tmp_path / "ladder.json"
    compare = ["--compare", "--off", "903", "--kafka", "3.5", "--json", "--compare", "3.5"]
    code, said, _ = command("timeline", "kafka-14139", "-o", str(out), *compare)
    assert code == 0
    assert json.loads(said)["verdicts"] == ["loss", "loss", "safe"]
    content = json.loads(out.read_text(encoding="utf-8"))
    assert [c["first_difference"] for c in content["comparisons"]] == [None, 6]
