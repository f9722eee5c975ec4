"""A real controller and the engine, asked the same, live: contacts by hand, and generated
conversations, which try every rule (the recordings of them are longer).
"""

from collections.abc import Iterator

import pytest

from kiplab.judge.controller.controller_process import ControllerProcess
from kiplab.judge.conversation.kafka_terms import UnspokenError, call_of
from kiplab.judge.conversation.real_controller import RefusedByKafkaError
from kiplab.protocol import errors, facts, features, ids, messages
from kiplab.protocol.kraft.sessions import SESSION_TIMEOUT_MS
from tests.judge.both_controllers import Both
from tests.judge.kafka_here import live, real_kafka
from tests.judge.kraft import real_side, turns
from tests.judge.kraft.conversation import Generated
from tests.judge.skeleton.sides import Parting

QUICK = (
    "tests/judge/test_corpus.py::test_the_engine_answers_what_kafka_answered_in_few_conversations"
)
NEWER = ("4.0", "4.3")
"""Where contacts take the place of sessions; they differ in whom a new controller begins with."""
RELEASES = ("3.3", "3.5", "3.7", "3.9", *NEWER)
"""The oldest and the newest protocol of AlterPartition, and what lies between."""
BROKERS = (ids.BrokerId(1), ids.BrokerId(2), ids.BrokerId(3))
SEEDS, QUESTIONS = 8, 30


@pytest.fixture(scope="module", params=RELEASES)
def process(request: pytest.FixtureRequest) -> Iterator[ControllerProcess]:
    with real_kafka():
        made = ControllerProcess(request.param)
    with made:
        yield made


@pytest.fixture
def both(process: ControllerProcess) -> Iterator[Both]:
    made = Both(process)
    yield made
    made.side.clear(BROKERS)
    made.kafka.close()


# --- contacts, from 4.0 on ------------------------------------------------------------------------


@live(QUICK)
@pytest.mark.parametrize("process", NEWER, indirect=True)
def test_who_was_heard_of_has_a_session_fenced_or_not(both: Both) -> None:
    one = BROKERS[0]
    both.ask(register(one, 1))
    assert error_of(both.ask(register(one, 2))) is errors.KafkaError.NONE
    assert both.beat(one, want_fence=True).is_fenced
    assert error_of(both.ask(register(one, 3))) is errors.KafkaError.DUPLICATE_BROKER_REGISTRATION
    # Whoever is fenced is fenced once more, and may come back.
    assert [r.record for r in both.fall_silent()] == ["BrokerRegistrationChangeRecord"]
    assert error_of(both.ask(register(one, 3))) is errors.KafkaError.NONE


@live(QUICK)
@pytest.mark.parametrize("process", NEWER, indirect=True)
def test_a_new_incarnation_cleans_up_after_one_that_nobody_has_missed_yet(both: Both) -> None:
    for broker in BROKERS:
        both.start(broker)
    both.create("orders", [2, 3, 1])
    both.take(turns.Waited(SESSION_TIMEOUT_MS - 1_000))
    assert both.noticed() == ()
    # The next look is 1,125 ms after that one; the sessions are over sooner.
    both.take(turns.Waited(1_000 + 50))
    written = both.ask(register(BROKERS[1], 2)).records
    assert [r.record for r in written] == ["PartitionChangeRecord", "RegisterBrokerRecord"]
    assert both.epoch(BROKERS[1]) == written[0].offset


@live(QUICK)
@pytest.mark.parametrize("process", NEWER, indirect=True)
def test_a_new_controller_takes_the_unfenced_for_heard_of_and_4_0_everybody(both: Both) -> None:
    both.start(BROKERS[0])
    both.ask(register(BROKERS[1], 1))
    both.take(turns.TookOver(restarted=True))
    again = error_of(both.ask(register(BROKERS[1], 2)))
    everybody = both.kafka.process.release == "4.0"
    duplicate = errors.KafkaError.DUPLICATE_BROKER_REGISTRATION
    assert again is (duplicate if everybody else errors.KafkaError.NONE)
    assert error_of(both.ask(register(BROKERS[0], 2))) is duplicate


def register(broker: ids.BrokerId, incarnation: int) -> messages.BrokerRegistrationRequest:
    return messages.BrokerRegistrationRequest(
        broker=broker, incarnation=ids.Incarnation(incarnation)
    )


def error_of(answered: turns.Answer) -> errors.KafkaError:
    assert isinstance(answered.response, messages.BrokerRegistrationResponse)
    return answered.response.error


@live(QUICK)
def test_a_topic_that_kafka_refuses_is_named(both: Both) -> None:
    with pytest.raises(RefusedByKafkaError, match="topic orders: error 39"):
        both.kafka.create("orders", [[1, 2, 3]])


# --- what is compared -----------------------------------------------------------------------------


def record(offset: int, name: str, text: str) -> facts.RecordWritten:
    return facts.RecordWritten(offset=offset, record=name, text=text, version=0)


def answered(*records: facts.RecordWritten, is_fenced: bool = False) -> turns.Answer:
    return turns.Answer(messages.BrokerHeartbeatResponse(is_fenced=is_fenced), records)


def test_an_answer_parts_by_its_fields() -> None:
    assert turns.partings(answered(), answered()) == ()
    found = turns.partings(answered(is_fenced=True), answered())
    assert found == (Parting("is_fenced", "True", "False"),)
    assert str(found[0]) == "is_fenced: Kafka has True, the engine False"


def test_changes_of_several_partitions_are_equal_in_any_order() -> None:
    change, fence = "PartitionChangeRecord", "FenceBrokerRecord"
    one = answered(record(5, change, "a"), record(6, change, "b"), record(7, fence, "c"))
    other = answered(record(5, change, "b"), record(6, change, "a"), record(7, fence, "c"))
    assert turns.partings(one, other) == ()


def test_other_records_part_by_order_offset_and_text() -> None:
    fence = "FenceBrokerRecord"
    one = answered(record(5, fence, "a"), record(6, fence, "b"))
    assert turns.partings(one, answered(record(5, fence, "b"), record(6, fence, "a")))
    assert turns.partings(one, answered(record(5, fence, "a"), record(7, fence, "b")))
    (missing,) = turns.partings(one, answered())
    assert missing == Parting("records", "@5 v0 a; @6 v0 b", "none")


@live(QUICK)
def test_what_no_controller_answers_cannot_be_asked(both: Both) -> None:
    fetch = messages.FetchRequest(
        version=15,
        partition="orders-0",
        replica=BROKERS[0],
        replica_epoch=ids.BrokerEpoch(1),
        leader_epoch=ids.LeaderEpoch(0),
        offset=ids.Offset(0),
    )
    with pytest.raises(UnspokenError, match="FetchRequest is nothing to ask a controller"):
        call_of(fetch, both.kafka.schemas, both.kafka.topics)


# --- generated conversations ----------------------------------------------------------------------


@live(QUICK)
def test_generated_conversations_agree(process: ControllerProcess) -> None:
    kafka = real_side.RealSide(process)
    for seed in range(SEEDS):
        parted = Generated(kafka, features.parse_features(process.release), seed).run(QUESTIONS)
        assert parted is None, f"seed {seed}: {parted}"
    kafka.close()


@live(QUICK)
def test_an_engine_with_one_rule_less_is_caught(process: ControllerProcess) -> None:
    kafka = real_side.RealSide(process)
    wrong = features.parse_features(process.release, off=("631.heartbeat-epoch",))
    parted = (Generated(kafka, wrong, seed).run(QUESTIONS) for seed in range(10 * SEEDS))
    first = next(done for done in parted if done is not None)
    assert isinstance(first.turn, turns.Asked)
    assert isinstance(first.turn.request, messages.BrokerHeartbeatRequest)
    assert first.partings[0].what == "error"
    kafka.close()
