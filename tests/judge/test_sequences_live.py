"""The sequences of tests/plays/test_sequences_found.py, asked of real controllers and the engine,
of the releases that test_conversation.py does not ask, and at older metadata versions.
"""

from collections.abc import Iterator

import pytest

from kiplab.judge.controller.controller_process import ControllerProcess
from kiplab.protocol import messages
from kiplab.protocol.features import parse_features
from kiplab.protocol.ids import BrokerId, Incarnation, MetadataOffset
from tests.judge.both_controllers import Both
from tests.judge.kafka_here import real_kafka
from tests.judge.kraft import conversation, real_side, turns

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.long(quick="tests/plays/test_sequences_found.py"),
]
LIVE = ("3.2/3.2-IV0", "3.4/3.3-IV0", "3.6/3.5-IV2", "3.8/3.4-IV0")
SEEDS, QUESTIONS = 6, 40
A, B, C, D = BrokerId(1), BrokerId(2), BrokerId(3), BrokerId(4)


@pytest.fixture(scope="module", params=LIVE)
def process(request: pytest.FixtureRequest) -> Iterator[ControllerProcess]:
    with real_kafka():
        made = ControllerProcess(*request.param.split("/"))
    with made:
        yield made


@pytest.fixture
def both(process: ControllerProcess) -> Iterator[Both]:
    made = Both(process)
    yield made
    made.side.clear((A, B, C, D))
    made.kafka.close()


def release(both: Both) -> tuple[int, ...]:
    return tuple(int(number) for number in both.kafka.process.release.split("."))


def register(both: Both, broker: BrokerId, incarnation: int = 1) -> int:
    """The offset of its record minus its broker epoch."""
    life = Incarnation(incarnation)
    answered = both.ask(messages.BrokerRegistrationRequest(broker=broker, incarnation=life))
    assert isinstance(answered.response, messages.BrokerRegistrationResponse)
    (record,) = answered.records
    return record.offset - answered.response.broker_epoch


def test_d1_silence_in_controlled_shutdown(both: Both) -> None:
    both.start(A)
    both.create("orders", [A])
    assert both.beat(A, want_shut_down=True).should_shut_down is False
    both.fall_silent()
    assert both.beat(A).should_shut_down is (release(both) < (3, 7))


def test_d2_a_shutdown_waits_for_a_broker_that_was_just_unfenced(both: Both) -> None:
    both.start(A)
    both.start(B)
    both.create("orders", [A, B])
    both.beat(A, want_shut_down=True)
    both.silence(5_000)
    both.beat(A)
    both.silence(5_000)
    both.beat(B)
    assert both.beat(A).should_shut_down is (release(both) < (3, 7))
    both.beat(B)
    both.beat(A)


def test_d3_registering_twice_more(both: Both) -> None:
    both.start(A)
    register(both, A)
    both.beat(A)
    register(both, A)
    register(both, A)
    both.beat(A)


def test_d5_registering_in_controlled_shutdown(both: Both) -> None:
    both.start(A)
    both.start(B)
    both.create("orders", [A, B])
    both.beat(A, want_shut_down=True)
    register(both, A)
    assert both.beat(A, want_fence=True).is_fenced is (release(both) > (3, 2))


def test_d6_the_first_registration_after_an_election(both: Both) -> None:
    both.start(A)
    both.take(turns.TookOver(restarted=True))
    below = 1 if release(both) < (3, 6) else 0
    assert [register(both, B), register(both, C)] == [below, 0]
    both.take(turns.TookOver(restarted=True))
    both.take(turns.TookOver(restarted=True))
    assert [register(both, B, 2), register(both, C, 2)] == [2 * below, 0]
    both.take(turns.TookOver(restarted=True))
    both.beat(A, want_fence=True)
    assert register(both, D) == 0


def test_d6_a_controller_that_resigned_keeps_its_own_offset_of_a_registration(both: Both) -> None:
    both.start(A)
    both.create("orders", [A])
    both.take(turns.TookOver(restarted=True))
    register(both, B)
    (held,) = both.engine.held.partitions
    asked = messages.AlterPartitionItem(
        held.name, held.leader_epoch, held.partition_epoch, (messages.IsrMember(A),), recovery=2
    )
    both.ask(
        messages.AlterPartitionRequest(
            version=1, broker=A, broker_epoch=both.epoch(A), items=(asked,)
        )
    )
    both.take(turns.TookOver(restarted=False))
    epoch = both.epoch(B)
    answered = both.ask(
        messages.BrokerHeartbeatRequest(
            broker=B, broker_epoch=epoch, metadata_offset=MetadataOffset(epoch)
        )
    )
    # At 3.2 it would have to have seen the end of the log.
    caught_up = release(both) > (3, 2)
    expected = messages.BrokerHeartbeatResponse(is_caught_up=caught_up, is_fenced=not caught_up)
    assert answered.response == expected


def test_d7_sessions_that_are_tied(both: Both) -> None:
    tied = (BrokerId(40), BrokerId(3), BrokerId(17), BrokerId(1))
    for broker in (*tied, B):
        both.start(broker)
    both.create("orders", [*tied, B])
    both.take(turns.TookOver(restarted=True))
    both.silence(1_000)
    both.beat(B)
    fenced = turns.fenced_in(both.silence(8_500))
    assert sorted(fenced) == sorted(tied)
    assert list(fenced) != sorted(tied)
    for broker in tied:
        both.ask(messages.UnregisterBrokerRequest(broker=broker))


def test_a_new_controller_ends_no_session_before_it_has_heard_of_somebody(both: Both) -> None:
    both.start(A)
    both.start(B)
    both.create("orders", [A, B])
    both.take(turns.TookOver(restarted=True))
    assert both.fall_silent() == ()
    both.beat(A)
    assert turns.fenced_in(both.done[-1].real.records) == (B,)


def test_a_controller_of_3_2_gives_up_when_an_unregistered_broker_is_silent(both: Both) -> None:
    both.start(A)
    both.ask(messages.UnregisterBrokerRequest(broker=A))
    epoch = both.engine.held.controller_epoch
    assert both.fall_silent() == ()
    resigned = both.engine.held.controller_epoch != epoch
    assert resigned is (release(both) == (3, 2))
    if resigned:
        both.take(turns.TookOver(restarted=False))
    assert register(both, B) == (1 if resigned else 0)


# --- generated conversations ----------------------------------------------------------------------


def test_generated_conversations_agree_at_an_older_metadata_version_and_while_it_rises(
    process: ControllerProcess,
) -> None:
    kafka = real_side.RealSide(process)
    raised = [
        done
        for seed in range(SEEDS)
        for done in agreeing(kafka, seed)
        if isinstance(done.turn, turns.Raised) and not done.real.refused
    ]
    kafka.close()
    assert raised or process.release == "3.2"


def agreeing(side: real_side.RealSide, seed: int) -> list[conversation.ConversationTurn]:
    """The turns of a conversation in which the two never part."""
    begun = parse_features(f"{side.kafka.process.release}/{side.kafka.process.metadata_version}")
    generated = conversation.Generated(side, begun, seed, raises=begun.release != "3.2")
    parted = generated.run(QUESTIONS)
    assert parted is None, f"seed {seed}: {parted}"
    return generated.conversation.done


def test_a_metadata_version_that_kafka_refuses_is_refused_here_too(both: Both) -> None:
    held = both.kafka.process.metadata_version
    assert both.engine.raise_metadata_version("3.1-IV0")
    # 3.2 cannot be asked: it has no UpdateFeatures.
    asked = () if release(both) == (3, 2) else ("3.1-IV0", "3.3-IV0", held)
    both.take(turns.TookOver(restarted=True))
    for wanted in asked:
        refused, _ = both.kafka.raise_metadata_version(wanted)
        assert bool(refused) is bool(both.engine.raise_metadata_version(wanted))
    assert both.kafka.process.metadata_version == held
    both.engine.follow(both.kafka.end)
    # What was done is written, and corrects the controller.
    assert register(both, B) == (0 if asked else 1)
