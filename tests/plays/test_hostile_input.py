"""Whatever a line, a file or a token holds: one sentence and exit code 2, in bounded time."""

import base64
import json
import zlib
from pathlib import Path

import pytest

from kiplab.cli.command import main
from kiplab.cli.common_options import BAD_INPUT, DONE
from kiplab.plays.grammar import parse
from kiplab.plays.library import decode
from kiplab.plays.play_errors import PlayError
from kiplab.plays.runner import run_play
from kiplab.protocol.features import UnknownFeatureError

HEAD = "broker 1\nbroker 2\ntopic orders replicas=1,2 isr=1,2 leader=1 log=10@0\n"
FEATURES = {"release": "3.5", "metadata_version": "3.5-IV2"}


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
    assert "no AlterPartition was answered" in stage.expectations[0].actual


def test_endless_time_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kiplab.plays.stage.MOVES_MAX", 2_000)
    play = parse(f"timed\n{HEAD}advance 999999999m\n", "long.play")
    with pytest.raises(PlayError, match=r"long.play:5:1: .* 2000 moves"):
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
