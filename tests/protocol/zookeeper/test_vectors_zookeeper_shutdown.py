"""ControlledShutdown at controllers of each release: answers, mail, znodes."""

from kiplab.protocol.errors import KafkaError
from kiplab.protocol.facts import Compared, Refused
from kiplab.protocol.features import Features
from kiplab.protocol.ids import BrokerId, ControllerEpoch, PartitionEpoch
from kiplab.protocol.messages import ControlledShutdownResponse, StopReplicaRequest
from kiplab.protocol.zookeeper.ensemble_writes import Create, Delete, SetData
from kiplab.protocol.zookeeper.znodes import (
    CONTROLLER_EPOCH_PATH,
    CONTROLLER_PATH,
    ControllerEpochZnode,
    ControllerZnode,
)
from tests.protocol.zookeeper.brokers import RELEASES as ALL
from tests.protocol.zookeeper.brokers import on
from tests.protocol.zookeeper.control_plane import FOLLOWED, LED, ControlPlane, control_plane, state

WITH_GENERATIONS = ALL[1:]
ALONE = ["LAI(L1)", "UM*", "STOP()", "STOP(F)", "UM(F1)", "STOP()", "STOP(F)"]
TOGETHER = ["LAI(L1)", "UM*", "STOP(F)", "UM(F1)", "STOP(F)"]
GRANTED = ControlledShutdownResponse()


@on(*ALL)
def test_a_broker_that_goes_leads_nothing_and_is_in_no_isr(features: Features) -> None:
    plane = control_plane(features, FOLLOWED, LED)
    assert plane.shut_down(2) == GRANTED
    assert plane.held("F-0") == "leader 1, ISR 1, epoch 1, version 1"
    assert plane.held("L-0") == "leader 1, ISR 1, epoch 1, version 1"
    assert plane.controller.shutting_down == (2,)
    assert plane.controller.live_brokers == (0, 1, 2)


@on(*ALL)
def test_it_is_told_to_follow_what_it_led_and_twice_to_stop_the_rest(features: Features) -> None:
    plane = control_plane(features, FOLLOWED, LED)
    plane.shut_down(2)
    expected = ALONE if features.release in ("zk-2.1", "zk-2.2") else TOGETHER
    mail = [told.replace("UM(L1)", "UM*") for told in plane.new_mail(2)]
    assert mail == expected
    told = [m.replace("UM(L1)", "UM*") for m in plane.new_mail(1)]
    assert told == ["LAI(L1)", "UM*", "LAI(F1)", "UM(F1)"]


def test_from_2_6_on_a_stop_names_the_leader_epoch_of_before() -> None:
    for kafka, known in (("zk-2.5.0", [-1, -1]), ("zk-2.6", [0, 0]), ("zk-3.4", [0, 0])):
        plane = control_plane(kafka, FOLLOWED)
        plane.shut_down(2)
        stops = [r for r in plane.queued(2) if isinstance(r, StopReplicaRequest)]
        assert [item.leader_epoch for r in stops for item in r.items] == known, kafka


@on(*ALL)
def test_a_partition_with_nobody_else_in_the_isr_stays_led(features: Features) -> None:
    plane = control_plane(features, state("L-0", (2, 1), leader=2, isr=(2,)))
    assert plane.shut_down(2) == ControlledShutdownResponse(remaining=("L-0",))
    assert plane.held("L-0") == "leader 2, ISR 2, epoch 0, version 0"


@on(*ALL)
def test_a_partition_of_one_replica_is_nothing_to_care_for(features: Features) -> None:
    plane = control_plane(features, state("S-0", (2,), leader=2))
    assert plane.shut_down(2) == GRANTED
    assert plane.new_mail(2) == []


@on(*ALL)
def test_an_election_skips_who_is_shutting_down_too(features: Features) -> None:
    plane = control_plane(features, state("L-0", (2, 1, 0), leader=2))
    plane.shut_down(1)
    plane.shut_down(2)
    assert plane.held("L-0") == "leader 0, ISR 0, epoch 2, version 2"


@on(*WITH_GENERATIONS)
def test_an_earlier_incarnation_is_refused_a_later_or_unnamed_one_is_not(
    features: Features,
) -> None:
    plane = control_plane(features, FOLLOWED)
    old = plane.epoch(2)
    plane.sees(plane.bounce, 2)
    plane.facts.clear()
    before = plane.controller
    assert plane.shut_down(2, old) == ControlledShutdownResponse(
        error=KafkaError.STALE_BROKER_EPOCH
    )
    assert plane.controller is before
    assert plane.facts == [
        Refused(
            node=before.node,
            request="controlled-shutdown",
            error=KafkaError.STALE_BROKER_EPOCH,
            guard="380.shutdown-epoch",
            compared=(Compared("broker 2 epoch", str(old), str(plane.epoch(2))),),
        )
    ]
    for epoch in (plane.epoch(2) + 1000, -1, plane.epoch(2)):
        assert plane.shut_down(2, epoch) == GRANTED


def test_2_1_lets_an_earlier_life_go_and_cannot_tell_it() -> None:
    plane = control_plane("zk-2.1", FOLLOWED, LED)
    plane.sees(plane.die, 2)
    plane.sees(plane.register, 2)
    assert plane.shut_down(2, -1, version=1) == GRANTED
    assert plane.controller.shutting_down == (2,)


@on(*WITH_GENERATIONS)
def test_an_unregistered_broker_with_an_epoch_meets_an_exception_and_without_one_error_8(
    features: Features,
) -> None:
    plane = control_plane(features, FOLLOWED)
    assert plane.shut_down(9, 5).error is KafkaError.UNKNOWN_SERVER_ERROR
    assert plane.shut_down(9, -1).error is KafkaError.BROKER_NOT_AVAILABLE


def test_at_2_1_and_without_the_guard_an_unregistered_broker_is_not_available() -> None:
    assert control_plane("zk-2.1").shut_down(9, -1, version=1).error is _NOT_AVAILABLE
    plane = control_plane("zk-2.2", off=("380.shutdown-epoch",))
    assert plane.shut_down(9, 5).error is _NOT_AVAILABLE


_NOT_AVAILABLE = KafkaError.BROKER_NOT_AVAILABLE


def test_the_epoch_of_a_stale_request_counts_whatever_protocol_the_brokers_speak() -> None:
    plane = control_plane("zk-2.2/2.1-IV2", FOLLOWED)
    old = plane.epoch(2)
    plane.sees(plane.bounce, 2)
    assert plane.shut_down(2, old, version=2).error is KafkaError.STALE_BROKER_EPOCH
    assert {r.broker_epoch for r in plane.queued(2)} == {-1}
    assert {r.version for r in plane.queued(2)} == {1, 4}


def test_a_broker_that_is_not_the_controller_answers_that_it_has_moved() -> None:
    plane = control_plane("zk-2.2")
    plane.start(3)
    assert plane.shut_down(2, -1, at=3).error is KafkaError.STALE_CONTROLLER_EPOCH


@on(*ALL)
def test_a_deposed_controller_tells_to_stop_cannot_write_and_answers_11(features: Features) -> None:
    plane = control_plane(features, FOLLOWED)
    depose(plane)
    answer = plane.shut_down(2)
    assert answer.error is KafkaError.STALE_CONTROLLER_EPOCH
    assert plane.held("F-0") == "leader 1, ISR 1 2, epoch 0, version 0"
    stops = ["STOP()", "STOP(F)"] if features.release in ("zk-2.1", "zk-2.2") else ["STOP(F)"]
    assert plane.new_mail(2) == stops
    assert {r.controller_epoch for r in plane.queued(2)} == {1}
    (refused,) = (f for f in plane.facts if isinstance(f, Refused))
    assert refused.guard == "zookeeper.controller-check"
    assert refused.compared == (Compared("controller epoch", "1", "2"),)
    plane.look()
    assert not plane.controller.active
    assert plane.shut_down(2).error is KafkaError.STALE_CONTROLLER_EPOCH


def test_without_the_check_a_deposed_controller_writes() -> None:
    plane = control_plane("zk-2.2", FOLLOWED, off=("zookeeper.controller-check",))
    depose(plane)
    assert plane.shut_down(2) == GRANTED
    assert plane.held("F-0") == "leader 1, ISR 1, epoch 1, version 1"


def depose(plane: ControlPlane) -> None:
    """Somebody else becomes the controller, and the one on broker 0 does not hear of it yet."""
    plane.operator_writes(
        Delete(CONTROLLER_PATH),
        Create(CONTROLLER_PATH, ControllerZnode(BrokerId(99)), ephemeral=True),
        SetData(CONTROLLER_EPOCH_PATH, ControllerEpochZnode(ControllerEpoch(2)), PartitionEpoch(1)),
    )
