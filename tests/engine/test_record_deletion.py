"""DeleteRecords: who may be asked, what goes, who learns of it, and that nobody calls it a loss."""

from kiplab.engine import moves
from kiplab.engine.canonical import canonical
from kiplab.engine.cluster import Cluster, broker
from kiplab.engine.events import CommittedLost, Event, PropertyBroken
from kiplab.engine.impossible_moves import why_not
from kiplab.engine.step import step
from kiplab.protocol.clients.consumer import Reset
from kiplab.protocol.errors import KafkaError
from kiplab.protocol.facts import Polled, PositionReset, RecordsDeleted, Refused
from kiplab.protocol.features import parse_features
from kiplab.protocol.ids import BrokerId, LeaderEpoch, Offset
from kiplab.protocol.log import (
    EMPTY,
    Log,
    append,
    delete_before,
    first_difference,
    first_missing,
    flush,
    holds,
    start_anew,
    truncate,
    up_to,
)
from kiplab.protocol.replica.broker_state import Loss, log_of, replica_of
from tests.engine.small_clusters import (
    BROKER_1,
    BROKER_2,
    BROKER_9,
    Batches,
    cluster,
    does,
    partition,
)

NAME = "orders-0"
FEATURES = parse_features("3.6")


def orders(
    brokers: int = 2, isr: int = 2, log: Batches = ((6, 4), (4, 5)), behind: Batches | None = None
) -> Cluster:
    """Broker 1 leads in leader epoch 5."""
    return cluster(FEATURES, partition(NAME, brokers, isr=isr, log=log, behind=behind))


def delete(before: int | None = None, at: BrokerId = BROKER_1) -> moves.DeleteRecords:
    return moves.DeleteRecords(NAME, at, None if before is None else Offset(before))


def log(here: Cluster, id: BrokerId) -> Log:
    found = broker(here, id)
    assert found is not None
    return log_of(found, NAME)


def fetch(id: BrokerId) -> moves.Fire:
    return moves.Fire(id, moves.Timer.FETCH)


def refusal(events: tuple[Event, ...]) -> KafkaError:
    return next(e.error for e in events if isinstance(e, Refused))


# --- the log --------------------------------------------------------------------------------------


def written(*batches: tuple[int, int]) -> Log:
    made = EMPTY
    for count, epoch in batches:
        made = append(made, LeaderEpoch(epoch), count)
    return made


def test_the_epoch_of_the_first_record_that_stays_is_noted_where_the_log_begins() -> None:
    kept = delete_before(written((6, 4), (4, 5)), Offset(3))
    assert kept.epochs == ((4, 3), (5, 6))
    assert (kept.end, kept.flushed, kept.start) == (10, 3, 3)
    assert delete_before(kept, Offset(7)).epochs == ((5, 7),)
    assert delete_before(kept, Offset(10)).epochs == ((5, 10),)


def test_a_log_that_begins_there_or_later_stays_the_same_object() -> None:
    kept = delete_before(written((6, 4)), Offset(3))
    assert delete_before(kept, Offset(3)) is kept
    assert delete_before(kept, Offset(1)) is kept


def test_whatever_is_done_to_a_log_keeps_its_start_and_a_cut_below_it_takes_it_along() -> None:
    kept = delete_before(written((6, 4)), Offset(3))
    assert append(kept, LeaderEpoch(5), 2).start == flush(kept).start == up_to(kept, kept.end).start
    assert truncate(kept, Offset(4)).start == 3
    assert truncate(kept, Offset(2)) == Log((), Offset(2), Offset(2), Offset(2))


def test_below_the_later_start_two_logs_do_not_differ_and_nothing_is_missing() -> None:
    one, other = written((6, 4), (4, 5)), written((3, 4), (7, 5))
    assert first_difference(one, other) == 3
    assert first_difference(delete_before(one, Offset(4)), other) == 4
    assert first_difference(delete_before(one, Offset(6)), other) == 10
    assert first_difference(delete_before(one, Offset(10)), other) == 10
    assert holds(other, delete_before(one, Offset(6)))
    assert not holds(EMPTY, one)
    assert holds(EMPTY, delete_before(one, Offset(10)))
    assert first_difference(written((2, 4)), delete_before(one, Offset(6))) == 6
    assert first_missing(delete_before(other, Offset(6)), one) is None
    assert first_missing(delete_before(other, Offset(5)), one) == 5
    assert first_missing(start_anew(Offset(8)), one) == 8


# --- the leader -----------------------------------------------------------------------------------


def test_a_leader_deletes_what_lies_below_the_offset() -> None:
    after, events = does(orders(), delete(4))
    assert events == (
        RecordsDeleted(
            node=BROKER_1, partition=NAME, first=Offset(0), last=Offset(3), start=Offset(4)
        ),
    )
    assert (log(after, BROKER_1).start, log(after, BROKER_1).end) == (4, 10)
    assert log(after, BROKER_2).start == 0


def test_without_an_offset_everything_committed_goes_and_nothing_else() -> None:
    here, _ = does(orders(), moves.Produce(NAME, BROKER_1, 5))
    after, _ = does(here, delete())
    assert (log(after, BROKER_1).start, log(after, BROKER_1).end) == (10, 15)


def test_what_is_not_committed_cannot_be_deleted() -> None:
    here, _ = does(orders(), moves.Produce(NAME, BROKER_1, 5))
    after, events = does(here, delete(11))
    assert refusal(events) is KafkaError.OFFSET_OUT_OF_RANGE
    assert after.brokers is here.brokers


def test_only_a_leader_deletes() -> None:
    here = orders()
    after, events = does(here, delete(4, BROKER_2))
    assert refusal(events) is KafkaError.NOT_LEADER_OR_FOLLOWER
    assert after.brokers is here.brokers


def test_what_is_gone_already_is_deleted_again_without_a_change() -> None:
    here, _ = does(orders(), delete(4))
    after, (said,) = does(here, delete(2))
    assert isinstance(said, RecordsDeleted)
    assert (said.first, said.last, said.start) == (4, 3, 4)
    assert after.brokers is here.brokers


def test_a_client_needs_a_broker_that_runs_a_partition_that_is_and_an_offset() -> None:
    here = orders()
    assert "no broker 9" in (why_not(here, delete(1, BROKER_9)) or "")
    assert "0 or more" in (why_not(here, delete(-1)) or "")
    assert "no partition" in (why_not(here, moves.DeleteRecords("clicks-0", BROKER_1)) or "")
    assert "no broker to send it to" in (why_not(here, delete(1, BrokerId(-1))) or "")
    down = step(here, moves.Crash(BROKER_1)).cluster
    assert "down" in (why_not(down, delete(1)) or "")


# --- who learns of it -----------------------------------------------------------------------------


def test_a_follower_learns_where_the_log_begins_from_the_answer_to_its_fetch() -> None:
    after, events = does(orders(), delete(4), fetch(BROKER_2))
    assert log(after, BROKER_2) == log(after, BROKER_1)
    told = next(e for e in events if isinstance(e, RecordsDeleted))
    assert (told.node, told.follows, told.start) == (BROKER_2, True, 4)


def test_a_follower_that_ends_before_the_leader_begins_starts_anew() -> None:
    here = orders(isr=1, log=((6, 4), (4, 5)), behind=((3, 4),))
    here, events = does(here, delete(7), fetch(BROKER_2))
    assert refusal(events) is KafkaError.OFFSET_OUT_OF_RANGE
    assert log(here, BROKER_2) == start_anew(Offset(7))
    found = broker(here, BROKER_2)
    played = replica_of(found, NAME) if found is not None else None
    assert played is not None
    assert played.high_watermark == 7
    after, _ = does(here, fetch(BROKER_2), fetch(BROKER_2))
    assert log(after, BROKER_2).epochs == log(after, BROKER_1).epochs == ((5, 7),)
    assert log(after, BROKER_2).end == 10


def test_the_start_survives_a_crash_and_goes_with_the_disk() -> None:
    here, _ = does(orders(), delete(4))
    for loss in (Loss.NOTHING, Loss.UNFLUSHED):
        assert log(step(here, moves.Crash(BROKER_1, loss)).cluster, BROKER_1).start == 4
    assert log(step(here, moves.Crash(BROKER_1, Loss.DISK)).cluster, BROKER_1) == EMPTY


def test_a_consumer_that_stood_before_the_start_is_out_of_range_and_goes_on_by_its_policy() -> None:
    here, _ = does(orders(), delete(4), moves.Poll(NAME))
    assert here.consumers[0].position == 10
    here, _ = does(here, moves.ResetOffset(NAME, Reset.EARLIEST))
    assert here.consumers[0].position == 4
    _, (polled,) = does(here, moves.Poll(NAME))
    assert isinstance(polled, Polled)
    assert (polled.first, polled.last) == (4, 9)


def test_a_reader_of_the_first_records_is_sent_to_where_the_log_begins() -> None:
    here, _ = does(orders(), moves.Poll(NAME), moves.ResetOffset(NAME, Reset.EARLIEST), delete(4))
    after, events = does(here, moves.Poll(NAME))
    assert refusal(events) is KafkaError.OFFSET_OUT_OF_RANGE
    (moved,) = (e for e in events if isinstance(e, PositionReset))
    assert (moved.before, moved.after) == (0, 10)
    assert after.consumers[0].position == 10


# --- and nothing is lost --------------------------------------------------------------------------


def noticed(events: tuple[Event, ...]) -> list[Event]:
    return [e for e in events if isinstance(e, (CommittedLost, PropertyBroken))]


def test_deleted_on_purpose_is_not_lost_whoever_leads_next() -> None:
    here = orders(isr=1, behind=((3, 4),))
    here, _ = does(here, moves.Poll(NAME), delete())
    here, _ = does(here, moves.Crash(BROKER_1), moves.ExpireSession(BROKER_1))
    after, events = does(here, moves.Elect(NAME, unclean=True))
    assert log(after, BROKER_2).end == 3
    assert not noticed(events)


def test_what_was_not_deleted_is_lost_as_before() -> None:
    here = orders(isr=1, behind=((3, 4),))
    here, _ = does(here, delete(8), moves.Crash(BROKER_1), moves.ExpireSession(BROKER_1))
    _, events = does(here, moves.Elect(NAME, unclean=True))
    (lost,) = (e for e in events if isinstance(e, CommittedLost))
    assert (lost.first, lost.last) == (8, 9)


def test_a_deletion_makes_another_state_and_canonical_keeps_it() -> None:
    here, _ = does(orders(), delete(4))
    assert canonical(here) != canonical(orders())
    assert log(canonical(here), BROKER_1).start == 4
    assert canonical(canonical(here)) == canonical(here)
