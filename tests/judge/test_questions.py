"""Generated requests: the same for the same seed, of every kind, from sensible to absurd."""

from collections.abc import Iterator

import pytest

from kiplab.protocol import messages, registrations
from kiplab.protocol.errors import KafkaError
from kiplab.protocol.features import parse_features
from kiplab.protocol.ids import Incarnation, LeaderEpoch, MetadataOffset, PartitionEpoch
from tests.judge.kraft.engine_controller import EngineController
from tests.judge.kraft.questions import KNOWN, STRANGER, Questions
from tests.judge.kraft.turns import Beginning

ASKED = 3_000
Answered = list[tuple[messages.Request, messages.Response]]


def asked(seed: int, count: int = ASKED) -> Iterator[tuple[messages.Request, messages.Response]]:
    """Questions to the engine alone, about two partitions, and what it answers."""
    features = parse_features("3.5")
    beginning = Beginning(features.metadata_version, MetadataOffset(3), MetadataOffset(2), 0, 3)
    engine = EngineController(features, beginning)
    for broker in KNOWN:
        engine.ask(messages.BrokerRegistrationRequest(broker=broker, incarnation=Incarnation(1)))
    engine.add([partition("orders-0"), partition("orders-1")], engine.end)
    questions = Questions(seed, (0, 3))
    for _ in range(count):
        engine.advance(1)
        request = questions.next(engine.held)
        response = engine.ask(request).response
        assert response is not None
        yield request, response


def partition(name: str) -> registrations.PartitionRegistration:
    return registrations.PartitionRegistration(
        name=name,
        replicas=KNOWN[:3],
        isr=KNOWN[:3],
        leader=KNOWN[0],
        leader_epoch=LeaderEpoch(0),
        partition_epoch=PartitionEpoch(0),
    )


@pytest.fixture(scope="module")
def answered() -> Answered:
    return list(asked(seed=7))


def test_a_seed_gives_the_same_conversation_and_another_one_another() -> None:
    assert list(asked(1, 200)) == list(asked(1, 200))
    assert list(asked(1, 200)) != list(asked(2, 200))


def test_every_kind_of_request_is_asked(answered: Answered) -> None:
    assert {type(request) for request, _ in answered} == {
        messages.AlterPartitionRequest,
        messages.BrokerHeartbeatRequest,
        messages.BrokerRegistrationRequest,
        messages.ElectLeadersRequest,
        messages.UnregisterBrokerRequest,
    }
    versions = {r.version for r, _ in answered if isinstance(r, messages.AlterPartitionRequest)}
    assert versions == {0, 1, 2, 3}
    assert STRANGER in {
        r.broker for r, _ in answered if isinstance(r, messages.BrokerRegistrationRequest)
    }


def test_most_is_accepted_and_every_error_of_alter_partition_is_met(answered: Answered) -> None:
    answers = [
        answer for _, answer in answered if isinstance(answer, messages.AlterPartitionResponse)
    ]
    errors = [result.error for answer in answers for result in answer.results]
    assert errors.count(KafkaError.NONE) > len(errors) / 20
    assert {answer.error for answer in answers} >= {
        KafkaError.NONE,
        KafkaError.STALE_BROKER_EPOCH,
    }
    assert set(errors) >= {
        KafkaError.FENCED_LEADER_EPOCH,
        KafkaError.INELIGIBLE_REPLICA,
        KafkaError.INVALID_REQUEST,
        KafkaError.INVALID_UPDATE_VERSION,
        KafkaError.NOT_CONTROLLER,
        KafkaError.OPERATION_NOT_ATTEMPTED,
    }


def test_elections_succeed_and_are_refused(answered: Answered) -> None:
    answers = [
        answer for _, answer in answered if isinstance(answer, messages.ElectLeadersResponse)
    ]
    errors = {error for answer in answers for _, error in answer.results}
    assert errors >= {
        KafkaError.NONE,
        KafkaError.ELECTION_NOT_NEEDED,
        KafkaError.UNKNOWN_TOPIC_OR_PARTITION,
    }
