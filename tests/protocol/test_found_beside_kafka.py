"""What real controllers did otherwise than the engine, but for what is a play of
tests/plays/test_sequences_found.py. Seen on the patch releases that stand for each release.
"""

import pytest
from msgspec.structs import replace

from kiplab.protocol import ids, messages, registrations
from kiplab.protocol.errors import KafkaError
from kiplab.protocol.features import Features, parse_features
from kiplab.protocol.kraft.alter_partition import alter_partition
from kiplab.protocol.kraft.controller_state import Controller, HeartbeatState
from kiplab.protocol.kraft.fencing import fail_over, resign
from tests.protocol import building
from tests.protocol.building import instance, present

AskedItem = messages.AlterPartitionItem
A = ids.BrokerId(1)
LIFE = ids.Incarnation(1)
FAR = ids.MetadataOffset(10_000)
"""An offset that nobody's registration is beyond."""
EMPTY = Controller(next_offset=ids.MetadataOffset(5))
LED = registrations.PartitionRegistration("orders-0", (A,), (A,), A)


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


def registered(controller: Controller, features: Features) -> Controller:
    return building.registers(controller, A, LIFE, features, 1)[0]


@pytest.mark.parametrize(("release", "forgets"), [("3.3", True), ("3.5", True), ("3.9", False)])
def test_a_controller_that_resigned_has_not_forgotten_its_own_offset_of_a_registration(
    release: str, forgets: bool
) -> None:
    features = parse_features(release)
    elected, _, _ = fail_over(EMPTY, features, 1)
    first = registered(elected, features)
    (known,) = first.registrations
    again, _, _ = resign(first, "alter-partition", "IllegalArgumentException", features, 1)
    other, _, _ = fail_over(first, features, 1)
    for controller, caught_up in ((first, True), (again, True), (other, not forgets)):
        _, sends, _ = building.beats(
            controller, A, features, 1, epoch=known.epoch, offset=known.epoch
        )
        answer = instance(messages.BrokerHeartbeatResponse, sends[-1].body)
        assert answer.is_caught_up is caught_up


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
    controller = registered(EMPTY, features)
    controller = replace(controller, partitions=(LED,))
    result = asked(controller, features, 3, 5, item("orders--1"))
    assert result.error is KafkaError.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize(("version", "told"), [(0, "RECOVERED"), (1, "RECOVERING")])
def test_version_0_of_alter_partition_tells_no_recovery_state(version: int, told: str) -> None:
    features = parse_features("3.2")
    controller = registered(EMPTY, features)
    known = present(registrations.registration(controller.registrations, A))
    controller, _, _ = building.beats(controller, A, features, 1, epoch=known.epoch, offset=FAR)
    recovering = replace(LED, recovery=registrations.LeaderRecoveryState.RECOVERING)
    controller = replace(controller, partitions=(recovering,))
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
