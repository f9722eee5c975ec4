"""Brokers come, go and bounce: what each release's controller queues and writes.

Rows of the table of situations in which controllers of 2.1.1, 2.2.2, 2.6.3, 2.8.2 and 3.4.1 were
observed; broker 2 is the one that something happens to, F a partition that it follows and L one
that it leads.
"""

from msgspec.structs import replace

from kiplab.protocol.facts import IsrChanged, LeaderElected
from kiplab.protocol.features import Features, parse_features
from kiplab.protocol.ids import BrokerEpoch, BrokerId
from kiplab.protocol.messages import LeaderAndIsrRequest, StopReplicaRequest, UpdateMetadataRequest
from kiplab.protocol.zookeeper.zookeeper_controller import epoch_of
from kiplab.protocol.zookeeper_facts import BrokersCompared, QueueDropped
from tests.protocol.zookeeper.brokers import RELEASES as ALL
from tests.protocol.zookeeper.brokers import on, rows
from tests.protocol.zookeeper.control_plane import (
    FOLLOWED,
    IDLE,
    LED,
    ControlPlane,
    control_plane,
    state,
)

WITH_GENERATIONS = ALL[1:]
VERSIONS = {
    "zk-2.1": (1, 4, 0),
    "zk-2.2": (2, 5, 1),
    "zk-2.5.0": (4, 6, 2),
    "zk-2.6": (4, 6, 3),
    "zk-2.8": (5, 7, 3),
    "zk-3.4": (7, 8, 4),
}


@on(*ALL)
def test_each_release_speaks_its_own_versions(features: Features) -> None:
    plane = control_plane(features, FOLLOWED, LED)
    plane.shut_down(2)
    sent = {type(request): request.version for request in plane.queued(2)}
    kinds = (LeaderAndIsrRequest, UpdateMetadataRequest, StopReplicaRequest)
    assert tuple(sent[kind] for kind in kinds) == VERSIONS[features.release]


def test_a_bounce_that_nobody_sees_is_nothing_to_2_1() -> None:
    plane = control_plane("zk-2.1", FOLLOWED, LED, IDLE)
    before = plane.controller
    plane.sees(plane.bounce, 2)
    assert plane.controller == before
    assert plane.facts == [BrokersCompared(node=before.node)]
    assert plane.held("L-0") == "leader 2, ISR 2 1, epoch 0, version 0"


@on(*WITH_GENERATIONS)
def test_a_bounce_is_seen_by_the_epoch_and_costs_a_leader_epoch(features: Features) -> None:
    plane = control_plane(features, FOLLOWED, LED, IDLE)
    old = plane.epoch(2)
    plane.sees(plane.bounce, 2)
    compared = BrokersCompared(
        node=plane.controller.node, bounced=((BrokerId(2), old, plane.epoch(2)),)
    )
    assert plane.facts[0] == compared
    assert plane.new_mail(2) == ["UM*", "LAI(F1 L1)", "UM(F1 L1)"]
    assert {r.broker_epoch for r in plane.queued(2)} == {plane.epoch(2)}
    assert plane.new_mail(1) == [
        *("LAI(L1)", "UM(L1)"),
        *("LAI(F1 L1)", "UM(F1 L1)"),
        *("UM()", "UM(F1 L1)"),
    ]
    assert plane.held("F-0") == "leader 1, ISR 1, epoch 1, version 1"
    assert plane.held("L-0") == "leader 1, ISR 1, epoch 1, version 1"


@on(*WITH_GENERATIONS)
def test_while_a_bounce_is_handled_the_broker_is_gone_first(features: Features) -> None:
    plane = control_plane(features, FOLLOWED, LED)
    plane.sees(plane.bounce, 2)
    updates = [r for r in plane.queued(1) if isinstance(r, UpdateMetadataRequest)]
    assert [u.live_brokers for u in updates] == [(0, 1), (0, 1), (0, 1, 2), (0, 1, 2)]


@on(*WITH_GENERATIONS)
def test_a_bounce_of_the_last_member_burns_two_leader_epochs(features: Features) -> None:
    plane = control_plane(features, state("L-0", (2, 1), leader=2, isr=(2,)))
    plane.sees(plane.bounce, 2)
    assert plane.held("L-0") == "leader 2, ISR 2, epoch 2, version 2"
    assert [f.leader for f in plane.facts if isinstance(f, LeaderElected)] == [-1, 2]
    assert not [f for f in plane.facts if isinstance(f, IsrChanged)]


@on(*WITH_GENERATIONS)
def test_requests_for_the_incarnation_before_a_bounce_are_dropped(features: Features) -> None:
    plane = control_plane(features, FOLLOWED, LED)
    plane.shut_down(2)
    waiting = tuple(request.in_words() for request in plane.queued(2))
    plane.sees(plane.bounce, 2)
    node = plane.controller.node
    assert QueueDropped(node=node, broker=BrokerId(2), requests=waiting) in plane.facts
    assert {r.broker_epoch for r in plane.queued(2)} == {plane.epoch(2)}


def test_at_2_1_requests_for_the_incarnation_before_a_bounce_wait_for_the_next() -> None:
    plane = control_plane("zk-2.1", FOLLOWED, LED)
    plane.shut_down(2)
    waiting = plane.queued(2)
    plane.sees(plane.bounce, 2)
    assert plane.queued(2) == waiting
    assert plane.controller.shutting_down == (2,)


@on(*WITH_GENERATIONS)
def test_an_unseen_bounce_leaves_the_old_epoch_on_what_is_queued(features: Features) -> None:
    plane = control_plane(features, FOLLOWED, LED)
    old = plane.epoch(2)
    plane.bounce(2)
    plane.shut_down(2, old)
    assert {r.broker_epoch for r in plane.queued(2)} == {old}


def test_a_death_is_told_to_all_of_all_partitions_at_2_1_of_none_later_not_at_all_at_3_4() -> None:
    last = {
        "zk-2.1": "UM*",
        "zk-2.2": "UM()",
        "zk-2.5.0": "UM()",
        "zk-2.6": "UM()",
        "zk-2.8": "UM()",
        "zk-3.4": "UM(F1)",
    }
    for kafka, expected in last.items():
        plane = control_plane(kafka, FOLLOWED, IDLE)
        plane.sees(plane.die, 2)
        assert plane.new_mail(1)[-1] == expected, kafka


def test_from_3_1_on_the_death_of_a_broker_without_replicas_is_announced() -> None:
    plane = control_plane("zk-3.4", IDLE)
    plane.sees(plane.die, 2)
    assert plane.new_mail(1) == ["UM()"]


@on(*ALL)
def test_a_death_moves_leaders_and_shrinks_isrs(features: Features) -> None:
    plane = control_plane(features, FOLLOWED, LED, IDLE)
    plane.sees(plane.die, 2)
    assert plane.held("F-0") == "leader 1, ISR 1, epoch 1, version 1"
    assert plane.held("L-0") == "leader 1, ISR 1, epoch 1, version 1"
    assert plane.new_mail(1)[:2] == ["LAI(L1)", "UM(L1)"]
    assert plane.queued(2) == ()


@on(*ALL)
def test_the_last_member_stays_in_the_isr_and_leads_when_it_is_back(features: Features) -> None:
    plane = control_plane(features, state("L-0", (2, 1), leader=2, isr=(2,)))
    plane.sees(plane.die, 2)
    assert plane.held("L-0") == "leader -1, ISR 2, epoch 1, version 1"
    plane.sees(plane.register, 2)
    assert plane.held("L-0") == "leader 2, ISR 2, epoch 2, version 2"


def test_a_new_broker_is_told_everything_and_from_2_2_on_the_others_only_who_lives() -> None:
    for kafka in ALL:
        plane = control_plane(kafka, FOLLOWED, LED, IDLE)
        plane.sees(plane.die, 2)
        plane.forget_mail()
        plane.sees(plane.register, 2)
        others = "UM*" if kafka == "zk-2.1" else "UM()"
        assert plane.new_mail(1) == [others, "UM(F1 L1)"], kafka
        assert plane.new_mail(2) == ["UM*", "LAI(F1 L1)", "UM(F1 L1)"], kafka


@on(*WITH_GENERATIONS)
def test_in_one_change_a_dead_broker_is_elected_and_then_replaced(features: Features) -> None:
    plane = control_plane(features, state("Y-0", (2, 3, 1), leader=2), brokers=(0, 1, 2, 3))
    old = plane.epoch(2)
    change_at_once(plane)
    elected = [f for f in plane.facts if isinstance(f, LeaderElected)]
    assert [(f.leader, f.leader_epoch) for f in elected] == [(3, 1), (1, 2)]
    first, second, *_ = plane.queued(2)
    assert (first.in_words(), first.broker_epoch) == (
        "UpdateMetadata no partition, live {0, 1, 2, 3, 4}",
        old,
    )
    assert second.broker_epoch == plane.epoch(2)


def test_2_1_replaces_the_whole_live_set_first_so_nobody_dead_is_elected() -> None:
    plane = control_plane("zk-2.1", state("X-0", (3, 2, 1), leader=3), brokers=(0, 1, 2, 3))
    change_at_once(plane)
    elected = [f for f in plane.facts if isinstance(f, LeaderElected)]
    assert [(f.leader, f.leader_epoch) for f in elected] == [(2, 1)]


@rows("", ("", [parse_features(r, on=("380.live-set-first",)) for r in WITH_GENERATIONS]))
def test_in_the_kips_order_nobody_dead_is_elected(features: Features) -> None:
    plane = control_plane(features, state("Y-0", (2, 3, 1), leader=2), brokers=(0, 1, 2, 3))
    change_at_once(plane)
    elected = [f for f in plane.facts if isinstance(f, LeaderElected)]
    assert 3 not in [f.leader for f in elected]
    assert plane.controller.live_brokers == (0, 1, 2, 4)


def test_without_bounce_detection_2_2_misses_the_bounce_and_keeps_the_old_epoch() -> None:
    plane = control_plane("zk-2.2", FOLLOWED, LED, off=("380.bounce-detection",))
    old = plane.epoch(2)
    plane.sees(plane.bounce, 2)
    assert plane.facts == [BrokersCompared(node=plane.controller.node)]
    assert epoch_of(plane.controller, BrokerId(2)) == old


@rows("", ("", [parse_features(r, on=("380.session-id",)) for r in WITH_GENERATIONS]))
def test_a_session_id_is_no_generation_where_a_lower_server_opens_the_next_session(
    features: Features,
) -> None:
    plane = control_plane(features, FOLLOWED, LED)
    assert epoch_of(plane.controller, BrokerId(2)) == BrokerEpoch(plane.sessions[2])
    high = tuple(
        replace(known, epoch=BrokerEpoch(known.epoch + 1000)) for known in plane.controller.live
    )
    plane.controllers[0] = replace(plane.controller, live=high)
    plane.sees(plane.bounce, 2)
    assert plane.facts == [BrokersCompared(node=plane.controller.node)]


def change_at_once(plane: ControlPlane) -> None:
    """Broker 4 appears, 2 bounces, 3 is gone, and the controller looks once."""
    plane.register(4)
    plane.bounce(2)
    plane.sees(plane.die, 3)
