"""A play's numbers and Kafka's: another number each, and the same order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiplab.judge.side_by_side.deciding import EpochsMoved, OffsetPoint, Renaming
from kiplab.protocol import errors, ids, messages
from kiplab.protocol.kraft.records import RegisterBrokerRecord

MOVED = Renaming(
    points=(OffsetPoint(101, 101), OffsetPoint(5_000_000, 5_102), OffsetPoint(5_000_100, 5_300)),
    epochs=(EpochsMoved("orders-0", leader=5, leader_moved=-5, version=0, version_moved=2),),
)


@st.composite
def points(draw: st.DrawFn) -> tuple[OffsetPoint, ...]:
    """As a scene makes them: at least one offset further in both, two where the play leaps."""
    found, play, kafka = [], 0, 0
    for leap in draw(st.lists(st.integers(1, 10**9), max_size=5)):
        play += leap
        kafka += draw(st.integers(min(leap, 2), 5_000))
        found.append(OffsetPoint(play, kafka))
    return tuple(found)


@given(points(), st.lists(st.integers(-1, 2**63 - 1), min_size=2))
def test_offsets_keep_their_order(made: tuple[OffsetPoint, ...], offsets: list[int]) -> None:
    renaming = Renaming(made)
    held = sorted({*offsets, *(point.play for point in made)})
    there = [renaming.kafka_offset(offset) for offset in held]
    assert there == sorted(there)
    assert all(-1 <= offset < 2**63 for offset in there)


@given(points(), st.integers(-1, 2**63 - 1))
def test_no_offset_is_taken_for_one_that_the_play_names(
    made: tuple[OffsetPoint, ...], offset: int
) -> None:
    renaming, named = Renaming(made), {point.play for point in made}
    if offset not in named and offset < max(named, default=0):
        assert renaming.kafka_offset(offset) not in {point.kafka for point in made}


@given(points(), st.integers(0, 10**6))
def test_what_comes_after_the_scene_is_told_back(made: tuple[OffsetPoint, ...], on: int) -> None:
    renaming = Renaming(made)
    last = made[-1].play if made else 0
    for offset in (*(point.play for point in made), last + on):
        assert renaming.play_offset(renaming.kafka_offset(offset)) == offset


def request(**changed: int) -> messages.AlterPartitionRequest:
    numbers = {"leader_epoch": 5, "partition_epoch": 0, "broker_epoch": 101, "member": 5_000_000}
    numbers |= changed
    item = messages.AlterPartitionItem(
        "orders-0",
        ids.LeaderEpoch(numbers["leader_epoch"]),
        ids.PartitionEpoch(numbers["partition_epoch"]),
        (
            messages.IsrMember(ids.BrokerId(1), ids.BrokerEpoch(numbers["member"])),
            messages.IsrMember(ids.BrokerId(2)),
        ),
    )
    epoch = ids.BrokerEpoch(numbers["broker_epoch"])
    return messages.AlterPartitionRequest(
        version=3, broker=ids.BrokerId(1), broker_epoch=epoch, items=(item,)
    )


def test_a_request_reaches_kafka_in_its_numbers() -> None:
    said = MOVED.to_kafka(request())
    (item,) = said.items
    assert (said.broker_epoch, item.leader_epoch, item.partition_epoch) == (101, 0, 2)
    assert [member.epoch for member in item.isr] == [5_102, ids.NO_BROKER_EPOCH]


@pytest.mark.parametrize("epoch", [2**31 - 1, -(2**31)])
def test_an_absurd_epoch_stays_one_that_fits(epoch: int) -> None:
    (item,) = MOVED.to_kafka(request(leader_epoch=epoch, partition_epoch=epoch)).items
    assert -(2**31) <= item.leader_epoch < 2**31
    assert -(2**31) <= item.partition_epoch < 2**31


def test_answers_and_records_come_back_in_those_of_the_play() -> None:
    done = messages.AlterPartitionResult(
        "orders-0",
        leader=ids.BrokerId(1),
        leader_epoch=ids.LeaderEpoch(1),
        partition_epoch=ids.PartitionEpoch(3),
    )
    wrong = messages.AlterPartitionResult("orders-0", errors.KafkaError.INVALID_REQUEST)
    said = MOVED.to_play(messages.AlterPartitionResponse(version=3, results=(done, wrong)))
    assert (said.results[0].leader_epoch, said.results[0].partition_epoch) == (6, 1)
    assert said.results[1] == wrong
    record = RegisterBrokerRecord(ids.BrokerId(1), 1, ids.BrokerEpoch(5_301))  # type: ignore[arg-type]
    assert MOVED.to_play(record).epoch == 5_000_101


def test_unknown_offsets_stay_unknown() -> None:
    beat = messages.BrokerHeartbeatRequest(
        broker=ids.BrokerId(1),
        broker_epoch=ids.NO_BROKER_EPOCH,
        metadata_offset=ids.MetadataOffset(-1),
    )
    assert MOVED.to_kafka(beat) == beat


def test_what_is_called_otherwise_is_said() -> None:
    assert MOVED.sentences == (
        "Leader epoch 5 of orders-0 is 0 in Kafka's own log.",
        "Partition epoch 0 of orders-0 is 2 in Kafka's own log.",
        "Metadata offset 5000000 is 5102 in Kafka's own log, and so on.",
        "Metadata offset 5000100 is 5300 in Kafka's own log, and so on.",
    )
    assert Renaming((OffsetPoint(101, 101),)).sentences == ()
