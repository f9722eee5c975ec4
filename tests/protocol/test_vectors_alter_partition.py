"""AlterPartition in the controller: reply, records and state of every row of `rows`."""

from typing import Any

import pytest

from kiplab.protocol.errors import KafkaError
from kiplab.protocol.facts import Refused
from kiplab.protocol.features import Features
from kiplab.protocol.ids import BrokerEpoch, BrokerId
from kiplab.protocol.kraft.alter_partition import alter_partition
from kiplab.protocol.messages import AlterPartitionRequest, AlterPartitionResponse, Send
from kiplab.protocol.releases import RELEASES
from tests.protocol.building import at, controller, texts, written
from tests.protocol.rows import ROWS, Row


def every_version(rows: tuple[Row, ...]) -> list[Any]:
    found = []
    for row in rows:
        for features in at(row.releases, row.metadata):
            where = f"{features.release}@{features.metadata_version}"
            spoken = [v for v in row.versions if v <= RELEASES[features.release].alter_partition]
            assert spoken, f"{row.id}: Kafka {features.release} speaks none of {row.versions}"
            for version in spoken:
                name = f"{row.id} {where} v{version}"
                found.append(pytest.param(row, features, version, id=name))
    return found


@pytest.mark.parametrize(("row", "features", "version"), every_version(ROWS))
def test_alter_partition(row: Row, features: Features, version: int) -> None:
    before = controller(row.brokers, *row.partitions)
    request = AlterPartitionRequest(
        version=version,
        broker=BrokerId(row.ask.sender),
        broker_epoch=BrokerEpoch(row.ask.epoch),
        items=row.ask.items,
    )
    after, sends, facts = alter_partition(before, request, features, None)

    reply = AlterPartitionResponse(version=version, error=row.top, results=row.results)
    assert sends[-1] == Send(request.broker, reply)
    errors = [row.top, *(r.error for r in row.results)]
    refused = [f.error for f in facts if isinstance(f, Refused)]
    assert refused == [e for e in errors if e is not KafkaError.NONE]

    assert written(facts) == texts(row.records)
    changed = {p.name: p for p in row.after}
    assert after.partitions == tuple(changed.get(p.name, p) for p in before.partitions)
    assert after.next_offset == before.next_offset + len(row.records)
    if not row.records:
        assert after is before
