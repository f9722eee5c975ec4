"""`canonical` finds its numbers in the annotations: no table lists the structs of a cluster."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec
import pytest

from kiplab.engine import canonical, renumbering
from kiplab.protocol import errors, ids


class OffsetAnswer(msgspec.Struct, frozen=True):
    partition: ids.PartitionName
    epoch: ids.LeaderEpoch
    offset: ids.Offset | None = None


class Span(NamedTuple):
    first: ids.Offset
    last: ids.Offset


class MadeUp(msgspec.Struct, frozen=True):
    """Every shape that a field may have."""

    partition: ids.PartitionName
    leader_epoch: ids.LeaderEpoch
    partition_epoch: ids.PartitionEpoch | None
    broker: ids.BrokerId
    broker_epoch: ids.BrokerEpoch
    metadata_offset: ids.MetadataOffset
    incarnation: ids.Incarnation
    controller_epoch: ids.ControllerEpoch
    count: ids.Count
    fenced: bool
    error: errors.KafkaError = errors.KafkaError.NONE
    answers: tuple[OffsetAnswer, ...] = ()
    spans: tuple[Span, ...] = ()
    epochs: tuple[tuple[ids.BrokerId, ids.BrokerEpoch], ...] = ()
    either: OffsetAnswer | Span | None = None


EXAMPLE = MadeUp(
    partition="orders-0",
    leader_epoch=ids.LeaderEpoch(5),
    partition_epoch=ids.PartitionEpoch(10),
    broker=ids.BrokerId(2),
    broker_epoch=ids.BrokerEpoch(41),
    metadata_offset=ids.MetadataOffset(60),
    incarnation=ids.Incarnation(3),
    controller_epoch=ids.ControllerEpoch(4),
    count=7,
    fenced=True,
    answers=(OffsetAnswer("orders-1", ids.LeaderEpoch(8), ids.Offset(2)),),
    spans=(Span(ids.Offset(0), ids.Offset(9)),),
    epochs=((ids.BrokerId(1), ids.BrokerEpoch(40)),),
    either=Span(ids.Offset(4), ids.Offset(4)),
)


def noted(value: msgspec.Struct) -> set[tuple[str, str, int]]:
    """What the walk finds: (numbering, whose, number)."""
    found = set()

    def note(numbering: renumbering.Numbering, whose: str, number: int) -> int:
        found.add((numbering.value, whose, number))
        return number

    assert renumbering.renumbered(value, note) is value
    return found


def test_the_annotations_say_what_is_numbered_and_whose_it_is() -> None:
    assert noted(EXAMPLE) == {
        ("leader", "orders-0", 5),
        ("partition", "orders-0", 10),
        ("metadata", "", 41),
        ("metadata", "", 60),
        ("metadata", "", 40),
        ("life", "2", 3),
        ("leader", "orders-1", 8),
        ("offset", "orders-1", 2),
        *(("offset", "orders-0", n) for n in (0, 9, 4)),
    }


def test_every_one_of_them_is_replaced_and_nothing_else() -> None:
    after = renumbering.renumbered(EXAMPLE, lambda _numbering, _whose, number: number + 100)
    assert after == MadeUp(
        partition="orders-0",
        leader_epoch=ids.LeaderEpoch(105),
        partition_epoch=ids.PartitionEpoch(110),
        broker=ids.BrokerId(2),
        broker_epoch=ids.BrokerEpoch(141),
        metadata_offset=ids.MetadataOffset(160),
        incarnation=ids.Incarnation(103),
        controller_epoch=ids.ControllerEpoch(4),
        count=7,
        fenced=True,
        answers=(OffsetAnswer("orders-1", ids.LeaderEpoch(108), ids.Offset(102)),),
        spans=(Span(ids.Offset(100), ids.Offset(109)),),
        epochs=((ids.BrokerId(1), ids.BrokerEpoch(140)),),
        either=Span(ids.Offset(104), ids.Offset(104)),
    )


def test_the_defaults_of_an_error_entry_are_no_epochs() -> None:
    class Answer(msgspec.Struct, frozen=True):
        partition: ids.PartitionName
        error: errors.KafkaError = errors.KafkaError.NONE
        leader_epoch: ids.LeaderEpoch = ids.LeaderEpoch(0)

    globals()["Answer"] = Answer
    assert noted(Answer("t-0")) == {("leader", "t-0", 0)}
    assert noted(Answer("t-0", errors.KafkaError.FENCED_LEADER_EPOCH)) == set()
    assert noted(Answer("t-0", errors.KafkaError.FENCED_LEADER_EPOCH, ids.LeaderEpoch(3))) == {
        ("leader", "t-0", 3)
    }


def struct(**fields: Any) -> type:
    return msgspec.defstruct("MadeUpStruct", list(fields.items()), frozen=True)


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"end": int}, "MadeUpStruct.end is a bare int, so `canonical` can't tell whether"),
        ({"ends": tuple[int, ...]}, "MadeUpStruct.ends is a bare int"),
        ({"pair": tuple[str, int]}, "MadeUpStruct.pair.1 is a bare int"),
        ({"epoch": ids.LeaderEpoch | int}, "MadeUpStruct.epoch is a bare int"),
        ({"ends": dict[str, ids.Offset]}, "MadeUpStruct.ends is annotated dict"),
        ({"what": Any}, "MadeUpStruct.what is annotated typing.Any"),
        (
            {"life": ids.Incarnation},
            "MadeUpStruct.life is an incarnation, but MadeUpStruct doesn't",
        ),
        ({"partition": str, "end": ids.Offset}, "MadeUpStruct.partition is a str: annotate it"),
        ({"one": ids.LeaderEpoch | ids.Offset}, "MadeUpStruct.one is annotated"),
    ],
)
def test_a_field_that_does_not_say_what_it_counts_is_named(
    fields: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(TypeError, match=f"^{complaint}".replace("(", r"\(")):
        renumbering.plan_of(struct(**fields))


def test_a_struct_that_holds_itself_is_walked_to_the_end() -> None:
    class Chain(msgspec.Struct, frozen=True):
        end: ids.Offset
        next: Chain | None = None

    globals()["Chain"] = Chain
    assert noted(Chain(ids.Offset(1), Chain(ids.Offset(2), Chain(ids.Offset(3))))) == {
        ("offset", "", n) for n in (1, 2, 3)
    }


def test_sessions_are_ranked_server_by_server_so_that_the_next_one_keeps_its_place() -> None:
    second = ids.SESSIONS_OF_A_SERVER
    ranks = canonical._ranked_by_server({7, 9, second, second + 40})
    assert ranks == {0: 0, 7: 1, 9: 2, second: second, second + 40: second + 1}
