"""What no release does: the alternatives that KIP-903 rejected, and what KIP-497 leaves open.

Kafka has no test of any of them. Each row says what a cluster of that release would do with the
guard switched on, from the place in the KIP that stands beside its check.
"""

import pytest

from kiplab.protocol.facts import LeaderElected
from kiplab.protocol.features import Features, switched
from kiplab.protocol.ids import BrokerId, Incarnation
from kiplab.protocol.kraft.broker_registration import register_broker
from kiplab.protocol.messages import BrokerRegistrationRequest
from tests.protocol.building import at, brokers, but, controller, partition
from tests.protocol.leading import KRAFT, Stage


def with_guard(guard: str, releases: str) -> pytest.MarkDecorator:
    """The test, which takes `features`, is one vector of releases in which `guard` is on."""
    return pytest.mark.parametrize(
        "features",
        [
            pytest.param(on, id=on.label())
            for f in at(releases)
            for on in [switched(f, guard, True)]
        ],
    )


def caught_up(features: Features, *, epoch: int) -> Stage:
    """102, outside the ISR, has fetched everything under this epoch; metadata says 1102."""
    stage = Stage(features, [101, 102], [101], hw=10, cache=KRAFT)
    stage.fetch(102, 10, epoch=epoch)
    return stage


# --- 903.bump-leader-epochs -----------------------------------------------------------------------


@with_guard("903.bump-leader-epochs", "3.2-4.3")
def test_a_registration_bumps_the_leader_epoch_wherever_the_broker_has_a_replica(
    features: Features,
) -> None:
    outside = partition("a-0", [1, 2, 3], [1, 3], 1, le=5, pe=10)
    elsewhere = partition("b-0", [1, 3], [1, 3], 1, le=7, pe=20)
    before = controller(brokers(1, 3, fenced=[2]), outside, elsewhere)
    request = BrokerRegistrationRequest(broker=BrokerId(2), incarnation=Incarnation(2))
    after, _, facts = register_broker(before, request, features, None)
    assert after.partitions == (but(outside, le=6, pe=11), elsewhere)
    (elected,) = (fact for fact in facts if isinstance(fact, LeaderElected))
    assert (elected.before, elected.leader, elected.unclean) == (1, 1, False)


# --- 903.epoch-from-metadata ----------------------------------------------------------------------


@with_guard("903.epoch-from-metadata", "3.2-3.6")
def test_a_late_fetch_of_an_earlier_life_passes_for_one_of_the_life_in_the_metadata(
    features: Features,
) -> None:
    assert caught_up(features, epoch=1002).proposed[102] == 1102


@with_guard("903.epoch-from-metadata", "3.2-4.3")
def test_late_metadata_puts_an_earlier_life_in_the_place_of_the_one_that_fetched(
    features: Features,
) -> None:
    assert caught_up(features, epoch=1202).proposed[102] == 1102


# --- 497.pending-outlives-metadata ----------------------------------------------------------------


def proposed_once_more(features: Features) -> Stage:
    """102 has joined, as an answer said; 103 is proposed before metadata says so too."""
    stage = Stage(features, [101, 102, 103], [101], hw=10)
    stage.fetch(102, 10)
    stage.completes([101, 102], pe=2)
    stage.fetch(103, 10)
    assert stage.is_pending([101, 102], [101, 102, 103])
    return stage


@with_guard("497.pending-outlives-metadata", "3.2-4.3")
def test_a_proposal_outlives_metadata_of_the_partition_epoch_that_it_was_prepared_against(
    features: Features,
) -> None:
    stage = proposed_once_more(features)
    stage.metadata([101, 102, 103], [101, 102], le=5, pe=2)
    assert stage.is_pending([101, 102], [101, 102, 103])


@with_guard("497.pending-outlives-metadata", "3.2-4.3")
def test_a_proposal_does_not_outlive_newer_metadata(features: Features) -> None:
    stage = proposed_once_more(features)
    stage.metadata([101, 102, 103], [101, 102], le=5, pe=3)
    assert stage.isr == [101, 102]
    assert not stage.in_flight
