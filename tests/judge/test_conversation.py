"""A real controller and the engine, asked the same by hand, live: the sequences of
tests/plays/test_sequences_found.py, and contacts. Generated conversations are asked by `make judge`
(tests/judge/test_judge_command.py).
"""

from collections.abc import Iterator

import pytest

from kiplab.judge.controller.controller_process import ControllerProcess
from kiplab.judge.conversation.kafka_terms import UnspokenError, call_of
from kiplab.judge.conversation.real_controller import RefusedByKafkaError
from kiplab.protocol import facts, ids, messages
from kiplab.protocol.errors import KafkaError
from kiplab.protocol.features import parse_features
from kiplab.protocol.kraft.sessions import NEXT_CHECK_MS, SESSION_TIMEOUT_MS
from tests.judge.kafka_here import real_kafka
from tests.judge.kraft import conversation, real_side, turns

QUICK = "tests/plays/test_sequences_found.py"
pytestmark = [pytest.mark.kafka, pytest.mark.long(quick=QUICK)]
LIVE = ("3.2/3.2-IV0", "3.4/3.3-IV0", "3.6/3.5-IV2", "3.8/3.4-IV0")
contacts_alone = pytest.mark.parametrize("process", ["4.0", "4.3"], indirect=True)
"""Where contacts take the place of sessions; they differ in whom a new controller begins with."""
A, B, C, D = ids.BrokerId(1), ids.BrokerId(2), ids.BrokerId(3), ids.BrokerId(4)
SESSION_AND_A_HALF_MS, MOST_CHECKS = 13_500, 60


class Both(conversation.Conversation):
    """Asks both, and fails where they part."""

    def __init__(self, process: ControllerProcess) -> None:
        self.side = real_side.RealSide(process)
        self.kafka = self.side.kafka
        features = parse_features(f"{process.release}/{process.metadata_version}")
        super().__init__(self.side, self.side.begin(), features)

    def take(self, turn: turns.Turn) -> turns.Answer:
        """Kafka's answer to one more turn."""
        assert self.do(turn), f"{turn}\n" + "\n".join(map(str, self.done[-1].partings))
        return self.done[-1].real

    def ask(self, request: messages.Request) -> turns.Answer:
        return self.take(turns.Asked(request, 1, self.engine.looks_first))

    def epoch(self, broker: ids.BrokerId) -> ids.BrokerEpoch:
        return next(r.epoch for r in self.engine.held.registrations if r.broker == broker)

    def register(self, broker: ids.BrokerId, incarnation: int = 1) -> turns.Answer:
        incarnation = ids.Incarnation(incarnation)
        return self.ask(messages.BrokerRegistrationRequest(broker=broker, incarnation=incarnation))

    def start(self, broker: ids.BrokerId) -> None:
        self.register(broker)
        self.beat(broker)

    def beat(self, broker: ids.BrokerId, **wishes: bool) -> messages.BrokerHeartbeatResponse:
        """A heartbeat of a broker that has seen all of the log."""
        offset = ids.MetadataOffset(self.engine.held.next_offset)
        answered = self.ask(
            messages.BrokerHeartbeatRequest(
                broker=broker, broker_epoch=self.epoch(broker), metadata_offset=offset, **wishes
            )
        )
        assert isinstance(answered.response, messages.BrokerHeartbeatResponse)
        return answered.response

    def create(self, topic: str, *replicas: list[int]) -> None:
        assigned = tuple(tuple(map(ids.BrokerId, each)) for each in replicas)
        self.take(turns.Created(topic, assigned))

    def fall_silent(self) -> tuple[facts.RecordWritten, ...]:
        """Nobody is heard of for so long that every session is over."""
        theirs = self.silence(SESSION_AND_A_HALF_MS)
        for _ in range(MOST_CHECKS):
            if not self.engine.is_stale():
                break
            theirs += self.silence(NEXT_CHECK_MS)
        assert not self.engine.is_stale()
        return theirs

    def silence(self, ms: int) -> tuple[facts.RecordWritten, ...]:
        """Time passes, and what Kafka has written of it."""
        self.take(turns.Waited(ms))
        return self.noticed()

    def noticed(self) -> tuple[facts.RecordWritten, ...]:
        """What Kafka has written of a silence; from 4.0 on it looks for one after the other."""
        return self.take(turns.Checked(is_last=not self.engine.looks_later)).records


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


def above_its_epoch(registered: turns.Answer) -> int:
    """The offset of the record of a registration minus the broker epoch that it was given."""
    assert isinstance(registered.response, messages.BrokerRegistrationResponse)
    (record,) = registered.records
    return record.offset - registered.response.broker_epoch


def error_of(registered: turns.Answer) -> KafkaError:
    assert isinstance(registered.response, messages.BrokerRegistrationResponse)
    return registered.response.error


# --- contacts, from 4.0 on ------------------------------------------------------------------------


@contacts_alone
def test_who_was_heard_of_has_a_session_fenced_or_not(both: Both) -> None:
    both.register(A, 1)
    assert error_of(both.register(A, 2)) is KafkaError.NONE
    assert both.beat(A, want_fence=True).is_fenced
    assert error_of(both.register(A, 3)) is KafkaError.DUPLICATE_BROKER_REGISTRATION
    # Whoever is fenced is fenced once more, and may come back.
    assert [r.record for r in both.fall_silent()] == ["BrokerRegistrationChangeRecord"]
    assert error_of(both.register(A, 3)) is KafkaError.NONE


@contacts_alone
def test_a_new_incarnation_cleans_up_after_one_that_nobody_has_missed_yet(both: Both) -> None:
    for broker in (A, B, C):
        both.start(broker)
    both.create("orders", [2, 3, 1])
    both.take(turns.Waited(SESSION_TIMEOUT_MS - 1_000))
    assert both.noticed() == ()
    # The next look is 1,125 ms after that one; the sessions are over sooner.
    both.take(turns.Waited(1_000 + 50))
    written = both.register(B, 2).records
    assert [r.record for r in written] == ["PartitionChangeRecord", "RegisterBrokerRecord"]
    assert both.epoch(B) == written[0].offset


@contacts_alone
def test_a_new_controller_takes_the_unfenced_for_heard_of_and_4_0_everybody(both: Both) -> None:
    both.start(A)
    both.register(B, 1)
    both.take(turns.TookOver(restarted=True))
    again = error_of(both.register(B, 2))
    everybody = both.kafka.process.release == "4.0"
    duplicate = KafkaError.DUPLICATE_BROKER_REGISTRATION
    assert again is (duplicate if everybody else KafkaError.NONE)
    assert error_of(both.register(A, 2)) is duplicate


# --- sequences ------------------------------------------------------------------------------------


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
    both.register(A)
    both.beat(A)
    both.register(A)
    both.register(A)
    both.beat(A)


def test_d5_registering_in_controlled_shutdown(both: Both) -> None:
    both.start(A)
    both.start(B)
    both.create("orders", [A, B])
    both.beat(A, want_shut_down=True)
    both.register(A)
    assert both.beat(A, want_fence=True).is_fenced is (release(both) > (3, 2))


def test_d6_the_first_registration_after_an_election(both: Both) -> None:
    both.start(A)
    both.take(turns.TookOver(restarted=True))
    below = 1 if release(both) < (3, 6) else 0
    assert [above_its_epoch(both.register(b)) for b in (B, C)] == [below, 0]
    both.take(turns.TookOver(restarted=True))
    both.take(turns.TookOver(restarted=True))
    assert [above_its_epoch(both.register(b, 2)) for b in (B, C)] == [2 * below, 0]
    both.take(turns.TookOver(restarted=True))
    both.beat(A, want_fence=True)
    assert above_its_epoch(both.register(D)) == 0


def test_d6_a_controller_that_resigned_keeps_its_own_offset_of_a_registration(both: Both) -> None:
    both.start(A)
    both.create("orders", [A])
    both.take(turns.TookOver(restarted=True))
    both.register(B)
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
            broker=B, broker_epoch=epoch, metadata_offset=ids.MetadataOffset(epoch)
        )
    )
    # At 3.2 it would have to have seen the end of the log.
    caught_up = release(both) > (3, 2)
    expected = messages.BrokerHeartbeatResponse(is_caught_up=caught_up, is_fenced=not caught_up)
    assert answered.response == expected


def test_d7_sessions_that_are_tied(both: Both) -> None:
    tied = (ids.BrokerId(40), ids.BrokerId(3), ids.BrokerId(17), ids.BrokerId(1))
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
    assert above_its_epoch(both.register(B)) == (1 if resigned else 0)


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
    both.engine.follow(both.kafka.log.end)
    # What was done is written, and corrects the controller.
    assert above_its_epoch(both.register(B)) == (0 if asked else 1)


# --- what cannot be -------------------------------------------------------------------------------


def test_a_topic_that_kafka_refuses_is_named(both: Both) -> None:
    with pytest.raises(RefusedByKafkaError, match="topic orders: error 39"):
        both.kafka.create("orders", [[1, 2, 3]])


def test_what_no_controller_answers_cannot_be_asked(both: Both) -> None:
    fetch = messages.FetchRequest(
        version=15,
        partition="orders-0",
        replica=A,
        replica_epoch=ids.BrokerEpoch(1),
        leader_epoch=ids.LeaderEpoch(0),
        offset=ids.Offset(0),
    )
    with pytest.raises(UnspokenError, match="FetchRequest is not a request to a controller"):
        call_of(fetch, both.kafka.schemas, both.kafka.topics)
