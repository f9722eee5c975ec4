"""What a play begins with, told to a real controller: reached, called otherwise, or refused."""

from collections.abc import Callable
from pathlib import Path
from unittest.mock import MagicMock

import pytest

from kiplab.engine.truth import truth
from kiplab.judge.side_by_side import initial_state, real_run
from kiplab.plays import grammar, runner
from kiplab.plays.play_errors import PlayError
from tests.judge import test_recorded_plays
from tests.judge.kafka_here import live, real_kafka

LIVE = ("3.4", "3.5")
ASKED = "send alter-partition from=1 partition=orders-0"
THREE = "broker 1 epoch=101\nbroker 2 epoch=102\nbroker 3 epoch=103\n"


def told(text: str, release: str = "3.5") -> real_run.RealRun:
    """A run in which both columns agree."""
    with real_kafka():
        run = real_run.real(grammar.parse(text, "begun"), kafka=release, live=True)
    parted = [line for line in run.both.lines if not line.agree]
    assert not parted, parted[0]
    return run


SCENES: dict[str, tuple[tuple[str, ...], str, Callable[[real_run.RealRun], bool]]] = {
    # Leaders that are not the first replica, a member order, a fenced replica, a partition that
    # nobody leads, one that was led uncleanly, and one that is being moved: all at once.
    "leaders, ISRs, fences and reassignments": (
        LIVE,
        THREE
        + "broker 4 epoch=120 fenced=yes\n"
        + "topic orders replicas=1,2,3 isr=3,2 leader=2 leader-epoch=7 partition-epoch=3\n"
        + "topic orders partition=1 replicas=3,1,4 isr=3,1 leader=3\n"
        + "topic clicks replicas=4 isr=4 leader=none leader-epoch=2\n"
        + "topic views replicas=1,2 isr=2 leader=2 recovery=recovering\n"
        + "topic moved replicas=1,3,2 isr=1,2 leader=1 adding=3 removing=2\n"
        + "given next-metadata-offset=200\n"
        + "unfence 4\ncatch-up 1\ncatch-up 3\ncrash 3\nexpire 3\nelect orders-0\n",
        lambda run: run.both.records > 5,
    ),
    # Its session remembers nothing of it, as after a failover: only the log does.
    "a broker that is shutting down is let in by nobody": (
        ("3.5", "4.1"),
        "broker 1 epoch=101\nbroker 2 epoch=102 shutting-down=yes\nbroker 3 epoch=103\n"
        "topic orders replicas=1,2,3 isr=1,3 leader=1 leader-epoch=3 log=4@3\n"
        "given next-metadata-offset=200\n"
        "fetch 2\nfetch 2\nsend alter-partition from=1 partition=orders-0 isr=1,2,3\n"
        "heartbeat 2\ncrash 1\nexpire 1\nstart 1\nunfence 1\n",
        lambda run: run.both.turns > 10 and "INELIGIBLE_REPLICA" in str(run.report()["lines"]),
    ),
    "brokers without a topic": (
        ("3.2",),
        "broker 1\nbroker 2\ncrash 2\nexpire 2\nstart 2\nunfence 2\n",
        lambda run: run.agree,
    ),
    # From 4.0 on a controller that had heard of it just now would make its next incarnation wait.
    "a broker that begins fenced is let in at once": (
        ("4.1",),
        "broker 1\nbroker 2 fenced=yes down=yes\ntopic orders replicas=2 isr=2 leader=none\n"
        "start 2\nunfence 2\n",
        lambda run: run.both.records == 3,
    ),
    "numbers out of reach are called otherwise and compare as they did": (
        ("3.5",),
        "broker 1 epoch=0\nbroker 2 epoch=3000000000\n"
        "topic orders replicas=1,2 isr=1 leader=1 leader-epoch=2000000000\n"
        "given next-metadata-offset=3000000001\n"
        "send alter-partition from=1 partition=orders-0 leader-epoch=2000000000"
        " partition-epoch=0 isr=1,2\n"
        "send alter-partition from=1 partition=orders-0 leader-epoch=2147483647"
        " partition-epoch=0 isr=1,2\n"
        "send broker-heartbeat from=2 broker-epoch=2999999999\n"
        "send broker-heartbeat from=2 broker-epoch=3000000000 metadata-offset=0\n"
        "crash 2\nexpire 2\nstart 2\nunfence 2\nfail-over\ncrash 1\nexpire 1\nstart 1\n",
        lambda run: (
            len(run.both.renaming.sentences) >= 3
            and "epoch=300000000" in run.report()["lines"][-1]["kafka"]
        ),
    ),
    "a run with a clock is told by the clock": (
        ("3.5",),
        f"timed\n{THREE}topic orders replicas=1,2,3 isr=1,2,3 leader=1\n"
        "crash 2\nadvance 12s\nstart 2\nadvance 40s\nshut-down 3\nadvance 10s\n",
        lambda run: run.both.records >= 5,
    ),
    "absurd requests and a resignation": (
        ("3.5",),
        f"{THREE}topic orders replicas=1,2,3 isr=1,2 leader=1\n"
        f"{ASKED} broker-epoch=900000000000 isr=1\n{ASKED} leader-epoch=-2147483647 isr=1\n"
        f"{ASKED} isr=\n{ASKED} isr=1,1,1\n{ASKED} isr=1,2 recovery=2\ncatch-up 3\n",
        lambda run: run.agree,
    ),
    "an ELR, and a topic with one replica": (
        ("4.0", "4.3"),
        f"kafka 4.3 elr=1\n{THREE}"
        "topic orders replicas=1,2,3 isr=1 leader=1 elr=2 min-insync-replicas=2\n"
        "topic views replicas=3 isr=3 leader=3\n"
        "crash 1\nexpire 1\nstart 1\nunfence 1\ncatch-up 1\ncrash 3\nexpire 3\n"
        "start 3\nunfence 3\nshut-down 2\nelect orders-0\n",
        lambda run: run.both.records > 10,
    ),
    "nobody leads, and the last known leader may not before an ELR member returns": (
        ("4.1", "4.3"),
        "kafka 4.3 elr=1\nbroker 1 epoch=101 fenced=yes down=yes\n"
        "broker 2 epoch=102 fenced=yes down=yes\nbroker 3 epoch=103\n"
        "topic orders replicas=1,2,3 isr=none leader=none elr=1,2 last-known=1"
        " min-insync-replicas=2\n"
        "start 1\nunfence 1\nstart 2\nunfence 2\nelect orders-0 unclean=yes\n",
        lambda run: run.both.records == 6,
    ),
    "settings are changed and the feature is switched": (
        ("4.2", "4.3"),
        f"kafka 4.3 elr=1\n{THREE}given min-insync-replicas=2\ntopic views isr=1,2,3 leader=1\n"
        "topic orders replicas=1,2,3 isr=1,2,3 leader=1 min-insync-replicas=2\n"
        "shut-down 3\nstart 3\nconfigure-brokers min-insync-replicas=3\n"
        "crash 3\nexpire 3\ncrash 2\nexpire 2\nconfigure orders min-insync-replicas=3\n"
        "configure orders unclean-leader-election=yes\nstart 3\nunfence 3\nupgrade elr=0\n"
        "crash 1\nexpire 1\nupgrade elr=1\nstart 1\nunfence 1\n",
        lambda run: run.both.records > 10,
    ),
    "the metadata version is raised on the way": (
        ("3.5/3.4-IV0",),
        f"{THREE}topic orders replicas=1,2,3 isr=1,2,3 leader=1\n"
        "crash 2\nexpire 2\nupgrade metadata=3.5-IV2\nstart 2\nunfence 2\ncatch-up 2\n",
        lambda run: run.agree,
    ),
}


@live(test_recorded_plays.test_what_is_shipped_is_what_the_live_path_makes_of_the_answers)
@pytest.mark.parametrize(
    ("scene", "release"), [(scene, release) for scene in SCENES for release in SCENES[scene][0]]
)
def test_what_a_play_begins_with_is_reached(scene: str, release: str) -> None:
    _, text, holds = SCENES[scene]
    assert holds(told(text, release))


@live(test_recorded_plays.test_what_is_shipped_is_what_the_live_path_makes_of_the_answers)
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
