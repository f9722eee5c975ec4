"""What a search finds without a clock, played with one: how long has a follower to lag for it?

A leader waits for a follower that was level within replica.lag.time.max.ms, in the ISR or not
(Partition.maybeIncrementLeaderHW and ReplicaState.isCaughtUp). A search takes that time as over.
"""

import pytest

from kiplab.explore.search.explore_play import explore
from kiplab.plays.grammar import parse
from kiplab.plays.runner import run_play
from kiplab.plays.values import feature_set
from kiplab.plays.verdict import HARM, LOSS, SAFE, expectations, verdict
from kiplab.protocol.replica.remote_replicas import LAG_TIME_MAX_MS

KEPT = feature_set("@3.5+497.pending-outlives-metadata")
THREE = """\
kafka     3.5
broker    1 epoch=101
broker    2 epoch=102
broker    3 epoch=103
topic     orders replicas=1,2,3 isr=1 leader=1 leader-epoch=1 partition-epoch=1 log=empty
"""
LEVEL_BEFORE = f"""\
{THREE}timed

hold      alter-partition
hold      metadata
cut       3 1
advance   500ms                      # 1 asks for 2, and learns from the answer: partition epoch 2
deliver   alter-partition from=1
heal      3 1                        # level, at 500 ms: 1 asks for 3
advance   500ms
cut       3 1
produce   orders-0 count=1 to=1
advance   LATE                       # 2 fetches, 3 cannot
expect    replica 1 orders-0 high-watermark=0
deliver   metadata to=1              # the proposal is forgotten
expect    replica 1 orders-0 high-watermark=COMMITTED
deliver   alter-partition from=1     # and accepted
expect    orders-0 isr=1,2,3
expect    replica 3 orders-0 end=0
"""
BEHIND_BEFORE = f"""\
{THREE}timed

hold      alter-partition
hold      metadata
hold      fetch-reply to=3
cut       2 1
cut       3 1
advance   31s                        # 1 has not seen 3 level for so long
heal      2 1
deliver   alter-partition from=1
cut       2 1
produce   orders-0 count=1 to=1
heal      3 1                        # behind, but it has what is committed: 1 asks for it
heal      2 1
advance   1s
expect    replica 1 orders-0 high-watermark=0
deliver   metadata to=1
expect    replica 1 orders-0 high-watermark=1
deliver   alter-partition from=1
expect    orders-0 isr=1,2,3
expect    replica 3 orders-0 end=0
"""
BOTH_DIE = """\
release   metadata
crash     1
crash     2
advance   10s
expect    orders-0 leader=3
"""
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
LAST_WAIT_MS = LAG_TIME_MAX_MS - 500
"""The longest wait after the record, written half a second after the follower was level."""


def level_before(wait: str, committed: int) -> str:
    return LEVEL_BEFORE.replace("LATE", wait).replace("COMMITTED", str(committed))


def test_without_a_clock_eight_steps_are_enough() -> None:
    found = explore(parse(THREE), crashes=0)
    assert (found.verdict, found.steps) == ("refuted", 8)


@pytest.mark.parametrize(
    ("wait", "committed", "word"),
    [
        ("1s", 0, SAFE),
        ("29s", 0, SAFE),
        (f"{LAST_WAIT_MS}ms", 0, SAFE),
        (f"{LAST_WAIT_MS + 1}ms", 1, HARM),
        ("31s", 1, HARM),
    ],
)
def test_who_was_level_when_asked_for_is_waited_for(wait: str, committed: int, word: str) -> None:
    stage = run_play(parse(level_before(wait, committed)))
    assert expectations(stage)["failed"] == 0
    assert verdict(stage) == word


def test_who_was_behind_when_asked_for_is_not_waited_for() -> None:
    """All of it happens in the second after the follower is back: 31 s, 32 s."""
    stage = run_play(parse(BEHIND_BEFORE))
    assert stage.cluster.now_ms == LAG_TIME_MAX_MS + 2_000
    assert expectations(stage)["failed"] == 0
    assert verdict(stage) == HARM


@pytest.mark.parametrize("text", [level_before("31s", 0), BEHIND_BEFORE])
def test_a_proposal_that_outlives_metadata_is_waited_for_however_long(text: str) -> None:
    assert verdict(run_play(parse(text), KEPT)) == SAFE


def test_the_record_is_lost_when_both_that_have_it_die_together() -> None:
    stage = run_play(parse(level_before("31s", 1) + BOTH_DIE))
    assert expectations(stage)["failed"] == 0
    assert verdict(stage) == LOSS


@pytest.mark.parametrize(("wait", "word"), [("29s", SAFE), ("31s", HARM)])
def test_a_missing_maximal_isr_does_harm_only_after_the_lag(wait: str, word: str) -> None:
    stage = run_play(parse(MEMBER.replace("LATE", wait)))
    assert expectations(stage)["failed"] == 0
    assert verdict(stage) == word
