"""A metadata log becomes states, incarnations and events; what does not fit is told."""

import pytest
from msgspec.structs import replace

from kiplab.incident.log_items import UNKNOWN, LogItem, LogRecord, OffsetAndTime, Remark, SavedState
from kiplab.incident.states import Handler, Joined
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
LATE = START.replace("1 0 feature metadata.version 11\n", "")
"""Where the log begins, the metadata version may be unknown."""
STOPPED_ALONE = START + (
    "9 9 change p0 isr=2\n10 19 stop 2@4\n11 19 change p0 leader=-1\n"
    "12 19 change p0 leader=-1\n13 19 fence 2@4"
)
WITH_ELR = START + "9 2 feature eligible.leader.replicas.version 1\n"


def log(*texts: str) -> list[LogItem]:
    return [*short_log("\n".join(texts))]


def test_a_member_keeps_the_incarnation_as_which_it_joined() -> None:
    events, replay, found = replayed(log(OTHER_LIFE))
    elected, last = events[-1], the_partition(replay, 0)
    assert not found
    assert elected.before is not None
    assert elected.before.joined == {1: Joined(2, OffsetAndTime(8, 1000))}
    assert elected.cluster.incarnations[1].epoch == 15
    assert elected.before.alone_since == OffsetAndTime(12, 16000)
    assert elected.before.leaderless_since == OffsetAndTime(13, 37000)
    assert last.leaderless_since is None
    assert (last.leader_epoch, last.partition_epoch, last.name) == (4, 4, "orders-0")
    # What it holds now is the partition's log: the next election of this process is none of another
    # incarnation.
    assert last.joined == {1: Joined(15, OffsetAndTime(17, 40000))}


@pytest.mark.parametrize(
    ("text", "offset", "handlers", "cause"),
    [
        (OTHER_LIFE, 9, ("fenced", "AlterPartition"), 10),
        (OTHER_LIFE, 12, ("controlled shutdown",), 11),
        (OTHER_LIFE, 13, ("fenced",), 14),
        (OTHER_LIFE, 17, ("unfenced",), 16),
        # No broker's record beside it.
        (START + "9 9 change p0 isr=2,1 leader=2", 9, ("AlterPartition",), UNKNOWN),
        (START + "9 9 change p0 isr=2,1\n11 9 fence 3@6", 9, ("AlterPartition",), UNKNOWN),
        (START + "9 9 change p0 isr=2,1\n10 19 fence 3@6", 9, ("AlterPartition",), UNKNOWN),
        (START + "9 9 change p0 leaderRecoveryState=0", 9, ("AlterPartition",), UNKNOWN),
        # What stands behind a change that no leader asks for is of the same event.
        (
            START + "9 9 change p0 isr=3,1 leader=3\n10 9 change p0 isr=1\n11 9 fence 3@6",
            10,
            ("fenced", "AlterPartition"),
            11,
        ),
        (
            START + "9 9 change p0 leader=3\n10 9 change p0 leader=2",
            10,
            ("preferred election",),
            UNKNOWN,
        ),
        (
            START + "9 9 change p0 isr=3 leader=3 leaderRecoveryState=1",
            9,
            ("unclean election",),
            UNKNOWN,
        ),
        # The second of two finds the partition RECOVERING.
        (
            START + "9 9 change p0 isr=3 leader=3 leaderRecoveryState=1\n"
            "11 9 change p0 leader=-1\n12 9 fence 3@6\n14 9 change p0 isr=1 leader=1",
            14,
            ("unclean election",),
            UNKNOWN,
        ),
        (START + "9 9 change p0 directories=a,b,c", 9, ("directories",), UNKNOWN),
        (START + "9 9 change p0 leader=3 directories=a,b,c", 9, ("directories",), UNKNOWN),
        # An unfencing may elect, but no preferred election follows from no leader.
        (
            START + "9 9 change p0 leader=-1\n11 9 change p0 leader=2",
            11,
            ("unknown",),
            UNKNOWN,
        ),
        (START + "9 9 change p0 isr=3,1 leader=3\n10 9 moved 2@4", 9, ("directories",), 10),
        (START + "9 9 change p0 isr=3,1 leader=3\n10 9 unregister 2@4", 9, ("unregistration",), 10),
        (START + "9 9 change p0 isr=3,1 leader=3\n10 9 register 2@9 Y", 9, ("registration",), 10),
        # A process that registers again under its broker epoch does nothing else.
        (START + "9 9 change p0 isr=2,1\n10 9 register 3@6 X3", 9, ("AlterPartition",), UNKNOWN),
        # Another event's: the broker epoch is the offset of the registration's first record.
        (START + "9 9 change p0 isr=2,1\n10 9 register 3@10 Y", 9, ("AlterPartition",), UNKNOWN),
        (
            START + "9 9 change p0 replicas=2,3,1,4 addingReplicas=4",
            9,
            ("reassignment",),
            UNKNOWN,
        ),
        (
            START
            + "9 9 change p0 replicas=2,3,1,4 addingReplicas=4 removingReplicas=1\n"
            + "10 9 change p0 isr=2,3,4 replicas=2,3,4 addingReplicas= removingReplicas=",
            10,
            ("AlterPartition",),
            UNKNOWN,
        ),
        # It ends with whatever comes, once an unclean election has taken the last that was missing.
        (
            START
            + "9 9 change p0 replicas=4,2,3,1 addingReplicas=4\n11 9 change p0 leader=-1\n"
            + "13 9 change p0 isr=4 leader=4 leaderRecoveryState=1\n15 9 change p0 addingReplicas=",
            15,
            ("unknown",),
            UNKNOWN,
        ),
        # A stop elects nobody where nobody leads, and reports no directories.
        (
            START
            + "9 8 change p0 isr=2\n11 9 stop 2@4\n12 9 change p0 leader=-1\n"
            + "13 9 change p0 isr=3 leader=3 leaderRecoveryState=1",
            13,
            ("unclean election",),
            UNKNOWN,
        ),
        (
            START
            + "9 8 change p0 isr=2\n11 9 stop 2@4\n12 9 change p0 leader=-1\n"
            + "13 9 change p0 directories=a,b,c",
            13,
            ("directories",),
            UNKNOWN,
        ),
        # A second controller goes on with a stop; below 3.3-IV3 nothing else is written of one.
        (
            START + "9 9 stop 2@4\n10 9 idle\n11 9 change p0 isr=3,1 leader=3",
            11,
            ("controlled shutdown",),
            UNKNOWN,
        ),
        # Where it alone is the ISR, its fence writes once more that nobody leads.
        (STOPPED_ALONE, 11, ("controlled shutdown",), 10),
        (STOPPED_ALONE, 12, ("fenced",), 13),
        (START + "9 9 change p0 isr=3,1 leader=3", 9, ("unknown",), UNKNOWN),
        (
            START + "9 9 change p0 isr=2,1 replicas=2,1 leader=2\n10 9 fence 3@6",
            9,
            ("reassignment",),
            UNKNOWN,
        ),
        (LATE + "9 9 change p0 isr=3,1 leader=3", 9, ("unknown",), UNKNOWN),
        (
            START.replace("version 11", "version 6") + "9 9 change p0 isr=3,1 leader=3",
            9,
            ("controlled shutdown",),
            UNKNOWN,
        ),
        (WITH_ELR + "10 9 clear", 10, ("settings",), UNKNOWN),
    ],
)
def test_the_records_beside_a_change_tell_whose_doing_it_was(
    text: str, offset: int, handlers: tuple[Handler, ...], cause: int
) -> None:
    events, _, _ = replayed(log(text))
    assert [(e.handlers, e.cause) for e in events if e.record.offset == offset] == [
        (handlers, cause)
    ]


def test_a_change_waits_no_longer_than_so_many_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kiplab.incident.replayed_log.whose_doing.LOOK_AHEAD", 2)
    changes = [f"{at} 9 change p0 isr=2,3,1" for at in range(9, 12)]
    events, _, _ = replayed(log(START, *changes, "12 9 change p0 isr=2,1", "13 9 fence 3@6"))
    told = {e.record.offset: e.handlers for e in events if e.record.offset > 8}
    assert told[9] == told[10] == told[11] == ("AlterPartition",)
    assert told[12] == ("fenced", "AlterPartition")
    assert [*told] == sorted(told)


def test_an_eligible_member_keeps_the_incarnation_as_which_it_was_in_sync() -> None:
    text = WITH_ELR + (
        "10 3 change p0 isr=2 eligibleLeaderReplicas=1,3\n"
        "11 3 fence 3@6\n"
        "12 4 change p0 isr=2,1 eligibleLeaderReplicas=3\n"
    )
    _, replay, _ = replayed(log(text))
    state = the_partition(replay, 0)
    assert state.joined == {
        2: Joined(4, OffsetAndTime(8, 1000)),
        1: Joined(2, OffsetAndTime(12, 4000)),
        3: Joined(6, OffsetAndTime(8, 1000)),
    }


def test_a_cleared_list_is_a_change_of_the_partition_that_has_one() -> None:
    text = WITH_ELR + "10 3 new p1 replicas=1,2 isr=1,2 leader=1\n"
    text += "11 4 change p0 isr=2 eligibleLeaderReplicas=1,3\n12 5 clear orders\n"
    events, replay, _ = replayed(log(text))
    assert [e.partition and e.partition.name for e in events if e.record.offset == 12] == [
        "orders-0"
    ]
    cleared, other = the_partition(replay, 0), the_partition(replay, 1)
    assert (cleared.elr, cleared.partition_epoch, other.partition_epoch) == ((), 2, 0)
    assert set(cleared.joined) == {2}


def test_moments_tell_since_when_it_is_so() -> None:
    text = START + (
        "9 2 topic-config min.insync.replicas 2\n"
        "10 3 change p0 isr=2\n"
        "11 4 change p0 isr=3 leader=3 leaderRecoveryState=1\n"
        "12 5 change p0 isr=3,1 leaderRecoveryState=0\n"
        "13 6 change p0 isr=3\n"
        "14 7 topic-config min.insync.replicas 1\n"
    )
    events, replay, _ = replayed(log(text))
    by_offset = {e.record.offset: e.after for e in events if e.after}
    assert by_offset[11].below_since == by_offset[10].below_since == OffsetAndTime(10, 3000)
    assert by_offset[11].recovering_since == OffsetAndTime(11, 4000)
    assert by_offset[11].passed_over == (2,)
    assert by_offset[12].alone_since is None
    assert by_offset[12].recovering_since is None
    assert by_offset[13].below_since == OffsetAndTime(13, 6000)
    # A setting is an event of the partition for which it changes something.
    assert by_offset[14].below_since is None
    assert the_partition(replay, 0).isr_changes == (3000, 4000, 5000, 6000)


def test_a_removed_topic_ends_its_partitions_and_its_settings() -> None:
    text = START + "9 2 topic-config min.insync.replicas 2\n10 3 remove\n"
    events, replay, _ = replayed(log(text))
    assert events[-1].before is not None
    assert events[-1].after is None
    assert not replay.partitions
    assert not replay.cluster.topic_settings


def test_records_of_an_aborted_transaction_count_for_offsets_only() -> None:
    text = "{}\n9 2 begin\n10 2 change p0 isr=2\n11 2 {}\n12 2 change p0 isr=2,1"
    _, aborted, found = replayed(log(text.format(START, "abort")))
    _, ended, _ = replayed(log(text.format(START, "end")))
    assert not found
    assert the_partition(aborted, 0).partition_epoch == 1
    assert the_partition(ended, 0).partition_epoch == 2


def test_no_ops_are_no_events_but_after_a_silence() -> None:
    text = START + "9 2 idle\n10 2.5 idle\n11 3 idle\n12 9 idle\n"
    events, replay, _ = replayed(log(text))
    idle = [e for e in events if e.record.type == "NO_OP_RECORD"]
    assert [e.record.offset for e in idle] == [9, 10, 12]
    assert idle[2].cluster.previous == OffsetAndTime(11, 3000)
    assert [e.cluster.idles for e in idle] == [False, True, True]
    assert replay.last == OffsetAndTime(12, 9000)


def test_the_controller_is_who_the_quorum_says_and_its_release_what_it_registered() -> None:
    first = short_log("0 0 leads 3000\n1 0 controller 3000 25\n2 0 controller 3001 27", epoch=4)
    second = short_log("3 9 leads 3001", epoch=5)
    events, replay, _ = replayed([*first, *second])
    clusters = [events[1].cluster, replay.cluster]
    assert [(c.controller_id, c.controller_release) for c in clusters] == [
        (3000, "4.0"),
        (3001, "4.1"),
    ]
    assert replay.cluster.controller_since == OffsetAndTime(3, 9000)


def test_a_broker_that_registers_again_lives_on_only_under_its_epoch() -> None:
    text = START + "9 2 register 3@6 X3 11\n10 3 register 3@10 Y3 14\n11 4 unregister 3@10\n"
    _, replay, _ = replayed(log(text))
    incarnation = replay.cluster.incarnations[3]
    assert (incarnation.epoch, incarnation.release, incarnation.ended) == (
        10,
        "3.6",
        OffsetAndTime(11, 4000),
    )
    (earlier,) = replay.cluster.earlier_incarnations[3]
    assert (earlier.epoch, earlier.registered.offset, earlier.ended) == (
        6,
        6,
        OffsetAndTime(10, 3000),
    )
    assert not earlier.may_lead


BROKEN = {
    "a change of an unknown partition": (
        "9 2 change p7 isr=1",
        "The record changes partition 7",
    ),
    "a fence of another epoch": ("9 2 fence 3@5", "The record changes broker 3 of epoch 5"),
    "a partition that is there": (
        "9 2 new p0 replicas=2,3,1 isr=2 leader=2",
        "The record has orders-0 with ISR [2]; the records before it lead to ISR [2, 3, 1]",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_does_not_fit_is_told_once(case: str) -> None:
    line, sentence = BROKEN[case]
    again = line.replace("9 2", "10 2")
    _, _, found = replayed(log(START, line, again))
    assert [f.rule for f in found] == ["inconsistent"]
    assert sentence in found[0].sentence


def test_behind_a_gap_a_partition_is_known_again_from_its_next_record_on() -> None:
    gap = Remark("gap", "", "f", 9, 20)
    after = log(
        "20 9 change p0 isr=2", "21 9 new p0 replicas=2,3,1 isr=2 leader=2", "22 9 fence 3@6"
    )
    events, replay, found = replayed([*log(START), gap, *after])
    assert [f.sentence for f in found] == ["The records from 9 to 19 are missing."]
    assert [e.record.offset for e in events if e.record.offset > 8] == [21, 22]
    assert not the_partition(replay, 0).joined[2].exact
    assert replay.cluster.incarnations[3].fenced


def saved(end: int, *texts: str) -> SavedState:
    records = tuple(
        replace(r, offset=at) for at, r in enumerate(log(*texts)) if isinstance(r, LogRecord)
    )
    return SavedState(end, 1, 1000, records, "a.checkpoint")


def test_a_checkpoint_is_where_a_log_may_begin() -> None:
    items = [saved(9, START), *log("9 11 change p0 isr=2,1")]
    events, replay, found = replayed(items)
    assert not found
    assert events[0].before is not None
    assert events[0].before.joined[3] == Joined(6, OffsetAndTime(8, 1000), exact=False)
    assert replay.cluster.incarnations[3].registered == OffsetAndTime(6)
    assert replay.complete


@pytest.mark.parametrize(
    ("left_out", "sentence"),
    [
        ("nothing", ""),
        ("9 ", "orders-0 with ISR [2, 1], partition epoch 1; the records before it lead to"),
        ("8 ", "orders-0, which no record before it made"),
        ("10 ", "broker 3 with fenced True; the records before it lead to fenced False."),
    ],
)
def test_a_checkpoint_is_compared_with_the_records_before_it(left_out: str, sentence: str) -> None:
    text = START + "9 2 change p0 isr=2,1\n10 2 fence 3@6\n"
    kept = "\n".join(line for line in text.splitlines() if not line.startswith(left_out))
    image = text.replace("9 2 change p0 isr=2,1\n", "").replace(
        "isr=2,3,1 leader=2", "isr=2,1 leader=2 partitionEpoch=1"
    )
    _, replay, found = replayed([*log(kept), saved(11, image)])
    told = [f.sentence for f in found if f.offset == 11]
    assert any(sentence in said for said in told) == bool(sentence)
    state = the_partition(replay, 0)
    assert (state.isr, state.partition_epoch) == ((2, 1), 1)


def test_a_checkpoint_alone_has_a_moment() -> None:
    _, replay, _ = replayed([saved(9, START)])
    assert replay.first == replay.last == OffsetAndTime(8, 1000)
