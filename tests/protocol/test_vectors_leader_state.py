"""The leader's high watermark, the metadata it applies, and whose fetches it serves.

Consumers that name a rack (L32i to L32l, KIP-392) are not modelled. Tests without a vector's id
follow the specification where no vector goes.
"""

import pytest
from msgspec.structs import replace

from kiplab.protocol.errors import KafkaError
from kiplab.protocol.facts import IsrReverted, Refused
from kiplab.protocol.features import Features
from kiplab.protocol.ids import BrokerId, LeaderEpoch, Offset
from kiplab.protocol.log import up_to
from kiplab.protocol.messages import FetchRequest
from kiplab.protocol.replica import client_reads, fetching
from kiplab.protocol.replica.broker_state import Durable
from tests.protocol.building import instance, vector, vectors
from tests.protocol.leading import KRAFT, ME, NAME, T0, Stage, both

E = KafkaError

# --- the high watermark ---------------------------------------------------------------------------


@vectors(
    "fenced leaving mark",
    ("L25a", "3.6-4.3", [], [], 10),
    ("L25b", "3.6-4.3", [102], [], 20),
    ("L25c", "3.6-4.3", [], [102], 20),
)
def test_l25_records_do_not_wait_for_an_ineligible_follower(
    fenced: list[int], leaving: list[int], mark: int, features: Features
) -> None:
    stage = both(features, cache=KRAFT)
    stage.fetch(102, 10)
    stage.append(10)
    stage.now = T0 + 20_000
    stage.metadata([101, 102], [101], le=5, pe=2, fenced=fenced, leaving=leaving)
    assert stage.is_committed([101])
    assert (stage.replica.partition_epoch, stage.high_watermark) == (2, mark)


@vector("L26a-b V29", "3.7-4.3")
def test_l26_records_wait_for_min_insync_replicas(features: Features) -> None:
    stage = Stage(features, [101, 102, 103], [101, 102], cache=KRAFT, min_isr=3)
    stage.fetch(102, 10)
    stage.fetch(103, 10)
    assert stage.is_pending([101, 102], [101, 102, 103]), "L26a"
    assert (len(stage.requests), stage.high_watermark) == (1, 0), "L26a"
    stage.completes([101, 102, 103])
    assert stage.is_committed([101, 102, 103]), "L26b"
    assert stage.high_watermark == 10, "L26b"


@vector("maximal-isr", "3.2-4.3")
def test_records_wait_for_a_proposed_member(features: Features) -> None:
    stage = Stage(features, [101, 102], [101], hw=10)
    stage.fetch(102, 10)
    assert stage.is_pending([101], [101, 102])
    stage.now = T0 + 30_001
    stage.append(10)
    assert stage.high_watermark == 10
    stage.fails(E.OPERATION_NOT_ATTEMPTED)
    assert stage.is_committed([101])
    assert stage.high_watermark == 10, "Kafka looks again with the next append"
    stage.append(1)
    assert stage.high_watermark == 21


# --- metadata -------------------------------------------------------------------------------------


@vector("L27", "3.3-4.3")
def test_l27_an_older_partition_epoch_is_ignored(features: Features) -> None:
    stage = Stage(features, [101], [101], le=8, records=0)
    before = stage.replica
    stage.metadata([101], [101], le=8, pe=0)
    assert stage.replica is before
    assert (before.leader_epoch, before.partition_epoch) == (8, 1)


@vector("L28", "3.3-4.3")
def test_l28_follower_state_is_kept_within_a_leader_epoch(features: Features) -> None:
    stage = Stage(features, [101, 102], [101], le=8, records=0)
    stage.fetch(102, 0)
    stage.metadata([101, 102], [101], le=8, pe=2)
    assert (stage.replica.leader_epoch, stage.replica.partition_epoch, stage.isr) == (8, 2, [101])
    assert (stage.remote(102).end, stage.remote(102).last_caught_up_ms) == (0, T0)


@vector("L29", "3.3-4.3")
def test_l29_the_epoch_start_is_kept_within_a_leader_epoch(features: Features) -> None:
    stage = Stage(features, [101, 102], [101], le=8, records=0)
    stage.append(2)
    stage.metadata([101, 102], [101], le=8, pe=2)
    assert (stage.replica.partition_epoch, stage.leading.start_offset) == (2, 0)


@vector("L30", "3.3-4.3")
def test_l30_a_follower_knows_nothing_of_other_followers(features: Features) -> None:
    stage = Stage(features, [101, 102, 103], [101, 102, 103], le=1, records=0)
    assert [r.broker for r in stage.leading.remotes] == [102, 103]
    stage.metadata([101, 102, 103], [101, 102, 103], le=2, pe=2, leader=102)
    follower = stage.replica
    assert (follower.leader, follower.leader_epoch, follower.partition_epoch) == (102, 2, 2)
    assert follower.leading is None
    assert follower.replicas == (101, 102, 103)


# --- a proposal that metadata made the leader forget ----------------------------------------------


def forgotten(features: Features, *, level: bool) -> Stage:
    """102 has joined, as an answer said; 103 has what is committed, and was proposed before
    metadata said so too. The proposal is under way; 101 has ten records more."""
    stage = Stage(features, [101, 102, 103], [101], hw=10)
    stage.fetch(102, 10)
    stage.completes([101, 102], pe=2)
    if level:
        stage.fetch(103, 10)
        stage.append(10)
    else:
        stage.append(10)
        stage.fetch(103, 10)
    assert stage.is_pending([101, 102], [101, 102, 103])
    stage.metadata([101, 102, 103], [101, 102], le=5, pe=2)
    assert not stage.in_flight
    assert stage.queue == 1
    return stage


@vector("forgotten-never-level", "3.3-4.3")
def test_who_was_behind_when_proposed_is_not_waited_for_once_metadata_came(
    features: Features,
) -> None:
    stage = forgotten(features, level=False)
    stage.fetch(102, 20)
    assert stage.high_watermark == 20


@vector("forgotten-refused-here", "3.3-4.3")
def test_the_leaders_own_manager_refuses_a_second_proposal_and_protection_does_not_return(
    features: Features,
) -> None:
    stage = forgotten(features, level=False)
    asked = len(stage.requests)
    stage.fetch(103, 11)
    refusal = IsrReverted(
        node=ME, partition=NAME, isr=(ME, BrokerId(102)), error=E.OPERATION_NOT_ATTEMPTED
    )
    assert refusal in stage.facts
    assert (len(stage.requests), stage.in_flight, stage.queue) == (asked, False, 1)
    stage.fetch(102, 20)
    assert stage.high_watermark == 20


@vector("forgotten-level", "3.3-4.3")
def test_who_was_level_when_proposed_is_waited_for_until_it_has_lagged(features: Features) -> None:
    stage = forgotten(features, level=True)
    stage.now = T0 + 30_000
    stage.fetch(102, 20)
    assert stage.high_watermark == 10
    stage.now = T0 + 30_001
    stage.append(1)
    assert stage.high_watermark == 20


@vector("forgotten-refused-first", "3.3-4.3")
def test_a_proposal_refused_here_holds_nothing_back_in_the_fetch_that_made_it(
    features: Features,
) -> None:
    """Partition.updateFollowerFetchState looks at the high watermark after maybeExpandIsr."""
    stage = forgotten(features, level=True)
    stage.fetch(102, 20)
    stage.now = T0 + 30_001
    stage.fetch(103, 15)
    assert stage.high_watermark == 20


@vector("forgotten-level-at-3.2", "3.2")
def test_at_3_2_metadata_makes_the_leader_forget_also_who_was_level(features: Features) -> None:
    stage = forgotten(features, level=True)
    stage.fetch(102, 20)
    assert stage.high_watermark == 20


@vectors("noted", ("end-at-fetch-at-3.2", "3.2", 10), ("end-at-fetch", "3.3-4.3", 20))
def test_the_leader_end_noted_at_a_fetch_never_goes_back(noted: int, features: Features) -> None:
    """Of two fetches at once the later may have read the end of the log earlier."""
    stage = Stage(features, [101, 102], [101, 102], records=20)
    stage.fetch(102, 0)
    (durable,) = stage.broker.durable.replicas
    earlier = replace(durable, log=up_to(durable.log, Offset(10)))
    stage.broker = replace(stage.broker, durable=Durable((earlier,)))
    stage.fetch(102, 5)
    assert stage.remote(102).leader_end_at_last_fetch == noted


# --- whose fetch is served ------------------------------------------------------------------------


@vectors("follower leader_epoch", ("L31c", "3.3-4.3", 103, 8), ("L31d", "3.3-4.3", 104, -1))
def test_l31_an_added_replica_is_served(
    follower: int, leader_epoch: int, features: Features
) -> None:
    stage = Stage(features, [101, 102], [101, 102], le=8, records=0)
    stage.metadata([101, 102, 103, 104], [101, 102], le=8, pe=2)
    assert stage.fetch(follower, 0, leader_epoch=leader_epoch).error is E.NONE
    assert stage.remote(follower).end == 0


@vectors(
    "leader_epoch error",
    ("L32a", "3.3-4.3", -1, E.NONE),
    ("L32b", "3.3-4.3", 5, E.NONE),
    ("L32c", "3.3-4.3", 4, E.FENCED_LEADER_EPOCH),
    ("L32d", "3.3-4.3", 6, E.UNKNOWN_LEADER_EPOCH),
)
def test_l32_the_leader_epoch_of_a_fetch(
    leader_epoch: int, error: KafkaError, features: Features
) -> None:
    stage = both(features, records=0)
    assert stage.fetch(102, 0, leader_epoch=leader_epoch).error is error
    assert stage.remote(102).end == (0 if error is E.NONE else -1)


@vectors(
    "leader_epoch error",
    ("L32e", "3.3-4.3", -1, E.NOT_LEADER_OR_FOLLOWER),
    ("L32f", "3.3-4.3", 5, E.NOT_LEADER_OR_FOLLOWER),
    ("L32g", "3.3-4.3", 4, E.FENCED_LEADER_EPOCH),
    ("L32h", "3.3-4.3", 6, E.UNKNOWN_LEADER_EPOCH),
)
def test_l32_a_consumer_that_asks_a_follower(
    leader_epoch: int, error: KafkaError, features: Features
) -> None:
    stage = both(features, records=0)
    stage.metadata([101, 102], [101, 102], le=5, pe=2, leader=102)
    name, wanted = stage.replica.partition, LeaderEpoch(leader_epoch)
    asked = client_reads.question(stage.broker, name, wanted, features, None)
    answer = instance(Refused, client_reads.consumer_fetch(asked, Offset(0)))
    assert answer.error is error


@pytest.mark.parametrize(
    ("features", "version"),
    [
        pytest.param(Features("3.9", metadata_version), version, id=metadata_version)
        for metadata_version, version in (
            ("3.0-IV1", 12),
            ("3.1-IV0", 13),
            ("3.4-IV0", 13),
            ("3.5-IV0", 14),
            ("3.5-IV1", 15),
            ("3.7-IV3", 15),
            ("3.7-IV4", 16),
            ("3.9-IV0", 17),
        )
    ],
)
def test_the_metadata_version_gates_the_fetch_version(features: Features, version: int) -> None:
    stage = both(features)
    stage.metadata([101, 102], [101, 102], le=6, pe=2, leader=102)
    _, (send,), _ = fetching.fetch(stage.broker, features)
    assert isinstance(send.body, FetchRequest)
    assert (send.receiver, send.body.version, send.body.replica_epoch) == (102, version, 1101)
