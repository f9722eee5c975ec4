"""The metadata log, read from a segment file that grows."""

import struct
from pathlib import Path

import pytest

from kiplab.incident.reading import message_bytes
from kiplab.judge.wire import metadata_log
from tests.judge.small_schemas import RECORD

MARK = metadata_log.schema_of(RECORD)
SCHEMAS = metadata_log.ReleaseSchemas(requests={}, responses={}, records={5: MARK})
CONTROL = 0x20


def mark(number: int, key: int = 5) -> bytes:
    """A metadata record as it is framed: frame version, number of the record, its version."""
    return bytes([1, key, 0]) + message_bytes.written_message(MARK, {"Mark": number}, 0)


def signed(number: int) -> bytes:
    return message_bytes.unsigned_varint(number << 1 if number >= 0 else (-number << 1) - 1)


def batch(first: int, *values: bytes, attributes: int = 0) -> bytes:
    records = b""
    for delta, value in enumerate(values):
        body = b"\0" + signed(0) + signed(delta) + signed(-1) + signed(len(value)) + value + b"\0"
        records += signed(len(body)) + body
    rest = struct.pack(">hiqqqhi", attributes, len(values) - 1, 0, 0, -1, -1, -1)
    counted = struct.pack(">ibI", 0, 2, 0) + rest + struct.pack(">i", len(values)) + records
    return struct.pack(">qi", first, len(counted)) + counted


def log_of(folder: Path, data: bytes) -> metadata_log.MetadataLog:
    segment = folder / metadata_log.SEGMENT
    segment.parent.mkdir()
    segment.write_bytes(data)
    return metadata_log.MetadataLog(folder, SCHEMAS)


def test_records_have_their_offsets_names_and_fields(tmp_path: Path) -> None:
    log = log_of(tmp_path, batch(3, mark(7), mark(8)))
    assert log.new() == (
        metadata_log.LoggedRecord(3, "MarkRecord", 0, {"Mark": 7}),
        metadata_log.LoggedRecord(4, "MarkRecord", 0, {"Mark": 8}),
    )
    assert log.end == 5


def test_only_what_is_new_is_told(tmp_path: Path) -> None:
    log = log_of(tmp_path, batch(0, mark(1)))
    assert len(log.new()) == 1
    assert log.new() == ()
    with (tmp_path / metadata_log.SEGMENT).open("ab") as segment:
        segment.write(batch(1, mark(2)))
    assert [record.fields for record in log.new()] == [{"Mark": 2}]


def test_a_batch_that_is_being_written_is_left_for_later(tmp_path: Path) -> None:
    whole = batch(0, mark(1))
    log = log_of(tmp_path, whole[:-1])
    assert (log.new(), log.end) == ((), 0)
    (tmp_path / metadata_log.SEGMENT).write_bytes(whole)
    assert len(log.new()) == 1


def test_what_the_quorum_writes_for_itself_is_counted_and_left_out(tmp_path: Path) -> None:
    log = log_of(tmp_path, batch(0, b"anything", attributes=CONTROL) + batch(1, mark(1)))
    assert [record.offset for record in log.new()] == [1]


def test_a_log_that_has_not_begun_is_empty(tmp_path: Path) -> None:
    assert metadata_log.MetadataLog(tmp_path, SCHEMAS).new() == ()


def test_a_record_without_a_schema_is_named_with_its_offset(tmp_path: Path) -> None:
    log = log_of(tmp_path, batch(9, mark(1, key=77)))
    with pytest.raises(
        metadata_log.UnknownRecordError, match="offset 9: no schema of a metadata record 77"
    ):
        log.new()
