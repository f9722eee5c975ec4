"""Whatever a line, a file or a token holds: one sentence and exit code 2, in bounded time."""

import base64
import json
import zlib
from pathlib import Path

import pytest

from kiplab.cli.command import main
from kiplab.cli.common_options import BAD_INPUT, DONE
from kiplab.plays.grammar import parse
from kiplab.plays.play_errors import PlayError
from kiplab.plays.runner import run_play
from kiplab.plays.stage import MOVES_MAX
from kiplab.plays.tokens import decode
from kiplab.protocol.features import UnknownFeatureError

HEAD = "broker 1\nbroker 2\ntopic orders replicas=1,2 isr=1,2 leader=1 log=10@0\n"
FEATURES = {"release": "3.5", "metadata_version": "3.5-IV2"}


@pytest.mark.parametrize(
    ("line", "column", "found"),
    [
        ("fetch ²", 7, "there is no broker '²'"),
        ("produce orders-0 count=0", 24, "'0' is out of range"),
        ("hold hold", 6, "'hold' is not known here"),
        ("upgrade 7 kafka=3.6", 9, "there is no broker '7'"),
        ("upgrade all", 1, "does not say what is upgraded to what"),
        ("upgrade 1 metadata=3.5-IV2", 1, "does not say what is upgraded to what"),
        ("send fetch from=2 to=controller", 22, "there is no broker 'controller'"),
        ("send alter-partition from=1 to=2", 29, "alter-partition has no 'to'"),
        ("send elect-leaders from=1 isr=1", 27, "elect-leaders has no 'isr'"),
        ("expect", 1, "expects nothing"),
        ("expect broker ² fenced=no", 15, "there is no broker '²'"),
        ("expect broker 1 2 fenced=no", 8, "'broker 1 2' cannot be read"),
        ("expect broker 1", 1, "expects nothing"),
        ("expect replica 1 clicks-0 end=0", 18, "there is no partition 'clicks-0'"),
        ("expect @3.4 clicks-0 isr=1", 13, "there is no partition 'clicks-0'"),
        ("expect orders-0 fenced=no", 17, "orders-0 has no 'fenced'"),
        ("produce t--1 count=1", 9, "'t--1' is no partition name"),
        ("poll ..-0", 6, "'..-0' is no partition name"),
        ("send fetch from=2 partition=t--1", 29, "'t--1' is no partition name"),
        ("send fetch from=2 partition=t-01", 29, "'t-01' is no partition name"),
        ("send fetch from=2 partition=orders", 29, "'orders' is no partition name"),
        ("expect t--1 isr=1", 8, "'t--1' is no partition name"),
        ("expect reply t--1 isr=1", 14, "'t--1' is no partition name"),
        ("expect replica 1 t--1 end=0", 18, "'t--1' is no partition name"),
        ("expect consumer t--1 position=0", 17, "'t--1' is no partition name"),
        ("expect lost t--1 0..3", 13, "'t--1' is no partition name"),
        ("expect lost clicks-0 0..3", 13, "there is no partition 'clicks-0'"),
        ("expect lost", 8, "'lost' cannot be read"),
        ("expect lost orders-0 all", 8, "'lost orders-0 all' cannot be read"),
        ("expect property durability broken", 17, "'durability' is not known"),
        ("expect error=NONE isr=1", 19, "the last line has no 'isr'"),
        ("advance 0s", 9, "'0s' is no duration"),
        ("fetch 2\x0cfetch 2", 1, "control character"),
    ],
)
def test_the_place_of_what_is_wrong(line: str, column: int, found: str) -> None:
    with pytest.raises(PlayError) as problem:
        parse(HEAD + line, "race.play")
    assert str(problem.value).startswith(f"race.play:4:{column}: ")
    assert found in str(problem.value)


def test_a_wrong_partition_name_is_told_what_a_right_one_is() -> None:
    with pytest.raises(PlayError) as problem:
        parse(HEAD + "produce t--1 count=1", "race.play")
    for said in ("TOPIC-NUMBER", "orders-0", "249", "neither . nor ..", "a number from 0"):
        assert said in str(problem.value)


def test_a_partition_may_have_any_name_that_kafka_allows() -> None:
    topic = "A.b_c-0" + "x" * 242
    stage = run_play(parse(f"broker 1\ntopic {topic} partition=12 log=3@0\npoll {topic}-12"))
    assert stage.cluster.consumers[0].partition == f"{topic}-12"


@pytest.mark.parametrize("line", ["send elect-leaders from=2", "send elect-leaders from=9"])
def test_a_broker_may_ask_for_an_election(line: str) -> None:
    stage = run_play(parse(f"{HEAD}{line} partitions=orders-0"))
    assert not stage.cluster.messages


def test_a_raw_request_of_a_stranger_can_be_held_and_delivered() -> None:
    lines = "hold alter-partition\nsend alter-partition from=9\ndeliver alter-partition from=9\n"
    stage = run_play(parse(f"{HEAD}{lines}expect error=STALE_BROKER_EPOCH"))
    assert stage.expectations[0].status == "held"


def test_an_answer_that_never_came_fails_an_expectation() -> None:
    stage = run_play(parse(HEAD + "fetch 2\nexpect reply orders-0 isr=1"))
    assert stage.expectations[0].status == "failed"
    assert "no AlterPartition was answered" in stage.expectations[0].found


def test_endless_time_ends() -> None:
    play = parse(f"timed\n{HEAD}advance 999999999m\n", "long.play")
    with pytest.raises(PlayError, match=rf"long.play:5:1: .* {MOVES_MAX} moves"):
        run_play(play)


def token(content: object, packed: bytes = b"") -> str:
    packed = packed or zlib.compress(json.dumps(content).encode())
    check = zlib.crc32(packed).to_bytes(4, "big")
    return "kiplab1:" + base64.urlsafe_b64encode(check + packed).decode().rstrip("=")


@pytest.mark.parametrize(
    ("features", "found"),
    [
        ({"release": "9.9"}, "unknown release '9.9'"),
        ({"metadata_version": "x"}, "unknown metadata version 'x'"),
        ({"metadata_version": "3.9-IV0"}, "does not know metadata version"),
        ({"overrides": [["904.x", True]]}, "unknown guard '904.x'"),
        ({"overrides": [["903.leader-epoch", True], ["841.fenced", False]]}, "in order"),
        ({"nodes": [[1, "2.8"]]}, "unknown release '2.8'"),
    ],
)
def test_features_that_do_not_exist(features: dict[str, object], found: str) -> None:
    with pytest.raises(UnknownFeatureError, match=found):
        decode(token({"play": HEAD, "features": {**FEATURES, **features}}))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("kiplab²:abc", "no kiplab token"),
        (f"kiplab{'9' * 5000}:abc", "no kiplab token"),
        (token([1]), "damaged"),
        (token({"play": HEAD, "name": "a\nb"}), "damaged"),
        (token(None, zlib.compress(b'{"play":"x","features":' + b'{"a":' * 50_000)), "damaged"),
        (token(None, zlib.compress(b" " * 30_000_000)), "too large"),
    ],
)
def test_a_hostile_token(text: str, found: str) -> None:
    with pytest.raises(PlayError, match=found):
        decode(text)


@pytest.mark.parametrize("source", ["a" * 5000, "/", "/dev/zero", "no/such.play", ""])
def test_a_source_that_is_no_play(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["play", source]) == BAD_INPUT
    assert capsys.readouterr().err.startswith("kiplab: ")


def test_a_file_with_a_byte_order_mark_and_foreign_line_ends(tmp_path: Path) -> None:
    file = tmp_path / "race.play"
    file.write_bytes(b"\xef\xbb\xbf" + HEAD.replace("\n", "\r\n").encode())
    assert main(["play", str(file)]) == DONE
