"""What holds of a controller on a broker after any events, however late it looks."""

from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from kiplab.protocol.ids import NO_BROKER_EPOCH, BrokerId
from kiplab.protocol.zookeeper.ensemble import controller_named
from kiplab.protocol.zookeeper.ensemble_writes import Delete
from kiplab.protocol.zookeeper.znodes import CONTROLLER_PATH
from kiplab.protocol.zookeeper.zookeeper_controller import epoch_of
from tests.protocol.zookeeper.control_plane import ControlPlane, control_plane, state

OTHERS = (1, 2, 3)
STATES = (
    state("A-0", (1, 2, 3), leader=1),
    state("B-0", (2, 3), leader=2),
    state("C-0", (3,), leader=3),
    state("D-0", (3, 1), leader=3, unclean=True),
)


def _dies(plane: ControlPlane, broker: int) -> None:
    if broker in plane.sessions:
        plane.die(broker)


def _bounces(plane: ControlPlane, broker: int) -> None:
    (plane.bounce if broker in plane.sessions else plane.register)(broker)


def _shuts_down(plane: ControlPlane, broker: int) -> None:
    plane.shut_down(broker)


def _looks(plane: ControlPlane, _broker: int) -> None:
    plane.look()


def _fails_over(plane: ControlPlane, _broker: int) -> None:
    if controller_named(plane.ensemble) is not None:
        plane.operator_writes(Delete(CONTROLLER_PATH))


Event = tuple[Callable[[ControlPlane, int], None], int]
EVENTS = st.lists(
    st.tuples(
        st.sampled_from((_dies, _bounces, _shuts_down, _looks, _fails_over)),
        st.sampled_from(OTHERS),
    ),
    max_size=12,
)
RELEASES = st.sampled_from(("zk-2.1", "zk-2.2", "zk-2.6", "zk-3.4"))


@settings(max_examples=60)
@given(RELEASES, EVENTS)
def test_after_any_events_and_a_look_the_controller_knows_what_zookeeper_has(
    kafka: str, events: list[Event]
) -> None:
    plane = control_plane(kafka, *STATES, brokers=(0, *OTHERS))
    for happens, broker in events:
        epochs = {s.name: int(s.leader_epoch) for s in plane.ensemble.partitions}
        happens(plane, broker)
        _epochs_never_fall(plane, epochs)
        _nothing_is_known_from_the_future(plane)
    plane.look()
    controller = plane.controller
    assert controller.active
    assert controller.partitions == plane.ensemble.partitions
    assert controller.live_brokers == tuple(r.broker for r in plane.ensemble.registrations)
    assert tuple(c.broker for c in controller.channels) == controller.live_brokers
    if kafka != "zk-2.1":
        known = {b: epoch_of(controller, b) for b in controller.live_brokers}
        assert known == {r.broker: r.epoch for r in plane.ensemble.registrations}
    _whoever_leads_is_online_unless_it_shuts_down(plane)


@settings(max_examples=30)
@given(RELEASES, EVENTS)
def test_the_same_events_give_the_same_controller(kafka: str, events: list[Event]) -> None:
    one, other = (control_plane(kafka, *STATES, brokers=(0, *OTHERS)) for _ in range(2))
    for happens, broker in events:
        happens(one, broker)
        happens(other, broker)
    assert one == other


def _epochs_never_fall(plane: ControlPlane, before: dict[str, int]) -> None:
    for now in plane.ensemble.partitions:
        assert now.leader_epoch >= before[now.name]
        assert now.isr, f"{now.name} has somebody in its ISR"
        assert now.leader in (*now.isr, -1)
        assert set(now.isr) <= set(now.replicas)


def _nothing_is_known_from_the_future(plane: ControlPlane) -> None:
    for known in plane.controller.live:
        assert known.epoch <= plane.ensemble.zxid
        stamped = [r.broker_epoch for r in plane.queued(known.broker)]
        assert stamped == sorted(stamped), "nothing for the incarnation before comes after"
        assert not stamped or stamped[-1] in (NO_BROKER_EPOCH, known.epoch)
        # What one look says of a new broker goes to one that has bounced, too, under its old epoch:
        # so Kafka was observed (tests/judge/test_controller_sequences.py).
        assert len(set(stamped)) <= 2


def _whoever_leads_is_online_unless_it_shuts_down(plane: ControlPlane) -> None:
    controller = plane.controller
    for now in controller.partitions:
        online = [b for b in controller.live_brokers if b not in controller.shutting_down]
        if any(BrokerId(b) in online for b in now.isr):
            assert now.leader in controller.live_brokers, now
