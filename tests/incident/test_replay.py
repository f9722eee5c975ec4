"""A metadata log becomes states, lives and events."""

from kiplab.incident.records import Moment
from kiplab.incident.states import Joined
from tests.incident.short_log import replayed, short_log, the_partition

START = """
0 0 topic orders
1 0 feature metadata.version 11
2 0 register 1@2 X1 11
3 0 unfence 1@2
4 0 register 2@4 X2 11
5 0 unfence 2@4
6 0 register 3@6 X3 11
7 0 unfence 3@6
8 1 new p0 replicas=2,3,1 isr=2,3,1 leader=2
"""
OTHER_LIFE = (
    START
    + """
9 11 change p0 isr=2,1 leader=2
10 11 fence 3@6
11 16 stop 2@4
12 16 change p0 isr=1 leader=1
13 37 change p0 leader=-1
14 37 fence 1@2
15 40 register 1@15 Y1 11
16 40 unfence 1@15
17 40 change p0 leader=1
"""
)


def test_a_member_keeps_the_life_in_which_it_joined() -> None:
    events, replay, found = replayed(list(short_log(OTHER_LIFE)))
    elected, last = events[-1], the_partition(replay, 0)
    assert not found
    assert elected.before is not None
    assert elected.before.joined == {1: Joined(2, Moment(8, 1000))}
    assert elected.cluster.lives[1].epoch == 15
    assert elected.before.alone_since == Moment(12, 16000)
    assert elected.before.leaderless_since == Moment(13, 37000)
    assert last.leaderless_since is None
    assert (last.leader_epoch, last.partition_epoch, last.name) == (4, 4, "orders-0")
    # What it holds now is the partition's log: the next election of this process is none of another
    # life.
    assert last.joined == {1: Joined(15, Moment(17, 40000))}


def test_each_change_has_the_handler_that_its_neighbours_tell() -> None:
    events, _, _ = replayed(list(short_log(OTHER_LIFE)))
    told = {e.record.offset: (e.handlers, e.cause) for e in events}
    assert told[9] == (("fenced", "AlterPartition"), 10)
    assert told[12] == (("controlled shutdown",), 11)
    assert told[13] == (("fenced",), 14)
    assert told[17] == (("unfenced",), 16)
