"""Control requests in each version: with or without epochs, partition by partition or by topic."""

from typing import Any

import pytest

from tests.judge.acceptance import control_bodies

WHERE = control_bodies.WhereEpochs(broker=40, before=36, obeyed=5, port=9000, elsewhere=9001)


def body(api: control_bodies.ControlApi, version: int, **more: Any) -> dict[str, Any]:
    return control_bodies.control_body(
        control_bodies.ControlQuestion(api, (7, 8), **more), "a", version, WHERE
    )


@pytest.mark.parametrize(("given", "told"), [("own", 40), ("older", 36), ("none", -1)])
def test_epochs_are_told_as_they_stand_to_what_the_broker_knows(
    given: control_bodies.GivenEpoch, told: int
) -> None:
    made = body("StopReplica", 1, broker_epoch=given, controller_epoch=-1)
    assert (made["BrokerEpoch"], made["ControllerEpoch"]) == (told, 4)
    assert body("StopReplica", 1, broker_epoch="newer")["BrokerEpoch"] > 40


@pytest.mark.parametrize(("api", "first"), [("LeaderAndIsr", 2), ("UpdateMetadata", 5)])
def test_from_the_first_version_with_an_epoch_on_partitions_stand_below_their_topic(
    api: control_bodies.ControlApi, first: int
) -> None:
    before, after = body(api, first - 1), body(api, first)
    assert [p["TopicName"] for p in before["UngroupedPartitionStates"]] == ["a", "a"]
    (topic,) = after["TopicStates"]
    assert (topic["TopicName"], topic["TopicId"]) == ("a", control_bodies.topic_id_of("a"))
    assert [p["LeaderEpoch"] for p in topic["PartitionStates"]] == [7, 8]


def test_the_two_call_the_zk_version_by_different_names() -> None:
    leads = body("LeaderAndIsr", 7, zk_version=9)["TopicStates"][0]["PartitionStates"][0]
    told = body("UpdateMetadata", 8, zk_version=9)["TopicStates"][0]["PartitionStates"][0]
    assert (leads["PartitionEpoch"], told["ZkVersion"]) == (9, 9)


def test_only_a_leader_that_is_alive_is_named_with_its_place() -> None:
    alive = body(
        "LeaderAndIsr", 2, leader=control_bodies.OTHER_BROKER, live=(0, control_bodies.OTHER_BROKER)
    )
    assert alive["LiveLeaders"] == [{"BrokerId": 1, "HostName": "127.0.0.1", "Port": 9001}]
    assert body("LeaderAndIsr", 2, leader=control_bodies.OTHER_BROKER)["LiveLeaders"] == []
    assert body("LeaderAndIsr", 2)["LiveLeaders"][0]["Port"] == 9000


def test_stop_replica_has_four_forms() -> None:
    flat = body("StopReplica", 0, delete=True)
    assert flat["DeletePartitions"]
    assert flat["UngroupedPartitions"][1] == {"TopicName": "a", "PartitionIndex": 1}
    named = body("StopReplica", 2)
    assert named["Topics"] == [{"Name": "a", "PartitionIndexes": [0, 1]}]
    (topic,) = body("StopReplica", 3, delete=True)["TopicStates"]
    assert topic["PartitionStates"][1] == {
        "PartitionIndex": 1,
        "LeaderEpoch": 8,
        "DeletePartition": True,
    }
