"""Consumers: what they read, what they are refused, and how they notice a truncated log.

The order of errors is that of kafka.cluster.Partition; validation is KIP-320's.
"""

import pytest
from msgspec.structs import replace

from kiplab.engine import explain, moves
from kiplab.engine.cluster import Cluster, MessageName
from kiplab.engine.consumers import consumer_of
from kiplab.engine.enabled import EVERYTHING, PROGRESS, Menu, enabled, settle
from kiplab.engine.events import Event, PropertyBroken
from kiplab.engine.impossible_moves import why_not
from kiplab.engine.setup import ConsumerSetup
from kiplab.engine.step import step
from kiplab.plays.grammar import parse
from kiplab.plays.runner import run_play
from kiplab.protocol import facts
from kiplab.protocol.clients.consumer import Consumer, Reset
from kiplab.protocol.errors import KafkaError
from kiplab.protocol.features import Features, parse_features
from kiplab.protocol.ids import CLIENT, BrokerId, LeaderEpoch, Offset
from kiplab.protocol.log import EMPTY, EpochStart, Log, append, epoch_at, first_missing, overlaid
from tests.engine.small_clusters import (
    BROKER_1,
    BROKER_2,
    BROKER_9,
    DELIVERIES,
    Batches,
    cluster,
    does_alone,
    partition,
)

NAME = "orders-0"
POLL = moves.Poll(NAME)
TEN = ((10, 5),)
ELECTED_UNCLEANLY = (moves.Crash(BROKER_1), moves.ExpireSession(BROKER_1), moves.Elect(NAME, True))


def orders(
    *consumers: ConsumerSetup,
    isr: int = 2,
    log: Batches = TEN,
    behind: Batches | None = None,
    features: Features | None = None,
) -> Cluster:
    """Broker 1 leads in leader epoch 5; `behind` is what broker 2 has instead of `log`."""
    two = partition(NAME, 2, isr=isr, log=log, behind=behind)
    return cluster(features or parse_features("3.5"), two, consumers=consumers)


def consumer(position: int = 0, reset: Reset = Reset.LATEST) -> ConsumerSetup:
    return ConsumerSetup(name="consumer", partition=NAME, position=Offset(position), reset=reset)


def delivered(here: Cluster, *kinds: str) -> Cluster:
    """Everything in flight of these kinds arrives, and what follows from it."""
    while ready := [
        m
        for m in enabled(here, DELIVERIES)
        if isinstance(m, moves.AboutMessage) and m.message.kind.removesuffix("-reply") in kinds
    ]:
        here = step(here, ready[0]).cluster
    return here


def mine(here: Cluster) -> Consumer:
    found = consumer_of(here, "consumer", NAME)
    assert found is not None
    return found


def replaced(here: Cluster) -> Cluster:
    """Broker 1 loses its session, and broker 2 leads in leader epoch 6."""
    here = step(here, moves.ExpireSession(BROKER_1)).cluster
    return step(here, moves.Deliver(_to(here, BROKER_2))).cluster


def _to(here: Cluster, broker: BrokerId) -> MessageName:
    return next(m.name for m in here.messages if m.receiver == broker)


# --- reading --------------------------------------------------------------------------------------


def test_the_first_poll_of_a_new_consumer_begins_at_the_beginning() -> None:
    after, (polled,) = does_alone(orders(), POLL)
    assert polled == facts.Polled(
        node=BROKER_1,
        consumer="consumer",
        partition=NAME,
        first=Offset(0),
        last=Offset(9),
        high_watermark=Offset(10),
    )
    assert (mine(after).position, mine(after).last_epoch) == (10, 5)
    assert (mine(after).leader, mine(after).leader_epoch) == (1, 5)


def test_a_poll_reads_up_to_the_high_watermark_and_no_further() -> None:
    longer = step(orders(), moves.Produce(NAME, BROKER_1, 5)).cluster
    after, (polled,) = does_alone(longer, POLL)
    assert isinstance(polled, facts.Polled)
    assert (polled.last, polled.high_watermark) == (9, 10)
    again, (nothing,) = does_alone(after, POLL)
    assert isinstance(nothing, facts.Polled)
    assert (nothing.first, nothing.last) == (10, 9)
    assert again == after


def test_beyond_the_high_watermark_and_within_the_log_there_is_nothing_and_no_error() -> None:
    longer = step(orders(consumer(position=12)), moves.Produce(NAME, BROKER_1, 5)).cluster
    _, (polled,) = does_alone(longer, POLL)
    assert isinstance(polled, facts.Polled)
    assert polled.last < polled.first == 12


def test_consumers_have_positions_of_their_own_on_each_partition() -> None:
    here, _ = does_alone(orders(), POLL, moves.Poll(NAME, "billing"))
    here, _ = does_alone(here, moves.ResetOffset(NAME, Reset.EARLIEST, "billing"))
    assert [(c.name, c.position) for c in here.consumers] == [("billing", 0), ("consumer", 10)]


def test_a_cluster_without_consumers_has_none() -> None:
    assert orders().consumers == ()
    assert not [m for m in enabled(orders(), PROGRESS) if isinstance(m, moves.Poll)]


def test_a_poll_is_no_fault_and_settling_leaves_consumers_alone() -> None:
    after, _ = does_alone(orders(), POLL)
    assert POLL in enabled(after, Menu(kinds=EVERYTHING.kinds - {*moves.FAULTS}))
    assert settle(after).consumers == after.consumers


# --- what is refused ------------------------------------------------------------------------------


def refusal(events: tuple[Event, ...]) -> tuple[KafkaError, str | None, tuple[str, str]]:
    (found,) = (e for e in events if isinstance(e, facts.Refused))
    compared = found.compared[0] if found.compared else None
    return found.error, found.guard, (compared.requested, compared.held) if compared else ("", "")


def test_an_earlier_leader_epoch_is_fenced() -> None:
    here = replaced(step(orders(), POLL).cluster)
    here = step(here, moves.Deliver(_to(here, BROKER_1))).cluster
    same, events = does_alone(here, POLL)
    assert refusal(events) == (KafkaError.FENCED_LEADER_EPOCH, "320.fenced-fetch", ("5", "6"))
    assert same.consumers == (replace(mine(here), update_requested=True),)


def test_a_newer_leader_epoch_is_unknown() -> None:
    """Kafka 3.5 bumps the leader epoch when the ISR shrinks; the leader itself hears of it late."""
    here = step(step(orders(), POLL).cluster, moves.ExpireSession(BROKER_2)).cluster
    here = step(here, moves.Deliver(_to(here, BROKER_2))).cluster
    here, events = does_alone(here, moves.RefreshMetadata(), POLL)
    assert refusal(events) == (KafkaError.UNKNOWN_LEADER_EPOCH, "320.unknown-fetch", ("6", "5"))
    assert mine(here).validating


def test_without_the_epoch_checks_leadership_is_what_is_checked() -> None:
    features = parse_features("3.5", off=("320",))
    here = replaced(step(orders(features=features), POLL).cluster)
    here = step(here, moves.Deliver(_to(here, BROKER_1))).cluster
    _, events = does_alone(here, POLL)
    assert refusal(events) == (KafkaError.NOT_LEADER_OR_FOLLOWER, None, ("", ""))


def test_an_offset_beyond_the_log_is_out_of_range_and_the_policy_decides() -> None:
    for reset, position in ((Reset.EARLIEST, 0), (Reset.LATEST, 10)):
        after, events = does_alone(orders(consumer(position=11, reset=reset)), POLL)
        assert refusal(events) == (KafkaError.OFFSET_OUT_OF_RANGE, None, ("11", "at most 10"))
        assert isinstance(events[-1], facts.PositionReset)
        assert (mine(after).position, mine(after).last_epoch) == (position, -1)


def test_without_a_policy_the_application_gets_the_exception() -> None:
    here = orders(consumer(position=11, reset=Reset.NONE))
    after, events = does_alone(here, POLL)
    assert isinstance(events[-1], facts.ConsumerRaised)
    assert events[-1].exception == "OffsetOutOfRangeException"
    assert after.consumers == here.consumers


def test_a_new_leader_does_not_tell_the_latest_offset_before_it_is_sure_of_it() -> None:
    """KIP-207: its high watermark is behind the start of its epoch."""
    three = "".join(f"broker {i}\n" for i in (1, 2, 3))
    lines = "topic orders log=10@5\npoll orders-0\nproduce orders-0 count=5\nfetch 2\nexpire 1"
    here = run_play(parse(three + lines)).cluster
    here, events = does_alone(here, moves.RefreshMetadata(), moves.ResetOffset(NAME, Reset.LATEST))
    assert refusal(events)[0] is KafkaError.OFFSET_NOT_AVAILABLE
    _, (_, moved) = does_alone(here, moves.ResetOffset(NAME, Reset.EARLIEST))
    assert isinstance(moved, facts.PositionReset)


@pytest.mark.parametrize("trouble", [moves.Crash(BROKER_1), moves.Cut(CLIENT, BROKER_1)])
def test_a_leader_that_is_gone_does_not_answer(trouble: moves.Move) -> None:
    here, _ = does_alone(orders(), POLL, trouble)
    _, (failed,) = does_alone(here, POLL)
    assert isinstance(failed, facts.PollFailed)
    assert (failed.error, failed.node) == (KafkaError.NETWORK_EXCEPTION, 1)


def test_without_a_leader_a_new_consumer_knows_nobody_to_ask() -> None:
    here, _ = does_alone(orders(isr=1), moves.Crash(BROKER_1), moves.ExpireSession(BROKER_1))
    here = delivered(here, "metadata")
    _, (failed,) = does_alone(here, POLL)
    assert isinstance(failed, facts.PollFailed)
    assert (failed.error, failed.node) == (KafkaError.LEADER_NOT_AVAILABLE, -1)
    assert "knows no leader" in explain.sentence(failed)


def test_a_partition_without_a_leader_leaves_the_metadata_as_it_was() -> None:
    here, _ = does_alone(orders(isr=1), POLL, moves.Crash(BROKER_1), moves.ExpireSession(BROKER_1))
    after, _ = does_alone(delivered(here, "metadata"), moves.RefreshMetadata())
    assert (mine(after).leader, mine(after).leader_epoch) == (1, 5)
    assert not mine(after).validating


def test_what_cannot_be_asked_is_said() -> None:
    here = orders()
    assert "let it poll first" in (why_not(here, moves.RefreshMetadata()) or "")
    assert "poll it first" in (why_not(here, moves.ResetOffset(NAME)) or "")
    assert "no partition" in (why_not(here, moves.Poll("orders-7")) or "")
    here, _ = does_alone(here, POLL, moves.Crash(BROKER_1))
    assert "does not answer" in (why_not(here, moves.RefreshMetadata("consumer", BROKER_1)) or "")
    assert "no broker 9" in (why_not(here, moves.RefreshMetadata("consumer", BROKER_9)) or "")
    assert why_not(here, moves.RefreshMetadata("consumer", BROKER_2)) is None


def test_metadata_of_an_earlier_epoch_is_ignored() -> None:
    here = replaced(step(orders(), POLL).cluster)
    here, _ = does_alone(here, moves.RefreshMetadata("consumer", BROKER_2))
    assert mine(here).leader_epoch == 6
    after, _ = does_alone(here, moves.RefreshMetadata("consumer", BROKER_1))
    assert after.consumers == here.consumers


# --- KIP-320 --------------------------------------------------------------------------------------


def lost(reset: Reset, features: Features | None = None) -> Cluster:
    """Everything was read; then broker 2, with 4 of 10 records, is elected uncleanly."""
    here = orders(
        consumer(reset=reset), isr=1, log=((4, 4), (6, 5)), behind=((4, 4),), features=features
    )
    here, _ = does_alone(here, POLL, *ELECTED_UNCLEANLY)
    here = delivered(here, "elect-leaders", "metadata")
    return step(here, moves.RefreshMetadata()).cluster


def test_what_was_read_and_is_still_there_is_validated_once() -> None:
    here = replaced(step(orders(), POLL).cluster)
    here, _ = does_alone(here, moves.RefreshMetadata())
    assert mine(here).validating
    here, (validated, _) = does_alone(here, POLL)
    assert isinstance(validated, facts.PositionValidated)
    assert (validated.last_epoch, validated.end) == (5, 10)
    _, events = does_alone(here, POLL)
    assert [type(e) for e in events] == [facts.Polled]


def test_a_consumer_that_has_read_nothing_has_nothing_to_validate() -> None:
    here = replaced(orders(consumer()))
    here, _ = does_alone(here, moves.RefreshMetadata())
    assert not mine(here).validating
    assert mine(here).leader == 2


def test_a_truncation_puts_the_position_back_to_where_the_logs_part() -> None:
    here, events = does_alone(lost(Reset.LATEST), moves.Produce(NAME, BROKER_2, 20), POLL)
    truncated, polled = events
    assert isinstance(truncated, facts.PositionTruncated)
    assert (truncated.before, truncated.after, truncated.end_epoch) == (10, 4, 4)
    assert isinstance(polled, facts.Polled)
    assert (polled.first, polled.last) == (4, 23)
    assert mine(here).last_epoch == 7


def test_a_truncation_without_a_policy_is_an_exception_again_and_again() -> None:
    here = lost(Reset.NONE)
    for _ in range(2):
        after, (raised,) = does_alone(here, POLL)
        assert isinstance(raised, facts.ConsumerRaised)
        assert (raised.exception, raised.diverging) == ("LogTruncationException", 4)
        assert after == here
    after, _ = does_alone(here, moves.ResetOffset(NAME, Reset.EARLIEST))
    assert (mine(after).position, mine(after).validating) == (0, False)


def test_without_validation_the_consumer_reads_on_and_misses_records() -> None:
    features = parse_features("3.5", off=("320.validated-position",))
    here = lost(Reset.NONE, features)
    assert not mine(here).validating
    _, (polled,) = does_alone(here, moves.Produce(NAME, BROKER_2, 20), POLL)
    assert isinstance(polled, facts.Polled)
    assert polled.first == 10


# --- the property ---------------------------------------------------------------------------------


def broken(here: Cluster) -> set[str]:
    return {id for id, _ in here.broken}


def test_lost_records_that_a_consumer_has_read_break_a_property_that_was_not_promised() -> None:
    here = orders(consumer(), isr=1, behind=((4, 5),))
    here, _ = does_alone(here, POLL, *ELECTED_UNCLEANLY)
    events: tuple[Event, ...] = ()
    while here.messages:
        here, found = does_alone(here, moves.Deliver(here.messages[0].name))
        events += found
    (fact,) = (
        e for e in events if isinstance(e, PropertyBroken) and e.property == "consumer-reads-stay"
    )
    assert not fact.promised
    assert "offset 4" in fact.detail


def test_lost_records_that_nobody_has_read_do_not() -> None:
    here = orders(consumer(), isr=1, behind=((4, 5),))
    here, _ = does_alone(here, *ELECTED_UNCLEANLY)
    here = delivered(here, "elect-leaders", "metadata")
    assert "no-committed-record-lost" in broken(here)
    assert "consumer-reads-stay" not in broken(here)


def test_kafka_14139_takes_back_what_a_consumer_has_read_before_kip_903_only() -> None:
    text = """
        broker 1
        broker 2
        topic orders replicas=1,2 isr=1 log=100@5
        consumer orders-0
        poll orders-0
        hold alter-partition
        fetch 2
        crash 2 disk=replaced
        expire 2
        start 2
        unfence 2
        deliver alter-partition
        crash 1
        expire 1
    """
    play = parse("\n".join(line.strip() for line in text.splitlines()))
    assert "consumer-reads-stay" in broken(run_play(play, parse_features("3.4")).cluster)
    assert not broken(run_play(play, parse_features("3.5")).cluster)


# --- the log of what was read ---------------------------------------------------------------------


def written(epoch: int, count: int, log: Log = EMPTY) -> Log:
    return append(log, LeaderEpoch(epoch), count)


def epochs_at(log: Log, *offsets: int) -> list[int]:
    return [epoch_at(log, Offset(offset)) for offset in offsets]


def test_records_laid_over_others() -> None:
    old = written(5, 10, written(4, 10))
    part = Log((EpochStart(LeaderEpoch(7), Offset(6)),), Offset(12), Offset(12))
    over = overlaid(old, part)
    assert epochs_at(over, 0, 5, 6, 11, 12, 19) == [4, 4, 7, 7, 5, 5]
    assert overlaid(old, old) == Log(old.epochs, Offset(20), Offset(20))
    apart = overlaid(written(4, 2), part)
    assert epochs_at(apart, 0, 1, 2, 5, 6) == [4, 4, -1, -1, 7]
    assert first_missing(written(4, 2), apart) == 6
    assert first_missing(old, written(4, 10)) is None
    assert first_missing(written(4, 3), written(4, 10)) == 3
