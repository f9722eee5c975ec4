"""A broker's life in ZooKeeper's time: registration, sessions, controlled shutdown."""

from typing import NamedTuple

import pytest
from msgspec.structs import replace

from kiplab.protocol import messages
from kiplab.protocol.errors import KafkaError
from kiplab.protocol.facts import LifecycleChanged, Registered
from kiplab.protocol.features import Features, parse_features
from kiplab.protocol.ids import NO_BROKER_EPOCH, BrokerEpoch, BrokerId, SessionId, controller_on
from kiplab.protocol.replica.broker_state import Broker, Lifecycle, Volatile
from kiplab.protocol.zookeeper import broker_in_zookeeper as life
from kiplab.protocol.zookeeper.ensemble import Ensemble, find, kafka_ensemble
from kiplab.protocol.zookeeper.ensemble_sessions import end_session
from kiplab.protocol.zookeeper.ensemble_writes import Together
from kiplab.protocol.zookeeper.znodes import CONTROLLER_PATH, BrokerZnode, Znode, broker_path
from kiplab.protocol.zookeeper.zookeeper_controller import ZooKeeperController
from kiplab.protocol.zookeeper_facts import SessionEnded, SessionOpened, ShutdownTried
from tests.protocol.building import instance, present
from tests.protocol.zookeeper.brokers import RELEASES, at_release, on, rows

ONE, TWO = BrokerId(1), BrokerId(2)


class Pair(NamedTuple):
    """Brokers 1, the controller, and 2, both started."""

    features: Features
    one: Broker
    two: Broker
    ensemble: Ensemble


def pair(features: Features) -> Pair:
    first = life.start(Broker(ONE), kafka_ensemble(), features, None)
    second = life.start(Broker(TWO), first.ensemble, features, None)
    return Pair(features, first.node, second.node, second.ensemble)


def process(broker: Broker) -> Volatile:
    assert broker.process is not None
    return broker.process


def session(broker: Broker) -> SessionId:
    return present(process(broker).session)


def registered(ensemble: Ensemble) -> Znode:
    return present(find(ensemble, broker_path(TWO)))


def kinds(done: Together[Broker]) -> list[str]:
    return [type(f).__name__ for f in done.facts]


# Start


def test_at_2_1_a_broker_registers_by_one_create_and_has_no_epoch() -> None:
    pairs = pair(at_release("zk-2.1"))
    made = registered(pairs.ensemble)
    assert made.data == BrokerZnode(TWO, pairs.two.incarnation)
    assert made.stat.version == 0
    assert process(pairs.two).epoch == NO_BROKER_EPOCH


@on(*RELEASES[1:])
def test_from_2_2_on_a_transaction_of_two_writes_tells_the_epoch(features: Features) -> None:
    pairs = pair(features)
    made = registered(pairs.ensemble)
    assert made.data == BrokerZnode(TWO, pairs.two.incarnation)
    assert (made.stat.version, made.stat.czxid) == (1, made.stat.mzxid)
    assert process(pairs.two).epoch == BrokerEpoch(made.stat.czxid)
    assert made.stat.ephemeral_owner == process(pairs.two).session


@on(*RELEASES)
def test_a_new_process_knows_no_controller_no_metadata_and_no_replica(features: Features) -> None:
    born = process(pair(features).two)
    assert (born.lifecycle, born.controller, born.controller_epoch) == ("RUNNING", None, None)
    assert (born.image, born.replicas, born.checkpoints) == (None, (), False)


@on(*RELEASES)
def test_the_first_to_start_becomes_the_controller(features: Features) -> None:
    pairs = pair(features)
    planes = [process(b).control_plane for b in (pairs.one, pairs.two)]
    assert all(isinstance(p, ZooKeeperController) for p in planes)
    assert [p.active for p in planes if isinstance(p, ZooKeeperController)] == [True, False]


def test_a_start_is_told_in_order_and_sets_off_the_controllers_watch() -> None:
    features = at_release("zk-2.2")
    first = life.start(Broker(ONE), kafka_ensemble(), features, None)
    second = life.start(Broker(TWO), first.ensemble, features, None)
    assert kinds(second) == [
        "LifecycleChanged",
        "SessionOpened",
        "ZnodeChanged",
        "Registered",
        "LifecycleChanged",
    ]
    assert [s.receiver for s in second.fired] == [controller_on(ONE)]
    (watch,) = (s.body for s in second.fired)
    assert isinstance(watch, messages.WatcherEvent)
    assert (watch.path, watch.change) == ("/brokers/ids", "NodeChildrenChanged")


def test_a_process_can_begin_at_any_server() -> None:
    features = at_release("zk-2.2")
    low = life.start(Broker(ONE), kafka_ensemble(servers=2), features, None, 1).node
    high = life.start(Broker(ONE), kafka_ensemble(servers=2), features, None, 0).node
    assert process(low).session > process(high).session  # type: ignore[operator]


def test_while_an_earlier_life_is_registered_there_is_no_start() -> None:
    pairs = pair(at_release("zk-2.2"))
    down = replace(pairs.two, process=None)
    reason = present(life.why_not_start(down, pairs.ensemble))
    assert "NODEEXISTS" in reason
    assert "`expire 2`" in reason
    assert (
        life.why_not_start(down, end_session(pairs.ensemble, session(pairs.two)).ensemble) is None
    )


@rows("", ("380.session-id", [parse_features(r, on=("380.session-id",)) for r in RELEASES[1:]]))
def test_the_rejected_generation_is_the_id_of_the_session(features: Features) -> None:
    started = life.start(Broker(ONE), kafka_ensemble(), features, None).node
    assert process(started).epoch == BrokerEpoch(session(started))


# A session that expires


def expired(pairs: Pair, broker: Broker) -> tuple[Ensemble, messages.SessionExpired]:
    """ZooKeeper ends the session of a process that runs."""
    return end_session(pairs.ensemble, session(broker)).ensemble, messages.SessionExpired(
        session=session(broker)
    )


@on(*RELEASES[1:])
def test_who_hears_that_its_session_is_over_registers_anew_under_a_higher_epoch(
    features: Features,
) -> None:
    pairs = pair(features)
    ensemble, event = expired(pairs, pairs.two)
    done = life.session_expired(pairs.two, ensemble, event, pairs.features, None)
    before, after = process(pairs.two), process(done.node)
    assert done.node.incarnation == pairs.two.incarnation
    assert after.epoch > before.epoch
    assert after.session != before.session
    made = registered(done.ensemble)
    assert BrokerEpoch(made.stat.czxid) == after.epoch
    assert kinds(done) == ["SessionOpened", "ZnodeChanged", "Registered"]


def test_word_of_a_session_that_was_left_behind_changes_nothing() -> None:
    pairs = pair(at_release("zk-2.2"))
    event = messages.SessionExpired(session=SessionId(99))
    done = life.session_expired(pairs.two, pairs.ensemble, event, pairs.features, None)
    assert (done.node, done.ensemble) == (pairs.two, pairs.ensemble)
    assert done.node is pairs.two


def test_a_controller_whose_session_is_over_stands_down_and_may_be_elected_again() -> None:
    pairs = pair(at_release("zk-2.2"))
    ensemble, event = expired(pairs, pairs.one)
    done = life.session_expired(pairs.one, ensemble, event, pairs.features, None)
    told = kinds(done)
    assert told.index("ControllerStoodDown") < told.index("SessionOpened")
    assert told.index("Registered") < told.index("ControllerElected")
    plane = instance(ZooKeeperController, process(done.node).control_plane)
    assert (plane.active, plane.epoch) == (True, 2)
    assert plane.session == process(done.node).session


def test_a_process_keeps_what_it_knows_when_its_session_is_over() -> None:
    pairs = pair(at_release("zk-2.2"))
    knows = replace(process(pairs.two), checkpoints=True, stopped=("F-0",), shutdown_tries=1)
    ensemble, event = expired(pairs, pairs.two)
    two = replace(pairs.two, process=knows)
    after = process(life.session_expired(two, ensemble, event, pairs.features, None).node)
    assert (after.checkpoints, after.stopped, after.shutdown_tries) == (True, ("F-0",), 1)


# Controlled shutdown


def begun(pairs: Pair) -> Together[Broker]:
    return life.begin_shutdown(pairs.two, pairs.ensemble, pairs.features, None)


def answered(done: Together[Broker], features: Features, **said: object) -> Together[Broker]:
    reply = messages.ControlledShutdownResponse(**said)  # type: ignore[arg-type]
    return life.shutdown_answered(done.node, done.ensemble, reply, features, None)


@on(*RELEASES)
def test_a_shutdown_asks_whom_zookeeper_names(features: Features) -> None:
    pairs = pair(features)
    done = begun(pairs)
    assert process(done.node).lifecycle is Lifecycle.PENDING_CONTROLLED_SHUTDOWN
    (send,) = done.sends
    assert send.receiver == controller_on(ONE)
    asked = instance(messages.ControlledShutdownRequest, send.body)
    assert asked.broker_epoch == process(pairs.two).epoch


def test_below_inter_broker_protocol_2_2_it_names_no_epoch() -> None:
    features = parse_features("zk-2.2/2.1-IV2")
    pairs = pair(at_release("zk-2.2"))._replace(features=features)
    (send,) = begun(pairs).sends
    asked = instance(messages.ControlledShutdownRequest, send.body)
    assert (asked.version, asked.broker_epoch) == (1, NO_BROKER_EPOCH)


def test_a_broker_that_is_let_go_stops_and_closes_its_session() -> None:
    pairs = pair(at_release("zk-2.2"))
    done = answered(begun(pairs), pairs.features)
    assert not done.node.up
    assert find(done.ensemble, broker_path(TWO)) is None
    (ended,) = (f for f in done.facts if isinstance(f, SessionEnded))
    assert (ended.broker, ended.expired) == (TWO, False)
    assert [f.state for f in done.facts if isinstance(f, LifecycleChanged)] == ["STOPPED"]


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"error": KafkaError.STALE_BROKER_EPOCH}, "STALE_BROKER_EPOCH"),
        ({"remaining": ("L-0",)}, "L-0"),
    ],
)
def test_any_other_answer_is_one_try_of_three(said: dict[str, object], reason: str) -> None:
    pairs = pair(at_release("zk-2.2"))
    left = []
    done = begun(pairs)
    for again in (True, True, False):
        done = answered(done, pairs.features, **said)
        (tried,) = (f for f in done.facts if isinstance(f, ShutdownTried))
        assert reason in tried.reason
        left.append(tried.left)
        if again:
            done = life.begin_shutdown(done.node, done.ensemble, pairs.features, None)
            assert len(done.sends) == 1
    assert left == [2, 1, 0]
    assert not done.node.up


def test_three_tries_without_an_answer_are_enough() -> None:
    pairs = pair(at_release("zk-2.2"))
    done = begun(pairs)
    for _ in range(2):
        done = life.begin_shutdown(done.node, done.ensemble, pairs.features, None)
        assert done.node.up
    done = life.begin_shutdown(done.node, done.ensemble, pairs.features, None)
    assert not done.node.up
    assert done.sends == ()


def test_a_try_without_a_controller_fails_at_once() -> None:
    pairs = pair(at_release("zk-2.2"))
    alone = pairs._replace(ensemble=end_session(pairs.ensemble, session(pairs.one)).ensemble)
    assert find(alone.ensemble, CONTROLLER_PATH) is None
    done = begun(alone)
    assert done.sends == ()
    (tried,) = (f for f in done.facts if isinstance(f, ShutdownTried))
    assert (tried.left, "controller" in tried.reason) == (2, True)


def test_each_try_names_the_epoch_of_that_moment() -> None:
    pairs = pair(at_release("zk-2.2"))
    first = begun(pairs)
    ensemble, event = expired(pairs, first.node)
    anew = life.session_expired(first.node, ensemble, event, pairs.features, None)
    second = life.begin_shutdown(anew.node, anew.ensemble, pairs.features, None)
    epochs = [
        s.body.broker_epoch
        for s in (*first.sends, *second.sends)
        if isinstance(s.body, messages.ControlledShutdownRequest)
    ]
    assert epochs == [process(pairs.two).epoch, process(anew.node).epoch]
    assert epochs[0] < epochs[1]


def test_an_answer_to_a_process_that_does_not_shut_down_changes_nothing() -> None:
    pairs = pair(at_release("zk-2.2"))
    reply = messages.ControlledShutdownResponse()
    done = life.shutdown_answered(pairs.two, pairs.ensemble, reply, pairs.features, None)
    assert done.node is pairs.two


def test_a_controller_that_stops_stands_down_and_the_others_are_told() -> None:
    pairs = pair(at_release("zk-2.2"))
    done = life.begin_shutdown(pairs.one, pairs.ensemble, pairs.features, None)
    done = answered(done, pairs.features)
    assert "ControllerStoodDown" in kinds(done)
    assert find(done.ensemble, CONTROLLER_PATH) is None
    assert [s.receiver for s in done.fired] == [controller_on(TWO)]


def test_of_the_first_incarnation_the_facts_name_the_session_and_the_epoch() -> None:
    done = life.start(Broker(ONE), kafka_ensemble(), at_release("zk-2.2"), None)
    (opened,) = (f for f in done.facts if isinstance(f, SessionOpened))
    (registered,) = (f for f in done.facts if isinstance(f, Registered))
    assert opened.session == process(done.node).session
    assert registered.epoch == process(done.node).epoch
