"""What a leader answers to a producer."""

import pytest

from kiplab.protocol.errors import KafkaError
from kiplab.protocol.facts import Appended, Compared, Refused
from kiplab.protocol.features import parse_features
from kiplab.protocol.replica.broker_parts import BrokerEffect
from kiplab.protocol.replica.broker_state import log_of
from kiplab.protocol.replica.produce import produce
from tests.protocol.leading import NAME, Stage


def produced(stage: Stage, *, acks_all: bool = True) -> BrokerEffect:
    return produce(stage.broker, NAME, 3, stage.features, stage.now, acks_all=acks_all)


def leader(release: str, isr: tuple[int, ...], min_isr: int) -> Stage:
    """101 leads a partition of three replicas, and its log ends at 10."""
    return Stage(parse_features(release), (101, 102, 103), isr, min_isr=min_isr)


def test_with_too_few_in_sync_it_is_refused_with_both_sizes_and_nothing_is_written() -> None:
    stage = leader("3.5", (101,), 2)
    broker, sends, facts = produced(stage)
    assert broker is stage.broker
    assert sends == ()
    assert facts == (
        Refused(
            node=stage.broker.id,
            request="produce",
            error=KafkaError.NOT_ENOUGH_REPLICAS,
            guard=None,
            compared=(Compared("size of the ISR", "at least 2 (min.insync.replicas)", "1"),),
            partition=NAME,
        ),
    )


@pytest.mark.parametrize(("isr", "acks_all"), [((101, 102), True), ((101,), False)])
def test_enough_in_sync_or_none_wanted_and_it_is_written(
    isr: tuple[int, ...], acks_all: bool
) -> None:
    broker, _, facts = produced(leader("3.5", isr, 2), acks_all=acks_all)
    assert log_of(broker, NAME).end == 13
    assert [(f.first, f.last) for f in facts if isinstance(f, Appended)] == [(10, 12)]


@pytest.mark.parametrize(("release", "refused"), [("3.6", True), ("3.7", False)])
def test_kafka_15583_from_3_7_on_no_more_are_wanted_than_there_are(
    release: str, refused: bool
) -> None:
    _, _, facts = produced(leader(release, (101, 102, 103), 4))
    assert any(isinstance(f, Refused) for f in facts) is refused


def test_the_committed_isr_counts_and_not_the_one_asked_for() -> None:
    stage = leader("3.5", (101,), 2)
    stage.fetch(102, 10)
    assert stage.requests
    _, _, facts = produced(stage)
    assert isinstance(facts[0], Refused)
