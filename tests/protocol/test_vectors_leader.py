"""The leader's side of a partition: whom it proposes for the ISR, whom it drops, what answers do.

Counters of expands, shrinks and failures are not modelled.
"""

from kiplab.protocol.errors import KafkaError
from kiplab.protocol.facts import NotProposed
from kiplab.protocol.features import Features
from kiplab.protocol.replica.broker_state import NEVER_MS
from tests.protocol.building import vector, vectors
from tests.protocol.leading import GENERIC, KRAFT, T0, Stage, both

E = KafkaError
LATE = T0 + 30_001
"""More than replica.lag.time.max.ms after 101 became leader."""


def alone(features: Features, *, cache: int = GENERIC) -> Stage:
    """101 alone in the ISR, 102 outside, log of 10."""
    return Stage(features, [101, 102], [101], hw=10, cache=cache)


def expanding(features: Features, *, cache: int = GENERIC) -> Stage:
    """102 has caught up: the expand is on its way."""
    stage = alone(features, cache=cache)
    stage.fetch(102, 10)
    assert stage.is_pending([101], [101, 102])
    return stage


def shrinking(features: Features) -> Stage:
    """102 has not fetched for too long: the shrink is on its way."""
    stage = both(features)
    stage.now = LATE
    stage.shrink_check()
    assert stage.is_pending([101, 102], [101, 102])
    return stage


# --- expanding ------------------------------------------------------------------------------------


@vector("L1", "3.2-4.3")
def test_l1_no_expand_below_the_high_watermark(features: Features) -> None:
    stage = alone(features)
    stage.fetch(102, 3)
    assert stage.is_committed([101])
    assert stage.requests == []
    assert (stage.remote(102).end, stage.remote(102).last_caught_up_ms) == (3, NEVER_MS)


@vector("L2a", "3.2-4.3")
def test_l2a_a_caught_up_follower_is_proposed(features: Features) -> None:
    stage = alone(features)
    stage.fetch(102, 3)
    stage.now += 500
    stage.fetch(102, 10)
    assert stage.is_pending([101], [101, 102])
    assert (len(stage.requests), stage.proposed[102]) == (1, -1)
    assert list(stage.proposed) == [101, 102]
    assert (stage.remote(102).end, stage.remote(102).last_caught_up_ms) == (10, T0 + 500)


@vector("L2b", "3.2-4.3")
def test_l2b_the_expand_is_committed(features: Features) -> None:
    stage = expanding(features)
    stage.completes([101, 102])
    assert stage.is_committed([101, 102])
    assert stage.maximal == [101, 102]
    assert stage.replica.partition_epoch == 2


@vectors(
    "error",
    ("L3", "3.2-4.3", E.INVALID_UPDATE_VERSION),
    ("L4", "3.2-4.3", E.INVALID_REQUEST),
    ("L5a", "3.2-4.3", E.UNKNOWN_TOPIC_OR_PARTITION),
    ("L5b", "3.3-4.3", E.NEW_LEADER_ELECTED),
    ("L5c", "3.2-4.3", E.INVALID_UPDATE_VERSION),
)
def test_a_refused_expand_stays_pending(error: KafkaError, features: Features) -> None:
    stage = expanding(features)
    stage.fails(error)
    assert stage.is_pending([101], [101, 102])
    assert (stage.queue, len(stage.requests)) == (0, 1)


@vectors(
    "shown guard",
    ("L8", "3.3-4.3", {"fenced": [102]}, "841.leader-skips-fenced"),
    ("L10b", "3.3-4.3", {"leaving": [102]}, "841.leader-skips-shutting-down"),
)
def test_a_follower_that_is_fenced_or_shuts_down_is_not_proposed(
    shown: dict[str, list[int]], guard: str, features: Features
) -> None:
    stage = expanding(features, cache=KRAFT)
    stage.fails(E.INELIGIBLE_REPLICA)
    stage.cache_shows(**shown)
    stage.fetch(102, 10)
    assert stage.is_committed([101])
    assert [f.guard for f in stage.facts if isinstance(f, NotProposed)] == [guard]


@vector("L10a", "3.3-4.3")
def test_l10a_ineligible_replica_reverts(features: Features) -> None:
    stage = expanding(features, cache=KRAFT)
    stage.fails(E.INELIGIBLE_REPLICA)
    assert stage.is_committed([101])
    assert stage.maximal == [101]


@vector("L10c", "3.3-4.3")
def test_l10c_a_follower_that_is_back_is_proposed(features: Features) -> None:
    stage = expanding(features, cache=KRAFT)
    stage.fails(E.INELIGIBLE_REPLICA)
    stage.cache_shows(leaving=[102])
    stage.cache_shows()
    stage.fetch(102, 10)
    assert stage.is_pending([101], [101, 102])
    assert stage.queue == 1


@vector("L10d", "3.3-4.3")
def test_l10d_an_answer_with_an_equal_partition_epoch_counts(features: Features) -> None:
    stage = expanding(features, cache=KRAFT)
    stage.completes([101, 102], pe=1)
    assert stage.is_committed([101, 102])


@vector("L12", "3.5-4.3")
def test_l12_only_a_follower_with_the_registered_epoch_is_proposed(features: Features) -> None:
    stage = Stage(features, [101, 102, 103], [101, 103], cache=KRAFT)
    stage.fetch(102, 10, epoch=1105)
    assert stage.is_committed([101, 103])
    stage.fetch(102, 10, epoch=1102)
    assert stage.is_pending([101, 103], [101, 102, 103])
    assert stage.queue == 1
    assert stage.proposed == {101: 1101, 102: 1102, 103: -1}


@vector("L13", "3.7-4.3")
def test_l13_a_fetch_of_an_earlier_life_is_refused(features: Features) -> None:
    stage = both(features, cache=KRAFT)
    stage.fetch(102, 10)
    assert stage.fetch(102, 10, epoch=1101).error is E.NOT_LEADER_OR_FOLLOWER
    assert (stage.remote(102).epoch, stage.remote(102).end) == (1102, 10)
    # Where the logs part the answer says so instead, and the follower's state is not touched.
    diverged = stage.fetch(102, 8, epoch=1101, last_fetched=3)
    assert (diverged.error, diverged.diverging) == (E.NONE, (3, 0))
    assert (stage.remote(102).epoch, stage.remote(102).end) == (1102, 10)


# --- two fetches at once (Partition, 3.5.2, 3.6.2 and 3.7.0; no test of Kafka has them) -----------


@vector("at-once-unlocked", "3.2-3.6")
def test_a_level_follower_is_proposed_with_the_epoch_of_a_fetch_that_came_between(
    features: Features,
) -> None:
    stage = alone(features, cache=KRAFT)
    stage.fetches_at_once(102, (10, 1102), (0, 1250))
    assert stage.proposed[102] == 1250
    assert (stage.remote(102).end, stage.remote(102).epoch) == (0, 1250)
    # To the observer it is the earlier incarnation that caught up.
    assert stage.requests[-1].items[0].isr[1].observed == 1102
    # The high watermark waits for who is proposed.
    stage.append(5)
    assert stage.high_watermark == 10


@vector("at-once-locked", "3.7-4.3")
def test_a_level_follower_is_proposed_with_the_epoch_under_which_it_was_level(
    features: Features,
) -> None:
    stage = alone(features, cache=KRAFT)
    stage.fetches_at_once(102, (10, 1102), (0, 1250))
    assert stage.proposed[102] == 1102
    assert (stage.remote(102).end, stage.remote(102).epoch) == (0, 1250)


@vector("at-once-other-way-round", "3.2-4.3")
def test_of_two_fetches_at_once_only_the_first_may_be_overtaken(features: Features) -> None:
    stage = alone(features, cache=KRAFT)
    stage.fetches_at_once(102, (0, 1102), (10, 1102))
    assert stage.proposed[102] == 1102
    assert stage.remote(102).end == 10


@vector("at-once-refused", "3.2-4.3")
def test_a_refused_fetch_comes_in_between_nothing(features: Features) -> None:
    stage = alone(features, cache=KRAFT)
    stage.fetches_at_once(102, (10, 1102), (99, 1250))
    assert stage.proposed[102] == 1102
    assert (stage.remote(102).end, stage.remote(102).epoch) == (10, 1102)


# --- shrinking ------------------------------------------------------------------------------------


def shrinking_to_two(features: Features) -> Stage:
    stage = Stage(features, [101, 102, 103], [101, 102, 103], cache=KRAFT)
    stage.fetch(102, 10)
    stage.now = LATE
    stage.shrink_check()
    return stage


@vector("L15a", "3.5-4.3")
def test_l15a_a_follower_that_never_fetched_is_dropped(features: Features) -> None:
    stage = shrinking_to_two(features)
    assert len(stage.requests) == 1
    assert stage.proposed == {101: 1101, 102: 1102}
    assert stage.is_pending([101, 102, 103], [101, 102, 103])
    assert stage.high_watermark == 0


@vector("L15b", "3.5-4.3")
def test_l15b_the_shrink_is_committed(features: Features) -> None:
    stage = shrinking_to_two(features)
    stage.completes([101, 102])
    assert stage.is_committed([101, 102])
    assert stage.maximal == [101, 102]
    assert (stage.replica.partition_epoch, stage.high_watermark) == (2, 10)


@vector("L16a", "3.2-4.3")
def test_l16a_a_network_error_is_retried(features: Features) -> None:
    stage = shrinking(features)
    stage.fails(E.NETWORK_EXCEPTION)
    assert stage.is_pending([101, 102], [101, 102])
    assert (stage.queue, len(stage.requests)) == (1, 2)
    assert (stage.replica.partition_epoch, stage.high_watermark) == (1, 0)


@vector("L16b", "3.2-4.3")
def test_l16b_the_retry_is_committed(features: Features) -> None:
    stage = shrinking(features)
    stage.fails(E.NETWORK_EXCEPTION)
    stage.completes([101])
    assert stage.is_committed([101])
    assert stage.maximal == [101]
    assert (stage.replica.partition_epoch, stage.high_watermark) == (2, 10)


@vector("L16c", "3.2-4.3")
def test_l16c_a_silent_follower_is_dropped(features: Features) -> None:
    stage = shrinking(features)
    assert (len(stage.requests), list(stage.proposed)) == (1, [101])
    assert stage.high_watermark == 0


@vector("L17", "3.2-4.3")
def test_l17_a_refused_shrink_stays_pending(features: Features) -> None:
    stage = shrinking(features)
    stage.fails(E.INVALID_UPDATE_VERSION)
    assert stage.is_pending([101, 102], [101, 102])
    assert (stage.queue, len(stage.requests), stage.high_watermark) == (0, 1, 0)


@vector("L18a-c", "3.2-4.3")
def test_l18_a_follower_that_had_what_the_leader_had_is_in_time(features: Features) -> None:
    stage = both(features)
    stage.now = T0 + 5_000
    stage.fetch(102, 5)
    seen = stage.remote(102)
    assert (seen.end, seen.last_caught_up_ms, stage.high_watermark) == (5, T0, 5), "L18a"
    stage.append(5)
    stage.now = T0 + 10_001
    stage.fetch(102, 10)
    seen = stage.remote(102)
    assert (seen.end, seen.last_caught_up_ms) == (10, T0 + 5_000), "L18b"
    assert stage.high_watermark == 10, "L18b"
    stage.shrink_check()
    assert stage.is_committed([101, 102]), "L18c"


@vector("L19a-b", "3.2-4.3")
def test_l19_a_follower_at_the_log_end_is_in_time_whatever_its_age(features: Features) -> None:
    stage = both(features)
    stage.fetch(102, 10)
    seen = stage.remote(102)
    assert (seen.end, seen.last_caught_up_ms, stage.high_watermark) == (10, T0, 10), "L19a"
    stage.now = LATE
    stage.shrink_check()
    assert stage.is_committed([101, 102]), "L19b"


@vector("L20a-b", "3.2-4.3")
def test_l20_fetch_state(features: Features) -> None:
    stage = both(features, records=6)
    stage.now = T0 + 500
    stage.fetch(102, 3)
    assert (stage.remote(102).end, stage.remote(102).last_caught_up_ms) == (3, T0), "L20a"
    stage.now = T0 + 1_000
    stage.fetch(102, 6)
    assert (stage.remote(102).end, stage.remote(102).last_caught_up_ms) == (6, T0 + 1_000), "L20b"


@vector("L21a-c", "3.2-4.3")
def test_l21_a_follower_joins_from_the_start_of_the_leader_epoch_on(features: Features) -> None:
    stage = Stage(features, [101, 102, 103], [101, 103], le=10, records=5, record_epoch=8, hw=1)
    stage.append(2)
    assert stage.leading.start_offset == 5
    for offset, id in ((0, "L21a"), (1, "L21b")):
        stage.fetch(102, offset)
        assert stage.is_committed([101, 103]), id
        assert stage.requests == [], id
    stage.fetch(102, 5)
    assert stage.is_pending([101, 103], [101, 102, 103]), "L21c"
    assert sorted(stage.proposed) == [101, 102, 103], "L21c"


@vector("L23", "3.2-4.3")
def test_l23_nothing_is_proposed_while_something_is_pending(features: Features) -> None:
    stage = Stage(features, [101, 102, 103, 104], [101, 102, 103])
    stage.fetch(104, 10)
    stage.now = LATE
    stage.shrink_check()
    assert (stage.queue, len(stage.requests)) == (1, 1)
    assert stage.is_pending([101, 102, 103], [101, 102, 103, 104])


@vector("L24", "3.2-4.3")
def test_l24_an_unknown_server_error_is_retried(features: Features) -> None:
    stage = Stage(features, [101, 102, 103, 104], [101, 102, 103])
    stage.fetch(104, 10)
    stage.fails(E.UNKNOWN_SERVER_ERROR)
    stage.completes([101, 102, 103, 104])
    assert len(stage.requests) == 2
    assert stage.is_committed([101, 102, 103, 104])
    assert stage.replica.partition_epoch == 2
