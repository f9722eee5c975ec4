"""AlterPartitionManager: one request in flight, one item per partition, what is sent again.

Not modelled, so not here: topics without an id (M1b, M10), authorization and client exceptions
(M5b, M6), a leader that asks for RECOVERING (M2).
"""

import pytest
from msgspec.structs import replace

from kiplab.protocol import messages
from kiplab.protocol.errors import KafkaError
from kiplab.protocol.features import Features
from kiplab.protocol.ids import BrokerEpoch, BrokerId, LeaderEpoch, PartitionEpoch
from kiplab.protocol.replica import alter_partition_manager
from kiplab.protocol.replica.broker_state import Broker, Volatile
from tests.protocol.building import vector, vectors

E = KafkaError


def manager(epoch: int = 2) -> Broker:
    """Broker 1 with nothing queued. It plays no replica: only the queue is looked at."""
    return Broker(BrokerId(1), process=Volatile(epoch=BrokerEpoch(epoch)))


def item(
    name: str, isr: tuple[int, ...] = (1, 2, 3), epochs: tuple[int, ...] = ()
) -> messages.AlterPartitionItem:
    known = epochs or (-1,) * len(isr)
    members = (
        messages.IsrMember(BrokerId(b), BrokerEpoch(e)) for b, e in zip(isr, known, strict=True)
    )
    return messages.AlterPartitionItem(name, LeaderEpoch(1), PartitionEpoch(10), tuple(members))


def asked(sends: tuple[messages.Send, ...]) -> messages.AlterPartitionRequest:
    (send,) = sends
    assert isinstance(send.body, messages.AlterPartitionRequest)
    return send.body


def submitted(features: Features, *names: str) -> tuple[Broker, messages.AlterPartitionRequest]:
    """Items handed over one by one; the first goes out at once."""
    broker, sends, _ = alter_partition_manager.submit(manager(), item(names[0]), features)
    for name in names[1:]:
        broker, more, _ = alter_partition_manager.submit(broker, item(name), features)
        assert more == ()
    return broker, asked(sends)


def answer(
    broker: Broker,
    request: messages.AlterPartitionRequest,
    features: Features,
    *results: messages.AlterPartitionResult,
    error: KafkaError = E.NONE,
    now: int = 0,
) -> tuple[Broker, tuple[messages.Send, ...]]:
    response = messages.AlterPartitionResponse(
        version=request.version, error=error, results=results
    )
    broker, sends, _ = alter_partition_manager.answered(broker, response, request, features, now)
    return broker, sends


def queued(broker: Broker) -> list[str]:
    assert broker.process is not None
    return [i.partition for i in broker.process.items]


@vector("M1a", "3.5-4.3")
def test_m1a_a_request_names_the_broker_epochs(features: Features) -> None:
    proposal = item("tp0", epochs=(101, 102, 103))
    _, sends, _ = alter_partition_manager.submit(manager(101), proposal, features)
    request = asked(sends)
    assert (request.version, request.broker, request.broker_epoch) == (3, 1, 101)
    assert request.items == (proposal,)
    assert [(m.broker, m.epoch) for m in request.items[0].isr] == [(1, 101), (2, 102), (3, 103)]


@vector("M3a", "3.2-4.3")
def test_m3a_one_item_per_partition(features: Features) -> None:
    broker, _ = submitted(features, "tp0")
    after, sends, _ = alter_partition_manager.submit(broker, item("tp0", (1, 2)), features)
    assert sends == ()
    assert after is broker


@vector("M3b", "3.2-4.3")
def test_m3b_an_answered_partition_may_ask_again(features: Features) -> None:
    broker, request = submitted(features, "tp0")
    broker, _ = answer(broker, request, features, messages.AlterPartitionResult("tp0"))
    assert queued(broker) == []
    _, sends, _ = alter_partition_manager.submit(broker, item("tp0", (1,)), features)
    assert asked(sends).items == (item("tp0", (1,)),)


@vectors("count", ("M4", "3.2-4.3", 10), ("M8", "3.2-4.3", 3))
def test_unanswered_items_go_out_with_the_queued_ones(count: int, features: Features) -> None:
    names = [f"tp{n}" for n in range(count)]
    broker, request = submitted(features, *names)
    assert [i.partition for i in request.items] == ["tp0"]
    broker, sends = answer(broker, request, features)
    assert [i.partition for i in asked(sends).items] == names


@vectors(
    "error", ("M5a", "3.2-4.3", E.STALE_BROKER_EPOCH), ("M5c", "3.2-4.3", E.UNKNOWN_SERVER_ERROR)
)
@pytest.mark.parametrize("now", [0, 1_000])
def test_m5_a_failed_request_is_sent_again_after_50_ms(
    now: int, error: KafkaError, features: Features
) -> None:
    broker, request = submitted(features, "tp0")
    broker, sends = answer(broker, request, features, error=error, now=now)
    assert sends == ()
    assert queued(broker) == ["tp0"]
    assert broker.process is not None
    assert broker.process.timers.retry == now + 50
    broker, sends, _ = alter_partition_manager.send_unsent(broker, features)
    assert asked(sends) == request
    broker, sends = answer(broker, request, features, messages.AlterPartitionResult("tp0"))
    assert (queued(broker), sends) == ([], ())


@vectors(
    "error",
    ("M7a", "3.2-4.3", E.INVALID_UPDATE_VERSION),
    ("M7b", "3.2-4.3", E.UNKNOWN_TOPIC_OR_PARTITION),
    ("M7c", "3.2-4.3", E.NOT_LEADER_OR_FOLLOWER),
    ("M7d", "3.2-4.3", E.INVALID_REQUEST),
)
def test_m7_a_refused_item_is_removed(error: KafkaError, features: Features) -> None:
    broker, request = submitted(features, "tp0")
    broker, sends = answer(broker, request, features, messages.AlterPartitionResult("tp0", error))
    assert (queued(broker), sends) == ([], ())
    broker, sends, _ = alter_partition_manager.submit(broker, item("tp0"), features)
    assert asked(sends) == request
    assert queued(broker) == ["tp0"]


@vector("M9", "3.2-4.3")
def test_m9_a_partition_missing_in_the_answer_is_sent_again(features: Features) -> None:
    broker, request = submitted(features, "tp0", "tp1", "tp2")
    broker, sends = answer(broker, request, features, messages.AlterPartitionResult("tp0"))
    request = asked(sends)
    assert [i.partition for i in request.items] == ["tp1", "tp2"]
    unknown = messages.AlterPartitionResult("tp2", E.UNKNOWN_SERVER_ERROR)
    broker, sends = answer(broker, request, features, unknown)
    assert [i.partition for i in asked(sends).items] == ["tp1"]
    assert queued(broker) == ["tp1"]


@vector("D20b", "3.5-4.3")
def test_d20b_a_resend_has_the_new_epoch_in_its_header_only(features: Features) -> None:
    proposal = item("tp0", (1, 2), epochs=(100, 102))
    broker, sends, _ = alter_partition_manager.submit(manager(100), proposal, features)
    broker, _ = answer(broker, asked(sends), features, error=E.STALE_BROKER_EPOCH, now=1_000)
    assert broker.process is not None
    broker = replace(broker, process=replace(broker.process, epoch=BrokerEpoch(111)))
    broker, sends, _ = alter_partition_manager.send_unsent(broker, features)
    assert asked(sends).broker_epoch == 111
    assert asked(sends).items == (proposal,)
