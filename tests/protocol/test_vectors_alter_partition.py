"""AlterPartition in the controller: reply, records and state of every row of `rows`."""

from typing import Any

import pytest

from kiplab.protocol import messages
from kiplab.protocol.errors import KafkaError
from kiplab.protocol.facts import ControllerResigned, Refused
from kiplab.protocol.features import Features
from kiplab.protocol.ids import BrokerEpoch, BrokerId
from kiplab.protocol.kraft.alter_partition import alter_partition
from kiplab.protocol.kraft.fencing import fail_over
from kiplab.protocol.releases import RELEASES
from tests.protocol.building import at, brokers, controller, instance, partition, texts, written
from tests.protocol.rows import ROWS, Row, item


def every_version(rows: tuple[Row, ...]) -> list[Any]:
    found = []
    for row in rows:
        for features in at(row.releases, row.metadata):
            where = f"{features.release}@{features.metadata_version}"
            release = RELEASES[features.release]
            span = range(release.oldest_alter_partition, release.alter_partition + 1)
            spoken = [v for v in row.versions if v in span]
            assert spoken, f"{row.id}: Kafka {features.release} speaks none of {row.versions}"
            for version in spoken:
                name = f"{row.id} {where} v{version}"
                found.append(pytest.param(row, features, version, id=name))
    return found


@pytest.mark.parametrize(("row", "features", "version"), every_version(ROWS))
def test_alter_partition(row: Row, features: Features, version: int) -> None:
    before = controller(row.brokers, *row.partitions)
    request = messages.AlterPartitionRequest(
        version=version,
        broker=BrokerId(row.ask.sender),
        broker_epoch=BrokerEpoch(row.ask.epoch),
        items=row.ask.items,
    )
    after, sends, facts = alter_partition(before, request, features, None)

    reply = messages.AlterPartitionResponse(version=version, error=row.top, results=row.results)
    assert sends[-1] == messages.Send(request.broker, reply)
    errors = [row.top, *(r.error for r in row.results)]
    refused = [f.error for f in facts if isinstance(f, Refused)]
    assert refused == [e for e in errors if e is not KafkaError.NONE]

    assert written(facts) == texts(row.records)
    changed = {p.name: p for p in row.after}
    assert after.partitions == tuple(changed.get(p.name, p) for p in before.partitions)
    assert after.next_offset == before.next_offset + len(row.records)
    if not row.records:
        assert after is before


LED = partition("foo-0", [0, 1, 2], [0, 1, 2], 0)
ALSO_LED = partition("foo-1", [0, 1], [0, 1], 0)


def ask(version: int, *items: messages.AlterPartitionItem) -> messages.AlterPartitionRequest:
    return messages.AlterPartitionRequest(
        version=version, broker=BrokerId(0), broker_epoch=BrokerEpoch(100), items=items
    )


@pytest.mark.parametrize("features", at("3.2-4.3"))
@pytest.mark.parametrize("byte", [-1, 2, 7])
def test_a_byte_that_is_no_recovery_state_fails_the_request_and_the_controller(
    features: Features, byte: int
) -> None:
    before = controller(brokers(0, 1, 2), LED, ALSO_LED)
    good, bad = item("foo-1", {0: 100}), item("foo-0", {0: 100}, recovery=byte)
    after, sends, facts = alter_partition(before, ask(1, good, bad), features, None)
    error = KafkaError.UNKNOWN_SERVER_ERROR
    assert sends == (
        messages.Send(BrokerId(0), messages.AlterPartitionResponse(version=1, error=error)),
    )
    assert written(facts) == []
    assert (after.partitions, after.next_offset) == (before.partitions, before.next_offset)
    refused, resigned = facts
    assert isinstance(refused, Refused)
    assert (refused.error, refused.guard, refused.partition) == (error, None, "foo-0")
    assert isinstance(resigned, ControllerResigned)
    assert (resigned.before, resigned.epoch, resigned.last_committed) == (1, 2, 999)
    assert after == fail_over(before, features, None)[0]


@pytest.mark.parametrize("features", at("3.2-4.3"))
def test_the_byte_is_read_after_the_epochs_and_the_isr(features: Features) -> None:
    before = controller(brokers(0, 1, 2), LED)
    for wrong in (item("foo-0", {0: 100}, le=-1, recovery=7), item("foo-0", {1: 101}, recovery=7)):
        after, sends, _ = alter_partition(before, ask(1, wrong), features, None)
        reply = instance(messages.AlterPartitionResponse, sends[-1].body)
        assert reply.error is KafkaError.NONE
        assert after is before


@pytest.mark.parametrize("features", at("3.2-4.3"))
def test_version_0_carries_no_recovery_state(features: Features) -> None:
    before = controller(brokers(0, 1, 2), LED)
    _, sends, _ = alter_partition(
        before, ask(0, item("foo-0", {0: 100, 1: 101}, recovery=7)), features, None
    )
    reply = instance(messages.AlterPartitionResponse, sends[-1].body)
    assert [r.error for r in reply.results] == [KafkaError.NONE]
