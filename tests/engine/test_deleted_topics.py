"""A topic that is deleted: what controller, brokers and clients make of it, and the lists of
eligible leader replicas that outlive it."""

import pytest

from kiplab.engine import moves
from kiplab.engine.cluster import broker
from kiplab.engine.impossible_moves import why_not
from kiplab.plays.grammar import parse
from kiplab.plays.library import load
from kiplab.plays.runner import open_stage, run_play
from kiplab.plays.stage import Stage
from kiplab.protocol.facts import ControllerResigned, Refused
from kiplab.protocol.ids import BrokerId
from kiplab.protocol.kraft.controller_state import Controller, ElrList
from kiplab.protocol.replica.broker_state import replica_of

HEADER = """kafka 4.3 elr=1
broker 1 epoch=101
broker 2 epoch=102
broker 3 epoch=103
topic clicks replicas=1,2,3 isr=1,2,3 leader=1 leader-epoch=3 log=40@3
topic orders replicas=1,2,3 isr=1,2,3 leader=1 leader-epoch=5 min-insync-replicas=2 log=100@5
given next-metadata-offset=248
"""
ELIGIBLE = "crash 3\nexpire 3\ncrash 2\nexpire 2\nexpect orders-0 isr=1 elr=2\n"
LISTED = (ElrList(BrokerId(2), "orders", (0,)),)
CLEARED = f"{ELIGIBLE}configure orders min-insync-replicas=1\nexpect orders-0 elr=none\n"


def played(lines: str, header: str = HEADER) -> Stage:
    stage = run_play(parse(header + lines))
    failed = [f"{e.text}: {e.actual}" for e in stage.expectations if e.status == "failed"]
    assert not failed
    return stage


def resignations(stage: Stage) -> int:
    return sum(isinstance(e, ControllerResigned) for e in stage.events)


def controller_of(stage: Stage) -> Controller:
    controller = stage.cluster.controller
    assert isinstance(controller, Controller)
    return controller


@pytest.mark.parametrize("before", ["", "crash 2\n"], ids=["it runs", "it is down"])
def test_a_broker_deletes_its_replica_as_soon_as_it_knows(before: str) -> None:
    stage = played(f"{before}delete-topic orders\n")
    assert [p.name for p in controller_of(stage).partitions] == ["clicks-0"]
    if before:
        stage = played(f"{before}delete-topic orders\nexpire 2\nstart 2\nunfence 2\n")
    node = broker(stage.cluster, stage.cluster.brokers[1].id)
    assert node is not None
    assert replica_of(node, "orders-0") is None
    assert [r.partition for r in node.durable.replicas] == ["clicks-0"]


@pytest.mark.parametrize(
    ("lines", "error"),
    [
        # The leader knows it, and the follower does not yet.
        (
            "hold fetch\nfetch 2\ndelete-topic orders\ndeliver fetch from=2\n",
            "UNKNOWN_TOPIC_OR_PARTITION",
        ),
        # The controller has no topic for the id in the request.
        (
            "cut 3 1\nproduce orders-0 count=1\nhold alter-partition\ncheck-lag 1\n"
            "delete-topic orders\ndeliver alter-partition from=1\nrelease alter-partition\n",
            "UNKNOWN_TOPIC_ID",
        ),
        # An answer is due, and there is no log to commit anything in.
        (
            "produce orders-0 count=1 producer=app\ndelete-topic orders\n",
            "UNKNOWN_TOPIC_OR_PARTITION",
        ),
    ],
    ids=["fetch", "alter-partition", "produce"],
)
def test_a_request_about_a_topic_that_is_gone_is_refused(lines: str, error: str) -> None:
    header = HEADER.replace(
        "topic clicks replicas=1,2,3 isr=1,2,3", "topic clicks replicas=1 isr=1"
    )
    stage = played(lines, header)
    refused = [e for e in stage.events if isinstance(e, Refused)]
    assert error in {e.error.name for e in refused}
    assert not stage.cluster.broken


@pytest.mark.parametrize(
    ("lines", "kept", "resigned"),
    [
        # Kafka's own vector, ReplicationControlManagerTest.testEligibleLeaderReplicas_DeleteTopic.
        (f"{ELIGIBLE}delete-topic orders\nstart 2\nunfence 2\n", (), 0),
        (f"{CLEARED}start 2\nunfence 2\n", LISTED, 0),
        (f"{CLEARED}delete-topic orders\nstart 2\n", LISTED, 1),
        (f"{CLEARED}delete-topic orders\nfail-over\nstart 2\n", LISTED, 1),
        (f"{CLEARED}delete-topic clicks\nstart 2\n", LISTED, 0),
        (
            f"{CLEARED}delete-topic orders\nsend unregister-broker from=1 broker=2\n",
            LISTED,
            1,
        ),
        (f"{CLEARED}delete-topic orders\nsend unregister-broker from=1 broker=3\n", None, 0),
    ],
    ids=["a member", "no deletion", "no member", "next", "another topic", "unregister", "never"],
)
def test_who_is_listed_for_a_deleted_topic_makes_the_controller_resign(
    lines: str, kept: tuple[ElrList, ...] | None, resigned: int
) -> None:
    stage = played(lines)
    assert resignations(stage) == resigned
    if kept is not None:
        assert controller_of(stage).elr_lists == kept


@pytest.mark.parametrize(
    ("play", "topic", "reason"),
    [
        ("kafka-14139", "payments", "there is no topic payments (there is orders)"),
        ("kafka-14139-zookeeper", "orders", "topics stay in a run with ZooKeeper"),
    ],
)
def test_what_cannot_be_deleted_says_why(play: str, topic: str, reason: str) -> None:
    assert why_not(open_stage(load(play)).cluster, moves.DeleteTopic(topic)) == reason
