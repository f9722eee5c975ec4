"""Producers: what is acknowledged when, what is sent again, and what they learn of the leader."""

from msgspec.structs import replace

from kiplab.engine import moves, producers
from kiplab.engine.canonical import canonical
from kiplab.engine.cluster import Cluster, broker
from kiplab.engine.events import Event, PropertyBroken
from kiplab.engine.impossible_moves import why_not
from kiplab.engine.truth import truth
from kiplab.plays.grammar import parse
from kiplab.plays.runner import run_play
from kiplab.protocol import errors, facts, features, ids
from kiplab.protocol.clients.producer import Producer, informed
from kiplab.protocol.replica.broker_state import log_of
from tests.engine.small_clusters import BROKER_1, BROKER_2, cluster, does, partition

NAME = "orders-0"
RESEND = moves.Resend("shop")


def orders(isr: int = 2, wanted: int = 1) -> Cluster:
    """Broker 1 leads ten records in leader epoch 5."""
    one = partition(NAME, 2, isr=isr, log=((10, 5),))
    return cluster(features.parse_features("3.6"), replace(one, min_insync_replicas=wanted))


def write(count: int = 3, *, acks_all: bool = True) -> moves.ProduceAs:
    return moves.ProduceAs(NAME, "shop", count, acks_all)


def level(id: ids.BrokerId = BROKER_2) -> tuple[moves.Move, ...]:
    fetch = moves.Fire(id, moves.Timer.FETCH)
    return fetch, fetch


def shop(here: Cluster) -> Producer:
    found = producers.producer_of(here, "shop", NAME)
    assert found is not None
    return found


def told(events: tuple[Event, ...]) -> list[tuple[int, int]]:
    return [(e.first, e.last) for e in events if isinstance(e, facts.BatchAcknowledged)]


def requeued(events: tuple[Event, ...]) -> list[errors.KafkaError]:
    return [e.error for e in events if isinstance(e, facts.BatchRequeued)]


def end(here: Cluster, id: ids.BrokerId) -> int:
    found = broker(here, id)
    assert found is not None
    return log_of(found, NAME).end


REPLACED = (moves.ExpireSession(BROKER_1),)


# --- acknowledged ---------------------------------------------------------------------------------


def test_a_cluster_without_producers_has_none() -> None:
    assert orders().producers == ()


def test_with_acks_1_the_leader_alone_is_enough() -> None:
    after, events = does(orders(), write(acks_all=False))
    assert told(events) == [(10, 12)]
    assert shop(after).batches == ()
    assert shop(after).observed.end == 0, "only acks=all promises anything"


def test_with_acks_all_the_answer_comes_when_the_high_watermark_has_passed() -> None:
    here, events = does(orders(), write())
    assert isinstance(events[-1], facts.BatchWaits)
    assert shop(here).waits_at == BROKER_1
    after, events = does(here, *level())
    assert told(events) == [(10, 12)]
    assert shop(after).batches == ()
    assert shop(after).observed.epochs == ((-1, 0), (5, 10))


def test_a_leader_without_others_in_sync_acknowledges_at_once() -> None:
    assert told(does(orders(isr=1), write())[1]) == [(10, 12)]


def test_one_batch_is_under_way_and_the_next_follows_its_answer() -> None:
    here, events = does(orders(), write(3), write(2))
    assert isinstance(events[-1], facts.BatchQueued)
    assert end(here, BROKER_1) == 13
    here, _ = does(here, *level())
    assert end(here, BROKER_1) == 15
    assert [b.number for b in shop(here).batches] == [2]
    _, events = does(here, *level())
    assert told(events) == [(13, 14)]


# --- requeued -------------------------------------------------------------------------------------


def test_a_leader_that_dies_leaves_the_batch_with_the_producer_who_then_asks_who_leads() -> None:
    here, events = does(orders(), write(), moves.Crash(BROKER_1))
    assert requeued(events) == [errors.KafkaError.NETWORK_EXCEPTION]
    assert shop(here).update_requested
    here, _ = does(here, *REPLACED)
    after, events = does(here, RESEND)
    assert [e.leader for e in events if isinstance(e, facts.ProducerInformed)] == [BROKER_2]
    assert told(events) == [(10, 12)]
    assert not shop(after).update_requested


def test_a_leader_that_is_replaced_says_that_it_leads_no_more() -> None:
    here, events = does(orders(), write(), *REPLACED)
    assert [e.error for e in events if isinstance(e, facts.Refused)] == [
        errors.KafkaError.NOT_LEADER_OR_FOLLOWER
    ]
    assert requeued(events) == [errors.KafkaError.NOT_LEADER_OR_FOLLOWER]
    assert shop(here).update_requested


def test_a_producer_with_old_metadata_is_refused_and_finds_the_new_leader() -> None:
    here, _ = does(orders(), write(1, acks_all=False), *REPLACED)
    here, events = does(here, write(2, acks_all=False))
    assert requeued(events) == [errors.KafkaError.NOT_LEADER_OR_FOLLOWER]
    _, events = does(here, RESEND)
    assert told(events) == [(10, 11)], "broker 2 never had the first record"


def test_too_few_in_sync_is_tried_again_and_nobody_asks_who_leads() -> None:
    here, events = does(orders(isr=1, wanted=2), write())
    assert requeued(events) == [errors.KafkaError.NOT_ENOUGH_REPLICAS]
    assert not shop(here).update_requested
    assert end(here, BROKER_1) == 10


def test_an_isr_that_shrinks_after_the_append_is_an_error_of_its_own() -> None:
    here, events = does(orders(wanted=2), write(), moves.ExpireSession(BROKER_2))
    assert requeued(events) == [errors.KafkaError.NOT_ENOUGH_REPLICAS_AFTER_APPEND]
    assert end(here, BROKER_1) == 13, "the records are there, and will be written again"


def test_an_answer_that_does_not_come_is_given_up_and_the_records_are_written_twice() -> None:
    here, _ = does(orders(), write())
    after, events = does(here, RESEND)
    assert requeued(events) == [errors.KafkaError.REQUEST_TIMED_OUT]
    assert end(after, BROKER_1) == 16
    cut, events = does(here, moves.Cut(ids.CLIENT, BROKER_1), *level())
    assert not told(events), "the answer is on the other side of the link"
    _, events = does(cut, RESEND)
    assert requeued(events)[0] is errors.KafkaError.NETWORK_EXCEPTION


def test_while_nobody_leads_the_batch_waits() -> None:
    here, _ = does(orders(isr=1), moves.Crash(BROKER_1), *REPLACED)
    here, events = does(here, write())
    assert requeued(events) == [errors.KafkaError.LEADER_NOT_AVAILABLE]
    assert shop(here).update_requested
    (state,) = truth(here).partitions
    assert informed(shop(here), state).update_requested


def test_there_has_to_be_something_to_send_again() -> None:
    assert "nothing yet" in (why_not(orders(), RESEND) or "")
    here, _ = does(orders(), write(acks_all=False))
    assert "acknowledged" in (why_not(here, RESEND) or "")
    assert "no partition" in (why_not(here, moves.ProduceAs("clicks-0", "shop", 1)) or "")
    assert "at least one" in (why_not(here, write(0)) or "")


# --- promised -------------------------------------------------------------------------------------


def broken(events: tuple[Event, ...]) -> dict[str, bool]:
    return {e.property: e.promised for e in events if isinstance(e, PropertyBroken)}


def test_what_acks_1_acknowledged_may_be_gone_and_no_property_is_broken() -> None:
    here, _ = does(orders(), write(acks_all=False), moves.Crash(BROKER_1))
    after, events = does(here, *REPLACED)
    assert end(after, BROKER_2) == 10
    assert not broken(events)


def test_what_acks_all_acknowledged_is_missed_after_an_unclean_election() -> None:
    here, _ = does(orders(isr=1), write(), moves.Crash(BROKER_1), *REPLACED)
    _, events = does(here, moves.Elect(NAME, unclean=True))
    assert broken(events)["acknowledged-records-stay"] is False
    here, _ = does(orders(isr=1), write(), moves.DeleteRecords(NAME, BROKER_1))
    here, _ = does(here, moves.Crash(BROKER_1), *REPLACED)
    _, events = does(here, moves.Elect(NAME, unclean=True))
    assert "acknowledged-records-stay" not in broken(events), "it was deleted on purpose"


def test_canonical_keeps_what_a_producer_knows() -> None:
    here, _ = does(orders(), write())
    assert canonical(canonical(here)) == canonical(here)
    assert canonical(here) != canonical(does(orders(), write(acks_all=False))[0])


# --- with a clock ---------------------------------------------------------------------------------

TIMED = """broker 1
broker 2
topic orders replicas=1,2 isr={isr} leader=1 log=10@5 min-insync-replicas={wanted}
timed
"""


def timed(lines: str, isr: str = "1,2", wanted: int = 1) -> tuple[Cluster, tuple[Event, ...]]:
    stage = run_play(parse(TIMED.format(isr=isr, wanted=wanted) + lines))
    return stage.cluster, stage.events


def test_with_a_clock_a_producer_tries_again_by_itself_when_there_is_somebody_to_ask() -> None:
    here, events = timed("produce orders-0 count=3 producer=shop\ncrash 1\nadvance 30s\n")
    assert told(events) == [(10, 12)]
    assert shop(here).leader == BROKER_2


def test_with_a_clock_a_batch_fails_after_delivery_timeout_ms() -> None:
    line = "produce orders-0 count=3 producer=shop\nadvance {}\n"
    here, events = timed(line.format("119s"), isr="1", wanted=3)
    assert len(shop(here).batches) == 1
    here, events = timed(line.format("121s"), isr="1", wanted=3)
    (failed,) = (e for e in events if isinstance(e, facts.BatchFailed))
    assert (failed.exception, failed.count) == ("TimeoutException", 3)
    assert shop(here).batches == ()


def test_with_a_clock_nobody_sends_before_it_is_time() -> None:
    here, _ = timed("produce orders-0 count=3 producer=shop\n", isr="1", wanted=3)
    assert "at 100 ms" in (why_not(here, RESEND) or "")
