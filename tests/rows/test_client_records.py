"""Records as clients know them: offset and leader epoch name a record, and a log has it or not."""

from hypothesis import given
from hypothesis import strategies as st

import kiplab
from kiplab.plays.grammar import parse
from kiplab.plays.library import load
from kiplab.plays.runner import run_play
from kiplab.protocol.ids import LeaderEpoch, Offset
from kiplab.protocol.log import EMPTY, Log, append, delete_before, epoch_at, first_missing
from kiplab.rows import client_records
from kiplab.rows.client_records import EpochRecords, holders, missing, stretches


def records(epoch: int, first: int, last: int) -> EpochRecords:
    return EpochRecords(LeaderEpoch(epoch), Offset(first), Offset(last))


def log(*runs: tuple[int, int], start: int = 0) -> Log:
    """Records written under one leader epoch after the other: (epoch, count)."""
    found = EMPTY
    for epoch, count in runs:
        found = append(found, LeaderEpoch(epoch), count)
    return delete_before(found, Offset(start))


LOGS = st.builds(
    lambda counts, start: log(*enumerate(counts), start=min(start, sum(counts))),
    st.lists(st.integers(0, 4), max_size=5),
    st.integers(0, 6),
)


def test_a_log_is_told_epoch_by_epoch() -> None:
    assert stretches(log((4, 80), (5, 20))) == (records(4, 0, 79), records(5, 80, 99))
    assert stretches(EMPTY) == ()


def test_what_is_missing_is_what_has_another_epoch_or_lies_behind_the_end() -> None:
    known = stretches(log((4, 80), (5, 20)))
    assert missing(log((4, 80)), known) == (records(5, 80, 99),)
    assert missing(log((4, 80), (7, 5)), known) == (records(5, 80, 99),)
    assert missing(log((4, 60), (6, 30)), known) == (records(4, 60, 79), records(5, 80, 99))
    assert missing(log((4, 80), (5, 30)), known) == ()


def test_what_was_deleted_on_purpose_is_missing_nowhere() -> None:
    assert missing(log((4, 80), start=40), (records(4, 0, 79),)) == ()
    assert missing(log((3, 50), (4, 80), start=40), (records(4, 0, 79),)) == (records(4, 40, 49),)


@given(LOGS, LOGS)
def test_each_record_is_missing_or_there(one: Log, known: Log) -> None:
    lacks = missing(one, stretches(known))
    lacking = {offset for part in lacks for offset in range(part.first, part.last + 1)}
    for offset in range(known.start, known.end):
        here = Offset(offset)
        held = offset < one.end and epoch_at(one, here) == epoch_at(known, here)
        assert (offset in lacking) is (not held and offset >= one.start)
    assert min(lacking, default=None) == first_missing(one, known)


def test_a_producer_was_told_of_acks_1_and_of_acks_all() -> None:
    told = client_records.acknowledged_records(kiplab.run("producer-lost-acknowledged").stage)
    assert [(t.producer, t.records, t.acks_all) for t in told] == [
        ("fast", (records(4, 10, 11),), False),
        ("safe", (records(5, 10, 12),), True),
    ]


def test_nobody_was_told_of_what_comes_later() -> None:
    stage = run_play(load("producer-lost-acknowledged"))
    before = kiplab.Lab("producer-lost-acknowledged").playback.frames[0].stage
    assert client_records.acknowledged_records(before) == ()
    assert len(client_records.acknowledged_records(stage)) == 2


def test_whoever_has_a_record_has_it_although_it_is_down() -> None:
    text = "broker 1\nbroker 2\ntopic t replicas=1,2 log=10@0\nproduce t-0 count=2 acks=1\ncrash 1"
    cluster = run_play(parse(text)).cluster
    assert holders(cluster, "t-0", records(0, 0, 9)) == (1, 2)
    assert holders(cluster, "t-0", records(0, 10, 11)) == (1,)
