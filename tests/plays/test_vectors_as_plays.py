"""Each AlterPartition vector as a play: written down, parsed, run through the whole engine."""

import pytest

from kiplab.plays.grammar import parse
from kiplab.plays.request_words import raw_statement
from kiplab.plays.runner import run_play
from kiplab.protocol.errors import KafkaError
from kiplab.protocol.features import Features
from kiplab.protocol.ids import CONTROLLER, BrokerEpoch, BrokerId
from kiplab.protocol.messages import AlterPartitionRequest, AlterPartitionResult
from kiplab.protocol.registrations import PartitionRegistration
from kiplab.protocol.releases import RELEASES
from tests.protocol.building import at
from tests.protocol.rows import ROWS, Row


def ids(members: tuple[int, ...]) -> str:
    return ",".join(str(m) for m in members) or "none"


def header(row: Row, features: Features) -> list[str]:
    lines = [
        f"kafka {features.release}/{features.metadata_version}",
        "given next-metadata-offset=2000",
    ]
    for known in row.brokers:
        fenced, leaving = known.fenced, known.in_controlled_shutdown
        flags = f"{' fenced=yes' * fenced}{' shutting-down=yes' * leaving}"
        lines.append(f"broker {known.broker} epoch={known.epoch}{flags}")
    return [*lines, *(topic(p) for p in row.partitions)]


def fields(state: PartitionRegistration) -> str:
    return (
        f"leader={state.leader if state.leader >= 0 else 'none'} isr={ids(state.isr)}"
        f" replicas={ids(state.replicas)} leader-epoch={state.leader_epoch}"
        f" partition-epoch={state.partition_epoch} recovery={state.recovery.name.lower()}"
    )


def topic(state: PartitionRegistration) -> str:
    name, _, index = state.name.rpartition("-")
    moved = f"adding={ids(state.adding)} removing={ids(state.removing)}"
    return f"topic {name} partition={index} {fields(state)} {moved}"


def request(row: Row, version: int) -> str:
    ask = AlterPartitionRequest(
        version=version,
        broker=BrokerId(row.ask.sender),
        broker_epoch=BrokerEpoch(row.ask.epoch),
        items=row.ask.items,
    )
    return raw_statement(ask.broker, CONTROLLER, ask).text


def expected(row: Row) -> list[str]:
    """The answers as far as they say something, the records, and the partitions after them."""
    records = ",".join(type(r).__name__ for r in row.records) or "none"
    errors = [row.top, *(result.error for result in row.results)]
    first = next((e for e in errors if e is not KafkaError.NONE), KafkaError.NONE)
    lines = [f"expect records={records}", f"expect error={first.name}"]
    lines += [answer_line(result) for result in row.results]
    changed = {p.name: p for p in row.after}
    after = (changed.get(p.name, p) for p in row.partitions)
    return [*lines, *(f"expect {state.name} {fields(state)}" for state in after)]


def answer_line(result: AlterPartitionResult) -> str:
    return (
        f"expect reply {result.partition} error={result.error.name} leader={result.leader}"
        f" isr={ids(result.isr)} leader-epoch={result.leader_epoch}"
        f" partition-epoch={result.partition_epoch}"
    )


CASES = [
    pytest.param(row, features, version, id=f"{row.id} {features.label()} v{version}")
    for row in ROWS
    for features in at(row.releases, row.metadata)[-1:]
    for version in row.versions
    if RELEASES[features.release].oldest_alter_partition <= version
    if version <= RELEASES[features.release].alter_partition
]


@pytest.mark.parametrize(("row", "features", "version"), CASES)
def test_a_vector_is_a_play(row: Row, features: Features, version: int) -> None:
    text = "\n".join([*header(row, features), request(row, version), *expected(row)])
    stage = run_play(parse(text, row.id))
    assert [f"{e.text}: {e.actual}" for e in stage.expectations if e.status != "held"] == []
