"""What a play begins with, told to a real controller: reached, called otherwise, or refused."""

from pathlib import Path
from unittest.mock import MagicMock

import pytest

from kiplab.engine.truth import truth
from kiplab.judge.side_by_side import initial_state, real_run
from kiplab.plays import grammar, runner
from kiplab.plays.play_errors import PlayError
from tests.judge.kafka_here import live, real_kafka

QUICK = (
    "tests/judge/test_recorded_plays.py::"
    "test_what_is_shipped_is_what_the_live_path_makes_of_the_answers"
)
"""It replays what the real ones answered."""

LIVE = ("3.4", "3.5")
THREE = "broker 1 epoch=101\nbroker 2 epoch=102\nbroker 3 epoch=103\n"


def told(text: str, release: str = "3.5") -> real_run.RealRun:
    """A run in which both columns agree."""
    with real_kafka():
        run = real_run.real(grammar.parse(text, "begun"), kafka=release, live=True)
    parted = [line for line in run.both.lines if not line.agree]
    assert not parted, parted[0]
    return run


@live(QUICK)
@pytest.mark.parametrize("release", LIVE)
def test_leaders_isrs_fences_and_reassignments_are_reached(release: str) -> None:
    """Leaders that are not the first replica, a member order, a fenced replica, a partition that
    nobody leads, one that was led uncleanly, and one that is being moved: all at once.
    """
    run = told(
        THREE
        + "broker 4 epoch=120 fenced=yes\n"
        + "topic orders replicas=1,2,3 isr=3,2 leader=2 leader-epoch=7 partition-epoch=3\n"
        + "topic orders partition=1 replicas=3,1,4 isr=3,1 leader=3\n"
        + "topic clicks replicas=4 isr=4 leader=none leader-epoch=2\n"
        + "topic views replicas=1,2 isr=2 leader=2 recovery=recovering\n"
        + "topic moved replicas=1,3,2 isr=1,2 leader=1 adding=3 removing=2\n"
        + "given next-metadata-offset=200\n"
        + "unfence 4\ncatch-up 1\ncatch-up 3\ncrash 3\nexpire 3\nelect orders-0\n",
        release,
    )
    assert run.both.records > 5


@live(QUICK)
@pytest.mark.parametrize("release", ["3.5", "4.1"])
def test_a_broker_that_is_shutting_down_is_reached_and_let_in_by_nobody(release: str) -> None:
    """Its session remembers nothing of it, as after a failover: only the log does."""
    run = told(
        "broker 1 epoch=101\nbroker 2 epoch=102 shutting-down=yes\nbroker 3 epoch=103\n"
        "topic orders replicas=1,2,3 isr=1,3 leader=1 leader-epoch=3 log=4@3\n"
        "given next-metadata-offset=200\n"
        "fetch 2\nfetch 2\nsend alter-partition from=1 partition=orders-0 isr=1,2,3\n"
        "heartbeat 2\ncrash 1\nexpire 1\nstart 1\nunfence 1\n",
        release,
    )
    assert run.both.turns > 10
    assert "INELIGIBLE_REPLICA" in str(run.report()["lines"])


@live(QUICK)
def test_brokers_without_a_topic_are_told_to_the_oldest_kafka_too() -> None:
    told("broker 1\nbroker 2\ncrash 2\nexpire 2\nstart 2\nunfence 2\n", "3.2")


@live(QUICK)
def test_a_broker_that_begins_fenced_is_let_in_at_once_by_the_newest_kafka_too() -> None:
    """From 4.0 on a controller that had heard of it just now would make its next life wait."""
    text = "broker 1\nbroker 2 fenced=yes down=yes\ntopic orders replicas=2 isr=2 leader=none\n"
    run = told(f"{text}start 2\nunfence 2\n", "4.1")
    assert run.both.records == 3


@live(QUICK)
def test_numbers_out_of_reach_are_called_otherwise_and_compare_as_they_did() -> None:
    run = told(
        "broker 1 epoch=0\nbroker 2 epoch=3000000000\n"
        "topic orders replicas=1,2 isr=1 leader=1 leader-epoch=2000000000\n"
        "given next-metadata-offset=3000000001\n"
        "send alter-partition from=1 partition=orders-0 leader-epoch=2000000000"
        " partition-epoch=0 isr=1,2\n"
        "send alter-partition from=1 partition=orders-0 leader-epoch=2147483647"
        " partition-epoch=0 isr=1,2\n"
        "send broker-heartbeat from=2 broker-epoch=2999999999\n"
        "send broker-heartbeat from=2 broker-epoch=3000000000 metadata-offset=0\n"
        "crash 2\nexpire 2\nstart 2\nunfence 2\nfail-over\ncrash 1\nexpire 1\nstart 1\n"
    )
    assert len(run.both.renaming.sentences) >= 3
    assert "epoch=300000000" in run.report()["lines"][-1]["kafka"]


@live(QUICK)
def test_a_run_with_a_clock_is_told_by_the_clock() -> None:
    run = told(
        "timed\n"
        + THREE
        + "topic orders replicas=1,2,3 isr=1,2,3 leader=1\n"
        + "crash 2\nadvance 12s\nstart 2\nadvance 40s\nshut-down 3\nadvance 10s\n"
    )
    assert run.both.records >= 5


@live(QUICK)
def test_absurd_requests_and_a_resignation_get_kafkas_own_errors() -> None:
    asked = "send alter-partition from=1 partition=orders-0"
    told(
        THREE
        + "topic orders replicas=1,2,3 isr=1,2 leader=1\n"
        + f"{asked} broker-epoch=900000000000 isr=1\n"
        + f"{asked} leader-epoch=-2147483647 isr=1\n"
        + f"{asked} isr=\n"
        + f"{asked} isr=1,1,1\n"
        + f"{asked} isr=1,2 recovery=2\n"
        + "catch-up 3\n"
    )


@live(QUICK)
def test_the_metadata_version_is_raised_on_the_way() -> None:
    text = THREE + (
        "topic orders replicas=1,2,3 isr=1,2,3 leader=1\n"
        "crash 2\nexpire 2\nupgrade metadata=3.5-IV2\nstart 2\nunfence 2\ncatch-up 2\n"
    )
    told(text, "3.5/3.4-IV0")


@live(QUICK)
@pytest.mark.parametrize("parted", ["isr=1,2 leader=1", "isr=1 leader=none"])
def test_what_no_requests_lead_to_is_refused_with_its_line(parted: str) -> None:
    """A fenced member of an ISR that is not its last one, and nobody leading where somebody may."""
    what = parted.partition("=")[0] if "1,2" in parted else "leader"
    with pytest.raises(PlayError, match=f"no requests lead a real controller to its {what}") as no:
        told(f"broker 1\nbroker 2 fenced=yes\ntopic orders replicas=1,2 {parted}\n")
    assert str(no.value).startswith("begun:3:1: no real controller can be told 'topic orders")


@pytest.mark.parametrize(
    ("header", "line", "why"),
    [
        (f"{THREE}topic orders partition=1 replicas=1,2 isr=1\n", 4, "numbered from 0 on"),
        (
            f"{THREE}topic a replicas=1,2 isr=1\ntopic a partition=1 replicas=1 isr=1\n",
            5,
            "as many replicas for every partition",
        ),
    ],
)
def test_what_is_wrong_by_itself_is_refused_before_kafka_is_asked(
    header: str, line: int, why: str, tmp_path: Path
) -> None:
    play, kafka = grammar.parse(header, "begun"), MagicMock()
    kafka.process.data = tmp_path
    with pytest.raises(PlayError, match=why) as refused:
        initial_state.InitialState(kafka, play, truth(runner.open_stage(play).cluster)).reach()
    assert str(refused.value).startswith(f"begun:{line}:1: no real controller can be told")
