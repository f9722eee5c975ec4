"""What no release does: what KIP-903 and KIP-704 rejected, what KIP-704 wants, what KIP-497 leaves
open.

Kafka has no test of any of them. Each row says what a cluster of that release would do with the
guard switched on, from the place in the KIP that stands beside its check.
"""

import pytest

from kiplab.protocol import ids
from kiplab.protocol.errors import KafkaError as E
from kiplab.protocol.facts import LeaderElected, NotProposed, Refused, TransactionEnded
from kiplab.protocol.features import Features, switched
from kiplab.protocol.kraft.alter_partition import alter_partition
from kiplab.protocol.kraft.elections import elect_leader
from kiplab.protocol.kraft.partition_change import Code, Targets, build
from kiplab.protocol.messages import AlterPartitionItem, AlterPartitionRequest, IsrMember
from kiplab.protocol.registrations import LeaderRecoveryState
from kiplab.protocol.releases import at_least
from kiplab.protocol.replica import client_reads
from kiplab.protocol.replica.broker_state import log_of
from kiplab.protocol.replica.produce import produce
from tests.protocol import building
from tests.protocol.leading import KRAFT, NAME, Stage


def with_guard(guard: str, releases: str) -> pytest.MarkDecorator:
    """The test, which takes `features`, is one vector of releases in which `guard` is on."""
    switched_on = [switched(features, guard, True) for features in building.at(releases)]
    return pytest.mark.parametrize("features", [pytest.param(f, id=f.label()) for f in switched_on])


def caught_up(features: Features, *, epoch: int) -> Stage:
    """102, outside the ISR, has fetched everything under this epoch; metadata says 1102."""
    stage = Stage(features, [101, 102], [101], hw=10, cache=KRAFT)
    stage.fetch(102, 10, epoch=epoch)
    return stage


@with_guard("903.bump-leader-epochs", "3.2-4.3")
def test_a_registration_bumps_the_leader_epoch_wherever_the_broker_has_a_replica(
    features: Features,
) -> None:
    outside = building.partition("a-0", [1, 2, 3], [1, 3], 1, le=5, pe=10)
    elsewhere = building.partition("b-0", [1, 3], [1, 3], 1, le=7, pe=20)
    before = building.controller(building.brokers(1, 3, fenced=[2]), outside, elsewhere)
    after, _, facts = building.registers(before, 2, 2, features, None)
    assert after.partitions == (building.but(outside, le=6, pe=11), elsewhere)
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


# --- KIP-704: what it wants of an unclean election, and what it rejected --------------------------

RECOVERED, RECOVERING = LeaderRecoveryState
SPECIFIED = "704.specified"


def recovering(features: Features) -> Stage:
    """101 leads alone after an unclean election; 102 and 103 follow."""
    return Stage(features, [101, 102, 103], [101], hw=10, recovery=RECOVERING)


@with_guard("704.leader-recovers", "3.2-4.3")
def test_a_leader_that_recovers_proposes_nobody_and_says_why(features: Features) -> None:
    stage = recovering(features)
    stage.fetch(102, 10)
    assert stage.is_committed([101])
    (barred,) = (fact for fact in stage.facts if isinstance(fact, NotProposed))
    assert (barred.follower, barred.guard) == (102, "704.leader-recovers")


@with_guard(SPECIFIED, "3.2-4.3")
def test_a_leader_that_recovers_refuses_to_be_read_and_to_be_written_to(features: Features) -> None:
    stage = recovering(features)
    assert stage.fetch(102, 10).error is E.NOT_LEADER_OR_FOLLOWER
    assert stage.remote(102).end == -1, "the fetch is not noted"
    broker, _, (refused,) = produce(stage.broker, NAME, 1, features, stage.now, acks_all=False)
    assert broker is stage.broker
    assert isinstance(refused, Refused)
    assert (refused.guard, refused.error) == ("704.leader-refuses", E.NOT_LEADER_OR_FOLLOWER)


@with_guard("704.follower-refuses", "3.2-4.3")
def test_a_follower_of_a_leader_that_recovers_refuses_consumers(features: Features) -> None:
    stage = Stage(features, [101, 102], [102], hw=10)
    stage.metadata([101, 102], [102], le=6, pe=2, leader=102, recovery=RECOVERING)
    asked = client_reads.question(stage.broker, NAME, ids.LeaderEpoch(6), features, stage.now)
    refused = building.instance(Refused, client_reads.consumer_fetch(asked, ids.Offset(0)))
    assert (refused.guard, refused.error) == ("704.follower-refuses", E.NOT_LEADER_OR_FOLLOWER)


@with_guard(SPECIFIED, "3.2-4.3")
def test_a_leader_that_has_recovered_aborts_the_transaction_that_is_open(
    features: Features,
) -> None:
    stage = recovering(features)
    stage.append(4, transaction=True)
    stage.recovers()
    (ended,) = (fact for fact in stage.facts if isinstance(fact, TransactionEnded))
    assert (ended.first, ended.marker, ended.commits, ended.recovery) == (10, 14, False, True)
    assert log_of(stage.broker, NAME).epochs[-1] == (5, 10), "it is written by the new leader"


@with_guard("704.unclean-again", "3.2-4.3")
def test_the_member_of_the_isr_is_elected_only_uncleanly_while_it_was_recovering(
    features: Features,
) -> None:
    left = building.partition("a-0", [1, 2], [2], -1, le=7, pe=10, recovery=RECOVERING)
    before = building.controller(building.brokers(2, fenced=[1]), left)
    error, nothing = elect_leader(before, "a-0", False, features)
    assert (error, nothing) == (E.PREFERRED_LEADER_NOT_AVAILABLE, None)
    error, record = elect_leader(before, "a-0", True, features)
    assert error is E.NONE
    told = RECOVERING if at_least(features.metadata_version, "3.2-IV0") else None
    assert record == building.change("a-0", leader=2, isr=[2], recovery=told)


@with_guard("704.election-epoch", "3.2-4.3")
def test_the_epoch_of_the_election_is_no_longer_the_current_one_once_the_leader_is_gone(
    features: Features,
) -> None:
    led = building.partition("a-0", [1, 2], [2], 2, le=7, pe=10, recovery=RECOVERING)
    record = build(led, Targets(), lambda _: False, Code.of(features))
    assert record == building.change("a-0", leader=-1, recovery=RECOVERED)


@with_guard("704.election-boolean", "3.2-4.3")
def test_any_byte_but_0_reads_as_true_and_no_controller_resigns(features: Features) -> None:
    led = building.partition("a-0", [1, 2], [1], 1, le=7, pe=10, recovery=RECOVERING)
    before = building.controller(building.brokers(1, 2), led)
    asked = AlterPartitionRequest(
        version=1,
        broker=ids.BrokerId(1),
        broker_epoch=ids.BrokerEpoch(101),
        items=(AlterPartitionItem("a-0", ids.LeaderEpoch(7), ids.PartitionEpoch(10), (LONE,), 5),),
    )
    after, _, facts = alter_partition(before, asked, features, None)
    assert (after, facts) == (before, ()), "it is RECOVERING, and stays so"


LONE = IsrMember(ids.BrokerId(1), ids.BrokerEpoch(101))
