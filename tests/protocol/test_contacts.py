"""What controllers from 4.0 on remember of brokers: contacts in the place of sessions.

Read in BrokerHeartbeatTracker, ClusterControlManager, ReplicationControlManager (its
handleBrokerShutdown and maybeFenceOneStaleBroker) and PeriodicTaskControlManager (4.0.2, 4.1.2,
4.2.1 and 4.3.1), and judged by real controllers in tests/judge/test_conversation.py.
"""

import pytest
from msgspec.structs import replace

from kiplab.engine import moves
from kiplab.engine.impossible_moves import why_not
from kiplab.engine.setup import cluster_of
from kiplab.plays.grammar import parse
from kiplab.plays.header import setup_of
from kiplab.plays.runner import run_play
from kiplab.protocol import ids, messages
from kiplab.protocol.errors import KafkaError
from kiplab.protocol.facts import Fact, RecordWritten
from kiplab.protocol.features import Features, parse_features
from kiplab.protocol.kraft.controller_state import Contact, Controller
from kiplab.protocol.kraft.elections import INTERVAL_MS, plan
from kiplab.protocol.kraft.fencing import expire_session, fail_over
from kiplab.protocol.kraft.sessions import (
    CHECK_MS,
    NEXT_CHECK_MS,
    SESSION_TIMEOUT_MS,
    carried_over,
    next_check_ms,
)
from kiplab.protocol.registrations import registration
from tests.protocol import building
from tests.protocol.building import brokers, controller, instance, newest, partition, present

A, B = ids.BrokerId(1), ids.BrokerId(2)
NEWER = pytest.mark.parametrize("features", newest("4.0-4.3"))
LAST_MS = 1_000 + SESSION_TIMEOUT_MS
"""When the session of who was heard of at 1 s is over at the earliest: not quite then."""


def registers(
    held: Controller, incarnation: int, features: Features, now_ms: int
) -> tuple[Controller, KafkaError, list[str]]:
    after, sends, facts = building.registers(held, A, incarnation, features, now_ms)
    answer = instance(messages.BrokerRegistrationResponse, sends[-1].body)
    return after, answer.error, names(facts)


def beats(
    held: Controller, epoch: int, features: Features, now_ms: int, *, want_fence: bool = False
) -> Controller:
    return building.beats(held, A, features, now_ms, epoch=epoch, want_fence=want_fence)[0]


def names(facts: tuple[Fact, ...]) -> list[str]:
    return [fact.record for fact in facts if isinstance(fact, RecordWritten)]


# --- who has a session ----------------------------------------------------------------------------


@NEWER
def test_a_heartbeat_is_noted_under_the_epoch_that_it_names(features: Features) -> None:
    held = controller(brokers(1))
    known, past, given_out_later = 101, 50, held.next_offset + 3
    for epoch, contacts in (
        (known, (Contact(A, ids.BrokerEpoch(known), 7),)),
        (past, ()),
        (given_out_later, (Contact(A, ids.BrokerEpoch(given_out_later), 7),)),
    ):
        assert beats(held, epoch, features, 7).contacts == contacts


@NEWER
def test_what_is_noted_under_an_epoch_to_come_counts_once_that_is_given_out(
    features: Features,
) -> None:
    held = controller(brokers(1))
    to_come = held.next_offset
    held = beats(beats(held, to_come, features, 7), 101, features, 8)
    assert held.contacts == (
        Contact(A, ids.BrokerEpoch(101), 8),
        Contact(A, ids.BrokerEpoch(to_come), 7),
    )
    over = 8 + SESSION_TIMEOUT_MS + 1
    held, error, _ = registers(beats(held, to_come, features, over), 2, features, over)
    assert error is KafkaError.NONE
    assert registers(held, 3, features, over)[1] is KafkaError.DUPLICATE_BROKER_REGISTRATION


def test_up_to_3_9_nothing_is_noted() -> None:
    assert beats(controller(brokers(1)), 101, parse_features("3.9"), 7).contacts == ()


@NEWER
def test_who_is_registered_and_was_not_heard_of_has_no_session(features: Features) -> None:
    held, _, _ = registers(controller(()), 1, features, 1_000)
    _, error, _ = registers(held, 2, features, 1_001)
    assert error is KafkaError.NONE


@pytest.mark.parametrize(
    ("kafka", "now_ms", "error"),
    [
        ("3.9", 1_001, KafkaError.NONE),
        ("4.0", 1_001, KafkaError.DUPLICATE_BROKER_REGISTRATION),
        ("4.0", LAST_MS, KafkaError.DUPLICATE_BROKER_REGISTRATION),
        ("4.0", LAST_MS + 1, KafkaError.NONE),
        ("4.3", LAST_MS, KafkaError.DUPLICATE_BROKER_REGISTRATION),
        ("4.3", LAST_MS + 1, KafkaError.NONE),
    ],
)
def test_a_fenced_broker_that_was_heard_of_has_one(
    kafka: str, now_ms: int, error: KafkaError
) -> None:
    features = parse_features(kafka)
    held = beats(controller(brokers(fenced=[1])), 101, features, 1_000, want_fence=True)
    assert registers(held, 2, features, now_ms)[1] is error


@NEWER
def test_the_same_process_registers_again_and_is_not_heard_of_by_that(features: Features) -> None:
    held = beats(controller(brokers(1)), 101, features, 1_000)
    again, _, _ = registers(held, 1, features, 5_000)
    assert again.contacts == (Contact(A, ids.BrokerEpoch(101), 1_000),)


# --- when it is over ------------------------------------------------------------------------------


@NEWER
def test_a_fenced_broker_is_fenced_once_more(features: Features) -> None:
    held = beats(controller(brokers(fenced=[1])), 101, features, 1_000, want_fence=True)
    after, _, facts = expire_session(held, A, features, LAST_MS + 1)
    assert names(facts) == ["BrokerRegistrationChangeRecord"]
    assert (after.contacts, after.registrations) == ((), held.registrations)


@NEWER
def test_a_new_incarnation_cleans_up_after_one_that_nobody_has_missed(features: Features) -> None:
    given = controller(brokers(1, 2), partition("p-0", [1, 2], [1, 2], 1, le=5, pe=10))
    held = beats(given, 101, features, 1_000)
    after, error, written = registers(held, 2, features, LAST_MS + 1)
    assert error is KafkaError.NONE
    assert written == ["PartitionChangeRecord", "RegisterBrokerRecord"]
    (state,) = after.partitions
    assert (state.isr, state.leader) == ((B,), B)
    assert (state.leader_epoch, state.partition_epoch) == (6, 11)
    known = present(registration(after.registrations, A))
    assert known.epoch == ids.BrokerEpoch(given.next_offset)
    assert known.record_offset == given.next_offset + 1


@NEWER
def test_the_last_member_stays_without_a_record(features: Features) -> None:
    given = controller(brokers(fenced=[1]), partition("p-0", [1], [1], -1, le=6, pe=11))
    after, _, written = registers(given, 2, features, 1_000)
    assert written == ["RegisterBrokerRecord"]
    assert after.partitions == given.partitions


@pytest.mark.parametrize(
    ("looks_from", "not_before", "looks"),
    [(0, 1, CHECK_MS), (0, CHECK_MS, CHECK_MS), (0, CHECK_MS + 1, 2 * CHECK_MS), (500, 3, 500)],
)
def test_it_is_looked_for_the_silent_again_and_again(
    looks_from: int, not_before: int, looks: int
) -> None:
    held = replace(controller(()), checks_from_ms=looks_from)
    assert next_check_ms(held, not_before) == looks


@NEWER
def test_after_one_was_found_it_is_looked_for_another_soon(features: Features) -> None:
    held = beats(controller(brokers(1)), 101, features, 1_000)
    after, _, _ = expire_session(held, A, features, 10_125)
    assert next_check_ms(after, 10_126) == 10_125 + NEXT_CHECK_MS


SILENT = """
kafka {kafka}
timed
broker 1
broker 2
broker 3
topic orders replicas=1,2,3 isr=1,2,3 leader=1

crash 2
crash 3
advance {ms}ms
"""


@pytest.mark.parametrize(
    ("kafka", "ms", "fenced"),
    [
        ("3.9", 9_000, []),
        ("3.9", 9_001, [2, 3]),
        ("4.0", 10_124 - CHECK_MS, []),
        ("4.0", 10_125 - CHECK_MS - 1, []),
        ("4.0", 10_125, [2]),
        ("4.0", 10_125 + NEXT_CHECK_MS, [2, 3]),
        ("4.3", 10_124, []),
        ("4.3", 10_125, [2]),
    ],
)
def test_a_run_with_a_clock_notices_a_silence_when_it_is_looked_for_one(
    kafka: str, ms: int, fenced: list[int]
) -> None:
    stage = run_play(parse(SILENT.format(kafka=kafka, ms=ms)))
    held = instance(Controller, stage.cluster.controller)
    assert [r.broker for r in held.registrations if r.fenced] == fenced


# --- a new controller, and an upgrade -------------------------------------------------------------


@pytest.mark.parametrize(
    ("kafka", "heard"), [("3.9", []), ("4.0", [1, 2]), ("4.1", [1]), ("4.3", [1])]
)
def test_a_new_controller_begins_with_the_unfenced_and_in_4_0_with_everybody(
    kafka: str, heard: list[int]
) -> None:
    after, _, _ = fail_over(controller(brokers(1, fenced=[2])), parse_features(kafka), 4_000)
    assert after.contacts == tuple(
        Contact(ids.BrokerId(n), ids.BrokerEpoch(100 + n), 4_000) for n in heard
    )


def test_whoever_had_a_session_keeps_it_in_an_upgrade() -> None:
    held = controller(brokers(1, fenced=[2]))
    newer = carried_over(held, parse_features("4.0"))
    assert newer.contacts == (Contact(A, ids.BrokerEpoch(101)),)
    assert carried_over(newer, parse_features("4.3")) is newer
    assert carried_over(newer, parse_features("3.9")) == held


@pytest.mark.parametrize(
    ("kafka", "due"), [("3.9", 9_000 + INTERVAL_MS), ("4.0", 4_000 + INTERVAL_MS)]
)
def test_elections_wait_for_300_s_and_from_4_0_on_for_the_next_turn(kafka: str, due: int) -> None:
    features = parse_features(kafka)
    state = partition("p-0", [1, 2], [2], 2)
    given = controller(brokers(1, 2), state)
    sitting, _, _ = fail_over(replace(given, auto_leader_rebalance=True), features, 4_000)
    assert plan(sitting, features, 9_000).timers.balance_leaders == due


# --- AlterPartition -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kafka", "version", "reason"),
    [
        ("3.9", 0, None),
        ("4.0", 1, "Kafka 4.0 speaks AlterPartition from version 2 on, not 1"),
        ("4.0", 2, None),
    ],
)
def test_a_request_that_no_controller_of_the_release_reads_is_not_sent(
    kafka: str, version: int, reason: str | None
) -> None:
    play = parse(f"kafka {kafka}\nbroker 1\ntopic orders replicas=1")
    cluster = cluster_of(setup_of(play, parse_features(kafka)))
    request = messages.AlterPartitionRequest(
        version=version, broker=A, broker_epoch=ids.BrokerEpoch(1), items=()
    )
    assert why_not(cluster, moves.RawRequest(A, ids.CONTROLLER, request)) == reason
