"""Who is the controller: election, take over, standing down; what watches set off."""

import pytest
from msgspec.structs import replace

from kiplab.protocol.facts import LeaderElected
from kiplab.protocol.features import Features
from kiplab.protocol.ids import NO_SESSION, BrokerId, ControllerEpoch, controller_on
from kiplab.protocol.messages import UpdateMetadataRequest, WatcherEvent
from kiplab.protocol.registrations import LeaderRecoveryState
from kiplab.protocol.zookeeper import znodes
from kiplab.protocol.zookeeper.controller_election import resign
from kiplab.protocol.zookeeper.controller_turn import ControllerTurn
from kiplab.protocol.zookeeper.ensemble import controller_named, find
from kiplab.protocol.zookeeper.ensemble_writes import Create, Delete, SetData
from kiplab.protocol.zookeeper.watch_events import watch_fired
from kiplab.protocol.zookeeper.zookeeper_controller import ZooKeeperController
from kiplab.protocol.zookeeper_facts import (
    ControllerElected,
    ControllerStoodDown,
    QueueDropped,
    RequestsQueued,
)
from tests.protocol.building import instance, present
from tests.protocol.zookeeper.brokers import RELEASES as ALL
from tests.protocol.zookeeper.brokers import on
from tests.protocol.zookeeper.control_plane import (
    FOLLOWED,
    IDLE,
    LED,
    ControlPlane,
    control_plane,
    state,
)


@on(*ALL)
def test_who_finds_nobody_becomes_the_controller_of_the_next_epoch(features: Features) -> None:
    plane = control_plane(features)
    assert (plane.controller.active, plane.controller.epoch) == (True, 1)
    assert controller_named(plane.ensemble) == 0
    epoch = present(find(plane.ensemble, znodes.CONTROLLER_EPOCH_PATH))
    assert epoch.stat.version == plane.controller.epoch_version == 1


def test_who_finds_somebody_watches_and_takes_over_when_that_one_is_gone() -> None:
    plane = control_plane("zk-2.2", FOLLOWED)
    plane.start(3)
    assert not plane.controllers[3].active
    plane.sees(plane.die, 0)
    assert (plane.controllers[3].active, plane.controllers[3].epoch) == (True, 2)
    assert plane.controllers[3].live_brokers == (1, 2, 3)
    assert any(isinstance(f, ControllerElected) and f.controller_epoch == 2 for f in plane.facts)


@on(*ALL)
def test_a_new_controller_tells_who_lives_then_whom_to_follow(features: Features) -> None:
    plane = control_plane(features, FOLLOWED, LED, IDLE)
    fail_over(plane)
    first = "UM*" if features.release == "zk-2.1" else "UM()"
    assert plane.new_mail(1) == [first, "LAI(F0 L0)", "UM*"]
    assert plane.new_mail(0) == [first, "LAI(i0)", "UM*"]
    assert {r.controller_epoch for r in plane.queued(1)} == {2}
    assert plane.held("F-0") == "leader 1, ISR 1 2, epoch 0, version 0"


def test_a_new_controller_elects_where_nobody_leads() -> None:
    plane = control_plane("zk-2.2", LED, brokers=(0, 1))
    assert plane.held("L-0") == "leader 1, ISR 1, epoch 1, version 1"


@pytest.mark.parametrize(
    ("release", "held"),
    [
        ("zk-2.2", "leader 1, ISR 1 2, epoch 0, version 0"),
        ("zk-2.6", "leader 1, ISR 1, epoch 1, version 1"),
    ],
)
def test_from_2_3_on_a_new_controller_takes_dead_brokers_out_of_the_isrs(
    release: str, held: str
) -> None:
    plane = control_plane(release, FOLLOWED)
    plane.operator_writes(Delete(znodes.CONTROLLER_PATH))
    plane.sees(plane.die, 2)
    assert plane.held("F-0") == held


def test_a_new_controller_has_forgotten_who_was_shutting_down() -> None:
    plane = control_plane("zk-2.2", FOLLOWED, LED)
    plane.shut_down(2)
    fail_over(plane)
    assert plane.controller.shutting_down == ()
    assert plane.new_mail(2)[:2] == ["UM()", "LAI(F1 L1)"]


def test_a_deposed_controller_stands_down_and_drops_its_queues() -> None:
    plane = control_plane("zk-2.2", FOLLOWED, LED)
    plane.shut_down(2)
    waiting = {b: tuple(r.in_words() for r in plane.queued(b)) for b in (0, 1, 2)}
    plane.facts.clear()
    other = Create(znodes.CONTROLLER_PATH, znodes.ControllerZnode(BrokerId(99)), ephemeral=True)
    plane.operator_writes(Delete(znodes.CONTROLLER_PATH), other)
    plane.look()
    assert plane.controller == ZooKeeperController(BrokerId(0), plane.sessions[0])
    node = controller_on(BrokerId(0))
    reason = "/controller names broker 99"
    assert plane.facts == [
        ControllerStoodDown(node=node, broker=BrokerId(0), reason=reason),
        *(QueueDropped(node=node, broker=BrokerId(b), requests=waiting[b]) for b in (0, 1, 2)),
    ]


def test_who_is_not_active_has_nothing_to_resign_from() -> None:
    idle = ZooKeeperController(BrokerId(3))
    assert resign(idle) == (idle, ())
    assert resign(idle)[0] is idle


def test_two_controllers_believe_until_the_first_hears_of_the_second() -> None:
    plane = control_plane("zk-2.2", FOLLOWED)
    plane.start(3)
    plane.operator_writes(Delete(znodes.CONTROLLER_PATH))
    heard_first = next(s for s in plane.waiting if s.receiver == controller_on(BrokerId(3)))
    plane.waiting.remove(heard_first)
    assert isinstance(heard_first.body, WatcherEvent)
    plane.handled(watch_fired(plane.turn(3), heard_first.body, plane.sessions[3]))
    assert [c.active for c in plane.controllers.values()] == [True, True]
    assert [c.epoch for c in plane.controllers.values()] == [1, 2]
    plane.look()
    assert [c.active for c in plane.controllers.values()] == [False, True]


def test_a_watch_of_another_session_than_the_process_has_changes_nothing() -> None:
    plane = control_plane("zk-2.2", FOLLOWED)
    event = WatcherEvent(path=znodes.CONTROLLER_PATH, change="NodeDeleted", session=NO_SESSION)
    session = plane.sessions[0]
    done = watch_fired(plane.turn(0), event, session)
    assert (done.node, done.ensemble, done.facts) == (plane.controller, plane.ensemble, ())
    assert done.node is plane.controller


def test_a_controller_whose_session_is_over_does_not_look_at_what_waits() -> None:
    plane = control_plane("zk-2.2", FOLLOWED)
    session, before = plane.sessions[0], plane.controller
    plane.die(2)
    event = instance(WatcherEvent, plane.waiting[0].body)
    plane.die(0)
    done = watch_fired(ControllerTurn(before, plane.ensemble, plane.features), event, session)
    assert done.node is before


@on(*ALL)
def test_what_a_leader_announces_of_an_isr_is_told_to_all_and_deleted(features: Features) -> None:
    plane = control_plane(features, FOLLOWED, LED)
    write_isr(plane, "F-0", (1,))
    plane.look()
    assert plane.new_mail(1) == ["UM(F0)"] == plane.new_mail(2)
    (update,) = plane.queued(1)
    assert isinstance(update, UpdateMetadataRequest)
    assert (update.partitions[0].isr, update.partitions[0].partition_epoch) == ((1,), 1)
    assert not [z for z in plane.ensemble.znodes if isinstance(z.data, znodes.IsrChangeZnode)]


def test_a_new_controller_deletes_announcements_unread() -> None:
    plane = control_plane("zk-2.2", FOLLOWED, LED)
    write_isr(plane, "F-0", (1,))
    plane.waiting.clear()
    fail_over(plane)
    assert not [z for z in plane.ensemble.znodes if isinstance(z.data, znodes.IsrChangeZnode)]
    assert plane.controller.partitions[0].isr == (1,)


@on(*ALL)
def test_a_new_topic_gets_its_first_leader(features: Features) -> None:
    plane = control_plane(features, IDLE)
    create_topic(plane, "N", (2, 1))
    plane.look()
    assert plane.held("N-0") == "leader 2, ISR 2 1, epoch 0, version 0"
    assert plane.new_mail(1) == ["LAI(N0)", "UM(N0)"] == plane.new_mail(2)
    assert plane.new_mail(0) == ["UM(N0)"]


def test_a_new_topic_waits_for_a_broker() -> None:
    plane = control_plane("zk-2.2", IDLE, brokers=(0, 1))
    create_topic(plane, "N", (2,))
    plane.look()
    assert list(plane.controller.new) == ["N-0"]
    plane.sees(plane.register, 2)
    assert not plane.controller.new
    assert plane.held("N-0") == "leader 2, ISR 2, epoch 0, version 0"


def test_a_topic_that_allows_unclean_elections_now_has_one() -> None:
    plane = control_plane("zk-2.2", state("L-0", (2, 1), leader=2, isr=(2,)))
    plane.sees(plane.die, 2)
    assert plane.held("L-0") == "leader -1, ISR 2, epoch 1, version 1"
    config = znodes.TopicConfigZnode("L", unclean_leader_election=True)
    plane.operator_writes(Create(znodes.topic_config_path("L"), config))
    plane.look()
    assert plane.held("L-0") == "leader 1, ISR 1, epoch 2, version 2"
    assert [f.unclean for f in plane.facts if isinstance(f, LeaderElected)] == [False, True]


@pytest.mark.parametrize(
    ("kafka", "expected"),
    [
        ("zk-2.8", LeaderRecoveryState.RECOVERED),
        ("zk-3.4/3.1-IV0", LeaderRecoveryState.RECOVERED),
        ("zk-3.4/3.2-IV0", LeaderRecoveryState.RECOVERING),
        ("zk-3.4", LeaderRecoveryState.RECOVERING),
    ],
)
def test_from_protocol_3_2_on_an_unclean_leader_has_to_recover(
    kafka: str, expected: LeaderRecoveryState
) -> None:
    plane = control_plane(kafka, state("L-0", (2, 1, 0), leader=2, isr=(2,)))
    config = znodes.TopicConfigZnode("L", unclean_leader_election=True)
    plane.operator_writes(Create(znodes.topic_config_path("L"), config))
    plane.sees(plane.die, 2)
    assert plane.state_of("L-0")[0].recovery is expected
    plane.sees(plane.die, 1)
    assert plane.state_of("L-0")[0].recovery is expected, (
        "an election of the ordinary kind keeps it"
    )


def test_every_queued_request_is_told() -> None:
    plane = control_plane("zk-2.2", FOLLOWED, LED)
    plane.sees(plane.bounce, 2)
    for broker in (0, 1, 2):
        told = [
            words
            for fact in plane.facts
            if isinstance(fact, RequestsQueued) and fact.broker == broker
            for words in fact.requests
        ]
        assert told == [request.in_words() for request in plane.queued(broker)]


def test_a_state_that_a_later_controller_wrote_is_left_alone() -> None:
    plane = control_plane("zk-2.2", FOLLOWED, LED)
    held, version = plane.state_of("L-0")
    later = replace(held, controller_epoch=ControllerEpoch(7))
    plane.operator_writes(SetData(znodes.partition_state_path("L-0"), later, version))
    plane.sees(plane.die, 2)
    assert plane.held("L-0") == "leader 2, ISR 2 1, epoch 0, version 1"
    assert plane.held("F-0") == "leader 1, ISR 1, epoch 1, version 1"


def fail_over(plane: ControlPlane) -> None:
    """/controller is deleted, and broker 0 is elected again."""
    plane.operator_writes(Delete(znodes.CONTROLLER_PATH))
    plane.look()
    plane.seen = {}


def write_isr(plane: ControlPlane, name: str, isr: tuple[int, ...]) -> None:
    """A leader writes the ISR and announces it."""
    path = znodes.partition_state_path(name)
    held, version = plane.state_of(name)
    data = replace(held, isr=tuple(BrokerId(b) for b in isr))
    plane.write(1, SetData(path, data, version))
    change = znodes.IsrChangeZnode((name,))
    plane.write(1, Create(f"{znodes.ISR_CHANGES_PATH}/isr_change_", change, sequential=True))


def create_topic(plane: ControlPlane, topic: str, replicas: tuple[int, ...]) -> None:
    """An operator creates a topic of one partition."""
    assigned = znodes.ReplicaAssignment(f"{topic}-0", tuple(BrokerId(b) for b in replicas))
    plane.operator_writes(Create(znodes.topic_path(topic), znodes.TopicZnode(topic, (assigned,))))
