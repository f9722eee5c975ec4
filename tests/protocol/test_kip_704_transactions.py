"""Transactions, as far as KIP-704 speaks of them (704.15): one open in a log, its marker, and up to
where a consumer reads that reads only what is committed.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiplab.plays.grammar import parse
from kiplab.plays.move_lines import statement_of
from kiplab.plays.play_errors import PlayError
from kiplab.plays.runner import run_play
from kiplab.plays.stage import Stage
from kiplab.protocol.facts import Polled, TransactionBegun, TransactionEnded
from kiplab.protocol.ids import LeaderEpoch, Offset
from kiplab.protocol.log import (
    EMPTY,
    Log,
    aborted,
    append,
    end_transaction,
    extend,
    last_stable_offset,
    open_transaction,
    records_from,
    truncate,
)

HEAD = """\
broker    1
broker    2
topic     orders replicas=1,2 isr=1,2 leader=1 leader-epoch=5 log=10@5
consumer  orders-0
consumer  orders-0 name=careful isolation=read_committed
"""
OPEN = "produce orders-0 count=5 transaction=open\ncatch-up 2\n"
LEVEL = "catch-up 2\npoll orders-0 consumer=careful\n"
FIVE = LeaderEpoch(5)


def played(lines: str) -> Stage:
    return run_play(parse(HEAD + lines, "made up"))


def read(stage: Stage, name: str) -> list[tuple[int, int, int]]:
    polls = (e for e in stage.events if isinstance(e, Polled) and e.consumer == name)
    return [(e.first, e.last, e.aborted) for e in polls]


def test_a_careful_consumer_reads_up_to_the_last_stable_offset() -> None:
    stage = played(f"{OPEN}poll orders-0\npoll orders-0 consumer=careful\n")
    assert read(stage, "consumer") == [(0, 14, 0)]
    assert read(stage, "careful") == [(0, 9, 0)]


@pytest.mark.parametrize(("how", "skipped"), [("commit", 0), ("abort", 6)])
def test_once_it_has_ended_the_careful_consumer_goes_on(how: str, skipped: int) -> None:
    stage = played(
        f"{OPEN}end-transaction orders-0 {how}\ncatch-up 2\npoll orders-0 consumer=careful\n"
    )
    assert read(stage, "careful") == [(0, 15, skipped)]
    (ended,) = (e for e in stage.events if isinstance(e, TransactionEnded))
    assert (ended.first, ended.marker, ended.commits) == (10, 15, how == "commit")


def test_a_marker_that_is_not_committed_ends_nothing_yet() -> None:
    stage = played(f"{OPEN}end-transaction orders-0 commit\npoll orders-0 consumer=careful\n")
    assert read(stage, "careful") == [(0, 9, 0)]


def test_what_was_aborted_was_never_read() -> None:
    stage = played(
        f"{OPEN}end-transaction orders-0 abort\ncatch-up 2\npoll orders-0 consumer=careful\n"
    )
    (careful,) = (c for c in stage.cluster.consumers if c.name == "careful")
    assert careful.position == 16
    assert [e for e in careful.observed.epochs if e.epoch >= 0] == [(5, 0)]


def test_the_latest_offset_is_the_last_stable_one_for_the_careful() -> None:
    stage = played(f"{OPEN}reset orders-0 to=latest consumer=careful\nreset orders-0 to=latest\n")
    found = {c.name: c.position for c in stage.cluster.consumers}
    assert found == {"careful": 10, "consumer": 15}


def test_one_transaction_begins_once_and_takes_others_between_its_records() -> None:
    lines = "produce orders-0 count=2\nproduce orders-0 count=1 transaction=open\n"
    stage = played(f"{OPEN}{lines}end-transaction orders-0 abort\n")
    assert len([e for e in stage.events if isinstance(e, TransactionBegun)]) == 1
    log = stage.cluster.brokers[0].durable.replicas[0].log
    assert aborted(log) == ((10, 15), (17, 18), (18, 19)), "what came between is kept"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("end-transaction orders-0 abort", "no transaction is open in broker 1's log of orders-0"),
        (
            f"{OPEN}end-transaction orders-0 commit\nend-transaction orders-0 abort",
            "no transaction is open",
        ),
        (f"{OPEN}end-transaction orders-0 commit to=2", "broker 2 does not lead orders-0"),
        ("end-transaction orders-0 end", "'end' is not known here"),
        ("end-transaction orders-0", "it reads: end-transaction PARTITION commit"),
        ("produce orders-0 count=1 transaction=commit", "'commit' is not known here"),
        ("produce orders-0 count=1 transaction=open producer=p", "leave producer= away"),
    ],
)
def test_what_cannot_be_gets_a_clear_error(lines: str, said: str) -> None:
    with pytest.raises(PlayError, match=said):
        played(lines)


def test_a_history_of_them_reads_as_lines() -> None:
    stage = played(f"{OPEN}end-transaction orders-0 abort\n")
    lines = [statement_of(step.move).text for step in stage.history.steps]
    assert "produce orders-0 count=5 to=1 transaction=open" in lines
    assert "end-transaction orders-0 abort to=1" in lines


# --- the log ------------------------------------------------------------------------------------


def test_a_log_without_a_transaction_carries_nothing() -> None:
    log = append(append(EMPTY, FIVE, 3), FIVE, 2)
    assert log.transactions == ()
    assert last_stable_offset(log, Offset(4)) == 4


def test_a_cut_below_the_first_record_closes_it_and_one_of_the_marker_opens_it_again() -> None:
    log = end_transaction(
        append(append(EMPTY, FIVE, 3), FIVE, 2, transaction=True), FIVE, commits=True
    )
    assert open_transaction(log) is None
    assert open_transaction(truncate(log, Offset(5))) == 3
    assert open_transaction(truncate(log, Offset(4))) == 3
    assert open_transaction(truncate(log, Offset(3))) is None
    assert truncate(log, Offset(3)) == append(EMPTY, FIVE, 3)


def test_a_transaction_may_begin_at_offset_0() -> None:
    log = append(EMPTY, FIVE, 2, transaction=True)
    assert open_transaction(log) == last_stable_offset(log, Offset(2)) == 0


STEPS = st.lists(st.sampled_from(["plain", "transaction", "commit", "abort"]), max_size=12)


def written(steps: list[str]) -> Log:
    log = EMPTY
    for step in steps:
        if step in ("plain", "transaction"):
            log = append(log, FIVE, 2, transaction=step == "transaction")
        elif open_transaction(log) is not None:
            log = end_transaction(log, FIVE, commits=step == "commit")
    return log


@given(STEPS, STEPS)
def test_a_log_that_is_cut_is_the_log_that_it_was(before: list[str], after: list[str]) -> None:
    was = written(before)
    assert truncate(written([*before, *after]), was.end) == was


@given(STEPS, st.integers(0, 24))
def test_who_fetches_the_records_knows_of_the_transactions(steps: list[str], at: int) -> None:
    log = written(steps)
    mine = truncate(log, Offset(at))
    assert extend(mine, records_from(log, mine.end)) == log
