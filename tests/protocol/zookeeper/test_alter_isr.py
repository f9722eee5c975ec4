"""AlterIsr and AlterPartition at a controller on a broker, and the elections operators ask for."""

import pytest
from msgspec.structs import replace

from kiplab.protocol import messages
from kiplab.protocol.errors import KafkaError
from kiplab.protocol.facts import IsrChanged, Refused
from kiplab.protocol.ids import BrokerEpoch, BrokerId, LeaderEpoch, PartitionEpoch
from kiplab.protocol.registrations import LeaderRecoveryState
from kiplab.protocol.zookeeper.alter_isr import alter_isr
from kiplab.protocol.zookeeper.ensemble import find
from kiplab.protocol.zookeeper.ensemble_writes import SetData
from kiplab.protocol.zookeeper.znodes import partition_state_path
from kiplab.protocol.zookeeper.zookeeper_elections import elect_leaders
from tests.protocol.building import present
from tests.protocol.zookeeper.control_plane import FOLLOWED, LED, ControlPlane, control_plane, state
from tests.protocol.zookeeper.test_vectors_zookeeper_shutdown import depose

E = KafkaError
BOTH = ("zk-2.8", "zk-3.4")
SPOKEN = {"zk-2.8": 0, "zk-3.4": 2}


@pytest.mark.parametrize("kafka", BOTH)
def test_an_isr_is_written_told_to_everybody_and_granted(kafka: str) -> None:
    plane = control_plane(kafka, FOLLOWED, LED)
    answer = ask(plane, item("F-0", (1,)))
    (result,) = answer.results
    assert (result.error, result.leader, result.isr, result.partition_epoch) == (E.NONE, 1, (1,), 1)
    assert plane.held("F-0") == "leader 1, ISR 1, epoch 0, version 1"
    assert [plane.new_mail(b) for b in (0, 1, 2)] == [["UM(F0)"]] * 3
    assert any(isinstance(f, IsrChanged) and f.after == (1,) for f in plane.facts)


@pytest.mark.parametrize("kafka", BOTH)
def test_the_sender_must_name_exactly_the_epoch_that_is_known(kafka: str) -> None:
    plane = control_plane(kafka, FOLLOWED)
    for broker, epoch in ((1, 5), (1, plane.epoch(1) + 1), (1, -1), (9, 5)):
        answer = ask(plane, item("F-0", (1,)), broker=broker, epoch=epoch)
        assert (answer.error, answer.results) == (E.STALE_BROKER_EPOCH, ())
    assert plane.held("F-0") == "leader 1, ISR 1 2, epoch 0, version 0"


def test_who_is_not_the_controller_says_so() -> None:
    plane = control_plane("zk-3.4", FOLLOWED)
    plane.start(3)
    assert ask(plane, item("F-0", (1,)), at=3).error is E.NOT_CONTROLLER


def test_what_is_asked_for_twice_is_granted_twice_and_written_once() -> None:
    for kafka in BOTH:
        plane = control_plane(kafka, FOLLOWED)
        for _ in range(2):
            (result,) = ask(plane, item("F-0", (1,))).results
            assert (result.error, result.partition_epoch) == (E.NONE, 1), kafka
        assert plane.held("F-0") == "leader 1, ISR 1, epoch 0, version 1"


@pytest.mark.parametrize(
    ("leader_epoch", "partition_epoch", "old_code", "new_code"),
    [
        (1, 1, E.FENCED_LEADER_EPOCH, E.FENCED_LEADER_EPOCH),
        (2, 0, E.INVALID_UPDATE_VERSION, E.INVALID_UPDATE_VERSION),
        (2, 2, E.INVALID_UPDATE_VERSION, E.NOT_CONTROLLER),
        (3, 1, E.NONE, E.NOT_CONTROLLER),
        (1, 2, E.FENCED_LEADER_EPOCH, E.NOT_CONTROLLER),
    ],
)
def test_epochs_are_judged_by_the_controller_at_3_4_and_by_zookeeper_at_2_8(
    leader_epoch: int, partition_epoch: int, old_code: KafkaError, new_code: KafkaError
) -> None:
    held = replace(FOLLOWED, leader_epoch=LeaderEpoch(2))
    for kafka, expected in (("zk-2.8", old_code), ("zk-3.4", new_code)):
        plane = control_plane(kafka, held)
        write_again(plane, "F-0")
        asked = item("F-0", (1,), leader_epoch=leader_epoch, partition_epoch=partition_epoch)
        (result,) = ask(plane, asked).results
        assert result.error is expected, kafka


def test_an_unknown_partition_is_unknown_by_name_or_by_id() -> None:
    plane = control_plane("zk-3.4", FOLLOWED)
    for name, version, error in (
        ("gone-0", 1, E.UNKNOWN_TOPIC_OR_PARTITION),
        ("gone-0", 2, E.UNKNOWN_TOPIC_ID),
        ("F-1", 2, E.UNKNOWN_TOPIC_OR_PARTITION),
    ):
        (result,) = ask(plane, item(name, (1,)), version=version).results
        assert result.error is error


def test_a_byte_that_is_no_recovery_state_fails_the_whole_request() -> None:
    plane = control_plane("zk-3.4", FOLLOWED)
    forged = replace(item("F-0", (1,)), recovery=7)
    answer = ask(plane, item("F-0", (1,)), forged, version=1)
    assert (answer.error, answer.results) == (E.UNKNOWN_SERVER_ERROR, ())
    assert plane.held("F-0") == "leader 1, ISR 1 2, epoch 0, version 0"


def test_of_a_partition_that_is_named_twice_the_last_word_counts() -> None:
    plane = control_plane("zk-3.4", FOLLOWED)
    (result,) = ask(plane, item("F-0", (1, 2)), item("F-0", (1,))).results
    assert (result.error, result.isr) == (E.NONE, (1,))


def test_who_asks_for_nothing_has_everybody_told_who_lives() -> None:
    plane = control_plane("zk-3.4", FOLLOWED)
    assert ask(plane).results == ()
    assert plane.new_mail(1) == ["UM()"]


@pytest.mark.parametrize(
    ("version", "error"), [(1, E.OPERATION_NOT_ATTEMPTED), (2, E.INELIGIBLE_REPLICA)]
)
def test_from_3_3_on_every_member_is_online(version: int, error: KafkaError) -> None:
    for gone in ("dead", "shutting down"):
        plane = control_plane("zk-3.4", state("F-0", (1, 2), leader=1, isr=(1,)))
        if gone == "dead":
            plane.sees(plane.die, 2)
        else:
            plane.shut_down(2)
        (result,) = ask(plane, item("F-0", (1, 2)), version=version).results
        assert result.error is error, gone
    plane = control_plane("zk-2.8", state("F-0", (1, 2), leader=1, isr=(1,)))
    plane.sees(plane.die, 2)
    assert ask(plane, item("F-0", (1, 2))).results[0].error is E.NONE


def test_a_leader_that_recovers_is_alone_and_nobody_may_ask_to_recover() -> None:
    recovering = item("F-0", (1, 2), recovery=LeaderRecoveryState.RECOVERING)
    alone = item("F-0", (1,), recovery=LeaderRecoveryState.RECOVERING)
    for asked in (recovering, alone):
        plane = control_plane("zk-3.4", FOLLOWED)
        (result,) = ask(plane, asked, version=1).results
        assert result.error is E.INVALID_REQUEST
        (result,) = ask(plane, asked, version=0).results
        assert result.error is E.NONE, "version 0 has no place for it"


def test_a_deposed_controller_meets_an_exception_and_goes_on() -> None:
    plane = control_plane("zk-3.4", FOLLOWED)
    depose(plane)
    assert ask(plane, item("F-0", (1,))).error is E.UNKNOWN_SERVER_ERROR
    assert plane.controller.active
    assert plane.new_mail(1) == []


def test_an_operator_may_have_the_preferred_replica_lead() -> None:
    for kafka in ("zk-2.2", "zk-2.6", "zk-3.4"):
        plane = control_plane(kafka, state("L-0", (2, 1), leader=1), FOLLOWED)
        results = elections(plane, unclean=False, names=("L-0", "F-0", "gone-0"))
        needless = E.NONE if kafka == "zk-2.2" else E.ELECTION_NOT_NEEDED
        assert results == (
            ("L-0", E.NONE),
            ("F-0", needless),
            ("gone-0", E.UNKNOWN_TOPIC_OR_PARTITION),
        )
        assert plane.held("L-0") == "leader 2, ISR 2 1, epoch 1, version 1"


def test_the_preferred_replica_must_be_in_the_isr() -> None:
    plane = control_plane("zk-3.4", state("L-0", (2, 1), leader=1, isr=(1,)))
    assert elections(plane, unclean=False) == (("L-0", E.PREFERRED_LEADER_NOT_AVAILABLE),)
    assert any(isinstance(f, Refused) for f in plane.facts)


def test_an_operator_may_have_an_unclean_election_from_2_4_on() -> None:
    for kafka, error in (("zk-2.2", E.INVALID_REQUEST), ("zk-2.5.0", E.NONE), ("zk-3.4", E.NONE)):
        plane = control_plane(kafka, state("L-0", (2, 1), leader=2, isr=(2,)))
        plane.sees(plane.die, 2)
        assert elections(plane, unclean=True, names=("L-0",)) == (("L-0", error),), kafka
    assert plane.held("L-0") == "leader 1, ISR 1, epoch 2, version 2"


def test_with_nobody_alive_there_is_nobody_to_elect() -> None:
    plane = control_plane("zk-3.4", state("L-0", (2,), leader=2))
    plane.sees(plane.die, 2)
    assert elections(plane, unclean=True) == (("L-0", E.ELIGIBLE_LEADERS_NOT_AVAILABLE),)


def test_all_partitions_are_answered_without_those_that_need_no_election() -> None:
    plane = control_plane("zk-3.4", FOLLOWED, state("L-0", (2, 1), leader=1))
    assert elections(plane, unclean=False) == (("L-0", E.NONE),)


def test_whoever_is_not_the_controller_elects_nobody() -> None:
    plane = control_plane("zk-3.4", FOLLOWED)
    plane.start(3)
    assert elections(plane, unclean=False, names=("F-0",), at=3) == (("F-0", E.NOT_CONTROLLER),)


def test_a_deposed_controller_elects_nobody() -> None:
    plane = control_plane("zk-3.4", state("L-0", (2, 1), leader=1))
    depose(plane)
    assert elections(plane, unclean=False) == (("L-0", E.STALE_CONTROLLER_EPOCH),)
    assert plane.held("L-0") == "leader 1, ISR 2 1, epoch 0, version 0"


def item(
    name: str,
    isr: tuple[int, ...],
    *,
    leader_epoch: int = 0,
    partition_epoch: int = 0,
    recovery: LeaderRecoveryState = LeaderRecoveryState.RECOVERED,
) -> messages.AlterPartitionItem:
    return messages.AlterPartitionItem(
        partition=name,
        leader_epoch=LeaderEpoch(leader_epoch),
        partition_epoch=PartitionEpoch(partition_epoch),
        isr=tuple(messages.IsrMember(BrokerId(b)) for b in isr),
        recovery=recovery,
    )


def ask(
    plane: ControlPlane,
    *items: messages.AlterPartitionItem,
    broker: int = 1,
    epoch: int | None = None,
    version: int | None = None,
    at: int = 0,
) -> messages.AlterPartitionResponse:
    """AlterPartition of broker 1 in the version of the release."""
    request = messages.AlterPartitionRequest(
        version=SPOKEN[plane.features.release] if version is None else version,
        broker=BrokerId(broker),
        broker_epoch=plane.epoch(broker) if epoch is None else BrokerEpoch(epoch),
        items=items,
    )
    done = alter_isr(plane.turn(at), request)
    assert [sent.receiver for sent in done.sends] == [broker]
    return plane.answer(messages.AlterPartitionResponse, done)


def elections(
    plane: ControlPlane, *, unclean: bool, names: tuple[str, ...] | None = None, at: int = 0
) -> tuple[tuple[str, KafkaError], ...]:
    request = messages.ElectLeadersRequest(unclean=unclean, partitions=names)
    done = elect_leaders(plane.turn(at), request)
    return plane.answer(messages.ElectLeadersResponse, done).results


def write_again(plane: ControlPlane, name: str) -> None:
    """The state's znode gets version 1, and the controller hears of it."""
    path = partition_state_path(name)
    held = present(find(plane.ensemble, path))
    plane.operator_writes(SetData(path, held.data, held.stat.version))
    plane.controllers[0] = replace(plane.controller, partitions=plane.ensemble.partitions)
