"""Consumers that read from followers (KIP-392), and what they do before they go on."""

import pytest
from msgspec.structs import replace

from kiplab.engine import consumers, moves, setup
from kiplab.engine.cluster import Cluster
from kiplab.engine.events import Event
from kiplab.plays.grammar import parse
from kiplab.plays.play_errors import PlayError
from kiplab.plays.runner import run_play
from kiplab.protocol import facts
from kiplab.protocol.clients.consumer import Consumer, Reset
from kiplab.protocol.errors import KafkaError
from kiplab.protocol.features import Features, parse_features
from kiplab.protocol.ids import CLIENT, NO_LEADER, BrokerId, Offset
from tests.engine.small_clusters import BROKER_1, BROKER_2, Batches, cluster, does, partition

NAME = "orders-0"
POLL = moves.Poll(NAME)
FETCH = moves.Fire(BROKER_2, moves.Timer.FETCH)


def orders(
    position: int = 0, isr: int = 2, behind: Batches | None = None, features: Features | None = None
) -> Cluster:
    """Broker 1 leads ten records in leader epoch 5 and has heard of broker 2, which is next to the
    consumer.
    """
    near = setup.ConsumerSetup(
        name="consumer",
        partition=NAME,
        position=Offset(position),
        reset=Reset.EARLIEST,
        nearest=BROKER_2,
    )
    two = partition(NAME, 2, isr=isr, log=((10, 5),), behind=behind)
    here = cluster(features or parse_features("3.6"), two, consumers=(near,))
    return does(here, FETCH)[0] if isr > 1 else here


def mine(here: Cluster) -> Consumer:
    found = consumers.consumer_of(here, "consumer", NAME)
    assert found is not None
    return found


def errors(events: tuple[Event, ...]) -> list[KafkaError]:
    return [e.error for e in events if isinstance(e, (facts.Refused, facts.PollFailed))]


# --- reading from a follower ----------------------------------------------------------------------


def test_a_leader_sends_a_consumer_to_its_neighbour_and_gives_it_no_records() -> None:
    here, events = does(orders(), POLL)
    assert events == (
        facts.ReplicaPreferred(
            node=BROKER_1, consumer="consumer", partition=NAME, replica=BROKER_2
        ),
    )
    assert (mine(here).position, mine(here).reads_from) == (0, BROKER_2)
    _, (polled,) = does(here, POLL)
    assert isinstance(polled, facts.Polled)
    assert (polled.node, polled.first, polled.last) == (BROKER_2, 0, 9)


def test_nobody_is_sent_to_a_replica_that_is_out_of_the_isr_or_behind_the_position() -> None:
    (polled,) = does(orders(isr=1, behind=((4, 5),)), POLL)[1]
    assert isinstance(polled, facts.Polled)
    assert polled.node == BROKER_1


def test_a_follower_gives_what_it_knows_to_be_committed() -> None:
    here, _ = does(orders(10), POLL, moves.Produce(NAME, BROKER_1, 5))
    here, _ = does(here, FETCH, FETCH)
    here, (polled,) = does(here, POLL)
    assert isinstance(polled, facts.Polled)
    assert (polled.high_watermark, polled.last) == (10, 9), "the leader's is 15 by now"
    _, (polled,) = does(here, FETCH, POLL)
    assert isinstance(polled, facts.Polled)
    assert polled.last == 14


def test_out_of_range_at_a_follower_sends_back_to_the_leader_and_resets_nothing() -> None:
    here, _ = does(orders(), POLL, POLL)
    beyond = replace(mine(here), position=Offset(12))
    here = replace(here, consumers=(beyond,))
    after, events = does(here, POLL)
    assert errors(events) == [KafkaError.OFFSET_OUT_OF_RANGE]
    assert (mine(after).position, mine(after).reads_from) == (12, BROKER_1)
    _, events = does(after, POLL)
    assert any(isinstance(e, facts.PositionReset) for e in events), (
        "the leader has not got it either"
    )


def test_a_neighbour_that_does_not_answer_is_left_and_the_position_stays() -> None:
    here, _ = does(orders(), POLL, moves.Cut(CLIENT, BROKER_2))
    after, events = does(here, POLL)
    assert errors(events) == [KafkaError.NETWORK_EXCEPTION]
    assert mine(after) == replace(mine(here), preferred=NO_LEADER, update_requested=True)


def test_a_consumer_leaves_its_neighbour_when_another_broker_leads() -> None:
    here, _ = does(orders(), POLL, moves.ExpireSession(BROKER_1))
    here, events = does(here, POLL)
    assert errors(events) == [KafkaError.FENCED_LEADER_EPOCH]
    after, events = does(here, POLL)
    assert isinstance(events[0], facts.MetadataRefreshed)
    assert (mine(after).leader, mine(after).reads_from) == (BROKER_2, BROKER_2)
    assert mine(after).position == 10


def test_a_follower_refuses_while_its_leader_recovers_if_kip_704_is_asked_for() -> None:
    text = """kafka 3.6
on 704.specified
broker 1
broker 2
broker 3
topic orders replicas=1,2,3 isr=1 leader=1 leader-epoch=5 log=10@5
replica orders-0 broker=2 log=8@5
replica orders-0 broker=3 log=8@5
consumer orders-0 position=8 reads-from=3
crash 1
expire 1
elect orders-0 unclean=yes
refresh
"""
    here = run_play(parse(text)).cluster
    sent = replace(mine(here), preferred=BrokerId(3))
    after, events = does(replace(here, consumers=(sent,)), POLL)
    assert errors(events) == [KafkaError.NOT_LEADER_OR_FOLLOWER], "the leader, when it is asked"
    assert mine(after).position == 8
    calm = replace(sent, validating=False)
    after, events = does(replace(here, consumers=(calm,)), POLL)
    assert [(e.node, e.guard) for e in events if isinstance(e, facts.Refused)] == [
        (3, "704.follower-refuses")
    ]
    assert mine(after).update_requested


def test_a_consumer_is_near_a_broker_that_has_a_replica() -> None:
    lines = "broker 1\nbroker 2\nbroker 3\ntopic orders replicas=1,2\n"
    with pytest.raises(PlayError, match="no replica on broker 3"):
        parse(f"{lines}consumer orders-0 reads-from=3\n")


# --- asking who leads -----------------------------------------------------------------------------


def test_after_a_refusal_the_next_turn_begins_with_the_metadata_answer() -> None:
    here, _ = does(replace(orders(), consumers=()), POLL, moves.ExpireSession(BROKER_1))
    here, events = does(here, POLL)
    assert errors(events) == [KafkaError.FENCED_LEADER_EPOCH]
    assert mine(here).update_requested
    after, events = does(here, POLL)
    assert isinstance(events[0], facts.MetadataRefreshed)
    assert not errors(events)
    assert not mine(after).update_requested


def test_a_consumer_that_knows_more_than_the_broker_waits_for_it_and_asks_nobody() -> None:
    here, _ = does(replace(orders(), consumers=()), POLL)
    ahead = replace(mine(here), leader_epoch=mine(here).leader_epoch + 1)
    after, events = does(replace(here, consumers=(ahead,)), POLL)
    assert errors(events) == [KafkaError.UNKNOWN_LEADER_EPOCH]
    assert mine(after) == ahead


def test_while_no_broker_can_be_asked_the_request_stands() -> None:
    here, _ = does(replace(orders(), consumers=()), POLL)
    here, _ = does(here, moves.Cut(CLIENT, BROKER_1), moves.Cut(CLIENT, BROKER_2), POLL, POLL)
    assert mine(here).update_requested
    _, events = does(here, moves.Heal(CLIENT, BROKER_1), POLL)
    assert isinstance(events[0], facts.MetadataRefreshed)


# --- a follower's back-off ------------------------------------------------------------------------


def test_with_a_clock_a_follower_that_was_refused_leaves_the_leader_alone_for_a_second() -> None:
    text = """kafka 3.6
on 704.specified
broker 1
broker 2
broker 3
topic orders replicas=1,2,3 isr=1 leader=1 leader-epoch=5 log=10@5
replica orders-0 broker=2 log=8@5
replica orders-0 broker=3 log=8@5
timed
crash 1
advance 10s
elect orders-0 unclean=yes
advance {}
"""

    def refused(wait: str) -> int:
        events = run_play(parse(text.format(wait))).events
        return sum(isinstance(e, facts.Refused) and e.request == "fetch" for e in events)

    assert refused("9999ms") - refused("4999ms") == 5


def test_without_a_clock_a_refused_follower_is_as_before() -> None:
    here = orders()
    after, events = does(here, FETCH)
    assert any(isinstance(e, facts.Fetched) for e in events)
    assert all(b.process is None or b.process.timers.fetch == 0 for b in after.brokers)
