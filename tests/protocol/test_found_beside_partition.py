"""What Kafka's own kafka.cluster.Partition did otherwise than the engine: the smallest sequence of
each. Seen alike on every patch release from 3.3.2 to 4.3.1.
"""

import pytest

from kiplab.protocol import log, messages
from kiplab.protocol.errors import KafkaError
from kiplab.protocol.features import Features
from kiplab.protocol.ids import BrokerEpoch, LeaderEpoch, Offset
from kiplab.protocol.registrations import LeaderRecoveryState
from kiplab.protocol.replica.broker_state import NEVER_MS, log_of
from kiplab.protocol.replica.fetching import fetched
from tests.protocol.building import vector
from tests.protocol.leading import ME, NAME, T0, Stage, both

E = KafkaError


@vector("offset-below-0", "3.3-3.9")
def test_an_offset_below_the_start_of_the_log_is_out_of_range(features: Features) -> None:
    stage = both(features)
    assert stage.fetch(102, -1).error is E.OFFSET_OUT_OF_RANGE
    assert stage.fetch(102, -1, last_fetched=4).error is E.OFFSET_OUT_OF_RANGE
    assert stage.remote(102).end == -1, "nothing is noted of it"


@vector("epochs-below-0", "3.3-3.9")
def test_every_epoch_below_0_is_none_at_all(features: Features) -> None:
    stage = both(features)
    assert stage.fetch(102, 10, leader_epoch=-2).error is E.NONE
    assert stage.fetch(102, 10, last_fetched=-2).error is E.NONE
    assert stage.fetch(102, 11, last_fetched=-2).error is E.OFFSET_OUT_OF_RANGE
    stranger = stage.fetch(109, 10, leader_epoch=-2)
    assert stranger.error is E.NOT_LEADER_OR_FOLLOWER, "as if it had named no epoch"


@pytest.mark.parametrize("state", list(LeaderRecoveryState))
@vector("asked-for-as-answered", "3.3-3.9")
def test_a_leader_asks_in_the_recovery_state_that_it_was_answered_with(
    features: Features, state: LeaderRecoveryState
) -> None:
    stage = Stage(features, [101, 102, 103], [101])
    stage.fetch(102, 10)
    stage.completes([101, 102], recovery=state)
    stage.fetch(103, 10)
    assert stage.requests[-1].items[0].recovery == state


@vector("unknown-recovery-state", "3.3-3.9")
def test_an_answer_in_a_recovery_state_that_there_is_not_is_asked_for_again(
    features: Features,
) -> None:
    stage = Stage(features, [101, 102], [101])
    stage.fetch(102, 10)
    stage.completes([101, 102], recovery=5)
    assert stage.is_pending([101], [101, 102])
    assert len(stage.requests) == 2
    assert stage.requests[0] == stage.requests[1]


@vector("member-that-is-no-replica", "3.3-3.9")
def test_a_member_of_which_nothing_is_known_has_lagged_since_ever(features: Features) -> None:
    stage = Stage(features, [101, 102], [101])
    stage.now = 0
    stage.fetch(102, 10)
    stage.completes([101, 102, 103])
    stage.shrink_check()
    assert set(stage.proposed) == {101, 102}


@vector("replica-new-at-re-election", "3.3-3.9")
def test_a_replica_that_comes_with_a_new_reign_of_the_same_leader_begins_at_its_start(
    features: Features,
) -> None:
    stage = both(features)
    stage.metadata([101, 102, 103], [101, 102], le=6, pe=2)
    assert stage.remote(103).leader_end_at_last_fetch == 10
    assert stage.remote(103).last_fetch_ms == NEVER_MS


@vector("replica-new-in-between", "3.3-3.9")
def test_a_replica_that_comes_in_between_was_never_level_even_as_a_member(
    features: Features,
) -> None:
    stage = both(features)
    stage.metadata([101, 102, 103], [101, 102, 103], le=5, pe=2)
    assert stage.remote(103).last_caught_up_ms == NEVER_MS
    assert stage.remote(102).last_caught_up_ms == T0


@vector("lower-high-watermark", "3.3-3.9")
def test_a_follower_takes_its_leaders_high_watermark_even_where_that_is_lower(
    features: Features,
) -> None:
    stage = both(features, hw=10)
    stage.metadata([101, 102], [101, 102], le=6, pe=2, leader=102)
    assert stage.high_watermark == 10
    request = messages.FetchRequest(
        version=12,
        partition=NAME,
        replica=ME,
        replica_epoch=BrokerEpoch(1101),
        leader_epoch=LeaderEpoch(6),
        offset=Offset(10),
    )
    nothing_new = log.records_from(log_of(stage.broker, NAME), Offset(10))
    response = messages.FetchResponse(
        partition=NAME, leader_epoch=LeaderEpoch(6), records=nothing_new, high_watermark=Offset(7)
    )
    stage.broker, _, _ = fetched(stage.broker, response, request, None)
    assert stage.high_watermark == 7
