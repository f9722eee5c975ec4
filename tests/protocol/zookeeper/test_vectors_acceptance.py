"""Which control requests a broker obeys: the matrix that was observed on real brokers, row by row.

Kafka 2.2.2, 2.5.0, 2.6.3, 2.8.2 and 3.4.1 under a controller that was made up. 2.1 has no broker
epochs, and was not asked.
"""

import pytest
from msgspec.structs import replace

from kiplab.protocol.errors import KafkaError
from kiplab.protocol.facts import Refused
from kiplab.protocol.features import Features, parse_features
from kiplab.protocol.ids import NO_LEADER_EPOCH, BrokerEpoch, ControllerEpoch, controller_on
from kiplab.protocol.messages import StopReplicaResponse
from kiplab.protocol.messages.api_message import ControlRequest
from kiplab.protocol.replica.broker_state import Lifecycle, replica_of
from kiplab.protocol.replica.fetching import fetch
from kiplab.protocol.zookeeper.control_requests import LEADER_DURING_DELETE
from tests.protocol.building import present
from tests.protocol.zookeeper.brokers import (
    CONTROLLER_EPOCH,
    CONTROLLING,
    EPOCH,
    FOLLOWED,
    LED,
    RELEASES,
    Answered,
    ask,
    at_release,
    lai,
    on,
    records,
    rows,
    running,
    started,
    state,
    stop,
    um,
    with_epoch,
)

NONE, STALE = KafkaError.NONE, KafkaError.STALE_BROKER_EPOCH
LOST = KafkaError.UNKNOWN_SERVER_ERROR
OLD = KafkaError.STALE_CONTROLLER_EPOCH
FENCED = KafkaError.FENCED_LEADER_EPOCH
WITH_EPOCHS = RELEASES[1:]
EARLY, LATER = EPOCH - 40, EPOCH + 40


def every_kind(
    features: Features, *, broker_epoch: int = -1, controller_epoch: int = CONTROLLER_EPOCH
) -> tuple[ControlRequest, ...]:
    """One of each request, to which nothing but the epochs can be objected."""
    asked = (
        lai(features, state(FOLLOWED, 2, 8, replicas=(2, 1))),
        um(features, live=(0, 1)),
        stop(features, FOLLOWED, 8),
    )
    epochs = BrokerEpoch(broker_epoch), ControllerEpoch(controller_epoch)
    return tuple(replace(r, broker_epoch=epochs[0], controller_epoch=epochs[1]) for r in asked)


def without(guard: str) -> Features:
    return parse_features("zk-2.2", off=(guard,))


# The broker epoch


@rows(
    "broker_epoch error",
    ("older", WITH_EPOCHS, EARLY, STALE),
    ("equal", WITH_EPOCHS, EPOCH, NONE),
    ("none", RELEASES, -1, NONE),
    ("newer, up to 2.5.0", ("zk-2.2", "zk-2.5.0"), LATER, LOST),
    ("newer, from 2.5.1 on", ("zk-2.6", "zk-2.8", "zk-3.4"), LATER, NONE),
)
def test_the_broker_epoch_of_a_request(
    broker_epoch: int, error: KafkaError, features: Features
) -> None:
    broker = running(features)
    for request in every_kind(features, broker_epoch=broker_epoch):
        answered = ask(broker, request, features)
        assert answered.error is error, request
        assert (answered.broker is broker) is (error is not NONE), request


@rows(
    "epochs",
    ("up to 2.1", ("zk-2.1",), {"broker_epoch": EARLY}),
    ("off", [without("380.control-request-epoch")], {"broker_epoch": EARLY}),
    ("off", [without("zookeeper.controller-epoch")], {"controller_epoch": CONTROLLER_EPOCH - 1}),
)
def test_where_nobody_looks_at_an_epoch_every_one_is_obeyed(
    epochs: dict[str, int], features: Features
) -> None:
    for request in every_kind(features, **epochs):
        assert ask(running(features), request, features).error is NONE


def test_a_whole_refusal_names_the_guard_and_both_epochs() -> None:
    features = at_release("zk-2.2")
    refused = ask(running(features), every_kind(features, broker_epoch=EARLY)[0], features)
    (fact,) = refused.effect[2]
    assert isinstance(fact, Refused)
    assert fact.guard == "380.control-request-epoch"
    assert [(c.requested, c.held) for c in fact.compared] == [(str(EARLY), str(EPOCH))]


@on(*WITH_EPOCHS)
def test_of_two_stale_epochs_the_brokers_is_looked_at_first(features: Features) -> None:
    for request in every_kind(features, broker_epoch=EARLY, controller_epoch=CONTROLLER_EPOCH - 1):
        assert ask(running(features), request, features).error is STALE


@on(*WITH_EPOCHS)
def test_an_epoch_that_is_not_on_the_wire_is_not_looked_at(features: Features) -> None:
    for request, version in zip(every_kind(features, broker_epoch=EARLY), (1, 4, 0), strict=True):
        earlier = replace(request, version=version)
        assert ask(running(features), earlier, features).error is NONE


# What the answer says of the partitions


@on(*WITH_EPOCHS)
def test_a_refused_leader_and_isr_repeats_the_code_for_each_partition(features: Features) -> None:
    asked = lai(features, state(FOLLOWED, 2, 8), state(LED, 1, 8), broker_epoch=EARLY)
    assert ask(running(features), asked, features).of_partitions == {FOLLOWED: STALE, LED: STALE}


@rows(
    "broker_epoch named",
    ("refused", WITH_EPOCHS, EARLY, {}),
    ("threw", ("zk-2.2",), LATER, {FOLLOWED: LOST}),
)
def test_a_stop_replica_names_its_partitions_only_where_it_threw(
    broker_epoch: int, named: dict[str, KafkaError], features: Features
) -> None:
    asked = stop(features, FOLLOWED, broker_epoch=broker_epoch)
    assert ask(running(features), asked, features).of_partitions == named


# The controller epoch


@on(*RELEASES)
def test_an_earlier_controller_is_refused(features: Features) -> None:
    broker = running(features)
    for request in every_kind(features, controller_epoch=CONTROLLER_EPOCH - 1):
        answered = ask(broker, request, features)
        assert answered.error is OLD
        assert answered.broker is broker


@on(*RELEASES)
def test_each_of_the_three_requests_makes_a_later_controller_known(features: Features) -> None:
    for request in every_kind(features, controller_epoch=CONTROLLER_EPOCH + 1):
        process = present(ask(running(features), request, features).broker.process)
        assert process.controller_epoch == ControllerEpoch(CONTROLLER_EPOCH + 1)


# LeaderAndIsr, partition by partition


def held(answered: Answered, name: str) -> int:
    """The leader epoch that the broker has noted."""
    found = replica_of(answered.broker, name)
    return NO_LEADER_EPOCH if found is None else found.leader_epoch


@on(*RELEASES)
@pytest.mark.parametrize(("leader_epoch", "error"), [(6, OLD), (7, OLD), (8, NONE)])
def test_only_a_higher_leader_epoch_is_obeyed(
    features: Features, leader_epoch: int, error: KafkaError
) -> None:
    for version in (10, 11):
        asked = lai(features, state(FOLLOWED, 2, leader_epoch, replicas=(2, 1), version=version))
        answered = ask(running(features), asked, features)
        assert answered.error is NONE
        assert answered.of_partitions == {FOLLOWED: error}
        assert held(answered, FOLLOWED) == max(leader_epoch, 7)


@on(*RELEASES)
def test_a_partition_without_a_replica_here_is_unknown(features: Features) -> None:
    asked = lai(features, state("X-0", 2, 8, replicas=(2, 3)))
    answered = ask(running(features), asked, features)
    assert answered.of_partitions == {"X-0": KafkaError.UNKNOWN_TOPIC_OR_PARTITION}
    assert replica_of(answered.broker, "X-0") is None


@on(*RELEASES)
def test_partitions_are_judged_one_by_one(features: Features) -> None:
    asked = lai(features, state(FOLLOWED, 2, 7, replicas=(2, 1)), state(LED, 1, 4))
    answered = ask(running(features), asked, features)
    assert answered.of_partitions == {FOLLOWED: OLD, LED: NONE}
    assert (held(answered, FOLLOWED), held(answered, LED)) == (7, 4)


@on(*RELEASES)
def test_who_does_not_know_the_leader_gets_its_replica_and_no_more(features: Features) -> None:
    asked = lai(features, state(FOLLOWED, 2, 7, replicas=(2, 1)))
    answered = ask(started(features, records(FOLLOWED, 9, 5)), asked, features)
    assert answered.of_partitions == {FOLLOWED: NONE}
    replica = present(replica_of(answered.broker, FOLLOWED))
    assert (replica.leader_epoch, replica.high_watermark) == (NO_LEADER_EPOCH, 5)
    assert fetch(answered.broker, features)[1] == ()
    informed = ask(answered.broker, um(features), features).broker
    again = ask(informed, asked, features)
    assert held(again, FOLLOWED) == 7
    assert len(fetch(again.broker, features)[1]) == 1


@on(*RELEASES)
def test_a_leader_that_is_told_of_no_leader_leads_on(features: Features) -> None:
    answered = ask(running(features), lai(features, state(LED, -1, 4, isr=(1,))), features)
    assert held(answered, LED) == 3
    replica = present(replica_of(answered.broker, LED))
    assert replica.leading is not None


@on(*RELEASES)
def test_a_follower_that_is_told_of_an_unknown_leader_goes_on_with_the_one_it_has(
    features: Features,
) -> None:
    broker = ask(running(features), um(features, live=(0, 1)), features).broker
    answered = ask(broker, lai(features, state(FOLLOWED, 3, 8, replicas=(3, 1))), features)
    assert answered.of_partitions == {FOLLOWED: NONE}
    assert replica_of(answered.broker, FOLLOWED) == replica_of(broker, FOLLOWED)
    assert [s.receiver for s in fetch(answered.broker, features)[1]] == [2]
    assert answered.effect[2] == ()


@on(*RELEASES)
def test_who_shuts_down_becomes_a_follower_that_does_not_fetch(features: Features) -> None:
    broker = running(features)
    assert broker.process is not None
    leaving = replace(broker.process, lifecycle=Lifecycle.PENDING_CONTROLLED_SHUTDOWN)
    asked = lai(features, state(LED, 2, 4, isr=(2,)))
    answered = ask(replace(broker, process=leaving), asked, features)
    assert held(answered, LED) == 4
    fetched = {s.body.about() for s in fetch(answered.broker, features)[1]}
    assert fetched == {FOLLOWED}


@rows("epoch", ("obeyed", RELEASES[:-1], 8), ("passed over", ("zk-3.4",), 7))
def test_an_older_partition_epoch_is_passed_over_in_silence_from_3_3_on(
    epoch: int, features: Features
) -> None:
    asked = lai(features, state(FOLLOWED, 2, 8, replicas=(2, 1), version=9))
    answered = ask(running(features), asked, features)
    assert answered.of_partitions == {FOLLOWED: NONE}
    assert held(answered, FOLLOWED) == epoch


def test_a_leader_epoch_is_not_looked_at_where_nobody_does() -> None:
    features = without("zookeeper.leader-epoch")
    answered = ask(running(features), lai(features, state(LED, 2, 2)), features)
    assert held(answered, LED) == 2


# StopReplica


@rows(
    "leader_epoch error",
    ("lower, up to 2.5", ("zk-2.1", "zk-2.2", "zk-2.5.0"), 6, NONE),
    ("lower", ("zk-2.6", "zk-2.8", "zk-3.4"), 6, FENCED),
    ("the first one", ("zk-2.6", "zk-2.8", "zk-3.4"), 0, FENCED),
    ("equal", ("zk-2.1", "zk-2.2", "zk-2.5.0", "zk-3.4"), 7, NONE),
    ("equal, 2.6 to 3.4.0", ("zk-2.6", "zk-2.8"), 7, FENCED),
    ("higher", RELEASES, 8, NONE),
    ("none", RELEASES, -1, NONE),
    ("deletion", RELEASES, -2, NONE),
)
def test_the_leader_epoch_of_a_stop_replica(
    leader_epoch: int, error: KafkaError, features: Features
) -> None:
    answered = ask(running(features), stop(features, FOLLOWED, leader_epoch), features)
    assert answered.error is NONE
    assert answered.of_partitions == {FOLLOWED: error}
    fetched = [s.body.about() for s in fetch(answered.broker, features)[1]]
    assert fetched == ([FOLLOWED] if error else [])


def test_below_inter_broker_protocol_2_6_a_stop_replica_has_no_leader_epoch() -> None:
    features = parse_features("zk-3.4/2.5-IV0")
    answered = ask(running(features), stop(features, FOLLOWED, 6), features)
    assert answered.of_partitions == {FOLLOWED: NONE}


@on(*RELEASES)
def test_a_stopped_replica_is_not_started_by_the_same_leader_epoch(features: Features) -> None:
    stopped = ask(running(features), stop(features, FOLLOWED, 8), features)
    assert held(stopped, FOLLOWED) == 7
    same = ask(stopped.broker, lai(features, state(FOLLOWED, 2, 7, replicas=(2, 1))), features)
    assert same.of_partitions == {FOLLOWED: OLD}
    assert fetch(same.broker, features)[1] == ()
    higher = ask(same.broker, lai(features, state(FOLLOWED, 2, 8, replicas=(2, 1))), features)
    assert [s.body.about() for s in fetch(higher.broker, features)[1]] == [FOLLOWED]


@on(*RELEASES)
def test_a_leader_that_is_to_stop_leads_on(features: Features) -> None:
    answered = ask(running(features), stop(features, LED, 4), features)
    assert answered.of_partitions == {LED: NONE}
    replica = present(replica_of(answered.broker, LED))
    assert replica.leading is not None


@on(*RELEASES)
def test_a_deleted_replica_takes_its_log_along(features: Features) -> None:
    broker = running(features, records(FOLLOWED, 9, 5), records(LED, 9, 9))
    deleted = ask(broker, stop(features, FOLLOWED, 8, delete=True), features)
    assert replica_of(deleted.broker, FOLLOWED) is None
    assert [r.partition for r in deleted.broker.durable.replicas] == [LED]
    unknown = ask(deleted.broker, stop(features, FOLLOWED, 8, delete=True), features)
    assert unknown.of_partitions == {FOLLOWED: NONE}
    assert unknown.broker is deleted.broker


def test_nothing_is_asked_to_stop_by_an_empty_stop_replica() -> None:
    features = at_release("zk-2.2")
    empty = replace(stop(features, FOLLOWED), items=())
    broker = running(features)
    answered = ask(broker, empty, features)
    assert answered.reply == StopReplicaResponse()
    assert answered.broker is broker


# UpdateMetadata


@on(*RELEASES)
def test_the_living_are_replaced_and_the_partitions_merged(features: Features) -> None:
    changed = state(LED, 2, 2)
    answered = ask(running(features), um(features, changed, live=(2, 0)), features)
    assert answered.broker.process is not None
    image = present(answered.broker.process.image)
    assert [r.broker for r in image.registrations] == [0, 2]
    assert {p.name: p.leader_epoch for p in image.partitions} == {FOLLOWED: 7, LED: 2}
    gone = replace(changed, leader=LEADER_DURING_DELETE)
    after = present(ask(answered.broker, um(features, gone), features).broker.process)
    assert after.image is not None
    assert [p.name for p in after.image.partitions] == [FOLLOWED]


def test_who_the_controller_is_only_metadata_tells() -> None:
    features = at_release("zk-2.8")
    asked = lai(features, state(LED, 1, 3))
    alone = ask(started(features), asked, features).broker
    assert alone.process is not None
    assert alone.process.controller is None
    informed = ask(alone, um(features), features).broker
    assert informed.process is not None
    assert informed.process.controller == controller_on(CONTROLLING)


# A session that expires without a restart


@on(*WITH_EPOCHS)
def test_a_process_registered_anew_refuses_what_its_old_epoch_is_on(features: Features) -> None:
    anew = with_epoch(running(features), EPOCH + 4)
    same = state(FOLLOWED, 2, 7, replicas=(2, 1))
    assert ask(anew, lai(features, same, broker_epoch=EPOCH), features).error is STALE
    answered = ask(anew, lai(features, same, broker_epoch=EPOCH + 4), features)
    assert (answered.error, answered.of_partitions) == (NONE, {FOLLOWED: OLD})
