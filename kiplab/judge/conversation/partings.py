"""Whether Kafka and the engine made the same of a request, and if not, where they part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

import msgspec
from msgspec.structs import asdict

from ...protocol.facts import RecordWritten
from ...protocol.kraft.records import PartitionChangeRecord
from .deciding_side import Answered


class Parting(msgspec.Struct, frozen=True):
    """One thing that Kafka and the engine have otherwise: a field of the answer, or the records."""

    what: str
    kafka: str
    engine: str

    def __str__(self) -> str:
        return f"{self.what}: Kafka has {self.kafka}, the engine {self.engine}"


def partings(kafka: Answered, engine: Answered) -> tuple[Parting, ...]:
    """Where the two part; nothing if they agree.

    Records that change several partitions at once stand in an order that hangs on hash tables and
    on the random ids of topics: within such a run any order is the same.
    """
    return (*_fields(kafka, engine), *_records(kafka.records, engine.records))


def _fields(kafka: Answered, engine: Answered) -> Iterator[Parting]:
    theirs, mine = asdict(kafka.response), asdict(engine.response)
    for name in theirs:
        if theirs[name] != mine.get(name):
            yield Parting(name, repr(theirs[name]), repr(mine.get(name)))


def _records(kafka: Iterable[RecordWritten], engine: Iterable[RecordWritten]) -> Iterator[Parting]:
    theirs, mine = told(kafka), told(engine)
    if theirs != mine:
        yield Parting("records", "; ".join(theirs) or "none", "; ".join(mine) or "none")


def told(records: Iterable[RecordWritten]) -> tuple[str, ...]:
    """Offset, version and text of each record; in a run of partition changes, sorted by text."""
    records = tuple(records)
    texts: list[str] = []
    for _, run in groupby(records, _run_of):
        texts += sorted(f"v{record.version} {record.text}" for record in run)
    return tuple(f"@{record.offset} {text}" for record, text in zip(records, texts, strict=True))


def _run_of(record: RecordWritten) -> object:
    """Equal for partition changes, and like no other for any other record."""
    return True if record.record == PartitionChangeRecord.__name__ else record.offset + 2
