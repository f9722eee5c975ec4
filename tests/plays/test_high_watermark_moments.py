"""When a leader looks at its high watermark: appends, news of a follower, answers, metadata."""

import pytest

from kiplab.plays.grammar import parse
from kiplab.plays.runner import run_play

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


@pytest.mark.parametrize(("release", "end"), [("3.6", 10), ("3.7", 11)])
def test_min_insync_replicas_beyond_the_replicas(release: str, end: int) -> None:
    header = f"kafka {release}\nbroker 1\ntopic t min-insync-replicas=2 log=10@0\n"
    stage = run_play(parse(header + f"produce t-0 count=1\nexpect replica 1 t-0 end={end}"))
    assert stage.expectations[0].status == "held", stage.expectations
