"""A consumer that learns of a leader. Derived from KIP-320; Kafka's clients are of any release."""

from msgspec.structs import replace

from kiplab.protocol.clients.consumer import Consumer, refreshed
from kiplab.protocol.features import Features
from kiplab.protocol.ids import BrokerId, LeaderEpoch, Offset
from tests.protocol.building import but, partition, vector

LED_BY_1 = partition("t-0", [1, 2], [1, 2], 1, le=4)
READS = Consumer(
    name="reader",
    partition=LED_BY_1.name,
    position=Offset(5),
    last_epoch=LeaderEpoch(4),
    leader=BrokerId(1),
    leader_epoch=LeaderEpoch(4),
)


@vector("320-another-epoch", "3.2-4.3")
def test_a_position_is_validated_against_another_leader_epoch(features: Features) -> None:
    after = refreshed(READS, but(LED_BY_1, leader=BrokerId(2), le=5), features)
    assert (after.leader, after.leader_epoch, after.position) == (2, 5, 5)
    assert after.validating


@vector("320-nothing-read", "3.2-4.3")
def test_a_consumer_that_has_read_nothing_has_nothing_to_validate(features: Features) -> None:
    fresh = replace(READS, last_epoch=LeaderEpoch(-1))
    assert not refreshed(fresh, but(LED_BY_1, leader=BrokerId(2), le=5), features).validating


@vector("320-older-metadata", "3.2-4.3")
def test_metadata_of_an_earlier_leader_epoch_is_ignored(features: Features) -> None:
    assert refreshed(READS, but(LED_BY_1, leader=BrokerId(2), le=3), features) is READS
