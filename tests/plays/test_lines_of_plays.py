"""What single lines do to a run: what is held, when a high watermark moves, what is upgraded."""

import pytest

from kiplab.plays.grammar import parse
from kiplab.plays.play_errors import PlayError
from kiplab.plays.runner import run_play
from kiplab.plays.verdict import breaks_promise, verdict

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
    with pytest.raises(ValueError, match="the process that sent it no longer runs"):
        run_play(parse(HEAD + lines))


def test_what_a_controller_cannot_handle_without_zookeeper_waits_for_the_link() -> None:
    head = "kafka zk-2.1\ncontroller broker=0 epoch=5\nbroker 0 epoch=90\n" + HEAD
    asked = head + "cut 0 zookeeper\nelect orders-0\n"
    (waiting,) = run_play(parse(asked)).cluster.messages
    assert waiting.name.kind == "elect-leaders"
    assert not run_play(parse(asked + "heal 0 zookeeper")).cluster.messages


REFUSED = """
kafka 3.5
broker 1
broker 2
topic t replicas=1,2 isr=1 leader=1 log=10@0
hold alter-partition
fetch 2
produce t-0 count=5
expect replica 1 t-0 high-watermark=10 end=15
hold metadata to=1
crash 2
expire 2
deliver alter-partition
expect reply t-0 error=INELIGIBLE_REPLICA
expect replica 1 t-0 isr=1 high-watermark=10
produce t-0 count=1
expect replica 1 t-0 high-watermark=16
"""


def test_a_refused_proposal_leaves_the_high_watermark_to_the_next_append() -> None:
    stage = run_play(parse(REFUSED))
    assert [e.status for e in stage.expectations] == ["held"] * 4, stage.expectations


def test_of_two_answers_the_last_one_is_the_reply() -> None:
    sent = "hold alter-partition\nsend alter-partition from=1 partition=orders-0 isr=1\n"
    twice = f"{sent}duplicate alter-partition\nrelease alter-partition\n"
    stage = run_play(parse(f"{HEAD}{twice}expect reply orders-0 error=FENCED_LEADER_EPOCH"))
    assert [e.status for e in stage.expectations] == ["held"], stage.expectations


@pytest.mark.parametrize(("release", "end"), [("3.6", 10), ("3.7", 11)])
def test_min_insync_replicas_beyond_the_replicas(release: str, end: int) -> None:
    header = f"kafka {release}\nbroker 1\ntopic t min-insync-replicas=2 log=10@0\n"
    stage = run_play(parse(header + f"produce t-0 count=1\nexpect replica 1 t-0 end={end}"))
    assert stage.expectations[0].status == "held", stage.expectations


RACE = """
kafka 3.4
broker 1 epoch=40
broker 2 epoch=41
topic orders replicas=1,2 isr=1 leader=1 leader-epoch=5 partition-epoch=10 log=100@5
hold alter-partition from=1
fetch 2
crash 2 disk=replaced
expire 2
start 2
unfence 2
upgrade all kafka=3.5
upgrade metadata=3.5-IV2
deliver alter-partition from=1
crash 1
expire 1
"""


def test_an_old_request_does_harm_after_the_upgrade_and_breaks_no_promise() -> None:
    stage = run_play(parse(RACE))
    assert verdict(stage) == "loss"
    assert not breaks_promise(stage)


def test_between_releases_that_promise_it_the_promise_stays() -> None:
    stage = run_play(parse("kafka 3.5\nbroker 1\ntopic t\nupgrade all kafka=3.6"))
    assert not stage.cluster.inherited


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ("kafka 3.9\nbroker 1\nupgrade all kafka=3.2", "does not know metadata version 3.9-IV0"),
        (
            "kafka 3.9\nmetadata 3.4-IV0\nbroker 1 kafka=3.4\nupgrade metadata=3.9-IV0",
            "broker 1 runs Kafka 3.4",
        ),
        ("kafka 3.5\nbroker 1\nupgrade metadata=3.4-IV0", "an upgrade lowers nothing"),
        (
            "kafka 3.4/3.0-IV1\nbroker 1\nupgrade metadata=3.2-IV0",
            "no metadata version below 3.3-IV0 can be upgraded to",
        ),
    ],
)
def test_no_release_runs_at_a_metadata_version_it_does_not_know(lines: str, reason: str) -> None:
    with pytest.raises(PlayError, match=reason):
        run_play(parse(lines))
