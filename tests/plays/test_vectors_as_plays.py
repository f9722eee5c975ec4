"""Each AlterPartition vector as a play: written down, parsed, run through the whole engine."""

from __future__ import annotations

import pytest

from kiplab.plays.grammar import parse
from kiplab.plays.runner import run_play
from kiplab.protocol.errors import KafkaError
from kiplab.protocol.features import Features
from kiplab.protocol.registrations import PartitionRegistration
from kiplab.protocol.releases import ALTER_PARTITION_MAX
from tests.protocol.building import at
from tests.protocol.rows import ROWS, Row

SINGLE = tuple(row for row in ROWS if len(row.ask.items) == 1)


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


def topic(state: PartitionRegistration) -> str:
    name, _, index = state.name.rpartition("-")
    recovery = "recovering" if state.recovery else "recovered"
    return (
        f"topic {name} partition={index} replicas={ids(state.replicas)} isr={ids(state.isr)}"
        f" leader={state.leader if state.leader >= 0 else 'none'}"
        f" leader-epoch={state.leader_epoch} partition-epoch={state.partition_epoch}"
        f" recovery={recovery} adding={ids(state.adding)} removing={ids(state.removing)}"
    )


def request(row: Row, version: int) -> str:
    (item,) = row.ask.items
    isr = ",".join(f"{m.broker}@{m.epoch}" for m in item.isr) or "none"
    return (
        f"send alter-partition from={row.ask.sender} version={version}"
        f" broker-epoch={row.ask.epoch} partition={item.partition}"
        f" leader-epoch={item.leader_epoch} partition-epoch={item.partition_epoch}"
        f" isr={isr} recovery={item.recovery}"
    )


def expected(row: Row) -> list[str]:
    """The answer as far as it says something, the records, and the partitions after them."""
    records = ",".join(type(r).__name__ for r in row.records) or "none"
    result = row.results[0] if row.results else None
    error = row.top if result is None else result.error
    lines = [f"expect records={records}", f"expect error={error.name}"]
    if result is not None and result.error is KafkaError.NONE:
        lines.append(
            f"expect reply {result.partition} leader={result.leader} isr={ids(result.isr)}"
            f" leader-epoch={result.leader_epoch} partition-epoch={result.partition_epoch}"
        )
    changed = {p.name: p for p in row.after}
    return [*lines, *(state_line(changed.get(p.name, p)) for p in row.partitions)]


def state_line(state: PartitionRegistration) -> str:
    return (
        f"expect {state.name} leader={state.leader if state.leader >= 0 else 'none'}"
        f" isr={ids(state.isr)} replicas={ids(state.replicas)}"
        f" leader-epoch={state.leader_epoch} partition-epoch={state.partition_epoch}"
        f" recovery={'recovering' if state.recovery else 'recovered'}"
    )


CASES = [
    pytest.param(row, features, version, id=f"{row.id} {features.label()} v{version}")
    for row in SINGLE
    for features in at(row.releases, row.metadata)[-1:]
    for version in row.versions
    if version <= ALTER_PARTITION_MAX[features.release]
]


@pytest.mark.parametrize(("row", "features", "version"), CASES)
def test_a_vector_is_a_play(row: Row, features: Features, version: int) -> None:
    text = "\n".join([*header(row, features), request(row, version), *expected(row)])
    stage = run_play(parse(text, row.id))
    assert [f"{e.text}: {e.found}" for e in stage.expectations if e.status != "held"] == []
