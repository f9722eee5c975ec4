"""`hold` and `release`: the last word on a message decides; replies go their own ways."""

import pytest

from kiplab.plays.grammar import parse
from kiplab.plays.runner import run_play

HEAD = "broker 1\nbroker 2\ntopic orders replicas=1,2 isr=1,2 leader=1 log=10@0\n"


def flying(lines: str) -> list[str]:
    return [str(m.name) for m in run_play(parse(HEAD + lines)).cluster.messages]


@pytest.mark.parametrize(
    ("lines", "left"),
    [
        ("hold fetch from=2\nrelease fetch\nfetch 2", []),
        ("hold fetch\nrelease fetch from=2\nfetch 2", []),
        ("hold fetch\nrelease fetch from=1\nfetch 2", ["fetch #1 from broker 2"]),
        ("hold fetch\nfetch 2\nrelease fetch from=2", []),
        ("fetch 2\nrelease fetch\nhold fetch\nfetch 2", ["fetch #2 from broker 2"]),
    ],
)
def test_the_last_word_decides(lines: str, left: list[str]) -> None:
    assert flying(lines) == left


def test_a_copy_whose_answer_is_lost_takes_no_other_answer_with_it() -> None:
    lines = (
        "hold fetch\nhold fetch-reply\nfetch 2\nduplicate fetch\ndeliver fetch\nlose-reply fetch\n"
    )
    assert flying(lines) == ["fetch-reply #1 from broker 1"]


def test_the_dead_send_nothing_twice() -> None:
    lines = "hold alter-partition\nsend alter-partition from=1\ncrash 1\nduplicate alter-partition"
    with pytest.raises(ValueError, match="the process that sent it is gone"):
        run_play(parse(HEAD + lines))


def test_what_a_controller_cannot_handle_without_zookeeper_waits_for_the_link() -> None:
    head = "kafka zk-2.1\ncontroller broker=0 epoch=5\nbroker 0 epoch=90\n" + HEAD
    asked = head + "cut 0 zookeeper\nelect orders-0\n"
    (waiting,) = run_play(parse(asked)).cluster.messages
    assert waiting.name.kind == "elect-leaders"
    assert not run_play(parse(asked + "heal 0 zookeeper")).cluster.messages
