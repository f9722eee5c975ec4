"""What real controllers did otherwise than the engine: the smallest sequence of each, by release.

Seen on the patch releases that stand for each release; the numbers D1 to D6 are those of the list
of what was found.
"""

import pytest
from msgspec.structs import replace

from kiplab.protocol import ids, messages, registrations
from kiplab.protocol.errors import KafkaError
from kiplab.protocol.features import Features, parse_features
from kiplab.protocol.kraft.alter_partition import alter_partition
from kiplab.protocol.kraft.controller_state import Controller, HeartbeatState
from kiplab.protocol.kraft.fencing import expire_session, fail_over, resign
from kiplab.protocol.kraft.sessions import SESSION_TIMEOUT_MS, stale_broker
from tests.protocol import building
from tests.protocol.building import instance, present

AskedItem = messages.AlterPartitionItem
A, B, C = ids.BrokerId(1), ids.BrokerId(2), ids.BrokerId(3)
LIFE = ids.Incarnation(1)
LATER = 1 + SESSION_TIMEOUT_MS + 1
FAR = ids.MetadataOffset(10_000)
"""An offset that nobody's registration is beyond."""
EMPTY = Controller(next_offset=ids.MetadataOffset(5))


def asked(
    controller: Controller, features: Features, version: int, epoch: int, *items: AskedItem
) -> messages.AlterPartitionResult:
    """What broker A is answered of its one partition."""
    request = messages.AlterPartitionRequest(
        version=version, broker=A, broker_epoch=ids.BrokerEpoch(epoch), items=items
    )
    answer = instance(
        messages.AlterPartitionResponse,
        alter_partition(controller, request, features, 1)[1][-1].body,
    )
    return answer.results[0]


def item(name: str, recovery: int = 0) -> AskedItem:
    """Of the first epochs, with broker A alone."""
    members = (messages.IsrMember(A),)
    return AskedItem(name, ids.LeaderEpoch(0), ids.PartitionEpoch(0), members, recovery)


def registered(controller: Controller, broker: ids.BrokerId, features: Features) -> Controller:
    return building.registers(controller, broker, LIFE, features, 1)[0]


def beats(
    controller: Controller, broker: ids.BrokerId, features: Features, **wishes: bool
) -> tuple[Controller, messages.BrokerHeartbeatResponse]:
    known = present(registrations.registration(controller.registrations, broker))
    after, sends, _ = building.beats(
        controller, broker, features, 1, epoch=known.epoch, offset=FAR, **wishes
    )
    return after, instance(messages.BrokerHeartbeatResponse, sends[-1].body)


def led_by(leader: ids.BrokerId, *replicas: ids.BrokerId) -> registrations.PartitionRegistration:
    return registrations.PartitionRegistration("orders-0", replicas, replicas, leader)


def shutting_down(features: Features, *others: ids.BrokerId) -> Controller:
    """Broker A leads, and has asked to shut down: others have to catch up, or nobody can lead."""
    controller = EMPTY
    for broker in (A, *others):
        controller, _ = beats(registered(controller, broker, features), broker, features)
    controller = replace(controller, partitions=(led_by(A, A, *others),))
    controller, answer = beats(controller, A, features, want_shut_down=True)
    assert answer.should_shut_down is False
    return controller


@pytest.mark.parametrize(
    ("release", "is_fenced", "should_shut_down"),
    [
        ("3.2", True, True),
        ("3.3", True, True),
        ("3.6", True, True),
        ("3.7", False, False),
        ("3.9", False, False),
    ],
)
def test_d1_a_broker_that_fell_silent_in_controlled_shutdown_is_heard_of_again(
    release: str, is_fenced: bool, should_shut_down: bool
) -> None:
    features = parse_features(release)
    silent, _, _ = expire_session(shutting_down(features), A, features, 1)
    _, answer = beats(silent, A, features)
    assert (answer.is_fenced, answer.should_shut_down) == (is_fenced, should_shut_down)


@pytest.mark.parametrize(("release", "granted"), [("3.3", True), ("3.6", True), ("3.7", False)])
def test_d2_a_broker_that_was_just_unfenced_has_replicated_nothing_yet(
    release: str, granted: bool
) -> None:
    features = parse_features(release)
    controller = shutting_down(features, B)
    controller, _, _ = expire_session(controller, B, features, 1)
    controller = replace(controller, partitions=(led_by(B, B),))
    controller, _ = beats(controller, B, features)
    asked_again, answer = beats(controller, A, features)
    assert answer.should_shut_down is granted
    heard, _ = beats(asked_again, B, features)
    assert granted or beats(heard, A, features)[1].should_shut_down


@pytest.mark.parametrize(("release", "written"), [("3.2", 1), ("3.3", 1), ("3.7", 0)])
def test_d3_a_broker_registers_twice_more_and_is_heard_of(release: str, written: int) -> None:
    features = parse_features(release)
    controller = registered(EMPTY, A, features)
    controller, _ = beats(controller, A, features)
    again = registered(registered(controller, A, features), A, features)
    after, answer = beats(again, A, features)
    assert answer.is_fenced is False
    assert after.next_offset - again.next_offset == written


@pytest.mark.parametrize("release", ["3.3", "3.6", "3.7", "3.9"])
def test_d5_a_registration_ends_a_controlled_shutdown(release: str) -> None:
    features = parse_features(release)
    again = registered(shutting_down(features, B), A, features)
    _, answer = beats(again, A, features, want_fence=True)
    assert (answer.is_fenced, answer.should_shut_down) == (True, False)


@pytest.mark.parametrize(
    ("release", "below"), [("3.2", 1), ("3.3", 1), ("3.4", 1), ("3.5", 1), ("3.6", 0), ("3.9", 0)]
)
def test_d6_the_first_registration_after_an_election_has_an_epoch_below_its_offset(
    release: str, below: int
) -> None:
    features = parse_features(release)
    controller = registered(EMPTY, A, features)
    elected, _, _ = fail_over(controller, features, 1)
    after = registered(registered(elected, B, features), C, features)
    first, second = (registrations.registration(after.registrations, broker) for broker in (B, C))
    assert first is not None
    assert second is not None
    assert (first.epoch, first.record_offset) == (6, 6 + below)
    assert (second.epoch, second.record_offset) == (7 + below, 7 + below)


@pytest.mark.parametrize(("release", "forgets"), [("3.3", True), ("3.5", True), ("3.9", False)])
def test_d6_a_controller_that_resigned_has_not_forgotten_its_own_offset_of_a_registration(
    release: str, forgets: bool
) -> None:
    features = parse_features(release)
    elected, _, _ = fail_over(EMPTY, features, 1)
    first = registered(elected, A, features)
    (known,) = first.registrations
    again, _, _ = resign(first, "alter-partition", "IllegalArgumentException", features, 1)
    other, _, _ = fail_over(first, features, 1)
    for controller, caught_up in ((first, True), (again, True), (other, not forgets)):
        _, sends, _ = building.beats(
            controller, A, features, 1, epoch=known.epoch, offset=known.epoch
        )
        answer = instance(messages.BrokerHeartbeatResponse, sends[-1].body)
        assert answer.is_caught_up is caught_up


def test_d6_what_is_written_first_after_an_election_corrects_the_controller() -> None:
    features = parse_features("3.5")
    elected, _, _ = fail_over(shutting_down(features, B), features, 1)
    written, _, _ = expire_session(elected, B, features, 1)
    known = present(registrations.registration(registered(written, C, features).registrations, C))
    assert known.epoch == ids.BrokerEpoch(written.next_offset)
    assert known.record_offset == written.next_offset


@pytest.mark.parametrize("release", ["3.2", "3.5", "3.9"])
def test_a_new_controller_ends_no_session_before_it_has_heard_of_somebody(release: str) -> None:
    features = parse_features(release)
    controller = registered(EMPTY, A, features)
    controller, _ = beats(controller, A, features)
    elected, _, _ = fail_over(registered(controller, B, features), features, 1)
    assert stale_broker(elected, LATER) is None
    refused, _, _ = building.beats(elected, B, features, LATER, epoch=1, offset=0)
    assert refused is elected
    heard, _ = beats(elected, B, features, want_fence=True)
    assert stale_broker(heard, LATER) == A


@pytest.mark.parametrize("release", ["3.2", "3.5", "3.9"])
def test_an_alter_partition_without_partitions_is_not_asked_who_sends_it(release: str) -> None:
    features = parse_features(release)
    request = messages.AlterPartitionRequest(
        version=1, broker=A, broker_epoch=ids.BrokerEpoch(7), items=()
    )
    before = EMPTY
    after, sends, facts = alter_partition(before, request, features, 1)
    assert (after, facts) == (before, ())
    assert sends[-1].body == messages.AlterPartitionResponse(version=1, results=())


def test_an_index_below_zero_is_an_unknown_partition_of_a_topic_that_is_known() -> None:
    features = parse_features("3.9")
    controller = registered(EMPTY, A, features)
    controller = replace(controller, partitions=(led_by(A, A),))
    result = asked(controller, features, 3, 5, item("orders--1"))
    assert result.error is KafkaError.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize(("version", "told"), [(0, "RECOVERED"), (1, "RECOVERING")])
def test_version_0_of_alter_partition_tells_no_recovery_state(version: int, told: str) -> None:
    features = parse_features("3.2")
    controller = registered(EMPTY, A, features)
    controller, _ = beats(controller, A, features)
    recovering = replace(led_by(A, A), recovery=registrations.LeaderRecoveryState.RECOVERING)
    controller = replace(controller, partitions=(recovering,))
    known = present(registrations.registration(controller.registrations, A))
    result = asked(
        controller, features, version, known.epoch, item("orders-0", recovering.recovery)
    )
    assert result.recovery == registrations.LeaderRecoveryState[told]


@pytest.mark.parametrize(
    ("release", "fenced"),
    [("3.2", False), ("3.3", True), ("3.6", True), ("3.7", False), ("3.9", False)],
)
def test_the_same_process_registers_again_and_its_session_begins_anew(
    release: str, fenced: bool
) -> None:
    """ClusterControlManager, its replay of a registration."""
    known = registrations.Registration(A, ids.BrokerEpoch(50), LIFE, fenced=False)
    state = HeartbeatState(A, False, last_contact_ms=1_000, metadata_offset=ids.MetadataOffset(90))
    controller = replace(EMPTY, registrations=(known,), heartbeats=(state,))
    after, _, _ = building.registers(controller, A, LIFE, parse_features(release), 5_000)
    assert after.heartbeats == (HeartbeatState(A, fenced, last_contact_ms=5_000),)
