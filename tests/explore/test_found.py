"""What the explorer found that nobody had planned, each as a play."""

import pytest

from kiplab.explore.search.explore_play import explore
from kiplab.plays.grammar import parse
from kiplab.plays.runner import run_play
from kiplab.plays.values import feature_set
from kiplab.plays.verdict import HARM, SAFE, breaks_promise, expectations, verdict
from tests.explore.bounds import THREE

IN_SYNC = THREE.replace("isr=1 ", "isr=1,2 ")
TWO = IN_SYNC.replace("broker    3 epoch=103\n", "").replace("1,2,3", "1,2")
LATE_METADATA = f"""\
title     Late metadata undoes a pending proposal
question  The leader knows a partition epoch from an answer. What does the metadata of it do later?
{THREE}
hold      metadata
fetch     2                          # 1 asks for 2, and learns from the answer: partition epoch 2
expect    orders-0 isr=1,2 partition-epoch=2
hold      alter-partition
fetch     3                          # 1 asks for 3, prepared against partition epoch 2
produce   orders-0 count=1
fetch     2
fetch     2                          # 2 has the record; it is not committed before 3 has it
expect    replica 1 orders-0 high-watermark=0
deliver   metadata to=1              # partition epoch 2, known already: the proposal is forgotten
expect    replica 1 orders-0 high-watermark=1
expect    @3.5+497.pending-outlives-metadata replica 1 orders-0 high-watermark=0
deliver   alter-partition from=1     # and accepted: 3 is in the ISR, without the record
expect    orders-0 isr=1,2,3
expect    property electable-holds-committed broken
expect    @3.5+497.pending-outlives-metadata property electable-holds-committed holds
"""
DEPOSED_LEADER_COMMITS = f"""\
title     A deposed leader commits what the last replica has lost
question  The record was on two brokers, and one lost its disk before it counted. Who is to blame?
{IN_SYNC}
hold      alter-partition
hold      metadata
produce   orders-0 count=1
fetch     2
fetch     3                          # from now on the record has to wait for 3 as well
fetch     2                          # 1 knows that 2 has the record
crash     2 disk=replaced
expire    1                          # 2 is the last member of the ISR
expire    2
start     2
deliver   metadata to=2
deliver   metadata to=2
fetch     3                          # 1 does not know yet, and commits
expect    replica 1 orders-0 high-watermark=1
unfence   2
expect    property electable-holds-committed broken
"""
OTHER_RECORDS_OF_A_LONGER_LOG = f"""\
title     A longer log takes over
question  The new leader has more records than were ever committed, but other ones. What is lost?
{TWO}
hold      metadata
produce   orders-0 count=2 to=1      # 1 has two records that nobody else has
expire    1
deliver   metadata to=2
produce   orders-0 count=1 to=2      # 2 is alone in the ISR: committed
crash     2                          # its disk still has the record
expire    2
heartbeat 1                          # unfenced, and outside the ISR
elect     orders-0 unclean=yes
deliver   metadata to=1
deliver   metadata to=1
deliver   metadata to=1
deliver   metadata to=1
expect    orders-0 leader=1
expect    replica 1 orders-0 high-watermark=2
expect    verdict=loss
expect    lost orders-0 0..0
"""
AN_EPOCH_WITHOUT_A_RECORD = f"""\
title     A leader that never wrote copies older records
question  Broker 2 led without a record, and copies what an earlier leader wrote. Under which epoch?
{IN_SYNC}
produce   orders-0 count=1 to=1
fetch     3                          # 1 asks for 3, which has the record; 2 does not have it
expect    orders-0 isr=1,2,3
crash     1 disk=replaced
expire    1
expect    orders-0 leader=2          # from leader epoch 2 on, at offset 0
expire    2
heartbeat 2
expect    orders-0 leader=3 isr=3
produce   orders-0 count=1 to=3
fetch     2                          # its last epoch is 2, which 3 has never seen: the logs part
expect    replica 2 orders-0 end=0
fetch     2
fetch     2                          # and now it says that it has both
expect    replica 2 orders-0 end=2
expect    orders-0 isr=3,2
expect    property logs-match holds
expect    property electable-holds-committed holds
"""


def test_late_metadata_undoes_a_pending_proposal() -> None:
    """As in Kafka, where an image of the same partition epoch replaces the pending state."""
    play = parse(LATE_METADATA, "late-metadata")
    assert expectations(run_play(play))["failed"] == 0
    kept = run_play(play, feature_set("@3.5+497.pending-outlives-metadata"))
    assert expectations(kept) == {"held": 2, "failed": 0, "skipped": 5}


def test_the_last_replica_excuses_what_a_deposed_leader_commits_later() -> None:
    """The observer had called this a broken promise: nothing was committed when the disk went."""
    stage = run_play(parse(DEPOSED_LEADER_COMMITS, "deposed-leader-commits"))
    assert expectations(stage)["failed"] == 0
    assert not breaks_promise(stage)


def test_a_longer_log_does_not_hide_a_loss() -> None:
    """A leader alone in its ISR commits its whole log in the step in which it takes over, and the
    observer had taken that for what was committed all along."""
    play = parse(OTHER_RECORDS_OF_A_LONGER_LOG, "longer-log")
    assert expectations(run_play(play))["failed"] == 0


def test_an_epoch_without_a_record_gives_way() -> None:
    """A follower's fetch had named the epoch of its last record, not the latest of its cache, and
    the copied record had then passed for one of the epoch that was noted there."""
    play = parse(AN_EPOCH_WITHOUT_A_RECORD, "an-epoch-without-a-record")
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
