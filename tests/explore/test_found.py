"""What the explorer found that nobody had planned, each as a play."""

from pathlib import Path

import pytest

from kiplab.explore.search.explore_play import explore
from kiplab.plays.grammar import parse
from kiplab.plays.play import Play
from kiplab.plays.runner import run_play
from kiplab.plays.values import feature_set
from kiplab.plays.verdict import HARM, SAFE, breaks_promise, expectations, verdict
from tests.explore.bounds import THREE

FOUND = Path(__file__).parent / "found"


def found_play(name: str) -> Play:
    """One of the folder `found`."""
    return parse((FOUND / f"{name}.play").read_text("utf-8"), name)


def test_late_metadata_undoes_a_pending_proposal() -> None:
    """As in Kafka, where an image of the same partition epoch replaces the pending state."""
    play = found_play("late-metadata")
    assert expectations(run_play(play))["failed"] == 0
    kept = run_play(play, feature_set("@3.5+497.pending-outlives-metadata"))
    assert expectations(kept) == {"held": 2, "failed": 0, "skipped": 5}


def test_the_last_replica_excuses_what_a_deposed_leader_commits_later() -> None:
    """The observer had called this a broken promise: nothing was committed when the disk went."""
    stage = run_play(found_play("deposed-leader-commits"))
    assert expectations(stage)["failed"] == 0
    assert not breaks_promise(stage)


def test_a_longer_log_does_not_hide_a_loss() -> None:
    """A leader alone in its ISR commits its whole log in the step in which it takes over, and the
    observer had taken that for what was committed all along."""
    play = found_play("longer-log")
    assert expectations(run_play(play))["failed"] == 0


def test_an_epoch_without_a_record_gives_way() -> None:
    """A follower's fetch had named the epoch of its last record, not the latest of its cache, and
    the copied record had then passed for one of the epoch that was noted there."""
    play = found_play("an-epoch-without-a-record")
    assert expectations(run_play(play))["failed"] == 0


# --- what a search finds without a clock, played with one: how long has a follower to lag for it? -
# A leader waits for a follower that was level within replica.lag.time.max.ms, in the ISR or not
# (Partition.maybeIncrementLeaderHW and ReplicaState.isCaughtUp). A search takes that time as over.
# Of followers outside the ISR the plays hole-level and hole-never-level tell.

MEMBER = """\
kafka     3.5
off       497.maximal-isr
broker    1 epoch=40
broker    2 epoch=41
topic     orders replicas=1,2 isr=1 leader=1 leader-epoch=5 partition-epoch=10 log=100@5
timed

hold      alter-partition
hold      metadata
advance   500ms                      # level: 1 asks for 2
cut       2 1
produce   orders-0 count=1 to=1
advance   LATE
produce   orders-0 count=1 to=1      # 1 looks at the high watermark again
deliver   alter-partition from=1
expect    orders-0 isr=1,2
"""


def test_without_a_clock_eight_steps_are_enough() -> None:
    found = explore(parse(THREE), crashes=0)
    assert (found.verdict, found.steps) == ("refuted", 8)


@pytest.mark.parametrize(("wait", "word"), [("29s", SAFE), ("31s", HARM)])
def test_a_missing_maximal_isr_does_harm_only_after_the_lag(wait: str, word: str) -> None:
    stage = run_play(parse(MEMBER.replace("LATE", wait)))
    assert expectations(stage)["failed"] == 0
    assert verdict(stage) == word
