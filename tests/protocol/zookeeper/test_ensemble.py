"""ZooKeeper as a node of the cluster: transactions, ephemerals, watches and session ids."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kiplab.protocol import ids
from kiplab.protocol.messages import WatcherEvent
from kiplab.protocol.registrations import PartitionRegistration, Registration
from kiplab.protocol.zookeeper import ensemble_sessions, znodes
from kiplab.protocol.zookeeper.ensemble import Ensemble, empty_ensemble, find, kafka_ensemble
from kiplab.protocol.zookeeper.ensemble_writes import (
    ANY_VERSION,
    CheckVersion,
    Create,
    Delete,
    Operation,
    SetData,
    Transacted,
    ZooKeeperError,
    transact,
)
from tests.protocol.building import instance, present

ONE, TWO = ids.BrokerId(1), ids.BrokerId(2)
FIRST, SECOND = ids.PartitionEpoch(0), ids.PartitionEpoch(1)


def opened(
    ensemble: Ensemble, owner: ids.BrokerId = ONE, server: int = 0
) -> ensemble_sessions.Opened:
    return ensemble_sessions.open_session(ensemble, owner, ids.Incarnation(1), server)


def connected() -> ensemble_sessions.Opened:
    return opened(empty_ensemble())


def done(ensemble: Ensemble, session: ids.SessionId, *operations: Operation) -> Ensemble:
    came = transact(ensemble, session, operations)
    assert came.error is ZooKeeperError.NONE
    return came.ensemble


def events(came: Transacted) -> list[tuple[ids.BrokerId, str, str]]:
    told = ((ids.host_of(sent.receiver), instance(WatcherEvent, sent.body)) for sent in came.fired)
    return [(broker, event.change, event.path) for broker, event in told]


def registered(
    ensemble: Ensemble, session: ids.SessionId, broker: ids.BrokerId, incarnation: int
) -> Ensemble:
    """As KIP-380 registers: an empty ephemeral, and a write that answers with the Stat."""
    path, data = (
        znodes.broker_path(broker),
        znodes.BrokerZnode(broker, ids.Incarnation(incarnation)),
    )
    return done(ensemble, session, Create(path, ephemeral=True), SetData(path, data, FIRST))


# --- transactions -------------------------------------------------------------------------------


def test_create_and_set_data_in_one_multi_share_one_zxid_as_a_brokers_registration_does() -> None:
    ensemble, session = connected()
    came = transact(
        ensemble,
        session,
        (Create("/a", ephemeral=True), SetData("/a", znodes.TextZnode("x"), FIRST)),
    )
    zxid = ids.Zxid(ensemble.zxid + 1)
    assert came.ensemble.zxid == zxid
    assert came.results == ("/a", znodes.Stat(zxid, zxid, ids.PartitionEpoch(1), session))


def test_a_multi_is_refused_as_a_whole_and_leaves_every_znode_the_same_object() -> None:
    ensemble, session = connected()
    came = transact(ensemble, session, (Create("/a"), CheckVersion("/a", ids.PartitionEpoch(7))))
    assert (came.error, came.failing) == (ZooKeeperError.BADVERSION, 1)
    assert came.ensemble.znodes is ensemble.znodes
    assert came.results == ()


def test_a_refused_write_takes_a_zxid_too() -> None:
    ensemble, session = connected()
    assert transact(ensemble, session, (Delete("/a"),)).ensemble.zxid == ensemble.zxid + 1


REFUSALS = {
    "no parent": (Create("/b/c"), ZooKeeperError.NONODE),
    "no such node to write": (SetData("/b"), ZooKeeperError.NONODE),
    "no such node to delete": (Delete("/b"), ZooKeeperError.NONODE),
    "no such node to check": (CheckVersion("/b"), ZooKeeperError.NONODE),
    "there already": (Create("/a"), ZooKeeperError.NODEEXISTS),
    "another version to write": (SetData("/a", version=SECOND), ZooKeeperError.BADVERSION),
    "another version to delete": (Delete("/a", SECOND), ZooKeeperError.BADVERSION),
    "children left": (Delete("/a"), ZooKeeperError.NOTEMPTY),
    "below an ephemeral": (Create("/a/e/x"), ZooKeeperError.NOCHILDRENFOREPHEMERALS),
}


@pytest.mark.parametrize(("operation", "error"), REFUSALS.values(), ids=REFUSALS)
def test_what_cannot_be_done_is_refused_with_zookeepers_error(
    operation: Operation, error: ZooKeeperError
) -> None:
    ensemble, session = connected()
    ensemble = done(ensemble, session, Create("/a"), Create("/a/e", ephemeral=True))
    assert transact(ensemble, session, (operation,)).error is error


def test_operations_of_a_multi_see_what_those_before_them_did() -> None:
    ensemble, session = connected()
    after = done(ensemble, session, Create("/a"), Delete("/a"), Create("/a"), SetData("/a"))
    made = present(find(after, "/a"))
    assert made.stat.version == 1


def test_a_sequential_child_is_called_after_how_many_there_ever_were() -> None:
    sequential = Create(znodes.ISR_CHANGE_PREFIX, sequential=True)
    ensemble, session = opened(kafka_ensemble())
    first = transact(ensemble, session, (sequential,))
    assert first.results == (f"{znodes.ISR_CHANGE_PREFIX}0000000000",)
    emptied = done(first.ensemble, session, Delete(f"{znodes.ISR_CHANGE_PREFIX}0000000000"))
    again = transact(emptied, session, (sequential,))
    assert again.results == (f"{znodes.ISR_CHANGE_PREFIX}0000000001",)


# --- sessions -----------------------------------------------------------------------------------


def test_with_a_session_go_its_ephemerals_in_one_transaction() -> None:
    ensemble, session = connected()
    ensemble = done(ensemble, session, Create("/a"), Create("/a/e", ephemeral=True))
    ensemble = done(ensemble, session, Create("/f", ephemeral=True))
    left = ensemble_sessions.end_session(ensemble, session).ensemble
    assert [z.path for z in left.znodes] == ["/", "/a"]
    assert left.zxid == ensemble.zxid + 1
    assert ensemble_sessions.end_session(left, session).ensemble is left


def test_who_has_no_session_any_more_is_refused_and_the_ensemble_is_the_same_object() -> None:
    ensemble, session = connected()
    left = ensemble_sessions.end_session(ensemble, session).ensemble
    came = transact(left, session, (Create("/a"),))
    assert (came.error, came.ensemble) == (ZooKeeperError.SESSIONEXPIRED, left)
    assert came.ensemble is left
    refused = ensemble_sessions.ZnodeRead(left, error=ZooKeeperError.SESSIONEXPIRED)
    assert ensemble_sessions.exists(left, session, "/", watch=True) == refused


def test_a_later_session_at_a_lower_server_has_the_smaller_id_but_its_znode_the_greater_czxid() -> (
    None
):
    """Why KIP-380 takes the czxid for the broker epoch, and not the session id."""
    ensemble, before = opened(kafka_ensemble(servers=2), ONE, server=1)
    ensemble = registered(ensemble, before, ONE, 1)
    (first_incarnation,) = ensemble.registrations
    ensemble, after = opened(
        ensemble_sessions.end_session(ensemble, before).ensemble, ONE, server=0
    )
    (second_incarnation,) = registered(ensemble, after, ONE, 2).registrations
    assert after < before
    assert second_incarnation.epoch > first_incarnation.epoch


def test_sessions_of_one_server_are_numbered_upwards() -> None:
    ensemble, first = connected()
    ensemble, second = opened(ensemble_sessions.end_session(ensemble, first).ensemble)
    assert ids.NO_SESSION < first < second


# --- watches ------------------------------------------------------------------------------------


def test_a_watch_says_once_that_something_changed() -> None:
    ensemble, session = connected()
    ensemble = done(ensemble, session, Create("/a"))
    ensemble = ensemble_sessions.get(ensemble, session, "/a", watch=True).ensemble
    came = transact(ensemble, session, (SetData("/a"), SetData("/a")))
    assert events(came) == [(ONE, "NodeDataChanged", "/a")]
    assert came.ensemble.watches == ()


def test_what_happens_between_a_watch_and_the_next_read_is_not_told() -> None:
    """The root of a missed bounce: two changes, one event."""
    ensemble, session = opened(kafka_ensemble())
    ensemble, watcher = opened(ensemble, TWO)
    ensemble = registered(ensemble, session, ONE, 1)
    ensemble = ensemble_sessions.children(ensemble, watcher, "/brokers/ids", watch=True).ensemble
    gone = ensemble_sessions.end_session(ensemble, session)
    ensemble, again = opened(gone.ensemble)
    back = transact(ensemble, again, (Create(znodes.broker_path(ONE), ephemeral=True),))
    assert events(gone) == [(TWO, "NodeChildrenChanged", "/brokers/ids")]
    assert back.fired == ()


def test_a_watch_on_what_is_not_there_waits_for_its_creation_only_after_exists() -> None:
    ensemble, session = connected()
    assert ensemble_sessions.get(ensemble, session, "/a", watch=True).ensemble is ensemble
    assert ensemble_sessions.children(ensemble, session, "/a", watch=True).ensemble is ensemble
    waiting = ensemble_sessions.exists(ensemble, session, "/a", watch=True).ensemble
    assert events(transact(waiting, session, (Create("/a"),))) == [(ONE, "NodeCreated", "/a")]


def test_who_watches_a_znode_and_its_children_hears_of_its_deletion_once() -> None:
    ensemble, session = connected()
    ensemble = done(ensemble, session, Create("/a"))
    ensemble = ensemble_sessions.get(ensemble, session, "/a", watch=True).ensemble
    ensemble = ensemble_sessions.children(ensemble, session, "/a", watch=True).ensemble
    ensemble = ensemble_sessions.children(ensemble, session, "/", watch=True).ensemble
    assert events(transact(ensemble, session, (Delete("/a"),))) == [
        (ONE, "NodeDeleted", "/a"),
        (ONE, "NodeChildrenChanged", "/"),
    ]


def test_asking_twice_makes_one_watch_and_the_same_object() -> None:
    ensemble, session = connected()
    once = ensemble_sessions.exists(ensemble, session, "/a", watch=True).ensemble
    assert ensemble_sessions.exists(once, session, "/a", watch=True).ensemble is once


def test_a_session_takes_its_watches_along_unsaid() -> None:
    ensemble, session = connected()
    ensemble = done(ensemble, session, Create("/a", ephemeral=True))
    ensemble = ensemble_sessions.get(ensemble, session, "/a", watch=True).ensemble
    ended = ensemble_sessions.end_session(ensemble, session)
    assert ended.fired == ()
    assert ended.ensemble.watches == ()


# --- what is read off the znodes ----------------------------------------------------------------

STATE = znodes.PartitionStateZnode(
    "orders-0", ONE, ids.LeaderEpoch(0), ids.ControllerEpoch(1), (ONE, TWO)
)
ASSIGNED = znodes.ReplicaAssignment("orders-0", (ONE, TWO))


def with_a_topic() -> tuple[Ensemble, ids.SessionId]:
    ensemble, session = opened(kafka_ensemble())
    ensemble = registered(ensemble, session, ONE, 1)
    return done(
        ensemble,
        session,
        Create(znodes.CONTROLLER_PATH, znodes.ControllerZnode(ONE), ephemeral=True),
        Create(znodes.CONTROLLER_EPOCH_PATH, znodes.ControllerEpochZnode(ids.ControllerEpoch(1))),
        Create(znodes.topic_config_path("orders"), znodes.TopicConfigZnode("orders", 2, True)),
        Create(znodes.topic_path("orders"), znodes.TopicZnode("orders", (ASSIGNED,))),
        Create(znodes.partitions_path("orders")),
        Create(znodes.partition_path("orders-0")),
        Create(znodes.partition_state_path("orders-0"), STATE),
    ), session


def test_the_truth_of_the_mode_is_read_off_the_znodes() -> None:
    ensemble, _ = with_a_topic()
    (broker,) = ensemble.registrations
    (partition,) = ensemble.partitions
    made = present(find(ensemble, znodes.broker_path(ONE)))
    assert broker == Registration(
        ONE, ids.BrokerEpoch(made.stat.czxid), ids.Incarnation(1), fenced=False
    )
    assert ensemble.controller_epoch == 1
    assert ensemble.next_offset == ensemble.zxid + 1
    assert partition == PartitionRegistration(
        "orders-0", (ONE, TWO), (ONE, TWO), ONE, min_insync_replicas=2, unclean_leader_election=True
    )


def test_the_partition_epoch_is_the_version_of_the_state_and_the_broker_epoch_stays() -> None:
    before, session = with_a_topic()
    no_leader = znodes.PartitionStateZnode(
        "orders-0", ids.NO_LEADER, ids.LeaderEpoch(1), ids.ControllerEpoch(1), (ONE,)
    )
    path = znodes.partition_state_path("orders-0")
    after = done(before, session, SetData(path, no_leader, FIRST))
    assert [(p.leader, p.leader_epoch, p.partition_epoch) for p in after.partitions] == [(-1, 1, 1)]
    assert after.registrations is before.registrations


def test_looking_twice_and_at_what_did_not_change_gives_the_same_object() -> None:
    before, session = with_a_topic()
    assert before.partitions is before.partitions
    after = done(before, session, Delete(znodes.CONTROLLER_PATH))
    assert after.partitions is before.partitions
    assert after.registrations is before.registrations


def test_before_the_first_election_the_controller_epoch_is_0_and_nobody_is_there() -> None:
    ensemble = kafka_ensemble()
    assert (ensemble.controller_epoch, ensemble.registrations, ensemble.partitions) == (0, (), ())


# --- always -------------------------------------------------------------------------------------

PATHS = st.sampled_from(["/a", "/a/b", "/a/b/c", "/d"])
VERSIONS = st.sampled_from([ANY_VERSION, FIRST, ids.PartitionEpoch(1)])
OPERATIONS = st.one_of(
    st.builds(Create, PATHS, ephemeral=st.booleans()),
    st.builds(SetData, PATHS, version=VERSIONS),
    st.builds(Delete, PATHS, VERSIONS),
    st.builds(CheckVersion, PATHS, VERSIONS),
)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(OPERATIONS, min_size=1, max_size=3), max_size=8))
def test_every_transaction_takes_one_zxid_and_keeps_the_tree_a_tree(
    script: list[list[Operation]],
) -> None:
    ensemble, session = connected()
    for operations in script:
        came = transact(ensemble, session, tuple(operations))
        assert came.ensemble.zxid == ensemble.zxid + 1
        ensemble = came.ensemble
        paths = [z.path for z in ensemble.znodes]
        assert paths == sorted(set(paths))
        assert all(znodes.parent_path(path) in paths for path in paths)
        assert max(z.stat.mzxid for z in ensemble.znodes) <= ensemble.zxid
    left = ensemble_sessions.end_session(ensemble, session).ensemble.znodes
    assert all(z.stat.ephemeral_owner == ids.NO_SESSION for z in left)


def test_epochs_of_brokers_are_zxids() -> None:
    ensemble, session = opened(kafka_ensemble())
    (broker,) = registered(ensemble, session, ONE, 1).registrations
    assert broker.epoch == ids.BrokerEpoch(3)
